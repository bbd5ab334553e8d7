//! Against a map of bytes, and how much work it is.

use super::*;
use crate::extent::Run;
use crate::random::Random;
use std::collections::BTreeMap;

fn strided(offset: u64, len: u64, stride: u64, count: u64) -> Run {
    Run::strided(offset, len, stride, count).unwrap()
}

/// The runs in their order in the stream, each of a variable of its own if `apart`.
fn declared(runs: &[Run], apart: bool) -> (Vec<SourcedRun>, Vec<u64>) {
    let (mut source, mut starts) = (0, vec![0]);
    let mut sourced = Vec::new();
    for run in runs {
        sourced.push(SourcedRun { run: *run, source });
        source += run.bytes();
        if apart {
            starts.push(source);
        }
    }
    sourced.sort_by_key(|sourced| sourced.run.offset());
    (sourced, starts)
}

fn resolved(runs: &[Run]) -> Vec<SourcedRun> {
    let (sourced, starts) = declared(runs, true);
    last_wins(sourced, &starts)
}

/// Where each byte of the file is in the stream; a byte that is there twice comes from the later run.
fn bytes(runs: impl Iterator<Item = SourcedRun>) -> BTreeMap<u64, u64> {
    let mut map = BTreeMap::new();
    for SourcedRun { run, source } in runs {
        for block in run.blocks() {
            map.extend((0..block.len).map(|i| (block.file + i, source + block.before + i)));
        }
    }
    map
}

fn check(runs: &[Run], apart: bool, what: &str) {
    let (sourced, starts) = declared(runs, apart);
    let mut in_order = sourced.clone();
    in_order.sort_by_key(|sourced| sourced.source);
    let expected = bytes(in_order.into_iter());
    let kept = last_wins(sourced, &starts);
    assert_eq!(bytes(kept.iter().copied()), expected, "{what}: {runs:?}");
    let total: u64 = kept.iter().map(|sourced| sourced.run.bytes()).sum();
    assert_eq!(total, expected.len() as u64, "{what}: a byte twice of {runs:?}");
    assert!(kept.is_sorted_by_key(|sourced| sourced.run.offset()), "{what}: {runs:?}");
    for SourcedRun { run, source } in kept {
        let of = |byte: u64| starts.partition_point(|start| *start <= byte);
        assert_eq!(of(source), of(source + run.bytes() - 1), "{what}: of two variables, {runs:?}");
    }
}

/// One of the runs that are likely to meet others in interesting ways.
fn random_run(random: &mut Random, stride: u64, before: &[Run]) -> Option<Run> {
    let offset = random.below(6 * stride);
    let len = 1 + random.below(stride);
    let count = 1 + random.below(9);
    let earlier = (!before.is_empty()).then(|| before[random.below(before.len() as u64) as usize]);
    match random.below(9) {
        0 => Some(Run::contiguous(offset, 1 + random.below(5 * stride))),
        1 => Some(Run::contiguous(offset, len)),
        2 => Run::strided(offset, len, stride * (1 + random.below(3)), count),
        3 => Run::strided(offset, len.div_ceil(2), stride / 2, count),
        4 => earlier,
        5 => {
            let run = earlier?;
            let skipped = random.below(run.count());
            let count = 1 + random.below(run.count() - skipped);
            Run::strided(run.offset() + skipped * run.stride(), run.len(), run.stride(), count)
        }
        6 => {
            let run = earlier?;
            Run::strided(run.offset() + random.below(stride), run.len(), run.stride(), run.count())
        }
        _ => Run::strided(offset, len.div_ceil(3), stride, count),
    }
}

#[test]
fn the_last_declaration_of_each_byte_is_kept() {
    for seed in 0..12_000 {
        let mut random = Random::new(seed);
        let stride = 2 + random.below(14);
        let mut runs = Vec::new();
        for _ in 0..1 + random.below(9) {
            runs.extend(random_run(&mut random, stride, &runs));
        }
        check(&runs, random.one_in(2), &format!("seed {seed}"));
    }
}

