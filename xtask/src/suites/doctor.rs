//! Suite `doctor`: `sago doctor` finds nothing wrong with working set-ups, and in each of a list of broken ones the
//! problem and the line that fixes it.

use super::{Context, Log, On, Suite};
use crate::proc::{Done, Run};
use crate::world::{Hdf5, Mpi};
use crate::{mpi, place};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub struct Doctor;

impl Suite for Doctor {
    fn name(&self) -> &'static str {
        "doctor"
    }

    fn about(&self) -> &'static str {
        "sago doctor knows working set-ups from broken ones, and names the fix"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        let clinic = Clinic::new(context)?;
        for hdf5 in &context.world.hdf5 {
            log.case(&On::hdf5(hdf5), "a prefix that works", clinic.well_prefix(hdf5));
            log.case(&On::hdf5(hdf5), "a program that works", clinic.well_program(hdf5));
        }
        for python in context.world.pythons.iter().filter(|p| p.h5py.is_some()) {
            let arguments = ["--python".to_owned(), python.python().display().to_string()];
            log.case(&On::python(python), "h5py that works", clinic.well(&arguments, "Sago was active"));
        }
        let hdf5 = context.world.newest(Mpi::Mpich)?;
        for (name, result) in clinic.broken(hdf5)? {
            log.case(&On::hdf5(hdf5), name, result);
        }
        Ok(())
    }
}

struct Clinic<'c> {
    context: &'c Context,
    sago: PathBuf,
}

impl<'c> Clinic<'c> {
    fn new(context: &'c Context) -> Result<Self> {
        let target = place::target()?;
        Run::new(place::cargo())
            .args(["build", "--quiet", "--package", "sago-cli", "--target-dir"])
            .arg(&target)
            .dir(place::root())
            .ok()
            .context("building sago")?;
        Ok(Self { context, sago: target.join("debug/sago") })
    }

    /// The command with a working environment, which the caller may then spoil.
    fn doctor(&self, arguments: &[String]) -> Run {
        Run::new(&self.sago)
            .arg("doctor")
            .args(arguments)
            .env("HDF5_PLUGIN_PATH", &self.context.plugins)
            .env("HDF5_VOL_CONNECTOR", "sago")
            .env("SAGO_CONFIG", "")
            .env("SAGO_SITE_CONFIG", "")
            .dir(&self.context.scratch)
            .limit(Duration::from_secs(120))
    }

    fn well(&self, arguments: &[String], sentence: &str) -> Result<()> {
        let done = self.doctor(arguments).ok()?;
        ensure!(done.stdout.ends_with("All is well.\n"), "{}", done.stdout);
        ensure!(done.stdout.contains(sentence), "`{sentence}` is not in\n{}", done.stdout);
        Ok(())
    }

    fn well_prefix(&self, hdf5: &Hdf5) -> Result<()> {
        let abi = if hdf5.mpi == Mpi::Mpich { "MPICH's ABI" } else { "Open MPI's ABI" };
        self.well(&prefix(hdf5), abi)?;
        self.well(&prefix(hdf5), "Sago was active")
    }

    fn well_program(&self, hdf5: &Hdf5) -> Result<()> {
        let source = place::root().join("tests/options/options.c");
        let program = mpi::program(hdf5, &self.context.scratch, &source)?;
        self.well(&["--exe".to_owned(), program.display().to_string()], &format!("({})", hdf5.version))
    }

