//! Placements to compare the cost model with: the ones that MPI libraries use (rank order, one per node, MPICH's
//! bridge node first), the shortest way without regard to bytes, and chance. The TAPIOCA paper names the first ones as
//! what it improves on; none of them looks at who has which bytes.

use super::distribute::Candidate;
use super::elect::{Elected, PlaceCost, least};
use crate::config::Placement;
use crate::cost::NodeLoad;
use crate::ids::{NodeId, Rank};
use crate::random::Random;
use crate::topology::Machine;

/// The aggregator of the `part`-th part of an area, by a rule other than cost. `free` are the candidates that serve no
/// part yet, or all if none is left; `members` are the ranks of the area.
pub(super) fn choose(
    placement: Placement,
    machine: &Machine,
    from: &[NodeLoad],
    free: &[Candidate],
    members: &[Rank],
    part: u32,
) -> Elected {
    let candidate = match placement {
        Placement::Cost => return super::elect::by_cost(machine, from, free),
        Placement::ShortestPath => return shortest(machine, from, free),
        Placement::RankOrder => {
            let rank = members[part as usize % members.len()];
            Candidate { node: machine.node(rank), rank }
        }
        Placement::OnePerNode => free[0],
        Placement::BridgeFirst => {
            let is_gate = |c: &&Candidate| gates(machine).contains(&c.node);
            *free.iter().find(is_gate).unwrap_or(&free[0])
        }
        Placement::Random(seed) => {
            let mut random = Random::new(seed ^ (u64::from(part) << 32) ^ u64::from(members[0].0));
            free[random.below(free.len() as u64) as usize]
        }
    };
    Elected { candidate, cost: PlaceCost::of(machine, from, candidate.node), runner_up: None }
}

fn gates(machine: &Machine) -> Vec<NodeId> {
    machine.io_nodes().unwrap_or_default().iter().flat_map(|io| io.gates.iter().copied()).collect()
}

/// The least sum of hops, to all ranks and to the I/O node.
fn shortest(machine: &Machine, from: &[NodeLoad], free: &[Candidate]) -> Elected {
    let hops_only: Vec<NodeLoad> = from.iter().map(|load| NodeLoad { bytes: 0, ..*load }).collect();
    let costs = free.iter().map(|c| (*c, PlaceCost::of(machine, &hops_only, c.node)));
    let elected = least(costs.collect(), PlaceCost::total_s);
    let true_cost = |candidate: Candidate| PlaceCost::of(machine, from, candidate.node);
    Elected {
        candidate: elected.candidate,
        cost: true_cost(elected.candidate),
        runner_up: elected.runner_up.map(|(candidate, _)| (candidate, true_cost(candidate))),
    }
}
