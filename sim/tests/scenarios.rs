//! What is said of bad scenarios: a sentence, the line, and the place in it.
#![allow(clippy::unwrap_used)]

use sago_sim::{Scenario, ScenarioError};

const GOOD: &str = "\
machine  flat nodes=2 link=1GB/s ranks_per_node=2
storage  lustre targets=2 stripe=1MiB target=100MB/s
pattern  soa vars=3 bytes=4KiB
";

/// The error of the good scenario with a line replaced or added.
fn refused(line: &str) -> ScenarioError {
    let key = line.split(' ').next().unwrap();
    let kept: String = GOOD.lines().filter(|l| !l.starts_with(key)).map(|l| format!("{l}\n")).collect();
    Scenario::parse(&format!("{kept}\n# a comment\n{line} # and why\n")).unwrap_err()
}

#[test]
fn the_place_is_pointed_at() {
    let place = |line: &str| {
        let error = refused(line);
        (error.text[error.at..].split(' ').next().unwrap().to_owned(), error.sentence)
    };
    for (line, word, part) in [
        ("machine torus dims=4x0 link=1GB/s", "4x0", "sizes of 1 to 8 dimensions"),
        ("storage lustre targets=0 stripe=1MiB target=1GB/s", "0", "number of storage targets"),
        ("storage lustre targets=2 stripe=1MiB target=1GB/s servers=0,9", "servers=0,9", "no node 9"),
        ("storage lustre targets=2 stripe=1MiB target=1GB/s fragments=2+1", "2+1", "no more than"),
        ("storage lustr targets=2 stripe=1MiB target=1GB/s", "lustr", "did you mean `lustre`?"),
        ("storage lustre targets=2 stripe=1MiB target=1GB/s locks=1ms", "locks=1ms", "did you mean `lock`?"),
        ("pattern tiles grid=4x4 tile=2x2 element=4", "tiles", "16 ranks"),
        ("options buffer=0", "buffer=0", "cannot be `0`"),
        ("two-phase domains=odd", "odd", "`even`, `aligned` or `striped`"),
        ("files 3", "3", "divides 4"),
        ("costs message=5", "5", "a time with its unit"),
        ("strategies sago twophase", "twophase", "two-phase"),
        ("direction up", "up", "`write` or `read`"),
        ("seed x", "x", "a whole number"),
        ("fault write rank=4", "4", "a rank below 4"),
        ("fault target number=2 slow=2", "2", "below 2"),
        ("fault link class=global slow=2", "global", "one of memory"),
        ("mashine flat", "mashine", "did you mean `machine`?"),
    ] {
        let (found, sentence) = place(line);
        assert_eq!(found, word, "{line}: {sentence}");
        assert!(sentence.contains(part), "{line}: {sentence}");
    }
}

#[test]
fn missing_and_doubled_lines_are_named() {
    assert!(
        Scenario::parse("machine flat nodes=1 link=1GB/s").unwrap_err().sentence.contains("`storage ...`")
    );
    let twice = Scenario::parse(&format!("{GOOD}pattern soa vars=1 bytes=1")).unwrap_err();
    assert_eq!((twice.line, twice.sentence.as_str()), (4, "`pattern` stands in line 3 already"));
}
