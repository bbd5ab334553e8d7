//! MPI's windows: memory that other nodes reach. It is ours, and all of it is there: what MPI allocates can be a file in
//! a file system of the node's memory, which is found to be full when it is touched.

use crate::abi::Handle;
use crate::comm::{Comm, count};
use crate::error::Error;
use crate::library::Mpi;
use crate::memory::{Block, PAGE, Segment, aligned};
use crate::shm;
use crate::transport::{Put, Reduce, Window, check_rank};
use crate::wait::{Patience, Wait};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::Ordering;

/// Instead of the size of a window: its rank cannot reach others.
const SHUT: u64 = u64::MAX;

/// A window for one-sided access, zeroed, with an access epoch that lasts as long as the window. Every rank gets one, or
/// none does: they agree on each step before the next, which needs all of them.
pub fn remote(comm: &Comm, wait: Rc<dyn Wait>, bytes: usize) -> Result<Remote, Error> {
    let memory = agreed(comm, &*wait, memory(bytes))?;
    let window = agreed(comm, &*wait, MpiWindow::create(comm, memory))?;
    let opened = window.open(comm);
    let sizes = comm.allgather_number(&*wait, if opened.is_ok() { bytes as u64 } else { SHUT })?;
    if sizes.contains(&SHUT) {
        let shut = opened.as_ref().map_or(Ok(()), |()| window.shut());
        // What cannot be given back goes with the process.
        drop(shut.and(window.free()));
        return Err(opened.err().unwrap_or(Error::NoWindows));
    }
    let own = Segment { len: bytes, ..window.memory.segment() };
    let (byte, int64, sum) = (comm.constants().byte, comm.constants().int64, comm.constants().sum);
    let sizes = sizes.into_iter().map(|n| usize::try_from(n).unwrap_or(0)).collect();
    let (rank, count_max) = (comm.rank(), comm.count_max());
    let under_way = UnderWay::default();
    Ok(Remote { window, own, byte, int64, sum, rank, sizes, count_max, wait, under_way })
}

/// What this rank has if all have theirs.
fn agreed<T>(comm: &Comm, wait: &dyn Wait, mine: Result<T, Error>) -> Result<T, Error> {
    let mut all = [u64::from(mine.is_ok())];
    comm.allreduce(wait, Reduce::Min, &mut all)?;
    mine.and_then(|mine| if all[0] == 1 { Ok(mine) } else { Err(Error::NoWindows) })
}

/// Whole pages, so that nothing else lies on what MPI may pin.
fn memory(bytes: usize) -> Result<Block, Error> {
    shm::private(bytes.checked_next_multiple_of(PAGE).ok_or(Error::NoMemory { bytes })?)
}

/// If it is merely dropped, it stays, and so does its memory: others may still reach it.
struct MpiWindow {
    mpi: &'static Mpi,
    handle: Handle,
    memory: ManuallyDrop<Block>,
    here: PhantomData<*const ()>,
}

impl MpiWindow {
    fn create(comm: &Comm, memory: Block) -> Result<Self, Error> {
        let (mpi, info, memory) = (comm.mpi(), comm.constants().info_null, ManuallyDrop::new(memory));
        let (Segment { start, len }, mut handle) = (memory.segment(), 0);
        let (start, len) = (start.cast(), displacement(len));
        // SAFETY: our live communicator, memory that goes after the window, and a place to write to. Displacements are in bytes.
        let code = unsafe { (mpi.fns.MPI_Win_create)(start, len, 1, info, comm.handle(), &mut handle) };
        mpi.check("MPI_Win_create", code)?;
        Ok(Self { mpi, handle: mpi.abi().clean(handle), memory, here: PhantomData })
    }

    fn open(&self, comm: &Comm) -> Result<(), Error> {
        let (errors_return, nocheck) = (comm.constants().errors_return, comm.constants().mode_nocheck);
        // SAFETY: our live window.
        let code = unsafe { (self.mpi.fns.MPI_Win_set_errhandler)(self.handle, errors_return) };
        self.mpi.check("MPI_Win_set_errhandler", code)?;
        // SAFETY: as above.
        self.mpi.check("MPI_Win_lock_all", unsafe { (self.mpi.fns.MPI_Win_lock_all)(nocheck, self.handle) })
    }

