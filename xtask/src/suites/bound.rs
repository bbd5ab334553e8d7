//! Suite `bindings`: the committed bindings are what `cargo xtask bindings` makes. Needs libclang, which nothing else
//! does, so it is skipped where that is missing.

use super::{Context, Log, On, Suite};
use crate::proc::Run;
use crate::{bindings, world::Mpi};
use anyhow::Result;

pub struct Bound;

impl Suite for Bound {
    fn name(&self) -> &'static str {
        "bindings"
    }

    fn about(&self) -> &'static str {
        "the committed bindings are what the headers give (where libclang is installed)"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        let hdf5 = context.world.newest(Mpi::Mpich)?;
        let (on, case) = (On::hdf5(hdf5), "regenerated and compared");
        let known = Run::new("/sbin/ldconfig").arg("-p").text()?;
        if hdf5.external {
            log.skip(&on, case, "the bindings are made from the HDF5 that setup builds");
        } else if known.contains("libclang") {
            log.case(&on, case, bindings::check());
        } else {
            log.skip(&on, case, "libclang is not installed");
        }
        Ok(())
    }
}
