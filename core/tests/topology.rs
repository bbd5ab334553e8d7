//! Machines as text, and the promises that every network keeps.
#![allow(clippy::unwrap_used)]

use sago_core::ids::{NodeId, Rank};
use sago_core::random::Random;
use sago_core::topology::{Fabric, IoSide, Machine, slurm};
use std::path::PathBuf;

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/machines")
}

fn machines() -> Vec<(String, Machine)> {
    let mut all: Vec<_> = std::fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "txt"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (text.trim().to_owned(), text.parse().unwrap())
        })
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(all.len() >= 7);
    all
}

#[test]
fn captured_machines_are_in_normal_form() {
    for (text, machine) in machines() {
        assert_eq!(machine.to_string(), text);
    }
}

#[test]
fn other_units_and_orders_come_out_in_normal_form() {
    let machine: Machine =
        "tree link=400Mbit/s,50Mbit/s map=cyclic shape=((2)(2)) ranks_per_node=2 latency=0.1ms"
            .parse()
            .unwrap();
    assert_eq!(
        machine.to_string(),
        "tree shape=((2)(2)) link=50MB/s,6.25MB/s latency=100us memory=8GB/s gateways=unknown io_link=50MB/s \
         ranks_per_node=2 map=cyclic"
    );
    assert_eq!(machine.node(Rank(5)), NodeId(1));
}

#[test]
fn routes_are_chains_as_long_as_the_distance_and_as_wide_as_the_bandwidth() {
    for (text, machine) in machines() {
        let mut random = Random::new(7);
        let classes = machine.classes();
        for _ in 0..500 {
            let mut any = || NodeId(random.below(u64::from(machine.nodes())) as u32);
            let (a, b) = (any(), any());
            let route = machine.route(a, b);
            assert_eq!(route.len() as u32, machine.distance(a, b), "{text} {a} {b}");
            assert_eq!(machine.distance(a, b), machine.distance(b, a), "{text} {a} {b}");
            if a != b {
                assert_eq!((route[0].from, route[route.len() - 1].to), (a.0, b.0), "{text}");
                assert!(route.windows(2).all(|pair| pair[0].to == pair[1].from), "{text} {route:?}");
                let narrowest = route
                    .iter()
                    .map(|l| classes[usize::from(l.class)].bytes_per_s)
                    .fold(f64::INFINITY, f64::min);
                assert_eq!(narrowest, machine.bytes_per_s(a, b), "{text} {a} {b} {route:?}");
            }
            let coordinates = machine.fabric().coordinates(a);
            assert_eq!(coordinates.len(), machine.fabric().dimensions().len());
        }
    }
}

#[test]
fn a_torus_routes_in_its_order_the_short_way_round() {
    let machine: Machine = "torus dims=4x5 link=1GB/s order=BA".parse().unwrap();
    let path: Vec<_> = machine.route(NodeId(0), NodeId(14)).iter().map(|link| link.to).collect();
    assert_eq!(path, [4, 9, 14]);
    assert_eq!(machine.fabric().coordinates(NodeId(14)), [2, 4]);
}

#[test]
fn every_pset_has_its_bridges_and_shares_them_evenly() {
    let (_, machine) = machines().into_iter().find(|(text, _)| text.contains("4x4x4x4x2")).unwrap();
    let io = machine.io_nodes().unwrap();
    assert_eq!(io.len(), 4);
    assert_eq!(io[1].gates, [NodeId(138), NodeId(140)]);
    assert_eq!(machine.distance_to_io(NodeId(138), &io[1]), 1);
    let mut share = std::collections::BTreeMap::new();
    for node in 0..512 {
        *share.entry(machine.io().default_bridge(NodeId(node)).unwrap()).or_insert(0) += 1;
    }
    assert_eq!(share.len(), 8);
    assert!(share.values().all(|count| *count == 64));
}

#[test]
fn gateways_may_have_a_known_place() {
    let machine: Machine = "flat nodes=8 link=1GB/s gateways=3+4,7".parse().unwrap();
    assert!(matches!(machine.io(), IoSide::Gateways(io) if io.len() == 2));
    assert_eq!(machine.io_node_of(NodeId(7)).unwrap().gates, [NodeId(7)]);
    assert!(machine.to_string().contains("gateways=3+4,7"));
}

