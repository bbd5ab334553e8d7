//! [`Transport`] on MPI.
//!
//! Ranks on one node meet on a [`Board`] in shared memory, where waiting is sleeping; ranks on several nodes meet in
//! MPI, with pauses between looks, and while they wait for anything they let MPI serve the others.

use crate::board::Board;
use crate::comm::{Comm, RawComm};
use crate::error::{BindError, Error};
use crate::letters::Letters;
use crate::library::Mpi;
use crate::local_window::{HEAD, LocalWindow};
use crate::mail::Mail;
use crate::memory::Shared;
use crate::shm;
use crate::signal::Signal;
use crate::transport::{
    Parts, Receive, Reduce, Send, Transport, Window, alltoall_by_exchange, check_parts, exchange_parts,
};
use crate::wait::{Polite, Wait};
use crate::window;
use std::rc::Rc;
use std::time::Duration;

/// The tag of messages inside of `alltoall` and `allgather`, which users' tags (`u16`) leave alone but may equal: an
/// exchange never overlaps a collective of the same rank.
const INNER_TAG: u16 = u16::MAX;

/// Choices that tests vary; the defaults are right.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes per MPI call.
    pub count_max: usize,
    /// Use shared memory for collectives and windows where all ranks are on one node.
    pub board: bool,
    /// Use windows between nodes.
    pub windows: bool,
    /// Pretend that nodes have this many ranks; 0: as they are.
    pub ranks_per_node: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { count_max: 1 << 30, board: true, windows: true, ranks_per_node: 0 }
    }
}

/// How long a rank sleeps before it lets MPI serve others, if nobody wakes it: where only messages of the program can need it,
/// and where our own do.
const NAP: Duration = Duration::from_millis(1);
const NAP_BETWEEN_NODES: Duration = Duration::from_micros(100);

type Progress = Rc<dyn Fn() -> Result<(), Error>>;

/// The ranks of a communicator.
pub struct MpiRanks {
    comm: Rc<Comm>,
    one_node: bool,
    board: Option<Rc<Board>>,
    wait: Rc<dyn Wait>,
    /// What serves other ranks while we wait; inherited by subgroups, whose members may be targets of puts in the larger
    /// group.
    progress: Progress,
    /// The pretended node.
    node: Option<u32>,
    options: Options,
}

/// The members of a communicator that is given to us, before they become a group: they may find that they are one already.
pub struct Newcomers {
    comm: Comm,
    options: Options,
}

impl Newcomers {
    /// # Safety
    /// `comm` is a live intra-communicator of this MPI that nobody else uses and that is ours to free, and this thread may
    /// call MPI.
    pub unsafe fn new(mpi: &'static Mpi, comm: RawComm, options: Options) -> Result<Self, BindError> {
        // SAFETY: promised by the caller.
        Ok(Self { comm: unsafe { Comm::given(mpi, comm, options.count_max) }?, options })
    }

    pub fn rank(&self) -> usize {
        self.comm.rank()
    }

    /// As [`Transport::allreduce`].
    pub fn allreduce(&self, op: Reduce, values: &mut [u64]) -> Result<(), Error> {
        self.comm.allreduce(&Polite::default(), op, values)
    }

    /// Whether a group has the same members in the same order.
    pub fn are(&self, group: &MpiRanks) -> bool {
        group.comm.is_congruent(&self.comm)
    }

    /// They become a group. Collective.
    pub fn settle(self) -> Result<MpiRanks, Error> {
        MpiRanks::on(self.comm, None, None, self.options)
    }

    /// They are a group already. Collective.
    pub fn leave(self) -> Result<(), Error> {
        self.comm.free()
    }
}

impl MpiRanks {
    /// A group of our own with the members of the program's communicator. Collective.
    ///
    /// # Safety
    /// `comm` is a live intra- or inter-communicator of this MPI, and this thread may call MPI.
    pub unsafe fn new(mpi: &'static Mpi, comm: RawComm, options: Options) -> Result<Self, BindError> {
        // SAFETY: promised by the caller.
        let comm = unsafe { Comm::duplicate(mpi, comm, options.count_max) }?;
        let node = comm.rank().checked_div(options.ranks_per_node).and_then(|node| u32::try_from(node).ok());
        Ok(Self::on(comm, None, node, options)?)
    }

