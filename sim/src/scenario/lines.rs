//! The lines of a scenario, and what is wrong with one of them.

use super::{FileSystem, KEYS, Scenario};
use sago_core::config::Config;
use sago_core::ids::Rank;
use sago_core::text::{TextError, nearest};
use sago_core::topology::Machine;
use std::fmt;

/// A scenario's text, line by line; a sweep changes words in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    number: usize,
    key: String,
    text: String,
    /// Where the value starts in `text`, which starts with the key.
    value_at: usize,
}

/// What is wrong with a scenario, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// From 1; 0 if it is about the scenario as a whole.
    pub line: usize,
    pub text: String,
    /// A byte of `text`.
    pub at: usize,
    pub sentence: String,
}

impl Lines {
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let mut lines: Vec<Line> = Vec::new();
        for (number, raw) in text.lines().enumerate() {
            let content = raw.split('#').next().unwrap_or_default().trim();
            if content.is_empty() {
                continue;
            }
            let key = content.split_whitespace().next().unwrap_or_default().to_owned();
            let rest = &content[key.len()..];
            let value_at = key.len() + (rest.len() - rest.trim_start().len());
            let line = Line { number: number + 1, key, text: content.to_owned(), value_at };
            line.check(&lines)?;
            lines.push(line);
        }
        Ok(Self { lines })
    }

    /// The same with one word changed: `pattern.particles`, or a whole line such as `seed`.
    pub fn with(&self, place: &str, value: &str) -> Result<Self, ScenarioError> {
        let (key, word) = place.split_once('.').map_or((place, None), |(key, word)| (key, Some(word)));
        if !KEYS.contains(&key) {
            let near = nearest(key, KEYS.iter().copied());
            return Err(ScenarioError::whole(format!(
                "there is no line `{key}` to vary; did you mean `{near}`?"
            )));
        }
        let mut changed = self.clone();
        let at = changed.lines.iter().position(|line| line.key == key);
        let line = match at {
            Some(at) => &mut changed.lines[at],
            None => {
                changed.lines.push(Line {
                    number: 0,
                    key: key.into(),
                    text: key.into(),
                    value_at: key.len(),
                });
                let last = changed.lines.len() - 1;
                &mut changed.lines[last]
            }
        };
        match word {
            None => line.text = format!("{key} {value}"),
            Some(word) => {
                let mut words: Vec<String> = line.text.split_whitespace().map(str::to_owned).collect();
                let new = format!("{word}={value}");
                match words.iter_mut().find(|old| old.split('=').next() == Some(word)) {
                    Some(old) => *old = new,
                    None => words.push(new),
                }
                line.text = words.join(" ");
            }
        }
        line.value_at = (key.len() + 1).min(line.text.len());
        Ok(changed)
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.find(key).map(|line| &line.text[line.value_at..])
    }

    pub(super) fn required<T>(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Result<T, TextError>,
    ) -> Result<T, ScenarioError> {
        self.value(key, read)?
            .ok_or_else(|| ScenarioError::whole(format!("the scenario has no line `{key} ...`")))
    }

    pub(super) fn value<T>(
        &self,
        key: &str,
        read: impl Fn(&str) -> Result<T, TextError>,
    ) -> Result<Option<T>, ScenarioError> {
        self.find(key).map(|line| line.read(line.value_at, &read)).transpose()
    }

    /// A line whose key is the kind of its text.
    pub(super) fn line<T>(
        &self,
        key: &str,
        read: impl Fn(&str) -> Result<T, TextError>,
    ) -> Result<Option<T>, ScenarioError> {
        self.find(key).map(|line| line.read(0, &read)).transpose()
    }

    pub(super) fn all<T>(
        &self,
        key: &str,
        read: impl Fn(&str) -> Result<T, TextError>,
    ) -> Result<Vec<T>, ScenarioError> {
        let lines = self.lines.iter().filter(|line| line.key == key);
        lines.map(|line| line.read(line.value_at, &read)).collect()
    }

    pub(super) fn options(&self, key: &str) -> Result<Config, ScenarioError> {
        let Some(line) = self.find(key) else { return Ok(Config::default()) };
        Config::parse(&line.text[line.value_at..])
            .map_err(|error| line.error(line.value_at + error.at(), error.to_string()))
    }

    /// Whether the file system's servers are nodes of the machine.
    pub(super) fn check_servers(&self, machine: &Machine, storage: &FileSystem) -> Result<(), ScenarioError> {
        let nodes = machine.nodes();
        match (storage.servers.iter().find(|server| **server >= nodes), self.find("storage")) {
            (Some(server), Some(line)) => {
                let at = line.text.find("servers=").unwrap_or(line.value_at);
                Err(line
                    .error(at, format!("there is no node {server} for a server: the machine has {nodes}")))
            }
            _ => Ok(()),
        }
    }

    /// Whether the pattern has a place for every file's ranks.
    pub(super) fn check_pattern(&self, scenario: &Scenario) -> Result<(), ScenarioError> {
        let ranks = scenario.ranks_per_file();
        let declare = |rank| scenario.pattern.declare(Rank(rank), ranks, scenario.direction);
        let found = declare(0).and_then(|_| declare(ranks - 1));
        let complain = |error: sago_core::pattern::PatternError| match self.find("pattern") {
            Some(line) => line.error(line.value_at, error.to_string()),
            None => ScenarioError::whole(error.to_string()),
        };
        found.map(|_| ()).map_err(complain)
    }

    fn find(&self, key: &str) -> Option<&Line> {
        self.lines.iter().find(|line| line.key == key)
    }
}

impl Line {
    fn check(&self, before: &[Self]) -> Result<(), ScenarioError> {
        if !KEYS.contains(&self.key.as_str()) {
            let near = nearest(&self.key, KEYS.iter().copied());
            let known = KEYS.join(", ");
            let sentence =
                format!("a scenario has no line `{}`; did you mean `{near}`? it takes: {known}", self.key);
            return Err(self.error(0, sentence));
        }
        match before.iter().find(|line| line.key == self.key && self.key != "fault") {
            Some(first) => {
                let sentence = format!("`{}` stands in line {} already", self.key, first.number);
                Err(self.error(0, sentence))
            }
            None => Ok(()),
        }
    }

    fn read<T>(&self, from: usize, read: &impl Fn(&str) -> Result<T, TextError>) -> Result<T, ScenarioError> {
        read(&self.text[from..]).map_err(|error| self.error(from + error.at(), error.to_string()))
    }

    fn error(&self, at: usize, sentence: String) -> ScenarioError {
        ScenarioError { line: self.number, text: self.text.clone(), at, sentence }
    }
}

impl ScenarioError {
    fn whole(sentence: String) -> Self {
        Self { line: 0, text: String::new(), at: 0, sentence }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for ScenarioError {}
