//! Selections as runs of bytes, through HDF5's public iterators, which cost about a nanosecond per run when asked
//! for many at once.

use crate::error::Error;
use crate::library::Library;
use crate::sys::{hid_t, hsize_t};
use sago_core::extent::{Extent, ExtentList};

/// Runs asked for in one call.
const BATCH: usize = 1024;

/// The bytes that the selection of `space` covers, in the order in which HDF5 visits them, for an array that starts
/// at byte `base` and has elements of `element_bytes` each.
pub fn extents(
    library: &Library,
    space: hid_t,
    element_bytes: usize,
    base: u64,
) -> Result<ExtentList, Error> {
    let mut list = ExtentList::new();
    for_each_run(library, space, element_bytes, |offset, len| list.push(Extent::new(base + offset, len)))?;
    Ok(list)
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
