//! A group of threads: a board for collectives, mailboxes for messages, a table where ranks show each other things.

use crate::board::Board;
use crate::error::Error;
use crate::local_window::{HEAD, LocalWindow};
use crate::mail::Mail;
use crate::memory::{Block, Shared, shared_blocks};
use crate::signal::Signal;
use crate::transport::{Parts, Receive, Reduce, Send, Transport, Window, alltoall_by_exchange, check_rank};
use crate::wait::{Patience, Wait};
use std::any::Any;
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const INNER_TAG: u16 = u16::MAX;

type Thing = Arc<dyn Any + std::marker::Send + Sync>;
/// By sender, receiver and tag.
type Mailboxes = HashMap<(usize, usize, u16), VecDeque<Vec<u8>>>;

/// What subgroups inherit.
#[derive(Clone, Copy, Default)]
pub struct Common {
    pub seed: Option<u64>,
    pub no_windows: bool,
}

/// What the ranks of a group have in common.
pub struct Group {
    size: usize,
    nodes: Vec<usize>,
    common: Common,
    board: Vec<Arc<Block>>,
    /// Two tables, used in turn, for the same reason as on the board.
    tables: [Mutex<Vec<Option<Thing>>>; 2],
    mail: Mutex<Mailboxes>,
    /// Raised when mail for a rank arrives.
    bells: Vec<Signal>,
}

impl Group {
    pub fn new(size: usize, nodes: Vec<usize>, common: Common) -> Result<Self, Error> {
        let board =
            (0..size).map(|_| Block::new(Board::SEGMENT_BYTES).map(Arc::new)).collect::<Result<_, _>>()?;
        let table = || Mutex::new(vec![None; size]);
        let bells = (0..size).map(|_| Signal::new()).collect();
        Ok(Self { size, nodes, common, board, tables: [table(), table()], mail: Mutex::default(), bells })
    }
}

/// One thread's view of its group.
pub struct ThreadRank {
    group: Arc<Group>,
    rank: usize,
    board: Board,
    meetings: Cell<usize>,
    wait: Rc<dyn Wait>,
}

impl ThreadRank {
    pub fn new(group: Arc<Group>, rank: usize, wait: Rc<dyn Wait>) -> Self {
        let board = Board::new(shared_blocks(group.board.clone()), rank, group.size, Rc::clone(&wait));
        Self { group, rank, board, meetings: Cell::new(0), wait }
    }

    /// Everybody shows a thing; everybody gets all of them.
    fn meet<T: Any + std::marker::Send + Sync>(&self, mine: Arc<T>) -> Result<Vec<Arc<T>>, Error> {
        let table = &self.group.tables[self.meetings.get() % 2];
        self.meetings.set(self.meetings.get() + 1);
        locked(table)[self.rank] = Some(mine);
        self.board.barrier()?;
        let all = locked(table).iter().flatten().filter_map(|t| Arc::clone(t).downcast().ok()).collect();
        Ok(all)
    }

    fn subgroup(&self, colour: usize, key: u32) -> Result<Box<dyn Transport>, Error> {
        let wishes = self.meet(Arc::new((Some(colour), key)))?;
        Ok(Box::new(self.join(&wishes, colour)?))
    }

    /// The lowest member makes the group and shows it.
    fn join(&self, wishes: &[Arc<(Option<usize>, u32)>], colour: usize) -> Result<Self, Error> {
        let mut members: Vec<usize> = (0..self.group.size).filter(|&r| wishes[r].0 == Some(colour)).collect();
        members.sort_by_key(|&r| (wishes[r].1, r));
        let nodes = members.iter().map(|&r| self.group.nodes[r]).collect();
        let own = Arc::new(Group::new(members.len(), nodes, self.group.common)?);
        let all = self.meet(own)?;
        let rank = members.iter().position(|&r| r == self.rank).unwrap_or(0);
        Ok(Self::new(Arc::clone(&all[members[0]]), rank, Rc::clone(&self.wait)))
    }

    fn take_mail(&self, from: usize, tag: u16) -> Result<Vec<u8>, Error> {
        let bell = &self.group.bells[self.rank];
        loop {
            let rung = bell.get();
            let found =
                locked(&self.group.mail).get_mut(&(from, self.rank, tag)).and_then(VecDeque::pop_front);
            if let Some(bytes) = found {
                return Ok(bytes);
            }
            self.wait.until(bell, &|now| now != rung)?;
        }
    }

    fn step(&self) -> Result<(), Error> {
        self.wait.pause(&mut Patience::default())
    }
}

