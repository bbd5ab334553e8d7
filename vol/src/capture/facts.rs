//! What must be known of a dataset to capture its writes, looked up when it is created, opened or given a new extent, and
//! never while it is written: a look-up may be a collective operation, and a write need not be one.

use super::chunks::Chunks;
use super::reason::Reason;
use crate::below::Below;
use sago_core::extent::{Run, RunList};
use sago_hdf5::handle::PropertyList;
use sago_hdf5::kind::Kind;
use sago_hdf5::space::{self, Space};
use sago_hdf5::sys::*;
use sago_hdf5::{Error, Library};
use std::ffi::{c_int, c_uint, c_void};
use std::ops::Range;

/// Of a dataset that can be captured. The same on all ranks.
#[derive(Debug)]
pub struct Facts {
    pub element_bytes: u64,
    pub dims: Vec<u64>,
    pub place: Place,
    /// Of all elements.
    pub bytes: u64,
}

/// Where the elements are in the file.
#[derive(Debug)]
pub enum Place {
    /// One after the other from here on.
    At(u64),
    Chunks(Chunks),
}

impl Facts {
    /// `together`: its metadata are read by all ranks together. Then nothing is asked that is not in memory.
    ///
    /// # Safety
    /// `object` is an open dataset of the native connector `below`.
    pub unsafe fn look_up(
        below: &Below,
        object: *mut c_void,
        dxpl: hid_t,
        together: bool,
    ) -> Result<Self, Reason> {
        let dataset = Native { below, object, dxpl };
        // SAFETY: promised by the caller; holds for all that follow.
        unsafe {
            let dcpl = dataset.creation_list()?;
            let chunk = layout(below.library, &dcpl)?;
            // A rank that wrote its part by itself would look chunks up, for which HDF5 then needs all ranks.
            if chunk.is_some() && together {
                return Err(Reason::CollectiveMetadata);
            }
            if dataset.status()? != H5D_space_status_t_H5D_SPACE_STATUS_ALLOCATED {
                return Err(Reason::NotAllocated);
            }
            let kind = dataset.kind()?;
            if !kind.is_plain() {
                return Err(Reason::NotPlain);
            }
            let dims = dataset.dims()?;
            let element_bytes = kind.bytes() as u64;
            let bytes = dims.iter().try_fold(element_bytes, |all, dim| all.checked_mul(*dim));
            let bytes = bytes.ok_or(Reason::Unknown)?;
            let place = match chunk {
                None => Place::At(dataset.offset()?),
                Some(chunk) => {
                    let found = dataset.chunks(dims.len())?;
                    let chunks = Chunks::new(&dims, &chunk, element_bytes, &found);
                    Place::Chunks(chunks.ok_or(Reason::NotAllocated)?)
                }
            };
            Ok(Self { element_bytes, dims, place, bytes })
        }
    }

    /// The datatype of a dataset's elements. It is not kept: an identifier that the program did not make shows when it
    /// counts what is open.
    ///
    /// # Safety
    /// `object` is an open dataset of the native connector `below`.
    pub unsafe fn kind(below: &Below, object: *mut c_void, dxpl: hid_t) -> Result<Kind, Reason> {
        // SAFETY: the caller's promise.
        unsafe { Native { below, object, dxpl }.kind() }
    }

    /// Lets HDF5 write nothing, independently. If it has to close files by itself when the program ends, it loses their
    /// metadata unless a part of it that reads and writes was in use before (1.14.5, 2.2.0): so it is used once.
    ///
    /// # Safety
    /// As for [`Facts::kind`].
    pub unsafe fn awaken(below: &Below, object: *mut c_void, dxpl: hid_t) -> Result<(), Reason> {
        // SAFETY: the caller's promise.
        unsafe { Native { below, object, dxpl }.write_nothing() }
    }

