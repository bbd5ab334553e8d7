//! The two variables with which HDF5 finds and chooses a connector, and what lies where they point.

use super::child;
use super::finding::Findings;
use crate::options::CONNECTOR;
use sago_core::text::nearest;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

const PLUGIN_PATH: &str = "HDF5_PLUGIN_PATH";
const PRELOAD: &str = "HDF5_PLUGIN_PRELOAD";
const LIBRARY: &str = "libsago_vol.so";

/// Whether HDF5 is told to use Sago.
pub fn connector(findings: &mut Findings) -> bool {
    const ABOUT: &str = "connector";
    let fix = format!("export {CONNECTOR}=sago");
    let Ok(text) = env::var(CONNECTOR) else {
        findings.problem(ABOUT, format!("{CONNECTOR} is not set: programs run without Sago"), fix);
        return false;
    };
    let name = text.split_whitespace().next().unwrap_or("");
    match name {
        "sago" => findings.fine(ABOUT, format!("{CONNECTOR}={text}")),
        _ if text.contains("7246") || text.contains("under_vol=sago") => {
            findings.note(ABOUT, format!("{CONNECTOR}={text}: Sago may be below `{name}`"));
            return false;
        }
        _ => {
            let known = ["sago", "native", "pass_through", "async", "cache", "daos", "rest"];
            let guess = if nearest(name, known.into_iter()) == "sago" { ", misspelt" } else { "" };
            findings.problem(ABOUT, format!("{CONNECTOR} names `{name}`, not `sago`{guess}"), fix);
            return false;
        }
    }
    true
}

/// What HDF5 finds in the folders that it searches, in their order.
pub fn plugins(findings: &mut Findings) {
    const ABOUT: &str = "plugin";
    if env::var(PRELOAD).is_ok_and(|value| value == "::") {
        findings.problem(ABOUT, format!("{PRELOAD}=:: forbids all plugins"), format!("unset {PRELOAD}"));
    }
    let path = env::var(PLUGIN_PATH).unwrap_or_default();
    let fix = format!("export {PLUGIN_PATH}={}", installed());
    if path.is_empty() {
        findings.problem(ABOUT, format!("{PLUGIN_PATH} is not set: HDF5 does not find the plugin"), fix);
        return;
    }
    let mut ours: Vec<PathBuf> = Vec::new();
    for folder in path.split(':').filter(|f| !f.is_empty()).map(Path::new) {
        match fs::read_dir(folder) {
            Ok(entries) => {
                let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
                files.sort();
                foreign(findings, &files);
                ours.extend(files.into_iter().filter(|f| f.file_name().is_some_and(|n| n == LIBRARY)));
            }
            Err(e) => {
                let what = format!("{} in {PLUGIN_PATH} cannot be read: {e}", folder.display());
                findings.problem(ABOUT, what, fix.clone());
            }
        }
    }
    match &ours[..] {
        [] => findings.problem(ABOUT, format!("there is no {LIBRARY} in {PLUGIN_PATH}={path}"), fix),
        [first, rest @ ..] => {
            findings.fine(ABOUT, first.display().to_string());
            rest.iter().for_each(|other| findings.note(ABOUT, format!("not used: {}", other.display())));
        }
    }
}

/// HDF5 loads whatever is called `lib*.so*` there, so what is no plugin has no business there.
fn foreign(findings: &mut Findings, files: &[PathBuf]) {
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with("lib") || !name.contains(".so") {
            continue;
        }
        let what = match child::is_plugin(file) {
            Ok(true) => continue,
            Ok(false) => format!("{} is no HDF5 plugin, and HDF5 loads it all the same", file.display()),
            Err(reason) => format!("{} cannot be loaded: {reason}", file.display()),
        };
        findings.problem("plugin", what, format!("mv {} elsewhere", file.display()));
    }
}

/// The folder with the plugin, as far as it can be told from where this program lies.
fn installed() -> String {
    let program = env::current_exe().unwrap_or_default();
    let above = program.ancestors().skip(1);
    let places = above.flat_map(|folder| ["lib", "plugins/lib"].map(|place| folder.join(place)));
    let found = places.into_iter().find(|place| place.join(LIBRARY).exists());
    found.map_or_else(|| format!("FOLDER    # the one with {LIBRARY}"), |place| place.display().to_string())
}
