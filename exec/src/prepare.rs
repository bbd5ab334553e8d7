//! Planning together. Each rank tells everybody a few words, then its outline, then the exact runs to the aggregators
//! that get its bytes; every rank then holds its own schedule. The result depends only on what the ranks declared, so it
//! can be used again for the next step with the same pattern.

use crate::Error;
use crate::contain::contain;
use crate::provoke;
use crate::wire::{Garbled, Reader, Writer};
use sago_core::declare::{Declared, Direction, Outline, Summary};
use sago_core::extent::Run;
use sago_core::ids::Rank;
use sago_core::plan::{Job, Plan, plan};
use sago_core::schedule::{Duty, RankSchedule, contributions};
use sago_mpi::{Parts, Transport};
use std::collections::BTreeMap;

/// A plan, and this rank's part in it.
#[derive(Debug)]
pub struct Prepared {
    pub plan: Plan,
    pub schedule: RankSchedule,
    /// For each of the schedule's duties, the ranks that have bytes for it.
    pub senders: Vec<Vec<Sender>>,
    /// For each area and part, which of its aggregator's buffers serve it.
    slots: Vec<Vec<usize>>,
}

/// A rank that has bytes for an aggregator, or wants some from it.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    pub rank: Rank,
    /// The last round in which it has any.
    last_round: u32,
}

impl Sender {
    /// How many rounds must be released for it to go on to the end.
    pub fn needs(&self, direction: Direction) -> u32 {
        match direction {
            Direction::Write => self.last_round.saturating_sub(1),
            Direction::Read => self.last_round + 1,
        }
    }
}

impl Prepared {
    /// Collective: all ranks of `ranks` call it. A rank that fails, or hears of one, takes part with nothing to the end;
    /// the callers then agree on what came of it.
    pub fn new(ranks: &dyn Transport, job: &Job<'_>, declared: &Declared) -> Result<Self, Error> {
        let mine = contain(|| Ok(outline(declared)));
        let told = ranks.allgather(mine.as_deref().unwrap_or_default())?;
        let me = Rank(ranks.rank() as u32);
        let begun = mine.and_then(|_| contain(|| begin(job, &told, me, declared)));
        let parts = begun.as_ref().map(|(_, _, parts)| parts.clone());
        let told = ranks.alltoall(&parts.unwrap_or_else(|_| Parts::zeroed(vec![0; ranks.size()])))?;
        let (plan, mut schedule, _) = begun?;
        contain(|| {
            provoke::point("duties");
            let senders = add_duties(&plan, me, &told, &mut schedule)?;
            let slots = slots(&plan);
            Ok(Self { plan, schedule, senders, slots })
        })
    }

    /// Which pair of buffers of its aggregator serves a part.
    pub fn slot(&self, area: u32, part: u32) -> usize {
        self.slots[area as usize][part as usize]
    }

    /// Whether all that is exchanged goes through one aggregator at once: then nothing is filled while it stores.
    pub fn is_one_round(&self) -> bool {
        let parts: usize = self.plan.areas.iter().map(|area| area.parts.len()).sum();
        parts == 1 && self.schedule.duties.iter().all(|duty| duty.expected().len() == 1)
    }

    /// Whether this rank has something to store while something else is filled.
    pub fn needs_writer(&self) -> bool {
        !self.schedule.duties.is_empty() && !self.is_one_round()
    }

    /// How many pairs of buffers each aggregator needs.
    pub fn slots_by_rank(&self) -> BTreeMap<Rank, usize> {
        let parts = self.plan.areas.iter().flat_map(|area| &area.parts);
        parts.fold(BTreeMap::new(), |mut slots, part| {
            *slots.entry(part.rank).or_default() += 1;
            slots
        })
    }

    /// The other ranks that this one has bytes for, or from; some of them more than once.
    pub fn partners(&self) -> impl Iterator<Item = Rank> {
        let windows = self.schedule.sends.iter().flat_map(|sends| sends.windows());
        let aggregators = windows.map(|(_, to, _)| to);
        aggregators.chain(self.senders.iter().flatten().map(|sender| sender.rank))
    }

