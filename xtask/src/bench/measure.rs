//! One case in one place: all variants in rounds, each round in a new random order, every time divided by the
//! limit of its own round. So slow changes of the machine cancel, and the second limit shows what is left of them.

use super::calm;
use super::cases::Case;
use super::launch::{Io, Job, Kernels};
use super::stats::{Noise, Quartiles, Random, median};
use super::variants::{self, Kind, LIMIT, LIMIT_AGAIN, Mode, NATIVE, REST, TUNED, Variant};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// No variant may take much more than this in all rounds of a case together. What takes longer than a third of it in
/// the first, checked run is not run again: what makes a first file slow does not count there.
const SLOW_SECONDS: f64 = 6.0;

/// So many files a process of a round writes, and the middle one counts: the first is slower, memory is not there yet.
const FILES: usize = 3;

/// After this time a quick run begins no further round of a case.
const QUICK_TIME: Duration = Duration::from_secs(45);

/// Where a case runs.
pub struct Site<'a> {
    pub kernels: &'a Kernels,
    pub io: Io,
    pub ranks: usize,
    /// A folder of our own on the file system to be measured; everything in it is removed between runs.
    pub dir: PathBuf,
}

/// How thoroughly.
#[derive(Clone, Debug)]
pub struct Settings {
    pub rounds: usize,
    pub seed: u64,
    /// Measure reading back instead of writing.
    pub read: bool,
    /// `H5Fflush` after each step.
    pub flush: bool,
    /// A short sweep of hints, and no further round of a case after some time.
    pub quick: bool,
    /// Count system calls in one more run of each variant.
    pub count: bool,
}

/// Seconds of one pass over the file, the slowest rank; without the work between steps.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// In the calls that write (or read) data.
    pub calls: f64,
    /// From when the file is open to when it is closed, without what the same program takes natively if it moves no data: until the data is
    /// where native HDF5 would have it.
    pub phase: f64,
    /// From before the file is created to after it is closed.
    pub total: f64,
}

pub struct Row {
    pub name: String,
    /// One for each round.
    pub passes: Vec<Pass>,
    /// Of the limit's phase to this one's, and the same end to end.
    pub ratio: Quartiles,
    pub total_ratio: Quartiles,
    /// What the run needed above the program's data, all ranks together.
    pub extra_bytes: f64,
    pub system_calls: Vec<(String, u64)>,
    /// The tuned variant's arguments.
    pub detail: String,
}

/// Names, and why they are not there.
pub type LeftOut = Vec<(String, String)>;

pub struct Table {
    pub case: &'static Case,
    pub bytes: f64,
    pub again: Quartiles,
    /// Share of the machine that other processes used, median of all runs.
    pub others: f64,
    pub rows: Vec<Row>,
    /// Variants that are not in the table.
    pub left_out: LeftOut,
}

impl Table {
    pub fn noise(&self) -> Noise {
        Noise::of(self.again, self.others)
    }
}

impl Row {
    pub fn median(&self, time: fn(&Pass) -> f64) -> f64 {
        median(&self.passes.iter().map(time).collect::<Vec<_>>())
    }
}

/// A variant that works, with what its first run told.
struct Entry {
    variant: Variant,
    /// Its place in the table.
    order: usize,
    /// The checked run.
    first: Pass,
    /// Files that a process of a round writes.
    repeat: usize,
    /// Rounds in which it takes part: all, unless it is slow.
    rounds: usize,
    extra_bytes: f64,
    passes: Vec<Pass>,
    /// Share of the machine that other processes used in each round.
    others: Vec<f64>,
    detail: String,
}

struct Bench<'a> {
    case: &'static Case,
    site: &'a Site<'a>,
    settings: &'a Settings,
    limit_bytes: u64,
}

