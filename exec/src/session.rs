//! A group of ranks and a file, for as long as the file is open. Buffers, the I/O thread and plans are kept from
//! one commit to the next: a repeated step costs one small agreement besides moving the bytes, on one node at its end.

use crate::Error;
use crate::arena::{Arena, Room};
use crate::contain::contain;
use crate::drive::{Drive, Memory, Offset};
use crate::far::Far;
use crate::memory::{Lent, Taken};
use crate::own::Lying;
use crate::plans::{PLANS_MAX, Plans, RUNS_MAX, Shifts};
use crate::prepare::Prepared;
use crate::provoke;
use crate::stats::Stats;
use crate::store::Sieve;
use crate::trace::Trace;
use crate::writer::Writer;
use sago_core::config::{Config, Exchange};
use sago_core::cost::Calibration;
use sago_core::declare::{Declared, Direction, Shift};
use sago_core::engine::Verdict;
use sago_core::ids::{NodeId, Rank};
use sago_core::plan::bridge::Assignment;
use sago_core::plan::{Job, StorageFacts};
use sago_core::topology::Machine;
use sago_mpi::{Reduce, Transport};
use sago_storage::Storage;
use std::sync::Arc;
use std::time::Instant;

/// What plans are made for, besides the data. The same on all ranks.
#[derive(Clone, Debug)]
pub struct Setting {
    pub config: Config,
    pub storage: StorageFacts,
    pub calibration: Calibration,
}

/// Longer holes between extents are never bridged.
const GAP_BYTES_MAX: u64 = 4096;

pub struct Session {
    ranks: Box<dyn Transport>,
    node: Box<dyn Transport>,
    storage: Arc<dyn Storage>,
    setting: Setting,
    machine: Machine,
    /// For each rank, its number on this node.
    local: Vec<Option<usize>>,
    plans: Plans,
    writer: Option<Writer>,
    arena: Option<Arena>,
    far: Option<Far>,
    pack: Vec<u8>,
    scratch: Vec<u8>,
    lying: Vec<Lying>,
    exclusive: bool,
    /// How often this rank has begun, or stayed out of, what all did; the same on all ranks.
    attempts: u64,
    /// The plan that was expected was good for the last commit. The same on all ranks.
    steady: bool,
    /// Bytes go out by way of bridge nodes with free routes.
    routed: bool,
    stats: Stats,
    trace: Option<Box<Trace>>,
}

impl Session {
    /// Collective. The session takes turns with the caller in talking to the ranks.
    pub fn open(ranks: &dyn Transport, storage: Arc<dyn Storage>, setting: Setting) -> Result<Self, Error> {
        let ranks = ranks.again()?;
        let (node, nodes) = find_nodes(&*ranks)?;
        let here = nodes[ranks.rank()];
        let mut count = 0;
        let number = |node: &usize| {
            (*node == here).then(|| {
                count += 1;
                count - 1
            })
        };
        let local: Vec<Option<usize>> = nodes.iter().map(number).collect();
        let machine = machine(&setting.config, &nodes)?;
        let (writer, arena, far, pack) = (None, None, None, Vec::new());
        let stats = Stats::default();
        let (scratch, exclusive, routed) = (Vec::new(), false, false);
        Ok(Self {
            ranks,
            node,
            storage,
            setting,
            machine,
            local,
            plans: Plans::new(),
            writer,
            arena,
            far,
            pack,
            scratch,
            lying: Vec::new(),
            exclusive,
            attempts: 0,
            steady: false,
            routed,
            stats,
            trace: None,
        })
    }

    /// Goes on with another file, with the buffers, the thread and the plan that are there. All ranks turn to it, but need
    /// not wait for each other.
    pub fn turn_to(&mut self, storage: Arc<dyn Storage>) {
        self.storage = storage;
    }

    /// Keeps a trace of what follows, with times since `origin`; or none any more.
    pub fn set_trace(&mut self, origin: Option<Instant>) {
        self.trace = origin.map(|origin| Box::new(Trace::new(origin)));
    }

    /// What was traced; nothing is from now on.
    pub fn take_trace(&mut self) -> Option<Box<Trace>> {
        self.trace.take()
    }

    /// The machine that plans are made for.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Says whether nobody but these ranks writes to the file while they commit. Then small extents that lie close together
    /// are written at once with what is between them, where all ranks see the same file at once: on one node. All ranks say the same.
    pub fn set_exclusive(&mut self, exclusive: bool) {
        self.exclusive = exclusive && self.ranks.one_node();
    }

