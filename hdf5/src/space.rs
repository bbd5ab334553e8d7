//! Selections as runs of bytes, through HDF5's public iterators, which cost about a nanosecond per run when asked
//! for many at once.

use crate::error::Error;
use crate::library::Library;
use crate::sys::{
    H5S_class_t_H5S_NULL, H5S_sel_type_H5S_SEL_ALL, H5S_sel_type_H5S_SEL_HYPERSLABS, hid_t, hsize_t,
};
use sago_core::extent::{Extent, Run, RunList};
use std::ptr;

/// A count without end.
const H5S_UNLIMITED: u64 = u64::MAX;

/// Runs asked for in one call.
const BATCH: usize = 1024;

/// A data space that we own.
#[derive(Debug)]
pub struct Space {
    library: &'static Library,
    id: hid_t,
}

impl Space {
    /// Takes over an identifier.
    pub fn adopt(library: &'static Library, id: hid_t) -> Result<Self, Error> {
        if id >= 0 { Ok(Self { library, id }) } else { Err(Error::Reported) }
    }

    pub fn id(&self) -> hid_t {
        self.id
    }

    pub fn select_none(&self) -> Result<(), Error> {
        // SAFETY: our own identifier.
        if unsafe { (self.library.fns.H5Sselect_none)(self.id) } >= 0 { Ok(()) } else { Err(Error::Reported) }
    }

    /// Whether it can hold no element at all.
    pub fn is_null(&self) -> bool {
        // SAFETY: our own identifier.
        unsafe { (self.library.fns.H5Sget_simple_extent_type)(self.id) == H5S_class_t_H5S_NULL }
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        // SAFETY: our own identifier, closed once.
        crate::error::preserve(self.library, || unsafe { (self.library.fns.H5Sclose)(self.id) });
    }
}

/// Whether the selection lies inside the extent.
pub fn is_valid(library: &Library, space: hid_t) -> bool {
    // SAFETY: HDF5 checks the identifier.
    unsafe { (library.fns.H5Sselect_valid)(space) > 0 }
}

/// Current sizes of a simple data space; none for a scalar.
pub fn dims(library: &Library, space: hid_t) -> Result<Vec<u64>, Error> {
    // SAFETY: HDF5 checks the identifier.
    let rank = unsafe { (library.fns.H5Sget_simple_extent_ndims)(space) };
    let mut dims = vec![0; usize::try_from(rank).map_err(|_| Error::Reported)?];
    // SAFETY: as many places as there are dimensions; the greatest sizes are not asked for.
    match unsafe { (library.fns.H5Sget_simple_extent_dims)(space, dims.as_mut_ptr(), ptr::null_mut()) } {
        code if code >= 0 => Ok(dims),
        _ => Err(Error::Reported),
    }
}

/// How many elements are selected.
pub fn points(library: &Library, space: hid_t) -> Result<u64, Error> {
    // SAFETY: HDF5 checks the identifier.
    u64::try_from(unsafe { (library.fns.H5Sget_select_npoints)(space) }).map_err(|_| Error::Reported)
}

/// The bytes that the selection of `space` covers, in the order in which HDF5 visits them, for an array that starts
/// at byte `base` and has elements of `element_bytes` each. A regular hyperslab is computed, not visited.
///
/// An error if they are not as many as HDF5 says, or not all inside the array: HDF5 (1.14.5, 2.2.0) confuses itself about some
/// unions of hyperslabs, and only it can do what it then does.
pub fn runs(library: &Library, space: hid_t, element_bytes: u64, base: u64) -> Result<Vec<Run>, Error> {
    let runs = told_runs(library, space, element_bytes, base)?;
    let elements: u64 = dims(library, space)?.iter().product();
    let inside = base..=base + elements * element_bytes;
    let bytes: u64 = runs.iter().map(|run| run.bytes()).sum();
    let lost = bytes != points(library, space)? * element_bytes;
    if lost || runs.iter().any(|run| !inside.contains(&run.offset()) || !inside.contains(&run.end())) {
        return Err(Error::Message("HDF5 is at odds with itself about a selection".to_owned()));
    }
    Ok(runs)
}

