//! How far a long commit is, for somebody who watches a terminal: what rank 0 has stored, said at most twice a second, and
//! only once it takes longer than two seconds.

use sago_report::{duration_text, size_text};
use sago_storage::Storage;
use std::io::{self, IoSlice, IoSliceMut, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(500);

/// A file whose writes are watched, from the I/O thread too.
pub struct Watched {
    inner: Arc<dyn Storage>,
    name: String,
    patience: Duration,
    pause: Duration,
    commit: Mutex<Option<Commit>>,
    out: Mutex<Box<dyn Write + Send>>,
}

/// The commit that is under way.
struct Commit {
    since: Instant,
    said: Option<Instant>,
    bytes: u64,
}

impl Watched {
    /// If there is a terminal to write to.
    pub fn on_terminal(inner: &Arc<dyn Storage>, name: &str) -> Option<Arc<Self>> {
        let stderr = io::stderr();
        stderr.is_terminal().then(|| Arc::new(Self::new(Arc::clone(inner), name, (PATIENCE, PAUSE), stderr)))
    }

    fn new(
        inner: Arc<dyn Storage>,
        name: &str,
        (patience, pause): (Duration, Duration),
        out: impl Write + Send + 'static,
    ) -> Self {
        let (commit, out) = (Mutex::default(), Mutex::new(Box::new(out) as Box<dyn Write + Send>));
        Self { inner, name: name.to_owned(), patience, pause, commit, out }
    }

    pub fn begin(&self) {
        *self.commit() = Some(Commit { since: Instant::now(), said: None, bytes: 0 });
    }

    /// The line goes when the commit is over.
    pub fn end(&self) {
        if self.commit().take().is_some_and(|commit| commit.said.is_some()) {
            self.say("\r\x1b[K");
        }
    }

    fn stored(&self, bytes: usize) {
        let mut commit = self.commit();
        let Some(commit) = commit.as_mut() else { return };
        commit.bytes += bytes as u64;
        let (now, took) = (Instant::now(), commit.since.elapsed());
        let due = commit.said.is_none_or(|said| now - said >= self.pause);
        if took >= self.patience && due {
            commit.said = Some(now);
            let took = duration_text(took.as_micros() as u64);
            let (name, bytes) = (&self.name, size_text(commit.bytes));
            self.say(&format!("\r\x1b[Ksago: {name}: rank 0 has stored {bytes} in {took}"));
        }
    }

    fn say(&self, text: &str) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // Who closed the terminal does not watch.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }

    fn commit(&self) -> std::sync::MutexGuard<'_, Option<Commit>> {
        self.commit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Storage for Watched {
    fn write_some(&self, offset: u64, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let written = self.inner.write_some(offset, pieces)?;
        self.stored(written);
        Ok(written)
    }

    fn read_some(&self, offset: u64, pieces: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.inner.read_some(offset, pieces)
    }

    fn size(&self) -> io::Result<u64> {
        self.inner.size()
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.inner.set_size(size)
    }

    fn sync(&self) -> io::Result<()> {
        self.inner.sync()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sago_storage::Memory;

    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Screen {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn watched(patience: Duration, pause: Duration) -> (Watched, Screen) {
        let screen = Screen::default();
        (Watched::new(Arc::new(Memory::default()), "a.h5", (patience, pause), screen.clone()), screen)
    }

    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn a_long_commit_is_told_of_and_its_line_goes() {
        let (file, screen) = watched(Duration::ZERO, Duration::ZERO);
        file.write(0, &[1; 1024]).unwrap();
        assert_eq!(screen.text(), "");
        file.begin();
        file.write(0, &[1; 2048]).unwrap();
        file.write(2048, &[1; 1024]).unwrap();
        file.end();
        let text = screen.text();
        assert!(text.contains("\r\x1b[Ksago: a.h5: rank 0 has stored 3 KiB in "), "{text:?}");
        assert!(text.ends_with("\r\x1b[K"));
        assert_eq!(file.size().unwrap(), 3072);
    }

    #[test]
    fn short_commits_are_not_told_of_and_long_ones_not_too_often() {
        let (file, screen) = watched(LONG, Duration::ZERO);
        file.begin();
        file.write(0, &[1; 1024]).unwrap();
        file.end();
        assert_eq!(screen.text(), "");
        let (file, screen) = watched(Duration::ZERO, LONG);
        file.begin();
        (0..10).for_each(|at| file.write(at, &[1]).unwrap());
        assert_eq!(screen.text().matches("sago:").count(), 1);
    }
}