    /// Our own communicator, for callers who know which MPI it belongs to. It lives as long as the group.
    pub fn raw(&self) -> RawComm {
        RawComm(self.comm.handle())
    }

    /// Whether these are all processes of the program, as far as this one can tell.
    pub fn is_world(&self) -> bool {
        self.comm.is_world()
    }

    /// This rank cannot go on with the others: who waits for it, now or later, gets an error. Whether they will hear of it,
    /// which they do only where they have memory in common.
    pub fn abandon(&self) -> bool {
        self.board.as_ref().is_some_and(|board| board.abandon().is_ok())
    }

    fn on(
        comm: Comm,
        progress: Option<Progress>,
        node: Option<u32>,
        options: Options,
    ) -> Result<Self, Error> {
        let here = split_by_node(&comm, node)?;
        let one_node = here.size() == comm.size();
        here.free()?;
        // Ranks that MPI counts to one node but that cannot map each other's memory are as if on several.
        let shared = if one_node && options.board {
            shm::share(&comm, &Polite::default(), Board::SEGMENT_BYTES).ok()
        } else {
            None
        };
        let one_node = one_node && (shared.is_some() || !options.board);
        let comm = Rc::new(comm);
        let served = Rc::clone(&comm);
        let progress = progress.unwrap_or_else(|| Rc::new(move || served.progress()));
        let nap = if shared.is_none() { NAP_BETWEEN_NODES } else { NAP };
        let wait: Rc<dyn Wait> = Rc::new(Polite::with_progress(Rc::clone(&progress), nap));
        let board =
            shared.map(|shared| Rc::new(Board::new(shared, comm.rank(), comm.size(), Rc::clone(&wait))));
        Ok(Self { comm, one_node, board, wait, progress, node, options })
    }

    fn subgroup(&self, comm: Comm) -> Result<Box<dyn Transport>, Error> {
        Ok(Box::new(Self::on(comm, Some(Rc::clone(&self.progress)), self.node, self.options)?))
    }

    /// Both sides of a transfer can be described by `int`s.
    fn short(&self, bytes: usize) -> bool {
        bytes <= self.options.count_max
    }
}

impl Transport for MpiRanks {
    fn rank(&self) -> usize {
        self.comm.rank()
    }

    fn size(&self) -> usize {
        self.comm.size()
    }

    fn one_node(&self) -> bool {
        self.one_node
    }

    fn barrier(&self) -> Result<(), Error> {
        match &self.board {
            Some(board) => board.barrier(),
            None => self.comm.barrier(&*self.wait),
        }
    }

    fn broadcast(&self, root: usize, bytes: &mut [u8]) -> Result<(), Error> {
        match &self.board {
            Some(board) => board.broadcast(root, bytes),
            None => self.comm.broadcast(&*self.wait, root, bytes),
        }
    }

    fn allreduce(&self, op: Reduce, values: &mut [u64]) -> Result<(), Error> {
        match &self.board {
            Some(board) => board.allreduce(op, values),
            None => self.comm.allreduce(&*self.wait, op, values),
        }
    }

    fn allgather(&self, mine: &[u8]) -> Result<Parts, Error> {
        if let Some(board) = &self.board {
            return board.allgather(mine);
        }
        let lengths = self.comm.allgather_number(&*self.wait, mine.len() as u64)?;
        let mut all = Parts::zeroed(lengths.into_iter().map(|n| usize::try_from(n).unwrap_or(usize::MAX)));
        if self.short(all.all().len() + all.len()) {
            // One byte more for each, so that no rank's part is empty; see `alltoall`.
            let mut longer = Parts::zeroed(all.lengths().map(|len| len + 1));
            self.comm.allgather_short(&*self.wait, &[mine, &[0]].concat(), &mut longer)?;
            for (part, longer) in all.split_mut().into_iter().zip(longer.iter()) {
                part.copy_from_slice(&longer[..part.len()]);
            }
        } else {
            all.part_mut(self.rank()).copy_from_slice(mine);
            for (root, part) in all.split_mut().into_iter().enumerate() {
                self.comm.broadcast(&*self.wait, root, part)?;
            }
        }
        Ok(all)
    }

