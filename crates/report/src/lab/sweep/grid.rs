//! The grid of a sweep: keys and their values.

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use coax_lab::scenario::parse_value;

use super::quantity::{Quantity, shown};

/// Maximum number of runs of one sweep.
pub const MAX_RUNS: usize = 10_000;

const FORMS: &str = "allowed are values with commas between them, A..B:N (N values from A to B, evenly) and A..B*F \
                     (from A, each F times the one before), such as link.delay=0 ms,10 ms,62 ms, link.delay=0..60 ms:7 \
                     or client.stack.receive_window=2920..46720*2";

/// A key and its values.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The key as given.
    pub key: String,
    /// The argument or file that contains it, for error messages.
    pub from: String,
    /// Its values, in grid order.
    pub values: Vec<toml::Value>,
}

impl Axis {
    /// Parses `KEY=V1,V2,…`, `KEY=A..B:N` or `KEY=A..B*F`.
    ///
    /// # Errors
    /// The text is invalid; the error names the allowed forms.
    pub fn parse(argument: &str) -> Result<Self> {
        let from = format!("--grid {argument}");
        let (key, text) = argument
            .split_once('=')
            .with_context(|| format!("{from} is not KEY=VALUES; {FORMS}"))?;
        Self::new(key.trim(), &from, listed(text.trim()))
    }

    /// Reads a key of a scenario's `[sweep]`: a list, or a text as on the command line.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse).
    pub fn from_file(file: &str, key: &str, value: &toml::Value) -> Result<Self> {
        let values = match value {
            toml::Value::Array(values) => Ok(values.clone()),
            toml::Value::String(text) => listed(text),
            other => Err(anyhow!(
                "expected a list or a text, not {}; {FORMS}",
                other.type_str()
            )),
        };
        Self::new(key, &format!("{file}: sweep.{key}"), values)
    }

    fn new(key: &str, from: &str, values: Result<Vec<toml::Value>>) -> Result<Self> {
        let values = values.with_context(|| from.to_owned())?;
        ensure!(!key.is_empty(), "{from} is not KEY=VALUES; {FORMS}");
        ensure!(
            !values.is_empty(),
            "{from}: {key} has no values; write at least one"
        );
        for (at, value) in values.iter().enumerate() {
            let twice = values.iter().take(at).any(|other| other == value);
            ensure!(!twice, "{from}: {key} has {} twice", shown(value));
        }
        Ok(Self {
            key: key.to_owned(),
            from: from.to_owned(),
            values,
        })
    }

    /// Its values as numbers, if all are numbers of one unit.
    pub fn numbers(&self) -> Option<(Vec<f64>, &'static str)> {
        let quantities: Option<Vec<Quantity>> = self
            .values
            .iter()
            .map(|value| Quantity::of(&self.key, &shown(value)))
            .collect();
        let quantities = quantities?;
        let unit = quantities.first()?.unit;
        let same = quantities.iter().all(|quantity| quantity.unit == unit);
        same.then(|| {
            (
                quantities.iter().map(|quantity| quantity.value).collect(),
                unit,
            )
        })
    }
}

/// Number of runs of these axes.
///
/// # Errors
/// There are no runs, too many, or a duplicate key.
pub fn runs(axes: &[Axis]) -> Result<usize> {
    ensure!(
        !axes.is_empty(),
        "nothing is to be varied: give --grid KEY=VALUES or a table [sweep] in the scenario; {FORMS}"
    );
    for (at, axis) in axes.iter().enumerate() {
        let twice = axes.iter().take(at).any(|other| other.key == axis.key);
        ensure!(!twice, "{}: {} is varied twice", axis.from, axis.key);
    }
    let runs = axes
        .iter()
        .try_fold(1_usize, |runs, axis| runs.checked_mul(axis.values.len()))
        .unwrap_or(usize::MAX);
    let sizes: Vec<String> = axes
        .iter()
        .map(|axis| format!("{} values of {}", axis.values.len(), axis.key))
        .collect();
    ensure!(
        runs <= MAX_RUNS,
        "{} make more runs than the {MAX_RUNS} of one sweep; fewer values, or several sweeps",
        sizes.join(" × ")
    );
    Ok(runs)
}

