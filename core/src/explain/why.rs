//! Why each choice was made.

use crate::config::{Exchange, Placement};
use crate::plan::{FilePattern, Job, Plan};
use crate::text::size_bytes_text;
use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    BufferTold,
    BufferIsStripe,
    BufferUnknownStripe,
    DirectTold,
    AggregateTold,
    BridgeTold,
    /// Runs of this many bytes on average are long enough to be written directly; the job's are so long.
    RunsLongEnough {
        least: u64,
        mean: u64,
        ranks: u32,
    },
    RunsTooShort {
        least: u64,
        mean: u64,
    },
    /// However long the runs: so many writers per target are slower than aggregators.
    TooManyWriters {
        writers: u32,
        targets: u32,
    },
    AggregatorsTold {
        count: u32,
    },
    AggregatorNodesTold {
        count: u32,
    },
    AggregatorsByCost {
        count: u32,
        nodes: u32,
        writers_max: Option<u32>,
    },
    GroupsTold {
        asked: u32,
        made: u32,
    },
    GroupsByCost {
        made: u32,
    },
    View(FilePattern),
    PlacedByCost {
        io_known: bool,
    },
    PlacedOtherwise {
        placement: Placement,
    },
    TooSparse {
        areas: u32,
    },
}

pub(super) fn reasons(job: &Job<'_>, plan: &Plan) -> Vec<Why> {
    let frame = &plan.frame;
    let stripe_known = job.config.stripe_bytes.or(job.storage.stripe_bytes).is_some();
    let mut why = vec![match (job.config.buffer_bytes, stripe_known) {
        (Some(_), _) => Why::BufferTold,
        (None, true) => Why::BufferIsStripe,
        (None, false) => Why::BufferUnknownStripe,
    }];
    why.push(exchange(job, plan));
    if frame.areas.is_empty() || job.config.exchange == Exchange::Bridge {
        return why;
    }
    let count = frame.aggregators;
    let targets = job.config.targets.or(job.storage.targets);
    why.push(match (job.config.aggregators, job.config.aggregator_nodes.len()) {
        (Some(_), _) => Why::AggregatorsTold { count },
        (None, 1..) => Why::AggregatorNodesTold { count },
        _ => Why::AggregatorsByCost {
            count,
            nodes: frame.load.nodes,
            writers_max: targets.map(|targets| targets * job.config.writers_per_target()),
        },
    });
    let made = frame.areas.len() as u32;
    why.push(match job.config.groups {
        Some(asked) => Why::GroupsTold { asked, made },
        None => Why::GroupsByCost { made },
    });
    if made > 1 {
        why.push(Why::View(frame.file_pattern));
    }
    why.push(match job.config.placement {
        Placement::Cost => Why::PlacedByCost { io_known: job.machine.io_nodes().is_some() },
        placement => Why::PlacedOtherwise { placement },
    });
    let sparse = plan.areas.iter().filter(|area| area.too_sparse).count() as u32;
    if sparse > 0 {
        why.push(Why::TooSparse { areas: sparse });
    }
    why
}

fn exchange(job: &Job<'_>, plan: &Plan) -> Why {
    let frame = &plan.frame;
    let mean = frame.load.bytes / frame.load.pieces.max(1);
    match (job.config.exchange, frame.direct_bytes_min) {
        (Exchange::Direct, _) => Why::DirectTold,
        (Exchange::Aggregate, _) => Why::AggregateTold,
        (Exchange::Bridge, _) => Why::BridgeTold,
        (Exchange::Auto, None) => {
            Why::TooManyWriters { writers: frame.load.ranks, targets: frame.settings.targets }
        }
        (Exchange::Auto, Some(least)) if frame.direct.is_empty() => Why::RunsTooShort { least, mean },
        (Exchange::Auto, Some(least)) => {
            Why::RunsLongEnough { least, mean, ranks: frame.direct.len() as u32 }
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = size_bytes_text;
        match self {
            Self::BufferTold => f.write_str("buffer: as told"),
            Self::BufferIsStripe => f.write_str("buffer: one stripe, the ratio of 1:1 that works best"),
            Self::BufferUnknownStripe => f.write_str("buffer: 4MiB, since the file system names no stripe"),
            Self::DirectTold => f.write_str("exchange: none, as told; every rank writes its own bytes"),
            Self::AggregateTold => f.write_str("exchange: through aggregators, as told"),
            Self::BridgeTold => {
                f.write_str("exchange: independent writes, node by node or over free routes to a bridge node, as told")
            }
            Self::RunsLongEnough { least, mean, ranks } => write!(
                f,
                "exchange: none for {ranks} ranks, whose runs are long enough ({} on average; from {} on, writing \
                 directly costs less)",
                size(*mean),
                size(*least)
            ),
            Self::RunsTooShort { least, mean } => write!(
                f,
                "exchange: through aggregators, since runs of {} on average are too short to be written directly \
                 (from {} on, it would cost less)",
                size(*mean),
                size(*least)
            ),
            Self::TooManyWriters { writers, targets } => write!(
                f,
                "exchange: through aggregators, since {writers} writers on {targets} storage targets would be slower, \
                 however long their runs"
            ),
            Self::AggregatorsTold { count } => write!(f, "aggregators: {count}, as told"),
            Self::AggregatorNodesTold { count } => write!(f, "aggregators: {count}, one for each node listed"),
            Self::AggregatorsByCost { count, nodes, writers_max } => {
                write!(f, "aggregators: {count}, the cheapest number for {nodes} nodes")?;
                match writers_max {
                    Some(most) => write!(f, " and at most {most} writers on the storage targets"),
                    None => Ok(()),
                }
            }
            Self::GroupsTold { asked, made } if asked == made => write!(f, "subgroups: {made}, as told"),
            Self::GroupsTold { asked, made } => {
                write!(f, "subgroups: {made}; {asked} were asked for, but none may be smaller than the least size")
            }
            Self::GroupsByCost { made } => {
                write!(f, "subgroups: {made}, where synchronising costs as little as splitting requests")
            }
            Self::View(FilePattern::Scattered) => {
                f.write_str("areas: by an intermediate view that joins each rank's pieces, since ranks are spread over the file")
            }
            Self::View(pattern) => write!(f, "areas: cut at stripes, since the file is {pattern}"),
            Self::PlacedByCost { io_known: true } => f.write_str("placement: least C1 + C2"),
            Self::PlacedByCost { io_known: false } => {
                f.write_str("placement: least C1; C2 is 0, since nobody knows where the I/O nodes are")
            }
            Self::PlacedOtherwise { placement } => write!(f, "placement: {placement}, as told"),
            Self::TooSparse { areas } => write!(
                f,
                "direct writes in {areas} areas, whose data is so thin that buffers would be nearly empty"
            ),
        }
    }
}
