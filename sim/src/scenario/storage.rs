//! The file system of a scenario, as text: `lustre targets=48 stripe=8MiB target=3GB/s lock=1ms`.

use sago_core::text::{
    Fields, TextError, bytes_per_s, bytes_per_s_text, count_list, duration_s, duration_s_text, size_bytes,
    size_bytes_text,
};
use std::fmt;
use std::str::FromStr;

/// Who the file system's client is, for locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockHolder {
    Node,
    /// The I/O node, where the machine has some: compute nodes forward their calls to it.
    IoNode,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FileSystem {
    pub lock_holder: LockHolder,
    /// Over how many targets a file is striped, of how many there are.
    pub targets: u32,
    pub pool: u32,
    pub stripe_bytes: u64,
    pub target_bytes_per_s: f64,
    /// A request's cost at its target, besides its bytes.
    pub request_s: f64,
    /// What a request costs more at its target if it does not follow the one before it.
    pub seek_s: f64,
    /// What a request waits if another client had the stripe's lock.
    pub lock_s: f64,
    /// A request's cost at the file's own bookkeeping (one place per file).
    pub file_request_s: f64,
    /// Of each I/O node, in all.
    pub io_node_bytes_per_s: Option<f64>,
    /// Of one rank's file-system client software.
    pub client_bytes_per_s: Option<f64>,
    /// Standard deviation of a target's service time, as a share of the mean.
    pub jitter: f64,
    /// The nodes of the machine that the targets are on, in turn; none: they are reached through the machine's gates.
    pub servers: Vec<u32>,
    /// Each piece is cut into this many fragments, with so many more for safety, each at a target of its own.
    pub fragments: (u32, u32),
}

const KINDS: &[&str] = &["lustre", "gpfs"];
const RATE: &str = "a rate with its unit, for example 3GB/s";
const TIME: &str = "a time with its unit, for example 500us, or 0";

impl FromStr for FileSystem {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let fields = Fields::parse("storage", "lustre targets=48 stripe=8MiB target=3GB/s", text)?;
        let lock_holder = match fields.kind {
            "lustre" => LockHolder::Node,
            "gpfs" => LockHolder::IoNode,
            _ => return Err(fields.unknown_kind("storage", KINDS)),
        };
        let count = |text: &str| text.parse().ok().filter(|n: &u32| (1..=1 << 20).contains(n));
        let targets = fields.required("targets", "a number of storage targets from 1", count)?;
        let expects = format!("a number of targets in all, from {targets}");
        let pool = fields.optional("pool", &expects, |text| count(text).filter(|n| *n >= targets))?;
        let size = |text: &str| size_bytes(text).filter(|n| (1..=1 << 40).contains(n));
        let time = |name| {
            let read = |text: &str| if text == "0" { Some(0.0) } else { duration_s(text) };
            Ok::<f64, TextError>(fields.optional(name, TIME, read)?.unwrap_or(0.0))
        };
        let share = |text: &str| text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
        let system = Self {
            lock_holder,
            targets,
            pool: pool.unwrap_or(targets),
            stripe_bytes: fields.required("stripe", "a size from 1B, for example 8MiB", size)?,
            target_bytes_per_s: fields.required("target", RATE, bytes_per_s)?,
            request_s: time("request")?,
            seek_s: time("seek")?,
            lock_s: time("lock")?,
            file_request_s: time("file_request")?,
            io_node_bytes_per_s: fields.optional("io_node", RATE, bytes_per_s)?,
            client_bytes_per_s: fields.optional("client", RATE, bytes_per_s)?,
            jitter: fields.optional("jitter", "a share from 0 to 1", share)?.unwrap_or(0.0),
            servers: fields
                .optional("servers", "a list of nodes, for example 0,1,2", count_list)?
                .unwrap_or_default(),
            fragments: fields
                .optional(
                    "fragments",
                    "data+parity, no more than there are targets, for example 2+1",
                    |text| fragments(text).filter(|(data, parity)| data + parity <= pool.unwrap_or(targets)),
                )?
                .unwrap_or((1, 0)),
        };
        fields.finish()?;
        Ok(system)
    }
}

fn fragments(text: &str) -> Option<(u32, u32)> {
    let (data, parity) = text.split_once('+')?;
    let (data, parity) = (data.parse().ok()?, parity.parse().ok()?);
    ((1..=64).contains(&data) && parity <= 64).then_some((data, parity))
}

/// The normal form.
impl fmt::Display for FileSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.lock_holder == LockHolder::Node { "lustre" } else { "gpfs" };
        let time = |s: f64| if s == 0.0 { "0".to_owned() } else { duration_s_text(s) };
        write!(f, "{kind} targets={} pool={}", self.targets, self.pool)?;
        write!(f, " stripe={}", size_bytes_text(self.stripe_bytes))?;
        write!(f, " target={} request={}", bytes_per_s_text(self.target_bytes_per_s), time(self.request_s))?;
        write!(f, " seek={} lock={}", time(self.seek_s), time(self.lock_s))?;
        write!(f, " file_request={}", time(self.file_request_s))?;
        for (name, rate) in [("io_node", self.io_node_bytes_per_s), ("client", self.client_bytes_per_s)] {
            if let Some(rate) = rate {
                write!(f, " {name}={}", bytes_per_s_text(rate))?;
            }
        }
        if !self.servers.is_empty() {
            let list: Vec<_> = self.servers.iter().map(u32::to_string).collect();
            write!(f, " servers={}", list.join(","))?;
        }
        if self.fragments != (1, 0) {
            write!(f, " fragments={}+{}", self.fragments.0, self.fragments.1)?;
        }
        write!(f, " jitter={}", self.jitter)
    }
}