    fn alltoall(&self, parts: &Parts) -> Result<Parts, Error> {
        if self.board.is_some() {
            return alltoall_by_exchange(self, INNER_TAG, parts);
        }
        check_parts(self, parts)?;
        let lengths: Vec<u64> = parts.lengths().map(|len| len as u64).collect();
        let lengths = self.comm.alltoall_numbers(&*self.wait, &lengths)?;
        let mut received =
            Parts::zeroed(lengths.into_iter().map(|n| usize::try_from(n).unwrap_or(usize::MAX)));
        // Not by MPI_Ialltoallv: on a rank without bytes Open MPI 4.1 forgets to count it, and then mistakes the messages
        // of the next collectives.
        exchange_parts(self, INNER_TAG, parts, &mut received)?;
        Ok(received)
    }

    fn exchange(&self, tag: u16, sends: &[Send<'_>], receives: &mut [Receive<'_>]) -> Result<(), Error> {
        self.comm.exchange(&*self.wait, tag, sends, receives)
    }

    fn split(&self, colour: Option<u32>, key: u32) -> Result<Option<Box<dyn Transport>>, Error> {
        self.comm.split(colour, key)?.map(|comm| self.subgroup(comm)).transpose()
    }

    /// Costs nothing: a communicator takes MPI longer to make than a small commit.
    fn again(&self) -> Result<Box<dyn Transport>, Error> {
        Ok(Box::new(Self {
            comm: Rc::clone(&self.comm),
            one_node: self.one_node,
            board: self.board.clone(),
            wait: Rc::clone(&self.wait),
            progress: Rc::clone(&self.progress),
            node: self.node,
            options: self.options,
        }))
    }

    fn split_by_node(&self) -> Result<Box<dyn Transport>, Error> {
        if self.one_node {
            return self.again();
        }
        self.subgroup(split_by_node(&self.comm, self.node)?)
    }

    fn share(&self, bytes: usize) -> Result<Shared, Error> {
        if !self.one_node {
            return Err(Error::NotOneNode);
        }
        shm::share(&self.comm, &*self.wait, bytes)
    }

    fn window(&self, bytes: usize) -> Result<Box<dyn Window>, Error> {
        let wait = Rc::clone(&self.wait);
        if self.board.is_none() {
            if !self.options.windows {
                return Err(Error::NoWindows);
            }
            return Ok(Box::new(window::remote(&self.comm, wait, bytes)?));
        }
        let shared = shm::share(&self.comm, &*wait, bytes + HEAD)?;
        Ok(Box::new(LocalWindow::new(shared, self.rank(), self.size(), wait, None)))
    }

    fn letters(&self, partners: &[usize], record_bytes: usize) -> Result<Box<dyn Mail>, Error> {
        let key = u32::try_from(self.rank()).unwrap_or(u32::MAX);
        let own = self.comm.split(Some(0), key)?.ok_or(Error::NotOneNode)?;
        Ok(Box::new(Letters::new(own, Rc::clone(&self.wait), partners, record_bytes)?))
    }

    fn watch(
        &self,
        signal: &Signal,
        seen: u32,
        ready: &mut dyn FnMut() -> Result<bool, Error>,
    ) -> Result<(), Error> {
        self.wait.watch(signal, seen, ready)
    }

    fn wait(&self, signal: &Signal, done: &dyn Fn(u32) -> bool) -> Result<(), Error> {
        self.wait.until(signal, done)
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        let Self { comm, board, wait, progress, .. } = *self;
        drop((board, wait, progress));
        // Where it is used once more, or a subgroup that is still open serves other nodes through it, it stays.
        Rc::try_unwrap(comm).map_or(Ok(()), Comm::free)
    }
}

fn split_by_node(comm: &Comm, pretended: Option<u32>) -> Result<Comm, Error> {
    match pretended {
        Some(_) => comm.split(pretended, 0)?.ok_or(Error::NotOneNode),
        None => comm.split_by_node(),
    }
}
