//! What a file itself says of options: hints in its MPI_Info, and its file system. They rank above the files of options and
//! below the environment and the connector's text. Other software reads hints too, so what is wrong with them is said
//! once, and left out.

use crate::state::State;
use sago_core::config::{Layers, LoadError, Origin, Source};
use sago_core::plan::StorageFacts;
use sago_core::text::size_bytes_text;
use sago_hdf5::Library;
use std::io::Write as _;

/// Adds hints to the options; says what is wrong with some of them.
pub fn add(library: &'static Library, pairs: &[(String, String)], options: &mut Layers) -> Vec<LoadError> {
    let complaints = options.hints(pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    if let Some(place) = options.config().report.clone() {
        State::of(library).report_to(place);
    }
    complaints
}

/// Adds what the file system says of itself, which ranks above the files of options.
pub fn add_facts(facts: StorageFacts, options: &mut Layers) {
    let found = [
        ("stripe", facts.stripe_bytes.map(size_bytes_text)),
        ("targets", facts.targets.map(|count| count.to_string())),
    ];
    for (name, value) in found {
        // A file system that says what cannot be is not asked.
        let _ = value.map(|value| options.set(name, &value, Origin::new(Source::Probe, "file system")));
    }
}

/// Tells whoever looks at the program what is wrong, each thing once.
pub fn complain(library: &Library, complaints: &[LoadError]) {
    for complaint in complaints.iter().map(ToString::to_string) {
        if State::of(library).is_news(&complaint) {
            // Where standard error is closed, nobody is left to tell.
            let _ = std::io::stderr().write_all(format!("sago: {complaint}; it is left out\n").as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_outrank_files_and_are_outranked_by_hints() {
        let mut options = Layers::new();
        options.set("stripe", "1MiB", Origin::new(Source::User, "")).unwrap();
        options.hints([("striping_factor", "8")]);
        add_facts(
            StorageFacts { stripe_bytes: Some(4 << 20), targets: Some(48), ..StorageFacts::default() },
            &mut options,
        );
        assert_eq!(options.config().stripe_bytes, Some(4 << 20));
        assert_eq!(options.origin("stripe").to_string(), "found out file system");
        assert_eq!(options.config().targets, Some(8));
        add_facts(StorageFacts::default(), &mut options);
        assert_eq!(options.config().stripe_bytes, Some(4 << 20));
    }
}
