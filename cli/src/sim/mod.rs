//! `sago sim`: what Sago, two-phase collective I/O and independent I/O would do on a modelled machine.

mod input;
mod json;
mod papers;
mod sweep;
mod table;

use crate::arguments::Arguments;
use crate::complaint::{Complaint, printed};
use sago_sim::{Outcome, Scenario};
use std::io::Write;

pub const USAGE: &str = "\
sago sim SCENARIO [--set LINE.WORD=VALUE] [--json] [--svg FILE]
sago sim sweep SCENARIO --vary LINE.WORD=A,B,... [--vary ...] [--json] [--svg FILE]
sago sim papers [--only WORD] [--json | --markdown]
sago sim --list

  SCENARIO         the path of a scenario file, or the name of one that comes with the program (--list):
                     machine     as for `sago explain`
                     storage     lustre|gpfs targets=48 stripe=8MiB target=3GB/s [pool=56] [request=100us] [seek=4ms]
                                 [lock=1ms] [file_request=1ms] [io_node=2.8GB/s] [client=500MB/s] [jitter=0.2]
                                 [servers=0,1,2] [fragments=2+1]
                     pattern     as for `sago explain`
                     options     options as for the connector
                     two-phase   aggregators=16 buffer=16MiB domains=even|aligned|striped order=ranks|bridge-first
                                 groups=1 (more: ParColl's subgroups) holes=sieve|pieces
                     files       shared, or how many ranks have a file of their own, one block after the other
                     costs       message=1us sync=1us plan=110ns capture=4GB/s
                     strategies  sago two-phase independent
                     direction   write|read
                     fault       write rank=R|aggregator=K [from=N] [code=C]
                                 link class=NAME|from=A|to=B slow=X [since=T] [until=T]
                                 target number=N slow=X [since=T] [until=T]
                     seed        of the storage's jitter
  --set L.W=VALUE  change a word of the scenario (several times if needed)
  --vary L.W=A,B   run it with each value; given twice, with each pair
  --json           as JSON
  --svg FILE       a picture: rounds over time, load per class of links, per gate and per storage target
";

pub fn run(arguments: &[String], out: &mut impl Write) -> Result<(), Complaint> {
    match arguments.first().map(String::as_str) {
        Some("--list") => input::list(out),
        Some("sweep") => sweep::run(&arguments[1..], out),
        Some("papers") => papers::run(&arguments[1..], out),
        _ => one(arguments, out),
    }
}

fn one(arguments: &[String], out: &mut impl Write) -> Result<(), Complaint> {
    let (name, rest) = input::scenario_name(arguments)?;
    let (sets, rest) = input::repeated("--set", rest)?;
    let arguments = Arguments::parse("sim", &rest, &["--svg"], &["--json"])?;
    let lines = input::changed(input::lines(name)?, &sets)?;
    let scenario = Scenario::from_lines(&lines).map_err(|error| input::pointed(name, &error))?;
    let outcomes = outcomes(&scenario)?;
    if let Some(path) = arguments.get("--svg") {
        let all: Vec<Outcome> = outcomes.iter().map(|(outcome, _)| outcome.clone()).collect();
        input::save(path, &sago_sim::svg::picture(&scenario, &all))?;
    }
    if arguments.flag("--json") {
        return printed(writeln!(out, "{:#}", json::run(&scenario, &outcomes)));
    }
    table::run(&scenario, &outcomes, out)
}

/// The scenario with each of its strategies, and how long that took.
fn outcomes(scenario: &Scenario) -> Result<Vec<(Outcome, f64)>, Complaint> {
    let one = |strategy: &sago_sim::Strategy| {
        let start = std::time::Instant::now();
        let outcome = sago_sim::run(scenario, *strategy)
            .map_err(|error| Complaint::plain(format!("sago sim: {}: {error}\n", strategy.name())))?;
        Ok((outcome, start.elapsed().as_secs_f64()))
    };
    scenario.strategies.iter().map(one).collect()
}
