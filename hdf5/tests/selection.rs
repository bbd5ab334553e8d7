//! Selections of a real HDF5 as runs of bytes, against a plain enumeration of the selected elements.

mod common;

use common::function;
use sago_core::extent::{Extent, ExtentList};
use sago_hdf5::sys::{hid_t, hsize_t};
use sago_hdf5::{Library, space};
use std::ffi::c_int;
use std::ptr;

const ROWS: u64 = 7;
const COLUMNS: u64 = 11;
const ELEMENT_BYTES: u64 = 4;
const BASE: u64 = 2048;

const SET: c_int = 0;
const OR: c_int = 1;

struct Space {
    library: &'static Library,
    id: hid_t,
}

impl Space {
    fn new(library: &'static Library) -> Self {
        type Create = unsafe extern "C" fn(c_int, *const hsize_t, *const hsize_t) -> hid_t;
        let create: Create = function(library, c"H5Screate_simple");
        // SAFETY: two extents, as many as dimensions.
        let id = unsafe { create(2, [ROWS, COLUMNS].as_ptr(), ptr::null()) };
        assert!(id >= 0);
        Self { library, id }
    }

    fn hyperslab(&self, op: c_int, start: [u64; 2], stride: [u64; 2], count: [u64; 2], block: [u64; 2]) {
        type Select = unsafe extern "C" fn(
            hid_t,
            c_int,
            *const hsize_t,
            *const hsize_t,
            *const hsize_t,
            *const hsize_t,
        ) -> c_int;
        let select: Select = function(self.library, c"H5Sselect_hyperslab");
        // SAFETY: arrays of two, as many as dimensions.
        let code =
            unsafe { select(self.id, op, start.as_ptr(), stride.as_ptr(), count.as_ptr(), block.as_ptr()) };
        assert!(code >= 0);
    }

    fn points(&self, points: &[[u64; 2]]) {
        type Select = unsafe extern "C" fn(hid_t, c_int, usize, *const hsize_t) -> c_int;
        let select: Select = function(self.library, c"H5Sselect_elements");
        // SAFETY: pairs of coordinates, as many as said.
        assert!(unsafe { select(self.id, SET, points.len(), points.as_ptr().cast()) } >= 0);
    }

    fn none(&self) {
        let select: unsafe extern "C" fn(hid_t) -> c_int = function(self.library, c"H5Sselect_none");
        // SAFETY: a live identifier.
        assert!(unsafe { select(self.id) } >= 0);
    }

    fn extents(&self) -> ExtentList {
        let runs = space::runs(self.library, self.id, ELEMENT_BYTES, BASE).expect("runs of a selection");
        let blocks = runs.into_iter().flat_map(|run| run.blocks());
        blocks.map(|block| Extent::new(block.file, block.len)).collect()
    }
}

/// The extents of elements given in order as (row, column).
fn enumerated(elements: impl IntoIterator<Item = [u64; 2]>) -> ExtentList {
    let bytes = ELEMENT_BYTES;
    elements.into_iter().map(|[r, c]| Extent::new(BASE + (r * COLUMNS + c) * bytes, bytes)).collect()
}

fn all_where(selected: impl Fn(u64, u64) -> bool) -> ExtentList {
    enumerated((0..ROWS).flat_map(|r| (0..COLUMNS).map(move |c| [r, c])).filter(|&[r, c]| selected(r, c)))
}

#[test]
fn selections_become_the_bytes_that_hdf5_means() {
    for &library in common::libraries().iter() {
        let space = Space::new(library);
        assert_eq!(space.extents(), all_where(|_, _| true), "everything");
        assert_eq!(space.extents().as_slice().len(), 1);

        space.hyperslab(SET, [1, 2], [1, 1], [3, 4], [1, 1]);
        let first = |r, c| (1..4).contains(&r) && (2..6).contains(&c);
        assert_eq!(space.extents(), all_where(first), "a block");

        space.hyperslab(OR, [3, 5], [1, 1], [4, 3], [1, 1]);
        let second = |r, c| (3..7).contains(&r) && (5..8).contains(&c);
        assert_eq!(space.extents(), all_where(|r, c| first(r, c) || second(r, c)), "a union");

        space.hyperslab(SET, [0, 1], [3, 4], [2, 3], [2, 2]);
        let strided = |r: u64, c: u64| r < 6 && r % 3 < 2 && (1..13).contains(&c) && (c - 1) % 4 < 2;
        assert_eq!(space.extents(), all_where(strided), "strided blocks");

        let points = [[6, 10], [0, 0], [0, 1], [3, 3], [0, 0]];
        space.points(&points);
        assert_eq!(space.extents(), enumerated(points), "points, in their order, one twice");

        space.none();
        assert!(space.extents().is_empty(), "nothing");
    }
}

#[test]
fn more_runs_than_one_call_returns() {
    for &library in common::libraries().iter() {
        type Create = unsafe extern "C" fn(c_int, *const hsize_t, *const hsize_t) -> hid_t;
        let create: Create = function(library, c"H5Screate_simple");
        // SAFETY: one extent, as many as dimensions.
        let id = unsafe { create(1, [10_001].as_ptr(), ptr::null()) };
        let space = Space { library, id };
        type Select = unsafe extern "C" fn(
            hid_t,
            c_int,
            *const hsize_t,
            *const hsize_t,
            *const hsize_t,
            *const hsize_t,
        ) -> c_int;
        let select: Select = function(library, c"H5Sselect_hyperslab");
        // SAFETY: arrays of one, as many as dimensions.
        let code = unsafe { select(id, SET, [0].as_ptr(), [2].as_ptr(), [5_000].as_ptr(), ptr::null()) };
        assert!(code >= 0);
        let expected: ExtentList = (0..5_000).map(|i| Extent::new(BASE + i * 8, 4)).collect();
        assert_eq!(space.extents(), expected);
    }
}
