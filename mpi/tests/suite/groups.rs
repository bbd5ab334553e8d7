use super::{Check, text};
use crate::ensure;
use sago_mpi::{Reduce, Transport};

fn sum_of_ranks(group: &dyn Transport, own: usize) -> Result<u64, String> {
    let mut values = [own as u64];
    group.allreduce(Reduce::Sum, &mut values).map_err(text)?;
    Ok(values[0])
}

pub fn by_colour(t: &dyn Transport) -> Check {
    let colour = t.rank() % 3;
    // Keys count down, so ranks are in reverse order.
    let group = t.split(Some(colour as u32), (t.size() - t.rank()) as u32).map_err(text)?;
    let group = group.ok_or("no group for a rank with a colour")?;
    let members: Vec<usize> = (0..t.size()).rev().filter(|r| r % 3 == colour).collect();
    ensure!(group.size() == members.len(), "{} members, not {}", group.size(), members.len());
    ensure!(members[group.rank()] == t.rank(), "rank {} is {} in {members:?}", t.rank(), group.rank());
    let sum = sum_of_ranks(&*group, t.rank())?;
    ensure!(sum == members.iter().sum::<usize>() as u64, "the sum of {members:?} is {sum}");
    group.close().map_err(text)
}

pub fn some_stay_out(t: &dyn Transport) -> Check {
    let inside = t.rank() & 1 == 0;
    let group = t.split(inside.then_some(9), 0).map_err(text)?;
    ensure!(group.is_some() == inside, "inside {inside}, group {}", group.is_some());
    let Some(group) = group else { return Ok(()) };
    ensure!(group.size() == t.size().div_ceil(2), "{} members of {}", group.size(), t.size());
    sum_of_ranks(&*group, 1)?;
    group.close().map_err(text)
}

pub fn nested(t: &dyn Transport) -> Check {
    let half = t.split(Some((t.rank() < t.size() / 2) as u32), 0).map_err(text)?.ok_or("no half")?;
    let odd = half.split(Some(half.rank() as u32 % 2), 0).map_err(text)?.ok_or("no quarter")?;
    let (inner, outer, all) = (sum_of_ranks(&*odd, 1)?, sum_of_ranks(&*half, 1)?, sum_of_ranks(t, 1)?);
    ensure!(inner == odd.size() as u64, "{inner} of {} in the quarter", odd.size());
    ensure!(outer == half.size() as u64, "{outer} of {} in the half", half.size());
    ensure!(all == t.size() as u64, "{all} of {}", t.size());
    odd.close().map_err(text)?;
    half.close().map_err(text)
}

pub fn by_node(t: &dyn Transport) -> Check {
    let node = t.split_by_node().map_err(text)?;
    ensure!(node.one_node(), "a node's ranks have no memory in common");
    let nodes = t.nodes().map_err(text)?;
    ensure!(nodes.len() == t.size() && nodes[0] == 0, "nodes are {nodes:?}");
    let here = nodes.iter().filter(|&&n| n == nodes[t.rank()]).count();
    ensure!(here == node.size(), "{} ranks on the node, {here} in {nodes:?}", node.size());
    ensure!(t.one_node() == (here == t.size()), "one_node is {} with nodes {nodes:?}", t.one_node());
    node.close().map_err(text)
}

pub fn many(t: &dyn Transport) -> Check {
    let groups: Vec<_> = (0..8_u32)
        .map(|i| t.split(Some((t.rank() as u32 + i) % 2), 0).map_err(text)?.ok_or("no group".to_owned()))
        .collect::<Result<_, String>>()?;
    for group in groups.iter().rev() {
        ensure!(sum_of_ranks(&**group, 1)? == group.size() as u64, "a group of {} miscounts", group.size());
    }
    groups.into_iter().try_for_each(|g| g.close().map_err(text))
}
