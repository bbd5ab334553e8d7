//! Runs in short: the JSON of one or several runs as tables in Markdown, a line for each case. A full run takes hours;
//! this joins the parts of one that was taken in pieces.

use super::report::short;
use super::variants::{LIMIT, LIMIT_AGAIN};
use anyhow::{Context, Result};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The cases of a configuration, from whatever files.
struct Part {
    title: String,
    cases: Vec<Value>,
    latency: Vec<Value>,
}

pub fn markdown(files: &[PathBuf]) -> Result<String> {
    let (mut text, mut parts) = (String::new(), Vec::new());
    for file in files {
        let content = std::fs::read_to_string(file).with_context(|| format!("no {}", file.display()))?;
        let run: Value = serde_json::from_str(&content).with_context(|| file.display().to_string())?;
        let _ = writeln!(text, "    {}", run["command"].as_str().unwrap_or("?"));
        run["groups"].as_array().into_iter().flatten().for_each(|group| add(&mut parts, group));
    }
    parts.iter().for_each(|part| text += &table(part));
    Ok(text)
}

fn add(parts: &mut Vec<Part>, group: &Value) {
    let title = group["title"].as_str().unwrap_or("?");
    let at = parts.iter().position(|p| p.title == title).unwrap_or_else(|| {
        parts.push(Part { title: title.to_owned(), cases: Vec::new(), latency: Vec::new() });
        parts.len() - 1
    });
    parts[at].cases.extend(group["cases"].as_array().into_iter().flatten().cloned());
    parts[at].latency.extend(group["latency_us"].is_object().then(|| group["latency_us"].clone()));
}

fn table(part: &Part) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in part.cases.iter().flat_map(variants).filter_map(|v| v["name"].as_str()) {
        if !names.contains(&name) && name != LIMIT && name != LIMIT_AGAIN {
            names.push(name);
        }
    }
    let mut text = format!("\n{}\n\n| case | noise | limit GB/s | {} |\n", part.title, names.join(" | "));
    let _ = writeln!(text, "|---|---|---|{}", "---|".repeat(names.len()));
    for case in &part.cases {
        let _ = write!(text, "| {} | {} |", word(&case["case"]), noise(case));
        let _ = write!(text, " {:.2} |", rate(case).unwrap_or(f64::NAN));
        for name in &names {
            let ratio =
                variants(case).find(|v| v["name"] == *name).and_then(|v| v["ratio"]["median"].as_f64());
            let _ = write!(text, " {} |", ratio.map_or("-".to_owned(), short));
        }
        text.push('\n');
    }
    part.latency.iter().for_each(|calls| text += &latency(calls));
    text
}

fn variants(case: &Value) -> impl Iterator<Item = &Value> {
    case["variants"].as_array().into_iter().flatten()
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}

/// The verdict, and what the limit says of itself.
fn noise(case: &Value) -> String {
    let again = case["limit_against_itself"]["median"].as_f64().unwrap_or(f64::NAN);
    format!("{} {}", word(&case["noise"]), short(again))
}

/// The limit in GB/s, median of its rounds.
fn rate(case: &Value) -> Option<f64> {
    let limit = variants(case).find(|v| v["name"] == LIMIT)?;
    let seconds: Vec<f64> =
        limit["passes"].as_array()?.iter().filter_map(|p| p["phase_s"].as_f64()).collect();
    Some(case["bytes"].as_f64()? / super::stats::median(&seconds) / 1e9)
}

fn latency(calls: &Value) -> String {
    let calls: Vec<(&String, &Value)> = calls.as_object().into_iter().flatten().collect();
    let names: Vec<&String> =
        calls.first().and_then(|(_, v)| v.as_object()).into_iter().flatten().map(|(name, _)| name).collect();
    let join = |words: Vec<String>| words.join(" | ");
    let mut text = format!("\n| microseconds | {} |\n", join(names.iter().map(|n| (*n).clone()).collect()));
    let _ = writeln!(text, "|---|{}", "---|".repeat(names.len()));
    for (call, values) in calls {
        let value = |name: &&String| format!("{:.1}", values[name.as_str()].as_f64().unwrap_or(f64::NAN));
        let _ = writeln!(text, "| {call} | {} |", join(names.iter().map(value).collect()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cases_of_one_configuration_join() {
        let variant = |name: &str, ratio: f64| json!({"name": name, "ratio": {"median": ratio}, "passes": [{"phase_s": 0.5}]});
        let group = |case: &str, variants: Vec<Value>| {
            json!({"title": "here", "cases": [{"case": case, "noise": "calm", "bytes": 1e9,
                   "limit_against_itself": {"median": 0.98}, "variants": variants}]})
        };
        let mut parts = Vec::new();
        add(&mut parts, &group("one", vec![variant(LIMIT, 1.0), variant("native", 0.5)]));
        add(&mut parts, &group("two", vec![variant(LIMIT, 1.0), variant("sago", 0.9)]));
        assert_eq!(
            table(&parts[0]),
            "\nhere\n\n| case | noise | limit GB/s | native | sago |\n|---|---|---|---|---|\n\
             | one | calm 0.98 | 2.00 | 0.50 | - |\n| two | calm 0.98 | 2.00 | - | 0.90 |\n"
        );
    }
}