    /// Says whether what follows was written by each rank for itself. Then, if the machine has bridge nodes and the options leave
    /// it open, bytes go out by way of those with free routes, and node by node. All ranks say the same.
    pub fn set_independent(&mut self, independent: bool) {
        let open = independent && self.setting.config.exchange == Exchange::Auto;
        let routed = open && Assignment::default_of(&self.machine).is_some();
        if routed != self.routed {
            self.routed = routed;
            self.plans.clear();
        }
    }

    /// Not where another rank writes its own bytes directly, or an aggregator of another area where areas are not ranges of the file:
    /// such bytes may lie between those of an aggregator.
    fn sieve(&self, prepared: &Prepared) -> Option<Sieve> {
        let frame = &prepared.plan.frame;
        let apart = frame.areas.windows(2).all(|pair| pair[0].area.hi <= pair[1].area.lo);
        let one_writes = (frame.direct.is_empty() && apart) || self.ranks.size() == 1;
        (self.exclusive && one_writes).then_some(Sieve { gap_bytes_max: GAP_BYTES_MAX })
    }

    /// Writes what the ranks declare. Collective; all ranks return with the same verdict.
    pub fn commit(&mut self, declared: Declared, memory: &Lent<'_>) -> Result<(), Error> {
        let whole = memory.bytes() == declared.stream_bytes() && declared.direction() == Direction::Write;
        self.run(declared, whole, Memory::Lent(memory))
    }

    /// Reads what the ranks declare. Collective; all ranks return with the same verdict.
    pub fn fetch(&mut self, declared: Declared, memory: &mut Taken<'_>) -> Result<(), Error> {
        let whole = memory.bytes() == declared.stream_bytes() && declared.direction() == Direction::Read;
        self.run(declared, whole, Memory::Taken(memory))
    }

    fn run(&mut self, declared: Declared, whole: bool, memory: Memory<'_, '_>) -> Result<(), Error> {
        self.stats.commits += 1;
        let verdict = self.carry_out(declared, whole, memory);
        if let Some(far) = &mut self.far {
            far.calm()?;
        }
        verdict.and_then(conclude)
    }

    /// Writes what the ranks declare if they can do it by the plan that is expected; whether they could. If not, nothing of what
    /// has been done counts, and a commit follows. Collective; all ranks return the same. They begin as they come, but nothing goes to
    /// the file before all have come. A rank that is not `content` makes all of them say no.
    pub fn repeat(&mut self, declared: &Declared, memory: &Lent<'_>, content: bool) -> Result<bool, Error> {
        if !self.is_eager() {
            return Ok(false);
        }
        let whole = memory.bytes() == declared.stream_bytes() && declared.direction() == Direction::Write;
        let known = if content {
            self.timed_planning(|session| session.compare(declared, whole))
        } else {
            Ok(Shift::None)
        };
        let verdict = self.begin_at_once(known, &mut Memory::Lent(memory), Begin::Together)?;
        self.stats.commits += u64::from(verdict.is_some());
        verdict.map_or(Ok(false), |verdict| conclude(verdict).map(|()| true))
    }

    /// Whether ranks begin with the plan that is expected at once: where that was right before, on one node. The same on all ranks.
    pub fn is_eager(&self) -> bool {
        self.steady && self.ranks.one_node()
    }

    /// Whether ranks may begin with the plan that is expected before all have come. Not if some fill holes by it and did otherwise in
    /// the commit before: threads of others may still write ahead what goes there. The same on all ranks.
    fn may_begin_apart(&self) -> bool {
        let expected = self.plans.expected_plan();
        expected.is_some_and(|plan| self.plans.is_last(plan) || self.sieve(&plan.prepared).is_none())
    }

