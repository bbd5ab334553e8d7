//! Whether two names, or a name and an open file, are of one and the same file.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// By which the kernel tells a file from others, as long as it is open or has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Inode {
    device: u64,
    number: u64,
}

impl Inode {
    pub fn of(path: &Path) -> io::Result<Self> {
        path.metadata().map(|found| Self::new(&found))
    }

    pub fn new(found: &Metadata) -> Self {
        Self { device: found.dev(), number: found.ino() }
    }
}