    /// Each broken set-up, with whether the doctor found it.
    fn broken(&self, hdf5: &Hdf5) -> Result<Vec<(&'static str, Result<()>)>> {
        let prefix = prefix(hdf5);
        let doctor = || self.doctor(&prefix);
        let with_dir =
            |dir: &str| self.doctor(&[&prefix[..], &["--dir".to_owned(), dir.to_owned()]].concat());
        let empty = self.folder("empty")?;
        let plugin = |folder: &Path| format!("{}:{}", folder.display(), self.context.plugins.display());
        Ok(vec![
            (
                "the path is wrong",
                found(
                    doctor().env("HDF5_PLUGIN_PATH", "/no/such/folder"),
                    "/no/such/folder",
                    "export HDF5_PLUGIN_PATH=",
                ),
            ),
            (
                "the path is not set",
                found(
                    doctor().env_remove("HDF5_PLUGIN_PATH"),
                    "HDF5_PLUGIN_PATH is not set",
                    "export HDF5_PLUGIN_PATH=",
                ),
            ),
            (
                "the plugin is missing",
                found(
                    doctor().env("HDF5_PLUGIN_PATH", &empty),
                    "there is no libsago_vol.so",
                    "export HDF5_PLUGIN_PATH=",
                ),
            ),
            (
                "the connector is not set",
                found(
                    doctor().env_remove("HDF5_VOL_CONNECTOR"),
                    "programs run without Sago",
                    "export HDF5_VOL_CONNECTOR=sago",
                ),
            ),
            (
                "the connector is misspelt",
                found(
                    doctor().env("HDF5_VOL_CONNECTOR", "sgao"),
                    "names `sgao`, not `sago`, misspelt",
                    "export HDF5_VOL_CONNECTOR=sago",
                ),
            ),
            (
                "plugins are forbidden",
                found(
                    doctor().env("HDF5_PLUGIN_PRELOAD", "::"),
                    "forbids all plugins",
                    "unset HDF5_PLUGIN_PRELOAD",
                ),
            ),
            (
                "an option is misspelt",
                found(doctor().env("SAGO_BUFER", "1MiB"), "did you mean `buffer`?", "sago options"),
            ),
            (
                "the folder cannot be written to",
                found(with_dir("/proc"), "/proc cannot be written to", "sago doctor --dir"),
            ),
            (
                "the folder is not there",
                found(with_dir("/no/such/a/b"), "cannot be examined", "sago doctor --dir"),
            ),
            (
                "a foreign library is in the folder",
                self.foreign().and_then(|folder| {
                    let run = doctor().env("HDF5_PLUGIN_PATH", plugin(&folder));
                    found(run, "libforeign.so is no HDF5 plugin", "libforeign.so elsewhere")
                }),
            ),
            (
                "a file that is no library is in the folder",
                self.junk().and_then(|folder| {
                    found(
                        doctor().env("HDF5_PLUGIN_PATH", plugin(&folder)),
                        "libjunk.so cannot be loaded",
                        "libjunk.so elsewhere",
                    )
                }),
            ),
            ("HDF5 is older than 1.14", self.old()),
            ("the program's HDF5 is another than it was linked to", self.lost(hdf5)),
            ("the program has no shared HDF5", self.none()),
            ("the program uses MPI and its HDF5 does not", self.serial(hdf5)),
            (
                "the prefix holds no HDF5",
                found(
                    self.doctor(&["--prefix".to_owned(), empty.display().to_string()]),
                    "there is no lib/libhdf5.so",
                    "--prefix",
                ),
            ),
            (
                "Python has no h5py",
                self.bare_python().and_then(|python| {
                    found(
                        self.doctor(&["--python".to_owned(), python]),
                        "has no working h5py",
                        "-m pip install h5py",
                    )
                }),
            ),
        ])
    }

    fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.context.scratch.join(name);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// A shared library, or a program, from a line of C.
    fn compile(&self, code: &str, to: &Path, flags: &[&str]) -> Result<()> {
        let source = self.context.scratch.join("line.c");
        fs::write(&source, code)?;
        Run::new("cc").arg("-o").arg(to).arg(&source).args(flags).ok().map(|_| ())
    }

    fn foreign(&self) -> Result<PathBuf> {
        let folder = self.folder("foreign")?;
        self.compile("int foreign;", &folder.join("libforeign.so"), &["-shared", "-fPIC"])?;
        Ok(folder)
    }

    fn junk(&self) -> Result<PathBuf> {
        let folder = self.folder("junk")?;
        fs::write(folder.join("libjunk.so"), "not a library")?;
        Ok(folder)
    }

