//! The commands, in one table: what they are called, what they take, and what they do. Usage, completions and the manual
//! page come from it.

use crate::complaint::Complaint;
use crate::{complete, doctor, explain, manual, options, report, sim};
use std::io::Write;

pub struct Command {
    pub name: &'static str,
    pub summary: &'static str,
    /// The whole of `sago help NAME`, examples included.
    pub usage: &'static str,
    /// Arguments with a value, and without.
    pub named: &'static [&'static str],
    pub flags: &'static [&'static str],
    pub run: fn(&[String], &mut dyn Write) -> Result<Verdict, Complaint>,
}

/// How a command ended that did what it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Well,
    /// It found problems, and has said so.
    Problems,
}

pub const COMMANDS: &[Command] = &[
    Command {
        name: "doctor",
        summary: "whether Sago is installed, active and working here, and what to do if not",
        usage: doctor::USAGE,
        named: doctor::NAMED,
        flags: &["--json"],
        run: doctor::run,
    },
    Command {
        name: "options",
        summary: "all options, or those in force here and where they come from",
        usage: options::USAGE,
        named: options::NAMED,
        flags: options::FLAGS,
        run: options::run,
    },
    Command {
        name: "report",
        summary: "what Sago did for files, as text or as a page with pictures",
        usage: report::USAGE,
        named: report::NAMED,
        flags: report::FLAGS,
        run: report::run,
    },
    Command {
        name: "explain",
        summary: "the plan for a job, without running it",
        usage: explain::USAGE,
        named: explain::NAMED,
        flags: explain::FLAGS,
        run: |arguments, out| explain::run(arguments, out).map(|()| Verdict::Well),
    },
    Command {
        name: "sim",
        summary: "the same job on a modelled machine, beside MPI-IO",
        usage: sim::USAGE,
        named: &["--set", "--vary", "--svg", "--only"],
        flags: &["--list", "--json", "--markdown"],
        run: |arguments, mut out| sim::run(arguments, &mut out).map(|()| Verdict::Well),
    },
    Command {
        name: "completions",
        summary: "completions for a shell",
        usage: complete::USAGE,
        named: complete::NAMED,
        flags: &[],
        run: complete::run,
    },
    Command {
        name: "manual",
        summary: "the manual page",
        usage: manual::USAGE,
        named: &[],
        flags: &[],
        run: manual::run,
    },
];

pub fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name)
}

/// What `sago help` prints.
pub fn usage() -> String {
    let mut text = "sago: topology-aware aggregation for HDF5\n\n".to_owned();
    let lines = COMMANDS.iter().map(|c| (c.name.to_owned(), c.summary));
    for (name, summary) in lines.chain([("help [COMMAND]".to_owned(), "this text, or that of a command")]) {
        text += &format!("  sago {name:<16} {summary}\n");
    }
    text
}
