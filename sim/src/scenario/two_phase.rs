//! How the modelled MPI library does its collective I/O, as text: `two-phase aggregators=96 buffer=8MiB domains=striped`.

use sago_core::text::{Fields, TextError, size_bytes};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoPhaseOptions {
    /// For each file, or subgroup (the hint `cb_nodes`); `None`: one per node, as ROMIO does by default.
    pub aggregators: Option<u32>,
    /// The hint `cb_buffer_size`.
    pub buffer_bytes: u64,
    pub domains: Domains,
    pub order: Order,
    /// Into how many subgroups, each in step for itself, the ranks of a file are divided (ParColl); 1: none.
    pub groups: u32,
    pub holes: Holes,
}

/// How the touched range of a call is divided among the aggregators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domains {
    /// Into equal parts.
    Even,
    /// Into equal parts that end at stripe boundaries.
    Aligned,
    /// Stripe by stripe in turn, so that an aggregator always writes to the same targets (ROMIO's Lustre driver).
    Striped,
}

/// What an aggregator does with a window that has holes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holes {
    /// Reads all of it, and writes all of it back (data sieving, ROMIO's default).
    Sieve,
    /// Writes its pieces one by one (`romio_ds_write=disable`).
    Pieces,
}

/// Which nodes the aggregators are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The first rank of each node, in the order of ranks.
    Ranks,
    /// Bridge by bridge in turn: the bridge node first, then the nodes that it serves, in the order of ranks (MPICH on
    /// BG/Q).
    BridgeFirst,
}

impl Default for TwoPhaseOptions {
    fn default() -> Self {
        Self {
            aggregators: None,
            buffer_bytes: 16 << 20,
            domains: Domains::Even,
            order: Order::Ranks,
            groups: 1,
            holes: Holes::Sieve,
        }
    }
}

impl TwoPhaseOptions {
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let fields = Fields::parse("line", "two-phase aggregators=96 buffer=8MiB domains=striped", text)?;
        let usual = Self::default();
        let positive = |text: &str| text.parse().ok().filter(|n: &u32| *n > 0);
        let size = |text: &str| size_bytes(text).filter(|n| (1..=16 << 30).contains(n));
        let options = Self {
            aggregators: fields.optional("aggregators", "a number from 1 for each file", positive)?,
            buffer_bytes: fields
                .optional("buffer", "a size from 1B to 16GiB", size)?
                .unwrap_or(usual.buffer_bytes),
            domains: fields
                .optional("domains", "`even`, `aligned` or `striped`", |text| match text {
                    "even" => Some(Domains::Even),
                    "aligned" => Some(Domains::Aligned),
                    "striped" => Some(Domains::Striped),
                    _ => None,
                })?
                .unwrap_or(usual.domains),
            order: fields
                .optional("order", "`ranks` or `bridge-first`", |text| match text {
                    "ranks" => Some(Order::Ranks),
                    "bridge-first" => Some(Order::BridgeFirst),
                    _ => None,
                })?
                .unwrap_or(usual.order),
            groups: fields.optional("groups", "a number of subgroups from 1", positive)?.unwrap_or(1),
            holes: fields
                .optional("holes", "`sieve` or `pieces`", |text| match text {
                    "sieve" => Some(Holes::Sieve),
                    "pieces" => Some(Holes::Pieces),
                    _ => None,
                })?
                .unwrap_or(usual.holes),
        };
        fields.finish()?;
        Ok(options)
    }
}
