//! Which HDF5 a program uses, and which MPI below it.

use super::child::{self, linked};
use super::finding::Findings;
use std::path::{Path, PathBuf};

const HDF5: &str = "HDF5";
const NAME_ONE: &str = "sago doctor --exe PROGRAM | --python INTERPRETER | --prefix FOLDER";

/// The HDF5 to be examined.
pub struct Target {
    pub library: PathBuf,
    /// The interpreter whose h5py brought it, and loads it where nobody else can.
    pub python: Option<PathBuf>,
    /// As h5py tells it.
    version: Option<Version>,
}

type Version = (u32, u32, u32);

pub enum Asked<'a> {
    Program(&'a Path),
    Python(&'a Path),
    Prefix(&'a Path),
    /// Python's, or the one that the linker finds.
    Any,
}

pub fn find(asked: &Asked<'_>, findings: &mut Findings) -> Option<Target> {
    match asked {
        Asked::Program(program) => of_program(program, findings),
        Asked::Python(python) => of_python(python, findings).map_err(|fault| fault.tell(findings)).ok(),
        Asked::Prefix(prefix) => in_prefix(prefix, findings),
        Asked::Any => any(findings),
    }
}

/// What is wrong, and what to do about it.
struct Fault {
    what: String,
    fix: String,
}

impl Fault {
    fn tell(self, findings: &mut Findings) {
        findings.problem(HDF5, self.what, self.fix);
    }
}

fn any(findings: &mut Findings) -> Option<Target> {
    if let Ok(target) = of_python(Path::new("python3"), findings) {
        return Some(target);
    }
    let listed = child::output("ldconfig", &["-p".as_ref()], &[]).unwrap_or_default();
    let found =
        listed.lines().filter(|l| l.trim_start().starts_with("libhdf5")).find_map(|l| l.split("=> ").nth(1));
    let Some(library) = found else {
        findings.problem(
            HDF5,
            "no HDF5 was found: neither h5py nor a library that the linker knows",
            NAME_ONE,
        );
        return None;
    };
    findings.note(HDF5, format!("examining the library that the linker finds; {NAME_ONE} examines another"));
    Some(Target { library: library.trim().into(), python: None, version: None })
}

fn of_program(program: &Path, findings: &mut Findings) -> Option<Target> {
    let libraries = match linked(program) {
        Ok(libraries) => libraries,
        Err(reason) => {
            let what = format!("{} cannot be examined: {reason}", program.display());
            findings.problem(HDF5, what, "sago doctor --exe PATH_OF_THE_PROGRAM");
            return None;
        }
    };
    let hdf5 = libraries.iter().find(|(name, _)| is_hdf5(name));
    let mpi = libraries.iter().any(|(name, _)| mpi_abi(name).is_some());
    match hdf5 {
        None => {
            let what = format!(
                "{} uses no shared HDF5: plugins need one (or a static one that the program exports)",
                program.display()
            );
            findings.problem(
                HDF5,
                what,
                "link with -lhdf5 of a shared HDF5 1.14 or newer, or with -rdynamic",
            );
            None
        }
        Some((name, None)) => {
            findings.problem(
                HDF5,
                format!("{} needs {name}, which is not found", program.display()),
                "export LD_LIBRARY_PATH=FOLDER_WITH_IT:$LD_LIBRARY_PATH",
            );
            None
        }
        Some((_, Some(library))) => {
            let below = linked(library).unwrap_or_default();
            if mpi && !below.iter().any(|(name, _)| mpi_abi(name).is_some()) {
                let what =
                    format!("the program uses MPI, and its HDF5 ({}) was built without", library.display());
                findings.problem("MPI", what, "link with a parallel HDF5 (h5pcc, or HDF5 built with MPI)");
            }
            Some(Target { library: library.clone(), python: None, version: None })
        }
    }
}

fn in_prefix(prefix: &Path, findings: &mut Findings) -> Option<Target> {
    let places = ["lib/libhdf5.so", "lib64/libhdf5.so", "lib/x86_64-linux-gnu/libhdf5.so", "libhdf5.so"];
    let found = places.iter().map(|place| prefix.join(place)).find(|file| file.exists());
    if found.is_none() {
        let what = format!("there is no lib/libhdf5.so in {}", prefix.display());
        findings.problem(HDF5, what, "sago doctor --prefix FOLDER_WITH_lib/libhdf5.so");
    }
    found.map(|library| Target { library, python: None, version: None })
}

const WHICH: &str = "
import h5py
paths = {l.split()[-1] for l in open('/proc/self/maps') if '/libhdf5' in l}
print(h5py.__version__, h5py.get_config().mpi, h5py.version.hdf5_version, [p for p in paths if '_hl' not in p][0])
";

fn of_python(python: &Path, findings: &mut Findings) -> Result<Target, Fault> {
    let native = [("HDF5_VOL_CONNECTOR", None), ("HDF5_PLUGIN_PATH", None)];
    let answer =
        child::output(python, &["-c".as_ref(), WHICH.as_ref()], &native).map_err(|reason| Fault {
            what: format!(
                "{} has no working h5py: {}",
                python.display(),
                reason.lines().last().unwrap_or("")
            ),
            fix: format!("{} -m pip install h5py", python.display()),
        })?;
    let mut words = answer.split_whitespace();
    let (version, mpi) = (words.next().unwrap_or("?"), words.next() == Some("True"));
    let kind = if mpi { "parallel" } else { "serial" };
    findings.fine("Python", format!("{} with {kind} h5py {version}", python.display()));
    let mut numbers = words.next().unwrap_or("").split('.').map(|n| n.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    let version = Some((next(), next(), next()));
    Ok(Target { library: words.next().unwrap_or("").into(), python: Some(python.to_owned()), version })
}

/// The version, whether it is new enough, and what it is linked to.
pub fn examine(target: &Target, findings: &mut Findings) -> bool {
    let shown = target.library.display();
    let lost = linked(&target.library).unwrap_or_default().into_iter().find(|(_, at)| at.is_none());
    if let (Some((name, _)), None) = (lost, &target.python) {
        let about = if mpi_abi(&name).is_some() { "MPI" } else { HDF5 };
        let what = format!("{shown} needs {name}, which is not found");
        findings.problem(about, what, "export LD_LIBRARY_PATH=FOLDER_WITH_IT:$LD_LIBRARY_PATH");
        return false;
    }
    match target.version.map_or_else(|| child::version(&target.library), Ok) {
        Err(reason) => {
            let fix = "check that it is the HDF5 that programs use, and reinstall it";
            findings.problem(HDF5, format!("{shown} cannot be used: {reason}"), fix);
            false
        }
        Ok(version) if version < (1, 14, 0) => {
            let (major, minor, patch) = version;
            let what = format!("{shown} is HDF5 {major}.{minor}.{patch}; Sago needs 1.14 or newer");
            let fix =
                if target.python.is_some() { "pip install 'h5py>=3.11'" } else { "use HDF5 1.14 or newer" };
            findings.problem(HDF5, what, fix);
            false
        }
        Ok((major, minor, patch)) => {
            findings.fine(HDF5, format!("{shown} ({major}.{minor}.{patch})"));
            mpi(target, findings);
            true
        }
    }
}

fn mpi(target: &Target, findings: &mut Findings) {
    let libraries = linked(&target.library).unwrap_or_default();
    let found = libraries.iter().find_map(|(name, at)| Some((mpi_abi(name)?, at.as_ref()?)));
    match found {
        Some((abi, at)) => findings.fine("MPI", format!("{abi} ({})", at.display())),
        None => findings.note(
            "MPI",
            "this HDF5 was built without MPI: Sago works in each process by itself (for parallel files: a parallel HDF5)",
        ),
    }
}

fn is_hdf5(name: &str) -> bool {
    name.starts_with("libhdf5") && !["_hl", "_cpp", "_fortran", "_f90"].iter().any(|part| name.contains(part))
}

/// The binary interface of an MPI library, by its name.
fn mpi_abi(name: &str) -> Option<&'static str> {
    let (stem, version) = name.split_once(".so")?;
    match (stem, version) {
        ("libmpi_abi", _) => Some("MPI-5's standard ABI"),
        ("libmpich" | "libmpi_cray" | "libmpi_gnu_123", _) | ("libmpi", ".12") => Some("MPICH's ABI"),
        ("libmpi", _) => Some("Open MPI's ABI"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_known_by_their_names() {
        assert_eq!(mpi_abi("libmpich.so.12"), Some("MPICH's ABI"));
        assert_eq!(mpi_abi("libmpi.so.12"), Some("MPICH's ABI"));
        assert_eq!(mpi_abi("libmpi.so.40"), Some("Open MPI's ABI"));
        assert_eq!(mpi_abi("libmpi_abi.so.0"), Some("MPI-5's standard ABI"));
        assert_eq!(mpi_abi("libm.so.6"), None);
        assert!(
            is_hdf5("libhdf5.so.310") && is_hdf5("libhdf5-12ab.so.310") && is_hdf5("libhdf5_openmpi.so.103")
        );
        assert!(!is_hdf5("libhdf5_hl.so.310"));
    }
}
