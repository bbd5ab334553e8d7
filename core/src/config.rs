//! Options: one table, one parser. Invariant: a text is either turned into typed values as a whole or refused with
//! an [`OptionError`] that points at the word in question; nothing is ignored.
//!
//! The text is what follows the connector's name in `HDF5_VOL_CONNECTOR`: `name=value` words, separated by blanks
//! or `;`. A value with blanks is written in quotes; a value in braces may hold anything with balanced braces
//! (`under_info={...}`), and is passed on without them.

use std::fmt;

/// One row of the table of options.
#[derive(Debug)]
pub struct OptionSpec {
    pub name: &'static str,
    pub expects: &'static str,
    pub meaning: &'static str,
    pub example: &'static str,
    set: fn(&mut Config, &str) -> bool,
}

/// Every option that Sago knows, in the order in which they are shown.
pub const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "report",
        expects: "`stderr` or the path of a file to append to",
        meaning: "when HDF5 lets go of the connector, write one line of JSON on what passed through it",
        example: "report=/tmp/sago.jsonl",
        set: |config, value| {
            config.report = match value {
                "" => return false,
                "stderr" => Some(ReportTo::Stderr),
                path => Some(ReportTo::File(path.to_owned())),
            };
            true
        },
    },
    OptionSpec {
        name: "under_vol",
        expects: "the number or the name of a VOL connector",
        meaning: "the connector below Sago; HDF5's native one unless told otherwise",
        example: "under_vol=native",
        set: |config, value| {
            config.under_vol = match value.parse() {
                Ok(number) => UnderVol::Value(number),
                Err(_) if is_connector_name(value) => UnderVol::Name(value.to_owned()),
                Err(_) => return false,
            };
            true
        },
    },
    OptionSpec {
        name: "under_info",
        expects: "the options of the connector below, in braces",
        meaning: "handed to the connector below Sago as it stands",
        example: "under_info={under_vol=0;under_info={}}",
        set: |config, value| {
            config.under_info = value.to_owned();
            true
        },
    },
];

/// The options in force for a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Config {
    pub report: Option<ReportTo>,
    pub under_vol: UnderVol,
    pub under_info: String,
}

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

/// What is wrong with a text of options, and where (a byte position in it).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptionError {
    Unknown { name: String, nearest: &'static str, at: usize },
    NoValue { name: String, at: usize },
    BadValue { name: &'static str, value: String, expects: &'static str, example: &'static str, at: usize },
    Twice { name: &'static str, at: usize },
    Unclosed { opening: char, at: usize },
}

impl Config {
    pub fn parse(text: &str) -> Result<Self, OptionError> {
        let mut config = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        let mut words = Words { text, at: 0 };
        while let Some(word) = words.next_word()? {
            let spec = OPTIONS.iter().find(|spec| spec.name == word.name).ok_or_else(|| {
                OptionError::Unknown { name: word.name.to_owned(), nearest: nearest(word.name), at: word.at }
            })?;
            let value =
                word.value.ok_or_else(|| OptionError::NoValue { name: word.name.to_owned(), at: word.at })?;
            if seen.contains(&spec.name) {
                return Err(OptionError::Twice { name: spec.name, at: word.at });
            }
            seen.push(spec.name);
            if !(spec.set)(&mut config, value) {
                return Err(OptionError::BadValue {
                    name: spec.name,
                    value: value.to_owned(),
                    expects: spec.expects,
                    example: spec.example,
                    at: word.at,
                });
            }
        }
        Ok(config)
    }
}

/// The text that [`Config::parse`] reads back as the same values.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.under_vol {
            UnderVol::Native => write!(f, "under_vol=0")?,
            UnderVol::Value(number) => write!(f, "under_vol={number}")?,
            UnderVol::Name(name) => write!(f, "under_vol={name}")?,
        }
        write!(f, ";under_info={{{}}}", self.under_info)?;
        match &self.report {
            None => Ok(()),
            Some(ReportTo::Stderr) => write!(f, ";report=stderr"),
            Some(ReportTo::File(path)) => write!(f, ";report={{{path}}}"),
        }
    }
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, nearest, .. } => {
                write!(f, "unknown option `{name}`; did you mean `{nearest}`? known options:")?;
                for (i, spec) in OPTIONS.iter().enumerate() {
                    write!(f, "{} {}", if i == 0 { "" } else { "," }, spec.name)?;
                }
                Ok(())
            }
            Self::NoValue { name, .. } => write!(f, "option `{name}` has no value; write `{name}=...`"),
            Self::BadValue { name, value, expects, example, .. } => {
                write!(f, "option `{name}` cannot be `{value}`: it takes {expects}, for example `{example}`")
            }
            Self::Twice { name, .. } => write!(f, "option `{name}` is given twice; write it once"),
            Self::Unclosed { opening, at } => {
                write!(f, "the `{opening}` at character {} of the options is never closed", at + 1)
            }
        }
    }
}

