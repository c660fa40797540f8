//! Quantities as people write them in data files: `"300 ms"`, `"0.12 us"`, `"45 Mbit/s"`.

use alloc::{format, string::String};

use coax_wire::time::Span;
use serde::{Deserialize, Deserializer, de::Error};

/// The cost of a packet or request: a fixed part, and a part per byte in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cost {
    /// For each one, however small.
    #[serde(deserialize_with = "span")]
    pub fixed: Span,
    /// For each byte of it, in picoseconds.
    #[serde(rename = "per_byte", deserialize_with = "picoseconds")]
    pub per_byte_ps: u64,
}

impl Cost {
    /// So much for each, and nothing for its bytes.
    pub const fn fixed(span: Span) -> Self {
        Self {
            fixed: span,
            per_byte_ps: 0,
        }
    }

    /// The cost of one with `bytes`.
    pub const fn of(self, bytes: u64) -> Span {
        let variable = self.per_byte_ps.saturating_mul(bytes) / 1000;
        Span(self.fixed.0.saturating_add(variable))
    }

    /// Nothing costs anything.
    pub const fn is_zero(self) -> bool {
        self.fixed.0 == 0 && self.per_byte_ps == 0
    }
}

const SPANS: [(&str, f64); 5] = [
    ("ns", 1e3),
    ("us", 1e6),
    ("ms", 1e9),
    ("ps", 1.0),
    ("s", 1e12),
];
const RATES: [(&str, f64); 4] = [
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("bit/s", 1.0),
];

fn quantity(text: &str, units: &[(&str, f64)]) -> Result<u64, String> {
    let allowed = || {
        let names: alloc::vec::Vec<&str> = units.iter().map(|(name, _)| *name).collect();
        format!(
            "`{text}` is not a quantity: write a number and one of {}",
            names.join(", ")
        )
    };
    let (number, factor) = units
        .iter()
        .find_map(|(name, factor)| Some((text.strip_suffix(name)?, *factor)))
        .ok_or_else(allowed)?;
    let value: f64 = number.trim().parse().map_err(|_| allowed())?;
    let scaled = value * factor;
    if !(0.0..1.8e19).contains(&scaled) {
        return Err(format!("`{text}` is out of range"));
    }
    // to the nearest whole unit, without std's `round`
    Ok((scaled + 0.5) as u64)
}

/// A span of time, from a number and `ps`, `ns`, `us`, `ms` or `s`.
///
/// # Errors
/// The problem and the allowed units.
pub fn parse_span(text: &str) -> Result<Span, String> {
    Ok(Span(quantity(text, &SPANS)? / 1000))
}

/// Bits a second, from a number and `bit/s`, `kbit/s`, `Mbit/s` or `Gbit/s`.
///
/// # Errors
/// The problem and the allowed units; a rate of zero is an error.
pub fn parse_rate(text: &str) -> Result<u64, String> {
    match quantity(text, &RATES)? {
        0 => Err(format!("`{text}`: the rate must not be zero")),
        rate => Ok(rate),
    }
}

/// A text; a bare number lacks its unit.
fn with_unit<'de, D: Deserializer<'de>>(from: D, example: &str) -> Result<String, D::Error> {
    match toml::Value::deserialize(from)? {
        toml::Value::String(text) => Ok(text),
        other => Err(D::Error::custom(format!(
            "`{other}` is not a quantity: write a number and its unit, such as \"{example}\""
        ))),
    }
}

pub(crate) fn span<'de, D: Deserializer<'de>>(from: D) -> Result<Span, D::Error> {
    parse_span(&with_unit(from, "31 ms")?).map_err(D::Error::custom)
}

pub(crate) fn picoseconds<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    quantity(&with_unit(from, "120 ns")?, &SPANS).map_err(D::Error::custom)
}

pub(crate) fn rate<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    parse_rate(&with_unit(from, "45 Mbit/s")?).map_err(D::Error::custom)
}

pub(crate) fn some_rate<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    rate(from).map(Some)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_written_with_their_unit() {
        assert_eq!(parse_span("300 ms").unwrap(), Span::from_millis(300));
        assert_eq!(parse_span("6.88ms").unwrap(), Span(6_880_000));
        assert_eq!(parse_span("0.12 us").unwrap(), Span(120));
        assert_eq!(parse_span("54925 us").unwrap(), Span(54_925_000));
        assert!(parse_span("300").unwrap_err().contains("one of ns, us, ms"));
        assert!(parse_span("-1 ms").is_err());
    }

    #[test]
    fn rates_are_written_with_their_unit_and_none_is_zero() {
        assert_eq!(parse_rate("45 Mbit/s").unwrap(), 45_000_000);
        assert_eq!(parse_rate("56 kbit/s").unwrap(), 56_000);
        assert!(parse_rate("0 Mbit/s").unwrap_err().contains("zero"));
        assert!(parse_rate("10 MB/s").is_err());
    }

    #[test]
    fn a_cost_has_a_part_for_each_byte() {
        let cost = Cost {
            fixed: Span(1_100_000),
            per_byte_ps: 120_000,
        };
        assert_eq!(cost.of(4292), Span(1_100_000 + 515_040));
    }
}
