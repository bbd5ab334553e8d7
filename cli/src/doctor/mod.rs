//! `sago doctor`: is Sago installed, chosen, loaded and working? It looks at what a program started here would find, and
//! then writes a file and checks it.

mod child;
mod environment;
mod finding;
mod library;

pub use child::{TRIAL, run as trial};

use crate::arguments::Arguments;
use crate::commands::Verdict;
use crate::complaint::{Complaint, printed};
use crate::options::{self, CONNECTOR};
use finding::Findings;
use library::{Asked, Target};
use sago_core::config::{Layers, Source};
use sago_storage::FileSystem;
use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;

pub const USAGE: &str = "\
sago doctor [--exe PROGRAM | --python INTERPRETER | --prefix FOLDER] [--dir FOLDER] [--json]

  --exe PROGRAM          examine the HDF5 that this program uses
  --python INTERPRETER   examine the HDF5 of its h5py
  --prefix FOLDER        examine FOLDER/lib/libhdf5.so
                         (without any of them: Python's h5py, or the library that the linker finds)
  --dir FOLDER           where to write the test file, and whose file system to describe (the current folder)
  --json                 the findings as JSON

The exit status is 0 if all is well, 1 if there are problems; each comes with the line that fixes it.

examples
  sago doctor --exe ./flash4 --dir /scratch/me
  sago doctor --python .venv/bin/python
";

pub const NAMED: &[&str] = &["--exe", "--python", "--prefix", "--dir"];

pub fn run(arguments: &[String], out: &mut dyn Write) -> Result<Verdict, Complaint> {
    let arguments = Arguments::parse("doctor", arguments, NAMED, &["--json"])?;
    let asked = asked(&arguments)?;
    let dir = Path::new(arguments.get("--dir").unwrap_or("."));
    let mut findings = Findings::default();
    let chosen = environment::connector(&mut findings);
    environment::plugins(&mut findings);
    let target = library::find(&asked, &mut findings).filter(|t| library::examine(t, &mut findings));
    let on = options(&mut findings);
    machine(&mut findings);
    if place(dir, &mut findings)
        && let Some(target) = target
    {
        write_and_verify(&target, dir, chosen, on, &mut findings);
    }
    let text = if arguments.flag("--json") { format!("{:#}\n", findings.json()) } else { findings.text() };
    printed(out.write_all(text.as_bytes()))?;
    Ok(if findings.problems() == 0 { Verdict::Well } else { Verdict::Problems })
}

fn asked<'a>(arguments: &Arguments<'a>) -> Result<Asked<'a>, Complaint> {
    let given = |name| arguments.get(name).map(Path::new);
    match (given("--exe"), given("--python"), given("--prefix")) {
        (Some(program), None, None) => Ok(Asked::Program(program)),
        (None, Some(python), None) => Ok(Asked::Python(python)),
        (None, None, Some(prefix)) => Ok(Asked::Prefix(prefix)),
        (None, None, None) => Ok(Asked::Any),
        _ => Err(Complaint::plain("sago doctor: give one of --exe, --python and --prefix\n")),
    }
}

/// Those that were set somewhere; whether they leave Sago on.
fn options(findings: &mut Findings) -> bool {
    const ABOUT: &str = "options";
    let connector = env::var(CONNECTOR).unwrap_or_default();
    let words =
        if connector.trim_start().starts_with("sago") { options::words_after_name(&connector) } else { "" };
    match Layers::load(&sago_storage::surroundings(), words) {
        Err(error) => {
            findings.problem(ABOUT, error.to_string(), "correct it there; `sago options` lists all options");
            true
        }
        Ok(layers) => {
            let set = layers.in_force().filter(|(_, _, origin)| origin.source != Source::Default);
            let lines: Vec<String> =
                set.map(|(spec, value, origin)| format!("{}={value} ({origin})", spec.name)).collect();
            findings.fine(ABOUT, if lines.is_empty() { "all defaults".to_owned() } else { lines.join("\n") });
            let on = layers.config().mode != sago_core::config::Mode::Off;
            if !on {
                findings.note(ABOUT, "Sago is off: it passes everything on to HDF5");
            }
            on
        }
    }
}

fn machine(findings: &mut Findings) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let nodes = env::var("SLURM_JOB_NUM_NODES").ok().map(|n| format!(", a Slurm job on {n} nodes"));
    let machine = format!("{cores} cores{}", nodes.unwrap_or_default());
    findings.fine("machine", format!("{machine}; its network is that of the option `machine`, or flat"));
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    if scope.trim().parse().is_ok_and(|scope: u32| scope > 0) {
        let rest = "what ranks write together is exchanged in commits (docs/TUNING.md, `background`)";
        findings.note(
            "machine",
            format!("kernel.yama.ptrace_scope is {}: for ordinary users {rest}", scope.trim()),
        );
    }
}

