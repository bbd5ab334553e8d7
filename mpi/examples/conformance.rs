//! The conformance suite on real ranks of MPI. `tests/mpi/host.c`, an ordinary MPI program, loads this library at run
//! time and hands in its communicator, as HDF5 does with the plugins.

#[path = "../tests/suite/mod.rs"]
mod suite;

use sago_mpi::{Abi, BindError, Error, Mpi, MpiRanks, Options, RawComm, Receive, Send, State, Transport};
use std::ffi::{CStr, c_char, c_int, c_void};
use suite::Check;

/// Called between MPI_Init and MPI_Finalize. Returns the number of failed cases.
///
/// # Safety
/// `comm` holds a live communicator in its low bytes; `abi` is the name of the ABI that is expected; `handle` is null
/// or a handle of dlopen; `errors_return` makes a mistake on a communicator and says whether MPI returned an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sago_conformance(
    comm: isize,
    abi: *const c_char,
    handle: *mut c_void,
    errors_return: unsafe extern "C" fn(isize) -> c_int,
    large: c_int,
) -> c_int {
    // SAFETY: promised by the caller.
    let abi = unsafe { CStr::from_ptr(abi) }.to_string_lossy();
    // SAFETY: promised by the caller.
    let bound = if handle.is_null() { Mpi::in_process() } else { unsafe { Mpi::behind(handle) } };
    let mpi = match bound {
        Ok(mpi) => mpi,
        Err(e) => {
            println!("FAIL binding: {e}");
            return 1;
        }
    };
    let mut failed = 0;
    let mut report = Report { failed: &mut failed, rank: 0 };
    report.show("binding", binding(mpi, &abi));
    let forced = [
        ("shared memory", Options::default()),
        ("MPI only", Options { board: false, ..Options::default() }),
        ("MPI only, counts cut at 1000", Options { board: false, count_max: 1000, ..Options::default() }),
    ];
    for (name, options) in forced {
        // SAFETY: promised by the caller; this is the thread that called MPI_Init.
        match unsafe { MpiRanks::new(mpi, RawComm(comm), options) } {
            Ok(ranks) => {
                // SAFETY: the caller's function, on a communicator of ours.
                let fatal = unsafe { errors_return(ranks.raw().0) } != 1;
                let verdict = if fatal { Err("an error was not returned".to_owned()) } else { Ok(()) };
                report.show(&format!("{name}: errors are returned"), verdict);
                all_cases(name, Box::new(ranks), &mut report, large != 0 && options.count_max > 1000);
            }
            Err(e) => report.show(name, Err(e.to_string())),
        }
    }
    failed
}

/// Called before MPI_Init and after MPI_Finalize: nothing of MPI may be used then. Returns 0 if all is well.
#[unsafe(no_mangle)]
pub extern "C" fn sago_not_active(finalised: c_int) -> c_int {
    let (state, refusal) = if finalised == 0 {
        (State::NotInitialised, BindError::NotInitialised)
    } else {
        (State::Finalised, BindError::Finalised)
    };
    let Ok(mpi) = Mpi::in_process() else { return 1 };
    // SAFETY: MPI is not active, so the communicator is not looked at.
    let found = unsafe { MpiRanks::new(mpi, RawComm(0), Options::default()) }.err();
    c_int::from(mpi.state() != state || found != Some(refusal))
}

struct Report<'a> {
    failed: &'a mut c_int,
    rank: usize,
}

impl Report<'_> {
    fn show(&mut self, name: &str, check: Check) {
        match check {
            Ok(()) if self.rank == 0 => println!("ok   {name}"),
            Ok(()) => {}
            Err(e) => {
                *self.failed += 1;
                println!("FAIL {name}: {e} (rank {})", self.rank);
            }
        }
    }
}

