//! Suite `consistency`: every sentence of `docs/CONSISTENCY.md` has a small program (`tests/consistency`) that relies on
//! it, natively and in every mode of the connector.

use super::traps::{Cases, rank_counts};
use super::{Context, Log, On, Suite};
use crate::place;
use anyhow::{Context as _, Result, ensure};
use std::fs;

pub struct Consistency;

impl Suite for Consistency {
    fn name(&self) -> &'static str {
        "consistency"
    }

    fn about(&self) -> &'static str {
        "programs that rely on each sentence of docs/CONSISTENCY.md, natively and in every mode"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        log.case(
            &On::nothing(),
            "each program is named in the document, and each name is a program",
            named(),
        );
        for (place, hdf5) in context.world.hdf5.iter().enumerate() {
            let cases = Cases::new(context, hdf5, "consistency")?;
            for ranks in rank_counts(context, place) {
                cases.run_everywhere(log, ranks);
            }
        }
        Ok(())
    }
}

/// The document's table and the programs must not part.
fn named() -> Result<()> {
    let document =
        fs::read_to_string(place::root().join("docs/CONSISTENCY.md")).context("docs/CONSISTENCY.md")?;
    let mut programs = Vec::new();
    for source in super::differ::sources(&place::root().join("tests/consistency"))? {
        let text = fs::read_to_string(source)?;
        programs.extend(text.split("\nCASE(").skip(1).filter_map(|t| Some(t.split_once(')')?.0.to_owned())));
    }
    for program in &programs {
        ensure!(document.contains(&format!("`{program}`")), "the document does not name {program}");
    }
    let rows = document.lines().filter(|l| l.starts_with('|') && l.contains('`'));
    for word in
        rows.flat_map(|l| l.split('`').skip(1).step_by(2)).filter(|w| w.contains('_') && !w.starts_with("H5"))
    {
        ensure!(programs.iter().any(|p| p == word), "there is no program {word}");
    }
    Ok(())
}
