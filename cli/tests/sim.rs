//! `sago sim` as a user sees it.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn sago(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sago")).args(arguments).output().unwrap()
}

fn printed(arguments: &[&str]) -> String {
    let output = sago(arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = sago(arguments);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn a_named_scenario_becomes_a_table() {
    let text = printed(&["sim", "laptop"]);
    for expected in ["seed 1", "\nsago ", "\ntwo-phase ", "\nindependent ", "conserved", "events"] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    assert!(printed(&["sim", "--list"]).contains("mira-hacc-4096"));
}

#[test]
fn json_is_the_same_every_time() {
    let arguments = ["sim", "laptop", "--set", "storage.jitter=0.5", "--set", "seed=3", "--json"];
    let once = printed(&arguments);
    assert_eq!(once, printed(&arguments));
    let json: Value = serde_json::from_str(&once).unwrap();
    assert_eq!(json["seed"], 3);
    let sago = &json["outcomes"][0];
    assert_eq!(sago["strategy"], "sago");
    assert_eq!(sago["written_bytes"], sago["bytes"]);
    assert_eq!(sago["good"], true);
}

#[test]
fn scenario_files_are_read_and_pictures_written() {
    let (scenario, picture) = (file("scenario.txt"), file("picture.svg"));
    std::fs::write(
        &scenario,
        "machine torus dims=4x4 link=1GB/s pset=8 bridges=1,5 # small\n\
         storage gpfs targets=3 stripe=64KiB target=100MB/s\n\npattern soa vars=3 bytes=100KiB\n",
    )
    .unwrap();
    printed(&["sim", scenario.to_str().unwrap(), "--svg", picture.to_str().unwrap()]);
    let svg = std::fs::read_to_string(&picture).unwrap();
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    for expected in ["aggregator 0", "torus", "each gate", "each storage target", "two-phase"] {
        assert!(svg.contains(expected), "{expected}");
    }
}

#[test]
fn a_sweep_is_a_table_and_a_plot() {
    let plot = file("sweep.svg");
    let vary = ["--vary", "pattern.vars=1,9", "--vary", "pattern.bytes=4KiB,64KiB"];
    let text =
        printed(&[&["sim", "sweep", "laptop"], &vary[..], &["--svg", plot.to_str().unwrap()]].concat());
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(std::fs::read_to_string(&plot).unwrap().contains("sago, pattern.vars=9"));
    let json = printed(&[&["sim", "sweep", "laptop", "--json"], &vary[..]].concat());
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[3]["values"]["pattern.bytes"], "64KiB");
    assert_eq!(json[3]["outcomes"].as_array().unwrap().len(), 3);
}

#[test]
fn failures_end_and_are_told() {
    let text =
        printed(&["sim", "racks", "--set", "fault=write rank=3 code=28", "--set", "strategies=independent"]);
    assert!(text.contains("failed: P3 Write error 28"), "{text}");
}

#[test]
fn mistakes_are_pointed_at() {
    let path = file("bad.txt");
    std::fs::write(
        &path,
        "machine flat nodes=2 link=1GB/s\nstorage lustre targets=2 stripe=1MiB taget=1GB/s\n",
    )
    .unwrap();
    let text = refused(&["sim", path.to_str().unwrap()]);
    assert!(text.contains("line 2: a lustre storage needs `target=...`"), "{text}");
    assert!(text.lines().nth(2).unwrap().ends_with('^'), "{text}");
    assert!(refused(&["sim", "laptpo"]).contains("did you mean `laptop`?"));
    assert!(refused(&["sim", "laptop", "--set", "patern.vars=3"]).contains("did you mean `pattern`?"));
    assert!(refused(&["sim", "laptop", "--set", "pattern.vars=0"]).contains("`vars` cannot be `0`"));
    assert!(refused(&["sim", "sweep", "laptop"]).contains("--vary LINE.WORD=A,B"));
    assert!(refused(&["sim", "sweep", "laptop", "--vary", "pattern.vars=1,x"]).contains("with x"));
    assert!(refused(&["sim", "papers", "--only", "tapioka"]).contains("did you mean `tapioca"));
    assert!(refused(&["sim"]).contains("name a scenario"));
}