fn all_cases(name: &str, ranks: Box<dyn Transport>, report: &mut Report<'_>, large: bool) {
    report.rank = ranks.rank();
    let extra: &[suite::Case] = &[("memory: more than there is", too_much_memory)];
    let large: &[suite::Case] = if large { &[("more than 2 GiB", more_than_an_int)] } else { &[] };
    for case in suite::CASES.iter().chain(extra).chain(large) {
        report.show(&format!("{name}: {}", case.0), suite::run(&*ranks, case));
    }
    report.show(&format!("{name}: close"), ranks.close().map_err(|e| e.to_string()));
}

fn binding(mpi: &'static Mpi, abi: &str) -> Check {
    ensure!(
        mpi.abi().name() == abi,
        "{} ({}) looks like {}, not {abi}",
        mpi.path(),
        mpi.version(),
        mpi.abi().name()
    );
    ensure!(mpi.state() == State::Active, "MPI is {:?}", mpi.state());
    for guess in [Abi::Mpich, Abi::OpenMpi, Abi::Standard] {
        let verdict = mpi.test_guess(guess);
        ensure!(verdict.is_ok() == (guess == mpi.abi()), "the guess {guess:?} gives {verdict:?}");
        if let Err(e) = verdict {
            ensure!(matches!(e, BindError::SelfTest { .. } | BindError::NoSymbol { .. }), "{guess:?}: {e}");
        }
    }
    Ok(())
}

/// More memory than there is, on one rank: an error on every rank, and the job goes on.
fn too_much_memory(t: &dyn Transport) -> Check {
    let found = t.share(if t.rank() == 0 { 1 << 50 } else { 8 }).map(|_| ());
    let expected = if t.one_node() {
        Error::NoMemory { bytes: (1 << 50) + 8 * (t.size() - 1) }
    } else {
        Error::NotOneNode
    };
    ensure!(found == Err(expected), "a segment of a pebibyte gives {found:?}");
    let found = t.window(if t.rank() == 0 { 1 << 50 } else { 8 }).map(|_| ());
    ensure!(found.is_err(), "a window of a pebibyte on one rank");
    t.barrier().map_err(suite::text)
}

/// Rank 0 sends 2.1 GiB to the last rank, by message, by window and by broadcast.
fn more_than_an_int(t: &dyn Transport) -> Check {
    const LEN: usize = (2 << 30) + (100 << 20) + 3;
    let last = t.size() - 1;
    let pair = t.split((t.rank() == 0 || t.rank() == last).then_some(1), 0).map_err(suite::text)?;
    let Some(pair) = pair else { return Ok(()) };
    let mut bytes = vec![0_u8; LEN];
    let mark = |i: usize| (i / 4097 + 1) as u8;
    let marked = |bytes: &[u8]| (0..LEN).step_by(4097).chain([LEN - 1]).all(|i| bytes[i] == mark(i));
    let first = pair.rank() == 0;
    if first {
        (0..LEN).step_by(4097).chain([LEN - 1]).for_each(|i| bytes[i] = mark(i));
        pair.exchange(3, &[Send { to: 1, bytes: &bytes }], &mut []).map_err(suite::text)?;
    } else {
        pair.exchange(3, &[], &mut [Receive { from: 0, bytes: &mut bytes }]).map_err(suite::text)?;
        ensure!(marked(&bytes), "the message differs");
        bytes.fill(0);
    }
    pair.broadcast(0, &mut bytes).map_err(suite::text)?;
    ensure!(marked(&bytes), "the broadcast differs");
    let window = pair.window(if first { 8 } else { LEN }).map_err(suite::text)?;
    if first {
        window.put(&[sago_mpi::Put { to: 1, offset: 0, bytes: &bytes }]).map_err(suite::text)?;
        window.flush(1).map_err(suite::text)?;
    } else {
        bytes.fill(0);
    }
    pair.barrier().map_err(suite::text)?;
    if !first {
        window.read(0, &mut bytes).map_err(suite::text)?;
        ensure!(marked(&bytes), "the window differs");
    }
    window.free().map_err(suite::text)?;
    pair.close().map_err(suite::text)
}
