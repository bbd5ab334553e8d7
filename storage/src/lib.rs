//! Bytes in files.
//!
//! [`Storage`] is what a kernel offers (it may write fewer bytes than asked, or be interrupted) with, on top, operations
//! that finish or say why not. [`PosixFile`], [`DirectFile`] and [`Memory`] are places for bytes; [`Throttled`],
//! [`Faulty`] and [`Counted`] wrap any of them. [`FileSystem`] is what the file system says of itself,
//! [`surroundings`] what files and variables say of options, and [`Node`] what there is for the processes of a node.
#![forbid(unsafe_code)]

mod closed;
mod counted;
mod direct;
mod error;
mod faulty;
mod filesystem;
mod inode;
mod lustre;
mod memory;
mod node;
mod posix;
mod settings;
mod storage;
mod throttled;

pub use closed::Closed;
pub use counted::{Counted, Counts};
pub use direct::DirectFile;
pub use error::{Error, Op};
pub use faulty::{Fault, Faulty};
pub use filesystem::{FileSystem, Stripes};
pub use inode::Inode;
pub use memory::Memory;
pub use node::Node;
pub use posix::{Access, PosixFile};
pub use settings::surroundings;
pub use storage::Storage;
pub use throttled::Throttled;
