//! Was the machine ours? How much of it other processes used during a run; and memory that is there before the first one.

use std::fs;

/// More than a run needs.
const TOUCHED_BYTES_MAX: usize = 8 << 30;

/// A virtual machine may get its memory from its host when it is first touched, at a tenth of the speed of memory that has been
/// touched before. So that no run pays for that, some is touched now; the kernel gives out what was freed last.
pub fn touch_memory() {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available =
        text.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.split_whitespace().next());
    let available_kib: usize = available.and_then(|kib| kib.parse().ok()).unwrap_or(0);
    let mut memory: Vec<u8> = Vec::new();
    if memory.try_reserve_exact((available_kib / 2 * 1024).min(TOUCHED_BYTES_MAX)).is_ok() {
        memory.resize(memory.capacity(), 1);
        std::hint::black_box(&memory);
    }
}

/// Clock ticks since boot: all that the cores did, and what our own children did of it.
#[derive(Clone, Copy)]
struct Ticks {
    busy: f64,
    all: f64,
    ours: f64,
}

/// Runs something, and says which share of the machine other processes used meanwhile.
pub fn watched<T, E>(run: impl FnOnce() -> Result<T, E>) -> Result<(T, f64), E> {
    let before = ticks();
    let result = run()?;
    Ok((result, others(before, ticks())))
}

fn others(before: Ticks, after: Ticks) -> f64 {
    let all = (after.all - before.all).max(1.0);
    ((after.busy - before.busy - (after.ours - before.ours)) / all).clamp(0.0, 1.0)
}

/// Where there is no /proc nothing is known.
fn ticks() -> Ticks {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let cpu: Vec<f64> =
        stat.lines().next().unwrap_or("").split_whitespace().skip(1).filter_map(|w| w.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal; the guests after them are in user already.
    let all: f64 = cpu.iter().take(8).sum();
    let idle: f64 = cpu.iter().skip(3).take(2).sum();
    Ticks { busy: all - idle, all, ours: ours() }
}

/// Our own time, and that of the children that have ended with theirs: fields 14 to 17 of our stat line.
fn ours() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or("");
    let fields: Vec<f64> = after_name.split_whitespace().map(|w| w.parse().unwrap_or(0.0)).collect();
    fields.iter().skip(11).take(4).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_we_use_ourselves_does_not_count() {
        let t = |busy, all, ours| Ticks { busy, all, ours };
        assert_eq!(others(t(0.0, 0.0, 0.0), t(150.0, 200.0, 150.0)), 0.0);
        assert_eq!(others(t(0.0, 0.0, 0.0), t(150.0, 200.0, 50.0)), 0.5);
    }
}
