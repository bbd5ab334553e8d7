//! `cargo xtask demo`: unmodified MPI + HDF5 programs, natively and through the connector, proof that both files hold the
//! same, and where the time went.

use crate::bench::launch::{Io, Job, Kernels};
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

/// Each way is run so often, in turn, and what is shown is the median: the first run of all finds memory that nobody has touched.
const ROUNDS: usize = 3;

pub fn run() -> Result<()> {
    let world = World::ready()?;
    let prefix = stage::stage(None)?;
    let hdf5 = world.newest(Mpi::Mpich)?;
    println!("demo: examples/demo.c on {RANKS} ranks, with HDF5 {} and {}", hdf5.version, hdf5.mpi);
    let seen = compare(hdf5, &plugin_dir(), &place::target()?.join("xtask/demo"))?;
    println!("demo: the middle one of {ROUNDS} runs of each, in turn:");
    println!("demo: natively      {}", seen.native);
    println!("demo: through Sago  {}", seen.through);
    println!("demo: the connector was active in {RANKS} processes and saw {} dataset writes", seen.writes);
    println!("demo: the two files are equal: {}", seen.equal);
    for file in &seen.files {
        println!("demo:   {}", file.display());
    }
    let dir = place::target()?.join("xtask/demo");
    let kernels = Kernels::build(hdf5, &plugin_dir(), &dir)?.timed();
    let same = mpi::h5same(hdf5, &dir)?;
    for (title, kernel, args) in KERNELS {
        show(&kernels, &same, &dir, title, kernel, args)?;
    }
    println!("\nTo run your own program the same way, type\n\n    . {}", prefix.join("env.sh").display());
    println!("    mpiexec -n 4 ./your-program\n");
    println!(
        "With HDF5_VOL_CONNECTOR=\"sago report=stderr\" Sago says what it did for each file, and each process at its end what \
         passed through it."
    );
    Ok(())
}

/// Codes whose way of writing HDF5 alone handles badly.
const KERNELS: [(&str, &str, &str); 2] = [
    ("FLASH checkpoint, the variable fastest in memory", "flash", "--size 400K --memory fastest --steps 3"),
    (
        "HACC particles, an array of structures written by columns",
        "hacc",
        "--form columns --size 400K --steps 3",
    ),
];

/// One kernel both ways: the same file, and how long the program was busy with it.
fn show(kernels: &Kernels, same: &Path, dir: &Path, title: &str, kernel: &str, args: &str) -> Result<()> {
    println!("\ndemo: {title}, {RANKS} ranks, medians of {ROUNDS} runs of each, in turn");
    let job = |way: &str, connector: Option<String>| Job {
        ranks: RANKS,
        io: Io::of(Mpi::Mpich)[0],
        kernel: kernel.to_owned(),
        args: args.split(' ').chain(["--phases", "write"]).map(str::to_owned).collect(),
        file: dir.join(format!("{kernel}-{way}.h5")),
        env: Vec::new(),
        connector,
        limit: LIMIT,
    };
    let jobs = [job("native", None), job("sago", Some(String::new()))];
    let mut results = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (job, results) in jobs.iter().zip(&mut results) {
            results.push(kernels.run(job)?);
        }
    }
    let mut seconds = [0.0; 2];
    for ((results, way), total) in results.iter().zip(["natively    ", "through Sago"]).zip(&mut seconds) {
        let spent = |part: &str| {
            median(results.iter().map(|result| result["writes"][0][part].as_f64().unwrap_or(0.0)).collect())
        };
        *total = spent("total");
        println!(
            "demo: {way}  {:.3} s in all: {:.3} s in H5Dwrite, {:.3} s in H5Fclose, {:.3} s in opening",
            spent("total"),
            spent("write"),
            spent("file_close"),
            spent("file_create")
        );
    }
    let verdict = native(Run::new(same)).args(jobs.iter().map(|job| &job.file)).limit(LIMIT).run()?;
    ensure!(verdict.success(), "the two files differ:\n{}", verdict.explain());
    println!(
        "demo: the two files are equal; through Sago it took {:.2} of the time",
        seconds[1] / seconds[0]
    );
    Ok(())
}

/// Of what the program printed in several runs, the one with the median time.
fn middle(mut lines: Vec<String>) -> String {
    let seconds =
        |line: &String| line.split(' ').rev().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0.0);
    lines.sort_by(|a, b| f64::total_cmp(&seconds(a), &seconds(b)));
    lines.swap_remove(lines.len() / 2)
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
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
    let (mut plain, mut through, mut writes) = (Vec::new(), Vec::new(), 0);
    for _ in 0..ROUNDS {
        let connector = Connector::new(plugins, &dir.join("demo.report"))?;
        plain.push(native(start(&files[0])).text()?);
        through.push(connector.apply(start(&files[1])).text()?);
        writes = connector.assert_active(RANKS)?.iter().map(|a| a.count("dataset write")).sum();
    }
    ensure!(writes > 0, "the connector was loaded, but no write went through it");
    let verdict = native(Run::new(&same)).arg("-v").args(&files).limit(LIMIT).run()?;
    ensure!(verdict.success(), "the two files differ:\n{}", verdict.explain());
    let (plain, through) = (middle(plain), middle(through));
    Ok(Seen { native: plain, through, writes, equal: verdict.stdout.trim().to_owned(), files })
}
