//! Numbers for people.

use std::time::Duration;

/// Formats a number as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len().saturating_add(digits.len() / 3));
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && digits.len().saturating_sub(place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `4.20 MB`, in powers of ten.
pub fn size(bytes: u64) -> String {
    let value = bytes as f64;
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", value / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} MB", value / 1e6),
        _ => format!("{:.2} GB", value / 1e9),
    }
}

/// `11.2 MB/s`.
pub fn rate(bytes: u64, time: Duration) -> String {
    let per_second = bytes as f64 / time.as_secs_f64().max(1e-6);
    if per_second < 1e5 {
        format!("{:.1} kB/s", per_second / 1e3)
    } else {
        format!("{:.1} MB/s", per_second / 1e6)
    }
}

/// `0.4 s`, `3:07`, `1:02:03`.
pub fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        60..3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!(
            "{}:{:02}:{:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        ),
    }
}

/// `1 file`, `2 files`.
pub fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(number as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups_of_three() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (42_000_000, "42,000,000"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn sizes_have_three_digits_and_a_unit() {
        for (bytes, text) in [
            (7, "7 bytes"),
            (1_500, "1.5 kB"),
            (42_000_000, "42.00 MB"),
            (46_860_000_000, "46.86 GB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn times_rates_and_counts_are_legible() {
        let seconds = [0.42, 187.0, 3723.0].map(|s| span(Duration::from_secs_f64(s)));
        assert_eq!(seconds, ["0.4 s", "3:07", "1:02:03"]);
        assert_eq!(rate(11_200_000, Duration::from_secs(1)), "11.2 MB/s");
        assert_eq!(rate(14_300, Duration::from_secs(1)), "14.3 kB/s");
        assert_eq!(
            (count(1, "file"), count(0, "file")),
            ("1 file".into(), "0 files".into())
        );
    }
}