    /// How many elements a dataset has.
    ///
    /// # Safety
    /// As for [`Facts::kind`].
    pub unsafe fn points_of(below: &Below, object: *mut c_void, dxpl: hid_t) -> Option<u64> {
        // SAFETY: the caller's promise.
        let space = unsafe { Native { below, object, dxpl }.space() }.ok()?;
        space::points(below.library, space.id()).ok()
    }

    pub fn is_chunked(&self) -> bool {
        matches!(self.place, Place::Chunks(_))
    }

    /// Where all elements are, if they are in one place.
    pub fn range(&self) -> Option<Range<u64>> {
        match self.place {
            Place::At(start) => Some(start..start + self.bytes),
            Place::Chunks(_) => None,
        }
    }

    pub fn points(&self) -> u64 {
        self.dims.iter().product()
    }

    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The chunk that begins with this element.
    pub fn chunk_at(&self, first: &[u64]) -> Option<Run> {
        match &self.place {
            Place::At(_) => None,
            Place::Chunks(chunks) => chunks.chunk_at(first).map(Run::from),
        }
    }

    /// Where a part of each selected element lies in the file, in the order of the selection. No space: all elements.
    pub fn runs(
        &self,
        library: &Library,
        file_space: Option<hid_t>,
        offset: u64,
        len: u64,
    ) -> Result<Vec<Run>, Error> {
        let elements = |unit, base| match file_space {
            Some(space) => space::runs(library, space, unit, base),
            None if self.points() == 0 => Ok(Vec::new()),
            None => Ok(vec![Run::contiguous(base, self.points() * unit)]),
        };
        let whole = len == self.element_bytes;
        match &self.place {
            Place::At(start) if whole => elements(self.element_bytes, *start),
            Place::At(start) => {
                let mut list = RunList::new();
                for run in elements(self.element_bytes, *start)? {
                    self.part_of(run, offset, len, &mut list);
                }
                Ok(list.into_vec())
            }
            Place::Chunks(chunks) => {
                let mut list = RunList::new();
                for block in elements(1, 0)?.into_iter().flat_map(Run::blocks) {
                    chunks.extents(block.file, block.len, |extent| {
                        if whole {
                            list.push(extent)
                        } else {
                            self.part_of(extent.into(), offset, len, &mut list)
                        }
                    });
                }
                Ok(list.into_vec())
            }
        }
    }

    /// The same part of each element of a run of whole elements.
    fn part_of(&self, run: Run, offset: u64, len: u64, list: &mut RunList) {
        let per_block = run.len() / self.element_bytes;
        let single = per_block == 1 && !run.is_contiguous();
        if single {
            Run::strided(run.offset() + offset, len, run.stride(), run.count())
                .into_iter()
                .for_each(|run| list.push_run(run));
            return;
        }
        for block in run.blocks() {
            Run::strided(block.file + offset, len, self.element_bytes, per_block)
                .into_iter()
                .for_each(|run| list.push_run(run));
        }
    }

    /// Whether a program's data space for the file has the extent of the dataset.
    pub fn fits(&self, library: &Library, file_space: hid_t) -> bool {
        space::dims(library, file_space).is_ok_and(|dims| dims == self.dims)
    }
}

/// The shape of its chunks, none where it is contiguous.
fn layout(library: &Library, dcpl: &PropertyList) -> Result<Option<Vec<u64>>, Reason> {
    let fns = &library.fns;
    // SAFETY: an identifier of ours.
    let (layout, filters, external) = unsafe {
        (
            (fns.H5Pget_layout)(dcpl.id()),
            (fns.H5Pget_nfilters)(dcpl.id()),
            (fns.H5Pget_external_count)(dcpl.id()),
        )
    };
    #[allow(non_upper_case_globals)]
    match layout {
        H5D_layout_t_H5D_CONTIGUOUS if external != 0 => Err(Reason::External),
        H5D_layout_t_H5D_CONTIGUOUS => Ok(None),
        H5D_layout_t_H5D_CHUNKED if filters != 0 => Err(Reason::Filter),
        H5D_layout_t_H5D_CHUNKED => {
            let mut chunk = vec![0; H5S_MAX_RANK as usize];
            // SAFETY: room for as many dimensions as there can be.
            let rank = unsafe { (fns.H5Pget_chunk)(dcpl.id(), chunk.len() as c_int, chunk.as_mut_ptr()) };
            chunk.truncate(usize::try_from(rank).map_err(|_| Reason::Unknown)?);
            Ok(Some(chunk))
        }
        H5D_layout_t_H5D_COMPACT => Err(Reason::Compact),
        H5D_layout_t_H5D_VIRTUAL => Err(Reason::Virtual),
        _ => Err(Reason::Unknown),
    }
}

