//! What clients and servers send in a field, by the captures in tests/captures (`layouts/seen.txt`).

use std::{collections::HashMap, sync::OnceLock};

const TABLE: &str = include_str!("../layouts/seen.txt");

/// A value and where it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The value.
    pub value: u64,
    /// In how many messages.
    pub count: u64,
    /// In which captures of tests/captures, without extension.
    pub captures: Vec<&'static str>,
}

type Table = HashMap<(&'static str, &'static str), &'static str>;

/// The values of a field of `message` (`OPEN_ANDX request`, `Header response`) that were seen, the most frequent first.
pub fn seen(message: &str, field: &str) -> Vec<Seen> {
    static PARSED: OnceLock<(Vec<&'static str>, Table)> = OnceLock::new();
    let (captures, table) = PARSED.get_or_init(parsed);
    let values = table.get(&(message, field)).map_or("", |values| values);
    values
        .split(' ')
        .filter_map(|value| one(value, captures))
        .collect()
}

/// Captures, and the values of each field.
fn parsed() -> (Vec<&'static str>, Table) {
    let (mut captures, mut table, mut message) = (Vec::new(), HashMap::new(), "");
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        if let Some(capture) = line.strip_prefix("= ") {
            captures.push(capture);
        } else if let Some(row) = line.strip_prefix(' ') {
            let (field, values) = row.split_once(' ').unwrap_or_default();
            table.insert((message, field), values);
        } else {
            message = line;
        }
    }
    (captures, table)
}

/// `VALUE*COUNT@CAPTURE,CAPTURE`, in hexadecimal.
fn one(text: &str, captures: &[&'static str]) -> Option<Seen> {
    let (value, rest) = text.split_once('*')?;
    let (count, numbers) = rest.split_once('@')?;
    let numbers = numbers
        .split(',')
        .filter_map(|number| number.parse::<usize>().ok());
    Some(Seen {
        value: u64::from_str_radix(value, 16).ok()?,
        count: count.parse().ok()?,
        captures: numbers
            .filter_map(|number| captures.get(number).copied())
            .collect(),
    })
}