    fn carry_out(
        &mut self,
        declared: Declared,
        whole: bool,
        mut memory: Memory<'_, '_>,
    ) -> Result<Verdict, Error> {
        let eager = self.is_eager() && self.may_begin_apart();
        let able = if eager && matches!(memory, Memory::Lent(_)) {
            let known = self.timed_planning(|session| session.compare(&declared, whole));
            if let Some(verdict) = self.begin_at_once(known, &mut memory, Begin::Apart)? {
                return Ok(verdict);
            }
            Ok(())
        } else {
            self.stay_out(false)
        };
        let found = self.timed_planning(|session| session.find(&declared, whole));
        let agreed = self.choose(able.and(found))?;
        let shift = match agreed {
            Some(shift) => shift,
            None => {
                self.timed_planning(|session| session.plan(declared))?;
                0
            }
        };
        let worked = self.drive(Offset::Agreed(shift), &mut memory, Begin::Apart);
        let (_, verdict) = self.meet(worked.map(|verdict| (Shift::Any, verdict)))?.ok_or(Error::GivenUp)?;
        self.plans.note();
        self.end_trace();
        Ok(verdict)
    }

    /// The plan that is good for all ranks, of those that there are: how far their bytes are from it.
    fn choose(&mut self, found: Result<Shifts, Error>) -> Result<Option<u64>, Error> {
        let votes = self.vote(found.map(|shifts| (shifts, Verdict::Good)))?;
        let chosen = self.plans.choose(|at| votes.shift(at).is_some());
        self.steady = chosen.is_some() && chosen == self.plans.expected();
        self.stats.reused += u64::from(chosen.is_some());
        Ok(chosen.and_then(|at| {
            self.plans.turn_to(at);
            votes.shift(at)
        }))
    }

    /// Begins with the plan that is expected, and learns only at the end whether it was good for all ranks. If not, that attempt counts
    /// for nothing.
    fn begin_at_once(
        &mut self,
        known: Result<Shift, Error>,
        memory: &mut Memory<'_, '_>,
        begin: Begin,
    ) -> Result<Option<Verdict>, Error> {
        if let Some(expected) = self.plans.expected() {
            self.plans.turn_to(expected);
        }
        let mine = match known {
            Ok(shift) if shift != Shift::None => self.attempt(shift, memory, begin),
            known => self.stay_out(true).and(known).map(|shift| (shift, Verdict::Good)),
        };
        let agreed = self.meet(mine)?;
        self.steady = agreed.is_some();
        self.stats.reused += u64::from(self.steady);
        if agreed.is_some() {
            self.plans.note();
            self.end_trace();
        }
        Ok(agreed.map(|(_, verdict)| verdict))
    }

    fn end_trace(&mut self) {
        if let (Some(trace), Some(plan)) = (&mut self.trace, self.plans.current()) {
            trace.end(&plan.prepared);
        }
    }

    /// Takes part in a commit or a fetch of the others without any bytes: they all fail, for this reason.
    pub fn decline(&mut self, reason: &str) -> Error {
        let refused = Error::Refused { rank: self.ranks.rank(), reason: reason.to_owned() };
        let mine = self.stay_out(true).and(Err(refused));
        let met = self.meet(mine);
        // As the others do after what they have begun.
        let calm = self.far.as_mut().map_or(Ok(()), Far::calm);
        met.err().or(calm.err()).unwrap_or(Error::GivenUp)
    }

    /// This rank will not come to anything that the others do; if they have begun without asking, they hear of it.
    pub fn abandon(&mut self) -> Result<(), Error> {
        self.stay_out(true)
    }

