//! Suite `layout`: the Rust bindings against C, for every HDF5 installation.
//!
//! One plugin binary serves all versions, so the tables and argument structs of the plugin interfaces must have one
//! layout in all of them. The Rust side is read from the layout assertions in the bindings, which the compiler has
//! checked; the C side is what a probe prints.

use super::{Context, Log, On, Suite};
use crate::world::Hdf5;
use crate::{bindings, mpi, place};
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub struct Layout;

/// Types whose layout the connector relies on: the plugin interfaces, and what their tables are made of.
const PREFIXES: [&str; 7] =
    ["H5VL_", "H5FD_class", "H5FD_t", "H5FD_free_t", "H5PL_", "H5O_token", "H5O_copy"];

/// All that was different before HDF5 2.0: the arguments of the native chunk operations. `None` was not there.
const BEFORE_2: [(&str, Option<i64>); 5] = [
    ("SIZE(H5VL_native_dataset_chunk_read_t)", Some(24)),
    ("FIELD(H5VL_native_dataset_chunk_read_t, buf_size)", None),
    ("SIZE(H5VL_native_dataset_chunk_write_t)", Some(24)),
    ("FIELD(H5VL_native_dataset_chunk_write_t, size)", Some(12)),
    ("FIELD(H5VL_native_dataset_chunk_write_t, buf)", Some(16)),
];

impl Suite for Layout {
    fn name(&self) -> &'static str {
        "layout"
    }

    fn about(&self) -> &'static str {
        "sizes, offsets and constants of the Rust bindings against C, for each HDF5"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        let text = fs::read_to_string(bindings::file())?;
        let rust = Rust::parse(&text)?;
        for hdf5 in &context.world.hdf5 {
            let dir = context.scratch.join(format!("{}-{}", hdf5.version, hdf5.mpi));
            let on = On::hdf5(hdf5);
            match rust.expected(hdf5.release()).and_then(|e| Ok((probe(hdf5, &e, &dir)?, e))) {
                Ok((found, expected)) => {
                    log.case(&on, format!("{} entries", expected.len()), compare(&expected, &found))
                }
                Err(e) => log.case(&on, "the probe", Err(e)),
            }
        }
        Ok(())
    }
}

/// What the bindings say: sizes by type, offsets by type and field, fields of types in order, integer constants.
#[derive(Default)]
struct Rust<'a> {
    sizes: BTreeMap<&'a str, i64>,
    offsets: BTreeMap<(&'a str, &'a str), i64>,
    fields: BTreeMap<&'a str, Vec<(&'a str, &'a str)>>,
    constants: BTreeMap<&'a str, i64>,
}

