//! Capture: writes and collective reads of a program go through Sago's planner and executor instead of HDF5's own
//! raw-data path. The connector's callbacks ask here; what is not captured they hand on, with the reason counted.
//!
//! Two kinds of facts are kept apart. Those that are the same on all ranks (the dataset, the file, the transfer mode)
//! decide whether a call is captured. Those that may differ (the memory's datatype, the selection, a transform) only
//! decide whether this rank's part is: if not, this rank alone writes or reads its part natively and independently,
//! which is as good, since storage is allocated and unfiltered. So no call needs the ranks to agree on how to treat it.

mod ahead;
mod chunks;
mod crew;
mod dataset;
mod facts;
mod file;
mod gather;
mod held;
mod hints;
mod identity;
mod immediate;
mod index;
mod links;
mod open;
mod order;
mod overlap;
mod presence;
mod progress;
mod provoke;
mod reason;
mod record;
mod stream;
mod transfer;
mod twins;
mod window;
mod work;

pub use crew::Crew;
pub use dataset::Dataset;
pub use file::{CapturedFile, Handle};
pub use held::Held;
pub use links::{group_without_name, remove_links};
pub use open::{Gathered, Request, gather};
pub use reason::Reason;
pub use transfer::{Afterwards, Call, read, write};
pub use twins::{make_way, show_beside};

use crate::below::{Below, Role, Wrapper};
use crate::state::State;
use facts::Facts;
use identity::{Identity, name_of};
use links::unlinked;
use sago_exec::contain;
use sago_hdf5::sys::*;
use sago_hdf5::{Error, error};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What a file's wrapper is to know, after the connector below has opened it. Collective over those who open it.
///
/// # Safety
/// `wrapper` is a live wrapper of a file.
pub unsafe fn file_opened(wrapper: *mut c_void, request: &Request<'_>, gathered: Result<Gathered, Reason>) {
    // SAFETY: the caller's promise.
    let (object, below) = unsafe { Wrapper::parts(wrapper) };
    // SAFETY: the object in a file's wrapper is a file.
    let open = AssertUnwindSafe(|| gathered.and_then(|all| unsafe { open::open(request, all, object) }));
    let opened = catch_unwind(open);
    match opened.unwrap_or(Err(Reason::Unknown)) {
        // SAFETY: the caller's promise.
        Ok(file) => unsafe {
            Wrapper::set_role(wrapper, Role::File(Arc::new(Handle::new(file, true))));
        },
        Err(reason) => below.refuse(reason),
    }
}

/// The same for a file that was opened before: `reopened` if the program has got another identifier of it, to be closed
/// like the first one; else HDF5 looks at it for a while.
///
/// # Safety
/// As for [`file_opened`].
pub unsafe fn file_found(wrapper: *mut c_void, reopened: bool) {
    if wrapper.is_null() {
        return;
    }
    // SAFETY: the caller's promise.
    let (object, below) = unsafe { Wrapper::parts(wrapper) };
    let state = State::of(below.library);
    if !state.captures() {
        return;
    }
    // SAFETY: the object in a file's wrapper is a file.
    let Some(file) = unsafe { open::number(&below, object) }.and_then(|number| state.file(number)) else {
        return;
    };
    // SAFETY: the caller's promise.
    unsafe { Wrapper::set_role(wrapper, Role::File(Arc::new(Handle::new(file, reopened)))) };
}

/// How a dataset came to be open.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// By this call, on all ranks, with this access list.
    Created(hid_t),
    /// With this access list.
    Opened(hid_t),
    /// In another way.
    Found,
}

impl Origin {
    /// Whether metadata of the dataset are read by all ranks together.
    fn collective_metadata(self, library: &'static sago_hdf5::Library) -> bool {
        match self {
            Self::Created(list) | Self::Opened(list) => open::collective_metadata(library, list),
            Self::Found => false,
        }
    }
}

