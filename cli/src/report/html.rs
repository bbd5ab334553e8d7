//! Reports as one page that needs nothing else: style and pictures are in it.

use super::compare;
use super::figures::{self, escape};
use sago_report::{Advice, Calls, Dataset, Direction, Report, advice, duration_text, share_text, size_text};
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");

/// A longer table is closed until it is wanted.
const ROWS_OPEN_MAX: usize = 12;

pub fn page(reports: &[Report]) -> String {
    let title = match reports {
        [one] => format!("Sago: {}", escape(&one.file)),
        several => format!("Sago: {} files", several.len()),
    };
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>\n{STYLE}</style></head>\n\
         <body><main>\n"
    );
    if reports.len() > 1 {
        comparison(reports, &mut page);
    }
    for (number, report) in reports.iter().enumerate() {
        file(number, report, &mut page);
    }
    let version = env!("CARGO_PKG_VERSION");
    let _ = writeln!(page, "<footer>Made by sago report {version}.</footer>\n</main></body></html>");
    page
}

fn comparison(reports: &[Report], page: &mut String) {
    page.push_str("<h1>Files compared</h1>\n<div class=\"card wide\"><table><tr><th></th>");
    for (number, report) in reports.iter().enumerate() {
        let name = escape(short(&report.file));
        let _ = write!(page, "<th class=\"n\"><a href=\"#file{number}\">{} {name}</a></th>", number + 1);
    }
    page.push_str("</tr>\n");
    for (name, value) in compare::ROWS {
        let _ = write!(page, "<tr><td>{name}</td>");
        for report in reports {
            let _ = write!(page, "<td class=\"n\">{}</td>", escape(&value(report)));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table></div>\n");
}

/// The last part of a path.
fn short(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn file(number: usize, report: &Report, page: &mut String) {
    let _ = writeln!(
        page,
        "<section class=\"file\" id=\"file{number}\">\n<h1>{}</h1>",
        escape(short(&report.file))
    );
    let _ = writeln!(
        page,
        "<p class=\"soft\">{} &middot; Sago {}, HDF5 {}, mode {}, {} ranks on {} node{}</p>",
        escape(&report.file),
        report.sago,
        report.hdf5,
        report.mode,
        report.ranks,
        report.machine.nodes,
        if report.machine.nodes == 1 { "" } else { "s" }
    );
    tiles(report, page);
    sentences(report, page);
    card(page, "Captured, and left to HDF5", "Bytes of the program's calls.", Some(figures::share(report)));
    let left_out = match report.timeline_left_out {
        0 => String::new(),
        rounds => format!(" {rounds} later rounds are not kept in the report."),
    };
    let about = format!(
        "Times since the file was opened; a row for each rank that stored, a lane for each of its buffers. Pauses of the \
         program are cut short.{left_out}"
    );
    card(page, "Rounds in time", &about, figures::timeline(report));
    card(page, "Where the time of ranks went", &phases_about(report), figures::phases(report));
    page.push_str("<div class=\"pair\">");
    let own = size_text(report.traffic.own_bytes);
    let about = match report.traffic.cells.is_empty() {
        true => format!("Nothing was exchanged: every rank stored its own bytes, {own} in all."),
        false => format!("Bytes from senders to aggregators; {own} were stored by the ranks that had them."),
    };
    let heat = figures::heat(report).unwrap_or_default();
    card(page, "Who sends to whom", &about, Some(heat));
    let network =
        if report.machine.network.is_empty() { "nothing was planned" } else { &report.machine.network };
    card(page, "Machine", &format!("As the planner saw it: {network}."), Some(figures::machine(report)));
    page.push_str("</div>\n");
    aggregators(report, page);
    datasets(report, page);
    facts(report, page);
    page.push_str("</section>\n");
}

fn card(page: &mut String, heading: &str, about: &str, figure: Option<String>) {
    let Some(figure) = figure else { return };
    let about = escape(about);
    let _ =
        writeln!(page, "<div class=\"card\"><h2>{heading}</h2><p class=\"soft\">{about}</p>{figure}</div>");
}

fn tiles(report: &Report, page: &mut String) {
    let (written, read) = (report.captured(Direction::Write), report.captured(Direction::Read));
    let storage = report.storage;
    let calls = storage.write_calls + storage.read_calls;
    let mean = (storage.write_bytes + storage.read_bytes).checked_div(calls).unwrap_or(0);
    let mut tiles = Vec::new();
    for (calls, did) in [(written, "written"), (read, "read")] {
        if calls.count() > 0 {
            let plural = if calls.count() == 1 { "" } else { "s" };
            tiles.push((size_text(calls.bytes), format!("{did}, {} call{plural}", calls.count())));
        }
    }
    let commits = report.commits.together + report.commits.alone;
    tiles.push((commits.to_string(), if commits == 1 { "commit" } else { "commits" }.to_owned()));
    if report.rounds.count > 0 {
        tiles.push((
            report.rounds.count.to_string(),
            format!("rounds, {} full", share_text(report.rounds.fill())),
        ));
    }
    tiles.push((calls.to_string(), format!("storage calls, {} each", size_text(mean))));
    tiles.push((duration_text(report.open_us), "open".to_owned()));
    let share = report.collecting_us as f64 / report.open_us.max(1) as f64;
    tiles.push((duration_text(report.collecting_us), format!("for this report, {}", share_text(share))));
    page.push_str("<div class=\"tiles\">");
    for (value, name) in tiles {
        let _ =
            write!(page, "<div class=\"tile\"><b>{}</b><span>{}</span></div>", escape(&value), escape(&name));
    }
    page.push_str("</div>\n");
}

fn sentences(report: &Report, page: &mut String) {
    page.push_str("<div class=\"card\"><h2>In words</h2><ul class=\"advice\">");
    for advice in advice(report) {
        let class = match advice {
            Advice::Good(_) => "good",
            Advice::Note(_) => "note",
            Advice::Change(_) => "change",
        };
        let _ = write!(page, "<li class=\"{class}\">{}</li>", escape(&capital(advice.sentence())));
    }
    page.push_str("</ul></div>\n");
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn phases_about(report: &Report) -> String {
    let there = |name: &str| report.phase(name).is_some_and(|phase| phase.max_us > 0);
    let phases = figures::PHASES.iter().filter(|(name, _)| there(name));
    let phases: Vec<String> = phases.map(|(name, meaning)| format!("{name}: {meaning}")).collect();
    format!("{}.", capital(&phases.join("; ")))
}

/// A table, closed if it is long.
fn table(page: &mut String, heading: &str, columns: &[&str], rows: &[Vec<String>]) {
    if rows.is_empty() {
        return;
    }
    let open = rows.len() <= ROWS_OPEN_MAX;
    let _ = write!(page, "<div class=\"card wide\"><h2>{heading}</h2>");
    if !open {
        let _ = write!(page, "<details><summary>{} rows</summary>", rows.len());
    }
    page.push_str("<table><tr>");
    // A column is a number if its name begins with a mark.
    let class = |name: &str| if name.starts_with('#') { " class=\"n\"" } else { "" };
    for name in columns {
        let _ = write!(page, "<th{}>{}</th>", class(name), name.trim_start_matches('#'));
    }
    page.push_str("</tr>\n");
    for row in rows {
        page.push_str("<tr>");
        for (name, value) in columns.iter().zip(row) {
            let _ = write!(page, "<td{}>{}</td>", class(name), escape(value));
        }
        page.push_str("</tr>\n");
    }
    page.push_str(if open { "</table></div>\n" } else { "</table></details></div>\n" });
}

fn aggregators(report: &Report, page: &mut String) {
    let row = |one: &sago_report::Aggregator| {
        vec![
            format!("rank {}", one.rank),
            one.node.to_string(),
            one.rounds.to_string(),
            size_text(one.bytes),
            share_text(one.bytes as f64 / one.room_bytes.max(1) as f64),
            duration_text(one.gather_us as u64),
            duration_text(one.drain_us as u64),
        ]
    };
    let rows: Vec<Vec<String>> = report.aggregators.iter().map(row).collect();
    let columns =
        ["aggregator", "#node", "#rounds", "#bytes", "#fill", "#expected: gathering", "#and on to storage"];
    table(page, "Aggregators", &columns, &rows);
}

fn datasets(report: &Report, page: &mut String) {
    let calls = |calls: Calls| match (calls.collective, calls.independent) {
        (0, 0) => String::new(),
        (all, 0) => format!("{} in {all} collective", size_text(calls.bytes)),
        (0, alone) => format!("{} in {alone} independent", size_text(calls.bytes)),
        (all, alone) => format!("{} in {all} collective, {alone} independent", size_text(calls.bytes)),
    };
    let row = |dataset: &Dataset| {
        let passed = dataset.passed.iter().map(|passed| {
            let what = if passed.direction == Direction::Write { "write" } else { "read" };
            format!("{what}: {} ({})", calls(passed.calls), passed.reason)
        });
        let name = if dataset.name.is_empty() { "(name not known)" } else { &dataset.name };
        let passed = passed.collect::<Vec<_>>().join("; ");
        vec![name.to_owned(), calls(dataset.written), calls(dataset.read), passed]
    };
    let rows: Vec<Vec<String>> = report.datasets.iter().map(row).collect();
    table(
        page,
        "Datasets",
        &["dataset", "#written by Sago", "#read by Sago", "left to HDF5, and why"],
        &rows,
    );
}

fn facts(report: &Report, page: &mut String) {
    let memory = report.memory;
    let mut rows = vec![
        vec!["window of each rank".to_owned(), size_text(memory.window_bytes)],
        vec!["of that used at most".to_owned(), size_text(memory.collected_bytes_max)],
        vec!["buffers, of all ranks".to_owned(), size_text(memory.buffers_bytes)],
    ];
    if let Some(plan) = report.plan {
        rows.push(vec![
            "buffer of an aggregator".to_owned(),
            format!("2 of {}", size_text(plan.buffer_bytes)),
        ]);
        rows.push(vec!["stripe planned with".to_owned(), size_text(plan.stripe_bytes)]);
    }
    if let Some(system) = &report.file_system {
        let stripes = match (system.stripe_bytes, system.targets) {
            (Some(bytes), Some(targets)) => format!(", stripes of {} on {targets} targets", size_text(bytes)),
            (Some(bytes), None) => format!(", stripes of {}", size_text(bytes)),
            _ => String::new(),
        };
        let text = format!("{}, blocks of {}{stripes}", system.kind, size_text(system.block_bytes));
        rows.push(vec!["file system".to_owned(), text]);
    }
    for link in &report.links {
        rows.push(vec![format!("over links: {}", link.class), size_text(link.bytes)]);
    }
    page.push_str("<div class=\"pair\">");
    table(page, "Memory, storage, links", &["what", "#value"], &rows);
    let row = |option: &sago_report::OptionValue| {
        vec![option.name.clone(), option.value.clone(), option.source.clone()]
    };
    let (set, left): (Vec<_>, Vec<_>) = report.options.iter().partition(|option| option.source != "default");
    page.push_str("<div>");
    for (heading, options) in [("Options that were set", set), ("Options as they are by default", left)] {
        let rows: Vec<Vec<String>> = options.into_iter().map(row).collect();
        table(page, heading, &["option", "value", "from"], &rows);
    }
    page.push_str("</div></div>\n");
}
