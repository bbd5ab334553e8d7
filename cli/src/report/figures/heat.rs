//! Who sends to whom: a row for each sender, a column for each aggregator (or their nodes), darker for more bytes.

use super::{Canvas, HALF};
use sago_report::{By, Report, size_text};
use std::collections::BTreeMap;

/// Room for the names of rows.
const LEFT: f64 = 72.0;

/// How many shades there are in the page's style.
pub const SHADES: usize = 9;

pub fn heat(report: &Report) -> Option<String> {
    let cells = &report.traffic.cells;
    let most = cells.iter().map(|(.., bytes)| *bytes).max()?.max(1);
    let number = |numbers: Vec<u32>| -> BTreeMap<u32, usize> {
        let mut numbers = numbers;
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().enumerate().map(|(at, number)| (number, at)).collect()
    };
    let rows = number(cells.iter().map(|(from, ..)| *from).collect());
    let columns = number(cells.iter().map(|(_, to, _)| *to).collect());
    let unit = if report.traffic.by == By::Rank { "rank" } else { "node" };
    let width = ((HALF - LEFT - 4.0) / columns.len() as f64).clamp(1.0, 90.0);
    let height = (440.0 / rows.len() as f64).clamp(1.0, 22.0);
    let (top, mut canvas) = (34.0, Canvas::default());
    canvas.text(LEFT - 30.0, top - 8.0, "end", "from");
    for (name, at) in &columns {
        if every(columns.len(), *at, width, 64.0) {
            let x = LEFT + (*at as f64 + 0.5) * width;
            canvas.text(x, top - 8.0, "middle", &format!("{unit} {}", name * report.traffic.each));
        }
    }
    for (name, at) in &rows {
        if every(rows.len(), *at, height, 14.0) {
            let y = top + (*at as f64 + 0.5) * height + 4.0;
            canvas.text(LEFT - 10.0, y, "end", &format!("{unit} {}", name * report.traffic.each));
        }
    }
    let inset = if width.min(height) > 6.0 { 1.0 } else { 0.0 };
    for (from, to, bytes) in cells {
        let shade = (*bytes as f64 / most as f64 * (SHADES - 1) as f64).round() as usize;
        let (x, y) = (LEFT + columns[to] as f64 * width, top + rows[from] as f64 * height);
        let title = format!("{unit} {from} to {unit} {to}: {}", size_text(*bytes));
        let class = format!("c-heat{shade}");
        canvas.rect(&class, [x + inset, y + inset, width - 2.0 * inset, height - 2.0 * inset], &title);
        if width >= 60.0 && height >= 16.0 {
            let ink = if shade * 2 >= SHADES { "c-light" } else { "c-ink" };
            let (x, y, text) = (x + width / 2.0, y + height / 2.0 + 4.0, size_text(*bytes));
            canvas.body +=
                &format!(r#"<text class="{ink}" x="{x:.1}" y="{y:.1}" text-anchor="middle">{text}</text>"#);
        }
    }
    let bottom = top + rows.len() as f64 * height;
    let legend = format!("darkest: {}", size_text(most));
    canvas.text(LEFT, bottom + 18.0, "start", &legend);
    Some(canvas.finish(HALF, bottom + 26.0, "bytes from senders to aggregators"))
}

/// Whether the label of a row or column has room.
fn every(count: usize, at: usize, size: f64, needs: f64) -> bool {
    let step = (needs / size).ceil().max(1.0) as usize;
    at.is_multiple_of(step) && (at + step <= count || at == 0 || count - at >= step.div_ceil(2))
}
