//! A communicator of our own: duplicated from the program's, with errors returned and not fatal.
//!
//! Every operation is started without blocking and then waited for with growing pauses, since MPI's own blocking
//! calls poll without pause and take the core from a rank that works. Counts of MPI are `int`s: longer transfers are cut.

use crate::abi::{Constants, Handle};
use crate::error::{BindError, Error};
use crate::library::Mpi;
use crate::transport::{Parts, Receive, Reduce, Send, check_rank};
use crate::wait::{Patience, Wait};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;

/// A communicator of the program, as it lies in the program's variable of type `MPI_Comm`: an `int` or a pointer in
/// the low bytes of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawComm(pub isize);

/// Ours, to be freed by us. Not for other threads: at `MPI_THREAD_SINGLE` only one may call MPI.
pub struct Comm {
    mpi: &'static Mpi,
    constants: &'static Constants,
    handle: Handle,
    rank: usize,
    size: usize,
    /// The longest transfer of one call.
    count_max: usize,
    here: PhantomData<*const ()>,
}

impl Comm {
    /// # Safety
    /// `raw` is a live communicator of this MPI, and this is a thread that may call MPI.
    pub unsafe fn duplicate(mpi: &'static Mpi, raw: RawComm, count_max: usize) -> Result<Self, BindError> {
        let constants = mpi.constants()?;
        let (original, mut inter) = (mpi.abi().clean(raw.0), 0);
        // SAFETY: a live communicator, promised by the caller, and a place to write to.
        mpi.check("MPI_Comm_test_inter", unsafe { (mpi.fns.MPI_Comm_test_inter)(original, &mut inter) })?;
        if inter != 0 {
            return Err(BindError::InterCommunicator);
        }
        let mut copy = 0;
        // SAFETY: as above.
        mpi.check("MPI_Comm_dup", unsafe { (mpi.fns.MPI_Comm_dup)(original, &mut copy) })?;
        Ok(Self::adopt(mpi, constants, copy, count_max)?)
    }

    /// # Safety
    /// `raw` is a live intra-communicator of this MPI that is ours from now on, and this is a thread that may call MPI.
    pub unsafe fn given(mpi: &'static Mpi, raw: RawComm, count_max: usize) -> Result<Self, BindError> {
        Ok(Self::adopt(mpi, mpi.constants()?, raw.0, count_max)?)
    }

    /// Whether another communicator has the same members in the same order.
    pub fn is_congruent(&self, other: &Self) -> bool {
        std::ptr::eq(self.mpi, other.mpi) && self.likeness(other.handle).is_some_and(|likeness| likeness <= 1)
    }

    /// 0: the same communicator; 1: the same members in the same order, 2: in another one; `None` if MPI does not say.
    fn likeness(&self, other: Handle) -> Option<c_int> {
        let mut result = c_int::MAX;
        // SAFETY: two live communicators of one MPI, and a place to write to.
        let code = unsafe { (self.mpi.fns.MPI_Comm_compare)(self.handle, other, &mut result) };
        // MPI_IDENT comes first, in the standard's ABI as 201.
        let likeness = if result > 200 { result - 201 } else { result };
        (code == 0 && likeness >= 0).then_some(likeness)
    }

    pub fn rank(&self) -> usize {
        self.rank
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether its members are all processes of the program, as far as this one can tell.
    pub fn is_world(&self) -> bool {
        let Constants { comm_world, comm_null, .. } = *self.constants;
        let mut parent = 0;
        // SAFETY: a place to write to.
        let code = unsafe { (self.mpi.fns.MPI_Comm_get_parent)(&mut parent) };
        // Processes that others have started may share files with them.
        let started = code != 0 || self.mpi.abi().clean(parent) != comm_null;
        !started && self.likeness(comm_world).is_some_and(|likeness| likeness <= 2)
    }

    pub fn mpi(&self) -> &'static Mpi {
        self.mpi
    }

