//! One file of the file system may be open as several of HDF5's: by two calls that open it, by way of an external link, or again while
//! objects of its first opening are in use. HDF5 keeps them apart, and only the bytes in the file are common to them: what
//! waits in one must be there before another is used.
//!
//! A file that is open already is opened in immediate mode, and so is then the first one, if it has the same ranks. Where the first
//! one has others, or HDF5 opens the second by itself, nobody knows who comes when; there each rank sees to its own bytes.

use super::ahead::Alone;
use super::file::CapturedFile;
use super::open::path_of;
use super::transfer::Call;
use crate::below::{Below, Role, Wrapper};
use crate::state::State;
use sago_hdf5::sys::*;
use sago_hdf5::{Error, Library};
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
/// there is in the file then. Who reads by himself keeps what he gets until he is done.
///
/// # Safety
/// The call's wrappers are live.
pub unsafe fn make_way(call: &Call<'_>, writing: bool) -> Result<Vec<Alone>, Error> {
    let mut others: Vec<Arc<CapturedFile>> = Vec::new();
    for wrapper in call.wrappers {
        // SAFETY: the caller's promise.
        let (inode, own) = match unsafe { Wrapper::role(*wrapper) } {
            Role::Dataset(dataset) if dataset.file.may_have_twins() => {
                (dataset.file.inode, Some(Arc::clone(&dataset.file)))
            }
            Role::Passed(_, inode) => (inode, None),
            _ => continue,
        };
        let its = of_inode(call.library, inode).into_iter();
        others.extend(its.filter(|file| own.as_ref().is_none_or(|own| !Arc::ptr_eq(own, file))));
    }
    match writing {
        true => others.iter().try_for_each(|file| file.settle_alone()).map(|()| Vec::new()),
        false => show(others, !call.is_collective()),
    }
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

/// Lets HDF5 read what waits on this rank in several files. If it reads by this rank `alone`, no other puts older bytes over it as long as
/// the caller has the result; if ranks read together, also if that is only metadata, none may keep the others from the files.
pub fn show(mut files: Vec<Arc<CapturedFile>>, alone: bool) -> Result<Vec<Alone>, Error> {
    if !alone || files.iter().any(|file| file.collective_metadata) {
        return files.iter().try_for_each(|file| file.show()).map(|()| Vec::new());
    }
    // All ranks take files in the same order, and wait for nothing else while they have some.
    files.sort_by_key(|file| (file.inode, file.number));
    files.dedup_by_key(|file| file.number);
    files.iter().try_for_each(|file| file.await_others())?;
    files.iter().map(|file| file.show_while_read()).filter_map(Result::transpose).collect()
}
