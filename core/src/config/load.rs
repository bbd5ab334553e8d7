//! All places of a process's options, in one go: the site's file, the user's file, variables, and the connector's text.
//! They come as texts; [`Layers::hints`] adds the MPI_Info of a file, which is known only when the file is opened.
//!
//! In all of these a name that is unknown is an error. MPI_Info is shared with other software: what is wrong there is
//! only reported.

use super::{Layers, OptionError, Origin, Source};
use std::fmt;
use toml::de::{DeTable, DeValue};

/// What a process finds around it.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    pub site: Option<FileText>,
    pub user: Option<FileText>,
    /// Names and values of the variables whose name starts with `SAGO`.
    pub variables: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub struct FileText {
    pub path: String,
    /// TOML, or why it cannot be read.
    pub text: Result<String, String>,
}

/// What is wrong, and in which place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoadError {
    /// "the file /etc/sago/config.toml", "the variable SAGO_BUFFER".
    pub place: String,
    pub what: Wrong,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    Option(OptionError),
    /// Not TOML, or not readable.
    File(String),
    /// Neither `on` nor `off`.
    Switch(String),
    /// Options of a stack of connectors stand where the stack is named.
    Stack(String),
    /// A table, a date or another thing that no option takes.
    NoValue(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in {}: ", self.place)?;
        match &self.what {
            Wrong::Option(error) => error.fmt(f),
            Wrong::File(reason) => f.write_str(reason),
            Wrong::Switch(value) => write!(f, "it is `on` or `off`, not `{value}`"),
            Wrong::Stack(name) => write!(f, "`{name}` can only stand after the connector's name"),
            Wrong::NoValue(name) => {
                write!(f, "`{name}` is not a text, a number or a list of numbers; write `name = \"value\"`")
            }
        }
    }
}

impl std::error::Error for LoadError {}

/// The variable that turns Sago off, whatever else is said.
pub const SWITCH: &str = "SAGO";
/// The variables that name other files than the usual ones.
pub const SITE_FILE: &str = "SAGO_SITE_CONFIG";
pub const USER_FILE: &str = "SAGO_CONFIG";
/// Variables with our prefix that are not options: the files above, and those of the tools of Sago's developers.
const NOT_OPTIONS: [&str; 8] =
    [SWITCH, SITE_FILE, USER_FILE, "SAGO_CACHE", "SAGO_BLESS", "SAGO_LIBHDF5", "SAGO_SEED", "SAGO_SEEDS"];

/// Options that only the connector's text can hold.
pub const STACK: [&str; 2] = ["under_vol", "under_info"];

/// The usual hints of MPI-IO, and the options that say the same.
pub const HINTS: [(&str, &str); 4] = [
    ("cb_nodes", "aggregators"),
    ("cb_buffer_size", "buffer"),
    ("striping_factor", "targets"),
    ("striping_unit", "stripe"),
];
/// Names processes per node, or hosts; only that there is no limit can be said of it here.
const CONFIG_LIST: &str = "cb_config_list";
/// Before the name of any option.
const HINT_PREFIX: &str = "sago_";

impl Layers {
    /// The options of a process, `connector` being the text after `sago`. With `SAGO=off` nothing else counts but the
    /// connector's text, which may name a connector below.
    pub fn load(around: &Surroundings, connector: &str) -> Result<Self, LoadError> {
        let mut layers = Self::new();
        let on = switch(around)?;
        if on {
            layers.file(around.site.as_ref(), Source::Site)?;
            layers.file(around.user.as_ref(), Source::User)?;
            layers.variables(&around.variables)?;
        }
        layers
            .add(Source::Connector, connector)
            .map_err(|error| wrong("the options after `sago` (HDF5_VOL_CONNECTOR or H5Pset_vol)", error))?;
        if !on {
            let origin = Origin::new(Source::CommandLine, format!("{SWITCH}=off"));
            layers.set("mode", "off", origin).map_err(|error| wrong(SWITCH, error))?;
        }
        Ok(layers)
    }

