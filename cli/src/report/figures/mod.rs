//! The pictures of a report, as SVG whose colours are classes of the page's style: so they follow light and dark.

mod heat;
mod machine;
mod phases;
mod share;
mod timeline;

pub use heat::heat;
pub use machine::machine;
pub use phases::{PHASES, phases};
pub use share::share;
pub use timeline::timeline;

use std::fmt::Write;

const WIDTH: f64 = 1000.0;
/// Of a picture that has one beside it.
const HALF: f64 = 480.0;
/// Room for the names of rows.
const LEFT: f64 = 96.0;

#[derive(Default)]
struct Canvas {
    body: String,
}

impl Canvas {
    /// `title` shows when the pointer rests on it.
    fn rect(&mut self, class: &str, [x, y, width, height]: [f64; 4], title: &str) {
        let _ = write!(
            self.body,
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{:.1}" height="{:.1}">"#,
            width.max(0.6),
            height.max(0.6)
        );
        self.title(title);
        self.body.push_str("</rect>");
    }

    fn dot(&mut self, class: &str, [x, y, radius]: [f64; 3], title: &str) {
        let _ = write!(self.body, r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}">"#);
        self.title(title);
        self.body.push_str("</circle>");
    }

    fn line(&mut self, class: &str, [x1, y1, x2, y2]: [f64; 4]) {
        let _ = write!(
            self.body,
            r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
        );
    }

    /// `anchor` is `start`, `middle` or `end`.
    fn text(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        let text = escape(text);
        let _ = write!(self.body, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#);
    }

    fn title(&mut self, title: &str) {
        if !title.is_empty() {
            let _ = write!(self.body, "<title>{}</title>", escape(title));
        }
    }

    /// What the colours mean, from `x` on.
    fn legend(&mut self, mut x: f64, y: f64, entries: &[(&str, &str)]) {
        for (class, meaning) in entries {
            self.rect(class, [x, y - 9.0, 11.0, 11.0], "");
            self.text(x + 16.0, y, "start", meaning);
            x += 34.0 + 6.4 * meaning.len() as f64;
        }
    }

    fn finish(self, width: f64, height: f64, label: &str) -> String {
        let (body, label) = (self.body, escape(label));
        format!(r#"<svg viewBox="0 0 {width:.0} {height:.0}" role="img" aria-label="{label}">{body}</svg>"#)
    }
}

pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
