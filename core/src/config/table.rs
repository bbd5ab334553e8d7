//! The table of options.

use super::{Background, Config, Exchange, Mode, Placement, ReportOf, ReportTo, UnderVol};
use crate::text::{count_list, size_bytes, size_bytes_text};

/// One row of the table of options.
#[derive(Debug)]
pub struct OptionSpec {
    pub name: &'static str,
    /// What kind of value it takes.
    pub expects: &'static str,
    /// What holds when nobody says anything.
    pub default: &'static str,
    pub meaning: &'static str,
    pub example: &'static str,
    pub(super) set: fn(&mut Config, &str) -> bool,
    /// The value as text; `None` where it is the default and goes without saying.
    pub(super) get: fn(&Config) -> Option<String>,
}

/// Every option that Sago knows, in the order in which they are shown.
pub const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "mode",
        expects: "`window`, `immediate` or `off`",
        default: "window",
        meaning: "when writes are carried out: together, when the program flushes or closes the file or the window is \
                  full; each collective one before it returns; by HDF5, as without Sago",
        example: "mode=immediate",
        set: |config, value| set(&mut config.mode, Mode::parse(value)),
        get: |config| (config.mode != Mode::default()).then(|| config.mode.to_string()),
    },
    OptionSpec {
        name: "window",
        expects: "a size from 1B to 16GiB, or `auto` (an eighth of the memory that there is for the node's processes, shared by its ranks, at most 256MiB)",
        default: "auto",
        meaning: "how many bytes of writes each rank may collect before they are carried out",
        example: "window=64MiB",
        set: |config, value| set_or_auto(&mut config.window_bytes, value, size_in_bounds),
        get: |config| config.window_bytes.map(size_bytes_text),
    },
    OptionSpec {
        name: "background",
        expects: "`on` or `off`",
        default: "on",
        meaning: "whether what is in the window and needs no exchange is written while the program goes on",
        example: "background=off",
        set: |config, value| set(&mut config.background, Background::parse(value)),
        get: |config| (config.background != Background::On).then(|| config.background.to_string()),
    },
    OptionSpec {
        name: "report",
        expects: "`stderr` or the path of a file to append to",
        default: "none",
        meaning: "what Sago did, as JSON: one line for each file when it is closed (as text on `stderr`), and one for \
                  each process at its end; see REPORT.md",
        example: "report=/tmp/sago.jsonl",
        set: |config, value| {
            config.report = match value {
                "" => return false,
                "stderr" => Some(ReportTo::Stderr),
                path => Some(ReportTo::File(path.to_owned())),
            };
            true
        },
        get: |config| match config.report.as_ref()? {
            ReportTo::Stderr => Some("stderr".into()),
            ReportTo::File(path) => Some(format!("{{{path}}}")),
        },
    },
    OptionSpec {
        name: "report_of",
        expects: "`all` or `processes`",
        default: "all",
        meaning: "of what there are reports: of files and processes; of processes only, for which nothing is collected",
        example: "report_of=processes",
        set: |config, value| set(&mut config.report_of, ReportOf::parse(value)),
        get: |config| (config.report_of != ReportOf::default()).then(|| config.report_of.to_string()),
    },
    OptionSpec {
        name: "verbose",
        expects: "`0` or `1`",
        default: "0",
        meaning: "1: a line on standard error when the first file is captured, and, on a terminal, how far long commits are",
        example: "verbose=1",
        set: |config, value| {
            set(&mut config.verbose, ["0", "1"].iter().position(|v| *v == value).map(|v| v == 1))
        },
        get: |config| config.verbose.then(|| "1".to_owned()),
    },
    OptionSpec {
        name: "under_vol",
        expects: "the number or the name of a VOL connector",
        default: "native",
        meaning: "the connector below Sago; HDF5's native one unless told otherwise",
        example: "under_vol=native",
        set: |config, value| {
            config.under_vol = match value.parse() {
                Ok(0) => UnderVol::Native,
                Ok(number) => UnderVol::Value(number),
                Err(_) if value == "native" => UnderVol::Native,
                Err(_) if is_connector_name(value) => UnderVol::Name(value.to_owned()),
                Err(_) => return false,
            };
            true
        },
        get: |config| match &config.under_vol {
            UnderVol::Native => Some("0".into()),
            UnderVol::Value(number) => Some(number.to_string()),
            UnderVol::Name(name) => Some(name.clone()),
        },
    },
    OptionSpec {
        name: "under_info",
        expects: "the options of the connector below, in braces",
        default: "nothing",
        meaning: "handed to the connector below Sago as it stands",
        example: "under_info={under_vol=0;under_info={}}",
        set: |config, value| {
            config.under_info = value.to_owned();
            true
        },
        get: |config| Some(format!("{{{}}}", config.under_info)),
    },
    OptionSpec {
        name: "exchange",
        expects: "`auto`, `direct`, `aggregate` or `bridge`",
        default: "auto",
        meaning: "whether every rank writes its own bytes, aggregators do, or independent writes go by the bridge nodes",
        example: "exchange=direct",
        set: |config, value| set(&mut config.exchange, Exchange::parse(value)),
        get: |config| (config.exchange != Exchange::Auto).then(|| config.exchange.to_string()),
    },
    OptionSpec {
        name: "buffer",
        expects: "a size from 1B to 16GiB, or `auto` (the stripe)",
        default: "auto",
        meaning: "the size of each of an aggregator's two buffers",
        example: "buffer=16MiB",
        set: |config, value| set_or_auto(&mut config.buffer_bytes, value, size_in_bounds),
        get: |config| config.buffer_bytes.map(size_bytes_text),
    },
    OptionSpec {
        name: "stripe",
        expects: "a size from 1B to 16GiB, or `auto` (what the file system says)",
        default: "auto",
        meaning: "the stripe or block size of the file system, to which rounds are aligned",
        example: "stripe=8MiB",
        set: |config, value| set_or_auto(&mut config.stripe_bytes, value, size_in_bounds),
        get: |config| config.stripe_bytes.map(size_bytes_text),
    },
    OptionSpec {
        name: "targets",
        expects: "a number of storage targets from 1, or `auto` (what the file system says)",
        default: "auto",
        meaning: "over how many storage targets the file is striped",
        example: "targets=48",
        set: |config, value| set_or_auto(&mut config.targets, value, positive),
        get: |config| config.targets.map(|n| n.to_string()),
    },
    OptionSpec {
        name: "aggregators",
        expects: "a number from 1, or `auto` (by cost)",
        default: "auto",
        meaning: "how many aggregators there are in all (the hint cb_nodes)",
        example: "aggregators=192",
        set: |config, value| set_or_auto(&mut config.aggregators, value, positive),
        get: |config| config.aggregators.map(|n| n.to_string()),
    },
    OptionSpec {
        name: "aggregator_nodes",
        expects: "a list of node numbers, for example 0,2,8-15",
        default: "all",
        meaning: "the nodes that aggregators may be on (the hint cb_config_list)",
        example: "aggregator_nodes=0,2,8-15",
        set: |config, value| set(&mut config.aggregator_nodes, count_list(value)),
        get: |config| {
            let text: Vec<_> = config.aggregator_nodes.iter().map(u32::to_string).collect();
            (!text.is_empty()).then(|| text.join(","))
        },
    },
    OptionSpec {
        name: "placement",
        expects: "`cost`, `rank-order`, `bridge-first`, `one-per-node`, `shortest-path` or `random:SEED`",
        default: "cost",
        meaning: "how aggregators are chosen; all but `cost` are there to compare with",
        example: "placement=cost",
        set: |config, value| set(&mut config.placement, Placement::parse(value)),
        get: |config| (config.placement != Placement::Cost).then(|| config.placement.to_string()),
    },
    OptionSpec {
        name: "groups",
        expects: "a number from 1, or `auto` (by cost)",
        default: "auto",
        meaning: "into how many subgroups with a file area of their own the ranks are divided",
        example: "groups=64",
        set: |config, value| set_or_auto(&mut config.groups, value, positive),
        get: |config| config.groups.map(|n| n.to_string()),
    },
    OptionSpec {
        name: "group_ranks_min",
        expects: "a number from 1",
        default: "8",
        meaning: "no subgroup has fewer ranks than this (8 unless told otherwise)",
        example: "group_ranks_min=8",
        set: |config, value| set_or_auto(&mut config.group_ranks_min, value, positive),
        get: |config| config.group_ranks_min.map(|n| n.to_string()),
    },
    OptionSpec {
        name: "writers_per_target",
        expects: "a number from 1",
        default: "4",
        meaning: "at most how many aggregators there are for each storage target (4 unless told otherwise)",
        example: "writers_per_target=4",
        set: |config, value| set_or_auto(&mut config.writers_per_target, value, positive),
        get: |config| config.writers_per_target.map(|n| n.to_string()),
    },
    OptionSpec {
        name: "machine",
        expects: "a machine in one line of text, in braces",
        default: "found out",
        meaning: "the machine's network, where it cannot be found out",
        example: "machine={flat nodes=4 link=10GB/s ranks_per_node=2}",
        set: |config, value| {
            config.machine = value.to_owned();
            value.parse::<crate::topology::Machine>().is_ok()
        },
        get: |config| (!config.machine.is_empty()).then(|| format!("{{{}}}", config.machine)),
    },
];

fn set<T>(place: &mut T, value: Option<T>) -> bool {
    value.map(|value| *place = value).is_some()
}

fn set_or_auto<T>(place: &mut Option<T>, value: &str, read: fn(&str) -> Option<T>) -> bool {
    *place = if value == "auto" { None } else { read(value) };
    value == "auto" || place.is_some()
}

fn size_in_bounds(value: &str) -> Option<u64> {
    size_bytes(value).filter(|bytes| (1..=16 << 30).contains(bytes))
}

fn positive(value: &str) -> Option<u32> {
    value.parse().ok().filter(|n| *n > 0)
}

fn is_connector_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}
