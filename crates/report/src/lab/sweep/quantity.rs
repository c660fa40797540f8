//! Values with units.

use coax_lab::scenario::parse_size;

/// Units of time in seconds.
const TIMES: [(&str, f64); 5] = [
    ("ps", 1e12),
    ("ns", 1e9),
    ("us", 1e6),
    ("ms", 1e3),
    ("s", 1.0),
];

/// Units of rate in bits per second.
const RATES: [(&str, f64); 4] = [
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("bit/s", 1.0),
];

/// Units of plain numbers by the suffix of the key.
const COUNTED: [(&str, &str); 10] = [
    ("receive_window", "bytes"),
    ("send_buffer", "bytes"),
    ("mss", "bytes"),
    ("max_buffer", "bytes"),
    ("block", "bytes"),
    ("size", "bytes"),
    ("_bytes", "bytes"),
    ("tx_ring", "frames"),
    ("rx_ring", "frames"),
    ("_segments", "segments"),
];

/// A number and its unit: `s`, `bit_per_s`, `bytes`, `frames`, `segments`, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// The number.
    pub value: f64,
    /// The unit; empty if unknown.
    pub unit: &'static str,
}

impl Quantity {
    /// The quantity of a key's value, if it is a number.
    pub fn of(key: &str, text: &str) -> Option<Self> {
        if let Ok(value) = text.parse::<f64>() {
            let ending = COUNTED.iter().find(|(ending, _)| key.ends_with(ending));
            let unit = ending.map_or("", |(_, unit)| *unit);
            return value.is_finite().then_some(Self { value, unit });
        }
        let number = |suffix: &str| text.strip_suffix(suffix)?.trim().parse::<f64>().ok();
        let time = |(suffix, parts): &(&str, f64)| Some(number(suffix)? / parts);
        if let Some(value) = TIMES.iter().find_map(time) {
            return Some(Self { value, unit: "s" });
        }
        let rate = |(suffix, bits): &(&str, f64)| Some(number(suffix)? * bits);
        if let Some(value) = RATES.iter().find_map(rate) {
            let unit = "bit_per_s";
            return Some(Self { value, unit });
        }
        let size = text.ends_with('B').then(|| parse_size(text).ok())??;
        let value = size as f64;
        Some(Self {
            value,
            unit: "bytes",
        })
    }
}

/// Formats a value as in its source.
pub fn shown(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The name of a key's column: with its unit.
pub fn column_name(key: &str, unit: &str) -> String {
    let suffix = format!("_{unit}");
    match unit {
        "" => key.to_owned(),
        _ if key.ends_with(&suffix) => key.to_owned(),
        _ => format!("{key}{suffix}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_its_unit_in_its_name() {
        for (key, text, name, value) in [
            ("link.delay", "10 us", "link.delay_s", 0.00001),
            ("link.rate", "10 Mbit/s", "link.rate_bit_per_s", 1e7),
            ("size", "42000000", "size_bytes", 42e6),
            ("size", "1MB", "size_bytes", 1e6),
            ("link.queue_bytes", "5", "link.queue_bytes", 5.0),
            (
                "client.card.tx_ring",
                "9",
                "client.card.tx_ring_frames",
                9.0,
            ),
            ("seed", "1", "seed", 1.0),
            ("x.per_byte", "500 ps", "x.per_byte_s", 5e-10),
        ] {
            let quantity = Quantity::of(key, text).unwrap_or(Quantity {
                value: 0.0,
                unit: "?",
            });
            assert_eq!(column_name(key, quantity.unit), name);
            assert!(
                (quantity.value / value - 1.0).abs() < 1e-12,
                "{key}: {quantity:?}"
            );
        }
        assert_eq!(Quantity::of("client.stack", "nt-4"), None);
    }
}
