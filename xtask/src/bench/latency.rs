//! Microseconds per call, natively and through the connector, in interleaved rounds.

use super::launch::Job;
use super::measure::{Settings, Site};
use super::stats::{Random, median};
use super::variants::{Mode, NATIVE};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// The median of rounds, by call and variant.
pub struct Latency {
    pub variants: Vec<String>,
    /// In the order of the program; a value for each variant.
    pub calls: Vec<(String, Vec<f64>)>,
}

/// The order in which the program samples the calls.
const CALLS: [&str; 9] = [
    "file create",
    "file open",
    "file close",
    "dataset create",
    "dataset open",
    "dataset close",
    "write 64 B collective",
    "write 64 B independent",
    "flush after a write",
];

pub fn measure(site: &Site, modes: &[Mode], settings: &Settings) -> Result<Latency> {
    let mut variants = vec![(NATIVE.to_owned(), None)];
    variants.extend(modes.iter().map(|&(name, words)| (name.to_owned(), Some(words.to_owned()))));
    let mut samples: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
    let mut random = Random(settings.seed);
    let mut order: Vec<usize> = (0..variants.len()).collect();
    for _ in 0..settings.rounds {
        random.shuffle(&mut order);
        for &v in &order {
            let result = run(site, variants[v].1.clone())?;
            for (c, call) in CALLS.iter().enumerate() {
                let us = result["calls"][*call]["median_us"].as_f64();
                samples.entry((c, v)).or_default().push(us.with_context(|| format!("no sample of {call}"))?);
            }
        }
    }
    let calls = CALLS.iter().enumerate().map(|(c, call)| {
        let of = |v| samples.get(&(c, v)).map_or(f64::NAN, |s| median(s));
        ((*call).to_owned(), (0..variants.len()).map(of).collect())
    });
    Ok(Latency { calls: calls.collect(), variants: variants.into_iter().map(|(name, _)| name).collect() })
}

fn run(site: &Site, connector: Option<String>) -> Result<Value> {
    site.kernels.run(&Job {
        ranks: site.ranks,
        io: site.io,
        kernel: "latency".to_owned(),
        args: Vec::new(),
        file: site.dir.join("latency.h5"),
        env: Vec::new(),
        connector,
        limit: Duration::from_secs(120),
    })
}

impl Latency {
    pub fn table(&self) -> String {
        let mut text = format!("\nlatency: microseconds per call, median\n  {:<26}", "");
        self.variants.iter().for_each(|v| {
            let _ = write!(text, " {v:>18}");
        });
        for (call, values) in &self.calls {
            let _ = write!(text, "\n  {call:<26}");
            values.iter().for_each(|v| {
                let _ = write!(text, " {v:>18.1}");
            });
        }
        text.push('\n');
        text
    }

    pub fn json(&self) -> Value {
        let of = |values: &[f64]| -> Value {
            self.variants.iter().zip(values).map(|(name, v)| (name.clone(), json!(v))).collect()
        };
        self.calls.iter().map(|(call, values)| (call.clone(), of(values))).collect()
    }
}