impl std::error::Error for OptionError {}

struct Word<'a> {
    name: &'a str,
    value: Option<&'a str>,
    at: usize,
}

struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    fn next_word(&mut self) -> Result<Option<Word<'a>>, OptionError> {
        let rest = &self.text[self.at..];
        let skipped = rest.find(|c| !is_separator(c)).unwrap_or(rest.len());
        let start = self.at + skipped;
        let rest = &self.text[start..];
        if rest.is_empty() {
            return Ok(None);
        }
        let name_len = rest.find(|c| c == '=' || is_separator(c)).unwrap_or(rest.len());
        self.at = start + name_len;
        let value = match rest[name_len..].strip_prefix('=') {
            None => None,
            Some(_) => Some(self.value(start + name_len + 1)?),
        };
        Ok(Some(Word { name: &rest[..name_len], value, at: start }))
    }

    fn value(&mut self, start: usize) -> Result<&'a str, OptionError> {
        let rest = &self.text[start..];
        let (inner, used) = match rest.chars().next() {
            Some(opening @ ('"' | '\'')) => {
                let len = rest[1..].find(opening).ok_or(OptionError::Unclosed { opening, at: start })?;
                (&rest[1..1 + len], len + 2)
            }
            Some('{') => {
                let len = closing_brace(rest).ok_or(OptionError::Unclosed { opening: '{', at: start })?;
                (&rest[1..len], len + 1)
            }
            _ => {
                let len = rest.find(is_separator).unwrap_or(rest.len());
                (&rest[..len], len)
            }
        };
        self.at = start + used;
        Ok(inner)
    }
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || c == ';'
}

fn is_connector_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}

/// The place of the `}` that closes the `{` at the start of `text`.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

fn nearest(name: &str) -> &'static str {
    OPTIONS.iter().map(|spec| spec.name).min_by_key(|known| edits(name, known)).unwrap_or_default()
}

/// Levenshtein distance, for short words.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
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
        for text in
            ["", "report=stderr", "report={/a b;c}", "under_vol=async under_info={x={}}", "under_vol=3"]
        {
            let config = Config::parse(text).unwrap();
            let again = Config::parse(&config.to_string()).unwrap();
            assert_eq!(again.to_string(), config.to_string());
            assert_eq!(again.report, config.report);
        }
    }

    #[test]
    fn mistakes_are_named_with_what_to_write_instead() {
        let refused = |text: &str| Config::parse(text).unwrap_err().to_string();
        assert_eq!(
            refused("report=stderr repotr=x"),
            "unknown option `repotr`; did you mean `report`? known options: report, under_vol, under_info"
        );
        assert_eq!(refused("report"), "option `report` has no value; write `report=...`");
        assert!(refused("report=").contains("it takes `stderr` or the path"));
        assert!(refused("under_vol=a/b").contains("cannot be `a/b`"));
        assert_eq!(refused("report=a report=b"), "option `report` is given twice; write it once");
        assert_eq!(refused("under_info={a"), "the `{` at character 12 of the options is never closed");
        assert!(refused("junk").contains("unknown option `junk`"));
    }
}