/// Takes from what was measured what a run of the same round took beside its transfers; the calls count in any case.
fn without_rest(mut entries: Vec<Entry>) -> Result<Vec<Entry>> {
    let rest = entries.iter().find(|e| e.variant.name == REST).context("no run without data")?;
    let rest: Vec<f64> = rest.passes.iter().map(|p| p.phase).collect();
    let usual = median(&rest);
    for entry in entries.iter_mut().filter(|e| e.variant.shares_rest()) {
        for (round, pass) in entry.passes.iter_mut().enumerate() {
            let rest = rest.get(round).copied().unwrap_or(usual);
            pass.phase = (pass.phase - rest).max(pass.calls);
        }
    }
    entries.retain(|e| e.variant.name != REST);
    Ok(entries)
}

/// Measures a case with the given connector modes. The order of everything follows from the seed.
pub fn measure(case: &'static Case, site: &Site, modes: &[Mode], settings: &Settings) -> Result<Table> {
    let started = Instant::now();
    let mut random = Random(settings.seed);
    let mut bench = Bench { case, site, settings, limit_bytes: 0 };
    let first = bench.run(&variants::native(), 1, "write,verify")?;
    let bytes = first["bytes"].as_f64().context("a result without bytes")?;
    bench.limit_bytes = (bytes / case.steps() as f64 / site.ranks as f64).ceil() as u64;
    let (mut entries, left_out) = bench.entries(modes, &mut random)?;
    for round in 0..settings.rounds {
        if round > 0 && settings.quick && started.elapsed() > QUICK_TIME {
            break;
        }
        random.shuffle(&mut entries);
        for entry in entries.iter_mut().filter(|e| round < e.rounds) {
            let (pass, others) = calm::watched(|| bench.round(entry))?;
            entry.passes.push(pass);
            entry.others.push(others);
        }
    }
    let entries = without_rest(entries)?;
    let system_calls = |e: &Entry| if settings.count { bench.count(e) } else { Ok(Vec::new()) };
    let counted: Vec<_> = entries.iter().map(system_calls).collect::<Result<_>>()?;
    table(case, bytes, entries, counted, left_out)
}

