//! `sago manual`: the manual page, made of the table of commands and the table of options.

use crate::arguments::Arguments;
use crate::commands::{COMMANDS, Verdict};
use crate::complaint::{Complaint, printed};
use crate::options;
use std::fmt::Write as _;
use std::io::Write;

pub const USAGE: &str = "\
sago manual

examples
  sago manual | man -l -
  sago manual > ~/.local/share/man/man1/sago.1
";

const FILES: &[(&str, &str)] = &[
    ("/etc/sago/config.toml", "Options for everybody. SAGO_SITE_CONFIG names another file."),
    ("~/.config/sago/config.toml", "Options of the user. SAGO_CONFIG names another file."),
];

const ENVIRONMENT: &[(&str, &str)] = &[
    ("HDF5_PLUGIN_PATH", "The folder with the plugin."),
    ("HDF5_VOL_CONNECTOR", "Chooses Sago: sago, with options after it if wanted."),
    ("SAGO", "off makes Sago a pass-through."),
    ("SAGO_NAME", "The option NAME, in capitals: SAGO_BUFFER=16MiB."),
];

pub fn run(arguments: &[String], out: &mut dyn Write) -> Result<Verdict, Complaint> {
    Arguments::parse("manual", arguments, &[], &[])?;
    printed(out.write_all(page().as_bytes())).map(|()| Verdict::Well)
}

fn page() -> String {
    let mut text = format!(".TH SAGO 1 \"\" \"sago {}\" \"User Commands\"\n", env!("CARGO_PKG_VERSION"));
    text += ".SH NAME\nsago \\- topology-aware aggregation for HDF5\n.SH SYNOPSIS\n.B sago\nCOMMAND [ARGUMENTS]\n";
    text += ".SH COMMANDS\n";
    for command in COMMANDS {
        let _ = write!(text, ".SS {}\n{}.\n.PP\n.nf\n", command.name, escaped(command.summary));
        for line in command.usage.lines() {
            let _ = writeln!(text, "{}", escaped(line));
        }
        text += ".fi\n";
    }
    let options: Vec<_> = options::paragraphs().collect();
    section(&mut text, "OPTIONS OF THE CONNECTOR", options.iter().map(|(n, b)| (n.as_str(), b.as_str())));
    section(&mut text, "FILES", FILES.iter().copied());
    section(&mut text, "ENVIRONMENT", ENVIRONMENT.iter().copied());
    text += ".SH EXIT STATUS\n0 if all is well, 1 if problems were found, 2 if the command could not be understood.\n";
    text
}

fn section<'a>(text: &mut String, title: &str, entries: impl Iterator<Item = (&'a str, &'a str)>) {
    let _ = writeln!(text, ".SH {title}");
    for (name, body) in entries {
        let _ = write!(text, ".TP\n.B {}\n{}\n", escaped(name), escaped(body));
    }
}

/// Backslashes and hyphens as they are; a line must not begin like a request.
fn escaped(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
}
