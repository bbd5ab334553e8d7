//! Links and requests, one by one.

use super::{Request, Stretch, World};
use crate::scenario::Scenario;
use sago_core::ids::NodeId;

/// A ring of eight nodes, 1 GB/s and 1 us a hop; one target of 100 MB/s behind node 0.
fn ring(storage: &str) -> Scenario {
    let text = format!(
        "machine torus dims=8 link=1GB/s latency=1us memory=10GB/s gateways=0 io_link=1GB/s\n\
         storage lustre targets=1 stripe=1MiB target=100MB/s {storage}\npattern aos vars=1 bytes=1"
    );
    Scenario::parse(&text).expect("a scenario")
}

/// When each token comes back, in microseconds.
fn ends(world: &mut World<'_, usize>, count: usize) -> Vec<f64> {
    let mut ends = vec![0.0; count];
    while let Some((token, result)) = world.next() {
        assert_eq!(result, Ok(()));
        ends[token] = (world.now().as_s() * 1e9).round() / 1e3;
    }
    world.finish().expect("bytes are conserved");
    ends
}

fn sent(messages: &[(u32, u32, u64)]) -> Vec<f64> {
    let scenario = ring("");
    let mut world = World::new(&scenario);
    for (token, (from, to, bytes)) in messages.iter().enumerate() {
        world.send(world.now(), NodeId(*from), NodeId(*to), *bytes, token);
    }
    ends(&mut world, messages.len())
}

#[test]
fn a_route_costs_one_transfer_and_a_latency_for_each_hop() {
    assert_eq!(sent(&[(0, 1, 100_000)]), [101.0]);
    assert_eq!(sent(&[(0, 3, 100_000)]), [103.0]);
    assert_eq!(sent(&[(2, 2, 100_000)]), [11.0]);
}

#[test]
fn messages_wait_for_each_other_where_their_routes_meet_and_only_there() {
    assert_eq!(sent(&[(0, 1, 100_000), (4, 5, 100_000)]), [101.0, 101.0]);
    assert_eq!(sent(&[(0, 2, 100_000), (1, 2, 100_000)]), [201.0, 101.0]);
    assert_eq!(sent(&[(0, 1, 100_000), (1, 0, 100_000)]), [101.0, 101.0]);
}

fn asked(storage: &str, requests: &[(u32, u64, u64)]) -> Vec<f64> {
    let scenario = ring(storage);
    let mut world = World::new(&scenario);
    for (token, (node, offset, bytes)) in requests.iter().enumerate() {
        let stretch = Stretch { offset: *offset, span: *bytes, bytes: *bytes, requests: 1 };
        let (node, stretches) = (NodeId(*node), &[stretch][..]);
        let request = Request { file: 0, rank: 0, node, write: true, stretches, fails: None };
        world.request(world.now(), &request, token);
    }
    ends(&mut world, requests.len())
}

#[test]
fn a_request_costs_its_way_its_positioning_and_its_bytes() {
    // One hop to the gate, one out of it, 1 ms for the bytes.
    assert_eq!(asked("", &[(1, 0, 100_000)]), [1002.0]);
    assert_eq!(asked("request=100us seek=500us", &[(1, 0, 100_000)]), [1602.0]);
    // The second one follows the first one on disk.
    assert_eq!(asked("seek=500us", &[(0, 0, 100_000), (0, 100_000, 100_000)]), [1501.0, 2501.0]);
}

#[test]
fn a_lock_that_changes_hands_costs_time() {
    let same = asked("lock=5ms", &[(0, 0, 1000), (0, 1000, 1000)]);
    let other = asked("lock=5ms", &[(0, 0, 1000), (1, 1000, 1000)]);
    assert!(same[1] < 100.0, "{same:?}");
    assert!(other[1] > 5000.0, "{other:?}");
}

#[test]
fn fragments_go_to_targets_of_their_own() {
    let text = "machine flat nodes=1 link=1GB/s latency=1ns\n\
                storage lustre targets=3 stripe=1MiB target=100MB/s fragments=2+1\npattern aos vars=1 bytes=1";
    let scenario = Scenario::parse(text).expect("a scenario");
    let mut world = World::new(&scenario);
    let stretch = Stretch { offset: 0, span: 100_000, bytes: 100_000, requests: 1 };
    let (node, stretches) = (NodeId(0), &[stretch][..]);
    world.request(world.now(), &Request { file: 0, rank: 0, node, write: true, stretches, fails: None }, 0);
    let ends = ends(&mut world, 1);
    assert!((500.0..800.0).contains(&ends[0]), "{ends:?}");
    assert_eq!(world.counts.written_bytes, 100_000);
    assert!(world.finish().expect("loads").targets.iter().all(|target| target.bytes == 50_000));
}