    fn shut(&self) -> Result<(), Error> {
        // SAFETY: our live window, in an epoch.
        self.mpi.check("MPI_Win_unlock_all", unsafe { (self.mpi.fns.MPI_Win_unlock_all)(self.handle) })
    }

    /// Collective.
    fn free(mut self) -> Result<(), Error> {
        // SAFETY: ours, and not used again.
        self.mpi.check("MPI_Win_free", unsafe { (self.mpi.fns.MPI_Win_free)(&mut self.handle) })?;
        drop(ManuallyDrop::into_inner(self.memory));
        Ok(())
    }
}

/// One-sided access to the memory of other ranks.
pub struct Remote {
    window: MpiWindow,
    own: Segment,
    byte: Handle,
    int64: Handle,
    sum: Handle,
    rank: usize,
    /// Of every rank's window: MPI does not promise to look.
    sizes: Vec<usize>,
    count_max: usize,
    wait: Rc<dyn Wait>,
    under_way: UnderWay,
}

/// The bytes of puts that have not been flushed, by target. They are copies: MPICH 4.0 over UCX may read a buffer after
/// `MPI_Win_flush_local` has said that it may be used again.
#[derive(Default)]
struct UnderWay {
    kept: RefCell<BTreeMap<usize, Vec<Vec<u8>>>>,
    bytes: Cell<usize>,
}

impl UnderWay {
    /// Keeps a copy; the address is good until it is flushed.
    fn keep(&self, to: usize, bytes: &[u8]) -> *const u8 {
        let copy = bytes.to_vec();
        let start = copy.as_ptr();
        self.kept.borrow_mut().entry(to).or_default().push(copy);
        self.bytes.set(self.bytes.get() + bytes.len());
        start
    }

    fn bytes(&self) -> usize {
        self.bytes.get()
    }

    fn flushed(&self, to: usize) {
        let done: usize = self.kept.borrow_mut().remove(&to).iter().flatten().map(Vec::len).sum();
        self.bytes.set(self.bytes.get() - done);
    }

    fn all_flushed(&self) {
        self.kept.borrow_mut().clear();
        self.bytes.set(0);
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // After an error MPI may still read them.
        std::mem::forget(self.kept.take());
    }
}

/// More bytes than this are not under way at a time.
const UNDER_WAY_MAX: usize = 8 << 20;

impl Remote {
    fn check_range(&self, rank: usize, offset: usize, len: usize) -> Result<(), Error> {
        check_rank(rank, self.sizes.len())?;
        let size = self.sizes[rank];
        let fits = offset.checked_add(len).is_some_and(|end| end <= size);
        if fits { Ok(()) } else { Err(Error::OutOfBounds { rank, offset, len, size }) }
    }

    fn check(&self, call: &'static str, code: c_int) -> Result<(), Error> {
        self.window.mpi.check(call, code)
    }

    /// Makes our plain loads and stores and the accesses from afar see each other.
    fn sync(&self) -> Result<(), Error> {
        // SAFETY: our live window, in an epoch.
        self.check("MPI_Win_sync", unsafe { (self.window.mpi.fns.MPI_Win_sync)(self.window.handle) })
    }

    fn start_put(&self, put: &Put<'_>) -> Result<(), Error> {
        self.check_range(put.to, put.offset, put.bytes.len())?;
        for (i, chunk) in put.bytes.chunks(self.count_max).enumerate() {
            let (at, count) = (displacement(put.offset + i * self.count_max), count(chunk.len()));
            let (data, to) = (self.under_way.keep(put.to, chunk).cast(), put.to as c_int);
            // SAFETY: the buffer is kept until a flush, and the range lies in the target's window.
            let code = unsafe {
                (self.window.mpi.fns.MPI_Put)(
                    data,
                    count,
                    self.byte,
                    to,
                    at,
                    count,
                    self.byte,
                    self.window.handle,
                )
            };
            self.check("MPI_Put", code)?;
        }
        Ok(())
    }
}