fn told_runs(library: &Library, space: hid_t, element_bytes: u64, base: u64) -> Result<Vec<Run>, Error> {
    let points = points(library, space)?;
    if points == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: HDF5 checks the identifier.
    let selection = unsafe { (library.fns.H5Sget_select_type)(space) };
    if selection == H5S_sel_type_H5S_SEL_ALL {
        return Ok(vec![Run::contiguous(base, points * element_bytes)]);
    }
    if selection == H5S_sel_type_H5S_SEL_HYPERSLABS
        && let Some(slab) = Hyperslab::of(library, space)?
    {
        return Ok(slab.runs(element_bytes, base));
    }
    let mut list = RunList::new();
    let element = usize::try_from(element_bytes).map_err(|_| Error::Reported)?;
    for_each_run(library, space, element, |offset, len| list.push(Extent::new(base + offset, len)))?;
    Ok(list.into_vec())
}

/// A regular hyperslab of an array.
#[derive(Clone, Debug)]
struct Hyperslab {
    dims: Vec<u64>,
    start: Vec<u64>,
    stride: Vec<u64>,
    count: Vec<u64>,
    block: Vec<u64>,
}

impl Hyperslab {
    /// `None` if the selection is not regular, or has no end.
    fn of(library: &Library, space: hid_t) -> Result<Option<Self>, Error> {
        // SAFETY: HDF5 checks the identifier.
        if unsafe { (library.fns.H5Sis_regular_hyperslab)(space) } <= 0 {
            return Ok(None);
        }
        let dims = dims(library, space)?;
        let zeros = vec![0; dims.len()];
        let mut slab = Self {
            dims,
            start: zeros.clone(),
            stride: zeros.clone(),
            count: zeros.clone(),
            block: zeros.clone(),
        };
        // SAFETY: as many places as there are dimensions in each.
        let code = unsafe {
            (library.fns.H5Sget_regular_hyperslab)(
                space,
                slab.start.as_mut_ptr(),
                slab.stride.as_mut_ptr(),
                slab.count.as_mut_ptr(),
                slab.block.as_mut_ptr(),
            )
        };
        if code < 0 {
            return Err(Error::Reported);
        }
        if slab.count.iter().chain(&slab.block).any(|&n| n == H5S_UNLIMITED) {
            return Ok(None);
        }
        // The selection may have been moved (H5Soffset_simple): its bounds tell, the hyperslab does not.
        let mut end = zeros;
        // SAFETY: as above.
        match unsafe { (library.fns.H5Sget_select_bounds)(space, slab.start.as_mut_ptr(), end.as_mut_ptr()) }
        {
            code if code >= 0 => Ok(Some(slab)),
            _ => Err(Error::Reported),
        }
    }

    fn runs(&self, element_bytes: u64, base: u64) -> Vec<Run> {
        let (mut offset, mut step, mut piece) = (base, element_bytes, element_bytes);
        let mut loops: Vec<(u64, u64)> = Vec::new();
        for i in (0..self.dims.len()).rev() {
            let (mut count, mut block) = (self.count[i], self.block[i]);
            if count == 1 || self.stride[i] == block {
                (count, block) = (1, block * count);
            }
            offset += self.start[i] * step;
            if loops.is_empty() && piece == step {
                piece = block * step;
            } else {
                nest(&mut loops, block, step);
            }
            nest(&mut loops, count, self.stride[i] * step);
            step *= self.dims[i];
        }
        let (count, stride) = loops.first().copied().unwrap_or((1, piece));
        let outer = loops.get(1..).unwrap_or_default();
        let mut runs = Vec::with_capacity(outer.iter().map(|(count, _)| *count as usize).product());
        each_offset(outer, offset, &mut |at| runs.extend(Run::strided(at, piece, stride, count)));
        runs
    }
}

/// Adds an outer loop, or lengthens the last one that it continues.
fn nest(loops: &mut Vec<(u64, u64)>, count: u64, stride: u64) {
    if count == 1 {
        return;
    }
    match loops.last_mut() {
        Some((inner, step)) if *inner * *step == stride => *inner *= count,
        _ => loops.push((count, stride)),
    }
}

fn each_offset(loops: &[(u64, u64)], offset: u64, visit: &mut impl FnMut(u64)) {
    match loops.split_last() {
        None => visit(offset),
        Some((&(count, stride), inner)) => {
            (0..count).for_each(|i| each_offset(inner, offset + i * stride, visit));
        }
    }
}

