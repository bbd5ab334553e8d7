//! Options: one table, one parser. Invariant: a text is either turned into typed values as a whole or refused with
//! an [`OptionError`] that points at the word in question; nothing is ignored.
//!
//! The text is what follows the connector's name in `HDF5_VOL_CONNECTOR`: `name=value` words, separated by blanks
//! or `;`. A value with blanks is written in quotes; a value in braces may hold anything with balanced braces
//! (`under_info={...}`), and is passed on without them.

mod error;
mod layers;
mod load;
mod table;
mod values;

pub use error::OptionError;
pub use layers::{Layers, Origin, Source};
pub use load::{FileText, HINTS, LoadError, SITE_FILE, STACK, SWITCH, Surroundings, USER_FILE, Wrong};
pub use table::{OPTIONS, OptionSpec};
pub use values::{Background, Exchange, Mode, Placement, ReportTo, UnderVol};

use crate::text::{Unclosed, Words};
use std::fmt;

/// The options in force for a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Config {
    pub mode: Mode,
    /// `None`: by the memory of the node.
    pub window_bytes: Option<u64>,
    pub background: Background,
    pub report: Option<ReportTo>,
    pub under_vol: UnderVol,
    pub under_info: String,
    pub exchange: Exchange,
    /// `None`: as large as a stripe, or 4 MiB where the file system names none.
    pub buffer_bytes: Option<u64>,
    /// `None`: what the file system says.
    pub stripe_bytes: Option<u64>,
    /// `None`: what the file system says.
    pub targets: Option<u32>,
    /// `None`: by cost.
    pub aggregators: Option<u32>,
    /// Empty: any node.
    pub aggregator_nodes: Vec<u32>,
    pub placement: Placement,
    /// `None`: by cost.
    pub groups: Option<u32>,
    /// `None`: 8.
    pub group_ranks_min: Option<u32>,
    /// `None`: 4.
    pub writers_per_target: Option<u32>,
    /// The machine in one line of text; empty: what can be found out.
    pub machine: String,
}

impl Config {
    pub fn parse(text: &str) -> Result<Self, OptionError> {
        let mut config = Self::default();
        config.apply(text)?;
        Ok(config)
    }

    /// Sets what `text` names.
    fn apply(&mut self, text: &str) -> Result<(), OptionError> {
        for (spec, value, at) in pairs(text)? {
            spec.apply(self, value, at)?;
        }
        Ok(())
    }

    pub fn group_ranks_min(&self) -> u32 {
        self.group_ranks_min.unwrap_or(8)
    }

    pub fn writers_per_target(&self) -> u32 {
        self.writers_per_target.unwrap_or(4)
    }
}

impl OptionSpec {
    fn apply(&self, config: &mut Config, value: &str, at: usize) -> Result<(), OptionError> {
        let (name, expects, example) = (self.name, self.expects, self.example);
        let wrong = || OptionError::BadValue { name, value: value.to_owned(), expects, example, at };
        (self.set)(config, value).then_some(()).ok_or_else(wrong)
    }
}

/// The row of the option called `name`, which stands at byte `at` of a text.
fn spec(name: &str, at: usize) -> Result<&'static OptionSpec, OptionError> {
    OPTIONS.iter().find(|spec| spec.name == name).ok_or_else(|| {
        let nearest = crate::text::nearest(name, OPTIONS.iter().map(|spec| spec.name));
        OptionError::Unknown { name: name.to_owned(), nearest, at }
    })
}

/// The options that a text names, with their values and where they stand in it; each at most once.
fn pairs(text: &str) -> Result<Vec<(&'static OptionSpec, &str, usize)>, OptionError> {
    let mut found: Vec<(&'static OptionSpec, &str, usize)> = Vec::new();
    let mut words = Words::new(text);
    let unclosed = |Unclosed { opening, at }| OptionError::Unclosed { opening, at };
    while let Some(word) = words.next_word().map_err(unclosed)? {
        let spec = spec(word.name, word.at)?;
        let no_value = || OptionError::NoValue { name: word.name.to_owned(), at: word.at };
        let value = word.value.ok_or_else(no_value)?;
        if found.iter().any(|(known, ..)| known.name == spec.name) {
            return Err(OptionError::Twice { name: spec.name, at: word.at });
        }
        found.push((spec, value, word.at));
    }
    Ok(found)
}

/// The text that [`Config::parse`] reads back as the same values.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for spec in OPTIONS {
            if let Some(value) = (spec.get)(self) {
                write!(f, "{separator}{}={value}", spec.name)?;
                separator = ";";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_the_default() {
        for text in ["", "  ", ";; ;"] {
            assert_eq!(Config::parse(text), Ok(Config::default()));
        }
    }

    #[test]
    fn words_are_separated_by_blanks_or_semicolons() {
        let config = Config::parse("under_vol=517;under_info={a=1;b={c d}} report='/tmp/a b'").unwrap();
        assert_eq!(config.under_vol, UnderVol::Value(517));
        assert_eq!(config.under_info, "a=1;b={c d}");
        assert_eq!(config.report, Some(ReportTo::File("/tmp/a b".into())));
    }

    #[test]
    fn what_is_printed_is_read_back() {
        let examples = OPTIONS.iter().map(|spec| spec.example);
        let all = examples.clone().collect::<Vec<_>>().join(" ");
        let more = [
            "",
            "report=stderr",
            "report={/a b;c}",
            "under_vol=async under_info={x={}}",
            "under_vol=3",
            &all,
        ];
        for text in examples.chain(more) {
            let config = Config::parse(text).unwrap();
            assert_eq!(Config::parse(&config.to_string()), Ok(config), "{text}");
        }
    }

    #[test]
    fn sizes_and_choices_are_typed() {
        let config = Config::parse("buffer=16MiB groups=auto placement=random:7 exchange=direct").unwrap();
        assert_eq!(config.buffer_bytes, Some(16 << 20));
        assert_eq!(config.groups, None);
        assert_eq!(config.placement, Placement::Random(7));
        assert_eq!(config.exchange, Exchange::Direct);
        assert_eq!(Config::parse("aggregator_nodes=0,2-4").unwrap().aggregator_nodes, [0, 2, 3, 4]);
    }

    #[test]
    fn mistakes_are_named_with_what_to_write_instead() {
        let refused = |text: &str| Config::parse(text).unwrap_err().to_string();
        assert!(refused("report=stderr repotr=x").starts_with(
            "unknown option `repotr`; did you mean `report`? known options: mode, window, background, report, under_vol, under_info"
        ));
        assert_eq!(refused("report"), "option `report` has no value; write `report=...`");
        assert!(refused("report=").contains("it takes `stderr` or the path"));
        assert!(refused("under_vol=a/b").contains("cannot be `a/b`"));
        assert_eq!(refused("report=a report=b"), "option `report` is given twice; write it once");
        assert_eq!(refused("under_info={a"), "the `{` at character 12 of the options is never closed");
        assert!(refused("junk").contains("unknown option `junk`"));
        for nonsense in
            ["buffer=0", "buffer=16Mib", "groups=0", "placement=best", "aggregators=-1", "exchange=yes"]
        {
            assert!(refused(nonsense).contains("for example"), "{nonsense}");
        }
    }
}
