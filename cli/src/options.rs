//! `sago options`: the table of options, for people, for programs, as the page in `docs`, or as they are in force here.

use crate::arguments::Arguments;
use crate::commands::Verdict;
use crate::complaint::{Complaint, printed};
use sago_core::config::{HINTS, Layers, OPTIONS, OptionSpec, STACK};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write;

pub const USAGE: &str = "\
sago options [--in-force] [--connector TEXT] [--json | --markdown]

  --in-force         the values that a program started here would get, and where each comes from
  --connector TEXT   in place of HDF5_VOL_CONNECTOR, for example `sago buffer=16MiB`
  --json             as JSON
  --markdown         the page docs/OPTIONS.md

examples
  sago options
  SAGO_BUFFER=16MiB sago options --in-force
";

pub const NAMED: &[&str] = &["--connector"];
pub const FLAGS: &[&str] = &["--in-force", "--json", "--markdown"];

/// The variable with which HDF5 is told which connector to use.
pub const CONNECTOR: &str = "HDF5_VOL_CONNECTOR";

pub fn run(arguments: &[String], out: &mut dyn Write) -> Result<Verdict, Complaint> {
    let arguments = Arguments::parse("options", arguments, NAMED, FLAGS)?;
    let json = arguments.flag("--json");
    let text = if arguments.flag("--in-force") {
        let connector = arguments.get("--connector").map(str::to_owned);
        let connector = connector.or_else(|| std::env::var(CONNECTOR).ok()).unwrap_or_default();
        let layers = Layers::load(&sago_storage::surroundings(), words_after_name(&connector))
            .map_err(|error| Complaint::plain(format!("sago options: {error}\n")))?;
        if json { format!("{:#}\n", in_force_json(&layers)) } else { in_force(&layers) }
    } else if arguments.flag("--markdown") {
        markdown()
    } else if json {
        format!("{:#}\n", Value::Array(OPTIONS.iter().map(spec_json).collect()))
    } else {
        table()
    };
    printed(out.write_all(text.as_bytes())).map(|()| Verdict::Well)
}

/// `sago buffer=1MiB` -> `buffer=1MiB`.
pub fn words_after_name(connector: &str) -> &str {
    connector.trim_start().split_once(char::is_whitespace).map_or("", |(_, words)| words)
}

pub fn in_force(layers: &Layers) -> String {
    let mut text = String::new();
    for (spec, value, origin) in layers.in_force() {
        let _ = writeln!(text, "{:<20} {:<20} {origin}", spec.name, value);
    }
    text
}

pub fn in_force_json(layers: &Layers) -> Value {
    let entry = |(spec, value, origin): (&OptionSpec, String, &sago_core::config::Origin)| {
        let value = json!({"value": value, "source": origin.source.to_string(), "which": origin.which});
        (spec.name.to_owned(), value)
    };
    layers.in_force().map(entry).collect()
}

fn spec_json(spec: &OptionSpec) -> Value {
    json!({
        "name": spec.name, "expects": spec.expects, "default": spec.default,
        "meaning": spec.meaning, "example": spec.example,
    })
}

fn table() -> String {
    let mut text = String::new();
    for spec in OPTIONS {
        let _ = writeln!(text, "{} ({})", spec.name, spec.default);
        let _ = writeln!(text, "    {}", spec.meaning);
        let _ = writeln!(text, "    takes {}; for example {}", spec.expects, spec.example);
    }
    text
}

const PAGE: &str = "\
# Options

This page is what `sago options --markdown` prints.

Nothing has to be set. Options come from these places; later ones outrank earlier ones:

1. the defaults below;
2. the site's file, `/etc/sago/config.toml` (or the file that `SAGO_SITE_CONFIG` names);
3. the user's file, `~/.config/sago/config.toml` under `XDG_CONFIG_HOME` or the home (or the file that `SAGO_CONFIG` names);
4. what the file system and the machine say of themselves;
5. the MPI_Info of the file (`H5Pset_fapl_mpio`): `sago_NAME`, and the usual hints in the table below;
6. variables: `SAGO_NAME`, in capitals;
7. the text after the connector's name: `HDF5_VOL_CONNECTOR=\"sago buffer=16MiB groups=4\"`.

`SAGO=off` turns Sago into a pass-through, whatever else is said. `sago options --in-force` shows what holds and where it
comes from.

Files are TOML, a line for each option: `buffer = \"16MiB\"`, `groups = 4`, `aggregator_nodes = [0, 2]`. After the
connector's name, words are separated by blanks or `;`; a value with blanks stands in quotes or braces. Sizes take the units
B, KiB, MiB, GiB. Unknown names are errors that name the nearest known one; in MPI_Info, which other software shares,
what is wrong is said once, by the first rank on standard error, and left out. All ranks must have the same options: where
they differ, the file is left to HDF5, and the report says so.

";

/// The page `docs/OPTIONS.md`.
fn markdown() -> String {
    let mut text = format!("{PAGE}| option | default | takes | meaning | example |\n|---|---|---|---|---|\n");
    for spec in OPTIONS {
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | `{}` |",
            spec.name, spec.default, spec.expects, spec.meaning, spec.example
        );
    }
    let _ = writeln!(
        text,
        "\n`{}` stand only after the connector's name, where the stack of connectors is named.",
        STACK.join("` and `")
    );
    text += "\n| hint | option |\n|---|---|\n";
    for (hint, option) in HINTS {
        let _ = writeln!(text, "| `{hint}` | `{option}` |");
    }
    text
}

/// The options as one paragraph each, for the manual page.
pub fn paragraphs() -> impl Iterator<Item = (String, String)> {
    OPTIONS.iter().map(|spec| {
        let body = format!(
            "{}. It takes {}. Unless set: {}. Example: {}",
            capital(spec.meaning),
            spec.expects,
            spec.default,
            spec.example
        );
        (spec.name.to_owned(), body)
    })
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
