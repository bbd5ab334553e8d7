//! Bytes that wait to be written, one after the other in memory that is reserved once and kept: pages that have been
//! touched are used again, since touching new ones costs as much as copying.

use super::index::Index;
use sago_core::extent::Run;
use std::ops::Range;
use std::ptr::NonNull;

/// Captured writes of one rank, in the order of the program.
#[derive(Debug)]
pub struct Window {
    region: Region,
    len: usize,
    runs: Vec<Run>,
    writes: Vec<Entry>,
    /// What is before is in the file, and stays here for its order among the writes of others.
    shown: Mark,
    /// As far as it was needed.
    index: Index,
}

/// One write: where its bytes and runs end, and its epoch.
#[derive(Clone, Copy, Debug)]
struct Entry {
    bytes_end: usize,
    runs_end: usize,
    epoch: u64,
}

/// A write that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting<'w> {
    pub runs: &'w [Run],
    pub bytes: &'w [u8],
    /// Writes of a later one count.
    pub epoch: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    len: usize,
    runs: usize,
    writes: usize,
}

impl Mark {
    /// How many bytes lie before it.
    pub fn place(self) -> u64 {
        self.len as u64
    }

    /// The place behind a write that begins here.
    pub fn next(self, write: &Waiting<'_>) -> Self {
        let (len, runs) = (self.len + write.bytes.len(), self.runs + write.runs.len());
        Self { len, runs, writes: self.writes + 1 }
    }
}

impl Window {
    pub fn new(region: Region) -> Self {
        Self {
            region,
            len: 0,
            runs: Vec::new(),
            writes: Vec::new(),
            shown: Mark::default(),
            index: Index::default(),
        }
    }

    pub fn bytes(&self) -> &[u8] {
        self.region.slice(0..self.len)
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn len(&self) -> u64 {
        self.len as u64
    }

    /// Bytes that still fit.
    pub fn room(&self) -> u64 {
        (self.region.bytes - self.len) as u64
    }

    pub fn capacity(&self) -> u64 {
        self.region.bytes as u64
    }

    /// Room for the next `bytes`; they count after [`Window::push`].
    pub fn spare(&mut self, bytes: u64) -> &mut [u8] {
        let len = self.len;
        self.region.slice_mut(len..len + bytes as usize)
    }

    /// Adds a write whose bytes have been laid into [`Window::spare`].
    pub fn push(&mut self, runs: &[Run], bytes: u64, epoch: u64) {
        self.runs.extend_from_slice(runs);
        self.len += bytes as usize;
        self.writes.push(Entry { bytes_end: self.len, runs_end: self.runs.len(), epoch });
    }

    /// A place to come back to with [`Window::cut`].
    pub fn mark(&self) -> Mark {
        Mark { len: self.len, runs: self.runs.len(), writes: self.writes.len() }
    }

    /// All of it is in the file now.
    pub fn show(&mut self) {
        self.shown = self.mark();
    }

    /// How many bytes are in the file.
    pub fn shown(&self) -> u64 {
        self.shown.len as u64
    }

    /// What is not in the file.
    pub fn hidden(&self) -> impl Iterator<Item = Waiting<'_>> {
        self.writes_since(self.shown).map(|(_, write)| write)
    }

    /// How many pieces of the file its writes are.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// How many writes there are.
    pub fn count(&self) -> usize {
        self.writes.len()
    }

    /// Whether any byte of `lo .. hi` of the file is here.
    pub fn touches(&mut self, lo: u64, hi: u64) -> bool {
        self.indexed(|_, index| index.touches(lo, hi))
    }

    /// Whether any byte of these runs of the file may be here.
    pub fn meets(&mut self, runs: &[Run]) -> bool {
        runs.iter().any(|run| self.touches(run.offset(), run.end()))
    }

    /// Lays what is here over `bytes`, which have been read from these runs of the file.
    pub fn lay_over(&mut self, runs: &[Run], bytes: &mut [u8]) {
        self.indexed(|window, index| index.lay_over(window, runs, bytes));
    }

    fn indexed<T>(&mut self, look: impl FnOnce(&Self, &Index) -> T) -> T {
        let mut index = std::mem::take(&mut self.index);
        index.update(self);
        let result = look(self, &index);
        self.index = index;
        result
    }

