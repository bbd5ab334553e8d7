//! `cargo xtask demo`: one unmodified MPI + HDF5 program, natively and through the connector, and proof that both
//! files hold the same.

use crate::connector::{Connector, native};
use crate::proc::Run;
use crate::world::{Mpi, World, plugin_dir};
use crate::{mpi, place, stage};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::time::Duration;

const RANKS: usize = 4;
const PARTICLES_PER_RANK: &str = "250000";
const LIMIT: Duration = Duration::from_secs(300);

pub fn run() -> Result<()> {
    let world = World::ready()?;
    let prefix = stage::stage(None)?;
    let hdf5 = world.newest(Mpi::Mpich)?;
    let dir = place::target()?.join("xtask/demo");
    let root = place::root();
    let demo = mpi::program(hdf5, &dir, &root.join("examples/demo.c"))?;
    let same = mpi::program(hdf5, &dir, &root.join("tests/h5same/h5same.c"))?;
    println!("demo: examples/demo.c, compiled with HDF5 {} and {}; {RANKS} ranks", hdf5.version, hdf5.mpi);

    let files = ["native.h5", "sago.h5"].map(|name| dir.join(name));
    let command =
        |file| mpi::mpiexec(hdf5.mpi, RANKS).arg(&demo).arg(file).arg(PARTICLES_PER_RANK).limit(LIMIT);
    println!("demo: natively            {}", native(command(&files[0])).text()?);
    let connector = Connector::new(&plugin_dir(), &dir.join("demo.report"))?;
    println!("demo: through Sago        {}", connector.apply(command(&files[1])).text()?);

    let active = connector.assert_active(RANKS)?;
    let writes: u64 = active.iter().map(|a| a.count("dataset write")).sum();
    ensure!(writes > 0, "the connector was loaded, but no write went through it");
    println!("demo: the connector was active in {} processes and saw {writes} dataset writes", active.len());
    let equal = native(Run::new(&same)).args(&files).limit(LIMIT).run()?;
    ensure!(equal.success(), "the two files differ:\n{}", equal.explain());
    println!(
        "demo: equal, dataset by dataset and attribute by attribute: {} and {}",
        files[0].display(),
        files[1].display()
    );

    let size = fs::metadata(&files[1]).context("the demo's file")?.len() / 1_000_000;
    println!(
        "\nThe {size} MB file is an ordinary HDF5 file. To run your own program the same way, type\n\n    . {}\n    mpiexec -n 4 ./your-program\n\nand to see that Sago is active, HDF5_VOL_CONNECTOR=\"sago report=stderr\".",
        prefix.join("env.sh").display()
    );
    Ok(())
}
