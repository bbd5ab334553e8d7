//! Numbers with units, read and printed in one normal form: `16MiB`, `1.8GB/s`, `600ns`.

const SIZES: &[(&str, u64)] = &[
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1000),
    ("KB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];
const RATES: &[(&str, f64)] = &[
    ("B/s", 1.0),
    ("kB/s", 1e3),
    ("MB/s", 1e6),
    ("GB/s", 1e9),
    ("TB/s", 1e12),
    ("kbit/s", 125.0),
    ("Mbit/s", 125e3),
    ("Gbit/s", 125e6),
];
const TIMES: &[(&str, f64)] = &[("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];

/// A number of bytes: `4096`, `16MiB`, `1.5GB`. A fraction of a byte is refused.
pub fn size_bytes(text: &str) -> Option<u64> {
    if let Ok(bytes) = text.parse() {
        return Some(bytes);
    }
    let (number, unit) = split_unit(text)?;
    let scale = SIZES.iter().find(|(name, _)| *name == unit)?.1;
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(scale);
    }
    let bytes = decimal(number)? * scale as f64;
    ((1.0..1e18).contains(&bytes) && bytes.fract() == 0.0).then_some(bytes as u64)
}

pub fn size_bytes_text(bytes: u64) -> String {
    let binary = SIZES[1..5].iter().rev().find(|(_, scale)| bytes >= *scale && bytes.is_multiple_of(*scale));
    match binary {
        Some((unit, scale)) => format!("{}{unit}", bytes / scale),
        None => format!("{bytes}B"),
    }
}

/// A rate: `1.8GB/s`, `400Mbit/s`.
pub fn bytes_per_s(text: &str) -> Option<f64> {
    with_unit(text, RATES)
}

pub fn bytes_per_s_text(rate: f64) -> String {
    text_with_unit(rate, &RATES[..5])
}

/// A time: `600ns`, `1.5us`.
pub fn duration_s(text: &str) -> Option<f64> {
    with_unit(text, TIMES)
}

pub fn duration_s_text(seconds: f64) -> String {
    text_with_unit(seconds, TIMES)
}

/// Whole numbers and ranges of them: `3,9,12-15`.
pub fn count_list(text: &str) -> Option<Vec<u32>> {
    const LONGEST: u32 = 1 << 20;
    let mut all = Vec::new();
    for part in text.split(',') {
        let (from, to): (u32, u32) = match part.split_once('-') {
            Some((from, to)) => (from.parse().ok()?, to.parse().ok()?),
            None => (part.parse().ok()?, part.parse().ok()?),
        };
        if to < from || to - from >= LONGEST {
            return None;
        }
        all.extend(from..=to);
    }
    Some(all)
}

fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (number, unit) = split_unit(text)?;
    let scale = units.iter().find(|(name, _)| *name == unit)?.1;
    let value = decimal(number)? * scale;
    (value.is_finite() && value > 0.0).then_some(value)
}

fn text_with_unit(value: f64, units: &[(&str, f64)]) -> String {
    let (unit, scale) = units.iter().rev().find(|(_, scale)| value >= *scale * 0.9995).unwrap_or(&units[0]);
    // Six significant digits: enough for any machine, and what is printed reads back as itself.
    let number = value / scale;
    let digits = (5 - number.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let printed = format!("{number:.digits$}");
    let printed =
        if printed.contains('.') { printed.trim_end_matches('0').trim_end_matches('.') } else { &printed };
    format!("{printed}{unit}")
}

fn split_unit(text: &str) -> Option<(&str, &str)> {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    (at > 0).then(|| text.split_at(at))
}

fn decimal(text: &str) -> Option<f64> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_printed() {
        for (text, bytes) in
            [("16MiB", 16 << 20), ("4096", 4096), ("1.5kB", 1500), ("1GB", 1_000_000_000), ("7B", 7)]
        {
            assert_eq!(size_bytes(text), Some(bytes));
            assert_eq!(size_bytes(&size_bytes_text(bytes)), Some(bytes));
        }
        for wrong in ["", "MiB", "16 MiB", "-1", "1.5", "16Mib", "99999999999TiB", "0.3B", "1e3"] {
            assert_eq!(size_bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn rates_and_times_have_one_normal_form() {
        for (text, normal) in [("1.8GB/s", "1.8GB/s"), ("400Mbit/s", "50MB/s"), ("12500MB/s", "12.5GB/s")] {
            assert_eq!(bytes_per_s_text(bytes_per_s(text).unwrap()), normal);
        }
        for (text, normal) in [("600ns", "600ns"), ("0.6us", "600ns"), ("1000us", "1ms"), ("2s", "2s")] {
            assert_eq!(duration_s_text(duration_s(text).unwrap()), normal);
        }
        assert_eq!(bytes_per_s("0GB/s"), None);
        assert_eq!(bytes_per_s("5"), None);
    }

    #[test]
    fn lists_have_ranges() {
        assert_eq!(count_list("3,9,12-14"), Some(vec![3, 9, 12, 13, 14]));
        for wrong in ["", "3,", "4-2", "a", "0-4294967295"] {
            assert_eq!(count_list(wrong), None, "{wrong}");
        }
    }
}
