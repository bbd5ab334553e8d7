//! [`Mail`] by messages of MPI, where it has no windows between nodes. A record is one message, led by its length, so
//! that nothing has to be read out of MPI's status.

use crate::abi::Handle;
use crate::comm::{Comm, count};
use crate::error::Error;
use crate::mail::Mail;
use crate::transport::check_rank;
use crate::wait::{Patience, Wait};
use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

const TAG: c_int = 0;
const WORD: usize = 8;
/// Instead of a length: the partner will send no more.
const FAREWELL: u64 = u64::MAX;
/// Instead of a length: the partner gives up; the number of its last calm follows.
const ALARM: u64 = u64::MAX - 1;
/// Messages to one partner that have not left yet.
const IN_FLIGHT_MAX: usize = 4;

pub struct Letters {
    /// Of its own, so that no other message is taken for a record.
    comm: Comm,
    wait: Rc<dyn Wait>,
    partners: Vec<Partner>,
    record_bytes: usize,
    inbox: Vec<u8>,
    /// Buffers to be used again.
    spare: Vec<Vec<u8>>,
    next: usize,
    /// How many calms there have been, and after which of them the last alarm was raised.
    calms: u64,
    alarm: Option<u64>,
}

struct Partner {
    rank: usize,
    sending: VecDeque<(Handle, Vec<u8>)>,
    gone: bool,
}

impl Letters {
    /// All ranks name the same `record_bytes`, which fits an `int`.
    pub fn new(
        comm: Comm,
        wait: Rc<dyn Wait>,
        partners: &[usize],
        record_bytes: usize,
    ) -> Result<Self, Error> {
        partners.iter().try_for_each(|rank| check_rank(*rank, comm.size()))?;
        let partner = |&rank: &usize| Partner { rank, sending: VecDeque::new(), gone: false };
        let partners = partners.iter().map(partner).collect();
        let inbox = vec![0; record_bytes.max(WORD) + WORD];
        let (spare, next, calms, alarm) = (Vec::new(), 0, 0, None);
        Ok(Self { comm, wait, partners, record_bytes, inbox, spare, next, calms, alarm })
    }

    fn start(&mut self, at: usize, word: u64, record: &[u8]) -> Result<(), Error> {
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(&word.to_le_bytes());
        bytes.extend_from_slice(record);
        let (mut request, to) = (0, self.partners[at].rank as c_int);
        let (fns, byte, comm) = (&self.comm.mpi().fns, self.comm.constants().byte, self.comm.handle());
        // SAFETY: the buffer is kept until the request is done.
        let code = unsafe {
            (fns.MPI_Isend)(bytes.as_ptr().cast(), count(bytes.len()), byte, to, TAG, comm, &mut request)
        };
        self.comm.mpi().check("MPI_Isend", code)?;
        self.partners[at].sending.push_back((request, bytes));
        Ok(())
    }

    /// Takes back the buffers of messages that have left.
    fn finish_some(&mut self, at: usize) -> Result<(), Error> {
        while let Some((request, _)) = self.partners[at].sending.front_mut() {
            if !self.comm.test("MPI_Isend", request)? {
                break;
            }
            self.spare.extend(self.partners[at].sending.pop_front().map(|(_, bytes)| bytes));
        }
        Ok(())
    }

    /// Receives a message if there is one; its first word.
    fn take(&mut self, at: usize) -> Result<Option<u64>, Error> {
        let (from, mut found) = (self.partners[at].rank as c_int, 0);
        let (mpi, constants, comm) = (self.comm.mpi(), self.comm.constants(), self.comm.handle());
        let ignore = constants.status_ignore as *mut c_void;
        // SAFETY: our live communicator, a place to write to, and the address that means "no status".
        mpi.check("MPI_Iprobe", unsafe { (mpi.fns.MPI_Iprobe)(from, TAG, comm, &mut found, ignore) })?;
        if found == 0 {
            return Ok(None);
        }
        let (mut request, room) = (0, count(self.inbox.len()));
        // SAFETY: the buffer is ours until the request is done, which is waited for.
        let code = unsafe {
            let inbox = self.inbox.as_mut_ptr().cast();
            (mpi.fns.MPI_Irecv)(inbox, room, constants.byte, from, TAG, comm, &mut request)
        };
        mpi.check("MPI_Irecv", code)?;
        self.comm.finish("MPI_Irecv", &*self.wait, request)?;
        Ok(Some(self.inbox.first_chunk().map_or(0, |word| u64::from_le_bytes(*word))))
    }
}

impl Mail for Letters {
    fn record_bytes_max(&self, _to: usize) -> usize {
        self.record_bytes
    }

    fn send(&mut self, to: usize, record: &[u8]) -> Result<bool, Error> {
        let missing = Error::NoSuchRank { rank: to, size: self.comm.size() };
        let at = self.partners.binary_search_by_key(&to, |partner| partner.rank).map_err(|_| missing)?;
        self.finish_some(at)?;
        if self.partners[at].sending.len() >= IN_FLIGHT_MAX {
            return Ok(false);
        }
        self.start(at, record.len() as u64, record)?;
        Ok(true)
    }

    fn push(&mut self) -> Result<(), Error> {
        (0..self.partners.len()).try_for_each(|at| self.finish_some(at))
    }

    fn receive(&mut self) -> Result<Option<(usize, &[u8])>, Error> {
        for step in 0..self.partners.len() {
            let at = (self.next + step) % self.partners.len();
            match self.take(at)? {
                None => {}
                Some(FAREWELL) => self.partners[at].gone = true,
                Some(ALARM) => {
                    let calms = self.inbox[WORD..].first_chunk().map(|word| u64::from_le_bytes(*word));
                    self.alarm = self.alarm.max(calms);
                }
                Some(len) => {
                    self.next = at;
                    let end = usize::try_from(len).unwrap_or(usize::MAX).min(self.record_bytes) + WORD;
                    return Ok(Some((self.partners[at].rank, &self.inbox[WORD..end])));
                }
            }
        }
        Ok(None)
    }

    fn alarm(&mut self) -> Result<(), Error> {
        let calms = self.calms.to_le_bytes();
        (0..self.partners.len()).try_for_each(|at| self.start(at, ALARM, &calms))
    }

    fn alarmed(&mut self) -> Result<bool, Error> {
        Ok(self.alarm == Some(self.calms))
    }

    fn calm(&mut self) -> Result<(), Error> {
        self.calms += 1;
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        let sending: usize =
            self.partners.iter().flat_map(|p| &p.sending).map(|(_, bytes)| bytes.capacity()).sum();
        self.inbox.len() + sending + self.spare.iter().map(Vec::capacity).sum::<usize>()
    }

    /// Everybody takes leave of its partners, and listens until all of them have.
    fn close(mut self: Box<Self>) -> Result<(), Error> {
        (0..self.partners.len()).try_for_each(|at| self.start(at, FAREWELL, &[]))?;
        let mut patience = Patience::default();
        loop {
            while self.receive()?.is_some() {}
            self.push()?;
            if self.partners.iter().all(|partner| partner.gone && partner.sending.is_empty()) {
                return self.comm.free();
            }
            self.wait.pause(&mut patience)?;
        }
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        // After an error MPI may still read them.
        std::mem::forget(std::mem::take(&mut self.sending));
    }
}