    #[cfg(test)]
    pub fn index_parts(&self) -> usize {
        self.index.parts()
    }

    /// Forgets what was added since.
    pub fn cut(&mut self, mark: Mark) {
        self.index.clear();
        self.len = mark.len;
        self.runs.truncate(mark.runs);
        self.writes.truncate(mark.writes);
    }

    /// In the order of the program.
    pub fn writes(&self) -> impl Iterator<Item = Waiting<'_>> {
        (0..self.writes.len()).map(|number| self.write(number).1)
    }

    /// What was added since, and where in the window.
    pub fn writes_since(&self, mark: Mark) -> impl Iterator<Item = (u64, Waiting<'_>)> {
        (mark.writes..self.writes.len()).map(|number| self.write(number))
    }

    /// One of them, and where in the window it begins.
    pub fn write(&self, number: usize) -> (u64, Waiting<'_>) {
        let nothing = Entry { bytes_end: 0, runs_end: 0, epoch: 0 };
        let before = number.checked_sub(1).map_or(nothing, |before| self.writes[before]);
        let Entry { bytes_end, runs_end, epoch } = self.writes[number];
        let (runs, bytes) =
            (&self.runs[before.runs_end..runs_end], &self.bytes()[before.bytes_end..bytes_end]);
        (before.bytes_end as u64, Waiting { runs, bytes, epoch })
    }

    pub fn clear(&mut self) {
        (self.len, self.runs, self.writes) = (0, Vec::new(), Vec::new());
        self.shown = Mark::default();
        self.index.clear();
    }
}

/// Address space that gets memory page by page as it is touched.
#[derive(Debug)]
pub struct Region {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: memory that only the owner of the value uses.
unsafe impl Send for Region {}

impl Region {
    pub fn new(bytes: u64) -> std::io::Result<Self> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let (access, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        );
        // SAFETY: a new mapping, at a place of the kernel's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0) };
        let start = if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast::<u8>()) };
        let Some(start) = start else { return Err(std::io::Error::last_os_error()) };
        // SAFETY: our own mapping; advice only.
        unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
        Ok(Self { start, bytes })
    }

    fn slice(&self, range: Range<usize>) -> &[u8] {
        let (start, len) = self.part(range);
        // SAFETY: a part of our own mapping, which the kernel has zeroed.
        unsafe { std::slice::from_raw_parts(start, len) }
    }

    /// Only of what nobody reads meanwhile: a thread may be writing what lies before to a file.
    fn slice_mut(&mut self, range: Range<usize>) -> &mut [u8] {
        let (start, len) = self.part(range);
        // SAFETY: as above, and `self` is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(start, len) }
    }

    fn part(&self, range: Range<usize>) -> (*mut u8, usize) {
        assert!(range.start <= range.end && range.end <= self.bytes, "{range:?} of {} bytes", self.bytes);
        // SAFETY: inside of our mapping, or at its end.
        (unsafe { self.start.as_ptr().add(range.start) }, range.end - range.start)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: our own mapping, given back once.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_come_back_in_order() {
        let mut window = Window::new(Region::new(1 << 20).unwrap());
        assert!(window.is_empty());
        window.spare(3).copy_from_slice(b"abc");
        window.push(&[Run::contiguous(10, 3)], 3, 7);
        window.push(&[], 0, 8);
        window.spare(2).copy_from_slice(b"de");
        window.push(&[Run::contiguous(0, 1), Run::contiguous(5, 1)], 2, 8);
        assert_eq!(window.bytes(), b"abcde");
        assert_eq!(window.room(), (1 << 20) - 5);
        let writes: Vec<Waiting<'_>> = window.writes().collect();
        let last = [Run::contiguous(0, 1), Run::contiguous(5, 1)];
        assert_eq!(writes[0], Waiting { runs: &[Run::contiguous(10, 3)], bytes: b"abc", epoch: 7 });
        assert_eq!(writes[2], Waiting { runs: &last, bytes: b"de", epoch: 8 });
        let mark = window.mark();
        window.push(&[Run::contiguous(7, 1)], 1, 9);
        window.cut(mark);
        assert_eq!((window.bytes(), window.writes().count()), (&b"abcde"[..], 3));
        window.clear();
        assert!(window.is_empty());
    }
}
