//! Where scenarios come from, and what is said of bad ones.

use crate::complaint::{Complaint, printed};
use sago_core::text::nearest;
use sago_sim::scenario::{NAMED, named};
use sago_sim::{Lines, ScenarioError};
use std::io::Write;

pub fn list(out: &mut impl Write) -> Result<(), Complaint> {
    for scenario in NAMED {
        let about = scenario.scenario().map(|scenario| scenario.about).unwrap_or_default();
        printed(writeln!(out, "{:<20} {about}", scenario.name))?;
    }
    Ok(())
}

/// The first argument, which is not an option.
pub fn scenario_name(arguments: &[String]) -> Result<(&str, &[String]), Complaint> {
    match arguments.split_first() {
        Some((name, rest)) if !name.starts_with("--") => Ok((name, rest)),
        _ => Err(Complaint::plain(
            "sago sim: name a scenario, or the path of its file\n`sago help sim` shows what it takes\n",
        )),
    }
}

/// Places in a scenario, and what to put there.
pub type Changes = Vec<(String, String)>;

/// The values of an argument that may be given several times, and the other arguments.
pub fn repeated(name: &str, arguments: &[String]) -> Result<(Changes, Vec<String>), Complaint> {
    let (mut found, mut others) = (Vec::new(), Vec::new());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument != name {
            others.push(argument.clone());
            continue;
        }
        let pair = rest.next().and_then(|value| value.split_once('='));
        let (place, value) = pair.ok_or_else(|| {
            Complaint::plain(format!(
                "sago sim: `{name}` takes LINE.WORD=VALUE, for example pattern.particles=5000\n"
            ))
        })?;
        found.push((place.to_owned(), value.to_owned()));
    }
    Ok((found, others))
}

/// A scenario file, or one of ours.
pub fn lines(name: &str) -> Result<Lines, Complaint> {
    let text = match (std::fs::read_to_string(name), named(name)) {
        (Ok(text), _) => text,
        (Err(_), Some(scenario)) => scenario.text.to_owned(),
        (Err(error), None) => {
            let near = nearest(name, NAMED.iter().map(|scenario| scenario.name));
            return Err(Complaint::plain(format!(
                "sago sim: `{name}` is no scenario of ours (did you mean `{near}`?), and as a file: {error}\n"
            )));
        }
    };
    Lines::parse(&text).map_err(|error| pointed(name, &error))
}

pub fn changed(lines: Lines, sets: &[(String, String)]) -> Result<Lines, Complaint> {
    sets.iter().try_fold(lines, |lines, (place, value)| {
        lines.with(place, value).map_err(|error| pointed("--set", &error))
    })
}

/// Writes a picture.
pub fn save(path: &str, text: &str) -> Result<(), Complaint> {
    std::fs::write(path, text)
        .map_err(|error| Complaint::plain(format!("sago sim: cannot write {path}: {error}\n")))
}

pub fn pointed(name: &str, error: &ScenarioError) -> Complaint {
    if error.text.is_empty() {
        return Complaint::plain(format!("sago sim: {name}: {error}\n"));
    }
    Complaint::at(&format!("scenario {name}"), error, &error.text, error.at)
}
