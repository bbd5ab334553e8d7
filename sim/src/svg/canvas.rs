//! The little of SVG that the pictures need.

use std::fmt::Write;

pub(super) const WIDTH: f64 = 960.0;
pub(super) const LEFT: f64 = 130.0;
pub(super) const RIGHT: f64 = 30.0;
/// What is drawn over, between the margins.
pub(super) const INNER: f64 = WIDTH - LEFT - RIGHT;

pub(super) const INK: &str = "#222222";
pub(super) const FAINT: &str = "#dddddd";
/// Colours that stay apart for most eyes, also in grey.
pub(super) const SERIES: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b", "#7f7f7f"];

#[derive(Debug, Default)]
pub(super) struct Canvas {
    body: String,
    pub y: f64,
}

impl Canvas {
    pub fn new() -> Self {
        Self { body: String::new(), y: 10.0 }
    }

    pub fn text(&mut self, x: f64, y: f64, size: u32, anchor: &str, text: &str) {
        let text = escape(text);
        let _ = writeln!(
            self.body,
            r#"<text x="{x:.1}" y="{y:.1}" font-size="{size}" text-anchor="{anchor}" fill="{INK}">{text}</text>"#
        );
    }

    /// `title` shows when the pointer rests on it.
    pub fn rect(&mut self, [x, y, width, height]: [f64; 4], fill: &str, title: &str) {
        let (width, title) = (width.max(0.3), escape(title));
        let _ = writeln!(
            self.body,
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" fill="{fill}"><title>{title}</title></rect>"#
        );
    }

    pub fn line(&mut self, [x1, y1, x2, y2]: [f64; 4], stroke: &str) {
        let _ = writeln!(
            self.body,
            r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" stroke="{stroke}" stroke-width="1"/>"#
        );
    }

    pub fn path(&mut self, points: &[(f64, f64)], stroke: &str) {
        let list: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let list = list.join(" ");
        let _ = writeln!(
            self.body,
            r#"<polyline points="{list}" fill="none" stroke="{stroke}" stroke-width="2"/>"#
        );
    }

    /// A heading, and room below it.
    pub fn heading(&mut self, size: u32, text: &str) {
        self.y += f64::from(size) + 10.0;
        self.text(20.0, self.y, size, "start", text);
        self.y += 8.0;
    }

    /// Small squares with names.
    pub fn legend(&mut self, entries: &[(&str, &str)]) {
        let mut x = LEFT;
        self.y += 14.0;
        for (colour, name) in entries {
            self.rect([x, self.y - 9.0, 10.0, 10.0], colour, name);
            self.text(x + 14.0, self.y, 11, "start", name);
            x += 34.0 + 6.5 * name.chars().count() as f64;
        }
        self.y += 8.0;
    }

    pub fn finish(self) -> String {
        let height = self.y + 20.0;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" \
             height=\"{height:.0}\" font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" \
             fill=\"white\"/>\n{}</svg>\n",
            self.body
        )
    }
}

/// Round numbers from 0 to somewhat above `most`.
pub(super) fn ticks(most: f64) -> Vec<f64> {
    if !(most.is_finite() && most > 0.0) {
        return vec![0.0, 1.0];
    }
    let rough = most / 4.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= rough).unwrap_or(rough);
    (0..).map(|n| f64::from(n) * step).take_while(|at| *at < most + step).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
