//! What clients and servers send in a field, by the captures in tests/captures (`layouts/seen.txt`).

use std::{collections::HashMap, sync::OnceLock};

const TABLE: &str = include_str!("../layouts/seen.txt");
const PRODUCTS: &str = include_str!("../layouts/products.txt");

/// A value and where it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The value.
    pub value: u64,
    /// In how many messages.
    pub count: u64,
    /// In which captures of tests/captures, without extension.
    pub captures: Vec<&'static str>,
    /// Which products sent them, as far as the captures say (`layouts/products.txt`).
    pub products: Vec<&'static str>,
}

type Table = HashMap<(&'static str, &'static str), &'static str>;

/// The values of a field of `message` (`OPEN_ANDX request`, `Header response`, `IPX packet`) that were seen, the most frequent first.
pub fn seen(message: &str, field: &str) -> Vec<Seen> {
    static PARSED: OnceLock<(Vec<&'static str>, Table)> = OnceLock::new();
    let (captures, table) = PARSED.get_or_init(parsed);
    let values = table.get(&(message, field)).map_or("", |values| values);
    let of_side = |value| one(value, captures).map(|seen| with_products(seen, message));
    values.split(' ').filter_map(of_side).collect()
}

/// The products of the side that sends the message.
fn with_products(mut seen: Seen, message: &str) -> Seen {
    for capture in &seen.captures {
        let product = match message.rsplit(' ').next() {
            Some("request") => product(capture, 1),
            Some("response") => product(capture, 3),
            _ => None,
        };
        if let Some(product) = product.filter(|product| !seen.products.contains(product)) {
            seen.products.push(product);
        }
    }
    seen
}

/// A column of a capture's row; `None` if it is unknown.
fn product(capture: &str, column: usize) -> Option<&'static str> {
    let rows = PRODUCTS.lines().filter(|line| !line.starts_with('#'));
    let row = rows.map(|line| line.split(" | "));
    let mut row = row.filter_map(|mut cells| (cells.next()? == capture).then_some(cells));
    let product = row.next()?.nth(column.checked_sub(1)?)?;
    (product != "-").then_some(product)
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
        products: Vec::new(),
    })
}