    fn timed_planning<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let start = Instant::now();
        let result = work(self);
        self.stats.planning += start.elapsed();
        result
    }

    /// How far what this rank declares is from what it declared for the plan that is expected.
    fn compare(&self, declared: &Declared, whole: bool) -> Result<Shift, Error> {
        self.looked(whole, |session| session.plans.compare(|known| session.shift(known, declared)))
    }

    /// How far what this rank declares is from what it declared for each of the plans.
    fn find(&self, declared: &Declared, whole: bool) -> Result<Shifts, Error> {
        self.looked(whole, |session| session.plans.shifts(|known| session.shift(known, declared)))
    }

    fn looked<T>(&self, whole: bool, look: impl FnOnce(&Self) -> T) -> Result<T, Error> {
        let found = contain(|| {
            provoke::point("compare");
            Ok(look(self))
        })?;
        if whole {
            return Ok(found);
        }
        let reason = "the memory lent is not that of the declaration".to_owned();
        Err(Error::Refused { rank: self.ranks.rank(), reason })
    }

    /// How far one declaration is from another, if the same plan is good for both.
    fn shift(&self, known: &Declared, declared: &Declared) -> Shift {
        match known.shift_to(declared) {
            Shift::By(by) if by == u64::MAX || !by.is_multiple_of(self.alignment()) => Shift::None,
            shift => shift,
        }
    }

    /// Does what the plan says, before anybody knows whether it holds for all.
    fn attempt(
        &mut self,
        shift: Shift,
        memory: &mut Memory<'_, '_>,
        begin: Begin,
    ) -> Result<(Shift, Verdict), Error> {
        match self.drive(Offset::Proposed(shift), memory, begin) {
            Ok(verdict) => Ok((shift, verdict)),
            // The plan does not hold, or a rank has failed, which it will tell.
            Err(Error::GivenUp) => Ok((Shift::None, Verdict::Good)),
            Err(error) => Err(error),
        }
    }

    /// Takes no part in what the others may have begun, if they are `eager`, and lets them know.
    fn stay_out(&mut self, eager: bool) -> Result<(), Error> {
        self.attempts += 1;
        let Some(arena) = &self.arena else { return Ok(()) };
        arena.begin(self.attempts, None)?;
        if eager {
            arena.alarm()?;
        }
        arena.announce(self.attempts)
    }

    /// What all ranks agree on: by how far all are from the plan, and how their work ended; nothing, if they are not equally far.
    fn meet(&mut self, mine: Result<(Shift, Verdict), Error>) -> Result<Option<(u64, Verdict)>, Error> {
        let votes = self.vote(mine.map(|(shift, verdict)| ([shift; PLANS_MAX], verdict)))?;
        Ok(votes.shift(0).map(|by| (by, votes.verdict())))
    }

    /// All meetings look alike, so that a rank which cannot go on need not know which one the others are in. If there is one, all hear
    /// why: the ranks can talk to each other, whatever has failed on one of them.
    fn vote(&mut self, mine: Result<(Shifts, Verdict), Error>) -> Result<Votes, Error> {
        let mut votes = Votes::of(&mine);
        let ranks = &self.ranks;
        self.stats.time(|s| &mut s.agreeing, || ranks.allreduce(Reduce::Min, &mut votes.0))?;
        if !votes.all_able() {
            self.ranks.agree(reason(&mine))?;
            return Err(Error::GivenUp);
        }
        Ok(votes)
    }

    /// Makes a plan for what the ranks declare.
    fn plan(&mut self, declared: Declared) -> Result<(), Error> {
        let mut config = self.setting.config.clone();
        if self.routed {
            config.exchange = Exchange::Bridge;
        }
        let job = Job {
            machine: &self.machine,
            config: &config,
            storage: self.setting.storage,
            calibration: self.setting.calibration,
        };
        let prepared = self.agree(Prepared::new(&*self.ranks, &job, &declared))?;
        let room = self.make_room(&prepared);
        self.agree(room).inspect_err(|_| self.plans.clear())?;
        self.meet_partners(&prepared).inspect_err(|_| self.plans.clear())?;
        let mut most = [declared.runs().len() as u64];
        self.ranks.allreduce(Reduce::Max, &mut most)?;
        self.plans.add(declared, prepared, most[0] > RUNS_MAX);
        Ok(())
    }

    /// What this rank has if all have theirs; else why the first one that failed has not.
    fn agree<T>(&self, mine: Result<T, Error>) -> Result<T, Error> {
        // Then the ranks can no longer talk to each other.
        if let Err(Error::Ranks(lost)) = mine {
            return Err(Error::Ranks(lost));
        }
        self.ranks.agree(reason(&mine))?;
        mine
    }

    /// Offsets may move by multiples of this without a new plan.
    fn alignment(&self) -> u64 {
        self.setting.config.stripe_bytes.or(self.setting.storage.stripe_bytes).unwrap_or(1)
    }

    /// Buffers for a plan. Every rank knows what all need, so on a node all grow, or none.
    fn make_room(&mut self, prepared: &Prepared) -> Result<(), Error> {
        let buffer_bytes = usize::try_from(prepared.plan.frame.settings.buffer_bytes).unwrap_or(usize::MAX);
        let slots = prepared.slots_by_rank();
        let near = self.local.iter().enumerate().filter(|(_, number)| number.is_some());
        let slots = near.map(|(rank, _)| slots.get(&Rank(rank as u32)).copied().unwrap_or(0)).collect();
        let needed = Room { slots, buffer_bytes };
        let has = self.arena.as_ref().map(Arena::room);
        // Earlier plans may come again.
        let wanted = has.map_or_else(|| needed.clone(), |has| has.union(&needed));
        if has != Some(&wanted) {
            // Its thread may still be about to ring a bell in there.
            (self.writer, self.arena) = (None, None);
            self.arena = Some(Arena::new(&*self.node, wanted, self.local.clone())?);
        }
        Ok(())
    }

    /// Ways to the ranks on other nodes that this rank has bytes in common with. Partners stay partners.
    fn meet_partners(&mut self, prepared: &Prepared) -> Result<(), Error> {
        if self.local.iter().all(Option::is_some) {
            return Ok(());
        }
        let far = |rank: &Rank| self.local[rank.index()].is_none();
        let mut partners: Vec<usize> = prepared.partners().filter(far).map(Rank::index).collect();
        let known = self.far.as_ref().map_or(&[][..], Far::partners);
        let unknown = partners.iter().any(|rank| known.binary_search(rank).is_err());
        let mut vote = [u64::from(unknown)];
        self.ranks.allreduce(Reduce::Max, &mut vote)?;
        if vote[0] == 0 {
            return Ok(());
        }
        partners.extend(known);
        partners.sort_unstable();
        partners.dedup();
        if let Some(far) = self.far.take() {
            far.close()?;
        }
        let buffer_bytes = usize::try_from(prepared.plan.frame.settings.buffer_bytes).unwrap_or(usize::MAX);
        self.far = Some(Far::new(&*self.ranks, partners, buffer_bytes)?);
        Ok(())
    }

    /// Does what the plan says. Nothing of it is under way any more when it returns.
    fn drive(&mut self, offset: Offset, memory: &mut Memory<'_, '_>, begin: Begin) -> Result<Verdict, Error> {
        self.attempts += 1;
        let (Some(plan), Some(arena)) = (self.plans.current(), &self.arena) else {
            return Err(Error::Garbled);
        };
        arena.begin(self.attempts, offset.own())?;
        arena.announce(self.attempts)?;
        if begin == Begin::Together && arena.all_begun(self.attempts)? {
            // The last one to come: others may sleep at the gate.
            arena.ring_all()?;
        }
        if let Some(far) = &mut self.far {
            far.begin(self.attempts);
        }
        if self.writer.is_none() && plan.prepared.needs_writer() {
            // Where the system has no thread for it now, this rank stores by itself, and asks again next time.
            self.writer = Writer::new().ok();
        }
        let sieve = self.sieve(&plan.prepared);
        if let Some(trace) = &mut self.trace {
            trace.begin();
        }
        let drive = Drive {
            ranks: &*self.ranks,
            arena,
            far: self.far.as_mut(),
            storage: &self.storage,
            writer: self.writer.as_mut(),
            pack: &mut self.pack,
            scratch: &mut self.scratch,
            lying: &mut self.lying,
            sieve,
            prepared: &plan.prepared,
            declared: &plan.declared,
            memory: memory.again(),
            stats: &mut self.stats,
            trace: self.trace.as_deref_mut(),
            offset,
            gate: (begin == Begin::Together).then_some(self.attempts),
        };
        let verdict = drive.run();
        if let Some(writer) = &mut self.writer {
            writer.settle();
        }
        verdict
    }

    /// The memory that this rank holds for the session: its buffers, and what lies between it and other nodes.
    pub fn memory_bytes(&self) -> usize {
        let arena = self.arena.as_ref().map_or(0, Arena::memory_bytes);
        arena + self.far.as_ref().map_or(0, Far::memory_bytes) + self.pack.capacity()
    }

    /// Whether this rank wrote its bytes itself in the last commit.
    pub fn was_direct(&self) -> Option<bool> {
        self.plans.current().map(|plan| !plan.prepared.schedule.own.is_empty())
    }

    /// Whether any rank gathered bytes of others in the last commit. The same on all ranks.
    pub fn exchanges(&self) -> bool {
        let areas = self.plans.current().map(|plan| &plan.prepared.plan.areas);
        areas.is_some_and(|areas| areas.iter().any(|area| !area.parts.is_empty()))
    }

    /// There was nothing to do in a commit: all of it was in the file.
    pub fn count_commit(&mut self) {
        self.stats.commits += 1;
    }

    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Collective: gives back what MPI holds for the session, until the next commit. Some MPI libraries end a program that has
    /// windows when it ends MPI.
    pub fn rest(&mut self) -> Result<(), Error> {
        let Some(far) = self.far.take() else { return Ok(()) };
        // The next plan finds partners anew.
        self.plans.clear();
        far.close()
    }

    /// Collective: gives back the memory and the group.
    pub fn close(mut self) -> Result<(), Error> {
        self.writer = None;
        self.arena = None;
        self.far.take().map_or(Ok(()), Far::close)?;
        self.node.close()?;
        Ok(self.ranks.close()?)
    }
}

