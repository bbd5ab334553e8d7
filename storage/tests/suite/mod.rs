//! The cases.
#![allow(clippy::unwrap_used)]

use sago_storage::{Error, Storage};
use std::thread;

pub type Case = (&'static str, fn(&dyn Storage));

pub const CASES: &[Case] = &[
    ("what is written can be read", round_trip),
    ("no bytes are no operation", nothing),
    ("random writes change their bytes and no others", random_writes),
    ("holes are zeros and reads end with the file", holes),
    ("many pieces", many_pieces),
    ("the size can be set", sizes),
    ("the end of all offsets", far_end),
    ("writers side by side", side_by_side),
    ("long transfers", long),
];

pub fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 24) as u8
    };
    (0..len).map(|_| next()).collect()
}

fn read(storage: &dyn Storage, offset: u64, len: usize) -> Vec<u8> {
    let mut found = vec![0xee; len];
    let n = storage.read(offset, &mut found).unwrap();
    found.truncate(n);
    found
}

fn round_trip(s: &dyn Storage) {
    assert_eq!(s.size().unwrap(), 0);
    for (offset, len) in [(0, 1), (1, 4095), (4096, 4096), (8192, 12288), (20481, 70_001), (100_000, 3)] {
        let expected = bytes(offset, len);
        s.write(offset, &expected).unwrap();
        assert!(read(s, offset, len) == expected, "{len} bytes at {offset}");
    }
    assert_eq!(s.size().unwrap(), 100_003);
    s.sync().unwrap();
}

fn nothing(s: &dyn Storage) {
    s.write(77, &[]).unwrap();
    s.write_pieces(77, &[]).unwrap();
    s.write_pieces(77, &[&[], &[]]).unwrap();
    assert_eq!(s.size().unwrap(), 0, "writing nothing does not extend");
    assert_eq!(s.read(77, &mut []).unwrap(), 0);
    assert_eq!(s.read(77, &mut [1]).unwrap(), 0);
    s.write(i64::MAX as u64, &[]).unwrap();
}

fn random_writes(s: &dyn Storage) {
    const SIZE: usize = 60_000;
    let mut model = bytes(1, SIZE);
    s.write(0, &model).unwrap();
    let draws = bytes(2, 4 * 300);
    for (i, draw) in draws.chunks(4).enumerate() {
        let at = usize::from(u16::from_le_bytes([draw[0], draw[1]])) % SIZE;
        let len = (usize::from(u16::from_le_bytes([draw[2], draw[3]])) % 10_000).min(SIZE - at);
        let new = bytes(i as u64 + 100, len);
        let (a, b) = new.split_at(len / 3);
        s.write_pieces(at as u64, &[a, &[], b]).unwrap();
        model[at..at + len].copy_from_slice(&new);
        let (from, to) = (at.saturating_sub(5000), (at + len + 5000).min(SIZE));
        assert!(read(s, from as u64, to - from) == model[from..to], "after write {i} of {len} bytes at {at}");
    }
    assert!(read(s, 0, SIZE + 10) == model);
    assert_eq!(s.size().unwrap(), SIZE as u64, "no write extends the file beyond its last byte");
}

fn holes(s: &dyn Storage) {
    s.write(1_000_003, b"end").unwrap();
    assert_eq!(read(s, 0, 10_000), vec![0; 10_000]);
    assert_eq!(read(s, 1_000_000, 100), b"\0\0\0end");
    assert_eq!(read(s, 1_000_005, 100), b"d");
    assert_eq!(read(s, 1_000_006, 100), b"");
    assert_eq!(read(s, 5_000_000, 100), b"");
}

/// More pieces than the kernel takes at once, of all lengths around a block.
fn many_pieces(s: &dyn Storage) {
    let all = bytes(5, 2_000_000);
    let mut pieces: Vec<&[u8]> = Vec::new();
    let mut rest = all.as_slice();
    for i in 0_usize.. {
        let len = [0, 1, 3, 200, 511, 0, 4096, 4097][i % 8].min(rest.len());
        let (piece, after) = rest.split_at(len);
        pieces.push(piece);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    assert!(pieces.len() > 1024);
    s.write_pieces(4095, &pieces).unwrap();
    assert!(read(s, 4095, all.len()) == all);
    let mut found = vec![0_u8; all.len()];
    let mut places: Vec<&mut [u8]> = found.chunks_mut(333).collect();
    assert!(places.len() > 1024);
    assert_eq!(s.read_pieces(4095, &mut places).unwrap(), all.len());
    assert!(found == all);
}

fn sizes(s: &dyn Storage) {
    s.write(0, &bytes(6, 10_000)).unwrap();
    s.set_size(5000).unwrap();
    assert_eq!(s.size().unwrap(), 5000);
    s.set_size(20_000).unwrap();
    assert!(read(s, 0, 5000) == bytes(6, 5000));
    assert!(read(s, 5000, 100_000) == vec![0; 15_000], "what was cut off does not come back");
    s.set_size(0).unwrap();
    assert_eq!(read(s, 0, 10), b"");
}

/// The last byte that a kernel can name: written where the file system has it, refused by name where not.
fn far_end(s: &dyn Storage) {
    let last = i64::MAX as u64;
    for (offset, len) in [(last, 1), (last - 3, 4), (u64::MAX, 1), (u64::MAX - 1, 100)] {
        let found = s.write(offset, &vec![1; len]);
        assert!(matches!(found, Err(Error::TooLarge { .. })), "{len} bytes at {offset}: {found:?}");
        let found = s.read(offset, &mut vec![1; len]);
        assert!(matches!(found, Err(Error::TooLarge { .. })), "{len} bytes at {offset}: {found:?}");
    }
    assert_eq!(s.size().unwrap(), 0);
    match s.write(last - 5000, &bytes(7, 4000)) {
        Ok(()) => {
            assert_eq!(s.size().unwrap(), last - 1000);
            assert!(read(s, last - 5000, 4000) == bytes(7, 4000));
            assert_eq!(read(s, last - 5003, 3), [0; 3]);
        }
        Err(Error::TooLarge { .. }) => assert_eq!(s.size().unwrap(), 0),
        Err(other) => panic!("{other}"),
    }
}

/// Eight threads write strips that touch, and share blocks, all at once.
fn side_by_side(s: &dyn Storage) {
    const STRIPS: usize = 200;
    const WRITERS: usize = 8;
    for (round, strip) in [100, 777, 4096, 5000].into_iter().enumerate() {
        let expected = bytes(round as u64 + 10, STRIPS * strip);
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                let expected = &expected;
                scope.spawn(move || {
                    for i in (writer..STRIPS).step_by(WRITERS) {
                        let range = i * strip..(i + 1) * strip;
                        s.write(range.start as u64 + 13, &expected[range]).unwrap();
                    }
                });
            }
        });
        assert!(read(s, 13, expected.len()) == expected, "strips of {strip} bytes");
    }
}

fn long(s: &dyn Storage) {
    let expected = bytes(8, 9_000_001);
    s.write(1234, &expected).unwrap();
    assert!(read(s, 1234, expected.len()) == expected);
    // From aligned memory too.
    let start = expected.as_ptr().addr().next_multiple_of(4096) - expected.as_ptr().addr();
    let part = &expected[start..start + 5_000_000];
    s.write(8192, part).unwrap();
    assert!(read(s, 8192, part.len()) == part);
    assert!(read(s, 1234, 8192 - 1234) == expected[..8192 - 1234]);
}
