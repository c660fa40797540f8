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

/// A column of a key's values: its name with the unit, and numbers if all values are numbers.
pub fn column(key: &str, texts: &[String]) -> (String, Vec<String>) {
    let quantities: Option<Vec<Quantity>> =
        texts.iter().map(|text| Quantity::of(key, text)).collect();
    let unit = quantities
        .as_ref()
        .and_then(|all| all.first())
        .map_or("", |first| first.unit);
    match quantities {
        Some(all) if all.iter().all(|quantity| quantity.unit == unit) => {
            let suffix = format!("_{unit}");
            let name = match unit {
                "" => key.to_owned(),
                _ if key.ends_with(&suffix) => key.to_owned(),
                _ => format!("{key}{suffix}"),
            };
            (
                name,
                all.iter()
                    .map(|quantity| quantity.value.to_string())
                    .collect(),
            )
        }
        _ => (key.to_owned(), texts.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_its_unit_in_its_name_and_one_kind_of_value() {
        let column_text = |key: &str, texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            let (name, values) = column(key, &texts);
            format!("{name}: {}", values.join(" "))
        };
        assert_eq!(
            column_text("link.delay", &["0 ms", "10 us"]),
            "link.delay_s: 0 0.00001"
        );
        assert_eq!(
            column_text("link.rate", &["10 Mbit/s"]),
            "link.rate_bit_per_s: 10000000"
        );
        assert_eq!(
            column_text("size", &["42000000", "1MB"]),
            "size_bytes: 42000000 1000000"
        );
        assert_eq!(
            column_text("link.queue_bytes", &["5"]),
            "link.queue_bytes: 5"
        );
        assert_eq!(
            column_text("client.card.tx_ring", &["9"]),
            "client.card.tx_ring_frames: 9"
        );
        assert_eq!(column_text("seed", &["1", "2"]), "seed: 1 2");
        assert_eq!(column_text("a", &["1", "2 s"]), "a: 1 2 s");
        assert_eq!(column_text("client.stack", &["nt-4"]), "client.stack: nt-4");
        assert_eq!(
            column_text("x.per_byte", &["500 ps"]),
            "x.per_byte_s: 0.0000000005"
        );
    }
}
