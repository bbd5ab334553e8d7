//! Drives the engines of all ranks. Every byte is a tag that says where it came from, so that a byte in the wrong place,
//! a stale byte of an earlier round or a byte that nobody wrote is seen.

use sago_core::declare::{Declared, Direction};
use sago_core::engine::{Action, Engine, Verdict};
use sago_core::ids::Rank;
use sago_core::plan::Plan;
use sago_core::random::Random;
use sago_core::schedule::{BufferExtent, Piece, Schedule, WindowId};
use std::collections::HashMap;

type Tag = u64;

pub fn tag(rank: usize, source: u64) -> Tag {
    (rank as u64) << 40 | source
}

/// What the file holds where nobody has written.
pub fn untouched(offset: u64) -> Tag {
    offset | 1 << 63
}

enum Pending {
    Moved { rank: usize, window: WindowId, copy: bool, result: Result<(), i32> },
    Arrived { rank: usize, window: WindowId, bytes: u64, ok: bool },
    Released { rank: usize, area: u32, part: u32, rounds: u32, ok: bool },
    Stored { rank: usize, window: WindowId, copy: bool, result: Result<(), i32> },
    OwnStored { rank: usize, result: Result<(), i32> },
    Agreed { rank: usize, verdict: Verdict },
}

pub struct World<'a> {
    plan: &'a Plan,
    schedule: &'a Schedule,
    declared: &'a [Declared],
    engines: Vec<Engine>,
    buffers: HashMap<(u32, u32, u32), HashMap<u64, Tag>>,
    pub file: HashMap<u64, Tag>,
    /// For reads: what each rank got, by its place in the rank's stream.
    pub memory: HashMap<(usize, u64), Tag>,
    pending: Vec<Pending>,
    agreed: Vec<Verdict>,
    pub verdicts: Vec<Option<Verdict>>,
    /// One action in this many fails; 0: none.
    fail_one_in: u64,
    pub failed: bool,
    random: Random,
}

impl<'a> World<'a> {
    pub fn new(
        plan: &'a Plan,
        schedule: &'a Schedule,
        declared: &'a [Declared],
        random: Random,
        fail_one_in: u64,
    ) -> Self {
        let engine = |(rank, of): (usize, &_)| Engine::new(Rank(rank as u32), schedule.direction, of);
        Self {
            plan,
            schedule,
            declared,
            engines: schedule.ranks.iter().enumerate().map(engine).collect(),
            buffers: HashMap::new(),
            file: HashMap::new(),
            memory: HashMap::new(),
            pending: Vec::new(),
            agreed: Vec::new(),
            verdicts: vec![None; declared.len()],
            fail_one_in,
            failed: false,
            random,
        }
    }

    /// Runs until every rank is done; false if all wait for something that will not come.
    pub fn run(&mut self) -> bool {
        let mut awake: Vec<usize> = (0..self.engines.len()).collect();
        loop {
            let poll = !awake.is_empty() && (self.pending.is_empty() || self.random.one_in(2));
            if poll {
                let at = self.random.below(awake.len() as u64) as usize;
                if !self.poll(awake[at]) {
                    awake.swap_remove(at);
                }
            } else if !self.pending.is_empty() {
                let at = self.random.below(self.pending.len() as u64) as usize;
                let event = self.pending.swap_remove(at);
                let rank = self.deliver(event);
                if !awake.contains(&rank) && self.verdicts[rank].is_none() {
                    awake.push(rank);
                }
            } else {
                return self.verdicts.iter().all(Option::is_some);
            }
        }
    }

    fn result(&mut self) -> Result<(), i32> {
        if self.fail_one_in > 0 && self.random.one_in(self.fail_one_in) {
            self.failed = true;
            return Err(5 + self.random.below(30) as i32);
        }
        Ok(())
    }

