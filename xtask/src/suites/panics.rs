//! Suite `panic`: a panic inside a callback becomes an HDF5 error, and the program goes on.

use super::{Context, Log, On, Suite};
use crate::connector::{Connector, native};
use crate::proc::Run;
use crate::{mpi, place, stage};
use anyhow::{Result, ensure};
use std::path::Path;

pub struct Panics;

/// Creating a group of this name makes a plugin with the feature `provoke` panic.
const PROVOKES: &str = "sago-provoke-panic";

impl Suite for Panics {
    fn name(&self) -> &'static str {
        "panic"
    }

    fn about(&self) -> &'static str {
        "a panic inside a callback becomes an HDF5 error, and the program goes on"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        let plugins = context.scratch.join("provoke/lib");
        stage::install(&stage::build(&["provoke"])?, &plugins)?;
        for hdf5 in &context.world.hdf5 {
            let program = mpi::program(hdf5, &context.scratch, &place::root().join("tests/panic/panic.c"))?;
            let report = context.scratch.join(format!("{}-{}.report", hdf5.version, hdf5.mpi));
            let connector = Connector::new(&plugins, &report)?;
            log.case(
                &On::hdf5(hdf5),
                "a panic in a callback",
                provoke(&program, &connector, &context.scratch),
            );
        }
        Ok(())
    }
}

fn provoke(program: &Path, connector: &Connector, scratch: &Path) -> Result<()> {
    let command = || Run::new(program).arg(PROVOKES).arg(scratch.join("panic.h5"));
    let plain = native(command()).text()?;
    ensure!(plain == "went on", "the name means nothing to native HDF5, yet the program printed:\n{plain}");
    let through = connector.apply(command()).text()?;
    connector.assert_active(1)?;
    ensure!(through.starts_with("H5Gcreate2 failed"), "the panic did not fail the call:\n{through}");
    ensure!(
        through.contains("internal error") && through.contains("provoked"),
        "the error stack does not speak of the panic:\n{through}"
    );
    ensure!(through.ends_with("went on"), "the program did not go on:\n{through}");
    Ok(())
}
