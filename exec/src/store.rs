//! Storage calls as the engine counts them: done, or a code that all ranks can be told.

use sago_storage::{Error, Storage};

/// `ENOSPC`, `EFBIG`, `EIO`: what has no code of its own.
const NO_SPACE: i32 = 28;
const TOO_LARGE: i32 = 27;
const OTHER: i32 = 5;

pub fn write(storage: &dyn Storage, offset: u64, bytes: &[u8]) -> Result<(), i32> {
    storage.write(offset, bytes).map_err(|error| code(&error))
}

/// Bytes beyond the end of the file read as zeros, as in a file with holes.
pub fn read(storage: &dyn Storage, offset: u64, into: &mut [u8]) -> Result<(), i32> {
    let filled = storage.read(offset, into).map_err(|error| code(&error))?;
    into[filled..].fill(0);
    Ok(())
}

fn code(error: &Error) -> i32 {
    match error {
        Error::NoSpace { .. } => NO_SPACE,
        Error::TooLarge { .. } => TOO_LARGE,
        Error::Failed { cause, .. } => cause.raw_os_error().unwrap_or(OTHER),
    }
}