/// The values of a comma-separated text.
fn listed(text: &str) -> Result<Vec<toml::Value>> {
    if let Some((from, rest)) = text.split_once("..") {
        if let Some((to, count)) = rest.rsplit_once(':') {
            return evenly(from.trim(), to.trim(), count.trim());
        }
        if let Some((to, factor)) = rest.rsplit_once('*') {
            return by_factors(from.trim(), to.trim(), factor.trim());
        }
        bail!("{text} does not say how many values; {FORMS}");
    }
    let parts: Vec<&str> = at_commas(text);
    if parts.iter().any(|part| part.is_empty()) {
        bail!("`{text}` has an empty value; {FORMS}");
    }
    Ok(parts.into_iter().map(parse_value).collect())
}

/// Splits at commas outside brackets and quotes.
fn at_commas(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut begin) = (0_i32, false, 0);
    let mut parts = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(text.get(begin..at).unwrap_or_default().trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(begin..).unwrap_or_default().trim());
    parts
}

/// The ends of a range and their common unit.
fn ends(from: &str, to: &str) -> Result<(f64, f64, String)> {
    let number = |text: &str| {
        let digits = text.find(|c: char| !(c.is_ascii_digit() || ".+-".contains(c)));
        let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
        let number: Option<f64> = number.parse().ok();
        let number = number.with_context(|| format!("`{text}` is no number; {FORMS}"))?;
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

fn evenly(from: &str, to: &str, count: &str) -> Result<Vec<toml::Value>> {
    let allowed = format!("`{count}` is no number of values; allowed is 2 to {MAX_RUNS}");
    let count: usize = count.parse().with_context(|| allowed.clone())?;
    ensure!((2..=MAX_RUNS).contains(&count), allowed);
    let (from, to, unit) = ends(from, to)?;
    let step = (to - from) / (count - 1) as f64;
    let points: Vec<f64> = (0..count).map(|at| from + step * at as f64).collect();
    Ok(values(
        &points,
        &unit,
        from.fract() == 0.0 && to.fract() == 0.0,
    ))
}

fn by_factors(from: &str, to: &str, factor: &str) -> Result<Vec<toml::Value>> {
    let allowed = format!("`{factor}` is no factor; allowed is a number of more than 1");
    let factor: f64 = factor.parse().with_context(|| allowed.clone())?;
    ensure!(factor > 1.0 && factor.is_finite(), allowed);
    let (from, to, unit) = ends(from, to)?;
    ensure!(from > 0.0, "a range with factors must start above zero");
    let next = |at: &f64| Some(at * factor);
    let points: Vec<f64> = std::iter::successors(Some(from), next)
        .take_while(|at| *at <= to * (1.0 + 1e-9))
        .take(MAX_RUNS + 1)
        .collect();
    Ok(values(
        &points,
        &unit,
        from.fract() == 0.0 && to.fract() == 0.0,
    ))
}

/// The points of a range as values. Sizes and numbers without a unit are integers if the range's ends are.
fn values(points: &[f64], unit: &str, whole: bool) -> Vec<toml::Value> {
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
    let value = |point: &f64| match size {
        Some(_) if point.fract() == 0.0 => toml::Value::String(format!("{point}{unit}")),
        Some(factor) => toml::Value::Integer((point * factor).round() as i64),
        None if unit.is_empty() && whole => toml::Value::Integer(point.round() as i64),
        None if unit.is_empty() => toml::Value::Float(*point),
        // removes rounding errors of the arithmetic
        None => toml::Value::String(format!("{} {unit}", (point * 1e9).round() / 1e9)),
    };
    let mut values: Vec<toml::Value> = points.iter().map(value).collect();
    values.dedup();
    values
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn output(argument: &str) -> String {
        match Axis::parse(argument) {
            Ok(axis) => {
                let values: Vec<String> = axis.values.iter().map(shown).collect();
                format!("{}: {}", axis.key, values.join(" | "))
            }
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn values_are_listed_or_a_range() {
        for (argument, values) in [
            (
                "link.delay=0 ms, 10 ms,62 ms",
                "link.delay: 0 ms | 10 ms | 62 ms",
            ),
            (
                "link.delay=0..60 ms:4",
                "link.delay: 0 ms | 20 ms | 40 ms | 60 ms",
            ),
            (
                "link.delay=0 ms..1 ms:5",
                "link.delay: 0 ms | 0.25 ms | 0.5 ms | 0.75 ms | 1 ms",
            ),
            ("mss=536..1460:3", "mss: 536 | 998 | 1460"),
            ("n=1..3:9", "n: 1 | 2 | 3"),
            ("n=0.5..1:3", "n: 0.5 | 0.75 | 1.0"),
            ("w=2920..46720*2", "w: 2920 | 5840 | 11680 | 23360 | 46720"),
            ("size=1MB..2MB:3", "size: 1MB | 1500000 | 2MB"),
            (
                "client=wfw-3.11,windows-98",
                "client: wfw-3.11 | windows-98",
            ),
            (
                "link.loss_to_server={ rule = { kind = \"periodic\", every = 10 } },{ rule = { kind = \"none\" } }",
                "link.loss_to_server: { rule = { every = 10, kind = \"periodic\" } } | { rule = { kind = \"none\" } }",
            ),
        ] {
            assert_eq!(output(argument), values, "{argument}");
        }
    }

    #[test]
    fn an_error_of_a_grid_names_the_argument_and_the_allowed_values() {
        for (argument, parts) in [
            ("link.delay", ["--grid link.delay", "KEY=VALUES", "A..B:N"]),
            (
                "link.delay=",
                ["--grid link.delay=", "empty value", "commas"],
            ),
            ("a=1,,2", ["--grid a=1,,2", "empty value", "commas"]),
            ("a=1,2,1", ["--grid a=1,2,1", "1 twice", ""]),
            ("a=1..5", ["--grid a=1..5", "how many", "A..B:N"]),
            ("a=1..5:1", ["--grid a", "2 to 10000", ""]),
            ("a=1..5:99999999999", ["--grid a", "2 to 10000", ""]),
            ("a=5..1:3", ["--grid a", "goes up", ""]),
            ("a=1 s..5 ms:3", ["--grid a", "one unit", "s and ms"]),
            ("a=x..5:3", ["--grid a", "`x` is no number", ""]),
            ("a=0..5*2", ["--grid a", "above zero", ""]),
            ("a=1..5*1", ["--grid a", "more than 1", ""]),
            ("=1", ["--grid =1", "KEY=VALUES", ""]),
        ] {
            let message = output(argument);
            assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        }
    }

    #[test]
    fn there_is_a_limit_to_runs_and_a_key_is_varied_once() {
        let axes = ["a=1..200:200", "b=1..51:51"].map(|axis| Axis::parse(axis).unwrap());
        let message = runs(&axes).unwrap_err().to_string();
        assert!(
            message.contains("200 values of a × 51 values of b") && message.contains("10000"),
            "{message}"
        );
        let axes = ["a=1", "a=2"].map(|axis| Axis::parse(axis).unwrap());
        assert!(
            runs(&axes)
                .unwrap_err()
                .to_string()
                .contains("varied twice")
        );
        assert!(runs(&[]).unwrap_err().to_string().contains("[sweep]"));
        let two = ["a=1,2", "b=1,2,3"].map(|axis| Axis::parse(axis).unwrap());
        assert_eq!(runs(&two).unwrap(), 6);
    }
}
