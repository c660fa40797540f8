//! Measurements in CSV (RFC 4180): a line of names, then one line for each copy.

use anyhow::{Context as _, Result, bail, ensure};
use coax_lab::scenario::parse_value;

use super::{
    contents::{Input, put},
    table::measured,
};
use crate::measured::{Kind, Setting};

const FORM: &str = "the first line names the columns: seconds, and any of name, kind (copy or speed), spread and keys of a scenario, such as \
                    direction,size,client.profile,seconds";

/// The first line has a column `seconds`, and commas or no other one.
pub(super) fn is_csv(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    !first.contains(['=', '['])
        && first
            .split(',')
            .any(|name| name.trim().trim_matches('"') == "seconds")
}

/// Adds the file. A line without seconds is to be predicted.
pub(super) fn read(input: &mut Input, text: &str) -> Result<()> {
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let names = fields(lines.next().map_or("", |(_, line)| line)).context(FORM)?;
    for (at, line) in lines {
        let values = fields(line).with_context(|| format!("line {}", at + 1))?;
        ensure!(
            values.len() == names.len(),
            "line {} has {} fields, the first line {}",
            at + 1,
            values.len(),
            names.len()
        );
        let filled = names
            .iter()
            .zip(&values)
            .filter(|(_, value)| !value.is_empty());
        add(input, at + 1, filled).with_context(|| format!("line {}", at + 1))?;
    }
    Ok(())
}

fn add<'a>(
    input: &mut Input,
    line: usize,
    fields: impl Iterator<Item = (&'a String, &'a String)>,
) -> Result<()> {
    let mut setting = Setting {
        name: format!("line {line}"),
        kind: Kind::Copy,
        client: None,
        changes: toml::Table::new(),
    };
    let (mut times, mut spread) = (Vec::new(), None);
    for (name, value) in fields {
        let number = || {
            value
                .parse::<f64>()
                .with_context(|| format!("{name}: '{value}' is not a number"))
        };
        match name.as_str() {
            "name" => setting.name.clone_from(value),
            "seconds" => times.push(number()?),
            "client" => setting.client = Some(value.clone()),
            "spread" => spread = Some(number()?),
            "kind" => {
                setting.kind = match value.as_str() {
                    "copy" => Kind::Copy,
                    "speed" => Kind::Stream,
                    _ => bail!("kind: '{value}' is not possible; allowed are copy and speed"),
                }
            }
            key => put(&mut setting.changes, key, parse_value(value)),
        }
    }
    if times.is_empty() {
        input.wanted.push(setting);
    } else {
        input.measured.push(measured(setting, times, spread, None)?);
    }
    Ok(())
}

/// The fields of a line.
fn fields(line: &str) -> Result<Vec<String>> {
    let (mut all, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.trim_end_matches('\r').chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => all.push(std::mem::take(&mut field)),
            letter => field.push(letter),
        }
    }
    ensure!(!quoted, "a quote is not closed");
    all.push(field);
    Ok(all
        .into_iter()
        .map(|field| field.trim().to_owned())
        .collect())
}
