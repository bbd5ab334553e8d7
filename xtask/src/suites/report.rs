//! Suite `report`: what the connector says of a file at its close is what the kernel saw it do. FLASH and HACC run under
//! strace, and the report's calls and bytes are compared with the system calls, with what the program counts, and within
//! the report. Then: what cannot be written makes no program fail, and `sago report` shows what was written.

use super::{Context, Log, On, Suite};
use crate::bench::launch::{Io, Job, Kernels};
use crate::connector::{self, native};
use crate::proc::Run;
use crate::world::{Hdf5, Mpi};
use crate::{mpi, place};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub struct Report;

const RANKS: usize = 4;
const LIMIT: Duration = Duration::from_secs(120);

/// Kernel, words after the connector's name. With aggregators, and as the planner likes it.
const CASES: &[(&str, &str)] = &[
    ("flash --size 64K --cells 8", "exchange=aggregate aggregators=2 buffer=256KiB"),
    ("flash --size 64K --cells 8", "mode=immediate"),
    ("hacc --form soa --size 20000", "buffer=64KiB exchange=aggregate"),
    ("hacc --form columns --size 20000 --steps 2 --flush", ""),
];

impl Suite for Report {
    fn name(&self) -> &'static str {
        "report"
    }

    fn about(&self) -> &'static str {
        "the report of a file agrees with strace and with the program, and can be shown"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        for mpi in [Mpi::Mpich, Mpi::OpenMpi] {
            let hdf5 = context.world.newest(mpi)?;
            let on = On::hdf5(hdf5);
            let kernels = Kernels::build(hdf5, &context.plugins, &context.scratch)?;
            let runs = Runs { context, hdf5, kernels };
            for (number, (kernel, words)) in CASES.iter().enumerate() {
                let result = runs.agrees(number, kernel, words);
                log.case(&on, format!("{kernel}, {words}"), result);
            }
            log.case(&on, "calls left to HDF5 are counted with their reason", runs.passed());
            log.case(&on, "a report that cannot be written", runs.unwritable());
            log.case(&on, "on standard error, with a greeting", runs.to_stderr());
        }
        log.case(&On::nothing(), "sago report", shown(context));
        Ok(())
    }
}

struct Runs<'c> {
    context: &'c Context,
    hdf5: &'c Hdf5,
    kernels: Kernels,
}

