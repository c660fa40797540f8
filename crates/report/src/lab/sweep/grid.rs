//! The grid of a sweep: keys and their values.

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use coax_lab::scenario::parse_value;

use super::{
    quantity::{Quantity, shown},
    range::{Range, by_factors, evenly, unit_of},
};

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
    /// Its values, in grid order; of a range, its ends.
    pub values: Vec<toml::Value>,
    /// The range that samples are taken from.
    pub range: Option<Range>,
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

    /// Parses a key that is sampled: `KEY=A..B`, `KEY=A..B:log` or `KEY=V1,V2,…`.
    ///
    /// # Errors
    /// The text is invalid; the error names the allowed forms.
    pub fn sampled(argument: &str) -> Result<Self> {
        let from = format!("--range {argument}");
        let (key, text) = argument
            .split_once('=')
            .with_context(|| format!("{from} is not KEY=RANGE, such as link.delay=0..60 ms"))?;
        let range = Range::parse(text.trim()).with_context(|| from.clone())?;
        let values = match &range {
            Some(range) => Ok(range.ends()),
            None => listed(text.trim()),
        };
        let axis = Self::new(key.trim(), &from, values)?;
        Ok(Self { range, ..axis })
    }

    /// The seeds of replicates.
    pub(super) fn seeds(first: u64, count: usize) -> Result<Self> {
        let values = (0..count as u64).map(|at| first.checked_add(at)?.try_into().ok());
        let values: Option<Vec<i64>> = values.collect();
        let values = values.with_context(|| {
            format!(
                "--replicates {count}: only seeds up to {} are possible, and the first is {first}",
                i64::MAX
            )
        })?;
        let values = values.into_iter().map(toml::Value::Integer).collect();
        Ok(Self {
            key: "seed".to_owned(),
            from: format!("--replicates {count}"),
            values,
            range: None,
        })
    }

    /// The value at a coordinate from 0 to less than 1.
    pub(super) fn at(&self, share: f64) -> Option<toml::Value> {
        match &self.range {
            Some(range) => Some(range.at(share)),
            None => {
                let at = (share * self.values.len() as f64) as usize;
                self.values.get(at).or(self.values.last()).cloned()
            }
        }
    }

    /// The unit of its values, if all are numbers.
    pub fn unit(&self) -> Option<&'static str> {
        let texts: Vec<String> = self.values.iter().map(shown).collect();
        unit_of(&self.key, &texts)
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
            range: None,
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

/// Refuses duplicate keys and an empty list.
///
/// # Errors
/// Which.
pub fn check(axes: &[Axis]) -> Result<()> {
    ensure!(
        !axes.is_empty(),
        "the sweep varies nothing: give --grid KEY=VALUES or a table [sweep] in the scenario; {FORMS}"
    );
    for (at, axis) in axes.iter().enumerate() {
        let twice = axes.iter().take(at).any(|other| other.key == axis.key);
        ensure!(!twice, "{}: {} is varied twice", axis.from, axis.key);
    }
    Ok(())
}

/// The number of combinations of all values.
pub fn combinations(axes: &[Axis]) -> usize {
    axes.iter()
        .try_fold(1_usize, |runs, axis| runs.checked_mul(axis.values.len()))
        .unwrap_or(usize::MAX)
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
            ("a=x..5:3", ["--grid a", "`x` is not a number", ""]),
            ("a=0..5*2", ["--grid a", "above zero", ""]),
            ("a=1..5*1", ["--grid a", "more than 1", ""]),
            ("=1", ["--grid =1", "KEY=VALUES", ""]),
        ] {
            let message = output(argument);
            assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        }
    }

    #[test]
    fn a_key_is_varied_once() {
        let axes = ["a=1", "a=2"].map(|axis| Axis::parse(axis).unwrap());
        let error = check(&axes).unwrap_err().to_string();
        assert!(error.contains("varied twice"), "{error}");
        assert!(check(&[]).unwrap_err().to_string().contains("[sweep]"));
        let two = ["a=1,2", "b=1,2,3"].map(|axis| Axis::parse(axis).unwrap());
        check(&two).unwrap();
        assert_eq!(combinations(&two), 6);
    }

    #[test]
    fn a_sampled_key_has_a_range_or_a_list() {
        let delay = Axis::sampled("link.delay=0..60 ms").unwrap();
        assert_eq!(shown(&delay.at(0.25).unwrap()), "15 ms");
        assert_eq!(delay.unit(), Some("s"));
        let client = Axis::sampled("client=wfw-3.11,windows-98").unwrap();
        let clients = [0.0, 0.49, 0.51, 0.999].map(|share| shown(&client.at(share).unwrap()));
        assert_eq!(
            clients,
            ["wfw-3.11", "wfw-3.11", "windows-98", "windows-98"]
        );
        assert_eq!(client.unit(), None);
        for (argument, words) in [
            ("link.delay", "--range link.delay is not KEY=RANGE"),
            ("a=", "--range a=: `` has an empty value"),
            ("a=1..5:7", "--range a=1..5:7: `:7` is not possible"),
        ] {
            let error = format!("{:#}", Axis::sampled(argument).unwrap_err());
            assert!(error.contains(words), "{error}");
        }
    }
}
