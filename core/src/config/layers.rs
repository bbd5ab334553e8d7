//! Where each value came from. Options arrive from several places; the later ones win, and each value remembers the
//! last place that set it.

use super::{Config, OptionError};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    #[default]
    Default,
    /// A profile that a tuning run left.
    Profile,
    /// The connector's text in the environment, or in a property list.
    Connector,
    /// An MPI info hint (`cb_nodes`, `cb_buffer_size`, ...).
    Hint,
    /// A command line.
    CommandLine,
}

/// Options with their provenance.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    config: Config,
    sources: BTreeMap<&'static str, Source>,
}

impl Layers {
    pub fn new() -> Self {
        Self::default()
    }

    /// Lays `text` over what is there; if it is refused, nothing changes.
    pub fn add(&mut self, source: Source, text: &str) -> Result<(), OptionError> {
        let mut config = self.config.clone();
        let set = config.apply(text)?;
        self.config = config;
        self.sources.extend(set.into_iter().map(|name| (name, source)));
        Ok(())
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Who set the option last.
    pub fn source(&self, option: &str) -> Source {
        self.sources.get(option).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_layer_wins_and_is_remembered() {
        let mut layers = Layers::new();
        layers.add(Source::Connector, "buffer=1MiB groups=2").unwrap();
        layers.add(Source::Hint, "buffer=2MiB").unwrap();
        assert!(layers.add(Source::CommandLine, "buffer=3MiB groups=none").is_err());
        assert_eq!(layers.config().buffer_bytes, Some(2 << 20));
        assert_eq!(layers.source("buffer"), Source::Hint);
        assert_eq!(layers.source("groups"), Source::Connector);
        assert_eq!(layers.source("stripe"), Source::Default);
    }
}
