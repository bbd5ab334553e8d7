//! Suite `options`: the words after the connector's name. Wrong ones fail the open with a sentence that helps; right
//! ones do what they say, stacking over and under another connector included. Hints of MPI_Info do what they say, and what
//! is wrong with them is said once.

use super::{Context, Log, On, Suite};
use crate::connector::native;
use crate::proc::{Done, Run};
use crate::world::Hdf5;
use crate::{mpi, place};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub struct Options;

/// Options that are refused, and what the error stack must say of them.
const REFUSED: &[(&str, &str)] = &[
    ("reprot=stderr", "unknown option `reprot`; did you mean `report`?"),
    ("report", "option `report` has no value; write `report=...`"),
    ("report=", "it takes `stderr` or the path of a file to append to, for example `report=/tmp/sago.jsonl`"),
    ("report=stderr report=stderr", "option `report` is given twice"),
    ("under_info={", "the `{` at character 12 of the options is never closed"),
    ("under_vol=a/b", "option `under_vol` cannot be `a/b`"),
    ("under_vol=sago under_info={x=1}", "unknown option `x`"),
    ("under_vol=no_such_connector", "can't find plugin"),
    ("under_vol=60000", "can't find plugin"),
];

/// Connectors that are accepted, with `REPORT` for the report's path, and how many files Sago must have created.
const ACCEPTED: &[(&str, u64)] = &[
    ("sago report=REPORT", 1),
    ("sago ;; report={REPORT} ; under_vol=native", 1),
    ("sago under_vol=0;under_info={};report=REPORT", 1),
    ("sago report=REPORT under_vol=pass_through under_info={under_vol=0;under_info={};}", 1),
    ("sago report=REPORT under_vol=sago under_info={under_vol=0}", 2),
    ("pass_through under_vol=7246;under_info={report=REPORT;};", 1),
];

const BUILT_IN: &str = "under_vol=pass_through";

impl Suite for Options {
    fn name(&self) -> &'static str {
        "options"
    }

    fn about(&self) -> &'static str {
        "options are understood or refused with a sentence that helps; connectors stack"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        for hdf5 in &context.world.hdf5 {
            let on = On::hdf5(hdf5);
            let program =
                mpi::program(hdf5, &context.scratch, &place::root().join("tests/options/options.c"))?;
            let trial = Trial { context, program };
            let plain = trial.native()?;
            for (words, sentence) in REFUSED {
                log.case(&on, format!("refused: {words}"), trial.refused(words, sentence));
            }
            for (connector, files) in ACCEPTED {
                if connector.contains(BUILT_IN) && hdf5.version.starts_with("1.") {
                    log.skip(
                        &on,
                        *connector,
                        "before 2.0 HDF5 knows its pass-through connector only by environment",
                    );
                    continue;
                }
                log.case(&on, format!("accepted: {connector}"), trial.accepted(connector, *files, &plain));
            }
            log.case(&on, "report=stderr", trial.to_stderr());
            if context.full || hdf5.release() >= (2, 0) {
                hints(context, hdf5, log)?;
            }
            for place in Place::ALL {
                log.case(
                    &on,
                    format!("report from the {place:?}").to_lowercase(),
                    trial.accepted_elsewhere(place),
                );
                log.case(
                    &on,
                    format!("refused in the {place:?}").to_lowercase(),
                    trial.refused_elsewhere(place),
                );
            }
        }
        Ok(())
    }
}

/// Where options may come from besides the connector's text.
#[derive(Clone, Copy, Debug)]
enum Place {
    Site,
    User,
    Home,
    Variable,
}

impl Place {
    const ALL: [Self; 4] = [Self::Site, Self::User, Self::Home, Self::Variable];
}

struct Trial<'c> {
    context: &'c Context,
    program: PathBuf,
}

