//! When the files that a case left behind agree.
//!
//! Where two native runs give the same bytes, the connector's run must give them too. Where they do not (time, or
//! memory that was never set, finds its way into a file), HDF5 files must be the same object by object, as `h5same`
//! tells. A file that is not HDF5 and not the same twice natively proves nothing, and is only counted.
//!
//! With several ranks, bytes that belong to nothing can depend on which rank wrote first, and two native runs can agree
//! by chance. So a difference in bytes alone is told apart from one in content, for the caller to try again.

use super::programs::Programs;
use crate::connector::native;
use crate::proc::Run;
use anyhow::{Context, Result, bail, ensure};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(300);
const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";

/// The files of three runs: native, native once more, connector.
pub struct Files<'a> {
    programs: &'a Programs,
    runs: [PathBuf; 3],
    by_bytes: Cell<usize>,
    by_objects: Cell<usize>,
    unstable: Cell<usize>,
}

impl<'a> Files<'a> {
    pub fn new(programs: &'a Programs, dir: &Path, runs: [&str; 3]) -> Self {
        let zero = || Cell::new(0);
        Self {
            programs,
            runs: runs.map(|r| dir.join(r)),
            by_bytes: zero(),
            by_objects: zero(),
            unstable: zero(),
        }
    }

    /// Compares what a case left. An error is a difference in content; a text, one in bytes alone.
    pub fn compare(&self, case: &str) -> Result<Option<String>> {
        let folders = self.runs.each_ref().map(|run| run.join(case));
        let [native, again, through] = [names(&folders[0])?, names(&folders[1])?, names(&folders[2])?];
        ensure!(native == again, "two native runs left different files: {native:?} and {again:?}");
        ensure!(
            native == through,
            "natively there are the files {native:?}, through the connector {through:?}"
        );
        let mut bytes_only = None;
        for name in &native {
            let difference = self
                .compare_file(folders.each_ref().map(|f| f.join(name)))
                .with_context(|| format!("file {}", name.display()))?;
            bytes_only = bytes_only.or(difference.map(|d| format!("file {}: {d}", name.display())));
        }
        Ok(bytes_only)
    }

    /// How files were compared so far.
    pub fn tally(&self) -> String {
        let (bytes, objects) = (self.by_bytes.get(), self.by_objects.get());
        let mut text = format!("{bytes} files equal byte for byte");
        if objects > 0 {
            text += &format!(", {objects} object by object");
        }
        match self.unstable.get() {
            0 => text,
            n => format!("{text}, {n} never the same twice"),
        }
    }

    fn compare_file(&self, paths: [PathBuf; 3]) -> Result<Option<String>> {
        let [native, again, through] = [fs::read(&paths[0])?, fs::read(&paths[1])?, fs::read(&paths[2])?];
        let count = |cell: &Cell<usize>| cell.set(cell.get() + 1);
        if native == through {
            count(&self.by_bytes);
            return Ok(None);
        }
        let at = native.iter().zip(&through).take_while(|(a, b)| a == b).count();
        let (was, is) = (native.len(), through.len());
        let bytes = format!("bytes differ from {at} on ({was} bytes natively, {is} through the connector)");
        if is_hdf5(&native) {
            let (code, text) = self.h5same(&paths[0], &paths[2])?;
            ensure!(code == 0, "{bytes}; h5same ends with {code}:\n{text}");
        } else if native == again {
            bail!("{bytes}");
        } else {
            count(&self.unstable);
            return Ok(None);
        }
        if native == again {
            return Ok(Some(format!("{bytes}, though object by object it is the same")));
        }
        count(&self.by_objects);
        Ok(None)
    }

    fn h5same(&self, a: &Path, b: &Path) -> Result<(i32, String)> {
        h5same(self.programs, &[], a, b)
    }
}

/// Exit code and output.
fn h5same(programs: &Programs, options: &[&str], a: &Path, b: &Path) -> Result<(i32, String)> {
    let run = Run::new(&programs.h5same).args(options).arg(a).arg(b).limit(LIMIT);
    let done = native(run).run()?;
    let code = done.status.code().with_context(|| done.explain())?;
    Ok((code, format!("{}{}", done.stdout, done.stderr)))
}

/// h5same must find the one difference in each of many pairs of files, and none where there is none.
pub fn self_test(programs: &Programs, dir: &Path) -> Result<usize> {
    fs::create_dir_all(dir)?;
    let list = native(Run::new(&programs.pairs).arg(dir).limit(LIMIT)).text()?;
    for line in list.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, options, code, piece] = fields[..] else { bail!("not a pair of files: {line}") };
        let options: Vec<&str> = options.split_whitespace().collect();
        let found = h5same(programs, &options, &dir.join("plain/x.h5"), &dir.join(name).join("x.h5"))?;
        ensure!(
            found.0.to_string() == code && found.1.contains(piece),
            "{name}: expected {code} and \"{piece}\", found {} and:\n{}",
            found.0,
            found.1
        );
    }
    ensure!(list.lines().count() > 50, "too few pairs");
    fs::remove_dir_all(dir)?;
    Ok(list.lines().count())
}

fn is_hdf5(bytes: &[u8]) -> bool {
    let places = [0, 512, 1024, 2048];
    places.iter().any(|&at| bytes.get(at..at + SIGNATURE.len()) == Some(SIGNATURE))
}

/// The files below a folder, without the transcripts.
fn names(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).with_context(|| format!("no folder {}", next.display()))? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if !entry.file_name().to_string_lossy().starts_with("transcript.") {
                found.insert(entry.path().strip_prefix(folder)?.to_owned());
            }
        }
    }
    Ok(found)
}
