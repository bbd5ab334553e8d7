//! What will happen, in the order of time; what happens at the same moment, in the order in which it was foreseen.

use crate::time::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Debug)]
pub(super) struct Queue<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    foreseen: u64,
}

#[derive(Debug)]
struct Entry<E> {
    at: Time,
    number: u64,
    event: E,
}

impl<E> Queue<E> {
    pub fn new() -> Self {
        Self { heap: BinaryHeap::new(), foreseen: 0 }
    }

    pub fn push(&mut self, at: Time, event: E) {
        self.heap.push(Reverse(Entry { at, number: self.foreseen, event }));
        self.foreseen += 1;
    }

    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.heap.pop().map(|Reverse(entry)| (entry.at, entry.event))
    }

    /// How many events there have been in all.
    pub fn foreseen(&self) -> u64 {
        self.foreseen
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}