    /// What an old HDF5 says of itself is all that is looked at.
    fn old(&self) -> Result<()> {
        let folder = self.folder("old/lib")?;
        let code = "int H5get_libversion(unsigned *a, unsigned *b, unsigned *c) { *a = 1, *b = 12, *c = 2; return 0; }";
        self.compile(code, &folder.join("libhdf5.so"), &["-shared", "-fPIC"])?;
        let prefix = self.context.scratch.join("old").display().to_string();
        found(
            self.doctor(&["--prefix".to_owned(), prefix]),
            "is HDF5 1.12.2; Sago needs 1.14",
            "use HDF5 1.14 or newer",
        )
    }

    /// The library that the program was linked to has gone.
    fn lost(&self, hdf5: &Hdf5) -> Result<()> {
        let program = self.context.scratch.join("lost");
        let (lib, include) =
            (format!("-L{}", hdf5.lib().display()), format!("-I{}", hdf5.include().display()));
        let source = self.context.scratch.join("line.c");
        fs::write(&source, "#include <hdf5.h>\nint main(void) { return H5open(); }")?;
        Run::new(hdf5.mpi.mpicc())
            .arg("-o")
            .arg(&program)
            .arg(&source)
            .args([include, lib, "-lhdf5".to_owned()])
            .ok()?;
        let run =
            self.doctor(&["--exe".to_owned(), program.display().to_string()]).env_remove("LD_LIBRARY_PATH");
        found(run, "needs libhdf5.so", "export LD_LIBRARY_PATH=")
    }

    fn none(&self) -> Result<()> {
        let program = self.context.scratch.join("none");
        self.compile("int main(void) { return 0; }", &program, &[])?;
        let run = self.doctor(&["--exe".to_owned(), program.display().to_string()]);
        found(run, "uses no shared HDF5", "-lhdf5")
    }

    /// A program of MPI with the HDF5 of a wheel, which is serial.
    fn serial(&self, hdf5: &Hdf5) -> Result<()> {
        let serial = self.context.world.pythons.iter().find(|p| p.h5py.is_some() && p.mpi.is_none());
        let root = &serial.context("no serial h5py")?.root;
        let wheel = Run::new("find").arg(root).args(["-name", "libhdf5-*.so*"]).text()?;
        let program = self.context.scratch.join("serial");
        let source = self.context.scratch.join("line.c");
        let code = "int H5open(void); int MPI_Init(void *, void *);\nint main(void) { return MPI_Init(0, 0) + H5open(); }";
        fs::write(&source, code)?;
        let library = Path::new(wheel.lines().next().context("a wheel without HDF5")?);
        let folder = library.parent().context("a library lies in a folder")?;
        Run::new(hdf5.mpi.mpicc())
            .arg("-o")
            .arg(&program)
            .arg(&source)
            .arg(library)
            .arg(format!("-Wl,-rpath,{}", folder.display()))
            .ok()?;
        let run = self.doctor(&["--exe".to_owned(), program.display().to_string()]);
        found(run, "the program uses MPI, and its HDF5", "parallel HDF5")
    }

    /// An interpreter without any packages.
    fn bare_python(&self) -> Result<String> {
        let python = self.context.scratch.join("bare-python");
        fs::write(&python, "#!/bin/sh\nexec python3 -I -S \"$@\"\n")?;
        Run::new("chmod").arg("+x").arg(&python).ok()?;
        Ok(python.display().to_string())
    }
}

fn prefix(hdf5: &Hdf5) -> Vec<String> {
    vec!["--prefix".to_owned(), hdf5.prefix.display().to_string()]
}

/// The problem is named, the line after it fixes it, and the exit status tells.
fn found(run: Run, problem: &str, fix: &str) -> Result<()> {
    let done: Done = run.run()?;
    ensure!(done.status.code() == Some(1), "not status 1: {}", done.explain());
    let mut lines = done.stdout.lines().skip_while(|l| !(l.contains("PROBLEM") && l.contains(problem)));
    ensure!(lines.next().is_some(), "`{problem}` is not in\n{}", done.stdout);
    let line = lines.find(|l| l.contains("fix:"));
    ensure!(line.is_some_and(|l| l.contains(fix)), "`{fix}` is not the fix in\n{}", done.stdout);
    Ok(())
}
