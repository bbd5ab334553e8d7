//! When two transcripts agree.
//!
//! A native run and a run through a connector must show the same calls with the same results and the same values, line
//! by line. Only error stacks may differ, since a connector adds layers:
//!
//! - every frame of the native stack is in the connector's stack: the same function, major and minor error and text, in
//!   the same order;
//! - a frame that the connector's stack has in addition comes from the library's connector layer (a function whose name
//!   starts with `H5VL`) or from Sago (its own error class);
//! - a line that begins with `> how:` tells how the library did a transfer, which is what a connector that captures it
//!   does otherwise: only its being there counts;
//! - where the native stack is empty, so is the connector's: a call that succeeds leaves no errors behind.

use std::fmt::Write as _;

const FRAME: &str = "  ! ";
/// Differences shown of one transcript.
const SHOWN_MAX: usize = 3;

/// A line of a transcript with the error stack below it, innermost frame first.
#[derive(Debug, PartialEq)]
struct Entry<'t> {
    line: &'t str,
    frames: Vec<&'t str>,
}

impl Entry<'_> {
    fn tells_how(&self) -> bool {
        self.line.starts_with("> how:")
    }
}

/// Compares a native transcript with one through the connector. `None` if they agree.
pub fn compare(native: &str, through: &str) -> Option<String> {
    let (native, through) = (entries(native), entries(through));
    let mut text = String::new();
    let mut found = 0;
    for i in 0..native.len().max(through.len()) {
        let difference = match (native.get(i), through.get(i)) {
            (Some(n), Some(t)) if n.line == t.line || (n.tells_how() && t.tells_how()) => {
                compare_stacks(n, t)
            }
            (Some(n), Some(t)) => {
                Some(format!("natively:  {}\nconnector: {}{}", n.line, t.line, indented(&t.frames)))
            }
            (Some(n), None) => Some(format!("natively:  {}\nconnector: nothing more", n.line)),
            (None, Some(t)) => Some(format!("natively:  nothing more\nconnector: {}", t.line)),
            (None, None) => None,
        };
        if let Some(difference) = difference {
            found += 1;
            if found <= SHOWN_MAX {
                let _ = writeln!(text, "step {}\n{difference}", i + 1);
            }
        }
        if native.len() != through.len() && found > 0 {
            break; // after a call too many or too few, all lines differ
        }
    }
    (found > 0).then(|| format!("{found} differences\n{}", text.trim_end()))
}

/// Where two texts that should be identical are not.
pub fn first_difference(a: &str, b: &str) -> Option<String> {
    if a == b {
        return None;
    }
    let mut lines = a.lines().zip(b.lines());
    Some(
        lines
            .find(|(a, b)| a != b)
            .map_or_else(|| "one is longer".to_owned(), |(a, b)| format!("first:  {a}\nsecond: {b}")),
    )
}

fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut all: Vec<Entry> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix(FRAME), all.last_mut()) {
            (Some(frame), Some(entry)) => entry.frames.push(frame),
            _ => all.push(Entry { line, frames: Vec::new() }),
        }
    }
    all
}

fn compare_stacks(native: &Entry, through: &Entry) -> Option<String> {
    let mut expected = native.frames.iter().peekable();
    let mut foreign = Vec::new();
    for frame in &through.frames {
        if expected.peek() == Some(&frame) {
            expected.next();
        } else if native.frames.is_empty() || !is_layer(frame) {
            foreign.push(*frame);
        }
    }
    let missing: Vec<&str> = expected.copied().collect();
    if missing.is_empty() && foreign.is_empty() {
        return None;
    }
    Some(format!(
        "{}\nframes that the connector's stack lacks:{}\nframes that it should not have:{}",
        native.line,
        indented(&missing),
        indented(&foreign)
    ))
}

/// Whether a frame comes from the layers that a connector adds.
fn is_layer(frame: &str) -> bool {
    let mut fields = frame.split(" | ");
    match (fields.next(), fields.next()) {
        (Some("HDF5"), Some(function)) => function.starts_with("H5VL"),
        (Some(class), _) => class == "Sago",
        _ => false,
    }
}

fn indented(frames: &[&str]) -> String {
    if frames.is_empty() {
        return " none".to_owned();
    }
    frames.iter().fold(String::new(), |text, frame| text + "\n    " + frame)
}

#[cfg(test)]
mod tests {
    use super::compare;

    const NATIVE: &str = "H5Dopen2() = none\n  ! HDF5 | H5D__open_name | Dataset | Object not found | not found\n  ! HDF5 | H5VL_dataset_open | VOL | Can't open | failed\n  ! HDF5 | H5Dopen2 | Dataset | Can't open | unable\nH5Fclose() = 0\n";

    fn with(frames: &[&str]) -> String {
        let stack: String = frames.iter().map(|f| format!("  ! {f}\n")).collect();
        format!("H5Dopen2() = none\n{stack}H5Fclose() = 0\n")
    }

    const INNER: &str = "HDF5 | H5D__open_name | Dataset | Object not found | not found";
    const LAYER: &str = "HDF5 | H5VL_dataset_open | VOL | Can't open | failed";
    const OUTER: &str = "HDF5 | H5Dopen2 | Dataset | Can't open | unable";
    const PUBLIC: &str = "HDF5 | H5VLdataset_open | VOL | Can't open | unable";
    const OURS: &str = "Sago | dataset open | Connector | Failed | below";

    #[test]
    fn the_same_stack_agrees() {
        assert_eq!(compare(NATIVE, NATIVE), None);
    }

    #[test]
    fn layers_may_be_added() {
        assert_eq!(compare(NATIVE, &with(&[INNER, LAYER, PUBLIC, OURS, LAYER, OUTER])), None);
    }

    #[test]
    fn native_frames_may_not_be_lost_nor_swapped() {
        assert!(compare(NATIVE, &with(&[LAYER, PUBLIC, OUTER])).is_some());
        assert!(compare(NATIVE, &with(&[OUTER, LAYER, INNER])).is_some());
        assert!(compare(NATIVE, &with(&[])).is_some());
    }

    #[test]
    fn other_frames_may_not_be_added() {
        let stranger = "HDF5 | H5Iget_type | Object ID | Bad | bad";
        assert!(compare(NATIVE, &with(&[INNER, LAYER, stranger, OUTER])).is_some());
    }

    #[test]
    fn success_leaves_no_errors() {
        let dirty = NATIVE.replace("H5Fclose() = 0\n", &format!("H5Fclose() = 0\n  ! {PUBLIC}\n"));
        assert!(compare(NATIVE, &dirty).is_some());
    }

    #[test]
    fn results_and_their_number_count() {
        assert!(compare(NATIVE, &NATIVE.replace("= 0", "= 1")).is_some());
        assert!(compare(NATIVE, &NATIVE.replace("H5Fclose() = 0\n", "")).is_some());
        assert!(compare(NATIVE, &format!("{NATIVE}> more\n")).is_some());
    }
}
