//! One cost formula, used by the planner, the tuner and the simulator. The constants are a [`Calibration`], measured on
//! the machine or written down from its data sheet; the structure is that of the TAPIOCA paper (C1 + C2) for placing an
//! aggregator, and of the prototype's lessons for deciding whether to aggregate at all.

use crate::ids::NodeId;
use crate::plan::{Medium, StorageFacts};
use crate::topology::Machine;

/// What a node and the storage can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// One write or read request, besides its bytes.
    pub request_s: f64,
    /// What a request costs more if another node has bytes in the same stripe, whose lock then changes hands.
    pub lock_s: f64,
    /// Of one storage target with one writer.
    pub target_bytes_per_s: f64,
    /// By what share each further writer on a target slows it down.
    pub crowding: f64,
    /// One message from a rank to an aggregator, besides its bytes and hops.
    pub message_s: f64,
    /// What one more rank in a subgroup adds to the synchronisation of a round.
    pub sync_s: f64,
    /// How much of the shorter of exchange and writing still shows when they overlap.
    pub overlap_loss: f64,
    /// Runs of so many bytes are written by their own ranks if there are several nodes, whatever else is known.
    pub direct_between_nodes_bytes: Option<u64>,
}

impl Default for Calibration {
    fn default() -> Self {
        Self {
            request_s: 10e-6,
            lock_s: 500e-6,
            target_bytes_per_s: 1e9,
            crowding: 0.01,
            message_s: 1e-6,
            sync_s: 1e-6,
            overlap_loss: 0.5,
            direct_between_nodes_bytes: None,
        }
    }
}

/// A request to a file system in memory. On tmpfs it takes some 1 us, where ext4 takes 6 and more; half of it shows, since a
/// rank's own pieces can go to the file while the program goes on.
const IN_MEMORY_REQUEST_S: f64 = 0.5e-6;

/// By way of an aggregator, bytes would go through the network twice. Shorter runs gain more than that.
const NETWORK_BYTES: u64 = 32 << 10;

impl Calibration {
    /// What is known of a file system by its kind (docs/decisions/051), if the machine is `named`, or not.
    pub fn of(storage: &StorageFacts, named: bool) -> Self {
        let default = Self::default();
        match storage.medium {
            Medium::Memory => Self { request_s: IN_MEMORY_REQUEST_S, ..default },
            Medium::Network if !named => Self { direct_between_nodes_bytes: Some(NETWORK_BYTES), ..default },
            Medium::Network | Medium::Elsewhere => default,
        }
    }
}

/// The job as a whole, as far as costs depend on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    pub ranks: u32,
    pub nodes: u32,
    pub bytes: u64,
    /// Runs of bytes, after merging inside each rank.
    pub pieces: u64,
    pub targets: u32,
    pub stripe_bytes: u64,
    pub buffer_bytes: u64,
}

impl Calibration {
    /// Seconds per byte when `writers` on `nodes` write: the targets, or the links to them, whichever is slower.
    fn write_s_per_byte(&self, machine: &Machine, load: &Load, writers: u32, nodes: u32) -> f64 {
        let busy = f64::from(writers.min(load.targets).max(1));
        let crowd = (f64::from(writers) / f64::from(load.targets) - 1.0).max(0.0);
        let targets = (1.0 + self.crowding * crowd) / (busy * self.target_bytes_per_s);
        targets.max(1.0 / (f64::from(machine.io_links().min(nodes).max(1)) * machine.io_link_bytes_per_s()))
    }

    /// Seconds per byte through `aggregators`: the exchange and the writing overlap, but not wholly.
    pub fn aggregated_s_per_byte(&self, machine: &Machine, load: &Load, aggregators: u32) -> f64 {
        let write = self.write_s_per_byte(machine, load, aggregators, aggregators.min(load.nodes))
            + self.request_s / load.buffer_bytes as f64 / f64::from(aggregators.min(load.targets).max(1));
        let nodes = f64::from(load.nodes.max(1));
        let inside = 1.0 / (nodes * machine.classes()[0].bytes_per_s);
        let between = (1.0 - 1.0 / nodes) * machine.mean_s_per_byte() / f64::from(aggregators.max(1));
        let exchange = inside + between;
        write.max(exchange) + self.overlap_loss * write.min(exchange)
    }

    /// How long a run of bytes must be for its own rank to write it rather than send it to an aggregator; `None` if no
    /// length would do, because that many writers are slower than the aggregators however long their runs.
    pub fn direct_bytes_min(&self, machine: &Machine, load: &Load, aggregators: u32) -> Option<u64> {
        if let Some(least) = self.direct_between_nodes_bytes.filter(|_| load.nodes > 1) {
            return Some(least);
        }
        let direct = self.write_s_per_byte(machine, load, load.ranks, load.nodes);
        let gain = self.aggregated_s_per_byte(machine, load, aggregators) - direct;
        if gain <= 0.0 {
            return None;
        }
        let streams = f64::from(load.targets.min(load.ranks).max(1));
        let worth_it = |request_s: f64| (request_s / streams / gain).ceil().min(1e18) as u64;
        let alone = worth_it(self.request_s);
        if load.nodes <= 1 {
            return Some(alone);
        }
        // Runs shorter than a stripe share it with other nodes, and pay for its lock.
        let locked = worth_it(self.request_s + self.lock_s);
        Some(locked.min(alone.max(load.stripe_bytes)))
    }