/// What a dataset's wrapper is to know. What was held for it, if anything, is let go.
///
/// # Safety
/// `wrapper` is null or a live wrapper of a dataset.
pub unsafe fn dataset_opened(wrapper: *mut c_void, dxpl: hid_t, origin: Origin, held: Option<Held>) {
    let known = if wrapper.is_null() {
        Err(Reason::Unknown)
    } else {
        // SAFETY: the caller's promise.
        unsafe { dataset_known(wrapper, dxpl, origin) }
    };
    let Some(held) = held else { return };
    let created = matches!(origin, Origin::Created(_));
    match known {
        Ok(dataset) => {
            let first = dataset.file.first_seen(dataset.token);
            // Those who created chunks have met; what was open before has had its space since.
            let chunked = dataset.facts().map(|facts| facts.is_chunked());
            let done = if created { chunked == Ok(true) } else { !first };
            held.filled(Some(&dataset), done || chunked == Ok(false));
        }
        // Who looks whether there is a dataset finds that there is none.
        Err(Reason::Unknown) => held.filled(None, wrapper.is_null() && !created),
        // It lies in a file that is not captured.
        Err(_) => {}
    }
}

/// The dataset, if its file is captured.
unsafe fn dataset_known(wrapper: *mut c_void, dxpl: hid_t, origin: Origin) -> Result<Arc<Dataset>, Reason> {
    // SAFETY: the caller's promise.
    let (object, below) = unsafe { Wrapper::parts(wrapper) };
    if !State::of(below.library).captures() || !below.is_native() {
        return Err(Reason::OtherFile);
    }
    // SAFETY: the object in a dataset's wrapper is a dataset.
    let state = AssertUnwindSafe(|| unsafe { dataset_state(&below, object, dxpl, origin) });
    let state = error::quietly(below.library, || catch_unwind(state));
    let state = state.unwrap_or(Err(Reason::Unknown));
    let role = match &state {
        Ok(dataset) => Role::Dataset(Arc::clone(dataset)),
        Err(reason) => {
            // SAFETY: the caller's promise.
            let inode = error::quietly(below.library, || unsafe { twins::inode_below(&below, object) });
            Role::Passed(*reason, inode)
        }
    };
    // SAFETY: the caller's promise.
    unsafe { Wrapper::set_role(wrapper, role) };
    state
}

unsafe fn dataset_state(
    below: &Below,
    object: *mut c_void,
    dxpl: hid_t,
    origin: Origin,
) -> Result<Arc<Dataset>, Reason> {
    let created = matches!(origin, Origin::Created(_));
    // SAFETY: the caller's promise.
    let identity =
        look(|| unsafe { Identity::of(below, object, H5I_type_t_H5I_DATASET) }.ok_or(Reason::Unknown));
    let identity = identity.unwrap_or(Err(Reason::Unknown))?;
    let file = State::of(below.library).file(identity.file);
    let file = file.ok_or(below.refusal().unwrap_or(Reason::OtherFile))?;
    if file.is_recorded() {
        // Without its name the report is poorer, and nothing else.
        let _ = contain(|| {
            // SAFETY: the caller's promise.
            let name = unsafe { name_of(below, object, origin, file.collective_metadata) };
            file.recorded(|record| record.name_dataset(identity.token, name));
            Ok(())
        });
    }
    let together = file.collective_metadata || origin.collective_metadata(below.library);
    if let Some(known) = file.known_dataset(&identity.token, together)
        && !created
    {
        return Ok(known);
    }
    // SAFETY: the caller's promise.
    let found = unsafe { look_up("look-up", below, object, dxpl, &file, together) };
    let facts = found.unwrap_or_else(|why| {
        if created {
            // The others may meet now, or not; after the dataset was merely opened, all is still open.
            let _ = file.abandon(false, &unseen(&why));
        }
        Err(Reason::Unseen)
    });
    if created && facts.as_ref().is_ok_and(Facts::is_chunked) {
        // HDF5 lets a rank go while another still writes fill values into chunks. If the ranks have lost each other, later calls
        // say so.
        let _ = file.meet();
    }
    // SAFETY: the caller's promise.
    unsafe { awaken(&file, &facts, below, object, dxpl) };
    let dataset = Arc::new(Dataset::new(Arc::clone(&file), identity.token, together, facts));
    if identity.links == 0 {
        unlinked(&file, &dataset);
    }
    file.remember(&dataset);
    Ok(dataset)
}

