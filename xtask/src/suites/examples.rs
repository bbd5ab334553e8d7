//! Suite `examples`: the example programs give equal files natively and through the connector.

use super::{Context, Log, On, Suite};
use crate::demo;
use anyhow::Result;

pub struct Examples;

impl Suite for Examples {
    fn name(&self) -> &'static str {
        "examples"
    }

    fn about(&self) -> &'static str {
        "examples/demo.c on four ranks gives equal files, on each HDF5 and MPI"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        for hdf5 in &context.world.hdf5 {
            let seen = demo::compare(hdf5, &context.plugins, &context.scratch);
            log.case(&On::hdf5(hdf5), "examples/demo.c", seen.map(|_| ()));
        }
        Ok(())
    }
}
