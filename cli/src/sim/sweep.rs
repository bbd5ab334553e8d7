//! `sago sim sweep`: one scenario with one or two of its words varied.

use super::{input, json, table};
use crate::arguments::Arguments;
use crate::complaint::{Complaint, printed};
use sago_sim::sweep::{Axis, Point, sweep};
use serde_json::{Value, json};
use std::io::Write;

pub fn run(arguments: &[String], out: &mut impl Write) -> Result<(), Complaint> {
    let (name, rest) = input::scenario_name(arguments)?;
    let (sets, rest) = input::repeated("--set", rest)?;
    let (vary, rest) = input::repeated("--vary", &rest)?;
    let arguments = Arguments::parse("sim", &rest, &["--svg"], &["--json"])?;
    if vary.is_empty() || vary.len() > 2 {
        return Err(Complaint::plain(
            "sago sim sweep: give one or two `--vary LINE.WORD=A,B,...`, for example --vary options.groups=1,4,16\n",
        ));
    }
    let axis = |(place, values): (String, String)| Axis {
        place,
        values: values.split(',').map(str::to_owned).collect(),
    };
    let axes: Vec<Axis> = vary.into_iter().map(axis).collect();
    let lines = input::changed(input::lines(name)?, &sets)?;
    let points = sweep(&lines, &axes, |_| {})
        .map_err(|error| Complaint::plain(format!("sago sim sweep: {name}: {error}\n")))?;
    if let Some(path) = arguments.get("--svg") {
        input::save(path, &sago_sim::svg::plot(name, &axes, &points))?;
    }
    if arguments.flag("--json") {
        let list: Vec<Value> = points.iter().map(|point| as_json(&axes, point)).collect();
        return printed(writeln!(out, "{:#}", Value::from(list)));
    }
    printed(rows(&axes, &points, out))
}

fn rows(axes: &[Axis], points: &[Point], out: &mut impl Write) -> std::io::Result<()> {
    for axis in axes {
        write!(out, "{:>22}", axis.place)?;
    }
    let strategies = points.first().map(|point| point.outcomes.as_slice()).unwrap_or_default();
    for outcome in strategies {
        write!(out, "{:>14}{:>12}", outcome.strategy.name(), "")?;
    }
    writeln!(out)?;
    for point in points {
        for value in &point.values {
            write!(out, "{value:>22}")?;
        }
        for o in &point.outcomes {
            write!(out, "{:>14}{:>12}", table::rate(o.bytes_per_s()), table::seconds(o.time_s))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn as_json(axes: &[Axis], point: &Point) -> Value {
    let places = axes.iter().map(|axis| axis.place.clone());
    let values: serde_json::Map<String, Value> =
        places.zip(point.values.iter().map(|value| Value::from(value.as_str()))).collect();
    json!({ "values": values, "outcomes": point.outcomes.iter().map(json::outcome).collect::<Vec<_>>() })
}