impl Transport for ThreadRank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.group.size
    }

    fn one_node(&self) -> bool {
        self.group.nodes.iter().all(|&n| n == self.group.nodes[0])
    }

    fn barrier(&self) -> Result<(), Error> {
        self.step()?;
        self.board.barrier()
    }

    fn broadcast(&self, root: usize, bytes: &mut [u8]) -> Result<(), Error> {
        self.step()?;
        self.board.broadcast(root, bytes)
    }

    fn allreduce(&self, op: Reduce, values: &mut [u64]) -> Result<(), Error> {
        self.step()?;
        self.board.allreduce(op, values)
    }

    fn allgather(&self, mine: &[u8]) -> Result<Parts, Error> {
        self.step()?;
        self.board.allgather(mine)
    }

    fn alltoall(&self, parts: &Parts) -> Result<Parts, Error> {
        alltoall_by_exchange(self, INNER_TAG, parts)
    }

    fn exchange(&self, tag: u16, sends: &[Send<'_>], receives: &mut [Receive<'_>]) -> Result<(), Error> {
        sends.iter().try_for_each(|s| check_rank(s.to, self.group.size))?;
        receives.iter().try_for_each(|r| check_rank(r.from, self.group.size))?;
        for send in sends.iter().filter(|s| !s.bytes.is_empty()) {
            self.step()?;
            locked(&self.group.mail)
                .entry((self.rank, send.to, tag))
                .or_default()
                .push_back(send.bytes.to_vec());
            self.group.bells[send.to].add(1);
        }
        for receive in receives.iter_mut().filter(|r| !r.bytes.is_empty()) {
            self.step()?;
            let bytes = self.take_mail(receive.from, tag)?;
            if bytes.len() != receive.bytes.len() {
                let (rank, len, expected) = (receive.from, bytes.len(), receive.bytes.len());
                return Err(Error::Mismatch { rank, len, expected });
            }
            receive.bytes.copy_from_slice(&bytes);
        }
        Ok(())
    }

    fn split(&self, colour: Option<u32>, key: u32) -> Result<Option<Box<dyn Transport>>, Error> {
        self.step()?;
        let colour = colour.map(|c| c as usize);
        let wishes = self.meet(Arc::new((colour, key)))?;
        match colour {
            Some(colour) => Ok(Some(Box::new(self.join(&wishes, colour)?))),
            None => {
                // Takes part in the meeting in which the others show their groups.
                self.meet(Arc::new(Group::new(0, vec![], Common::default())?))?;
                Ok(None)
            }
        }
    }

    fn split_by_node(&self) -> Result<Box<dyn Transport>, Error> {
        self.step()?;
        self.subgroup(self.group.nodes[self.rank], 0)
    }

    fn share(&self, bytes: usize) -> Result<Shared, Error> {
        self.step()?;
        if !self.one_node() {
            return Err(Error::NotOneNode);
        }
        Ok(shared_blocks(self.meet(Arc::new(Block::new(bytes)?))?))
    }

    fn window(&self, bytes: usize) -> Result<Box<dyn Window>, Error> {
        self.step()?;
        if self.group.common.no_windows {
            return Err(Error::NoWindows);
        }
        let blocks = self.meet(Arc::new(Block::new(bytes + HEAD)?))?;
        let (shared, wait) = (shared_blocks(blocks), Rc::clone(&self.wait));
        Ok(Box::new(LocalWindow::new(shared, self.rank, self.group.size, wait, self.group.common.seed)))
    }

    fn letters(&self, partners: &[usize], record_bytes: usize) -> Result<Box<dyn Mail>, Error> {
        self.step()?;
        partners.iter().try_for_each(|rank| check_rank(*rank, self.group.size))?;
        // A group of their own, so that what is left in it goes with it.
        let own = self.join(&self.meet(Arc::new((Some(0), 0)))?, 0)?;
        Ok(Box::new(Letters {
            own,
            partners: partners.to_vec(),
            record_bytes,
            next: 0,
            open: Vec::new(),
            calms: 0,
        }))
    }

    fn watch(
        &self,
        signal: &Signal,
        seen: u32,
        ready: &mut dyn FnMut() -> Result<bool, Error>,
    ) -> Result<(), Error> {
        self.step()?;
        self.wait.watch(signal, seen, ready)
    }

    fn wait(&self, signal: &Signal, done: &dyn Fn(u32) -> bool) -> Result<(), Error> {
        self.step()?;
        self.wait.until(signal, done)
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}

/// [`Mail`] in the mailboxes of a group.
struct Letters {
    own: ThreadRank,
    partners: Vec<usize>,
    record_bytes: usize,
    next: usize,
    open: Vec<u8>,
    calms: u64,
}

impl Letters {
    const TAG: u16 = 0;
    const ALARM_TAG: u16 = 1;
    const IN_FLIGHT_MAX: usize = 4;
}

impl Mail for Letters {
    fn record_bytes_max(&self, _to: usize) -> usize {
        self.record_bytes
    }

    fn send(&mut self, to: usize, record: &[u8]) -> Result<bool, Error> {
        self.own.step()?;
        check_rank(to, self.own.group.size)?;
        let mut mail = locked(&self.own.group.mail);
        let box_ = mail.entry((self.own.rank, to, Self::TAG)).or_default();
        let room = box_.len() < Self::IN_FLIGHT_MAX;
        if room {
            box_.push_back(record.to_vec());
        }
        Ok(room)
    }

    fn push(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<(usize, &[u8])>, Error> {
        for step in 0..self.partners.len() {
            let at = (self.next + step) % self.partners.len();
            let key = (self.partners[at], self.own.rank, Self::TAG);
            let found = locked(&self.own.group.mail).get_mut(&key).and_then(VecDeque::pop_front);
            if let Some(record) = found {
                (self.next, self.open) = (at, record);
                return Ok(Some((self.partners[at], &self.open)));
            }
        }
        Ok(None)
    }

    fn alarm(&mut self) -> Result<(), Error> {
        self.own.step()?;
        let mut mail = locked(&self.own.group.mail);
        for to in &self.partners {
            let alarm = self.calms.to_le_bytes().to_vec();
            mail.entry((self.own.rank, *to, Self::ALARM_TAG)).or_default().push_back(alarm);
        }
        Ok(())
    }

    fn alarmed(&mut self) -> Result<bool, Error> {
        let now = self.calms.to_le_bytes();
        let mail = locked(&self.own.group.mail);
        let raised = |from: &usize| {
            let alarms = mail.get(&(*from, self.own.rank, Self::ALARM_TAG));
            alarms.and_then(VecDeque::back).is_some_and(|last| *last == now)
        };
        Ok(self.partners.iter().any(raised))
    }

    fn calm(&mut self) -> Result<(), Error> {
        self.calms += 1;
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.open.capacity()
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        self.own.barrier()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
