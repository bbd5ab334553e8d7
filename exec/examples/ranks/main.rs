//! Commits and fetches on real ranks of MPI. `tests/mpi/run.c`, an ordinary MPI program, loads this library at run time
//! and hands in its communicator and its arguments: the name of a test, a file, and what the test wants to know.

#[path = "../../tests/suite/mod.rs"]
mod suite;

mod killed;
mod large;
mod memory;
mod placed;

use sago_mpi::{Mpi, MpiRanks, Options, RawComm, Transport};
use sago_storage::{Access, PosixFile, Storage};
use std::ffi::{CStr, c_char, c_int};
use std::path::Path;
use std::sync::Arc;

/// Called between MPI_Init and MPI_Finalize. Returns 0 if all is well.
///
/// # Safety
/// `comm` holds a live communicator in its low bytes; `argv` has `argc` C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sago_run(comm: isize, argc: c_int, argv: *const *const c_char) -> c_int {
    let argc = usize::try_from(argc).unwrap_or(0);
    // SAFETY: promised by the caller.
    let args: Vec<String> = unsafe { std::slice::from_raw_parts(argv, argc) }
        .iter()
        // SAFETY: as above.
        .map(|arg| unsafe { CStr::from_ptr(*arg) }.to_string_lossy().into_owned())
        .collect();
    let options = Options {
        ranks_per_node: number(&args, "nodes-of").unwrap_or(0) as usize,
        windows: !args.iter().any(|arg| arg == "messages"),
        ..Options::default()
    };
    let bound = Mpi::in_process().map_err(|e| e.to_string());
    // SAFETY: promised by the caller; this is the thread that called MPI_Init.
    let ranks = bound
        .and_then(|mpi| unsafe { MpiRanks::new(mpi, RawComm(comm), options) }.map_err(|e| e.to_string()));
    let result = ranks.and_then(|ranks| {
        let first = ranks.rank() == 0;
        let done = test(&ranks, &args)?;
        Box::new(ranks).close().map_err(|e| e.to_string())?;
        if first {
            println!("{done}");
        }
        Ok(())
    });
    result.map_or_else(
        |complaint| {
            println!("FAIL {}: {complaint}", args.join(" "));
            1
        },
        |()| 0,
    )
}

/// The number after `name=`.
fn number(args: &[String], name: &str) -> Option<u64> {
    args.iter().find_map(|arg| arg.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
}

fn test(t: &dyn Transport, args: &[String]) -> Result<String, String> {
    let (name, file) = (args.first().map_or("", String::as_str), args.get(1).map_or("", String::as_str));
    let (first, last) = (number(args, "first").unwrap_or(0), number(args, "last").unwrap_or(100));
    match name {
        "random" => {
            (first..last).try_for_each(|seed| suite::run(t, empty(t, file)?, seed))?;
            Ok(format!("ok {} seeds", last - first))
        }
        "faults" => {
            let other = format!("{file}.other");
            let case = |seed| suite::faults::run(t, empty(t, file)?, empty(t, &other)?, seed);
            (first..last).try_for_each(case)?;
            Ok(format!("ok {} seeds", last - first))
        }
        #[cfg(feature = "provoke")]
        "panics" => {
            let every = number(args, "every").unwrap_or(1).max(1);
            let mut cases = (0..suite::panics::CASES).filter(|case| case % every == 0);
            cases.try_for_each(|case| suite::panics::run(t, empty(t, file)?, case))?;
            Ok(format!("ok {} seeds", suite::panics::CASES.div_ceil(every)))
        }
        "tiny" => suite::extremes::tiny(t, empty(t, file)?, number(args, "count").unwrap_or(200_000))
            .map(|()| "ok 1 seeds".to_owned()),
        "memory" => memory::one_pair_of_buffers(t, empty(t, file)?),
        "large" => large::commit_and_fetch(t).map(|()| "ok 1 seeds".to_owned()),
        "killed" => killed::commit_until(t, empty(t, file)?, number(args, "victim").unwrap_or(0)),
        "placed" => {
            let options = args.iter().find_map(|arg| arg.strip_prefix("options=")).unwrap_or("");
            let (blocks, steps) = (number(args, "blocks").unwrap_or(256), number(args, "steps").unwrap_or(3));
            placed::commits(t, empty(t, file)?, options, blocks, steps)
        }
        other => Err(format!("no test `{other}`")),
    }
}

/// The file, empty, on all ranks.
fn empty(t: &dyn Transport, file: &str) -> Result<Arc<dyn Storage>, String> {
    let open = || {
        let file = PosixFile::open(Path::new(file), Access::Create)?;
        if t.rank() == 0 { file.set_size(0).map(|()| file) } else { Ok(file) }
    };
    t.barrier().map_err(|e| e.to_string())?;
    let opened = open();
    t.agree(opened.as_ref().map(|_| ()).map_err(ToString::to_string)).map_err(|e| e.to_string())?;
    opened.map(|file| Arc::new(file) as Arc<dyn Storage>).map_err(|e| e.to_string())
}
