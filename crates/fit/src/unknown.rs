//! Values of a scenario that are not known, and the range that each is in.

use anyhow::{Context as _, Result, bail, ensure};
use coax_lab::scenario::{Scenario, parse_size};

/// A name for values that are unknown together, such as the time for a packet in either direction.
#[derive(Clone, Copy, Debug)]
pub struct Usual {
    /// The name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// The scenario's keys; all get the same value.
    pub paths: &'static [&'static str],
    /// The range if none is given: from what an 8088 needs to what a fast machine needs.
    pub range: &'static str,
}

/// Names of common unknown values. Any other key of a scenario can be used with a range.
pub const USUAL: [Usual; 10] = [
    Usual {
        name: "link.rate",
        about: "rate of the network",
        paths: &["link.rate"],
        range: "1 Mbit/s..1 Gbit/s:log",
    },
    Usual {
        name: "link.delay",
        about: "delay of the network, one way",
        paths: &["link.delay"],
        range: "5 us..200 ms:log",
    },
    Usual {
        name: "client.packet",
        about: "work of the client for a packet",
        paths: &[
            "client.machine.rx_data.fixed",
            "client.machine.tx_data.fixed",
            "client.machine.rx_ack.fixed",
            "client.machine.tx_ack.fixed",
        ],
        range: "1 us..10 ms:log",
    },
    Usual {
        name: "client.byte",
        about: "work of the client for a byte of a packet",
        paths: &[
            "client.machine.rx_data.per_byte",
            "client.machine.tx_data.per_byte",
        ],
        range: "1 ns..20 us:log",
    },
    Usual {
        name: "client.request",
        about: "work of the client for a request",
        paths: &["client.machine.request.fixed"],
        range: "5 us..50 ms:log",
    },
    Usual {
        name: "server.packet",
        about: "work of the server for a packet",
        paths: &[
            "server.machine.rx_data.fixed",
            "server.machine.tx_data.fixed",
            "server.machine.rx_ack.fixed",
            "server.machine.tx_ack.fixed",
        ],
        range: "1 us..10 ms:log",
    },
    Usual {
        name: "server.byte",
        about: "work of the server for a byte of a file",
        paths: &["server.machine.request.per_byte"],
        range: "1 ns..20 us:log",
    },
    Usual {
        name: "server.request",
        about: "work of the server for a request",
        paths: &["server.machine.request.fixed"],
        range: "5 us..50 ms:log",
    },
    Usual {
        name: "client.window",
        about: "receive window of the client",
        paths: &["client.stack.receive_window"],
        range: "1460..65535:log",
    },
    Usual {
        name: "server.window",
        about: "receive window of the server",
        paths: &["server.stack.receive_window"],
        range: "1460..65535:log",
    },
];

/// The names that are unknown if none is given.
pub const DEFAULT: [&str; 4] = [
    "client.packet",
    "client.request",
    "server.request",
    "link.delay",
];

/// The unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Time, in seconds.
    Seconds,
    /// Rate, in bit/s.
    BitsPerSecond,
    /// A whole number.
    Whole,
    /// A number.
    Number,
}

impl Unit {
    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::BitsPerSecond => "bit/s",
            Self::Whole | Self::Number => "",
        }
    }
}

const TIMES: [(&str, f64); 5] = [
    ("ps", 1e-12),
    ("ns", 1e-9),
    ("us", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
];
const RATES: [(&str, f64); 4] = [
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("bit/s", 1.0),
];

/// A value, or several that are equal, that is unknown.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// The name in reports.
    pub name: String,
    /// What it is; empty for keys without a name.
    pub about: &'static str,
    /// The unit.
    pub unit: Unit,
    /// The least possible value.
    pub low: f64,
    /// The largest possible value.
    pub high: f64,
    paths: Vec<String>,
    is_logarithmic: bool,
}

impl Unknown {
    /// One of [`USUAL`] with its range.
    ///
    /// # Errors
    /// The name is none of these.
    pub fn usual(name: &str) -> Result<Self> {
        let usual = USUAL.iter().find(|usual| usual.name == name);
        let usual = usual.with_context(|| {
            let names: Vec<&str> = USUAL.iter().map(|usual| usual.name).collect();
            format!(
                "'{name}' needs a range, such as {name}=1..10:log; without one there are {}",
                names.join(", ")
            )
        })?;
        Self::with_range(name, usual.range)
    }

