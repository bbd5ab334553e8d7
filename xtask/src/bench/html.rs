//! The same as a web page: one file, no scripts, nothing loaded from elsewhere.

use super::latency::Latency;
use super::measure::{Row, Table};
use super::report::{Group, Machine, SHOWN_CALLS, count, short};
use super::stats::Noise;
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");

pub fn page(machine: &Machine, groups: &[Group]) -> String {
    let mut body = format!(
        "<h1>Sago benchmark</h1><p><code>{}</code><br>{} cores, Linux {}, load {} at the start, seed {}.</p>\
         <p>Bars: how fast the write phase was against the limit of the same round (every rank writes its contiguous \
         share of one file with pwrite); median, and quartiles as a line. The stroke marks the limit.</p>",
        escape(&machine.command),
        machine.cores,
        escape(&machine.kernel),
        escape(&machine.load),
        machine.seed
    );
    for group in groups {
        let _ = write!(body, "<h2>{}</h2>", escape(&group.title));
        for (name, why) in &group.unavailable {
            let _ = write!(body, "<p class=note>{}: not available ({})</p>", escape(name), escape(why));
        }
        group.tables.iter().for_each(|t| body += &figure(t));
        body += &group.latency.as_ref().map_or_else(String::new, latency);
    }
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>Sago benchmark</title><style>{STYLE}</style><body>{body}</body></html>\n"
    )
}

fn figure(table: &Table) -> String {
    let full = table.rows.iter().map(|r| r.ratio.high).fold(1.05, f64::max) * 1.02;
    let noise = if table.noise() == Noise::Calm { "note" } else { "note bad" };
    let mut text = format!(
        "<section><h3>{} <small>{}; {:.1} MB in {} steps</small></h3><div class=bars style=\"--limit:{:.2}%\">",
        escape(table.case.name),
        escape(table.case.about),
        table.bytes / 1e6,
        table.case.steps(),
        100.0 / full
    );
    table.rows.iter().for_each(|row| text += &bar(row, table.bytes, full));
    let _ = write!(text, "</div><p class=\"{noise}\">{}</p>", escape(table.noise().sentence()));
    for row in table.rows.iter().filter(|r| !r.detail.is_empty()) {
        let _ = write!(text, "<p class=note>{}: {}</p>", escape(&row.name), escape(&row.detail));
    }
    for (name, why) in &table.left_out {
        let _ = write!(text, "<p class=note>{}: left out, {}</p>", escape(name), escape(why));
    }
    text + "</section>"
}

fn bar(row: &Row, bytes: f64, full: f64) -> String {
    let percent = |ratio: f64| 100.0 * ratio / full;
    let phase = row.median(|p| p.phase);
    let counts: String = if row.system_calls.is_empty() {
        String::new()
    } else {
        SHOWN_CALLS.iter().map(|call| format!(", {} {call}", count(row, call))).collect()
    };
    format!(
        "<div class=\"row {}\"><span class=name>{}</span><span class=track><i style=\"width:{:.2}%\"></i>\
         <b style=\"left:{:.2}%;width:{:.2}%\"></b></span><span class=value>{}</span>\
         <span class=more>{:.2} GB/s, calls {:.1} ms, phase {:.1} ms, total {:.1} ms, end to end {}, +{:.0} MiB{counts}</span></div>",
        family(&row.name),
        escape(&row.name),
        percent(row.ratio.median),
        percent(row.ratio.low),
        percent(row.ratio.high - row.ratio.low),
        short(row.ratio.median),
        bytes / phase / 1e9,
        row.median(|p| p.calls) * 1e3,
        phase * 1e3,
        row.median(|p| p.total) * 1e3,
        short(row.total_ratio.median),
        row.extra_bytes / f64::from(1 << 20)
    )
}

fn latency(latency: &Latency) -> String {
    let mut text = "<section><h3>latency <small>microseconds per call</small></h3><table><tr><th>".to_owned();
    latency.variants.iter().for_each(|v| {
        let _ = write!(text, "<th>{}", escape(v));
    });
    for (call, values) in &latency.calls {
        let _ = write!(text, "<tr><td>{}", escape(call));
        values.iter().for_each(|v| {
            let _ = write!(text, "<td>{v:.1}");
        });
    }
    text + "</table></section>"
}

/// The colour of a bar.
fn family(name: &str) -> &str {
    name.split([' ', ',']).next().unwrap_or(name)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
