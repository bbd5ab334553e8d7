//! `cargo xtask demo`: one unmodified MPI + HDF5 program, natively and through the connector, and proof that both
//! files hold the same.

use crate::connector::{Connector, native};
use crate::proc::Run;
use crate::world::{Hdf5, Mpi, World, plugin_dir};
use crate::{mpi, place, stage};
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::time::Duration;

const RANKS: usize = 4;
const PARTICLES_PER_RANK: &str = "250000";
const LIMIT: Duration = Duration::from_secs(300);

pub fn run() -> Result<()> {
    let world = World::ready()?;
    let prefix = stage::stage(None)?;
    let hdf5 = world.newest(Mpi::Mpich)?;
    println!("demo: examples/demo.c on {RANKS} ranks, with HDF5 {} and {}", hdf5.version, hdf5.mpi);
    let seen = compare(hdf5, &plugin_dir(), &place::target()?.join("xtask/demo"))?;
    println!("demo: natively      {}", seen.native);
    println!("demo: through Sago  {}", seen.through);
    println!("demo: the connector was active in {RANKS} processes and saw {} dataset writes", seen.writes);
    println!("demo: the two files are equal: {}", seen.equal);
    for file in &seen.files {
        println!("demo:   {}", file.display());
    }
    println!("\nTo run your own program the same way, type\n\n    . {}", prefix.join("env.sh").display());
    println!("    mpiexec -n 4 ./your-program\n");
    println!(
        "With HDF5_VOL_CONNECTOR=\"sago report=stderr\" each process says at its end what passed through Sago."
    );
    Ok(())
}

/// What a comparison showed.
pub struct Seen {
    /// What the program printed.
    pub native: String,
    pub through: String,
    /// Dataset writes that the connector saw, over all ranks.
    pub writes: u64,
    /// How much was compared and found equal.
    pub equal: String,
    pub files: [PathBuf; 2],
}

/// Runs the program both ways; an error if the connector was not active everywhere or the files differ.
pub fn compare(hdf5: &Hdf5, plugins: &Path, dir: &Path) -> Result<Seen> {
    let demo = mpi::program(hdf5, dir, &place::root().join("examples/demo.c"))?;
    let same = mpi::h5same(hdf5, dir)?;
    let file = |way: &str| dir.join(format!("{way}-{}-{}.h5", hdf5.version, hdf5.mpi));
    let files = [file("native"), file("sago")];
    let start =
        |file| mpi::mpiexec(hdf5.mpi, RANKS).arg(&demo).arg(file).arg(PARTICLES_PER_RANK).limit(LIMIT);
    let connector = Connector::new(plugins, &dir.join("demo.report"))?;
    let plain = native(start(&files[0])).text()?;
    let through = connector.apply(start(&files[1])).text()?;
    let writes = connector.assert_active(RANKS)?.iter().map(|a| a.count("dataset write")).sum();
    ensure!(writes > 0, "the connector was loaded, but no write went through it");
    let verdict = native(Run::new(&same)).arg("-v").args(&files).limit(LIMIT).run()?;
    ensure!(verdict.success(), "the two files differ:\n{}", verdict.explain());
    Ok(Seen { native: plain, through, writes, equal: verdict.stdout.trim().to_owned(), files })
}
