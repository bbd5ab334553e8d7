//! `sago options`, and what is made of the same tables.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Output};

fn sago(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sago"));
    command
        .args(arguments)
        .env_remove("HDF5_VOL_CONNECTOR")
        .env("SAGO_SITE_CONFIG", "")
        .env("SAGO_CONFIG", "");
    command.envs(variables.iter().copied()).output().unwrap()
}

fn printed(arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let output = sago(arguments, variables);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_page_in_docs_is_the_table() {
    let page = include_str!("../../docs/OPTIONS.md");
    assert!(
        printed(&["options", "--markdown"], &[]) == page,
        "docs/OPTIONS.md is old: sago options --markdown > docs/OPTIONS.md"
    );
}

#[test]
fn what_is_in_force_comes_with_its_place() {
    let file = std::env::temp_dir().join(format!("sago-options-{}.toml", std::process::id()));
    std::fs::write(&file, "groups = 3\nbuffer = '1MiB'\n").unwrap();
    let path = file.to_str().unwrap();
    let variables =
        [("SAGO_CONFIG", path), ("SAGO_BUFFER", "2MiB"), ("HDF5_VOL_CONNECTOR", "sago stripe=4MiB")];
    let text = printed(&["options", "--in-force", "--json"], &variables);
    std::fs::remove_file(&file).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let seen = |name: &str| {
        let option = &json[name];
        [&option["value"], &option["source"], &option["which"]].map(|v| v.as_str().unwrap().to_owned())
    };
    assert_eq!(seen("groups"), ["3", "user file", path]);
    assert_eq!(seen("buffer"), ["2MiB", "environment", "SAGO_BUFFER"]);
    assert_eq!(seen("stripe"), ["4MiB", "connector", ""]);
    assert_eq!(seen("targets"), ["auto", "default", ""]);
}

#[test]
fn wrong_ones_are_named() {
    let output = sago(&["options", "--in-force"], &[("SAGO_BUFER", "1MiB")]);
    assert_eq!(output.status.code(), Some(2));
    let sentence = String::from_utf8(output.stderr).unwrap();
    assert!(sentence.contains("in the variable SAGO_BUFER: unknown option `bufer`; did you mean `buffer`?"));
}

#[test]
fn every_command_is_in_help_completions_and_the_manual() {
    let texts = [
        printed(&["help"], &[]),
        printed(&["completions", "--shell", "bash"], &[]),
        printed(&["completions", "--shell", "zsh"], &[]),
        printed(&["completions", "--shell", "fish"], &[]),
        printed(&["manual"], &[]),
    ];
    for name in ["doctor", "options", "explain", "sim", "completions", "manual"] {
        assert!(texts.iter().all(|text| text.contains(name)), "{name}");
        assert!(printed(&["help", name], &[]).contains(&format!("sago {name}")));
        assert_eq!(printed(&["help", name], &[]), printed(&[name, "--help"], &[]));
    }
    assert!(texts[1].contains("buffer=") && texts[4].contains("group_ranks_min"));
}

#[test]
fn bash_completes() {
    let script = printed(&["completions", "--shell", "bash"], &[])
        + "COMP_WORDS=(sago doctor --p); COMP_CWORD=2; _sago; echo \"${COMPREPLY[@]}\"\n";
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "--python --prefix", "{:?}", output.stderr);
}