impl<'a> Rust<'a> {
    fn parse(text: &'a str) -> Result<Self> {
        let mut rust = Self::default();
        let (mut kind, mut label) = ("", None);
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub union ")) {
                kind = rest.split([' ', ';']).next().unwrap_or("");
            } else if let Some((name, ty)) = line.strip_prefix("    pub ").and_then(|l| l.split_once(": ")) {
                rust.fields.entry(kind).or_default().push((name, ty.trim_end_matches(',')));
            } else if let Some((name, value)) = line.strip_prefix("pub const ").and_then(constant) {
                rust.constants.insert(name, value);
            }
            // An assertion is `["Size of T"][... - 8usize];`, on one line or two.
            if let Some(rest) = line.trim_start().strip_prefix("[\"") {
                label = rest.split('"').next();
            }
            if let (Some(what), Some(number)) = (label, line.strip_suffix("usize];")) {
                let number: i64 = number.rsplit(' ').next().unwrap_or("").parse()?;
                if let Some(name) = what.strip_prefix("Size of ") {
                    rust.sizes.insert(name, number);
                } else if let Some(field) = what.strip_prefix("Offset of field: ") {
                    rust.offsets.insert(field.split_once("::").context("a field has a type")?, number);
                }
                label = None;
            }
        }
        ensure!(
            rust.sizes.len() > 100 && rust.offsets.len() > 500,
            "the bindings have lost their layout assertions"
        );
        Ok(rust)
    }

    /// Entries of `layout.inc` with the number that C must print for each.
    fn expected(&self, release: (u32, u32)) -> Result<BTreeMap<String, i64>> {
        let mut all = BTreeMap::new();
        for (&name, &size) in self.sizes.iter().filter(|(name, _)| relevant(name)) {
            // HDF5's own convention: a name without `_t` is a tag.
            let c_name = if name.ends_with("_t") { name.to_owned() } else { format!("struct {name}") };
            all.insert(format!("SIZE({c_name})"), size);
            self.walk(&c_name, name, "", 0, &mut all)?;
        }
        for (&name, &value) in self.constants.iter().filter(|(name, _)| relevant(name)) {
            all.insert(format!("VALUE({name})"), value);
        }
        for (entry, before) in BEFORE_2.iter().filter(|_| release.0 < 2) {
            match before {
                Some(number) => all.insert((*entry).to_owned(), *number),
                None => all.remove(*entry),
            }
            .with_context(|| format!("the bindings have no {entry}"))?;
        }
        Ok(all)
    }

    /// The fields of a type, and those of the unnamed types inside it, by their path from a type that C can name.
    fn walk(
        &self,
        root: &str,
        at: &str,
        path: &str,
        base: i64,
        all: &mut BTreeMap<String, i64>,
    ) -> Result<()> {
        for &(field, ty) in self.fields.get(at).map_or(&[][..], |f| f) {
            let offset = base
                + self.offsets.get(&(at, field)).with_context(|| format!("no offset of {at}::{field}"))?;
            // bindgen puts `_` behind a name that is a word of Rust.
            let path = format!("{path}{}", field.trim_end_matches('_'));
            all.insert(format!("FIELD({root}, {path})"), offset);
            if ty.contains("__bindgen") {
                self.walk(root, ty, &format!("{path}."), offset, all)?;
            }
        }
        Ok(())
    }
}

fn relevant(name: &str) -> bool {
    !name.contains("__bindgen") && PREFIXES.iter().any(|p| name.starts_with(p))
}

/// `NAME: type = 12;`; for an enum, bindgen puts the enum's name in front of the constant's.
fn constant(line: &str) -> Option<(&str, i64)> {
    let (name, rest) = line.split_once(": ")?;
    let (ty, value) = rest.strip_suffix(';')?.split_once(" = ")?;
    let name = name.strip_prefix(ty).and_then(|n| n.strip_prefix('_')).unwrap_or(name);
    Some((name, value.parse().ok()?))
}

/// Compiles and runs the probe; the numbers by entry.
fn probe(hdf5: &Hdf5, expected: &BTreeMap<String, i64>, dir: &Path) -> Result<BTreeMap<String, i64>> {
    fs::create_dir_all(dir)?;
    let source = dir.join("probe.c");
    fs::copy(place::root().join("tests/layout/probe.c"), &source)?;
    fs::write(dir.join("layout.inc"), expected.keys().map(|e| format!("{e}\n")).collect::<String>())?;
    let program = dir.join("probe");
    mpi::compile(hdf5, &[&source], &program)?;
    let text = crate::proc::Run::new(&program).text()?;
    let numbers = text.lines().map(|l| Ok(l.rsplit(' ').next().unwrap_or("").parse()?));
    let numbers: Vec<i64> = numbers.collect::<Result<_>>()?;
    ensure!(
        numbers.len() == expected.len(),
        "the probe printed {} of {} lines",
        numbers.len(),
        expected.len()
    );
    Ok(expected.keys().cloned().zip(numbers).collect())
}

fn compare(expected: &BTreeMap<String, i64>, found: &BTreeMap<String, i64>) -> Result<()> {
    let differences: Vec<String> = expected
        .iter()
        .filter(|(entry, number)| found.get(*entry) != Some(number))
        .map(|(entry, number)| format!("{entry}: Rust has {number}, C has {:?}", found.get(entry)))
        .collect();
    ensure!(differences.is_empty(), "{}", differences.join("\n"));
    Ok(())
}
