//! What passed through the connector, as one line of JSON when HDF5 lets go of it. It is how a user, or a test, can
//! tell that Sago was really active.

use crate::state::State;
use sago_core::config::{Mode, ReportTo};
use sago_hdf5::Library;
use sago_report::size_text;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;

/// Writes the report to every place that was asked for. A place that cannot be written to is named on standard
/// error: by now the program has no HDF5 call left that could fail.
pub fn write(library: &Library, state: &State) {
    let places = state.take_reports();
    let calls = state.take_calls();
    let (captured, bytes, passed) = state.take_captured();
    if places.is_empty() {
        return;
    }
    let (major, minor, patch) = library.version();
    let mut line = format!(
        r#"{{"sago":"{}","hdf5":"{major}.{minor}.{patch}","pid":{},"calls":{{"#,
        env!("CARGO_PKG_VERSION"),
        std::process::id()
    );
    for (i, (op, count)) in calls.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(line, r#"{comma}"{}":{count}"#, op.name());
    }
    let _ = write!(line, r#"}},"captured":{{"calls":{captured},"bytes":{bytes}}},"passed":{{"#);
    for (i, (reason, count)) in passed.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(line, r#"{comma}"{reason}":{count}"#);
    }
    line.push_str("}}\n");
    for place in places {
        deliver(state, &place, &line);
    }
}

/// The one line of `verbose=1`.
pub fn greet(library: &Library, file: &str, mode: Mode, ranks: usize, window_bytes: u64) {
    let (major, minor, patch) = library.version();
    let (sago, window) = (env!("CARGO_PKG_VERSION"), size_text(window_bytes));
    let line = format!(
        "sago {sago}: captures {file}: ranks {ranks}, mode {mode}, window {window}, HDF5 {major}.{minor}.{patch}\n"
    );
    // Where standard error is closed, nobody wants to be greeted.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// One write call per text, so that those of several ranks do not mix. A process complains once.
pub fn deliver(state: &State, place: &ReportTo, line: &str) {
    let mut stderr = std::io::stderr();
    let result = match place {
        ReportTo::Stderr => stderr.write_all(line.as_bytes()),
        ReportTo::File(path) => OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .or_else(|error| {
                if !state.first_complaint() {
                    return Ok(());
                }
                let complaint = format!("sago: cannot write the report to {path}: {error}\n");
                stderr.write_all(complaint.as_bytes())
            }),
    };
    // Standard error is closed: nobody is left to tell.
    drop(result);
}
