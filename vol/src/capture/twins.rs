//! One file of the file system may be open as several of HDF5's: by two calls that open it, by way of an external link, or again while
//! objects of its first opening are in use. HDF5 keeps them apart, and only the bytes in the file are common to them: what
//! waits in one must be there before another is used.
//!
//! A file that is open already is opened in immediate mode, and so is then the first one, if it has the same ranks. Where the first
//! one has others, or HDF5 opens the second by itself, nobody knows who comes when; there each rank sees to its own bytes.

use super::ahead::Alone;
use super::file::CapturedFile;
use super::open::path_of;
use super::reason::Reason;
use super::transfer::is_collective;
use crate::below::{Below, Role, Wrapper};
use crate::state::State;
use sago_hdf5::sys::*;
use sago_hdf5::{Error, Library, error};
use sago_storage::Inode;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::Arc;

/// The file that a dataset lies in, which is not captured.
///
/// # Safety
/// `object` is an open dataset of the connector below.
pub unsafe fn inode_below(below: &Below, object: *mut c_void) -> Option<Inode> {
    let (mut buffer, mut len) = (vec![0_u8; libc::PATH_MAX as usize], 0_usize);
    let mut args = H5VL_file_get_args_t {
        op_type: H5VL_file_get_t_H5VL_FILE_GET_NAME,
        // SAFETY: plain numbers and pointers, for which zero is a value; those that are used are set below.
        args: unsafe { std::mem::zeroed() },
    };
    args.args.get_name = H5VL_file_get_name_args_t {
        type_: H5I_type_t_H5I_DATASET,
        buf_size: buffer.len(),
        buf: buffer.as_mut_ptr().cast(),
        file_name_len: &mut len,
    };
    // SAFETY: the caller's promise, and arguments as the operation wants them.
    let code = unsafe { below.class().file_cls.get?(object, &mut args, H5P_DEFAULT, ptr::null_mut()) };
    let name = CStr::from_bytes_until_nul(&buffer).ok()?.to_str().ok()?;
    path_of(name).filter(|_| code >= 0).and_then(|path| Inode::of(&path).ok())
}

/// The captured files that are open on the same one.
pub fn of_inode(library: &Library, inode: Option<Inode>) -> Vec<Arc<CapturedFile>> {
    let mut files = State::of(library).files();
    files.retain(|file| inode.is_some() && file.inode == inode);
    files
}

/// Before HDF5, or a file of ours, transfers bytes of datasets whose files may be open in another way, too: what this rank has written
/// there is in the file then. Where ranks come together no failure keeps one of them away: it is told when they are done.
///
/// # Safety
/// The wrappers are live ones of datasets of this library.
pub unsafe fn make_way(
    library: &'static Library,
    wrappers: &[*mut c_void],
    dxpl: hid_t,
    writing: bool,
) -> Result<Late, Error> {
    let mut others: Vec<Arc<CapturedFile>> = Vec::new();
    for wrapper in wrappers {
        // SAFETY: the caller's promise.
        let (inode, own) = match unsafe { Wrapper::role(*wrapper) } {
            Role::Dataset(dataset) if dataset.file.may_have_twins() => {
                (dataset.file.inode, Some(Arc::clone(&dataset.file)))
            }
            Role::Passed(_, inode) => (inode, None),
            // SAFETY: the caller's promise.
            Role::None if State::of(library).captures() => (unsafe { look_late(*wrapper) }, None),
            _ => continue,
        };
        let its = of_inode(library, inode).into_iter();
        others.extend(its.filter(|file| own.as_ref().is_none_or(|own| !Arc::ptr_eq(own, file))));
    }
    if others.is_empty() {
        return Ok(Late::default());
    }
    let see_to = |file: &Arc<CapturedFile>| if writing { file.settle_alone() } else { file.show() };
    let seen_to = others.iter().map(see_to).fold(Ok(()), Result::and);
    if is_collective(library, dxpl) { Ok(Late(seen_to)) } else { seen_to.map(|()| Late::default()) }
}

/// A failure to be told after a call.
#[must_use]
pub struct Late(Result<(), Error>);

impl Default for Late {
    fn default() -> Self {
        Self(Ok(()))
    }
}

impl Late {
    pub fn of(result: Result<(), Error>) -> Self {
        Self(result)
    }

    /// What becomes of a call that said this.
    pub fn follow(self, code: herr_t) -> Result<herr_t, Error> {
        if code < 0 { Ok(code) } else { self.0.map(|()| code) }
    }
}

/// The file of a dataset that was opened before any was captured.
///
/// # Safety
/// `wrapper` is a live wrapper of a dataset.
unsafe fn look_late(wrapper: *mut c_void) -> Option<Inode> {
    // SAFETY: the caller's promise.
    let (object, below) = unsafe { Wrapper::parts(wrapper) };
    // SAFETY: the object in a dataset's wrapper is a dataset.
    let inode = error::quietly(below.library, || unsafe { inode_below(&below, object) });
    if inode.is_some() {
        let reason = below.refusal().unwrap_or(Reason::OtherFile);
        // SAFETY: the caller's promise.
        unsafe { Wrapper::set_role(wrapper, Role::Passed(reason, inode)) };
    }
    inode
}

/// Before HDF5 reads all of a file: what waits on this rank where it is open in another way.
pub fn show_beside(file: &Arc<CapturedFile>) -> Result<(), Error> {
    let mut others = if file.may_have_twins() { of_inode(file.library, file.inode) } else { Vec::new() };
    others.retain(|other| !Arc::ptr_eq(other, file));
    others.iter().try_for_each(|other| other.show())
}

/// Before a file is opened: those of the same ranks that are open on the same one have nothing waiting from now on. Whether there are any
/// on this rank, of whatever ranks. Collective.
pub fn meet(library: &Library, name: &str, group: u64, writable: bool) -> bool {
    if !State::of(library).captures() {
        return false;
    }
    let mut others = of_inode(library, path_of(name).and_then(|path| Inode::of(&path).ok()));
    others.retain(|file| file.writable || writable);
    for file in &others {
        file.set_twins();
        // What cannot be carried out now waits on, and is told by the calls that follow.
        if file.group == group && file.settle().is_ok() {
            file.set_immediate();
        }
    }
    !others.is_empty()
}

/// Lets HDF5 read what waits on this rank in several files: as long as the caller has the result, no other rank puts older bytes over it.
/// All ranks take files in the same order, have none before, and wait for nothing else while they have some.
pub fn hold(mut files: Vec<Arc<CapturedFile>>) -> Result<Vec<Alone>, Error> {
    if files.iter().any(|file| file.collective_metadata) {
        // Others may be needed to read the metadata.
        return files.iter().try_for_each(|file| file.show()).map(|()| Vec::new());
    }
    files.sort_by_key(|file| (file.inode, file.number));
    files.dedup_by_key(|file| file.number);
    files.iter().try_for_each(|file| file.await_others())?;
    files.iter().map(|file| file.show_while_read()).filter_map(Result::transpose).collect()
}