impl Trial<'_> {
    fn file(&self) -> PathBuf {
        self.context.scratch.join("options.h5")
    }

    fn command(&self) -> Run {
        Run::new(&self.program).arg(self.file()).limit(Duration::from_secs(60))
    }

    /// The bytes of the file that native HDF5 makes.
    fn native(&self) -> Result<Vec<u8>> {
        native(self.command()).ok()?;
        Ok(fs::read(self.file())?)
    }

    fn through(&self, connector: &str) -> Result<Done> {
        self.command()
            .env("HDF5_PLUGIN_PATH", &self.context.plugins)
            .env("HDF5_VOL_CONNECTOR", connector)
            // HDF5's pass-through connector leaves the last byte of the options that it hands on as malloc gave it:
            // let that be zero (the C library fills memory with the complement of this, but for what it recycles).
            .env("MALLOC_PERTURB_", "255")
            .env("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0")
            .run()
    }

    /// A run with nothing after the connector's name, and `name` set to `value` in another place.
    fn elsewhere(&self, place: Place, name: &str, value: &str) -> Result<Done> {
        let home = self.context.scratch.join("home");
        let file = home.join("sago/config.toml");
        fs::create_dir_all(home.join("sago"))?;
        fs::write(&file, format!("{name} = '{value}'\n"))?;
        let variable = format!("SAGO_{}", name.to_uppercase());
        let run =
            self.command().env("HDF5_PLUGIN_PATH", &self.context.plugins).env("HDF5_VOL_CONNECTOR", "sago");
        match place {
            Place::Site => run.env("SAGO_SITE_CONFIG", file),
            Place::User => run.env("SAGO_CONFIG", file),
            Place::Home => run.env("XDG_CONFIG_HOME", home),
            Place::Variable => run.env(variable, value),
        }
        .run()
    }

    fn accepted_elsewhere(&self, place: Place) -> Result<()> {
        let report = self.context.scratch.join("elsewhere.report");
        remove(&report)?;
        let done = self.elsewhere(place, "report", &report.display().to_string())?;
        ensure!(done.success() && done.stdout.trim() == "done", "{}", done.explain());
        let line = fs::read_to_string(&report).context("no report: the option was not seen")?;
        ensure!(line.contains(r#""file create":1,"#), "not of this run: {line}");
        Ok(())
    }

    fn refused_elsewhere(&self, place: Place) -> Result<()> {
        let done = self.elsewhere(place, "bufer", "1MiB")?;
        ensure!(done.stdout.trim() == "failed: create", "H5Fcreate did not fail:\n{}", done.explain());
        let sentences = [
            "unknown option `bufer`; did you mean `buffer`?",
            if matches!(place, Place::Variable) {
                "in the variable SAGO_BUFER"
            } else {
                "in line 1 of the file"
            },
        ];
        ensure!(sentences.iter().all(|s| done.stderr.contains(s)), "{}", done.explain());
        Ok(())
    }

    fn refused(&self, words: &str, sentence: &str) -> Result<()> {
        let done = self.through(&format!("sago {words}"))?;
        ensure!(done.stdout.trim() == "failed: create", "H5Fcreate did not fail:\n{}", done.explain());
        ensure!(done.stderr.contains(sentence), "`{sentence}` is not in:\n{}", done.explain());
        Ok(())
    }

    fn accepted(&self, connector: &str, files: u64, plain: &[u8]) -> Result<()> {
        let report = self.report();
        remove(&report)?;
        let done = self.through(&connector.replace("REPORT", &report.display().to_string()))?;
        ensure!(done.success() && done.stdout.trim() == "done", "{}", done.explain());
        ensure!(fs::read(self.file())? == plain, "the file differs from that of native HDF5");
        let line = fs::read_to_string(&report).context("no report: Sago was not active")?;
        let created = format!(r#""file create":{files},"#);
        ensure!(line.contains(&created), "`{created}` is not in the report: {line}");
        Ok(())
    }

    /// HDF5's pass-through connector writes one byte past its copy of the options, which the C library forgives unless
    /// the copy ends where its block does: a path of a multiple of 16 bytes makes it end before.
    fn report(&self) -> PathBuf {
        let path = self.context.scratch.join("options.report");
        let missing = 16 - path.as_os_str().len() % 16;
        path.with_file_name(format!("options.report{}", "_".repeat(missing)))
    }

    fn to_stderr(&self) -> Result<()> {
        let done = self.through("sago report=stderr")?;
        ensure!(done.success() && done.stderr.starts_with(r#"{"sago":"#), "{}", done.explain());
        Ok(())
    }
}

/// Hints of the file's MPI_Info, from a program with two ranks.
fn hints(context: &Context, hdf5: &Hdf5, log: &mut Log) -> Result<()> {
    let on = On::hdf5(hdf5);
    let program = mpi::program(hdf5, &context.scratch, &place::root().join("tests/options/hints.c"))?;
    let hinted = Hinted { context, hdf5, program };
    log.case(&on, "hints: sizes of MPI-IO", hinted.sizes());
    log.case(&on, "hints: sago_mode, and the environment above it", hinted.mode());
    log.case(&on, "hints: what is wrong is said once and left out", hinted.wrong());
    log.case(&on, "hints: ranks that differ", hinted.differing());
    Ok(())
}

struct Hinted<'c> {
    context: &'c Context,
    hdf5: &'c Hdf5,
    program: PathBuf,
}

impl Hinted<'_> {
    const RANKS: usize = 2;

    /// What a run with these hints printed, and the lines of its report.
    fn run(&self, hints: &[&str], variable: Option<(&str, &str)>) -> Result<(Done, String)> {
        let connector = self.context.connector("hints")?;
        let file = self.context.scratch.join("hints.h5");
        let run = mpi::mpiexec(self.hdf5.mpi, Self::RANKS).arg(&self.program).arg(file).args(hints);
        let run = connector.apply(run.limit(Duration::from_secs(60)));
        let run = if let Some((name, value)) = variable { run.env(name, value) } else { run };
        let done = run.run()?;
        ensure!(done.success() && done.stdout.lines().any(|line| line == "done"), "{}", done.explain());
        connector.assert_active(Self::RANKS)?;
        Ok((done, fs::read_to_string(connector.report())?))
    }

    /// How many calls wrote the 2 MiB, through one aggregator with buffers of the size that a hint names.
    fn writes(&self, buffer: &str) -> Result<u64> {
        let hints = ["sago_exchange=aggregate", "cb_nodes=1", "striping_unit=4096", buffer];
        let (done, report) = self.run(&hints, None)?;
        ensure!(report.contains(r#""captured":{"calls":1,"#), "nothing was captured: {report}");
        let line = done.stdout.lines().find_map(|line| line.strip_prefix("writes "));
        Ok(line.with_context(|| done.explain())?.trim().parse()?)
    }

    fn sizes(&self) -> Result<()> {
        let (small, large) = (self.writes("cb_buffer_size=16384")?, self.writes("cb_buffer_size=2097152")?);
        // 128 buffers, and 1; both with the few calls that HDF5 itself makes.
        ensure!(small > large + 100, "{small} calls with small buffers, {large} with a large one");
        Ok(())
    }

    fn mode(&self) -> Result<()> {
        let off = |variable| -> Result<String> { Ok(self.run(&["sago_mode=off"], variable)?.1) };
        let (hinted, outranked) = (off(None)?, off(Some(("SAGO_MODE", "window")))?);
        ensure!(hinted.contains(r#""captured":{"calls":0,"#), "{hinted}");
        ensure!(outranked.contains(r#""captured":{"calls":1,"#), "{outranked}");
        Ok(())
    }

    fn wrong(&self) -> Result<()> {
        let hints = ["sago_bufer=1MiB", "cb_buffer_size=much", "cb_config_list=*:1", "romio_cb_write=enable"];
        let (done, report) = self.run(&hints, None)?;
        ensure!(report.contains(r#""captured":{"calls":1,"#), "{report}");
        let told: Vec<&str> = done.stderr.lines().filter(|line| line.contains("sago:")).collect();
        for sentence in ["did you mean `buffer`?", "hint cb_buffer_size", "hint cb_config_list"] {
            let times = told.iter().filter(|line| line.contains(sentence)).count();
            ensure!(times == 1, "`{sentence}` is said {times} times:\n{}", done.explain());
        }
        ensure!(told.len() == 3, "{}", done.explain());
        Ok(())
    }

    fn differing(&self) -> Result<()> {
        let (_, report) = self.run(&["rank sago_buffer=1MiB"], None)?;
        ensure!(report.contains(r#""captured":{"calls":0,"#) && report.contains("differ"), "{report}");
        Ok(())
    }
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e.into()),
        _ => Ok(()),
    }
}