#[test]
fn it_is_the_same_by_rows_as_by_blocks() {
    let mut by_rows = 0;
    for seed in 0..6_000 {
        let mut random = Random::new(seed);
        let stride = 2 + random.below(14);
        let mut runs = vec![strided(random.below(stride), 1, stride, 2)];
        for _ in 0..1 + random.below(7) {
            let next = random_run(&mut random, stride, &runs);
            runs.extend(next.filter(|run| run.is_contiguous() || run.stride() == stride));
        }
        let (sourced, _) = declared(&runs, true);
        let Some(visible) = grid::visible(&sourced) else { continue };
        by_rows += 1;
        let total: u64 = visible.iter().map(|sourced| sourced.run.bytes()).sum();
        let found = bytes(visible.into_iter());
        assert_eq!(found, bytes(apart::visible(&sourced).into_iter()), "seed {seed}: {runs:?}");
        assert_eq!(total, found.len() as u64, "seed {seed}: {runs:?}");
    }
    assert!(by_rows > 3000, "{by_rows}");
}

const ROWS: u64 = 1 << 22;

/// Resolved by rows, in so many pieces that none can have been taken apart.
fn steps(runs: &[Run]) -> usize {
    let (sourced, _) = declared(runs, true);
    grid::visible(&sourced).expect("one stride").len()
}

#[test]
fn columns_written_again_are_not_taken_apart() {
    let column = |place: u64| strided(100 + place, 4, 36, ROWS);
    let twice = [column(0), column(0)];
    assert_eq!(steps(&twice), 1);
    assert_eq!(resolved(&twice), [SourcedRun { run: column(0), source: 4 * ROWS }]);
    let often: Vec<Run> = (0..50).map(|_| column(8)).collect();
    assert_eq!(steps(&often), 1);
    let table: Vec<Run> = (0..9).map(|c| column(4 * c)).chain([column(8), column(20)]).collect();
    assert_eq!(resolved(&table).len(), 9);
    // The blocks of the first reach into the next row where the others begin.
    let wrapped = [strided(32, 8, 36, ROWS), strided(40, 8, 36, ROWS), strided(32, 8, 36, ROWS)];
    assert_eq!(steps(&[wrapped[0], wrapped[2]]), 1);
    assert_eq!(resolved(&wrapped).len(), 2);
}

#[test]
fn rows_of_a_column_written_again_are_not_taken_apart() {
    let column = |place: u64, from: u64, to: u64| strided(place + 36 * from, 4, 36, to - from);
    let middle = [column(8, 0, ROWS), column(8, 1000, 3000)];
    assert_eq!(steps(&middle), 3);
    let expected = [
        SourcedRun { run: column(8, 0, 1000), source: 0 },
        SourcedRun { run: column(8, 1000, 3000), source: 4 * ROWS },
        SourcedRun { run: column(8, 3000, ROWS), source: 4 * 3000 },
    ];
    assert_eq!(resolved(&middle), expected);
    let beyond = [column(8, 10, ROWS), column(8, 0, 100), column(8, ROWS - 10, ROWS + 10)];
    assert_eq!(steps(&beyond), 5);
    assert_eq!(resolved(&beyond).len(), 3);
    let often: Vec<Run> = (0..1000).map(|i| column(8, 3 * i, ROWS - 5 * i)).collect();
    let among = |place| [column(place, 0, ROWS)];
    assert!(resolved(&[&often[..], &among(0), &among(4), &among(16)].concat()).len() <= 2 * 1000 + 2);
    assert_eq!(resolved(&[&among(8)[..], &often, &among(8)].concat()).len(), 1);
}

#[test]
fn what_covers_whole_rows_is_not_taken_apart() {
    let column = strided(0, 8, 16, ROWS);
    assert_eq!(resolved(&[column, Run::contiguous(160, 16 * 1000)]).len(), 3);
    assert_eq!(resolved(&[column, Run::contiguous(0, 16 * ROWS)]).len(), 1);
    let wider = strided(0, 12, 16, ROWS);
    assert_eq!(resolved(&[column, wider]).len(), 1);
    // Whole columns cover it together.
    assert_eq!(resolved(&[wider, column, strided(8, 4, 16, ROWS)]).len(), 2);
    // The same bytes with another column's in between, of a multiple of the stride.
    let rare = strided(12, 4, 32, ROWS / 2);
    assert_eq!(resolved(&[rare, column, column, rare]).len(), 2);
}

#[test]
fn what_other_strides_overlap_with_is_taken_apart_alone() {
    let (thin, rare) = (strided(0, 4, 12, 1000), strided(0, 4, 24, 250));
    let kept = resolved(&[thin, rare, strided(4, 4, 12, 1000), rare, rare]);
    // Every second block of the first half, the last of them with all of the second; and two whole columns.
    assert_eq!(kept.len(), 250 + 2);
}
