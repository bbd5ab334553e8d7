//! The `sago` command. Each subcommand is a module with a `run`; mistakes in what the user wrote become a sentence that
//! points at the place, and the exit status 2. What a command finds wrong with the world is status 1.

mod arguments;
mod commands;
mod complaint;
mod complete;
mod doctor;
mod explain;
mod json;
mod manual;
mod options;
mod report;
mod sim;

use commands::Verdict;
use complaint::Complaint;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut out = std::io::stdout().lock();
    let result = match arguments.split_first() {
        Some((command, rest)) => dispatch(command, rest, &mut out),
        None => Err(Complaint::plain(commands::usage())),
    };
    // A reader that has seen enough and closed the pipe is no failure of ours.
    let _ = out.flush();
    match result {
        Ok(Verdict::Well) => ExitCode::SUCCESS,
        Ok(Verdict::Problems) => ExitCode::from(1),
        Err(complaint) => {
            let _ = write!(std::io::stderr(), "{complaint}");
            ExitCode::from(2)
        }
    }
}

fn dispatch(command: &str, rest: &[String], out: &mut dyn Write) -> Result<Verdict, Complaint> {
    let wants_help = rest.iter().any(|word| word == "--help" || word == "-h");
    match (command, commands::find(command)) {
        (_, Some(found)) if wants_help => print(out, found.usage),
        (_, Some(found)) => (found.run)(rest, out),
        (doctor::TRIAL, _) => doctor::trial(rest),
        ("help" | "--help" | "-h", _) => help(rest.first(), out),
        ("--version", _) => print(out, concat!("sago ", env!("CARGO_PKG_VERSION"), "\n")),
        _ => Err(unknown(command)),
    }
}

fn help(about: Option<&String>, out: &mut dyn Write) -> Result<Verdict, Complaint> {
    match about {
        None => print(out, &commands::usage()),
        Some(name) => print(out, commands::find(name).ok_or_else(|| unknown(name))?.usage),
    }
}

fn unknown(command: &str) -> Complaint {
    Complaint::plain(format!("sago: there is no command `{command}`\n\n{}", commands::usage()))
}

fn print(out: &mut dyn Write, text: &str) -> Result<Verdict, Complaint> {
    complaint::printed(out.write_all(text.as_bytes())).map(|()| Verdict::Well)
}
