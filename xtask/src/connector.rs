//! Running a program natively or through the connector, and proving which of the two it was.
//!
//! HDF5 silently uses its native connector in many set-ups where ours was meant, so no run counts unless the
//! connector's own report shows that it served the program.

use crate::proc::Run;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A way through the connector: which plugin, and where it reports.
#[derive(Clone, Debug)]
pub struct Connector {
    plugins: PathBuf,
    report: PathBuf,
    options: String,
}

/// What one process did through the connector: one line of the report file.
#[derive(Clone, Debug)]
pub struct Activity {
    /// Version of the libhdf5 that loaded the connector.
    pub hdf5: String,
    pub pid: u64,
    /// Number of calls by "class callback", such as "dataset write".
    pub calls: BTreeMap<String, u64>,
}

impl Connector {
    /// Through the plugin in the folder `plugins`, reporting to the file `report`, which is emptied.
    pub fn new(plugins: &Path, report: &Path) -> Result<Self> {
        match fs::remove_file(report) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e.into()),
            _ => {}
        }
        Ok(Self { plugins: plugins.to_owned(), report: report.to_owned(), options: String::new() })
    }

    /// More words after the connector's name.
    pub fn options(mut self, words: &str) -> Self {
        self.options = format!(" {words}");
        self
    }

    /// The two variables, as a user would set them, and the report.
    pub fn env(&self) -> [(&'static str, String); 2] {
        [
            ("HDF5_PLUGIN_PATH", self.plugins.display().to_string()),
            ("HDF5_VOL_CONNECTOR", format!("sago report={}{}", self.report.display(), self.options)),
        ]
    }

    pub fn apply(&self, run: Run) -> Run {
        run.envs(self.env())
    }

    /// What the processes did. An error if fewer than `processes` report, or one of them touched no file.
    pub fn assert_active(&self, processes: usize) -> Result<Vec<Activity>> {
        let all = self.activities()?;
        ensure!(
            all.len() >= processes,
            "the connector was active in {} of {processes} processes ({})",
            all.len(),
            self.report.display()
        );
        for one in &all {
            ensure!(one.count("file ") > 0, "the connector saw no file call in process {}", one.pid);
        }
        Ok(all)
    }

    /// Where the report is.
    pub fn report(&self) -> &Path {
        &self.report
    }

    /// The report's lines of processes; none if there is no report.
    pub fn activities(&self) -> Result<Vec<Activity>> {
        match fs::read_to_string(&self.report) {
            Ok(text) => text.lines().filter_map(|line| Activity::parse(line).transpose()).collect(),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(e) => Err(e.into()),
        }
    }
}

/// Makes sure that a run is native, whatever the user's own environment says.
pub fn native(run: Run) -> Run {
    run.env_remove("HDF5_PLUGIN_PATH").env_remove("HDF5_VOL_CONNECTOR")
}

/// A report's lines of files, as JSON (docs/REPORT.md).
pub fn files(report: &Path) -> Result<Vec<Value>> {
    let text = fs::read_to_string(report).with_context(|| format!("no report in {}", report.display()))?;
    let lines = text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect::<Result<Vec<Value>>>()?;
    Ok(lines.into_iter().filter(is_of_file).collect())
}

fn is_of_file(line: &Value) -> bool {
    line["kind"] == "file"
}

impl Activity {
    /// `None` if it is the line of a file.
    fn parse(line: &str) -> Result<Option<Self>> {
        let json: Value =
            serde_json::from_str(line).with_context(|| format!("not a line of a report: {line}"))?;
        if is_of_file(&json) {
            return Ok(None);
        }
        let calls = json["calls"].as_object().with_context(|| format!("a report without calls: {line}"))?;
        Ok(Some(Self {
            hdf5: json["hdf5"].as_str().context("a report without its HDF5 version")?.to_owned(),
            pid: json["pid"].as_u64().context("a report without its process")?,
            calls: calls.iter().map(|(k, v)| (k.clone(), v.as_u64().unwrap_or(0))).collect(),
        }))
    }

    /// Calls whose name starts so: `"file "` for all of a class, `"dataset write"` for one callback.
    pub fn count(&self, prefix: &str) -> u64 {
        self.calls.iter().filter(|(name, _)| name.starts_with(prefix)).map(|(_, n)| n).sum()
    }
}