impl Bench<'_> {
    /// The variants that run here, each checked once: its file must be right before its speed counts.
    fn entries(&self, modes: &[Mode], random: &mut Random) -> Result<(Vec<Entry>, LeftOut)> {
        let (mut entries, mut left_out) = (Vec::new(), Vec::new());
        let through: Vec<Variant> = modes.iter().flat_map(|&mode| variants::sago(mode)).collect();
        for variant in variants::fixed().into_iter().chain(through) {
            if self.case.skip.contains(&variant.name.as_str()) {
                left_out.push((variant.name, "takes minutes at this size".to_owned()));
                continue;
            }
            match self.entry(variant.clone()).context("a first, checked run") {
                Ok(entry) => entries.push(entry),
                Err(e) if variant.kind == Kind::Native && variant.name != REST => {
                    left_out.push((variant.name, failure(&e)))
                }
                Err(e) => return Err(e),
            }
        }
        let native = entries.iter().position(|e: &Entry| e.variant.name == NATIVE).unwrap_or(0);
        match self.tuned(random, &mut left_out)? {
            Some(tuned) => entries.insert(native + 1, tuned),
            None => {
                left_out.push((TUNED.to_owned(), "no setting is clearly better than the defaults".to_owned()))
            }
        }
        entries.iter_mut().enumerate().for_each(|(order, entry)| entry.order = order);
        Ok((entries, left_out))
    }

    fn entry(&self, variant: Variant) -> Result<Entry> {
        let rest = variant.name == REST;
        let check = if rest { "" } else { ",verify" };
        let result = self.run(&variant, 1, &format!("{}{check}", self.phases()))?;
        ensure!(rest || result["verified"] == Value::Bool(true), "{} did not check its data", variant.name);
        let first = self.pass(&variant, &result)?;
        let seconds = first.total;
        let slow = seconds > SLOW_SECONDS / 3.0 && variant.kind != Kind::Limit;
        let repeat = if slow { 1 } else { FILES };
        let rounds = (SLOW_SECONDS / seconds).clamp(1.0, self.settings.rounds as f64) as usize;
        let extra_bytes = result["extra_bytes"].as_f64().unwrap_or(0.0);
        Ok(Entry {
            variant,
            order: 0,
            first,
            repeat,
            rounds: if slow { 0 } else { rounds },
            extra_bytes,
            passes: if slow { vec![first] } else { Vec::new() },
            others: Vec::new(),
            detail: String::new(),
        })
    }

    /// The best of the sweep, which begins with the defaults: one checked run of each, then interleaved rounds of
    /// those that are not clearly slower. What the winner is worth is measured afresh, with all others. None if the
    /// defaults win.
    fn tuned(&self, random: &mut Random, left_out: &mut LeftOut) -> Result<Option<Entry>> {
        let mut entries = Vec::new();
        let mut sweep = variants::sweep(self.site.io, self.site.ranks, self.settings.read);
        sweep.truncate(if self.settings.quick { 3 } else { usize::MAX });
        for (order, variant) in sweep.into_iter().enumerate() {
            let detail = variants::describe(&variant);
            match self.entry(variant) {
                Ok(entry) => entries.push(Entry { detail, order, ..entry }),
                Err(e) if order > 0 => left_out.push((format!("{TUNED} ({detail})"), failure(&e))),
                Err(_) => return Ok(None),
            }
        }
        let best = entries.iter().map(|e| e.first.phase).fold(f64::INFINITY, f64::min);
        entries.retain(|e| e.order == 0 || e.first.phase < 1.5 * best);
        entries.iter_mut().for_each(|e| e.passes.clear());
        let rounds = entries.iter().map(|e| e.rounds).min().unwrap_or(0).clamp(1, 5);
        for _ in 0..rounds {
            random.shuffle(&mut entries);
            for entry in &mut entries {
                let pass = self.round(entry)?;
                entry.passes.push(pass);
            }
        }
        entries.sort_by_key(|e| e.order);
        let phases: Vec<Vec<f64>> =
            entries.iter().map(|e| e.passes.iter().map(|p| p.phase).collect()).collect();
        let mut best = entries.swap_remove(better(&phases));
        best.passes = if best.rounds == 0 { vec![best.first] } else { Vec::new() };
        Ok((best.order > 0).then_some(best))
    }

    /// What a run that is measured does.
    fn phases(&self) -> &'static str {
        if self.settings.read { "write,read" } else { "write" }
    }

    fn round(&self, entry: &Entry) -> Result<Pass> {
        self.pass(&entry.variant, &self.run(&entry.variant, entry.repeat, self.phases())?)
    }

    fn count(&self, entry: &Entry) -> Result<Vec<(String, u64)>> {
        let counted = self.site.kernels.count_calls(&self.job(&entry.variant, 1, self.phases()));
        self.clean()?;
        counted
    }

    fn run(&self, variant: &Variant, repeat: usize, phases: &str) -> Result<Value> {
        let result = self.site.kernels.run(&self.job(variant, repeat, phases));
        self.clean()?;
        result.with_context(|| format!("{}, {}", self.case.name, variant.name))
    }

    fn job(&self, variant: &Variant, repeat: usize, phases: &str) -> Job {
        let mut args: Vec<String> =
            vec!["--repeat".into(), repeat.to_string(), "--phases".into(), phases.into()];
        if self.settings.flush {
            args.push("--flush".into());
        }
        let limit = variant.kind == Kind::Limit;
        if limit {
            let sizes = [
                "--size".into(),
                self.limit_bytes.to_string(),
                "--steps".into(),
                self.case.steps().to_string(),
            ];
            args.extend(sizes);
        } else {
            args.extend(self.case.args.split(' ').map(str::to_owned));
        }
        args.extend(variant.args.iter().cloned());
        Job {
            ranks: self.site.ranks,
            io: self.site.io,
            kernel: if limit { "posix" } else { self.case.kernel }.to_owned(),
            args,
            file: self.site.dir.join("bench.h5"),
            env: variant.env.clone(),
            connector: match &variant.kind {
                Kind::Sago(words) => Some(words.clone()),
                _ => None,
            },
            limit: Duration::from_secs(300),
        }
    }

    /// The middle one of the passes of a process; its phase with what the rest of the program costs, if that is known for it.
    fn pass(&self, variant: &Variant, result: &Value) -> Result<Pass> {
        let (list, calls) = if self.settings.read { ("reads", "read") } else { ("writes", "write") };
        let passes = result[list].as_array().with_context(|| format!("a result without {list}"))?;
        let of = |key: &str| median(&passes.iter().filter_map(|p| p[key].as_f64()).collect::<Vec<_>>());
        if variant.name == REST {
            return Ok(Pass { calls: 0.0, phase: of("opened"), total: of("total") });
        }
        ensure!(passes.iter().all(|p| p[calls].is_f64()), "a pass without the time of its calls");
        let phase = if variant.shares_rest() { "opened" } else { "phase" };
        Ok(Pass { calls: of(calls), phase: of(phase), total: of("total") })
    }

    fn clean(&self) -> Result<()> {
        for entry in fs::read_dir(&self.site.dir)? {
            fs::remove_file(entry?.path())?;
        }
        Ok(())
    }
}

