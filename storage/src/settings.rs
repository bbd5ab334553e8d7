//! Where the options of a process lie: the site's file, the user's file, and variables. Here they are read, as texts;
//! what they mean is decided in the core.

use sago_core::config::{FileText, SITE_FILE, SWITCH, Surroundings, USER_FILE};
use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;

const SITE: &str = "/etc/sago/config.toml";
const USER: &str = "sago/config.toml";

/// What this process finds around it now.
pub fn surroundings() -> Surroundings {
    let variables = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
        .filter(|(name, _)| name.starts_with(SWITCH));
    Surroundings {
        site: text(named(SITE_FILE), Some(PathBuf::from(SITE))),
        user: text(named(USER_FILE), user_file()),
        variables: variables.collect(),
    }
}

/// The file that a variable names.
fn named(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from)
}

fn user_file() -> Option<PathBuf> {
    let absolute = |variable| named(variable).filter(|path| path.is_absolute());
    let folder = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    Some(folder?.join(USER))
}

/// A file that was named must be there, unless the name is empty; the usual one may be missing, or be out of reach.
fn text(named: Option<PathBuf>, usual: Option<PathBuf>) -> Option<FileText> {
    let (path, must_be_there) = match named {
        Some(path) if path.as_os_str().is_empty() => return None,
        Some(path) => (path, true),
        None => (usual?, false),
    };
    let missing = |e: &io::Error| {
        matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) && !must_be_there
    };
    let text = match fs::read_to_string(&path) {
        Err(e) if missing(&e) => return None,
        read => read.map_err(|e| format!("it cannot be read: {e}")),
    };
    Some(FileText { path: path.display().to_string(), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_were_named_must_be_there() {
        let nowhere = || Some(PathBuf::from("/no/such/file"));
        assert!(text(None, nowhere()).is_none());
        assert!(text(Some(PathBuf::new()), nowhere()).is_none());
        let found = text(nowhere(), None).unwrap();
        assert_eq!(found.path, "/no/such/file");
        assert!(found.text.unwrap_err().starts_with("it cannot be read: No such file"));
    }

    #[test]
    fn files_are_read_whole() {
        let file = env::temp_dir().join(format!("sago-settings-{}", std::process::id()));
        fs::write(&file, "buffer = '1MiB'\n").unwrap();
        let found = text(None, Some(file.clone())).unwrap();
        fs::remove_file(&file).unwrap();
        assert_eq!(found.text.as_deref(), Ok("buffer = '1MiB'\n"));
    }
}
