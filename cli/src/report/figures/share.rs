//! What Sago carried out beside what was left to HDF5, in bytes.

use super::{Canvas, LEFT, WIDTH};
use sago_report::{Direction, Report, size_text};

pub fn share(report: &Report) -> String {
    let mut canvas = Canvas::default();
    let mut y = 4.0;
    for (direction, name) in [(Direction::Write, "writes"), (Direction::Read, "reads")] {
        let (captured, passed) = (report.captured(direction), report.passed(direction));
        if captured.count() + passed.count() == 0 {
            continue;
        }
        let (inner, all) = (WIDTH - LEFT, (captured.bytes + passed.bytes).max(1) as f64);
        let split = inner * captured.bytes as f64 / all;
        canvas.text(LEFT - 10.0, y + 15.0, "end", name);
        let calls = |count: u64| if count == 1 { "1 call".to_owned() } else { format!("{count} calls") };
        for (class, who, calls, x, width, ink) in [
            ("c-captured", "Sago", (captured, calls(captured.count())), LEFT, split, "start"),
            ("c-passed", "HDF5", (passed, calls(passed.count())), LEFT + split, inner - split, "end"),
        ] {
            let (of, count) = calls;
            if of.count() == 0 {
                continue;
            }
            let text = format!("{who}: {}, {count}", size_text(of.bytes));
            canvas.rect(class, [x, y, width, 22.0], &text);
            let at = if ink == "start" { LEFT } else { WIDTH };
            canvas.text(at, y + 37.0, ink, &text);
        }
        y += 50.0;
    }
    canvas.finish(WIDTH, y, "what was captured and what was left to HDF5")
}