    /// Takes the hints that concern us, and says what is wrong with some of them.
    pub fn hints<'h>(&mut self, pairs: impl IntoIterator<Item = (&'h str, &'h str)>) -> Vec<LoadError> {
        let mut complaints = Vec::new();
        for (key, value) in pairs {
            let usual = HINTS.iter().find(|(hint, _)| *hint == key).map(|(_, option)| *option);
            let Some(name) = usual.or_else(|| key.strip_prefix(HINT_PREFIX)) else {
                if key == CONFIG_LIST && value != "*:*" {
                    let what = "only `*:*` is understood; name nodes with `sago_aggregator_nodes`".to_owned();
                    complaints.push(LoadError { place: hint(key), what: Wrong::File(what) });
                }
                continue;
            };
            if let Err(complaint) = self.checked(name, value, Origin::new(Source::Hint, key), &hint(key)) {
                complaints.push(complaint);
            }
        }
        complaints
    }

    /// A value from elsewhere than the connector's text. There the connector below cannot be named: Sago below Sago
    /// would find the same name, without end.
    fn checked(&mut self, name: &str, value: &str, origin: Origin, place: &str) -> Result<(), LoadError> {
        if STACK.contains(&name) {
            return Err(LoadError { place: place.to_owned(), what: Wrong::Stack(name.to_owned()) });
        }
        self.set(name, value, origin).map_err(|error| wrong(place, error))
    }

    fn variables(&mut self, variables: &[(String, String)]) -> Result<(), LoadError> {
        for (variable, value) in variables {
            if NOT_OPTIONS.contains(&variable.as_str()) {
                continue;
            }
            let Some(name) = variable.strip_prefix("SAGO_") else { continue };
            let (place, origin) =
                (format!("the variable {variable}"), Origin::new(Source::Environment, variable));
            self.checked(&name.to_lowercase(), value, origin, &place)?;
        }
        Ok(())
    }

    fn file(&mut self, file: Option<&FileText>, source: Source) -> Result<(), LoadError> {
        let Some(FileText { path, text }) = file else { return Ok(()) };
        let place = || format!("the file {path}");
        let broken = |reason: String| LoadError { place: place(), what: Wrong::File(reason) };
        let text = text.as_ref().map_err(|reason| broken(reason.clone()))?;
        let table = DeTable::parse(text).map_err(|error| broken(error.to_string().trim_end().to_owned()))?;
        for (name, value) in table.get_ref() {
            let line = 1 + text[..name.span().start].matches('\n').count();
            let place = format!("line {line} of {}", place());
            let name = name.get_ref().as_ref();
            let value = plain(value.get_ref());
            let value =
                value.ok_or(LoadError { place: place.clone(), what: Wrong::NoValue(name.to_owned()) })?;
            self.checked(name, &value, Origin::new(source, path), &place)?;
        }
        Ok(())
    }
}

/// Whether `SAGO` leaves us on.
fn switch(around: &Surroundings) -> Result<bool, LoadError> {
    let found = around.variables.iter().find(|(name, _)| name == SWITCH);
    match found.map(|(_, value)| value.as_str()) {
        None | Some("on" | "1" | "") => Ok(true),
        Some("off" | "0") => Ok(false),
        Some(other) => {
            Err(LoadError { place: format!("the variable {SWITCH}"), what: Wrong::Switch(other.to_owned()) })
        }
    }
}

/// A value of a file, as it would be written after an option's name.
fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.as_str().replace('_', "")),
        DeValue::Array(list) => {
            let numbers = list.iter().map(|item| match item.get_ref() {
                DeValue::Integer(number) => Some(number.as_str().to_owned()),
                _ => None,
            });
            Some(numbers.collect::<Option<Vec<_>>>()?.join(","))
        }
        _ => None,
    }
}

fn hint(key: &str) -> String {
    format!("the MPI_Info hint {key}")
}

fn wrong(place: impl Into<String>, error: OptionError) -> LoadError {
    LoadError { place: place.into(), what: Wrong::Option(error) }
}
