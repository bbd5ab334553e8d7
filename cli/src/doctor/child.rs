//! Libraries are tried in processes of their own: what they do there, crashing and waiting for ever included, is only a
//! finding here.

use crate::commands::Verdict;
use crate::complaint::Complaint;
use sago_hdf5::trial::{self, Trial};
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// The command that this program starts itself with.
pub const TRIAL: &str = "doctor-trial";

const LIMIT: Duration = Duration::from_secs(30);

/// A variable to set, or to remove.
pub type Change<'a> = (&'a str, Option<&'a str>);

/// Without any of our variables.
pub const NATIVE: [Change<'static>; 2] = [("HDF5_VOL_CONNECTOR", None), ("HDF5_PLUGIN_PATH", None)];

/// What a command printed; if it failed, the end of what it complained about.
pub fn output(program: impl AsRef<OsStr>, args: &[&OsStr], env: &[Change<'_>]) -> Result<String, String> {
    let mut command = Command::new(program.as_ref());
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, value) in env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut child =
        command.spawn().map_err(|e| format!("cannot start {}: {e}", program.as_ref().to_string_lossy()))?;
    let out = drain(child.stdout.take());
    let err = drain(child.stderr.take());
    let end = Instant::now() + LIMIT;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < end => thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("no answer within {} s", LIMIT.as_secs()));
            }
        }
    };
    let text = |t: thread::JoinHandle<String>| t.join().unwrap_or_default();
    let (out, err) = (text(out), text(err));
    if status.success() { Ok(out) } else { Err(format!("{}\n{status}", err.trim())) }
}

fn drain(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.map(|mut s| s.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn itself(words: &[&OsStr], env: &[Change<'_>]) -> Result<String, String> {
    let program = env::current_exe().map_err(|e| e.to_string())?;
    let mut args: Vec<&OsStr> = vec![TRIAL.as_ref()];
    args.extend(words);
    output(program, &args, env)
}

pub fn version(library: &Path) -> Result<(u32, u32, u32), String> {
    let text = itself(&["version".as_ref(), library.as_os_str()], &NATIVE)?;
    let mut numbers = text.trim().split('.').map(|n| n.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    Ok((next(), next(), next()))
}

pub fn is_plugin(library: &Path) -> Result<bool, String> {
    Ok(itself(&["plugin".as_ref(), library.as_os_str()], &NATIVE)?.trim() == "true")
}

/// Writes a file with the connector that the environment names. The connector's name, and the plugin's path.
pub fn write(library: &Path, file: &Path) -> Result<(String, String), String> {
    let text = itself(&["write".as_ref(), library.as_os_str(), file.as_os_str()], &[])?;
    Ok(two_lines(&text))
}

pub fn verify(library: &Path, file: &Path) -> Result<(), String> {
    itself(&["verify".as_ref(), library.as_os_str(), file.as_os_str()], &NATIVE).map(|_| ())
}

pub fn two_lines(text: &str) -> (String, String) {
    let mut lines = text.lines().map(str::to_owned);
    (lines.next().unwrap_or_default(), lines.next().unwrap_or_default())
}

/// What the loader would bring: names, and where they are if they are found.
pub fn linked(file: &Path) -> Result<Vec<(String, Option<PathBuf>)>, String> {
    let text = output("ldd", &[file.as_os_str()], &[])?;
    let line = |line: &str| {
        let (name, rest) = line.trim().split_once(" => ")?;
        let path = rest.split(" (").next().filter(|p| p.starts_with('/')).map(PathBuf::from);
        Some((name.to_owned(), path))
    };
    Ok(text.lines().filter_map(line).collect())
}

/// In the child: one step with one library.
pub fn run(arguments: &[String]) -> Result<Verdict, Complaint> {
    let path = |i: usize| PathBuf::from(arguments.get(i).map_or("", String::as_str));
    let (library, file) = (path(1), path(2));
    let answer = match arguments.first().map(String::as_str) {
        Some("version") => {
            Trial::load(&library).and_then(|t| t.version()).map(|(a, b, c)| format!("{a}.{b}.{c}"))
        }
        Some("plugin") => trial::is_plugin(&library).map(|is| is.to_string()),
        Some("write") => {
            Trial::load(&library).and_then(|t| t.write(&file)).map(|name| format!("{name}\n{}", plugin()))
        }
        Some("verify") => Trial::load(&library).and_then(|t| t.verify(&file)).map(|()| String::new()),
        _ => Err("it takes version, plugin, write or verify".to_owned()),
    };
    match answer {
        Ok(text) => {
            crate::complaint::printed(std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes()))
                .map(|()| Verdict::Well)
        }
        Err(reason) => Err(Complaint::plain(format!("{reason}\n"))),
    }
}

/// The plugin that is loaded in this process.
fn plugin() -> String {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let found =
        maps.lines().filter_map(|l| l.find('/').map(|at| &l[at..])).find(|p| p.contains("libsago_vol"));
    found.unwrap_or("").to_owned()
}
