//! MPI's windows: memory that other nodes reach.

use crate::abi::Handle;
use crate::comm::{Comm, count};
use crate::error::Error;
use crate::library::Mpi;
use crate::memory::{PAGE, Segment, aligned};
use crate::transport::{Put, Window, check_rank};
use crate::wait::{Patience, Wait};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;
use std::rc::Rc;
use std::sync::atomic::Ordering;

/// A window for one-sided access, zeroed, with an access epoch that lasts as long as the window.
pub fn remote(comm: &Comm, wait: Rc<dyn Wait>, bytes: usize) -> Result<Remote, Error> {
    let window = MpiWindow::allocate(comm, bytes)?;
    let own = Segment { start: window.start, len: bytes };
    own.zero();
    let nocheck = comm.constants().mode_nocheck;
    // SAFETY: our live window.
    let code = unsafe { (comm.mpi().fns.MPI_Win_lock_all)(nocheck, window.handle) };
    comm.mpi().check("MPI_Win_lock_all", code)?;
    let (byte, int64, sum) = (comm.constants().byte, comm.constants().int64, comm.constants().sum);
    let sizes = comm.allgather_number(&*wait, bytes as u64)?;
    let sizes = sizes.into_iter().map(|n| usize::try_from(n).unwrap_or(0)).collect();
    let (rank, count_max) = (comm.rank(), comm.count_max());
    let under_way = UnderWay::default();
    let remote = Remote { window, own, byte, int64, sum, rank, sizes, count_max, wait, under_way };
    remote.sync()?;
    comm.barrier(&*remote.wait)?;
    Ok(remote)
}

struct MpiWindow {
    mpi: &'static Mpi,
    handle: Handle,
    start: *mut u8,
    here: PhantomData<*const ()>,
}

impl MpiWindow {
    fn allocate(comm: &Comm, bytes: usize) -> Result<Self, Error> {
        let (mpi, info, no_memory) = (comm.mpi(), comm.constants().info_null, Error::NoMemory { bytes });
        let len =
            bytes.checked_next_multiple_of(PAGE).and_then(|b| isize::try_from(b).ok()).ok_or(no_memory)?;
        let (mut handle, mut start) = (0, ptr::null_mut());
        // SAFETY: our live communicator and places to write to. Displacements are in bytes.
        let code =
            unsafe { (mpi.fns.MPI_Win_allocate)(len, 1, info, comm.handle(), &mut start, &mut handle) };
        mpi.check("MPI_Win_allocate", code)?;
        let handle = mpi.abi().clean(handle);
        // SAFETY: the window that was just made.
        let code = unsafe { (mpi.fns.MPI_Win_set_errhandler)(handle, comm.constants().errors_return) };
        mpi.check("MPI_Win_set_errhandler", code)?;
        Ok(Self { mpi, handle, start: start.cast(), here: PhantomData })
    }

    fn free(mut self) -> Result<(), Error> {
        // SAFETY: ours, and not used again.
        self.mpi.check("MPI_Win_free", unsafe { (self.mpi.fns.MPI_Win_free)(&mut self.handle) })
    }
}

impl Segment {
    fn zero(self) {
        if self.len > 0 {
            // SAFETY: our own segment, which nobody else uses before the barrier that follows.
            unsafe { self.start.write_bytes(0, self.len) };
        }
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
        // SAFETY: our live window, in an epoch.
        let code = unsafe { (self.window.mpi.fns.MPI_Win_unlock_all)(self.window.handle) };
        self.check("MPI_Win_unlock_all", code)?;
        self.under_way.all_flushed();
        self.window.free()
    }
}

/// Offsets beyond what MPI can name do not fit any memory either.
fn displacement(offset: usize) -> isize {
    isize::try_from(offset).unwrap_or(isize::MAX)
}
