//! `sago sim papers`: the papers' numbers beside ours.

use super::table;
use crate::arguments::Arguments;
use crate::complaint::{Complaint, printed};
use sago_core::text::nearest;
use sago_sim::papers::{Comparison, EXPERIMENTS, Runs, Unit};
use serde_json::{Value, json};
use std::io::Write;

pub fn run(arguments: &[String], out: &mut impl Write) -> Result<(), Complaint> {
    let arguments = Arguments::parse("sim", arguments, &["--only"], &["--json", "--markdown"])?;
    let only = arguments.get("--only").unwrap_or_default();
    let chosen: Vec<_> = EXPERIMENTS.iter().filter(|experiment| experiment.name.contains(only)).collect();
    if chosen.is_empty() {
        let near = nearest(only, EXPERIMENTS.iter().map(|experiment| experiment.name));
        let names: Vec<_> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
        return Err(Complaint::plain(format!(
            "sago sim papers: nothing is called `{only}`; did you mean `{near}`? there are: {}\n",
            names.join(", ")
        )));
    }
    let (mut runs, mut all) = (Runs::default(), Vec::new());
    for experiment in chosen {
        let found = experiment
            .run(&mut runs)
            .map_err(|error| Complaint::plain(format!("sago sim papers: {}: {error}\n", experiment.name)))?;
        all.extend(found);
    }
    if arguments.flag("--json") {
        let list: Vec<Value> = all.iter().map(json).collect();
        return printed(writeln!(out, "{:#}", Value::from(list)));
    }
    let line = if arguments.flag("--markdown") { markdown } else { plain };
    if arguments.flag("--markdown") {
        printed(writeln!(
            out,
            "| paper | what | paper's | ours | difference | why |\n|---|---|---|---|---|---|"
        ))?;
    }
    all.iter().try_for_each(|comparison| printed(writeln!(out, "{}", line(comparison))))
}

fn plain(c: &Comparison) -> String {
    let [paper, ours, difference] = numbers(c);
    let why = if c.why.is_empty() { String::new() } else { format!("\n{:27}{}", "", c.why) };
    format!("{:<26} {}\n{:27}paper {paper}, ours {ours}, difference {difference}{why}", c.source, c.what, "")
}

fn markdown(c: &Comparison) -> String {
    let [paper, ours, difference] = numbers(c);
    format!("| {} | {} | {paper} | {ours} | {difference} | {} |", c.source, c.what, c.why)
}

fn numbers(c: &Comparison) -> [String; 3] {
    let paper = c.paper.map_or_else(|| "-".into(), |value| text(c.unit, value));
    let difference = c.difference().map_or_else(|| "-".into(), |share| format!("{:+.0} %", 100.0 * share));
    [paper, text(c.unit, c.ours), difference]
}

fn text(unit: Unit, value: f64) -> String {
    match unit {
        Unit::BytesPerS => table::rate(value),
        Unit::Seconds => table::seconds(value),
        Unit::Times => format!("{value:.2} x"),
        Unit::Share if value < 0.1 => format!("{value:.3}"),
        Unit::Share => format!("{value:.2}"),
        Unit::Count => format!("{value:.0}"),
    }
}

fn json(c: &Comparison) -> Value {
    json!({
        "source": c.source,
        "what": c.what,
        "unit": format!("{:?}", c.unit),
        "paper": c.paper,
        "ours": c.ours,
        "difference": c.difference(),
        "why": c.why,
    })
}
