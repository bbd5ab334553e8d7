//! Lustre's layout of a file, from the extended attribute `lustre.lov`, without liblustreapi.
//!
//! The attribute is `struct lov_user_md`: a magic number, then stripe size and count at fixed places; files with a
//! layout in several components (progressive layouts) have a header, a table of components, and one such structure each.

use crate::filesystem::Stripes;

pub const ATTRIBUTE: &str = "lustre.lov";

const V1: u32 = 0x0bd1_0bd0;
const V3: u32 = 0x0bd3_0bd0;
const COMPOSITE: u32 = 0x0bd6_0bd0;
const HEADER_BYTES: usize = 32;
const ENTRY_BYTES: usize = 48;

/// The layout; of several components the last one, which large files grow into. None if it cannot be understood.
pub fn stripes(attribute: &[u8]) -> Option<Stripes> {
    match u32_at(attribute, 0)? {
        V1 | V3 => plain(attribute),
        COMPOSITE => {
            let components = usize::from(u16_at(attribute, 14)?);
            let entry = HEADER_BYTES + components.checked_sub(1)? * ENTRY_BYTES;
            let offset = usize::try_from(u32_at(attribute, entry + 24)?).ok()?;
            let component = attribute.get(offset..)?;
            matches!(u32_at(component, 0)?, V1 | V3).then(|| plain(component))?
        }
        _ => None,
    }
}

/// magic 0, pattern 4, object id 8, object group 16, stripe size 24, stripe count 28, first target 30.
fn plain(bytes: &[u8]) -> Option<Stripes> {
    let (size_bytes, count) = (u64::from(u32_at(bytes, 24)?), u32::from(u16_at(bytes, 28)?));
    // 0 and -1 stand for "the default" and "all targets", which only the servers can resolve.
    let count = (count != 0 && count != 0xffff).then_some(count);
    (size_bytes > 0).then_some(Stripes { size_bytes, count })
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `lustre_user.h` lays it out; there is no Lustre to take one from here.
    fn layout(magic: u32, size: u32, count: u16) -> Vec<u8> {
        let mut bytes = vec![0; 32];
        bytes[..4].copy_from_slice(&magic.to_le_bytes());
        bytes[24..28].copy_from_slice(&size.to_le_bytes());
        bytes[28..30].copy_from_slice(&count.to_le_bytes());
        bytes
    }

    #[test]
    fn plain_layouts() {
        let expected = Some(Stripes { size_bytes: 1 << 20, count: Some(4) });
        assert_eq!(stripes(&layout(V1, 1 << 20, 4)), expected);
        assert_eq!(stripes(&layout(V3, 1 << 20, 4)), expected);
        assert_eq!(stripes(&layout(V1, 1 << 20, 0xffff)), Some(Stripes { size_bytes: 1 << 20, count: None }));
    }

    #[test]
    fn the_last_component_counts() {
        let mut bytes = vec![0; HEADER_BYTES + 2 * ENTRY_BYTES];
        bytes[..4].copy_from_slice(&COMPOSITE.to_le_bytes());
        bytes[14..16].copy_from_slice(&2_u16.to_le_bytes());
        for (entry, size) in [(0, 1_u32 << 20), (1, 4 << 20)] {
            let at = HEADER_BYTES + entry * ENTRY_BYTES + 24;
            let offset = u32::try_from(bytes.len()).unwrap();
            bytes[at..at + 4].copy_from_slice(&offset.to_le_bytes());
            bytes.extend(layout(V1, size, 8));
        }
        assert_eq!(stripes(&bytes), Some(Stripes { size_bytes: 4 << 20, count: Some(8) }));
    }

    #[test]
    fn garbage_is_no_layout() {
        for len in 0..100 {
            assert_eq!(stripes(&vec![0xff; len]), None);
            assert_eq!(stripes(&layout(V1, 1 << 20, 4)[..len.min(29)]), None);
        }
        assert_eq!(stripes(&COMPOSITE.to_le_bytes()), None);
    }
}
