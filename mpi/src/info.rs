//! Hints: the pairs of words in an `MPI_Info`.

use crate::library::Mpi;
use std::ffi::{CString, c_char, c_int};

/// An `MPI_Info` of the program, as it lies in a variable of that type: an `int` or a pointer in the low bytes of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawInfo(pub isize);

/// Longer than the keys of any known MPI, which have at most 256 bytes with their end, and than most values.
const TEXT_BYTES: usize = 1024;

impl Mpi {
    /// The pairs of an info that was duplicated for us, in MPI's order; the info is given back. What MPI does not tell is
    /// left out.
    ///
    /// # Safety
    /// `info` is null in the sense of MPI or a live info of this MPI that is ours to free, and this thread may call MPI.
    pub unsafe fn take_info(&self, info: RawInfo) -> Vec<(String, String)> {
        let Ok(constants) = self.constants() else { return Vec::new() };
        let mut info = self.abi().clean(info.0);
        if info == constants.info_null || info == 0 {
            return Vec::new();
        }
        let mut count = 0;
        // SAFETY: a live info, and a place to write to.
        if unsafe { (self.fns.MPI_Info_get_nkeys)(info, &mut count) } != 0 {
            count = 0;
        }
        let pairs = (0..count).filter_map(|number| self.pair(info, number)).collect();
        // SAFETY: ours, and not used again.
        unsafe { (self.fns.MPI_Info_free)(&mut info) };
        pairs
    }

    fn pair(&self, info: isize, number: c_int) -> Option<(String, String)> {
        let mut key = [0 as c_char; TEXT_BYTES];
        // SAFETY: a live info, a number below its count, and room for any key.
        if unsafe { (self.fns.MPI_Info_get_nthkey)(info, number, key.as_mut_ptr()) } != 0 {
            return None;
        }
        let key = crate::library::c_text(&key);
        let name = CString::new(key.clone()).ok()?;
        let (mut value, mut found) = ([0 as c_char; TEXT_BYTES], 0);
        // MPI 4 has another function for it, which some later library may have alone.
        let code = if let Some(get) = self.fns.info_get_string {
            let mut room = TEXT_BYTES as c_int;
            // SAFETY: a live info, a C string, and room for as many bytes as is said.
            unsafe { get(info, name.as_ptr(), &mut room, value.as_mut_ptr(), &mut found) }
        } else {
            // SAFETY: as above; the end of the text is not counted here.
            unsafe {
                self.fns.info_get?(
                    info,
                    name.as_ptr(),
                    TEXT_BYTES as c_int - 1,
                    value.as_mut_ptr(),
                    &mut found,
                )
            }
        };
        (code == 0 && found != 0).then(|| (key, crate::library::c_text(&value)))
    }
}