/// Looks twice if it must: a panic, or an error of HDF5's, need not happen on all ranks, and the others go by what they have
/// found. What HDF5 refuses twice is taken for a fact of the dataset, the same on all; after a second panic, nobody knows.
fn look<T>(look: impl Fn() -> Result<T, Reason>) -> Result<Result<T, Reason>, sago_exec::Error> {
    match contain(|| Ok(look())) {
        Err(_) | Ok(Err(Reason::Unknown)) => contain(|| Ok(look())),
        found => found,
    }
}

/// # Safety
/// As for [`Facts::look_up`].
unsafe fn look_up(
    place: &'static str,
    below: &Below,
    object: *mut c_void,
    dxpl: hid_t,
    file: &CapturedFile,
    together: bool,
) -> Result<Result<Facts, Reason>, sago_exec::Error> {
    look(|| {
        provoke::point(place);
        // SAFETY: the caller's promise.
        let facts = unsafe { Facts::look_up(below, object, dxpl, together) }?;
        if file.chunks_misplaced && facts.is_chunked() { Err(Reason::UserBlock) } else { Ok(facts) }
    })
}

/// Before a dataset is written or read: what this rank could not find out before, without the others; or why it cannot.
///
/// # Safety
/// As for [`find_links`].
unsafe fn look_again(dataset: &Dataset, below: &Below, object: *mut c_void) -> Option<String> {
    if !dataset.is_unseen() {
        return None;
    }
    let dxpl = State::of(below.library).default_transfer_list();
    error::quietly(below.library, || {
        // SAFETY: the caller's promise.
        match unsafe { look_up("look-up", below, object, dxpl, &dataset.file, dataset.together) } {
            Ok(facts) => {
                // SAFETY: as above.
                unsafe { awaken(&dataset.file, &facts, below, object, dxpl) };
                dataset.set_facts(facts);
                None
            }
            Err(why) => Some(unseen(&why)),
        }
    })
}

fn unseen(why: &sago_exec::Error) -> String {
    format!("{}: {why}", Reason::Unseen)
}

/// Sees to it, before the first dataset is captured, that HDF5 can close files by itself.
///
/// # Safety
/// As for [`Facts::awaken`].
unsafe fn awaken(
    file: &CapturedFile,
    facts: &Result<Facts, Reason>,
    below: &Below,
    object: *mut c_void,
    dxpl: hid_t,
) {
    if file.writable && facts.is_ok() && State::of(below.library).first_capture() {
        // A rank that cannot does no worse than without us, and must not differ from the others.
        // SAFETY: the caller's promise.
        let _ = look(|| unsafe { Facts::awaken(below, object, dxpl) });
    }
}

/// After the extent of a dataset has changed. Collective.
///
/// # Safety
/// `object` is an open dataset of the connector below.
pub unsafe fn extent_changed(
    dataset: &Dataset,
    below: &Below,
    object: *mut c_void,
    dxpl: hid_t,
) -> Result<(), Error> {
    // SAFETY: the caller's promise.
    let look = || unsafe { look_up("extent", below, object, dxpl, &dataset.file, dataset.together) };
    dataset.set_facts(error::quietly(below.library, look).unwrap_or(Err(Reason::Unseen)));
    // HDF5 reads metadata by all ranks together now, and not all need have handles of the other kind.
    if let Some(other) = dataset.file.known_dataset(&dataset.token, !dataset.together) {
        other.set_facts(Err(Reason::Unseen));
    }
    // As after a creation: others may still write fill values.
    dataset.file.meet()
}