/// What ranks say in a meeting, and then the smallest of each number: whether a rank can go on, how its work ended, and for each plan
/// how far its bytes are from it, as that number and its complement, so that it shows whether all have the same.
struct Votes([u64; 2 + 2 * PLANS_MAX]);

impl Votes {
    fn of(mine: &Result<(Shifts, Verdict), Error>) -> Self {
        let mut votes = [0; 2 + 2 * PLANS_MAX];
        if let Ok((shifts, verdict)) = mine {
            (votes[0], votes[1]) = (1, verdict.encode());
            for (vote, shift) in votes[2..].chunks_exact_mut(2).zip(shifts) {
                vote.copy_from_slice(&match shift {
                    Shift::None => [0, 0],
                    Shift::Any => [u64::MAX, u64::MAX],
                    Shift::By(by) => [*by, !by],
                });
            }
        }
        Self(votes)
    }

    const fn all_able(&self) -> bool {
        self.0[0] == 1
    }

    fn verdict(&self) -> Verdict {
        Verdict::decode(self.0[1])
    }

    /// How far all ranks that have any bytes are from a plan, if that is the same for all.
    const fn shift(&self, at: usize) -> Option<u64> {
        match (self.0[2 + 2 * at], self.0[3 + 2 * at]) {
            (u64::MAX, u64::MAX) => Some(0),
            (by, not_by) if by == !not_by => Some(by),
            _ => None,
        }
    }
}

