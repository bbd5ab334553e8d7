//! Suite `stage`: a staged plugin works wherever its folder is moved to, from every common shell, and is alone there.

use super::{Context, Log, On, Suite};
use crate::connector::native;
use crate::proc::Run;
use crate::world::Mpi;
use crate::{mpi, place, stage};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::Path;

pub struct Staged;

const SHELLS: [&str; 3] = ["/bin/bash", "/bin/dash", "/bin/zsh"];

impl Suite for Staged {
    fn name(&self) -> &'static str {
        "stage"
    }

    fn about(&self) -> &'static str {
        "the staged folder can be moved, and its env.sh turns the connector on in bash, dash and zsh"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        let hdf5 = context.world.newest(Mpi::Mpich)?;
        let on = On::hdf5(hdf5);
        let program = mpi::program(hdf5, &context.scratch, &place::root().join("tests/panic/panic.c"))?;
        let moved = context.scratch.join("moved there");
        fs::rename(stage::stage(Some(&context.scratch.join("prefix")))?, &moved)?;
        log.case(&on, "the plugin is alone in its folder", alone(&moved.join("lib")));
        for shell in SHELLS {
            if Path::new(shell).exists() {
                log.case(
                    &on,
                    format!("env.sh in {shell}"),
                    source(shell, &moved, &program, &context.scratch),
                );
            } else {
                log.skip(&on, format!("env.sh in {shell}"), format!("{shell} is not installed"));
            }
        }
        log.case(&on, "a stranger in the folder is refused", stranger(&context.scratch.join("strange")));
        Ok(())
    }
}

fn alone(lib: &Path) -> Result<()> {
    let names: Vec<_> = fs::read_dir(lib)?.map(|e| Ok(e?.file_name())).collect::<Result<_>>()?;
    ensure!(names == ["libsago_vol.so"], "{} holds {names:?}", lib.display());
    Ok(())
}

/// A user's session: source the file twice, keep a path that was set before, and run a program that is served.
fn source(shell: &str, prefix: &Path, program: &Path, scratch: &Path) -> Result<()> {
    const SESSION: &str = r#"set -eu
. "$1/env.sh"; . "$1/env.sh"
echo "$HDF5_PLUGIN_PATH"; echo "$HDF5_VOL_CONNECTOR"
HDF5_VOL_CONNECTOR="$HDF5_VOL_CONNECTOR report=stderr"
"$2" group "$3""#;
    let run = native(Run::new(shell)).args(["-c", SESSION, shell]).arg(prefix).arg(program);
    let done = run.arg(scratch.join("stage.h5")).env("HDF5_PLUGIN_PATH", "/another/folder").ok()?;
    let expected = format!("{}:/another/folder\nsago\nwent on\n", prefix.join("lib").display());
    ensure!(done.stdout == expected, "expected\n{expected}\nbut the session printed\n{}", done.stdout);
    ensure!(done.stderr.contains("\"file create\":1"), "the connector was not active:\n{}", done.stderr);
    Ok(())
}

fn stranger(prefix: &Path) -> Result<()> {
    let lib = prefix.join("lib");
    fs::create_dir_all(&lib)?;
    fs::write(lib.join("libother.so"), "")?;
    let refusal = stage::stage(Some(prefix)).err().context("a folder with another library was accepted")?;
    ensure!(
        format!("{refusal:#}").contains("libother.so"),
        "the refusal does not name the stranger: {refusal:#}"
    );
    Ok(())
}