#[test]
fn slurm_trees_and_blocks_are_read() {
    let read = |name: &str| slurm::read(&std::fs::read_to_string(fixtures().join(name)).unwrap()).unwrap();
    let tree = read("slurm-tree.conf");
    assert_eq!(tree.shape.to_string(), "((4)(4)(3))");
    assert_eq!(tree.node_names[8..], ["tux8", "tux09", "tux10"]);
    let fabric = tree.tree(vec![1e9, 0.5e9]);
    assert_eq!(fabric.distance(NodeId(0), NodeId(3)), 2);
    assert_eq!(fabric.distance(NodeId(0), NodeId(10)), 4);
    let block = read("slurm-block.conf");
    assert_eq!(block.shape.to_string(), "((18)(18))");
    assert_eq!(block.node_names.len(), 36);
}

#[test]
fn slurm_mistakes_name_the_line() {
    let refused = |text: &str| slurm::read(text).unwrap_err().to_string();
    assert_eq!(
        refused("SwitchName=a Nodes=n[3-1]"),
        "line 1: `n[3-1]` is not a list of names such as n[0-3],m7"
    );
    assert!(refused("\nSwitchName=a Switches=b").starts_with("line 2: switch `b` is described nowhere"));
    assert!(refused("SwitchName=a Switches=b\nSwitchName=b Switches=a").contains("below itself"));
    assert!(refused("Nodes=n1").contains("line 1"));
    assert!(refused("SwitchName a").contains("`SwitchName` is not of the form"));
    assert!(
        refused("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1").contains("line 2: `n1` is described twice")
    );
    assert!(refused("# nothing").contains("no line names any nodes"));
}

#[test]
fn mistakes_point_at_the_place_and_say_what_was_expected() {
    let refused = |text: &str| {
        let error = text.parse::<Machine>().unwrap_err();
        (error.at(), error.to_string())
    };
    assert_eq!(
        refused("tours dims=4x4 link=1GB/s"),
        (
            0,
            "unknown machine `tours`; did you mean `torus`? known: flat, torus, dragonfly, fattree, tree"
                .into()
        )
    );
    assert_eq!(
        refused("torus dims=4x0 link=1GB/s"),
        (11, "`dims` cannot be `4x0`: it takes the sizes of 1 to 8 dimensions, for example 4x4x4x4x2".into())
    );
    assert_eq!(
        refused("flat nodes=4"),
        (
            12,
            "a flat machine needs `link=...`: a rate with its unit, for example 1.8GB/s or 400Mbit/s".into()
        )
    );
    assert_eq!(refused("flat nodes=4 link=1GB").0, 18);
    assert_eq!(refused("flat nodes=4 link=1GB/s lattency=1us").0, 24);
    assert!(refused("flat nodes=4 link=1GB/s lattency=1us").1.contains("did you mean `latency`?"));
    assert!(refused("torus dims=4x4 link=1GB/s order=AAB").1.contains("each letter from A to B once"));
    assert!(refused("torus dims=4x4 link=1GB/s pset=3").1.contains("divides 16"));
    assert!(refused("torus dims=4x4 link=1GB/s pset=8 bridges=8").1.contains("below 8"));
    assert!(refused("flat nodes=4 link=1GB/s gateways=9").1.contains("nodes below 4"));
    assert!(refused("flat nodes=4 link=1GB/s map=0,1,4").1.contains("below 4"));
    assert!(refused("tree shape=((2)(2) link=1GB/s").1.contains("parentheses"));
    assert!(refused("").1.contains("the machine is empty"));
    assert!(refused("nodes=4").1.contains("a kind as its first word"));
    assert!(refused("flat nodes=4 nodes=5 link=1GB/s").1.contains("given twice"));
    assert!(refused("flat nodes={4 link=1GB/s").1.contains("never closed"));
    assert!(
        refused("dragonfly groups=4000000 routers=6x16 nodes=4 local=1GB/s global=1GB/s")
            .1
            .contains("4194304")
    );
}
