//! Pictures of simulated runs, as text in SVG: rounds over time, load per class of links, per gate and per target; and
//! plots of sweeps.

mod canvas;
mod run;
mod sweep;

pub use run::picture;
pub use sweep::plot;

/// Three digits with a unit, for axes and labels.
fn short(value: f64, units: [&str; 5]) -> String {
    let (mut value, mut at) = (value, 0);
    while value >= 999.5 && at + 1 < units.len() {
        value /= 1000.0;
        at += 1;
    }
    let digits = if value >= 100.0 || value.fract() == 0.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {}", units[at])
}

fn bytes(value: f64) -> String {
    short(value, ["B", "kB", "MB", "GB", "TB"])
}

fn rate(value: f64) -> String {
    short(value, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"])
}

fn seconds(value: f64) -> String {
    if value == 0.0 { "0".into() } else { short(value * 1e9, ["ns", "us", "ms", "s", "ks"]) }
}
