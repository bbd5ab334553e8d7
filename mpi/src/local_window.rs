//! A [`Window`] in memory that all ranks have in common: puts are copies, counters are atomics, and a rank that waits
//! for its counter sleeps. MPI's own windows would need every target to call MPI for the sake of others.
//!
//! Under a seed, for threads, a put takes effect at a moment drawn between its start and its flush, so that a program
//! that reads without waiting for the flush is found out.

use crate::error::Error;
use crate::memory::{Segment, Shared};
use crate::signal::Signal;
use crate::transport::{Put, Window, check_rank};
use crate::wait::{Patience, Wait};
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::Ordering;

/// In front of a rank's bytes lies the bell that says that a counter among them has changed.
pub const HEAD: usize = 64;

pub struct LocalWindow {
    shared: Shared,
    rank: usize,
    size: usize,
    wait: Rc<dyn Wait>,
    delay: Option<Delay>,
}

/// Puts that have been started and are not in place yet.
struct Delay {
    late: RefCell<Vec<Late>>,
    random: Cell<u64>,
}

struct Late {
    to: usize,
    offset: usize,
    bytes: Vec<u8>,
}

impl LocalWindow {
    /// On zeroed memory with `HEAD` bytes more than the window has.
    pub fn new(shared: Shared, rank: usize, size: usize, wait: Rc<dyn Wait>, seed: Option<u64>) -> Self {
        let delay = seed.map(|seed| {
            let random = Cell::new(seed ^ (rank as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
            Delay { late: RefCell::default(), random }
        });
        Self { shared, rank, size, wait, delay }
    }

    fn segment(&self, rank: usize) -> Result<Segment, Error> {
        Ok(self.shared.segment(rank)?.after(HEAD))
    }

    fn bell(&self, rank: usize) -> Result<&Signal, Error> {
        self.shared.signal(rank, 0)
    }

    fn start_put(&self, put: &Put<'_>) -> Result<(), Error> {
        let segment = self.segment(put.to)?;
        segment.at(put.to, put.offset, put.bytes.len())?;
        match &self.delay {
            None => segment.put(put.to, put.offset, put.bytes),
            Some(delay) => {
                let late = Late { to: put.to, offset: put.offset, bytes: put.bytes.to_vec() };
                delay.late.borrow_mut().push(late);
                self.let_some_arrive(|_| delay.toss())
            }
        }
    }

    /// In an order that nothing promises.
    fn let_some_arrive(&self, chosen: impl Fn(&Late) -> bool) -> Result<(), Error> {
        let Some(delay) = &self.delay else { return Ok(()) };
        let (now, later): (Vec<Late>, Vec<Late>) = delay.late.take().into_iter().partition(chosen);
        delay.late.replace(later);
        now.iter().rev().try_for_each(|put| self.segment(put.to)?.put(put.to, put.offset, &put.bytes))
    }

    /// A point where a drawn interleaving may switch to another rank.
    fn step(&self) -> Result<(), Error> {
        if self.delay.is_some() { self.wait.pause(&mut Patience::default()) } else { Ok(()) }
    }
}

impl Delay {
    fn toss(&self) -> bool {
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.set(x);
        x >> 32 & 1 == 0
    }
}

impl Window for LocalWindow {
    fn put(&self, puts: &[Put<'_>]) -> Result<(), Error> {
        self.step()?;
        puts.iter().try_for_each(|put| self.start_put(put))
    }

    fn get(&self, from: usize, offset: usize, into: &mut [u8]) -> Result<(), Error> {
        self.step()?;
        self.segment(from)?.get(from, offset, into)
    }

    fn flush(&self, to: usize) -> Result<(), Error> {
        self.step()?;
        check_rank(to, self.size)?;
        self.let_some_arrive(|put| put.to == to)
    }

    fn flush_all(&self) -> Result<(), Error> {
        self.step()?;
        self.let_some_arrive(|_| true)
    }

    fn fetch_add(&self, to: usize, offset: usize, value: u64) -> Result<u64, Error> {
        self.step()?;
        let before = self.segment(to)?.counter(to, offset)?.fetch_add(value, Ordering::SeqCst);
        self.bell(to)?.add(1);
        Ok(before)
    }

    fn counter(&self, offset: usize) -> Result<u64, Error> {
        Ok(self.segment(self.rank)?.counter(self.rank, offset)?.load(Ordering::SeqCst))
    }

    fn wait(&self, offset: usize, done: &dyn Fn(u64) -> bool) -> Result<(), Error> {
        self.step()?;
        let (segment, bell) = (self.segment(self.rank)?, self.bell(self.rank)?);
        let counter = segment.counter(self.rank, offset)?;
        loop {
            let rung = bell.get();
            if done(counter.load(Ordering::SeqCst)) {
                return Ok(());
            }
            self.wait.until(bell, &|now| now != rung)?;
        }
    }

    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), Error> {
        self.segment(self.rank)?.get(self.rank, offset, into)
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), Error> {
        self.segment(self.rank)?.put(self.rank, offset, bytes)
    }

    unsafe fn bytes(&self, range: Range<usize>) -> Result<&[u8], Error> {
        let len = range.end.saturating_sub(range.start);
        let at = self.segment(self.rank)?.at(self.rank, range.start, len)?;
        // SAFETY: in bounds of memory that we hold; that nobody writes is promised by the caller.
        Ok(unsafe { std::slice::from_raw_parts(at, len) })
    }

    fn free(self: Box<Self>) -> Result<(), Error> {
        self.let_some_arrive(|_| true)
    }
}
