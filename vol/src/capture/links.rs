//! Datasets without links lose their storage when they are closed: what is written to them must not wait.

use super::{companions, file_of, look, mounted_beside, reaches, settle_all};
use crate::below::{Below, Wrapper};
use crate::capture::dataset::{Dataset, Links};
use crate::capture::file::CapturedFile;
use crate::capture::identity::Identity;
use crate::capture::reason::Reason;
use sago_exec::contain;
use sago_hdf5::sys::*;
use sago_hdf5::{Error, error};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

/// An operation that may remove the last link to an object: before it, what waits is carried out; after it, datasets
/// that have lost theirs are known. A group that is open takes its datasets with it when it is closed, which ranks do by themselves:
/// so if a rank has one open, no write waits any more. (Whether the link is one to a group cannot be asked: that would run
/// callbacks of user-defined links.) Collective.
///
/// # Safety
/// `wrapper` is a live wrapper of an object of this type.
pub unsafe fn remove_links(
    wrapper: *const c_void,
    kind: H5I_type_t,
    remove: impl FnOnce() -> herr_t,
) -> Result<herr_t, Error> {
    // SAFETY: the caller's promise.
    let Some(file) = (unsafe { file_of(wrapper, kind) }) else { return Ok(remove()) };
    // SAFETY: the caller's promise.
    let groups =
        unsafe { has_groups(wrapper, kind) } || companions(&file).iter().any(|file| file.is_mounted());
    let [groups] = file.settle_and_tell([groups])?;
    settle_all(&file)?;
    let code = remove();
    let beside = mounted_beside(&file).into_iter().filter(|other| !other.collective_metadata);
    links_removed(companions(&file).into_iter().chain(beside));
    if groups && code >= 0 {
        companions(&file)
            .iter()
            .filter(|other| reaches(&file, other))
            .for_each(|other| other.set_immediate());
    }
    Ok(code)
}

/// Whether this rank has groups open in the file that an object lies in, as far as can be told.
///
/// # Safety
/// As for [`remove_links`].
unsafe fn has_groups(wrapper: *const c_void, kind: H5I_type_t) -> bool {
    if kind != H5I_type_t_H5I_FILE {
        return true;
    }
    // SAFETY: the caller's promise.
    let (object, below) = unsafe { Wrapper::parts(wrapper) };
    let mut count = 0;
    let mut args = H5VL_file_get_args_t {
        op_type: H5VL_file_get_t_H5VL_FILE_GET_OBJ_COUNT,
        // SAFETY: plain numbers and pointers, for which zero is a value; those that are used are set below.
        args: unsafe { std::mem::zeroed() },
    };
    args.args.get_obj_count.types = H5F_OBJ_GROUP;
    args.args.get_obj_count.count = &mut count;
    let Some(get) = below.class().file_cls.get else { return true };
    let ask = || {
        // SAFETY: the caller's promise, and arguments as the operation wants them.
        let code = unsafe { get(object, &mut args, H5P_DEFAULT, ptr::null_mut()) };
        Ok(code < 0)
    };
    error::quietly(below.library, || contain(ask)).unwrap_or(true) || count > 0
}

/// After links or references have gone: datasets that are open but have none left lose their storage when they are
/// closed, so their writes must not wait. Which they are is asked when they are next used: while HDF5 removes a link it
/// reads metadata by all ranks together, and not all need have the same datasets open.
fn links_removed(files: impl IntoIterator<Item = Arc<CapturedFile>>) {
    for file in files {
        if file.collective_metadata {
            // It could never be asked.
            file.set_immediate();
        } else {
            file.open_datasets().iter().for_each(|dataset| dataset.set_links(Links::Perhaps));
        }
    }
}

/// A dataset has been created, or found, that has no link: as after its last one has been removed. Where that cannot be asked later,
/// nothing of the file waits any more. Collective there.
pub(super) fn unlinked(file: &CapturedFile, dataset: &Dataset) {
    if file.collective_metadata {
        nothing_waits(file);
    } else {
        dataset.set_links(Links::Perhaps);
    }
}

/// A group has been created that has no name: unless it gets one, it takes its datasets along when it is closed, which ranks do by
/// themselves. So nothing of its file waits any more. Collective.
///
/// # Safety
/// `wrapper` is a live wrapper of a group.
pub unsafe fn group_without_name(wrapper: *const c_void) {
    let settle = AssertUnwindSafe(|| {
        // SAFETY: the caller's promise.
        let file = unsafe { file_of(wrapper, H5I_type_t_H5I_GROUP) };
        file.iter().for_each(|file| nothing_waits(file));
    });
    // A rank that fails here is told so by the calls that follow.
    let _ = catch_unwind(settle);
}

/// From now on nothing of a file waits. Collective.
fn nothing_waits(file: &CapturedFile) {
    // What cannot be carried out now waits on, and is told by the calls that follow.
    if file.settle().is_ok() {
        file.set_immediate();
    }
}

/// Before a dataset is written or read: whether it has lost its last link.
///
/// # Safety
/// `object` is an open dataset of the native connector `below`, the one that `dataset` stands for.
pub(super) unsafe fn find_links(dataset: &Dataset, below: &Below, object: *mut c_void) {
    if dataset.links() == Links::Some || dataset.file.collective_metadata {
        return;
    }
    // SAFETY: the caller's promise.
    let ask = || unsafe { Identity::of(below, object, H5I_type_t_H5I_DATASET) }.ok_or(Reason::Unknown);
    let found = error::quietly(below.library, || look(ask));
    let none = !matches!(found, Ok(Ok(identity)) if identity.links > 0);
    dataset.set_links(if none { Links::None } else { Links::Some });
}