    /// Does the rank's next action; false if it waits or is done.
    fn poll(&mut self, rank: usize) -> bool {
        let action = self.engines[rank].poll();
        match action {
            Action::Put { window, .. } | Action::Get { window, .. } => {
                let result = self.result();
                let now = self.random.one_in(2);
                if now && result.is_ok() {
                    self.move_bytes(rank, window);
                }
                self.pending.push(Pending::Moved { rank, window, copy: !now, result });
            }
            Action::Notify { window, to, bytes, ok } => {
                self.pending.push(Pending::Arrived { rank: to.index(), window, bytes, ok });
            }
            Action::Write { window } | Action::Read { window } => {
                let result = self.result();
                let now = self.random.one_in(2);
                if now && result.is_ok() {
                    self.store(rank, window);
                }
                self.pending.push(Pending::Stored { rank, window, copy: !now, result });
            }
            Action::Release { area, part, rounds, ok } => {
                // Members read a counter: they may see it late, or miss a step.
                for member in 0..self.engines.len() {
                    let sends = self.schedule.ranks[member].sends_of(area);
                    if sends.is_some_and(|sends| sends.windows().any(|(window, ..)| window.part == part)) {
                        self.pending.push(Pending::Released { rank: member, area, part, rounds, ok });
                    }
                }
            }
            Action::WriteOwn { own, window, .. } | Action::ReadOwn { own, window, .. } => {
                let result = self.result();
                if result.is_ok() {
                    self.store_own(rank, own, window);
                }
                self.pending.push(Pending::OwnStored { rank, result });
            }
            Action::Agree { verdict } => {
                self.agreed.push(verdict);
                if self.agreed.len() == self.engines.len() {
                    let verdict = self.agreed.iter().copied().fold(Verdict::Good, Verdict::join);
                    let all = 0..self.engines.len();
                    self.pending.extend(all.map(|rank| Pending::Agreed { rank, verdict }));
                }
            }
            Action::Wait => return false,
            Action::Done { verdict } => {
                self.verdicts[rank] = Some(verdict);
                return false;
            }
        }
        true
    }

    fn deliver(&mut self, event: Pending) -> usize {
        match event {
            Pending::Moved { rank, window, copy, result } => {
                if copy && result.is_ok() {
                    self.move_bytes(rank, window);
                }
                self.engines[rank].handle_moved(window, result).unwrap();
                rank
            }
            Pending::Arrived { rank, window, bytes, ok } => {
                self.engines[rank].handle_arrived(window, bytes, ok).unwrap();
                rank
            }
            Pending::Released { rank, area, part, rounds, ok } => {
                self.engines[rank].handle_released(area, part, rounds, ok).unwrap();
                rank
            }
            Pending::Stored { rank, window, copy, result } => {
                if copy && result.is_ok() {
                    self.store(rank, window);
                }
                self.engines[rank].handle_stored(window, result).unwrap();
                rank
            }
            Pending::OwnStored { rank, result } => {
                self.engines[rank].handle_own_stored(result).unwrap();
                rank
            }
            Pending::Agreed { rank, verdict } => {
                self.engines[rank].handle_agreed(verdict).unwrap();
                rank
            }
        }
    }

    fn move_bytes(&mut self, rank: usize, window: WindowId) {
        let layout = &self.plan.areas[window.area as usize].layout;
        let sends = self.schedule.ranks[rank].sends_of(window.area).unwrap();
        let capacity = self.plan.frame.settings.buffer_bytes;
        let buffer = self.buffers.entry((window.area, window.part, window.buffer())).or_default();
        for Piece { source, buffer: at, len, .. } in sends.pieces(layout, &self.declared[rank], window) {
            assert!(at + len <= capacity, "a piece does not fit the buffer");
            for i in 0..len {
                if self.schedule.direction == Direction::Write {
                    buffer.insert(at + i, tag(rank, source + i));
                } else {
                    self.memory.insert((rank, source + i), buffer[&(at + i)]);
                }
            }
        }
    }

    fn store(&mut self, rank: usize, window: WindowId) {
        let layout = &self.plan.areas[window.area as usize].layout;
        let duty = self.schedule.ranks[rank].duty_of(window.area, window.part).unwrap();
        let buffer = self.buffers.entry((window.area, window.part, window.buffer())).or_default();
        for BufferExtent { file, buffer: at, len } in duty.extents(layout, window.round) {
            for i in 0..len {
                if self.schedule.direction == Direction::Write {
                    self.file.insert(file + i, buffer[&(at + i)]);
                } else {
                    buffer.insert(at + i, untouched(file + i));
                }
            }
        }
    }

    fn store_own(&mut self, rank: usize, own: u32, window: u32) {
        let own = &self.schedule.ranks[rank].own[own as usize];
        let mut room = 0;
        for Piece { source, file, len, buffer } in own.pieces(&self.declared[rank], window) {
            let inside = own.extents(window).any(|e| {
                e.file <= file && file + len <= e.file + e.len && e.buffer + (file - e.file) == buffer
            });
            assert!(inside, "an own piece outside its extents");
            room += len;
            for i in 0..len {
                if self.schedule.direction == Direction::Write {
                    let before = self.file.insert(file + i, tag(rank, source + i));
                    let _ = before;
                } else {
                    self.memory.insert((rank, source + i), untouched(file + i));
                }
            }
        }
        assert!(self.schedule.direction == Direction::Read || room <= self.plan.frame.settings.buffer_bytes);
    }
}
