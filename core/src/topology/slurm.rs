//! Slurm's `topology.conf`, tree and block plugin: the shape of a machine that a site has already written down.
//! `SwitchName=s0 Nodes=n[0-3]`, `SwitchName=top Switches=s[0-1]`, `BlockName=b0 Nodes=n[00-17]`.

use super::tree::{Shape, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The machine in a `topology.conf`: its shape, and the nodes' names in the order of their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmTopology {
    pub shape: Shape,
    pub node_names: Vec<String>,
}

/// What is wrong with a `topology.conf`, and in which line (the first is 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlurmError {
    NotAWord { line: usize, word: String },
    NoName { line: usize },
    BadList { line: usize, list: String },
    Twice { line: usize, name: String },
    UnknownSwitch { line: usize, name: String },
    Loop { name: String },
    NoNodes,
}

struct Entry {
    line: usize,
    nodes: Vec<String>,
    switches: Vec<String>,
}

/// Reads the text of a `topology.conf`.
pub fn read(text: &str) -> Result<SlurmTopology, SlurmError> {
    let entries = read_entries(text)?;
    let mut below = BTreeSet::new();
    for entry in entries.values() {
        for name in &entry.switches {
            if !entries.contains_key(name) {
                return Err(SlurmError::UnknownSwitch { line: entry.line, name: name.clone() });
            }
            below.insert(name.clone());
        }
    }
    let mut roots: Vec<(&String, &Entry)> =
        entries.iter().filter(|(name, _)| !below.contains(*name)).collect();
    roots.sort_by_key(|(_, entry)| entry.line);
    let mut build = Build { entries: &entries, node_names: Vec::new(), seen: BTreeSet::new() };
    let mut shapes = roots.iter().map(|(name, _)| build.shape(name)).collect::<Result<Vec<_>, _>>()?;
    if let Some(name) = entries.keys().find(|name| !build.seen.contains(*name)) {
        return Err(SlurmError::Loop { name: name.clone() });
    }
    let node_names = build.node_names;
    if node_names.is_empty() {
        return Err(SlurmError::NoNodes);
    }
    let shape = if shapes.len() == 1 { shapes.remove(0) } else { Shape { nodes: 0, below: shapes } };
    Ok(SlurmTopology { shape, node_names })
}

impl SlurmTopology {
    /// The network, with the rates of its links by level, the nodes' own first.
    pub fn tree(self, rates: Vec<f64>) -> Tree {
        Tree::new(self.shape, rates)
    }
}

struct Build<'a> {
    entries: &'a BTreeMap<String, Entry>,
    node_names: Vec<String>,
    seen: BTreeSet<String>,
}

impl Build<'_> {
    fn shape(&mut self, name: &str) -> Result<Shape, SlurmError> {
        if !self.seen.insert(name.to_owned()) {
            return Err(SlurmError::Loop { name: name.to_owned() });
        }
        let entry = &self.entries[name];
        for node in &entry.nodes {
            if self.node_names.contains(node) {
                return Err(SlurmError::Twice { line: entry.line, name: node.clone() });
            }
            self.node_names.push(node.clone());
        }
        let below = entry.switches.iter().map(|name| self.shape(name)).collect::<Result<_, _>>()?;
        Ok(Shape { nodes: entry.nodes.len() as u32, below })
    }
}

fn read_entries(text: &str) -> Result<BTreeMap<String, Entry>, SlurmError> {
    let mut entries = BTreeMap::new();
    for (line, content) in text.lines().enumerate().map(|(i, content)| (i + 1, content)) {
        let content = content.split('#').next().unwrap_or_default();
        let mut name = None;
        let mut entry = Entry { line, nodes: Vec::new(), switches: Vec::new() };
        let mut other = false;
        for word in content.split_whitespace() {
            let (key, value) =
                word.split_once('=').ok_or_else(|| SlurmError::NotAWord { line, word: word.to_owned() })?;
            let list = || expand(value).ok_or_else(|| SlurmError::BadList { line, list: value.to_owned() });
            match key.to_ascii_lowercase().as_str() {
                "switchname" | "blockname" => name = Some(value.to_owned()),
                "nodes" => entry.nodes = list()?,
                "switches" => entry.switches = list()?,
                _ => other = true,
            }
        }
        match name {
            Some(name) if entries.contains_key(&name) => return Err(SlurmError::Twice { line, name }),
            Some(name) => drop(entries.insert(name, entry)),
            None if entry.nodes.is_empty() && entry.switches.is_empty() || other => {}
            None => return Err(SlurmError::NoName { line }),
        }
    }
    Ok(entries)
}

/// A host list: `n[01-03,7],login`.
fn expand(list: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = list;
    while !rest.is_empty() {
        let bracket = rest.find('[').unwrap_or(rest.len());
        let comma = rest.find(',').unwrap_or(rest.len());
        if comma < bracket || bracket == rest.len() {
            names.push(Some(&rest[..comma]).filter(|name| !name.is_empty())?.to_owned());
            rest = rest.get(comma + 1..).unwrap_or_default();
            continue;
        }
        let close = rest.find(']').filter(|close| *close > bracket)?;
        for range in rest[bracket + 1..close].split(',') {
            let (from, to) = range.split_once('-').unwrap_or((range, range));
            let (first, last): (u32, u32) = (from.parse().ok()?, to.parse().ok()?);
            if last < first || last - first >= 1 << 20 {
                return None;
            }
            let width = from.len();
            names.extend((first..=last).map(|n| format!("{}{n:0width$}", &rest[..bracket])));
        }
        rest = &rest[close + 1..];
        rest = if rest.is_empty() { rest } else { rest.strip_prefix(',')? };
    }
    Some(names)
}

impl fmt::Display for SlurmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAWord { line, word } => write!(f, "line {line}: `{word}` is not of the form Name=value"),
            Self::NoName { line } => {
                write!(
                    f,
                    "line {line}: a list of nodes or switches needs SwitchName=... or BlockName=... before it"
                )
            }
            Self::BadList { line, list } => {
                write!(f, "line {line}: `{list}` is not a list of names such as n[0-3],m7")
            }
            Self::Twice { line, name } => write!(f, "line {line}: `{name}` is described twice"),
            Self::UnknownSwitch { line, name } => {
                write!(
                    f,
                    "line {line}: switch `{name}` is described nowhere; it needs a line SwitchName={name} ..."
                )
            }
            Self::Loop { name } => write!(f, "switch `{name}` is below itself, or below two switches"),
            Self::NoNodes => f.write_str("no line names any nodes; expected SwitchName=... Nodes=..."),
        }
    }
}

impl std::error::Error for SlurmError {}