/// The captured file that an object lies in.
///
/// # Safety
/// `wrapper` is a live wrapper of an object of this type.
pub unsafe fn file_of(wrapper: *const c_void, kind: H5I_type_t) -> Option<Arc<CapturedFile>> {
    // SAFETY: the caller's promise.
    match unsafe { Wrapper::role(wrapper) } {
        Role::File(handle) => return Some(Arc::clone(handle.file())),
        Role::Dataset(dataset) => return Some(Arc::clone(&dataset.file)),
        Role::Passed(..) | Role::None => {}
    }
    // SAFETY: the caller's promise.
    let (object, below) = unsafe { Wrapper::parts(wrapper) };
    if !State::of(below.library).captures() || !below.is_native() {
        return None;
    }
    // SAFETY: the caller's promise.
    let identity = error::quietly(below.library, || unsafe { Identity::of(&below, object, kind) })?;
    State::of(below.library).file(identity.file)
}

/// Before an operation that looks at, or changes, what lies in a file, or in one that is linked to it or mounted in it:
/// carries out what waits for all files of the same ranks, and on this rank for those of others that are mounted. Collective.
pub fn settle_all(file: &CapturedFile) -> Result<(), Error> {
    settle_each(file, |_| true, false)
}

/// Before a flush: the same, but what cannot be carried out of a file that is not flushed is told by its own calls. Collective.
pub fn settle_flushed(file: &CapturedFile) -> Result<(), Error> {
    settle_each(file, |other| reaches(file, other), false)
}

/// Whether names that begin in a file may lead into another one of the same ranks, or it is the same: by a mount.
fn reaches(file: &CapturedFile, other: &CapturedFile) -> bool {
    other.number == file.number || other.is_mounted()
}

/// All of them, whatever becomes of one; the first error of those that `count`. If this rank or another has `failed`, or does so by itself,
/// all fail.
fn settle_each(
    file: &CapturedFile,
    count: impl Fn(&CapturedFile) -> bool,
    failed: bool,
) -> Result<(), Error> {
    // Before the ranks of this file meet, so that each has done so before any of them goes on.
    let failed =
        mounted_beside(file).iter().fold(failed, |failed, other| other.settle_alone().is_err() || failed);
    let mut settled = Ok(());
    for other in companions(file) {
        let here = other.number == file.number && other.writable;
        let its = if here { other.settle_unless(failed) } else { other.settle() };
        settled = settled.and(if count(&other) { its } else { Ok(()) });
    }
    settled
}

/// The files that are open and that the same ranks have opened.
fn companions(file: &CapturedFile) -> Vec<Arc<CapturedFile>> {
    State::of(file.library).files().into_iter().filter(|other| other.group == file.group).collect()
}

/// The files of other ranks that are mounted somewhere.
fn mounted_beside(file: &CapturedFile) -> Vec<Arc<CapturedFile>> {
    let mut files = State::of(file.library).files();
    files.retain(|other| other.group != file.group && other.is_mounted());
    files
}

/// Before an object is copied, by the ranks that have opened the target: all that the source may reach, by mounts or links, is in the
/// files. As long as the caller has the result, what this rank wrote is not undone by another; not where several ranks
/// make the copy, since one of them could wait for another that waits for it. Nor does a failure keep one of them away.
///
/// # Safety
/// A live wrapper of an object of this type.
pub unsafe fn before_copy(
    target: *const c_void,
    kind: H5I_type_t,
) -> Result<(Vec<ahead::Alone>, twins::Late), Error> {
    // SAFETY: the caller's promise.
    let (to, below) = unsafe { (file_of(target, kind), Wrapper::parts(target).1) };
    let mut others = State::of(below.library).files();
    others.retain(|file| to.as_ref().is_none_or(|to| to.group != file.group));
    let by_one = match &to {
        Some(to) => to.is_of_one_rank(),
        None => below.refusal() == Some(Reason::NotMpio),
    };
    if by_one {
        to.as_ref().map_or(Ok(()), |to| settle_all(to))?;
        return Ok((twins::hold(others)?, twins::Late::default()));
    }
    let shown = others.iter().map(|file| file.show()).fold(Ok(()), Result::and);
    match to {
        // All of them hear of it.
        Some(to) => settle_each(&to, |_| true, shown.is_err()).map(|()| Default::default()),
        None => Ok((Vec::new(), twins::Late::of(shown))),
    }
}

