//! Blocks of equal length between memory where they lie one after another and memory where there is one every `stride`
//! bytes. The length is known at compile time for the common sizes: a call of memcpy for each four bytes would cost more
//! than the bytes.

use std::ffi::c_void;

/// Spreads the blocks of `from` over `to`. Panics if they do not fit.
pub fn scatter(to: &mut [u8], len: usize, stride: usize, from: &[u8]) {
    let count = check(to.len(), len, stride, from.len());
    // SAFETY: `check` has seen that all blocks lie inside both slices, which do not overlap.
    unsafe { spread(to.as_mut_ptr(), stride, from.as_ptr(), len, len, count) };
}

/// Collects the blocks of `from` into `into`. Panics if they do not fit.
pub fn gather(from: &[u8], len: usize, stride: usize, into: &mut [u8]) {
    let count = check(from.len(), len, stride, into.len());
    // SAFETY: `check` has seen that all blocks lie inside both slices, which do not overlap.
    unsafe { spread(into.as_mut_ptr(), len, from.as_ptr(), stride, len, count) };
}

/// How many bytes blocks span that are `bytes` long in all; `None` if they make no sense.
pub(crate) fn span(len: usize, stride: usize, bytes: usize) -> Option<usize> {
    if bytes == 0 {
        return Some(0);
    }
    if len == 0 || !bytes.is_multiple_of(len) || (bytes > len && stride < len) {
        return None;
    }
    stride.checked_mul(bytes / len - 1)?.checked_add(len)
}

fn check(spread: usize, len: usize, stride: usize, bytes: usize) -> usize {
    let fits = span(len, stride, bytes).is_some_and(|span| span <= spread);
    assert!(fits, "{bytes} bytes in blocks of {len} every {stride} do not fit into {spread}");
    bytes.checked_div(len).unwrap_or(0)
}

/// Copies `count` blocks of `len` bytes.
///
/// # Safety
/// All blocks on both sides are mapped, and the two sides do not overlap.
pub unsafe fn spread(
    to: *mut u8,
    to_stride: usize,
    from: *const u8,
    from_stride: usize,
    len: usize,
    count: usize,
) {
    let fixed = match len {
        _ if count == 1 || (to_stride == len && from_stride == len) => {
            // SAFETY: the caller's promise; the blocks are one.
            return unsafe { bytes(to.cast(), from.cast(), len * count) };
        }
        1 => blocks::<1>,
        2 => blocks::<2>,
        4 => blocks::<4>,
        8 => blocks::<8>,
        12 => blocks::<12>,
        16 => blocks::<16>,
        24 => blocks::<24>,
        32 => blocks::<32>,
        _ => {
            for i in 0..count {
                // SAFETY: the caller's promise, block by block.
                unsafe { bytes(to.add(i * to_stride).cast(), from.add(i * from_stride).cast(), len) };
            }
            return;
        }
    };
    // SAFETY: the caller's promise.
    unsafe { fixed(to, to_stride, from, from_stride, count) };
}

/// Asks for the memory of blocks before it is needed: the processor foresees even steps inside of a page, but not where rows of a
/// few blocks begin. Any address will do, it is only a hint.
pub fn expect(from: *const u8, stride: usize, len: usize, count: usize) {
    for block in 0..count.min(EXPECTED_BLOCKS_MAX) {
        for line in (0..len.min(EXPECTED_BYTES_MAX)).step_by(LINE) {
            let at = from.wrapping_add(block.wrapping_mul(stride).wrapping_add(line));
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor ignores addresses that are not there.
            unsafe {
                std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at.cast());
            }
            #[cfg(not(target_arch = "x86_64"))]
            let _ = at;
        }
    }
}

const LINE: usize = 64;
/// What is longer the processor foresees.
const EXPECTED_BYTES_MAX: usize = 256;
const EXPECTED_BLOCKS_MAX: usize = 64;

unsafe fn blocks<const LEN: usize>(
    to: *mut u8,
    to_stride: usize,
    from: *const u8,
    from_stride: usize,
    count: usize,
) {
    for i in 0..count {
        // SAFETY: the caller's promise, block by block; an array of bytes needs no alignment.
        unsafe {
            to.add(i * to_stride)
                .cast::<[u8; LEN]>()
                .write(from.add(i * from_stride).cast::<[u8; LEN]>().read())
        };
    }
}

type Memcpy = unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void;

/// A copy that may race with another process, or, if the schedule is wrong, with a thread of this one: made by the C
/// library behind a pointer that the compiler cannot see through.
///
/// # Safety
/// Both sides are mapped and do not overlap.
pub(crate) unsafe fn bytes(to: *mut c_void, from: *const c_void, len: usize) {
    if len > 0 {
        let memcpy: Memcpy = std::hint::black_box(libc::memcpy as Memcpy);
        // SAFETY: promised by the caller.
        unsafe { memcpy(to, from, len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_scattered_is_gathered_and_nothing_else_is_touched() {
        for len in 1..40 {
            for (gap, count) in [(0, 1), (0, 5), (3, 1), (3, 7), (1, 100)] {
                let stride = len + gap;
                let from: Vec<u8> = (0..len * count).map(|i| (i * 7 + 1) as u8).collect();
                let mut spread = vec![0xee_u8; stride * (count - 1) + len + 2];
                scatter(&mut spread[1..], len, stride, &from);
                for (i, byte) in spread.iter().enumerate() {
                    let at = i.wrapping_sub(1);
                    let inside = at / stride < count && at % stride < len;
                    let expected = if inside { from[at / stride * len + at % stride] } else { 0xee };
                    assert_eq!(*byte, expected, "len {len} gap {gap} count {count} at {i}");
                }
                let mut back = vec![0; from.len()];
                gather(&spread[1..], len, stride, &mut back);
                assert_eq!(back, from);
            }
        }
        scatter(&mut [], 4, 4, &[]);
    }

    #[test]
    fn any_memory_may_be_expected() {
        expect(std::ptr::null(), usize::MAX / 2, usize::MAX, usize::MAX);
    }

    #[test]
    #[should_panic(expected = "do not fit")]
    fn blocks_that_do_not_fit_are_refused() {
        scatter(&mut [0; 10], 4, 8, &[0; 8]);
    }
}
