//! Which nodes may serve which subgroup, from ParColl (4.2, figure 5): each subgroup has at least one aggregator, no node
//! serves two subgroups where that can be avoided, and the nodes are shared out evenly. The subgroups take turns; each
//! takes the first of its ranks whose node is in the list and still free. Options: `aggregator_nodes`, `aggregators`.

use crate::ids::{NodeId, Rank};
use std::collections::BTreeSet;

/// A node for a subgroup, by the first of the subgroup's ranks on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub node: NodeId,
    pub rank: Rank,
}

/// For each group, the nodes that are its own; a group for which none was left shares those of its first free rank.
/// `allowed`: the nodes that a hint lists, or all. `limit`: how many to take in all, but at least one for each group.
pub fn distribute(
    groups: &[&[Rank]],
    node: impl Fn(Rank) -> NodeId,
    allowed: Option<&[NodeId]>,
    limit: Option<u32>,
) -> Vec<Vec<Candidate>> {
    let allowed: Option<BTreeSet<NodeId>> = allowed.map(|nodes| nodes.iter().copied().collect());
    let may = |node: NodeId| allowed.as_ref().is_none_or(|nodes| nodes.contains(&node));
    let mut taken: BTreeSet<NodeId> = BTreeSet::new();
    let mut given: Vec<Vec<Candidate>> = vec![Vec::new(); groups.len()];
    let mut next: Vec<usize> = vec![0; groups.len()];
    let limit = limit.map_or(usize::MAX, |limit| (limit as usize).max(groups.len()));
    loop {
        let before = taken.len();
        for (group, members) in groups.iter().enumerate() {
            let rest = &members[next[group]..];
            let found = rest.iter().position(|rank| may(node(*rank)) && !taken.contains(&node(*rank)));
            next[group] += found.map_or(rest.len(), |at| at + 1);
            if let (Some(at), true) = (found, taken.len() < limit) {
                let rank = rest[at];
                taken.insert(node(rank));
                given[group].push(Candidate { node: node(rank), rank });
            }
        }
        if taken.len() == before || taken.len() >= limit {
            break;
        }
    }
    for (members, given) in groups.iter().zip(&mut given) {
        if given.is_empty() {
            let shared = members.iter().find(|rank| may(node(**rank))).or(members.first());
            given.extend(shared.map(|rank| Candidate { node: node(*rank), rank: *rank }));
        }
    }
    given
}

/// How many of `total` aggregators each group gets: even, the first ones get what is left over, each at least one, none
/// more than it has places for.
pub fn even_counts(total: u32, places: &[u32]) -> Vec<u32> {
    let mut counts: Vec<u32> = places.iter().map(|places| 1.min(*places)).collect();
    let mut left = total.saturating_sub(counts.iter().sum());
    while left > 0 {
        let mut any = false;
        for (count, places) in counts.iter_mut().zip(places) {
            if left > 0 && *count < *places {
                *count += 1;
                left -= 1;
                any = true;
            }
        }
        if !any {
            break;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(list: &[u32]) -> Vec<Rank> {
        list.iter().copied().map(Rank).collect()
    }

    fn text(given: &[Vec<Candidate>]) -> Vec<String> {
        let group = |list: &Vec<Candidate>| {
            list.iter().map(|c| format!("{}({})", c.node, c.rank)).collect::<Vec<_>>().join(", ")
        };
        given.iter().map(group).collect()
    }

    /// ParColl's figure 5, both mappings, exactly.
    #[test]
    fn figure_5_of_parcoll() {
        let (one, two) = (ranks(&[0, 1, 2, 3]), ranks(&[4, 5, 6, 7]));
        let groups: [&[Rank]; 2] = [&one, &two];
        let nodes = |list: &[u32]| list.iter().copied().map(NodeId).collect::<Vec<_>>();
        let block = distribute(&groups, |rank| NodeId(rank.0 / 2), Some(&nodes(&[0, 1, 2, 3])), None);
        assert_eq!(text(&block), ["N0(P0), N1(P2)", "N2(P4), N3(P6)"]);
        let cyclic = distribute(&groups, |rank| NodeId(rank.0 % 4), Some(&nodes(&[0, 2, 3])), None);
        assert_eq!(text(&cyclic), ["N0(P0), N3(P3)", "N2(P6)"]);
    }

    #[test]
    fn every_group_has_a_node_even_when_there_are_too_few() {
        let (one, two) = (ranks(&[0, 1]), ranks(&[2, 3]));
        let given = distribute(&[&one, &two], |_| NodeId(0), None, Some(1));
        assert_eq!(text(&given), ["N0(P0)", "N0(P2)"]);
        let unlisted = distribute(&[&one], |_| NodeId(0), Some(&[NodeId(5)]), None);
        assert_eq!(text(&unlisted), ["N0(P0)"]);
    }

    #[test]
    fn counts_are_even_and_bounded() {
        assert_eq!(even_counts(7, &[4, 4, 4]), [3, 2, 2]);
        assert_eq!(even_counts(7, &[1, 1, 4]), [1, 1, 4]);
        assert_eq!(even_counts(1, &[4, 4, 0]), [1, 1, 0]);
    }
}
