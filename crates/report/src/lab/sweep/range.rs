//! Ranges of values.

use anyhow::{Context as _, Result, anyhow, bail, ensure};

use super::quantity::Quantity;

/// Maximum number of values of a key.
pub const MAX_VALUES: usize = 10_000;

const FORMS: &str = "allowed are A..B (evenly), A..B:log (logarithmic) and values with commas between them, such as \
                     link.delay=0..60 ms, link.rate=1..100 Mbit/s:log or client=wfw-3.11,windows-98";

/// A range that samples are taken from.
#[derive(Clone, Debug)]
pub struct Range {
    from: f64,
    to: f64,
    unit: String,
    is_whole: bool,
    is_logarithmic: bool,
}

impl Range {
    /// Parses `A..B` or `A..B:log`; `None` if it is not meant to be a range.
    ///
    /// # Errors
    /// The text is invalid; the error names the allowed forms.
    pub fn parse(text: &str) -> Result<Option<Self>> {
        let Some((from, rest)) = text.split_once("..") else {
            return Ok(None);
        };
        let (to, is_logarithmic) = match rest.rsplit_once(':') {
            Some((to, "log")) => (to, true),
            Some((_, other)) => bail!("`:{other}` is not possible after a sampled range; {FORMS}"),
            None => (rest, false),
        };
        let (from, to, unit) = ends(from.trim(), to.trim()).with_context(|| FORMS)?;
        ensure!(
            from > 0.0 || !is_logarithmic,
            "a range with :log must start above zero"
        );
        Ok(Some(Self {
            is_whole: from.fract() == 0.0 && to.fract() == 0.0,
            from,
            to,
            unit,
            is_logarithmic,
        }))
    }

    /// The value at a share of the range, from 0 to less than 1. Whole numbers without a unit are equally likely.
    pub fn at(&self, share: f64) -> toml::Value {
        let is_counted = self.is_whole && self.unit.is_empty();
        let (from, to) = match is_counted {
            // each number has an interval of its own
            true => (self.from - 0.5, self.to + 0.5),
            false => (self.from, self.to),
        };
        let point = match self.is_logarithmic {
            true => (from.ln() + (to.ln() - from.ln()) * share).exp(),
            false => from + (to - from) * share,
        };
        let point = match is_counted {
            true => point.round().clamp(self.from, self.to),
            false => point,
        };
        value(point, &self.unit, self.is_whole)
    }

    /// Its ends, as values.
    pub fn ends(&self) -> Vec<toml::Value> {
        let ends = [self.from, self.to];
        ends.map(|end| value(end, &self.unit, self.is_whole)).into()
    }

    /// Whether its values are evenly distributed by factors.
    pub fn is_logarithmic(&self) -> bool {
        self.is_logarithmic
    }
}

/// The ends of a range and their common unit.
fn ends(from: &str, to: &str) -> Result<(f64, f64, String)> {
    let number = |text: &str| {
        let digits = text.find(|c: char| !(c.is_ascii_digit() || ".+-".contains(c)));
        let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
        let number: Option<f64> = number.parse().ok();
        let number = number.with_context(|| format!("`{text}` is not a number"))?;
        Ok::<_, anyhow::Error>((number, unit.trim().to_owned()))
    };
    let ((from, from_unit), (to, unit)) = (number(from)?, number(to)?);
    ensure!(
        from_unit == unit || from_unit.is_empty(),
        "both ends of a range are of one unit, not {from_unit} and {unit}"
    );
    ensure!(from < to, "a range goes up; {from} to {to} does not");
    Ok((from, to, unit))
}

/// `count` values from one end to the other.
pub(super) fn evenly(from: &str, to: &str, count: &str) -> Result<Vec<toml::Value>> {
    let allowed = format!("`{count}` is not a number of values; allowed is 2 to {MAX_VALUES}");
    let count: usize = count.parse().map_err(|_| anyhow!(allowed.clone()))?;
    ensure!((2..=MAX_VALUES).contains(&count), allowed);
    let (from, to, unit) = ends(from, to)?;
    let step = (to - from) / (count - 1) as f64;
    let points: Vec<f64> = (0..count).map(|at| from + step * at as f64).collect();
    let is_whole = from.fract() == 0.0 && to.fract() == 0.0;
    Ok(values(&points, &unit, is_whole))
}