/// A dataset of the native connector, to be asked through its class table.
struct Native<'b> {
    below: &'b Below,
    object: *mut c_void,
    dxpl: hid_t,
}

impl Native<'_> {
    unsafe fn get(&self, args: &mut H5VL_dataset_get_args_t) -> Result<(), Reason> {
        let get = self.below.class().dataset_cls.get.ok_or(Reason::Unknown)?;
        // SAFETY: an open dataset, and arguments whose operation says which member of the union is there.
        match unsafe { get(self.object, args, self.dxpl, std::ptr::null_mut()) } {
            code if code >= 0 => Ok(()),
            _ => Err(Reason::Unknown),
        }
    }

    unsafe fn creation_list(&self) -> Result<PropertyList, Reason> {
        let mut args = H5VL_dataset_get_args_t {
            op_type: H5VL_dataset_get_t_H5VL_DATASET_GET_DCPL,
            args: H5VL_dataset_get_args_t__bindgen_ty_1 {
                get_dcpl: H5VL_dataset_get_args_t__bindgen_ty_1__bindgen_ty_2 { dcpl_id: -1 },
            },
        };
        // SAFETY: see `get`.
        let id = unsafe {
            self.get(&mut args)?;
            args.args.get_dcpl.dcpl_id
        };
        PropertyList::adopt(self.below.library, id).map_err(|_| Reason::Unknown)
    }

    unsafe fn kind(&self) -> Result<Kind, Reason> {
        let mut args = H5VL_dataset_get_args_t {
            op_type: H5VL_dataset_get_t_H5VL_DATASET_GET_TYPE,
            args: H5VL_dataset_get_args_t__bindgen_ty_1 {
                get_type: H5VL_dataset_get_args_t__bindgen_ty_1__bindgen_ty_6 { type_id: -1 },
            },
        };
        // SAFETY: see `get`.
        let id = unsafe {
            self.get(&mut args)?;
            args.args.get_type.type_id
        };
        Kind::adopt(self.below.library, id).map_err(|_| Reason::Unknown)
    }

    unsafe fn dims(&self) -> Result<Vec<u64>, Reason> {
        // SAFETY: the caller's promise.
        let space = unsafe { self.space() }?;
        if space.is_null() {
            return Err(Reason::NoSpace);
        }
        space::dims(self.below.library, space.id()).map_err(|_| Reason::Unknown)
    }

    unsafe fn space(&self) -> Result<Space, Reason> {
        let mut args = H5VL_dataset_get_args_t {
            op_type: H5VL_dataset_get_t_H5VL_DATASET_GET_SPACE,
            args: H5VL_dataset_get_args_t__bindgen_ty_1 {
                get_space: H5VL_dataset_get_args_t__bindgen_ty_1__bindgen_ty_3 { space_id: -1 },
            },
        };
        // SAFETY: see `get`.
        let id = unsafe {
            self.get(&mut args)?;
            args.args.get_space.space_id
        };
        Space::adopt(self.below.library, id).map_err(|_| Reason::Unknown)
    }

    unsafe fn write_nothing(&self) -> Result<(), Reason> {
        let write = self.below.class().dataset_cls.write.ok_or(Reason::Unknown)?;
        // SAFETY: the caller's promise.
        let (space, kind) = unsafe { (self.space()?, self.kind()?) };
        space.select_none().map_err(|_| Reason::Unknown)?;
        let (mut object, mut kind, mut id) = (self.object, kind.id(), space.id());
        let (mut memory, mut buffer) = (id, std::ptr::null());
        // SAFETY: arrays of one dataset, no element of which is selected.
        let code = unsafe {
            let nothing = std::ptr::null_mut();
            write(1, &mut object, &mut kind, &mut memory, &mut id, self.dxpl, &mut buffer, nothing)
        };
        if code >= 0 { Ok(()) } else { Err(Reason::Unknown) }
    }

    unsafe fn status(&self) -> Result<H5D_space_status_t, Reason> {
        let mut status = H5D_space_status_t_H5D_SPACE_STATUS_ERROR;
        let mut args = H5VL_dataset_get_args_t {
            op_type: H5VL_dataset_get_t_H5VL_DATASET_GET_SPACE_STATUS,
            args: H5VL_dataset_get_args_t__bindgen_ty_1 {
                get_space_status: H5VL_dataset_get_args_t__bindgen_ty_1__bindgen_ty_4 { status: &mut status },
            },
        };
        // SAFETY: see `get`.
        unsafe { self.get(&mut args) }?;
        Ok(status)
    }

    unsafe fn optional(
        &self,
        operation: u32,
        args: &mut H5VL_native_dataset_optional_args_t,
    ) -> Result<(), Reason> {
        let optional = self.below.class().dataset_cls.optional.ok_or(Reason::Unknown)?;
        let mut args =
            H5VL_optional_args_t { op_type: operation as c_int, args: std::ptr::from_mut(args).cast() };
        // SAFETY: an open dataset of the native connector, and the arguments of that operation.
        match unsafe { optional(self.object, &mut args, self.dxpl, std::ptr::null_mut()) } {
            code if code >= 0 => Ok(()),
            _ => Err(Reason::Unknown),
        }
    }

    unsafe fn offset(&self) -> Result<u64, Reason> {
        let mut offset: haddr_t = haddr_t::MAX;
        let mut args = H5VL_native_dataset_optional_args_t {
            get_offset: H5VL_native_dataset_optional_args_t__bindgen_ty_2 { offset: &mut offset },
        };
        // SAFETY: see `optional`.
        unsafe { self.optional(H5VL_NATIVE_DATASET_GET_OFFSET, &mut args) }?;
        if offset == haddr_t::MAX { Err(Reason::NotAllocated) } else { Ok(offset) }
    }

    /// First element and address of each chunk.
    unsafe fn chunks(&self, rank: usize) -> Result<Vec<(Vec<u64>, u64)>, Reason> {
        let mut found = Found { rank, chunks: Vec::new() };
        let mut args = H5VL_native_dataset_optional_args_t {
            chunk_iter: H5VL_native_dataset_optional_args_t__bindgen_ty_3 {
                op: Some(note_chunk),
                op_data: (&raw mut found).cast(),
            },
        };
        // SAFETY: see `optional`.
        unsafe { self.optional(H5VL_NATIVE_DATASET_CHUNK_ITER, &mut args) }?;
        Ok(found.chunks)
    }
}

struct Found {
    rank: usize,
    chunks: Vec<(Vec<u64>, u64)>,
}

unsafe extern "C" fn note_chunk(
    offset: *const hsize_t,
    _mask: c_uint,
    address: haddr_t,
    _bytes: hsize_t,
    found: *mut c_void,
) -> c_int {
    // SAFETY: what `chunks` passed.
    let found = unsafe { &mut *found.cast::<Found>() };
    // SAFETY: HDF5 passes one number for each dimension.
    let offset = unsafe { std::slice::from_raw_parts(offset, found.rank) };
    found.chunks.push((offset.to_vec(), address));
    0
}
