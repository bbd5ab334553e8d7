//! `cargo xtask paths`: where everything is, as a table or as JSON with stable keys (docs/DEVELOPING.md lists them).

use crate::mpi;
use crate::world::{Hdf5, Python, World, plugin_dir};
use crate::{place, setup, stage};
use anyhow::Result;
use serde_json::{Value, json};

pub fn print(as_json: bool) -> Result<()> {
    let world = World::expected()?;
    if as_json {
        println!("{}", serde_json::to_string_pretty(&describe(&world)?)?);
        return Ok(());
    }
    println!("cache    {}", place::cache()?.display());
    println!("plugins  {}{}", plugin_dir().display(), missing(stage::staged()));
    for h in &world.hdf5 {
        println!("hdf5     {:<7} {:<8} {}{}", h.version, h.mpi, h.prefix.display(), missing(h.ready()));
    }
    for p in &world.pythons {
        println!(
            "python   {:<10} {:<13} {}{}",
            p.name,
            p.hdf5.join("+"),
            p.root.display(),
            missing(p.ready())
        );
    }
    Ok(())
}

fn missing(ready: bool) -> &'static str {
    if ready { "" } else { "  (not there yet)" }
}

/// Everything, as JSON.
pub fn describe(world: &World) -> Result<Value> {
    Ok(json!({
        "cache": place::cache()?,
        "mpich_idle": setup::idle_library(&place::cache()?),
        "plugins": {
            "ready": stage::staged(),
            "dir": plugin_dir(),
            "env": { "HDF5_PLUGIN_PATH": plugin_dir(), "HDF5_VOL_CONNECTOR": "sago" },
        },
        "hdf5": world.hdf5.iter().map(hdf5).collect::<Vec<_>>(),
        "python": world.pythons.iter().map(python).collect::<Vec<_>>(),
    }))
}

fn hdf5(h: &Hdf5) -> Value {
    json!({
        "version": h.version,
        "mpi": h.mpi.name(),
        "ready": h.ready(),
        "external": h.external,
        "prefix": h.prefix,
        "include": h.include(),
        "lib": h.lib(),
        "mpicc": h.mpi.mpicc(),
        "compile": mpi::compile_flags(h),
        "mpiexec": h.mpi.mpiexec(),
        "mpiexec_args": mpi::mpiexec_args(h.mpi),
        "mpiexec_env": object(&mpi::mpiexec_env(h.mpi)),
    })
}

fn python(p: &Python) -> Value {
    json!({
        "name": p.name,
        "h5py": p.h5py,
        "hdf5": p.hdf5,
        "mpi": p.mpi.map(|m| m.name()),
        "ready": p.ready(),
        "python": p.python(),
        "env": object(&p.env),
    })
}

fn object(vars: &[(String, String)]) -> Value {
    vars.iter().map(|(k, v)| (k.clone(), json!(v))).collect::<serde_json::Map<_, _>>().into()
}
