//! `sago completions`: what shells need to complete commands, their arguments and the names of options.

use crate::arguments::Arguments;
use crate::commands::{COMMANDS, Verdict};
use crate::complaint::{Complaint, printed};
use sago_core::config::OPTIONS;
use std::fmt::Write as _;
use std::io::Write;

pub const USAGE: &str = "\
sago completions --shell bash|zsh|fish

examples
  sago completions --shell bash > ~/.local/share/bash-completion/completions/sago
  sago completions --shell zsh  > ~/.zfunc/_sago        # with that folder in fpath
  sago completions --shell fish > ~/.config/fish/completions/sago.fish
";

pub const NAMED: &[&str] = &["--shell"];

pub fn run(arguments: &[String], out: &mut dyn Write) -> Result<Verdict, Complaint> {
    let arguments = Arguments::parse("completions", arguments, NAMED, &[])?;
    let text = match arguments.required("--shell")? {
        "bash" => bash(),
        "zsh" => zsh(),
        "fish" => fish(),
        other => {
            return Err(Complaint::plain(format!(
                "sago completions: no completions for `{other}`; there are some for bash, zsh and fish\n"
            )));
        }
    };
    printed(out.write_all(text.as_bytes())).map(|()| Verdict::Well)
}

fn names() -> String {
    COMMANDS.iter().map(|c| c.name).chain(["help"]).collect::<Vec<_>>().join(" ")
}

/// `--options` and `--connector` take options.
fn option_words() -> String {
    OPTIONS.iter().map(|spec| format!("{}=", spec.name)).collect::<Vec<_>>().join(" ")
}

fn arguments_of(named: &[&str], flags: &[&str]) -> String {
    named.iter().chain(flags).chain(&["--help"]).copied().collect::<Vec<_>>().join(" ")
}

fn bash() -> String {
    let mut cases = String::new();
    for c in COMMANDS {
        let _ = writeln!(cases, "        {}) words=\"{}\" ;;", c.name, arguments_of(c.named, c.flags));
    }
    format!(
        r#"# Completions of sago for bash
_sago() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words
    case $before in
        --options|--connector) words="{options}"; compopt -o nospace 2>/dev/null ;;
        --exe|--python|--prefix|--dir|--slurm) COMPREPLY=($(compgen -f -- "$word")); return ;;
        --shell) words="bash zsh fish" ;;
        *) case ${{COMP_WORDS[1]}} in
{cases}        help) words="{names}" ;;
        *) words="{names}" ;;
        esac ;;
    esac
    [ "$COMP_CWORD" -eq 1 ] && words="{names}"
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -F _sago sago
"#,
        options = option_words(),
        names = names(),
    )
}

fn zsh() -> String {
    let mut text =
        "#compdef sago\n# Completions of sago for zsh\n_sago() {\n  local -a commands\n  commands=(\n"
            .to_owned();
    for c in COMMANDS {
        let _ = writeln!(text, "    '{}:{}'", c.name, quoted(c.summary));
    }
    text += "    'help:this text, or that of a command'\n  )\n";
    text += "  if (( CURRENT == 2 )); then _describe command commands; return; fi\n  case $words[2] in\n";
    for c in COMMANDS {
        let named = c.named.iter().map(|n| format!("'{n}[]:value:_files'"));
        let flags = c.flags.iter().chain(&["--help"]).map(|f| format!("'{f}[]'"));
        let all: Vec<String> = named.chain(flags).collect();
        let _ =
            writeln!(text, "    {}) shift words; (( CURRENT-- )); _arguments {} ;;", c.name, all.join(" "));
    }
    text + "    help) _describe command commands ;;\n  esac\n}\n_sago \"$@\"\n"
}

fn fish() -> String {
    let mut text = "# Completions of sago for fish\ncomplete -c sago -f\n".to_owned();
    for c in COMMANDS {
        let (name, summary) = (c.name, quoted(c.summary));
        let _ = writeln!(text, "complete -c sago -n __fish_use_subcommand -a {name} -d '{summary}'");
        for argument in c.named {
            let argument = argument.trim_start_matches('-');
            let _ = writeln!(
                text,
                "complete -c sago -n '__fish_seen_subcommand_from {name}' -l {argument} -r -F"
            );
        }
        for flag in c.flags.iter().chain(&["--help"]) {
            let flag = flag.trim_start_matches('-');
            let _ = writeln!(text, "complete -c sago -n '__fish_seen_subcommand_from {name}' -l {flag}");
        }
    }
    text
}

fn quoted(text: &str) -> String {
    text.replace('\'', "'\\''")
}
