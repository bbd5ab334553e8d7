//! The `sago` command. Each subcommand is a module with a `run`; mistakes in what the user wrote become a sentence that
//! points at the place, and the exit status 2.

mod arguments;
mod complaint;
mod explain;
mod json;
mod sim;

use complaint::Complaint;
use std::io::Write;
use std::process::ExitCode;

const USAGE: &str = "\
sago: topology-aware aggregation for HDF5

  sago explain --machine TEXT --pattern TEXT [--options TEXT]   the plan for a job, without running it
  sago sim SCENARIO | sweep | papers                            the same job on a modelled machine, beside MPI-IO
  sago help [COMMAND]                                           this text, or that of a command
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut out = std::io::stdout().lock();
    let result = match arguments.split_first() {
        Some((command, rest)) => dispatch(command, rest, &mut out),
        None => Err(Complaint::plain(USAGE)),
    };
    // A reader that has seen enough and closed the pipe is no failure of ours.
    match result.and_then(|()| out.flush().or(Ok(()))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(complaint) => {
            let _ = write!(std::io::stderr(), "{complaint}");
            ExitCode::from(2)
        }
    }
}

fn dispatch(command: &str, rest: &[String], out: &mut impl Write) -> Result<(), Complaint> {
    match (command, rest.first().map(String::as_str)) {
        ("explain", _) => explain::run(rest, out),
        ("sim", _) => sim::run(rest, out),
        ("help", Some("sim")) => complaint::printed(write!(out, "{}", sim::USAGE)),
        ("help", Some("explain")) => complaint::printed(write!(out, "{}", explain::USAGE)),
        ("help" | "--help" | "-h", _) => complaint::printed(write!(out, "{USAGE}")),
        (other, _) => Err(Complaint::plain(format!("sago: there is no command `{other}`\n\n{USAGE}"))),
    }
}