    /// One of [`USUAL`] or a key of a scenario, with a range: `A..B` (evenly) or `A..B:log` (logarithmic). Both ends have a unit;
    /// the first may leave it out.
    ///
    /// # Errors
    /// The range is invalid.
    pub fn with_range(name: &str, range: &str) -> Result<Self> {
        let wrong = || {
            format!(
                "{name}: '{range}' is not a range; write it as A..B or A..B:log, such as 10 us..5 ms:log"
            )
        };
        let (from, rest) = range.split_once("..").with_context(wrong)?;
        let (to, is_logarithmic) = match rest.rsplit_once(':') {
            Some((to, "log")) => (to, true),
            Some(_) => bail!(wrong()),
            None => (rest, false),
        };
        let (high, unit, suffix) = quantity(to.trim()).with_context(wrong)?;
        let from = from.trim();
        let with_suffix = format!("{from} {suffix}");
        let (low, low_unit, _) = quantity(from)
            .filter(|(.., suffix)| !suffix.is_empty())
            .or_else(|| quantity(&with_suffix))
            .with_context(wrong)?;
        ensure!(unit == low_unit || from == "0", wrong());
        ensure!(
            low < high && low.is_finite() && high.is_finite(),
            "{name}: a range goes up; '{range}' does not"
        );
        ensure!(
            low > 0.0 || !is_logarithmic,
            "{name}: a range with :log must start above zero"
        );
        let usual = USUAL.iter().find(|usual| usual.name == name);
        let paths = usual.map_or_else(
            || vec![name.to_owned()],
            |usual| usual.paths.iter().map(|path| (*path).to_owned()).collect(),
        );
        Ok(Self {
            name: name.to_owned(),
            about: usual.map_or("", |usual| usual.about),
            unit,
            low,
            high,
            paths,
            is_logarithmic,
        })
    }

    /// `NAME` or `NAME=RANGE`.
    ///
    /// # Errors
    /// As the two above.
    pub fn parse(text: &str) -> Result<Self> {
        match text.split_once('=') {
            Some((name, range)) => Self::with_range(name.trim(), range.trim()),
            None => Self::usual(text.trim()),
        }
    }

    /// The value at a share of the range, from 0 to 1.
    pub fn at(&self, share: f64) -> f64 {
        let value = match self.is_logarithmic {
            true => (self.low.ln() + (self.high.ln() - self.low.ln()) * share).exp(),
            false => self.low + (self.high - self.low) * share,
        };
        let value = value.clamp(self.low, self.high);
        match self.unit {
            Unit::Whole => value.round(),
            _ => value,
        }
    }

    /// Whether the range is even by factors.
    pub fn is_logarithmic(&self) -> bool {
        self.is_logarithmic
    }

    /// The value as a scenario has it.
    pub fn value(&self, value: f64) -> toml::Value {
        match self.unit {
            Unit::Whole => toml::Value::Integer(value.round() as i64),
            Unit::Number => toml::Value::Float(value),
            Unit::Seconds | Unit::BitsPerSecond => toml::Value::String(self.text(value)),
        }
    }

    /// The value as people read it.
    pub fn text(&self, value: f64) -> String {
        match self.unit {
            Unit::Whole => format!("{value:.0}"),
            Unit::Number => digits(value),
            Unit::Seconds => with_unit(value, &TIMES),
            Unit::BitsPerSecond => with_unit(
                value,
                &[
                    ("bit/s", 1.0),
                    ("kbit/s", 1e3),
                    ("Mbit/s", 1e6),
                    ("Gbit/s", 1e9),
                ],
            ),
        }
    }

    /// Sets the value in a scenario.
    ///
    /// # Errors
    /// The scenario has no such key.
    pub fn set(&self, scenario: &mut Scenario, value: f64) -> Result<()> {
        for path in &self.paths {
            scenario.set(path, self.value(value))?;
        }
        Ok(())
    }
}

