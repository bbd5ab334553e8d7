//! What the doctor found, each with the line that fixes it.

use serde_json::{Value, json};
use std::fmt::Write as _;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Fine,
    Note,
    Problem,
}

struct Finding {
    about: &'static str,
    level: Level,
    what: String,
    fix: String,
}

#[derive(Default)]
pub struct Findings(Vec<Finding>);

impl Findings {
    pub fn fine(&mut self, about: &'static str, what: impl Into<String>) {
        self.add(about, Level::Fine, what.into(), String::new());
    }

    pub fn note(&mut self, about: &'static str, what: impl Into<String>) {
        self.add(about, Level::Note, what.into(), String::new());
    }

    pub fn problem(&mut self, about: &'static str, what: impl Into<String>, fix: impl Into<String>) {
        self.add(about, Level::Problem, what.into(), fix.into());
    }

    fn add(&mut self, about: &'static str, level: Level, what: String, fix: String) {
        self.0.push(Finding { about, level, what, fix });
    }

    pub fn problems(&self) -> usize {
        self.0.iter().filter(|f| f.level == Level::Problem).count()
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        for Finding { about, level, what, fix } in &self.0 {
            let word = match level {
                Level::Fine => "ok",
                Level::Note => "note",
                Level::Problem => "PROBLEM",
            };
            let what = what.trim_end().replace('\n', &format!("\n{:22}", ""));
            let _ = writeln!(text, "{about:<13}{word:<9}{what}");
            if !fix.is_empty() {
                let _ = writeln!(text, "{:13}{:<9}{fix}", "", "fix:");
            }
        }
        match self.problems() {
            0 => text += "\nAll is well.\n",
            1 => text += "\n1 problem.\n",
            n => {
                let _ = write!(text, "\n{n} problems.\n");
            }
        }
        text
    }

    pub fn json(&self) -> Value {
        let finding = |f: &Finding| {
            json!({
                "about": f.about,
                "level": format!("{:?}", f.level).to_lowercase(),
                "what": f.what,
                "fix": if f.fix.is_empty() { Value::Null } else { json!(f.fix) },
            })
        };
        self.0.iter().map(finding).collect()
    }
}