    /// The parts that `rank` is the aggregator of, in the order of its buffers.
    fn parts_of(plan: &Plan, rank: Rank) -> impl Iterator<Item = (u32, u32)> {
        let areas = plan.areas.iter().enumerate();
        areas.flat_map(move |(area, planned)| {
            let parts = planned.parts.iter().enumerate().filter(move |(_, part)| part.rank == rank);
            parts.map(move |(part, _)| (area as u32, part as u32))
        })
    }
}

fn slots(plan: &Plan) -> Vec<Vec<usize>> {
    let mut used: BTreeMap<Rank, usize> = BTreeMap::new();
    let mut next = |rank: Rank| {
        let slots = used.entry(rank).or_default();
        *slots += 1;
        *slots - 1
    };
    plan.areas.iter().map(|area| area.parts.iter().map(|part| next(part.rank)).collect()).collect()
}

/// What everybody is told; never empty.
fn outline(declared: &Declared) -> Vec<u8> {
    provoke::point("outline");
    let mut message = Writer::default();
    message.summary(&declared.summary()).outline(&Outline::of(declared));
    message.finish()
}

/// The plan, this rank's schedule but for its duties, and what it tells the aggregators.
fn begin(
    job: &Job<'_>,
    told: &Parts,
    me: Rank,
    declared: &Declared,
) -> Result<(Plan, RankSchedule, Parts), Error> {
    provoke::point("plan");
    if told.iter().any(<[u8]>::is_empty) {
        return Err(Error::GivenUp);
    }
    let read = |bytes: &[u8]| {
        let mut reader = Reader::new(bytes);
        Ok((reader.summary()?, reader.outline()?))
    };
    let told = told.iter().map(read).collect::<Result<Vec<(Summary, Outline)>, Garbled>>()?;
    let (summaries, outlines): (Vec<_>, Vec<_>) = told.into_iter().unzip();
    let plan = plan(job, &summaries, |rank| outlines[rank.index()].clone())?;
    provoke::point("schedule");
    let memberships = plan.memberships(summaries.len() as u32);
    let areas = memberships[me.index()].iter().map(|area| (*area, &plan.areas[*area as usize]));
    let schedule = RankSchedule::new(&plan.frame, areas, me, declared);
    let parts = messages(&plan, &memberships[me.index()], declared, summaries.len());
    Ok((plan, schedule, parts))
}

/// For each rank what it must know as an aggregator: part by part, this rank's runs.
fn messages(plan: &Plan, areas: &[u32], declared: &Declared, ranks: usize) -> Parts {
    let mut messages: Vec<Writer> = (0..ranks).map(|_| Writer::default()).collect();
    for &area in areas {
        let (framed, planned) = (&plan.frame.areas[area as usize].area, &plan.areas[area as usize]);
        let runs = contributions(planned, std::iter::once(declared), framed.lo, framed.hi);
        for (number, (part, runs)) in planned.parts.iter().zip(runs).enumerate() {
            if !runs.is_empty() {
                let message = &mut messages[part.rank.index()];
                message.word(u64::from(area)).word(number as u64).runs(&runs);
            }
        }
    }
    let mut parts = Parts::default();
    messages.into_iter().for_each(|message| parts.push(&message.finish()));
    parts
}

fn add_duties(
    plan: &Plan,
    me: Rank,
    told: &Parts,
    schedule: &mut RankSchedule,
) -> Result<Vec<Vec<Sender>>, Error> {
    let places: Vec<(u32, u32)> = Prepared::parts_of(plan, me).collect();
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); places.len()];
    let mut senders: Vec<Vec<Sender>> = vec![Vec::new(); places.len()];
    for (rank, bytes) in told.iter().enumerate() {
        let mut reader = Reader::new(bytes);
        while !reader.is_empty() {
            let place = (reader.word()? as u32, reader.word()? as u32);
            let at = places.binary_search(&place).map_err(|_| Garbled)?;
            let told = reader.runs()?;
            let layout = &plan.areas[place.0 as usize].layout;
            let end = told.iter().map(|run| run.end()).max().ok_or(Garbled)?;
            let (_, last_round) = layout.place(layout.window_at(end - 1));
            senders[at].push(Sender { rank: Rank(rank as u32), last_round });
            runs[at].extend(told);
        }
    }
    let numbered = places.into_iter().zip(runs);
    let duty = |((area, part), runs)| Duty::new(area, part, &plan.areas[area as usize].layout, runs);
    schedule.duties = numbered.map(duty).collect();
    Ok(senders)
}