/// Why a native run does not count: MPI-IO libraries do fail, and write wrong data, with some settings.
fn failure(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    let wrong = text.contains(r#""verified":false"#);
    if wrong {
        "it wrote wrong data".to_owned()
    } else {
        text.lines().next().unwrap_or("it failed").to_owned()
    }
}

/// Which of some settings is better than the first, by the seconds of each in the same rounds: the one with the best
/// median ratio, if it won in three quarters of the rounds and by more than noise; else the first.
fn better(seconds: &[Vec<f64>]) -> usize {
    const NOISE: f64 = 1.05;
    let gain =
        |own: &Vec<f64>| Quartiles::of(&seconds[0].iter().zip(own).map(|(d, o)| d / o).collect::<Vec<_>>());
    let gains = seconds.iter().map(gain).enumerate();
    let best = gains.max_by(|(_, a), (_, b)| a.median.total_cmp(&b.median));
    best.filter(|(_, g)| g.low > 1.0 && g.median > NOISE).map_or(0, |(i, _)| i)
}

fn table(
    case: &'static Case,
    bytes: f64,
    entries: Vec<Entry>,
    counted: Vec<Vec<(String, u64)>>,
    left_out: LeftOut,
) -> Result<Table> {
    let others: Vec<f64> = entries.iter().flat_map(|e| e.others.iter().copied()).collect();
    let limit = entries.iter().find(|e| e.variant.name == LIMIT).context("no limit")?.passes.clone();
    let ratio = |passes: &[Pass], time: fn(&Pass) -> f64| {
        Quartiles::of(&limit.iter().zip(passes).map(|(l, p)| time(l) / time(p)).collect::<Vec<_>>())
    };
    let mut counted: Vec<(Entry, _)> = entries.into_iter().zip(counted).collect();
    counted.sort_by_key(|(entry, _)| entry.order);
    let rows = counted.into_iter().map(|(e, system_calls)| Row {
        ratio: ratio(&e.passes, |p| p.phase),
        total_ratio: ratio(&e.passes, |p| p.total),
        name: e.variant.name,
        passes: e.passes,
        extra_bytes: e.extra_bytes,
        system_calls,
        detail: e.detail,
    });
    let rows: Vec<Row> = rows.collect();
    let again = rows.iter().find(|r| r.name == LIMIT_AGAIN).context("no second limit")?.ratio;
    Ok(Table { case, bytes, again, others: median(&others), rows, left_out })
}

#[cfg(test)]
mod tests {
    use super::better;

    #[test]
    fn the_defaults_stay_unless_something_is_clearly_better() {
        let defaults = vec![1.0, 1.2, 0.9];
        assert_eq!(better(&[defaults.clone(), vec![0.7, 0.8, 0.6], vec![0.9, 1.0, 0.8]]), 1);
        assert_eq!(better(&[defaults.clone(), vec![0.5, 1.5, 1.0]]), 0, "once lucky is not better");
        assert_eq!(better(&[defaults.clone(), vec![0.98, 1.17, 0.88]]), 0, "noise");
        assert_eq!(better(&[defaults]), 0);
    }
}
