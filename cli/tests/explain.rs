//! The command as a user sees it.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Output};

fn sago(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sago")).args(arguments).output().unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = sago(arguments);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

const MACHINE: &str = "flat nodes=4 link=1GB/s";
const PATTERN: &str = "aos vars=3 bytes=20";

#[test]
fn a_plan_is_explained() {
    let options = "exchange=aggregate buffer=240B stripe=240B aggregators=1";
    let output = sago(&["explain", "--machine", MACHINE, "--pattern", PATTERN, "--options", options]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    for expected in [
        "array of structures",
        "P0 on N0",
        "100% full",
        "C1 6.19us",
        "next best N1",
        "links       link: 360B",
        "why         placement",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn json_is_json() {
    let machine = concat!(env!("CARGO_MANIFEST_DIR"), "/../core/tests/fixtures/machines/bgq-512.txt");
    let output = sago(&[
        "explain",
        "--machine",
        machine,
        "--pattern=aos bytes=64KiB",
        "--options=exchange=bridge",
        "--json",
    ]);
    assert!(output.status.success(), "{output:?}");
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["ranks"], 8192);
    assert_eq!(value["bridges"]["bridges"], 8);
    let bytes: u64 =
        value["aggregators"].as_array().unwrap().iter().map(|a| a["bytes"].as_u64().unwrap()).sum();
    assert_eq!(bytes, value["bytes"].as_u64().unwrap());
}

#[test]
fn slurm_gives_the_shape_and_reads_are_planned_too() {
    let conf = concat!(env!("CARGO_MANIFEST_DIR"), "/../core/tests/fixtures/machines/slurm-tree.conf");
    let output = sago(&[
        "explain",
        "--slurm",
        conf,
        "--machine",
        "tree link=1GB/s,100MB/s ranks_per_node=2",
        "--pattern",
        PATTERN,
        "--read",
    ]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("shape=((4)(4)(3))"), "{text}");
    assert!(text.contains("22 ranks on 11 nodes read"), "{text}");
}

#[test]
fn mistakes_are_pointed_at() {
    assert_eq!(
        refused(&["explain", "--machine", "torus dims=4x0 link=1GB/s", "--pattern", PATTERN]),
        "sago: in the machine: `dims` cannot be `4x0`: it takes the sizes of 1 to 8 dimensions, for example 4x4x4x4x2\n  \
         torus dims=4x0 link=1GB/s\n             ^\n"
    );
    let options = refused(&[
        "explain",
        "--machine",
        MACHINE,
        "--pattern",
        PATTERN,
        "--options",
        "stripe=1MiB bufer=1MiB",
    ]);
    assert!(options.contains("did you mean `buffer`?"), "{options}");
    assert!(options.ends_with("  stripe=1MiB bufer=1MiB\n              ^\n"), "{options}");
    let pattern =
        refused(&["explain", "--machine", MACHINE, "--pattern", "tiles grid=4x4 tile=2x2 element=4"]);
    assert!(pattern.contains("places for 16 ranks, and the machine has 4"), "{pattern}");
    let nodes =
        refused(&["explain", "--machine", MACHINE, "--pattern", PATTERN, "--options", "aggregator_nodes=7"]);
    assert!(nodes.contains("node 7, but the machine's nodes are 0 to 3"), "{nodes}");
    let bridge =
        refused(&["explain", "--machine", MACHINE, "--pattern", PATTERN, "--options", "exchange=bridge"]);
    assert!(bridge.contains("needs a machine with bridge nodes"), "{bridge}");
    assert!(refused(&["explain", "--machine", MACHINE]).contains("`--pattern` is missing"));
    assert!(refused(&["explain", "--machin", MACHINE]).contains("did you mean `--machine`?"));
    assert!(refused(&["explian"]).contains("there is no command `explian`"));
    assert!(
        refused(&["explain", "--slurm", "/nowhere", "--machine", MACHINE]).contains("cannot read /nowhere")
    );
}
