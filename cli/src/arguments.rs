//! `--name value` arguments and `--flag`s.

use crate::complaint::Complaint;
use sago_core::text::nearest;

pub struct Arguments<'a> {
    command: &'static str,
    given: Vec<(&'a str, &'a str)>,
    flags: Vec<&'a str>,
}

impl<'a> Arguments<'a> {
    pub fn parse(
        command: &'static str,
        arguments: &'a [String],
        names: &[&'static str],
        flags: &[&'static str],
    ) -> Result<Self, Complaint> {
        let (parsed, words) = Self::parse_with_words(command, arguments, names, flags)?;
        match words.first() {
            Some(word) => Err(parsed.unknown(word.split('=').next().unwrap_or(word), names, flags)),
            None => Ok(parsed),
        }
    }

    /// The same where words without a name, such as files, are welcome.
    pub fn parse_with_words(
        command: &'static str,
        arguments: &'a [String],
        names: &[&'static str],
        flags: &[&'static str],
    ) -> Result<(Self, Vec<&'a str>), Complaint> {
        let mut parsed = Self { command, given: Vec::new(), flags: Vec::new() };
        let mut words = Vec::new();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let (name, attached) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (argument.as_str(), None),
            };
            if flags.contains(&name) && attached.is_none() {
                parsed.flags.push(name);
            } else if names.contains(&name) {
                let value = attached.or_else(|| rest.next().map(String::as_str));
                let value =
                    value.ok_or_else(|| parsed.complain(format!("`{name}` needs a value after it")))?;
                if parsed.get(name).is_some() {
                    return Err(parsed.complain(format!("`{name}` is given twice; give it once")));
                }
                parsed.given.push((name, value));
            } else if name.starts_with('-') {
                return Err(parsed.unknown(name, names, flags));
            } else {
                words.push(argument.as_str());
            }
        }
        Ok((parsed, words))
    }

    fn unknown(&self, name: &str, names: &[&'static str], flags: &[&'static str]) -> Complaint {
        let known = nearest(name, names.iter().chain(flags).copied());
        self.complain(format!("unknown argument `{name}`; did you mean `{known}`?"))
    }

    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.given.iter().find(|(given, _)| *given == name).map(|(_, value)| *value)
    }

    pub fn required(&self, name: &str) -> Result<&'a str, Complaint> {
        self.get(name).ok_or_else(|| self.complain(format!("`{name}` is missing")))
    }

    pub fn flag(&self, name: &str) -> bool {
        self.flags.contains(&name)
    }

    fn complain(&self, sentence: String) -> Complaint {
        let command = self.command;
        Complaint::plain(format!("sago {command}: {sentence}\n`sago help {command}` shows what it takes\n"))
    }
}
