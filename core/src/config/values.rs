//! The types that options are turned into.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReportTo {
    Stderr,
    File(String),
}

/// The connector below Sago.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnderVol {
    #[default]
    Native,
    Value(i32),
    Name(String),
}

/// When writes of a program are carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// They are collected, and written together when the program flushes or closes the file, or the window is full.
    #[default]
    Window,
    /// Each collective write before it returns.
    Immediate,
    /// By HDF5, as without Sago.
    Off,
}

/// Whether bytes that need no exchange are written while the program goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Background {
    #[default]
    On,
    Off,
}

/// Whether ranks exchange bytes before writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exchange {
    /// What costs less.
    #[default]
    Auto,
    /// Every rank writes its own bytes.
    Direct,
    /// Aggregators write.
    Aggregate,
    /// Independent writes: to the bridge nodes along free routes, and node by node.
    Bridge,
}

/// How aggregators are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Placement {
    /// The least C1 + C2.
    #[default]
    Cost,
    RankOrder,
    BridgeFirst,
    OnePerNode,
    ShortestPath,
    Random(u64),
}

impl Mode {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "window" => Self::Window,
            "immediate" => Self::Immediate,
            "off" => Self::Off,
            _ => return None,
        })
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Window => "window",
            Self::Immediate => "immediate",
            Self::Off => "off",
        })
    }
}

impl Background {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "on" => Self::On,
            "off" => Self::Off,
            _ => return None,
        })
    }
}

impl fmt::Display for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::On => "on",
            Self::Off => "off",
        })
    }
}

impl Exchange {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "auto" => Self::Auto,
            "direct" => Self::Direct,
            "aggregate" => Self::Aggregate,
            "bridge" => Self::Bridge,
            _ => return None,
        })
    }
}

impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Direct => "direct",
            Self::Aggregate => "aggregate",
            Self::Bridge => "bridge",
        })
    }
}

impl Placement {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "cost" => Self::Cost,
            "rank-order" => Self::RankOrder,
            "bridge-first" => Self::BridgeFirst,
            "one-per-node" => Self::OnePerNode,
            "shortest-path" => Self::ShortestPath,
            _ => Self::Random(text.strip_prefix("random:")?.parse().ok()?),
        })
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cost => "cost",
            Self::RankOrder => "rank-order",
            Self::BridgeFirst => "bridge-first",
            Self::OnePerNode => "one-per-node",
            Self::ShortestPath => "shortest-path",
            Self::Random(seed) => return write!(f, "random:{seed}"),
        })
    }
}