    /// What dividing the job into `groups` costs: synchronisation grows with the size of a group (ParColl's collective
    /// wall), and requests become shorter where each group has its own pieces of every variable.
    pub fn groups_s(&self, load: &Load, aggregators: u32, groups: u32) -> f64 {
        let round_bytes = f64::from(aggregators.max(1)) * load.buffer_bytes as f64;
        let rounds = (load.bytes as f64 / round_bytes).ceil();
        let sync = rounds * self.sync_s * f64::from(load.ranks) / f64::from(groups);
        let pieces_per_rank = load.pieces as f64 / f64::from(load.ranks.max(1));
        sync + f64::from(groups) * pieces_per_rank * self.request_s / f64::from(load.targets)
    }
}

/// What a node brings to an aggregator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeLoad {
    pub node: NodeId,
    pub ranks: u32,
    pub bytes: u64,
}

/// C1: gathering everybody's bytes at `candidate`.
/// The sum over all ranks i of latency x d(i, A) + bytes(i, A) / B(i -> A).
pub fn gather_s(machine: &Machine, from: &[NodeLoad], candidate: NodeId) -> f64 {
    let one = |load: &NodeLoad| {
        let hops = f64::from(machine.distance(load.node, candidate));
        f64::from(load.ranks) * machine.latency_s() * hops
            + load.bytes as f64 / machine.bytes_per_s(load.node, candidate)
    };
    from.iter().map(one).sum()
}

/// C2: sending the gathered bytes from `candidate` to its I/O node, or 0 where that node's place is unknown.
/// latency x d(A, IO) + bytes(A, IO) / B(A -> IO).
pub fn drain_s(machine: &Machine, candidate: NodeId, bytes: u64) -> f64 {
    let Some(io) = machine.io_node_of(candidate) else {
        return 0.0;
    };
    let hops = f64::from(machine.distance_to_io(candidate, io));
    machine.latency_s() * hops + bytes as f64 / machine.io_bytes_per_s(candidate, io)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(ranks: u32, nodes: u32, targets: u32) -> Load {
        Load {
            ranks,
            nodes,
            bytes: 1 << 30,
            pieces: u64::from(ranks),
            targets,
            stripe_bytes: 1 << 20,
            buffer_bytes: 4 << 20,
        }
    }

    #[test]
    fn long_runs_are_written_directly_on_one_node_and_never_by_64k_ranks() {
        let calibration = Calibration::default();
        let node: Machine = "flat nodes=1 link=10GB/s ranks_per_node=4".parse().unwrap();
        let least = calibration.direct_bytes_min(&node, &load(4, 1, 1), 1).unwrap();
        assert!((64 << 10..1 << 20).contains(&least), "{least}");
        let facts = |medium| StorageFacts { medium, ..StorageFacts::default() };
        let memory = Calibration::of(&facts(Medium::Memory), false);
        let least = memory.direct_bytes_min(&node, &load(4, 1, 1), 1).unwrap();
        assert!((8 << 10..=16 << 10).contains(&least), "{least}");
        let servers = Calibration::of(&facts(Medium::Network), false);
        assert_eq!(
            servers.direct_bytes_min(&node, &load(4, 1, 1), 1),
            calibration.direct_bytes_min(&node, &load(4, 1, 1), 1)
        );
        let nodes: Machine = "flat nodes=4 link=10GB/s ranks_per_node=2".parse().unwrap();
        assert_eq!(servers.direct_bytes_min(&nodes, &load(8, 4, 1), 1), Some(32 << 10));
        let named = Calibration::of(&facts(Medium::Network), true);
        assert_eq!(named.direct_bytes_min(&nodes, &load(8, 4, 1), 1), None);
        let large: Machine = "flat nodes=4096 link=10GB/s ranks_per_node=16".parse().unwrap();
        assert_eq!(calibration.direct_bytes_min(&large, &load(65536, 4096, 48), 192), None);
    }

    /// As measured on such a cluster: 4 KiB interleaved is faster collectively, 64 KiB is faster independently.
    #[test]
    fn slow_links_between_racks_ask_for_direct_writes_of_all_but_short_runs() {
        let racks: Machine = "tree shape=((2)(2)) link=50MB/s,6.25MB/s ranks_per_node=2".parse().unwrap();
        let load = Load { stripe_bytes: 128 << 10, ..load(8, 4, 2) };
        let least = Calibration::default().direct_bytes_min(&racks, &load, 4).unwrap();
        assert!((4 << 10..64 << 10).contains(&least), "{least}");
    }

    #[test]
    fn c1_and_c2_are_the_papers_formulas() {
        let machine: Machine =
            "torus dims=8 link=2GB/s latency=1us memory=10GB/s pset=8 bridges=0 io_link=1GB/s"
                .parse()
                .unwrap();
        let from = [
            NodeLoad { node: NodeId(1), ranks: 1, bytes: 2000 },
            NodeLoad { node: NodeId(3), ranks: 2, bytes: 4000 },
        ];
        let at_two = gather_s(&machine, &from, NodeId(2));
        assert!((at_two - ((1e-6 + 1e-6) + (2.0 * 1e-6 + 2e-6))).abs() < 1e-15, "{at_two}");
        assert!((drain_s(&machine, NodeId(2), 3000) - (3e-6 + 3e-6)).abs() < 1e-15);
        let unknown: Machine = "torus dims=8 link=2GB/s".parse().unwrap();
        assert_eq!(drain_s(&unknown, NodeId(2), 3000), 0.0);
    }

    #[test]
    fn more_synchronisation_asks_for_more_groups() {
        let calibration = Calibration::default();
        let best = |ranks: u32| {
            let load = Load { bytes: u64::from(ranks) << 20, ..load(ranks, ranks / 16, 48) };
            let candidates = (0..10).map(|power| 1 << power).filter(|groups| groups * 8 <= ranks);
            candidates.min_by(|a, b| {
                calibration.groups_s(&load, 192, *a).total_cmp(&calibration.groups_s(&load, 192, *b))
            })
        };
        assert!(best(65536) > best(64), "{:?} {:?}", best(65536), best(64));
    }
}
