//! `sago report`: what Sago did for files, from the reports that `report=FILE` leaves.

mod compare;
mod figures;
mod html;
mod text;

use crate::arguments::Arguments;
use crate::commands::Verdict;
use crate::complaint::{Complaint, printed};
use sago_report::{Advice, Report, advice};
use serde_json::{Value, json};
use std::io::Write;

pub const USAGE: &str = "\
sago report FILE... [--html OUT] [--json]

  FILE         what a program wrote with report=FILE; several, or a file with several reports, are compared
  --html OUT   as one page for a browser, with pictures; needs nothing else
  --json       the reports as an array of JSON, with what is said of them

examples
  HDF5_VOL_CONNECTOR=\"sago report=run.jsonl\" mpiexec -n 8 ./program
  sago report run.jsonl
  sago report before.jsonl after.jsonl --html compare.html
";

pub const NAMED: &[&str] = &["--html"];
pub const FLAGS: &[&str] = &["--json"];

pub fn run(arguments: &[String], out: &mut dyn Write) -> Result<Verdict, Complaint> {
    let (arguments, files) = Arguments::parse_with_words("report", arguments, NAMED, FLAGS)?;
    if files.is_empty() {
        return Err(Complaint::plain(USAGE.to_owned()));
    }
    let mut reports = Vec::new();
    for file in &files {
        reports.extend(read(file)?);
    }
    if reports.is_empty() {
        return Err(complain(format!(
            "no report of a file in {}; Sago writes one when a file that it captures is closed",
            files.join(", ")
        )));
    }
    if let Some(path) = arguments.get("--html") {
        std::fs::write(path, html::page(&reports))
            .map_err(|error| complain(format!("cannot write {path}: {error}")))?;
    }
    let text = match (arguments.flag("--json"), arguments.get("--html")) {
        (true, _) => format!("{:#}\n", Value::Array(reports.iter().map(with_advice).collect())),
        (false, Some(_)) => String::new(),
        (false, None) => text::text(&reports),
    };
    printed(out.write_all(text.as_bytes())).map(|()| Verdict::Well)
}

/// The reports of files among the lines of a report file.
fn read(file: &str) -> Result<Vec<Report>, Complaint> {
    let content =
        std::fs::read_to_string(file).map_err(|error| complain(format!("cannot read {file}: {error}")))?;
    let mut reports = Vec::new();
    for (number, line) in content.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let parsed = Report::parse(line);
        let parsed = parsed.map_err(|error| complain(format!("{file}, line {}: {error}", number + 1)))?;
        reports.extend(parsed);
    }
    Ok(reports)
}

fn with_advice(report: &Report) -> Value {
    let sentence = |advice: &Advice| {
        let kind = match advice {
            Advice::Good(_) => "good",
            Advice::Note(_) => "note",
            Advice::Change(_) => "change",
        };
        json!({"kind": kind, "sentence": advice.sentence()})
    };
    json!({"report": report, "advice": advice(report).iter().map(sentence).collect::<Vec<_>>()})
}

fn complain(sentence: String) -> Complaint {
    Complaint::plain(format!("sago report: {sentence}\n"))
}