impl Runs<'_> {
    fn job(&self, kernel: &str, words: &str) -> Job {
        let mut args = kernel.split(' ').map(str::to_owned);
        Job {
            ranks: RANKS,
            // The other MPI-IO of Open MPI makes the system calls that Sago makes, for metadata.
            io: Io::Romio,
            kernel: args.next().unwrap_or_default(),
            args: args.chain(["--phases".to_owned(), "write,verify".to_owned()]).collect(),
            file: self.context.scratch.join("report.h5"),
            env: Vec::new(),
            connector: Some(words.to_owned()),
            limit: LIMIT,
        }
    }

    fn agrees(&self, number: usize, kernel: &str, words: &str) -> Result<()> {
        let job = self.job(kernel, words);
        let (said, calls) = self.kernels.trace(&job, "pwritev")?;
        let kept = self.context.scratch.join(format!("{}-{number}.jsonl", self.hdf5.mpi));
        fs::copy(self.kernels.report(), &kept)?;
        let report = written(&kept, &job.file)?;
        let seen: Vec<u64> = calls.lines().filter_map(|line| bytes_written(line, &job.file)).collect();
        let number = |pointer: &str| {
            report.pointer(pointer).and_then(Value::as_u64).with_context(|| format!("no {pointer}: {report}"))
        };
        let write_bytes = number("/storage/write_bytes")?;
        equal("system calls", number("/storage/write_calls")?, seen.len() as u64)?;
        equal("bytes in system calls", write_bytes, seen.iter().sum())?;
        ensure!(!seen.is_empty(), "nothing was captured");
        let datasets = report["datasets"].as_array().context("no datasets")?;
        let of = |dataset: &Value, what: &str| dataset["written"][what].as_u64().unwrap_or(0);
        let captured: u64 = datasets.iter().map(|dataset| of(dataset, "bytes")).sum();
        equal("bytes of datasets", captured, write_bytes)?;
        let collective = datasets.iter().filter(|dataset| of(dataset, "collective") > 0);
        let collective: u64 = collective.map(|dataset| of(dataset, "bytes")).sum();
        equal("bytes that the program says it wrote", collective, said["bytes"].as_u64().unwrap_or(0))?;
        ensure!(fs::metadata(&job.file)?.len() >= write_bytes, "the file is shorter than what was written");
        let cells = report["traffic"]["cells"].as_array().context("no traffic")?;
        let sent: u64 = cells.iter().filter_map(|cell| cell[2].as_u64()).sum();
        equal("bytes sent and own", sent + number("/traffic/own_bytes")?, captured)?;
        let rounds = report["timeline"].as_array().context("no timeline")?;
        let stored = |own: bool| -> u64 {
            let rounds = rounds.iter().filter(|round| (round["kind"] == "own") == own);
            rounds.filter_map(|round| round["bytes"].as_u64()).sum()
        };
        equal("rounds left out", number("/timeline_left_out")?, 0)?;
        equal("bytes of rounds in time", stored(false), number("/rounds/bytes")?)?;
        equal("own bytes in time", stored(true), number("/traffic/own_bytes")?)?;
        equal(
            "ranks with times",
            report["phases"][0]["ranks_us"].as_array().map_or(0, Vec::len) as u64,
            RANKS as u64,
        )
    }

    /// All of a program's writes, none of them captured.
    fn passed(&self) -> Result<()> {
        let job = self.job("hacc --form soa --size 20000 --independent", "mode=immediate");
        let said = self.kernels.run(&job)?;
        let report = written(&self.kernels.report(), &job.file)?;
        equal("storage calls", report["storage"]["write_calls"].as_u64().unwrap_or(1), 0)?;
        let datasets = report["datasets"].as_array().context("no datasets")?;
        let passed: Vec<&Value> =
            datasets.iter().filter_map(|dataset| dataset["passed"].as_array()).flatten().collect();
        let bytes: u64 = passed.iter().filter_map(|passed| passed["calls"]["bytes"].as_u64()).sum();
        equal("bytes left to HDF5", bytes, said["bytes"].as_u64().unwrap_or(0))?;
        let calls: u64 = passed.iter().filter_map(|passed| passed["calls"]["independent"].as_u64()).sum();
        equal("calls left to HDF5", calls, 9 * RANKS as u64)?;
        ensure!(
            passed.iter().all(|passed| passed["reason"] == "independent, in immediate mode"),
            "{passed:?}"
        );
        let names: Vec<&str> = datasets.iter().filter_map(|dataset| dataset["name"].as_str()).collect();
        ensure!(names == ["/mask", "/phi", "/pid", "/vx", "/vy", "/vz", "/xx", "/yy", "/zz"], "{names:?}");
        Ok(())
    }

    fn plain(&self, words: &str) -> Run {
        let job = self.job("hacc --form packed --size 2000", "");
        let run = native(mpi::mpiexec(self.hdf5.mpi, RANKS)).arg(self.kernels.program()).arg(&job.kernel);
        run.arg("--file")
            .arg(&job.file)
            .args(&job.args)
            .env("HDF5_PLUGIN_PATH", &self.context.plugins)
            .env("HDF5_VOL_CONNECTOR", format!("sago {words}"))
            .limit(LIMIT)
    }

    /// Each process complains once, and goes on.
    fn unwritable(&self) -> Result<()> {
        let done = self.plain("report=/dev/null/nowhere").run()?;
        ensure!(done.success(), "{}", done.explain());
        let complaints =
            done.stderr.lines().filter(|line| line.starts_with("sago: cannot write the report")).count();
        ensure!(complaints == RANKS, "{complaints} complaints of {RANKS} processes: {}", done.explain());
        Ok(())
    }

    fn to_stderr(&self) -> Result<()> {
        let done = self.plain("report=stderr verbose=1").run()?;
        ensure!(done.success(), "{}", done.explain());
        let count = |wanted: &str| done.stderr.lines().filter(|line| line.contains(wanted)).count();
        // The kernel opens the file twice: to write, and to verify.
        ensure!(count(": captures ") == 1, "no greeting, or several: {}", done.explain());
        ensure!(count("4 ranks on 1 node, mode window") == 2, "{}", done.explain());
        ensure!(count("wrote 74.2 KiB: 1 collective call") == 1, "{}", done.explain());
        let done = self.plain("report=stderr report_of=processes").run()?;
        let processes = done.stderr.lines().filter(|line| line.starts_with(r#"{"sago":"#)).count();
        ensure!(done.success() && processes == RANKS, "{}", done.explain());
        ensure!(!done.stderr.contains("ranks on"), "files are reported: {}", done.explain());
        Ok(())
    }
}

/// The report of the file as it was written.
fn written(report: &Path, file: &Path) -> Result<Value> {
    let files = connector::files(report)?;
    let name = file.to_string_lossy();
    let mut found = files.into_iter().filter(|one| one["file"] == *name && one["writable"] == true);
    let report = found.next().context("no report of the file")?;
    ensure!(found.next().is_none(), "several reports of one file that was opened once");
    ensure!(report["schema"] == 1, "another schema: {report}");
    Ok(report)
}

fn equal(what: &str, said: u64, seen: u64) -> Result<()> {
    ensure!(said == seen, "{what}: the report has {said}, and there were {seen}");
    Ok(())
}

/// What a call wrote to the file: `123 pwritev(7</path>, [...], 1, 4096) = 512`, or the second half of such a line.
fn bytes_written(line: &str, file: &Path) -> Option<u64> {
    let resumed = line.contains("<... pwritev resumed>");
    let ours = line.contains(&format!("<{}>", file.display()));
    let (_, result) = line.rsplit_once(" = ")?;
    // The first half of an interrupted line names the file; only Sago makes such calls here.
    (ours || resumed).then(|| result.trim().parse().ok()).flatten()
}

/// `sago report` on what the cases left: as text, as JSON, as a page.
fn shown(context: &Context) -> Result<()> {
    let target = place::target()?;
    let build = Run::new(place::cargo()).args(["build", "--quiet", "--package", "sago-cli", "--target-dir"]);
    build.arg(&target).dir(place::root()).ok().context("building sago")?;
    let file = |name: &str| context.scratch.join(name);
    let sago =
        |reports: &[PathBuf]| Run::new(target.join("debug/sago")).arg("report").args(reports).limit(LIMIT);
    let (flash, hacc) = (file("mpich-0.jsonl"), file("openmpi-2.jsonl"));
    let text = sago(std::slice::from_ref(&hacc)).text()?;
    ensure!(text.contains("+ 9 collective calls became 1 commit"), "not said:\n{text}");
    let json: Value = serde_json::from_str(&sago(std::slice::from_ref(&flash)).arg("--json").text()?)?;
    ensure!(json[0]["report"]["ranks"] == RANKS, "not the report: {json}");
    let page = file("compared.html");
    sago(&[flash, hacc]).arg("--html").arg(&page).ok()?;
    let page = fs::read_to_string(page)?;
    for wanted in ["Files compared", "Rounds in time", "Who sends to whom", "/dens", "became 1 commit"] {
        ensure!(page.contains(wanted), "`{wanted}` is not on the page");
    }
    ensure!(!page.contains("http") && !page.contains("src="), "the page needs something else");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_strace() {
        let file = Path::new("/a b/report.h5");
        let bytes = |line: &str| bytes_written(line, file);
        let whole = r#"12 pwritev(7</a b/report.h5>, [{iov_base="\0 = 1"..., iov_len=512}], 1, 4096) = 512"#;
        assert_eq!(bytes(whole), Some(512));
        assert_eq!(bytes(&whole.replace("report.h5", "other.h5")), None);
        assert_eq!(
            bytes(r#"12 pwritev(7</a b/report.h5>, [{iov_base="\0", iov_len=5}], 1, 0 <unfinished ...>"#),
            None
        );
        assert_eq!(bytes("12 <... pwritev resumed>)       = 5"), Some(5));
        assert_eq!(
            bytes("12 pwritev(7</a b/report.h5>, [], 1, 0) = -1 ENOSPC (No space left on device)"),
            None
        );
    }
}
