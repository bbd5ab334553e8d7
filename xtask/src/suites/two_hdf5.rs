//! Suite `two-hdf5`: the h5py and netCDF4 wheels in one process, two libhdf5 that both load the connector.

use super::{Context, Log, On, Suite};
use crate::connector::native;
use crate::place;
use crate::proc::Run;
use crate::world::Python;
use anyhow::{Result, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

pub struct TwoHdf5;

impl Suite for TwoHdf5 {
    fn name(&self) -> &'static str {
        "two-hdf5"
    }

    fn about(&self) -> &'static str {
        "two libhdf5 in one process, h5py's and netCDF4's, both through the connector"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        let python = context.world.python("netcdf4")?;
        log.case(&On::python(python), "each writes, both read", both(context, python));
        Ok(())
    }
}

fn both(context: &Context, python: &Python) -> Result<()> {
    let connector = context.connector("both")?;
    let command = |folder: &str| -> Result<Run> {
        let folder = context.scratch.join(folder);
        fs::create_dir_all(&folder)?;
        let script = place::root().join("tests/two_hdf5/both.py");
        let run = Run::new(python.python()).arg(script).arg(folder).envs(python.env.clone());
        Ok(run.limit(Duration::from_secs(120)))
    };
    let plain = native(command("native")?).text()?;
    let through = connector.apply(command("connector")?).text()?;
    ensure!(plain == through, "natively it printed {plain}, through the connector {through}");
    let all = connector.assert_active(2)?;
    let versions: BTreeSet<&str> = all.iter().map(|a| a.hdf5.as_str()).collect();
    let expected: BTreeSet<&str> = python.hdf5.iter().map(String::as_str).collect();
    ensure!(versions == expected, "the connector served HDF5 {versions:?}, not {expected:?}");
    let pids: BTreeSet<u64> = all.iter().map(|a| a.pid).collect();
    ensure!(pids.len() == 1, "the two libraries were not in one process");
    Ok(())
}
