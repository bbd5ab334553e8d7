//! Child processes: one way to run them, with a time limit, captured output, and no orphans.
//!
//! Every child leads a process group of its own, so that a time limit ends all that it started, and is ended by
//! the kernel if xtask dies first.

use anyhow::{Context, Result, bail};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A command to be run to its end.
pub struct Run {
    command: Command,
    shown: String,
    limit: Duration,
    log: Option<PathBuf>,
}

/// How a command ended.
#[derive(Debug)]
pub struct Done {
    pub shown: String,
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
    pub elapsed: Duration,
    /// The time limit ended it.
    pub timed_out: bool,
}

impl Run {
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        let shown = program.as_ref().to_string_lossy().into_owned();
        let mut command = Command::new(program);
        command.stdin(Stdio::null());
        Self { command, shown, limit: Duration::from_secs(3600), log: None }
    }

    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        let _ = write!(self.shown, " {}", arg.as_ref().to_string_lossy());
        self.command.arg(arg);
        self
    }

    pub fn args<A: AsRef<OsStr>>(self, args: impl IntoIterator<Item = A>) -> Self {
        args.into_iter().fold(self, Run::arg)
    }

    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.command.env(key, value);
        self
    }

    pub fn envs<K: AsRef<OsStr>, V: AsRef<OsStr>>(mut self, vars: impl IntoIterator<Item = (K, V)>) -> Self {
        self.command.envs(vars);
        self
    }

    pub fn env_remove(mut self, key: &str) -> Self {
        self.command.env_remove(key);
        self
    }

    pub fn dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.command.current_dir(dir);
        self
    }

    /// End the command, and what it started, after this time (one hour unless told otherwise).
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Append both output streams to a file instead of capturing them.
    pub fn log(mut self, file: impl Into<PathBuf>) -> Self {
        self.log = Some(file.into());
        self
    }

    /// Runs to the end and reports how it ended; an error only if it could not be started.
    pub fn run(mut self) -> Result<Done> {
        if let Some(log) = &self.log {
            let file = append(log)?;
            self.command.stdout(file.try_clone()?).stderr(file);
        } else {
            self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        }
        self.command.process_group(0);
        // SAFETY: prctl is async-signal-safe and touches nothing of ours between fork and exec.
        unsafe {
            self.command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
                Ok(())
            });
        }
        let started = Instant::now();
        let mut child = self.command.spawn().with_context(|| format!("cannot start `{}`", self.shown))?;
        let stdout = drain(child.stdout.take());
        let stderr = drain(child.stderr.take());
        let (status, timed_out) = wait(&mut child, started + self.limit)?;
        let text = |t: thread::JoinHandle<Vec<u8>>| {
            String::from_utf8_lossy(&t.join().unwrap_or_default()).into_owned()
        };
        let (stdout, stderr) = (text(stdout), text(stderr));
        Ok(Done { shown: self.shown, status, stdout, stderr, elapsed: started.elapsed(), timed_out })
    }

    /// Runs, and makes anything but success an error that shows the end of the output.
    pub fn ok(self) -> Result<Done> {
        let log = self.log.clone();
        let done = self.run()?;
        if done.status.success() {
            return Ok(done);
        }
        match log {
            Some(log) => {
                let all = std::fs::read(&log).unwrap_or_default();
                let end = tail(&String::from_utf8_lossy(&all), 25);
                bail!("`{}` {}; the end of {}:\n{end}", done.shown, done.ending(), log.display())
            }
            None => bail!("{}", done.explain()),
        }
    }

    /// The standard output of a run that must succeed, trimmed.
    pub fn text(self) -> Result<String> {
        Ok(self.ok()?.stdout.trim().to_owned())
    }
}

impl Done {
    pub fn success(&self) -> bool {
        self.status.success()
    }

    /// "ended with 1", "was killed by signal 11", "ran out of its 60 s".
    pub fn ending(&self) -> String {
        match (self.timed_out, self.status.code(), self.status.signal()) {
            (true, _, _) => format!("was stopped at its time limit of {:.0} s", self.elapsed.as_secs_f64()),
            (_, Some(code), _) => format!("ended with {code}"),
            (_, _, Some(signal)) => format!("was killed by signal {signal}"),
            _ => "ended".to_owned(),
        }
    }

    /// The command, how it ended, and the last lines of its output.
    pub fn explain(&self) -> String {
        let output = format!("{}\n{}", self.stdout.trim_end(), self.stderr.trim_end());
        format!("`{}` {}\n{}", self.shown, self.ending(), tail(output.trim(), 40))
    }
}

/// The last lines of a text.
pub fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

/// Prepends a folder to a `:`-separated search path taken from our own environment.
pub fn prepend_path(key: &str, dir: &Path) -> OsString {
    match std::env::var_os(key).filter(|v| !v.is_empty()) {
        Some(old) => [dir.as_os_str(), &old].join(OsStr::new(":")),
        None => dir.as_os_str().to_owned(),
    }
}

fn append(log: &Path) -> Result<File> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(log)
        .with_context(|| format!("cannot write {}", log.display()))
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error is still worth showing.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

fn wait(child: &mut Child, deadline: Instant) -> Result<(ExitStatus, bool)> {
    let mut pause = Duration::from_micros(500);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, false));
        }
        if Instant::now() >= deadline {
            kill_group(child);
            return Ok((child.wait()?, true));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Ends the child's whole group: asks first, so that mpiexec can end its ranks, then insists.
fn kill_group(child: &mut Child) {
    let Ok(group) = i32::try_from(child.id()) else { return };
    // SAFETY: a plain system call; the group is the child's own, and the child has not been reaped yet.
    unsafe { libc::kill(-group, libc::SIGTERM) };
    for _ in 0..100 {
        thread::sleep(Duration::from_millis(20));
        if matches!(child.try_wait(), Ok(Some(_))) {
            break;
        }
    }
    // SAFETY: as above; a group that is already empty gives ESRCH, which is as good.
    unsafe { libc::kill(-group, libc::SIGKILL) };
}