/// Values from one end on, each `factor` times the one before.
pub(super) fn by_factors(from: &str, to: &str, factor: &str) -> Result<Vec<toml::Value>> {
    let allowed = format!("`{factor}` is not a factor; allowed is a number of more than 1");
    let factor: f64 = factor.parse().map_err(|_| anyhow!(allowed.clone()))?;
    ensure!(factor > 1.0 && factor.is_finite(), allowed);
    let (from, to, unit) = ends(from, to)?;
    ensure!(from > 0.0, "a range with factors must start above zero");
    let next = |at: &f64| Some(at * factor);
    let points: Vec<f64> = std::iter::successors(Some(from), next)
        .take_while(|at| *at <= to * (1.0 + 1e-9))
        .take(MAX_VALUES + 1)
        .collect();
    let is_whole = from.fract() == 0.0 && to.fract() == 0.0;
    Ok(values(&points, &unit, is_whole))
}

fn values(points: &[f64], unit: &str, is_whole: bool) -> Vec<toml::Value> {
    let points = points.iter();
    let mut values: Vec<toml::Value> = points.map(|point| value(*point, unit, is_whole)).collect();
    values.dedup();
    values
}

/// A point of a range as a value. Sizes and numbers without a unit are integers if the range's ends are.
fn value(point: f64, unit: &str, is_whole: bool) -> toml::Value {
    let size = match unit {
        "B" => Some(1.0),
        "kB" => Some(1e3),
        "MB" => Some(1e6),
        "GB" => Some(1e9),
        "KiB" => Some(1024.0),
        "MiB" => Some(1_048_576.0),
        "GiB" => Some(1_073_741_824.0),
        _ => None,
    };
    match size {
        Some(_) if point.fract() == 0.0 => toml::Value::String(format!("{point}{unit}")),
        Some(factor) => toml::Value::Integer((point * factor).round() as i64),
        None if unit.is_empty() && is_whole => toml::Value::Integer(point.round() as i64),
        None if unit.is_empty() => toml::Value::Float(point),
        // removes rounding errors of the arithmetic
        None => toml::Value::String(format!("{} {unit}", (point * 1e9).round() / 1e9)),
    }
}

/// Whether all values of a key are numbers, and their unit.
pub(super) fn unit_of(key: &str, texts: &[String]) -> Option<&'static str> {
    let mut units = texts.iter().map(|text| Some(Quantity::of(key, text)?.unit));
    let first = units.next()??;
    units.all(|unit| unit == Some(first)).then_some(first)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::lab::sweep::quantity::shown;

    fn at(text: &str, shares: &[f64]) -> String {
        let range = Range::parse(text).unwrap().unwrap();
        let values = shares.iter().map(|share| shown(&range.at(*share)));
        values.collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn a_share_of_a_range_is_a_value_of_it() {
        let ends = [0.0, 0.5, 0.999_999];
        assert_eq!(at("0..60 ms", &ends), "0 ms | 30 ms | 59.99994 ms");
        assert_eq!(at("1 ms..100 ms:log", &[0.0, 0.5]), "1 ms | 10 ms");
        assert_eq!(
            at("1..4", &[0.0, 0.24, 0.26, 0.5, 0.99]),
            "1 | 1 | 2 | 3 | 4"
        );
        assert_eq!(at("1..3:log", &[0.0, 0.999_999]), "1 | 3");
        assert_eq!(at("0.5..1", &[0.5]), "0.75");
        assert_eq!(at("1..2MB", &[0.0, 0.25]), "1MB | 1250000");
        assert!(Range::parse("a,b").unwrap().is_none());
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for (text, words) in [
            (
                "0..5:3",
                "`:3` is not possible after a sampled range; allowed are A..B",
            ),
            ("0..5:log", "above zero"),
            ("5..1", "goes up"),
            ("x..1", "`x` is not a number"),
            ("1 s..5 ms", "one unit, not s and ms"),
        ] {
            let error = format!("{:#}", Range::parse(text).unwrap_err());
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
