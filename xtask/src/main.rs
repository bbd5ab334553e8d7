//! `cargo xtask`: what a person does with this repository, one word each.

mod bench;
mod bindings;
mod connector;
mod demo;
mod mpi;
mod paths;
mod place;
mod proc;
mod setup;
mod stage;
mod suites;
mod world;

use anyhow::{Result, bail};
use lexopt::prelude::*;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use world::Mpi;

const HELP: &str = "\
cargo xtask COMMAND

  setup [--hdf5 PREFIX --mpi mpich|openmpi] [--forget]
        bring MPI, HDF5 and Python environments into the cache; or use an HDF5 that is there
  paths [--json]
        where everything is
  stage [--prefix DIR]
        build the plugin into DIR/lib, with DIR/env.sh beside it (DIR is plugins unless given)
  bindings [--to FILE]
        make hdf5/src/sys/bindings.rs from the headers of HDF5 2.x
  test [--only SUITE]... [--full] [--seed N] [--list]
        run all tests, or the suites named; --full with every combination; random programs from seed N on (1)
  demo
        one MPI program, natively and through the connector: equal files
  bench [CASE]... [--quick] [--help]
        measure the I/O kernels natively and through Sago, against the limit
";

fn main() -> ExitCode {
    match command() {
        Ok(code) => code,
        Err(e) => {
            let _ = writeln!(std::io::stderr(), "xtask: {e:#}");
            ExitCode::FAILURE
        }
    }
}

fn command() -> Result<ExitCode> {
    let mut args = lexopt::Parser::from_env();
    match args.next()? {
        Some(Value(word)) if word != "bench" && asks_for_help() => print!("{HELP}"),
        Some(Value(word)) => match word.string()?.as_str() {
            "setup" => setup(&mut args)?,
            "paths" => paths(&mut args)?,
            "stage" => stage(&mut args)?,
            "bindings" => bindings(&mut args)?,
            "test" => return test(&mut args),
            "demo" => demo::run()?,
            "bench" => bench::command(&mut args)?,
            "help" => print!("{HELP}"),
            other => bail!("no command `{other}`\n\n{HELP}"),
        },
        None | Some(Long("help") | Short('h')) => print!("{HELP}"),
        Some(other) => return Err(other.unexpected().into()),
    }
    Ok(ExitCode::SUCCESS)
}

fn asks_for_help() -> bool {
    std::env::args().skip(2).any(|arg| arg == "--help" || arg == "-h")
}

fn paths(args: &mut lexopt::Parser) -> Result<()> {
    let mut json = false;
    while let Some(arg) = args.next()? {
        match arg {
            Long("json") => json = true,
            other => return Err(other.unexpected().into()),
        }
    }
    paths::print(json)
}

fn stage(args: &mut lexopt::Parser) -> Result<()> {
    let mut prefix = None;
    while let Some(arg) = args.next()? {
        match arg {
            Long("prefix") => prefix = Some(PathBuf::from(args.value()?)),
            other => return Err(other.unexpected().into()),
        }
    }
    let prefix = stage::stage(prefix.as_deref())?;
    println!("stage: installed {}", prefix.join("lib/libsago_vol.so").display());
    println!("stage: to use it, type  . {}", prefix.join("env.sh").display());
    Ok(())
}

fn bindings(args: &mut lexopt::Parser) -> Result<()> {
    let mut to = None;
    while let Some(arg) = args.next()? {
        match arg {
            Long("to") => to = Some(PathBuf::from(args.value()?)),
            other => return Err(other.unexpected().into()),
        }
    }
    bindings::write(to)
}

fn test(args: &mut lexopt::Parser) -> Result<ExitCode> {
    let (mut only, mut full, mut seed) = (Vec::new(), false, 1);
    while let Some(arg) = args.next()? {
        match arg {
            Long("only") => only.push(args.value()?.string()?),
            Long("full") => full = true,
            Long("seed") => seed = args.value()?.parse()?,
            Long("list") => {
                suites::list();
                return Ok(ExitCode::SUCCESS);
            }
            other => return Err(other.unexpected().into()),
        }
    }
    suites::test(&only, full, seed)
}

fn setup(args: &mut lexopt::Parser) -> Result<()> {
    let (mut prefix, mut mpi, mut options) = (None, None, setup::Options::default());
    while let Some(arg) = args.next()? {
        match arg {
            Long("hdf5") => prefix = Some(PathBuf::from(args.value()?)),
            Long("mpi") => mpi = Some(Mpi::parse(&args.value()?.string()?)?),
            Long("forget") => options.forget = true,
            other => return Err(other.unexpected().into()),
        }
    }
    options.existing = match (prefix, mpi) {
        (Some(prefix), Some(mpi)) => Some((prefix, mpi)),
        (None, None) => None,
        _ => bail!("--hdf5 PREFIX and --mpi mpich|openmpi go together"),
    };
    setup::run(&options)?;
    println!("setup: everything is there; `cargo xtask paths` shows where");
    Ok(())
}