/// Calls `visit` with the byte offset and length of each run of the selection of `space`.
pub fn for_each_run(
    library: &Library,
    space: hid_t,
    element_bytes: usize,
    mut visit: impl FnMut(u64, u64),
) -> Result<(), Error> {
    // SAFETY: HDF5 checks the identifier.
    let points = unsafe { (library.fns.H5Sget_select_npoints)(space) };
    let mut left = usize::try_from(points).map_err(|_| Error::Reported)?;
    if left == 0 {
        return Ok(());
    }
    let iterator = SelectionIterator::new(library, space, element_bytes)?;
    let (mut offsets, mut lengths) = ([0 as hsize_t; BATCH], [0usize; BATCH]);
    while left > 0 {
        let (runs, points) = iterator.next(left, &mut offsets, &mut lengths)?;
        if points == 0 {
            return Err(Error::Message("HDF5 ended the iteration over a selection early".to_owned()));
        }
        offsets.iter().zip(&lengths).take(runs).for_each(|(&offset, &len)| visit(offset, len as u64));
        left -= points.min(left);
    }
    Ok(())
}

struct SelectionIterator<'l> {
    library: &'l Library,
    id: hid_t,
}

impl<'l> SelectionIterator<'l> {
    fn new(library: &'l Library, space: hid_t, element_bytes: usize) -> Result<Self, Error> {
        // SAFETY: HDF5 checks its arguments and copies the selection.
        match unsafe { (library.fns.H5Ssel_iter_create)(space, element_bytes, 0) } {
            id if id >= 0 => Ok(Self { library, id }),
            _ => Err(Error::Reported),
        }
    }

    /// Fills the arrays with the next runs; returns how many runs, and of how many points.
    fn next(
        &self,
        points_max: usize,
        offsets: &mut [hsize_t; BATCH],
        lengths: &mut [usize; BATCH],
    ) -> Result<(usize, usize), Error> {
        let (mut runs, mut points) = (0, 0);
        let next = self.library.fns.H5Ssel_iter_get_seq_list;
        // SAFETY: both arrays have room for BATCH runs.
        let code = unsafe {
            next(
                self.id,
                BATCH,
                points_max,
                &mut runs,
                &mut points,
                offsets.as_mut_ptr(),
                lengths.as_mut_ptr(),
            )
        };
        if code >= 0 { Ok((runs, points)) } else { Err(Error::Reported) }
    }
}

impl Drop for SelectionIterator<'_> {
    fn drop(&mut self) {
        // SAFETY: our own identifier, closed once.
        crate::error::preserve(self.library, || unsafe { (self.library.fns.H5Ssel_iter_close)(self.id) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sago_core::random::Random;

    /// The elements of a hyperslab, one by one.
    fn elements(slab: &Hyperslab) -> Vec<u64> {
        let chosen = |i: usize, at: u64| {
            let past = at.checked_sub(slab.start[i])?;
            let (count, within) = (past / slab.stride[i], past % slab.stride[i]);
            (count < slab.count[i] && within < slab.block[i]).then_some(())
        };
        let total: u64 = slab.dims.iter().product();
        let inside = |&element: &u64| {
            let mut rest = element;
            (0..slab.dims.len()).rev().all(|i| {
                let at = rest % slab.dims[i];
                rest /= slab.dims[i];
                chosen(i, at).is_some()
            })
        };
        (0..total).filter(inside).collect()
    }

    #[test]
    fn a_hyperslab_is_computed_as_it_would_be_visited() {
        for seed in 0..5000 {
            let mut random = Random::new(seed);
            let rank = 1 + random.below(4) as usize;
            let mut slab =
                Hyperslab { dims: vec![], start: vec![], stride: vec![], count: vec![], block: vec![] };
            for _ in 0..rank {
                let (block, count) = (1 + random.below(3), 1 + random.below(3));
                let (stride, start) = (block + random.below(3), random.below(3));
                slab.dims.push(start + stride * (count - 1) + block + random.below(3));
                slab.start.push(start);
                slab.stride.push(stride);
                slab.count.push(count);
                slab.block.push(block);
            }
            let unit = 1 + random.below(5);
            let expected: Vec<u64> =
                elements(&slab).iter().flat_map(|e| (0..unit).map(move |i| 7 + e * unit + i)).collect();
            let found: Vec<u64> = slab
                .runs(unit, 7)
                .into_iter()
                .flat_map(Run::blocks)
                .flat_map(|block| block.file..block.file + block.len)
                .collect();
            assert_eq!(found, expected, "seed {seed}: {slab:?}");
        }
    }

    #[test]
    fn a_column_is_one_run() {
        let slab = Hyperslab {
            dims: vec![1000, 9],
            start: vec![100, 3],
            stride: vec![1, 1],
            count: vec![1, 1],
            block: vec![500, 1],
        };
        assert_eq!(slab.runs(4, 0), [Run::strided(3612, 4, 36, 500).unwrap()]);
    }
}
