//! One cost formula, used by the planner, the tuner and the simulator. The constants are a [`Calibration`], measured on
//! the machine or written down from its data sheet; the structure is that of the TAPIOCA paper (C1 + C2) for placing an
//! aggregator, and of the prototype's lessons for deciding whether to aggregate at all.

use crate::ids::NodeId;
use crate::topology::Machine;

/// What a node and the storage can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// One write or read request, besides its bytes.
    pub request_s: f64,
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
}

impl Default for Calibration {
    fn default() -> Self {
        Self {
            request_s: 10e-6,
            target_bytes_per_s: 1e9,
            crowding: 0.01,
            message_s: 1e-6,
            sync_s: 1e-6,
            overlap_loss: 0.5,
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
    pub buffer_bytes: u64,
}

impl Calibration {
    /// Seconds per byte when `writers` write to `targets`.
    fn write_s_per_byte(&self, writers: u32, targets: u32) -> f64 {
        let busy = f64::from(writers.min(targets).max(1));
        let crowd = (f64::from(writers) / f64::from(targets) - 1.0).max(0.0);
        (1.0 + self.crowding * crowd) / (busy * self.target_bytes_per_s)
    }

    /// Seconds per byte through `aggregators`: the exchange and the writing overlap, but not wholly.
    pub fn aggregated_s_per_byte(&self, machine: &Machine, load: &Load, aggregators: u32) -> f64 {
        let write = self.write_s_per_byte(aggregators, load.targets)
            + self.request_s / load.buffer_bytes as f64 / f64::from(aggregators.min(load.targets).max(1));
        let nodes = f64::from(load.nodes.max(1));
        let memory = machine.classes()[0].bytes_per_s;
        let link = machine.fabric().classes()[0].bytes_per_s;
        let exchange = 1.0 / (nodes * memory) + (1.0 - 1.0 / nodes) / (f64::from(aggregators.max(1)) * link);
        write.max(exchange) + self.overlap_loss * write.min(exchange)
    }

    /// How long a run of bytes must be for its own rank to write it rather than send it to an aggregator; `None` if no
    /// length would do, because that many writers are slower than the aggregators however long their runs.
    pub fn direct_bytes_min(&self, machine: &Machine, load: &Load, aggregators: u32) -> Option<u64> {
        let direct = self.write_s_per_byte(load.ranks, load.targets);
        let gain = self.aggregated_s_per_byte(machine, load, aggregators) - direct;
        let request = self.request_s / f64::from(load.targets.min(load.ranks).max(1));
        (gain > 0.0).then(|| (request / gain).ceil().min(1e18) as u64)
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
        Load { ranks, nodes, bytes: 1 << 30, pieces: u64::from(ranks), targets, buffer_bytes: 4 << 20 }
    }

    #[test]
    fn long_runs_are_written_directly_on_one_node_and_never_by_64k_ranks() {
        let calibration = Calibration::default();
        let node: Machine = "flat nodes=1 link=10GB/s ranks_per_node=4".parse().unwrap();
        let least = calibration.direct_bytes_min(&node, &load(4, 1, 1), 1).unwrap();
        assert!((64 << 10..1 << 20).contains(&least), "{least}");
        let large: Machine = "flat nodes=4096 link=10GB/s ranks_per_node=16".parse().unwrap();
        assert_eq!(calibration.direct_bytes_min(&large, &load(65536, 4096, 48), 192), None);
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
        let expected = (2e-6 + 1e-6) + (2.0 * 1e-6 + 2e-6) + 0.0;
        let at_two = gather_s(&machine, &from, NodeId(2)) + 0.0;
        assert!((at_two - (1e-6 + 1e-6 + 2.0 * 1e-6 + 2e-6)).abs() < 1e-15, "{at_two} {expected}");
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
