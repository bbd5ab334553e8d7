//! `sago report`, on reports of one rank, of thousands, and on what is no report.
#![allow(clippy::unwrap_used)]

use sago_report::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn sago(arguments: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sago")).arg("report").args(arguments).output().unwrap()
}

fn text(arguments: &[&Path]) -> String {
    let output = sago(arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn scratch(name: &str, content: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("sago-report-{}-{name}", std::process::id()));
    std::fs::write(&path, content).unwrap();
    path
}

/// A run on so many ranks, every 64th an aggregator, in nodes of 32.
fn report(ranks: u32) -> Report {
    let nodes: Vec<u32> = (0..ranks).map(|rank| rank / 32).collect();
    let part = |rank: u32| {
        let calls = Calls { collective: 9, independent: 0, bytes: 1 << 20 };
        let reason = "the dataset has filters".to_owned();
        let passed = vec![Passed { direction: Direction::Write, reason, calls }];
        let to = rank / 64 * 64;
        let mut one = Contribution {
            times_us: vec![(
                rank,
                vec![100 + u64::from(rank), 20, 30, 0, 40, 0, u64::from(rank == to) * 90, 5],
            )],
            commits: Commits { together: 1, ..Commits::default() },
            sent: vec![(Contribution::place(rank, &nodes), Contribution::place(to, &nodes), 1 << 20)],
            ..Contribution::default()
        };
        let dataset = |name: &str| Dataset { name: name.to_owned(), ..Dataset::default() };
        one.datasets.insert("a".into(), Dataset { written: calls, ..dataset("/a<b>") });
        one.datasets.insert("b".into(), Dataset { passed, ..dataset("/packed") });
        if rank == to {
            let node = nodes[rank as usize];
            let (bytes, room_bytes) = (64 << 20, 64 << 20);
            let aggregator =
                Aggregator { rank, node, rounds: 16, bytes, room_bytes, ..Aggregator::default() };
            one.aggregators.insert(rank, aggregator);
            one.rounds = Rounds { count: 16, bytes, room_bytes };
            let round = |round: u32| {
                let from_us = 1000 * u64::from(round);
                let (full_us, store_us, end_us) = (from_us + 700, from_us + 700, from_us + 1900);
                let (bytes, room_bytes) = (4 << 20, 4 << 20);
                let (commit, kind) = (1, RoundKind::Write);
                Round { rank, commit, round, kind, from_us, full_us, store_us, end_us, bytes, room_bytes }
            };
            one.timeline = (0..16).map(round).collect();
        }
        one.bound();
        one
    };
    let mut all = part(0);
    (1..ranks).for_each(|rank| all.merge(part(rank)));
    let phases =
        &["capturing", "planning", "copying", "exchanging", "waiting", "storing", "background", "agreeing"];
    let network = "flat link=10GB/s".to_owned();
    let (file, mode) = ("/data/run.h5".to_owned(), "window".to_owned());
    all.finish(Facts { file, mode, network, nodes, phases, open_us: 50_000, ..Facts::default() })
}

#[test]
fn one_rank_and_thousands_become_text_and_a_page() {
    for ranks in [1, 8, 64, 65, 4096] {
        let file = scratch(&format!("{ranks}.jsonl"), &report(ranks).line());
        let said = text(&[&file]);
        assert!(said.contains("9 collective calls became 1 commit"), "{said}");
        assert!(said.contains("dataset /packed was left to HDF5"), "{said}");
        let page = file.with_extension("html");
        assert_eq!(text(&[&file, Path::new("--html"), &page]), "");
        let html = std::fs::read_to_string(&page).unwrap();
        assert!(html.len() < 2 << 20, "{} bytes for {ranks} ranks", html.len());
        assert!(html.contains("/a&lt;b&gt;") && !html.contains("/a<b>"));
        assert_eq!(html.matches("<svg ").count(), 5, "{ranks} ranks");
        assert_eq!(html.matches("<svg ").count(), html.matches("</svg>").count());
        assert!(!html.contains("NaN") && !html.contains("inf\""), "{ranks} ranks");
        let aggregators = ranks.div_ceil(64) as usize;
        assert_eq!(html.matches("class=\"c-store\"").count(), 1 + 16 * aggregators.min(32), "{ranks} ranks");
        [file, page].iter().for_each(|path| std::fs::remove_file(path).unwrap());
    }
}

#[test]
fn several_are_compared_and_lines_of_processes_passed_over() {
    let process = r#"{"sago":"0.1.0","hdf5":"2.2.0","pid":1,"calls":{}}"#;
    let both = scratch("both.jsonl", &format!("{}{process}\n{}", report(4).line(), report(8).line()));
    let said = text(&[&both]);
    let row = said.lines().find(|line| line.starts_with("ranks ")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["ranks", "4", "8"]);
    let json: serde_json::Value = serde_json::from_str(&text(&[&both, Path::new("--json")])).unwrap();
    assert_eq!(json[1]["report"]["ranks"], 8);
    assert_eq!(json[0]["advice"][0]["kind"], "good");
    std::fs::remove_file(both).unwrap();
}

#[test]
fn what_is_no_report_is_named() {
    let complaint = |file: &Path| {
        let output = sago(&[file]);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let cases = [
        ("only.jsonl", "{\"sago\":\"0.1.0\",\"calls\":{}}\n", "no report of a file in"),
        ("text.jsonl", "\nhello\n", "line 2: expected value"),
        (
            "later.jsonl",
            "{\"schema\":2,\"kind\":\"file\"}\n",
            "line 1: the report has schema 2, and this sago knows 1",
        ),
    ];
    for (name, content, sentence) in cases {
        let file = scratch(name, content);
        let said = complaint(&file);
        assert!(said.contains(sentence), "{said}");
        std::fs::remove_file(file).unwrap();
    }
    assert!(complaint(Path::new("/no/such/file")).contains("cannot read /no/such/file"));
}