/// Whether an optional operation writes or reads a chunk as it is.
pub fn moves_chunks(args: &H5VL_optional_args_t) -> Option<bool> {
    match args.op_type as u32 {
        H5VL_NATIVE_DATASET_CHUNK_READ => Some(false),
        H5VL_NATIVE_DATASET_CHUNK_WRITE => Some(true),
        _ => None,
    }
}

/// Before an optional operation on a dataset, if it moves raw data past us: by this rank alone, or by all. What follows it.
///
/// # Safety
/// `args` are those of an operation on this dataset.
pub unsafe fn before_optional(
    dataset: &Dataset,
    args: *const H5VL_optional_args_t,
    dxpl: hid_t,
) -> Result<Afterwards, Error> {
    // SAFETY: the caller's promise.
    let (operation, args) = unsafe { (moves_chunks(&*args), (*args).args) };
    let Some(writes) = operation else { return Ok(Afterwards::Nothing) };
    if transfer::is_collective(dataset.file.library, dxpl) {
        dataset.file.settle()?;
        if writes {
            dataset.file.leave_to_hdf5();
        }
        return Ok(Afterwards::Nothing);
    }
    if writes {
        // SAFETY: the caller's promise.
        return unsafe { before_chunk_write(dataset, args) };
    }
    dataset.file.show_while_read().map(|alone| Afterwards::LetGo(alone.into_iter().collect()))
}

/// # Safety
/// `args` are those of writing a chunk.
unsafe fn before_chunk_write(dataset: &Dataset, args: *const c_void) -> Result<Afterwards, Error> {
    let file = &dataset.file;
    let chunk = match dataset.facts() {
        Err(reason) if reason.is_without_waiting() || reason == Reason::Closed => {
            return Ok(Afterwards::Nothing);
        }
        Err(_) => None,
        Ok(facts) => {
            // SAFETY: the caller's promise; there are as many numbers as the dataset has dimensions.
            let (first, bytes) = unsafe {
                let (first, bytes) = chunk_written(file.library, args);
                (std::slice::from_raw_parts(first, facts.rank()), bytes)
            };
            // HDF5 writes so many bytes, whatever the chunk's size is.
            facts.chunk_at(first).filter(|chunk| chunk.bytes() == bytes)
        }
    };
    let runs = chunk.map(|chunk| vec![chunk]);
    let (fits, alone) = file.make_way(false, runs.as_deref())?;
    Ok(Afterwards::of_left(file, runs.filter(|_| fits), false, alone))
}

/// The first element of the chunk that is written, and how many bytes. HDF5 1.14 has the second in another place.
///
/// # Safety
/// `args` are those of writing a chunk.
unsafe fn chunk_written(library: &sago_hdf5::Library, args: *const c_void) -> (*const hsize_t, u64) {
    #[repr(C)]
    struct Before2 {
        offset: *const hsize_t,
        filters: u32,
        size: u32,
        buffer: *const c_void,
    }
    // SAFETY: the caller's promise.
    unsafe {
        if library.version() < (2, 0, 0) {
            let args = args.cast::<Before2>();
            ((*args).offset, u64::from((*args).size))
        } else {
            let args = args.cast::<H5VL_native_dataset_chunk_write_t>();
            ((*args).offset, (*args).size as u64)
        }
    }
}