/// Four significant digits, without zeros at the end.
fn digits(value: f64) -> String {
    let size = if value == 0.0 {
        0.0
    } else {
        value.abs().log10().floor()
    };
    let places = (3.0 - size).clamp(0.0, 12.0) as usize;
    let text = format!("{value:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// With the largest unit that leaves a number of at least 1. `units` increase.
fn with_unit(value: f64, units: &[(&str, f64)]) -> String {
    let fits = |(_, size): &&(&str, f64)| value >= *size * 0.999_95;
    let (unit, size) = units
        .iter()
        .rev()
        .find(fits)
        .or(units.first())
        .copied()
        .unwrap_or(("", 1.0));
    format!("{} {unit}", digits(value / size))
}

/// The number that is nearest to the written one: 100 times 1e-6 is not 1e-4, but 100 divided by 1e6 is.
fn times(number: f64, size: f64) -> f64 {
    match size < 1.0 {
        true => number / size.recip().round(),
        false => number * size,
    }
}

/// A number with its unit, and the unit as it is written.
fn quantity(text: &str) -> Option<(f64, Unit, &str)> {
    if let Ok(number) = text.trim().parse::<f64>() {
        let unit = match number.fract() == 0.0 && !text.contains(['.', 'e', 'E']) {
            true => Unit::Whole,
            false => Unit::Number,
        };
        return Some((number, unit, ""));
    }
    let scaled = |units: &[(&'static str, f64)]| {
        let found = units.iter().find_map(|(suffix, size)| {
            let number: f64 = text.strip_suffix(suffix)?.trim().parse().ok()?;
            Some((times(number, *size), *suffix))
        });
        found.filter(|(value, _)| *value >= 0.0)
    };
    if let Some((value, suffix)) = scaled(&RATES) {
        return Some((value, Unit::BitsPerSecond, suffix));
    }
    if let Some((value, suffix)) = scaled(&TIMES) {
        return Some((value, Unit::Seconds, suffix));
    }
    let at = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let bytes = parse_size(text).ok()? as f64;
    Some((bytes, Unit::Whole, text.get(at..)?.trim()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_range_are_the_numbers_that_were_written() {
        let unknown = Unknown::with_range("x", "100 us..10 ms:log").unwrap();
        assert_eq!((unknown.low, unknown.high), (1e-4, 1e-2));
    }

    #[test]
    fn a_range_has_a_unit_and_its_middle_is_that_of_its_scale() {
        for (range, unit, share, text) in [
            ("10 us..1 ms:log", Unit::Seconds, 0.5, "100 us"),
            ("0..60 ms", Unit::Seconds, 0.5, "30 ms"),
            ("0.5 ns..2 ns", Unit::Seconds, 0.0, "500 ps"),
            ("1..100 Mbit/s:log", Unit::BitsPerSecond, 0.5, "10 Mbit/s"),
            ("1..5", Unit::Whole, 0.5, "3"),
            ("1kB..4kB:log", Unit::Whole, 0.5, "2000"),
            ("0.5..1.5", Unit::Number, 0.5, "1"),
        ] {
            let unknown = Unknown::with_range("x", range).unwrap();
            assert_eq!(unknown.unit, unit, "{range}");
            assert_eq!(unknown.text(unknown.at(share)), text, "{range}");
        }
    }

    #[test]
    fn what_is_no_range_is_refused_with_the_form() {
        for (range, words) in [
            ("10", "is not a range"),
            ("10 us..5", "is not a range"),
            ("5 ms..1 us", "goes up"),
            ("0..5 ms:log", "above zero"),
            ("a..b", "is not a range"),
            ("1..2:cubic", "is not a range"),
            ("1 us..2 Mbit/s", "is not a range"),
            ("-5..nan", "is not a range"),
        ] {
            let error = format!("{:#}", Unknown::with_range("x", range).unwrap_err());
            assert!(error.contains(words), "{range}: {error}");
        }
        let error = Unknown::usual("link.colour").unwrap_err().to_string();
        assert!(error.contains("needs a range") && error.contains("client.packet"));
    }

    #[test]
    fn every_usual_name_sets_values_that_a_scenario_accepts_at_both_ends() {
        for usual in USUAL {
            let unknown = Unknown::usual(usual.name).unwrap();
            for share in [0.0, 0.37, 1.0] {
                let mut scenario = Scenario::new("test");
                unknown.set(&mut scenario, unknown.at(share)).unwrap();
                scenario.resolve().unwrap();
            }
        }
        assert!(DEFAULT.iter().all(|name| Unknown::usual(name).is_ok()));
    }
}
