//! Where each value came from. Options arrive from several places, in whatever order; the value of the place that ranks
//! highest counts, and is remembered with that place.

use super::{Config, OPTIONS, OptionError, OptionSpec};
use std::collections::BTreeMap;
use std::fmt;

/// A kind of place; later ones outrank earlier ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    #[default]
    Default,
    /// A file for everybody on the machine.
    Site,
    /// A file of the user's own.
    User,
    /// A profile that a tuning run left.
    Profile,
    /// What the file system or the network says of itself.
    Probe,
    /// The MPI_Info of the file (`cb_nodes`, `striping_unit`, `sago_buffer`, ...).
    Hint,
    /// `SAGO_*` variables.
    Environment,
    /// The text after the connector's name, in the environment or a property list.
    Connector,
    /// A command line.
    CommandLine,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            Self::Site => "site file",
            Self::User => "user file",
            Self::Profile => "profile",
            Self::Probe => "found out",
            Self::Hint => "MPI_Info",
            Self::Environment => "environment",
            Self::Connector => "connector",
            Self::CommandLine => "command line",
        })
    }
}

/// A place: its kind, and which one (a path, a variable, a hint), if there are several.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    pub source: Source,
    pub which: String,
}

impl Origin {
    pub fn new(source: Source, which: impl Into<String>) -> Self {
        Self { source, which: which.into() }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.which.is_empty() { "" } else { " " };
        write!(f, "{}{separator}{}", self.source, self.which)
    }
}

/// Options with their provenance.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Layers {
    config: Config,
    origins: BTreeMap<&'static str, Origin>,
}

static DEFAULT: Origin = Origin { source: Source::Default, which: String::new() };

impl Layers {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes all of `text`, as it is written after the connector's name. If it is refused, nothing changes.
    pub fn add(&mut self, source: Source, text: &str) -> Result<(), OptionError> {
        let words = super::pairs(text)?;
        let mut next = self.clone();
        for (spec, value, at) in words {
            next.put(spec, value, Origin::new(source, "")).map_err(|error| error.moved(at))?;
        }
        *self = next;
        Ok(())
    }

    /// Takes one value, unless a place that ranks higher has set the option; wrong ones are refused in any case.
    pub fn set(&mut self, name: &str, value: &str, origin: Origin) -> Result<(), OptionError> {
        self.put(super::spec(name, 0)?, value, origin)
    }

    fn put(&mut self, spec: &'static OptionSpec, value: &str, origin: Origin) -> Result<(), OptionError> {
        let mut config = self.config.clone();
        spec.apply(&mut config, value, 0)?;
        if origin.source >= self.origin(spec.name).source {
            self.config = config;
            self.origins.insert(spec.name, origin);
        }
        Ok(())
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The place whose value counts.
    pub fn origin(&self, option: &str) -> &Origin {
        self.origins.get(option).unwrap_or(&DEFAULT)
    }

    /// Every option with its value as text and where that came from.
    pub fn in_force(&self) -> impl Iterator<Item = (&'static OptionSpec, String, &Origin)> {
        OPTIONS.iter().map(|spec| {
            let origin = self.origin(spec.name);
            let value = (spec.get)(&self.config).filter(|_| origin.source != Source::Default);
            (spec, value.unwrap_or_else(|| spec.default.to_owned()), origin)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_place_wins_whenever_it_comes() {
        let mut layers = Layers::new();
        layers.add(Source::Connector, "buffer=1MiB groups=2").unwrap();
        layers.set("buffer", "2MiB", Origin::new(Source::Hint, "cb_buffer_size")).unwrap();
        layers.set("stripe", "4MiB", Origin::new(Source::Hint, "striping_unit")).unwrap();
        assert_eq!(layers.config().buffer_bytes, Some(1 << 20));
        assert_eq!(layers.config().stripe_bytes, Some(4 << 20));
        assert_eq!(layers.origin("buffer").source, Source::Connector);
        assert_eq!(layers.origin("stripe").to_string(), "MPI_Info striping_unit");
        assert_eq!(layers.origin("targets").source, Source::Default);
    }

    #[test]
    fn what_is_refused_changes_nothing_also_where_it_would_not_count() {
        let mut layers = Layers::new();
        layers.add(Source::Connector, "buffer=1MiB").unwrap();
        let before = layers.clone();
        assert!(layers.add(Source::CommandLine, "buffer=3MiB groups=none").is_err());
        assert!(layers.set("buffer", "much", Origin::new(Source::Site, "/etc/x")).is_err());
        assert_eq!(layers, before);
    }

    #[test]
    fn all_options_are_shown() {
        let mut layers = Layers::new();
        layers.add(Source::Environment, "buffer=1MiB").unwrap();
        let shown: Vec<_> =
            layers.in_force().map(|(spec, value, origin)| (spec.name, value, origin)).collect();
        assert_eq!(shown.len(), OPTIONS.len());
        assert!(shown.contains(&("buffer", "1MiB".into(), &Origin::new(Source::Environment, ""))));
        assert!(shown.contains(&("exchange", "auto".into(), &Origin::default())));
    }
}