/// Why a rank cannot go on, for the others; who has heard of another leaves it to that one.
fn reason<T>(mine: &Result<T, Error>) -> Result<(), String> {
    match mine {
        Ok(_) | Err(Error::GivenUp) => Ok(()),
        Err(Error::Refused { reason, .. }) => Err(reason.clone()),
        Err(error) => Err(error.to_string()),
    }
}

/// Whether a rank may store before the others have begun.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begin {
    Apart,
    Together,
}

const fn conclude(verdict: Verdict) -> Result<(), Error> {
    match verdict {
        Verdict::Good => Ok(()),
        Verdict::Failed(fault) => Err(Error::Fault(fault)),
    }
}

/// The ranks that have memory in common with this one, and the node of every rank. Where MPI counts ranks to one node
/// that cannot reach each other's memory, each rank is a node of its own.
fn find_nodes(ranks: &dyn Transport) -> Result<(Box<dyn Transport>, Vec<usize>), Error> {
    let node = ranks.split_by_node()?;
    let mut shared = [u64::from(node.one_node())];
    ranks.allreduce(Reduce::Min, &mut shared)?;
    if shared[0] == 1 {
        return Ok((node, ranks.nodes()?));
    }
    node.close()?;
    let alone = ranks.split(Some(ranks.rank() as u32), 0)?.ok_or(Error::Garbled)?;
    Ok((alone, (0..ranks.size()).collect()))
}

/// Whether the machine that the options name, if they do, has as many nodes as the ranks are on. Collective.
pub fn has_room(ranks: &dyn Transport, config: &Config) -> Result<bool, Error> {
    if config.machine.is_empty() {
        return Ok(true);
    }
    let (node, nodes) = find_nodes(ranks)?;
    node.close()?;
    Ok(machine(config, &nodes).is_ok())
}

/// The machine as the options have it, or as far as it can be found out, with the ranks on their nodes.
fn machine(config: &Config, nodes: &[usize]) -> Result<Machine, Error> {
    let placed: Vec<NodeId> = nodes.iter().map(|node| NodeId(*node as u32)).collect();
    if config.machine.is_empty() {
        return Ok(Machine::unknown(placed));
    }
    let refused = |reason: String| Error::Refused { rank: 0, reason: format!("in the machine: {reason}") };
    let machine: Machine = config.machine.parse().map_err(|error| refused(format!("{error}")))?;
    let found = nodes.iter().max().map_or(0, |last| last + 1);
    if found > machine.nodes() as usize {
        return Err(refused(format!("it has {} nodes, and the ranks are on {found}", machine.nodes())));
    }
    Ok(machine.with_ranks(placed))
}
