//! Numbers for people.

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

#[cfg(test)]
mod tests {
    use super::{grouped, size};

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
}