impl Window for Remote {
    fn put(&self, puts: &[Put<'_>]) -> Result<(), Error> {
        puts.iter().try_for_each(|put| self.start_put(put))?;
        if self.under_way.bytes() > UNDER_WAY_MAX { self.flush_all() } else { Ok(()) }
    }

    fn get(&self, from: usize, offset: usize, into: &mut [u8]) -> Result<(), Error> {
        self.check_range(from, offset, into.len())?;
        let mut verdict = Ok(());
        for (i, chunk) in into.chunks_mut(self.count_max).enumerate() {
            let (at, count) = (displacement(offset + i * self.count_max), count(chunk.len()));
            let (data, handle) = (chunk.as_mut_ptr().cast(), self.window.handle);
            // SAFETY: the buffer is lent until the flush below.
            let code = unsafe {
                (self.window.mpi.fns.MPI_Get)(
                    data,
                    count,
                    self.byte,
                    from as c_int,
                    at,
                    count,
                    self.byte,
                    handle,
                )
            };
            verdict = verdict.and(self.check("MPI_Get", code));
        }
        verdict.and(self.flush(from))
    }

    fn flush(&self, to: usize) -> Result<(), Error> {
        check_rank(to, self.sizes.len())?;
        // SAFETY: our live window, in an epoch.
        let code = unsafe { (self.window.mpi.fns.MPI_Win_flush)(to as c_int, self.window.handle) };
        self.check("MPI_Win_flush", code)?;
        self.under_way.flushed(to);
        Ok(())
    }

    fn flush_all(&self) -> Result<(), Error> {
        // SAFETY: as above.
        let code = unsafe { (self.window.mpi.fns.MPI_Win_flush_all)(self.window.handle) };
        self.check("MPI_Win_flush_all", code)?;
        self.under_way.all_flushed();
        Ok(())
    }

    fn fetch_add(&self, to: usize, offset: usize, value: u64) -> Result<u64, Error> {
        self.check_range(to, offset, 8)?;
        aligned(to, offset)?;
        let (mut before, at) = (0_u64, displacement(offset));
        let (from, into) = ((&raw const value).cast::<c_void>(), (&raw mut before).cast::<c_void>());
        // SAFETY: both numbers live until the flush below.
        let code = unsafe {
            (self.window.mpi.fns.MPI_Fetch_and_op)(
                from,
                into,
                self.int64,
                to as c_int,
                at,
                self.sum,
                self.window.handle,
            )
        };
        let verdict = self.check("MPI_Fetch_and_op", code);
        verdict.and(self.flush(to))?;
        Ok(before)
    }

    fn counter(&self, offset: usize) -> Result<u64, Error> {
        self.sync()?;
        Ok(self.own.counter(self.rank, offset)?.load(Ordering::Acquire))
    }

    fn wait(&self, offset: usize, done: &dyn Fn(u64) -> bool) -> Result<(), Error> {
        let (counter, mut patience) = (self.own.counter(self.rank, offset)?, Patience::default());
        while !done(counter.load(Ordering::Acquire)) {
            self.wait.pause(&mut patience)?;
            self.sync()?;
        }
        Ok(())
    }

    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), Error> {
        self.sync()?;
        self.own.get(self.rank, offset, into)
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), Error> {
        self.own.put(self.rank, offset, bytes)?;
        self.sync()
    }

    unsafe fn bytes(&self, range: Range<usize>) -> Result<&[u8], Error> {
        self.sync()?;
        let len = range.end.saturating_sub(range.start);
        let at = self.own.at(self.rank, range.start, len)?;
        // SAFETY: in bounds of our own memory; that nobody writes is promised by the caller.
        Ok(unsafe { std::slice::from_raw_parts(at, len) })
    }

    fn free(self: Box<Self>) -> Result<(), Error> {
        self.window.shut()?;
        self.under_way.all_flushed();
        self.window.free()
    }
}

/// Offsets beyond what MPI can name do not fit any memory either.
fn displacement(offset: usize) -> isize {
    isize::try_from(offset).unwrap_or(isize::MAX)
}