/// The folder's file system, and whether it can be written to.
fn place(dir: &Path, findings: &mut Findings) -> bool {
    const ABOUT: &str = "file system";
    let other = "sago doctor --dir A_FOLDER_THAT_YOU_MAY_WRITE_TO";
    match FileSystem::of(dir) {
        Err(e) => {
            findings.problem(ABOUT, format!("{} cannot be examined: {e}", dir.display()), other);
            return false;
        }
        Ok(found) => {
            let stripes = found.stripes.map_or_else(String::new, |s| {
                let count = s.count.map_or("?".to_owned(), |n| n.to_string());
                format!(", stripes of {} B over {count} targets", s.size_bytes)
            });
            let shared = match found.shared {
                Some(true) => "shared by nodes",
                Some(false) => "of this node alone",
                None => "perhaps shared by nodes",
            };
            let (kind, at, block) = (&found.kind, found.mount_point.display(), found.block_bytes);
            findings.fine(ABOUT, format!("{kind} at {at}, {shared}, blocks of {block} B{stripes}"));
        }
    }
    let probe = dir.join(format!(".sago-doctor-{}", std::process::id()));
    match fs::write(&probe, b"").and_then(|()| fs::remove_file(&probe)) {
        Ok(()) => true,
        Err(e) => {
            findings.problem(ABOUT, format!("{} cannot be written to: {e}", dir.display()), other);
            false
        }
    }
}

const PYTHON_WRITE: &str = "
import ctypes, sys, h5py
paths = lambda part: [l.split()[-1] for l in open('/proc/self/maps') if part in l]
with h5py.File(sys.argv[1], 'w') as file:
    file['values'] = list(range(4096))
    library = ctypes.CDLL([p for p in paths('/libhdf5') if '_hl' not in p][0])
    name = ctypes.create_string_buffer(64)
    library.H5VLget_connector_name(ctypes.c_int64(file.id.id), name, ctypes.c_size_t(64))
print(name.value.decode())
print((paths('libsago_vol') + [''])[0])
";
const PYTHON_VERIFY: &str = "
import sys, h5py
with h5py.File(sys.argv[1], 'r') as file:
    assert list(file['values'][:]) == list(range(4096)), 'the file holds other numbers than were written'
";

/// A file through the connector that the environment names, checked by native HDF5.
fn write_and_verify(target: &Target, dir: &Path, chosen: bool, on: bool, findings: &mut Findings) {
    const ABOUT: &str = "test";
    let file = dir.join(format!("sago-doctor-{}.h5", std::process::id()));
    let python = |code: &str, env: &[child::Change<'_>]| {
        let interpreter = target.python.as_deref()?;
        Some(child::output(interpreter, &["-c".as_ref(), code.as_ref(), file.as_os_str()], env))
    };
    let written = python(PYTHON_WRITE, &[])
        .map(|text| text.map(|t| child::two_lines(&t)))
        .unwrap_or_else(|| child::write(&target.library, &file));
    let verified = || {
        python(PYTHON_VERIFY, &child::NATIVE)
            .map(|text| text.map(|_| ()))
            .unwrap_or_else(|| child::verify(&target.library, &file))
    };
    match written {
        Err(reason) => {
            let fix = "remove the problems above; HDF5 says why in the lines before this one";
            findings.problem(ABOUT, format!("no file could be written:\n{}", last_lines(&reason)), fix);
        }
        Ok((name, plugin)) => {
            match verified() {
                Ok(()) => findings.fine(ABOUT, "a file was written, and native HDF5 finds it right"),
                Err(reason) => findings.problem(
                    ABOUT,
                    format!("the file is not right:\n{}", last_lines(&reason)),
                    "export SAGO=off    # and please report this",
                ),
            }
            match name.as_str() {
                "sago" => {
                    let state = if on { "active" } else { "loaded, and off" };
                    findings.fine(ABOUT, format!("Sago was {state}: {plugin}"));
                }
                other if chosen => findings.problem(
                    ABOUT,
                    format!("the file was written by the connector `{other}`, not by Sago"),
                    "remove the problems above",
                ),
                other => findings.note(ABOUT, format!("the file was written by the connector `{other}`")),
            }
        }
    }
    let _ = fs::remove_file(&file);
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(6)..].join("\n")
}