    pub fn constants(&self) -> &'static Constants {
        self.constants
    }

    pub fn handle(&self) -> Handle {
        self.handle
    }

    pub fn count_max(&self) -> usize {
        self.count_max
    }

    pub fn split(&self, colour: Option<u32>, key: u32) -> Result<Option<Self>, Error> {
        let mut part = 0;
        let number = colour.map_or(self.constants.undefined, |c| c as c_int & c_int::MAX);
        // SAFETY: our live communicator and a place to write to.
        let code = unsafe {
            (self.mpi.fns.MPI_Comm_split)(self.handle, number, key as c_int & c_int::MAX, &mut part)
        };
        self.mpi.check("MPI_Comm_split", code)?;
        colour.map(|_| Self::adopt(self.mpi, self.constants, part, self.count_max)).transpose()
    }

    pub fn split_by_node(&self) -> Result<Self, Error> {
        let (mut part, key) = (0, c_int::try_from(self.rank).unwrap_or(0));
        let (kind, info) = (self.constants.comm_type_shared, self.constants.info_null);
        // SAFETY: as above.
        let code = unsafe { (self.mpi.fns.MPI_Comm_split_type)(self.handle, kind, key, info, &mut part) };
        self.mpi.check("MPI_Comm_split_type", code)?;
        Self::adopt(self.mpi, self.constants, part, self.count_max)
    }

    pub fn free(mut self) -> Result<(), Error> {
        // SAFETY: ours, and not used again.
        self.mpi.check("MPI_Comm_free", unsafe { (self.mpi.fns.MPI_Comm_free)(&mut self.handle) })
    }

    pub fn barrier(&self, wait: &dyn Wait) -> Result<(), Error> {
        self.run("MPI_Ibarrier", wait, |request| {
            // SAFETY: our live communicator.
            unsafe { (self.mpi.fns.MPI_Ibarrier)(self.handle, request) }
        })
    }

    pub fn broadcast(&self, wait: &dyn Wait, root: usize, bytes: &mut [u8]) -> Result<(), Error> {
        check_rank(root, self.size)?;
        for chunk in bytes.chunks_mut(self.count_max) {
            self.run("MPI_Ibcast", wait, |request| {
                let (data, count) = (chunk.as_mut_ptr().cast(), count(chunk.len()));
                // SAFETY: the buffer is lent until `run` has waited for the request.
                unsafe {
                    (self.mpi.fns.MPI_Ibcast)(
                        data,
                        count,
                        self.constants.byte,
                        root as c_int,
                        self.handle,
                        request,
                    )
                }
            })?;
        }
        Ok(())
    }

    pub fn allreduce(&self, wait: &dyn Wait, op: Reduce, values: &mut [u64]) -> Result<(), Error> {
        let combine = match op {
            Reduce::Min => self.constants.min,
            Reduce::Max => self.constants.max,
            Reduce::Sum => self.constants.sum,
            Reduce::And => self.constants.band,
            Reduce::Or => self.constants.bor,
        };
        // Unsigned minima are wrong in some MPI libraries (MPICH 4.0): numbers are moved to signed ones of the same order.
        let flip = if matches!(op, Reduce::Min | Reduce::Max) { 1 << 63 } else { 0 };
        values.iter_mut().for_each(|v| *v ^= flip);
        for chunk in values.chunks_mut((self.count_max / 8).max(1)) {
            let mine = chunk.to_vec();
            self.run("MPI_Iallreduce", wait, |request| {
                let (from, to, count) = (mine.as_ptr().cast(), chunk.as_mut_ptr().cast(), count(chunk.len()));
                // SAFETY: as in `broadcast`.
                unsafe {
                    (self.mpi.fns.MPI_Iallreduce)(
                        from,
                        to,
                        count,
                        self.constants.int64,
                        combine,
                        self.handle,
                        request,
                    )
                }
            })?;
        }
        values.iter_mut().for_each(|v| *v ^= flip);
        Ok(())
    }

    /// One number from each rank.
    pub fn allgather_number(&self, wait: &dyn Wait, mine: u64) -> Result<Vec<u64>, Error> {
        let (i64s, mut all) = (self.constants.int64, vec![0; self.size]);
        self.run("MPI_Iallgather", wait, |request| {
            let (from, to) = ((&raw const mine).cast(), all.as_mut_ptr().cast());
            // SAFETY: as in `broadcast`; room for one number per rank.
            unsafe { (self.mpi.fns.MPI_Iallgather)(from, 1, i64s, to, 1, i64s, self.handle, request) }
        })?;
        Ok(all)
    }

    /// Bytes from each rank, whose lengths are those of the parts, and fit an `int` together.
    pub fn allgather_short(&self, wait: &dyn Wait, mine: &[u8], all: &mut Parts) -> Result<(), Error> {
        let (counts, places) = layout(all);
        let (byte, data) = (self.constants.byte, address_mut(all.all_mut()));
        self.run("MPI_Iallgatherv", wait, |request| {
            let (from, to, sent) = (address(mine), data, count(mine.len()));
            let (counts, places) = (counts.as_ptr(), places.as_ptr());
            // SAFETY: as in `broadcast`; counts and places describe `all`.
            unsafe {
                (self.mpi.fns.MPI_Iallgatherv)(
                    from,
                    sent,
                    byte,
                    to,
                    counts,
                    places,
                    byte,
                    self.handle,
                    request,
                )
            }
        })
    }

    /// Number `i` goes to rank `i`.
    pub fn alltoall_numbers(&self, wait: &dyn Wait, mine: &[u64]) -> Result<Vec<u64>, Error> {
        let (i64s, mut all) = (self.constants.int64, vec![0; self.size]);
        self.run("MPI_Ialltoall", wait, |request| {
            let (from, to) = (mine.as_ptr().cast(), all.as_mut_ptr().cast());
            // SAFETY: as in `broadcast`; one number per rank on both sides.
            unsafe { (self.mpi.fns.MPI_Ialltoall)(from, 1, i64s, to, 1, i64s, self.handle, request) }
        })?;
        Ok(all)
    }

    /// See [`crate::Transport::exchange`]. All that could be started is waited for, whatever fails: buffers are lent.
    pub fn exchange(
        &self,
        wait: &dyn Wait,
        tag: u16,
        sends: &[Send<'_>],
        receives: &mut [Receive<'_>],
    ) -> Result<(), Error> {
        sends.iter().try_for_each(|s| check_rank(s.to, self.size))?;
        receives.iter().try_for_each(|r| check_rank(r.from, self.size))?;
        let (fns, byte, comm, tag) = (&self.mpi.fns, self.constants.byte, self.handle, c_int::from(tag));
        let (mut requests, mut verdict) = (Vec::new(), Ok(()));
        let mut started = |call, code, request| match self.mpi.check(call, code) {
            Ok(()) => requests.push(request),
            Err(error) if verdict.is_ok() => verdict = Err(error),
            Err(_) => {}
        };
        for receive in receives {
            for chunk in receive.bytes.chunks_mut(self.count_max) {
                let (mut request, data, count) = (0, chunk.as_mut_ptr().cast(), count(chunk.len()));
                // SAFETY: the buffer is lent until all requests have been waited for below.
                let code = unsafe {
                    (fns.MPI_Irecv)(data, count, byte, receive.from as c_int, tag, comm, &mut request)
                };
                started("MPI_Irecv", code, request);
            }
        }
        for send in sends {
            for chunk in send.bytes.chunks(self.count_max) {
                let (mut request, data, count) = (0, chunk.as_ptr().cast(), count(chunk.len()));
                // SAFETY: as above.
                let code =
                    unsafe { (fns.MPI_Isend)(data, count, byte, send.to as c_int, tag, comm, &mut request) };
                started("MPI_Isend", code, request);
            }
        }
        requests
            .into_iter()
            .fold(verdict, |verdict, request| verdict.and(self.finish("MPI_Test", wait, request)))
    }

    /// Lets MPI do what other ranks want from us.
    pub fn progress(&self) -> Result<(), Error> {
        let (any, tag, mut found) = (self.constants.any_source, self.constants.any_tag, 0);
        // SAFETY: our live communicator, a place to write to, and the address that means "no status".
        let code = unsafe {
            (self.mpi.fns.MPI_Iprobe)(
                any,
                tag,
                self.handle,
                &mut found,
                self.constants.status_ignore as *mut c_void,
            )
        };
        self.mpi.check("MPI_Iprobe", code)
    }

    fn run(
        &self,
        call: &'static str,
        wait: &dyn Wait,
        start: impl FnOnce(&mut Handle) -> c_int,
    ) -> Result<(), Error> {
        let mut request = 0;
        self.mpi.check(call, start(&mut request))?;
        self.finish(call, wait, request)
    }

    pub fn finish(&self, call: &'static str, wait: &dyn Wait, mut request: Handle) -> Result<(), Error> {
        let mut patience = Patience::default();
        while !self.test(call, &mut request)? {
            // An error here must not end the loop: MPI still has the buffers.
            let _ = wait.pause(&mut patience);
        }
        Ok(())
    }

    /// Whether a request of ours is done.
    pub fn test(&self, call: &'static str, request: &mut Handle) -> Result<bool, Error> {
        let (mut done, ignore) = (0, self.constants.status_ignore as *mut c_void);
        // SAFETY: a live request of ours, and the address that means "no status".
        self.mpi.check(call, unsafe { (self.mpi.fns.MPI_Test)(request, &mut done, ignore) })?;
        Ok(done != 0)
    }

    fn adopt(
        mpi: &'static Mpi,
        constants: &'static Constants,
        raw: Handle,
        count_max: usize,
    ) -> Result<Self, Error> {
        let handle = mpi.abi().clean(raw);
        // SAFETY: a communicator that MPI has just made for us.
        let code = unsafe { (mpi.fns.MPI_Comm_set_errhandler)(handle, constants.errors_return) };
        mpi.check("MPI_Comm_set_errhandler", code)?;
        let (mut rank, mut size) = (0, 0);
        // SAFETY: as above, with a place to write to.
        mpi.check("MPI_Comm_rank", unsafe { (mpi.fns.MPI_Comm_rank)(handle, &mut rank) })?;
        // SAFETY: as above.
        mpi.check("MPI_Comm_size", unsafe { (mpi.fns.MPI_Comm_size)(handle, &mut size) })?;
        let number = |n: c_int| usize::try_from(n).unwrap_or(0);
        Ok(Self {
            mpi,
            constants,
            handle,
            rank: number(rank),
            size: number(size),
            count_max,
            here: PhantomData,
        })
    }
}

/// Callers keep lengths at or below `count_max`, which fits.
pub fn count(len: usize) -> c_int {
    c_int::try_from(len).unwrap_or(c_int::MAX)
}

fn layout(parts: &Parts) -> (Vec<c_int>, Vec<c_int>) {
    (0..parts.len()).map(|i| parts.range(i)).map(|r| (count(r.len()), count(r.start))).unzip()
}

/// Never the address of an empty `Vec`, which is 1, and means `MPI_IN_PLACE` to some.
fn address(bytes: &[u8]) -> *const c_void {
    static NOTHING: u64 = 0;
    if bytes.is_empty() { (&raw const NOTHING).cast() } else { bytes.as_ptr().cast() }
}

fn address_mut(bytes: &mut [u8]) -> *mut c_void {
    // Nothing is written to no bytes.
    if bytes.is_empty() { address(bytes).cast_mut() } else { bytes.as_mut_ptr().cast() }
}
