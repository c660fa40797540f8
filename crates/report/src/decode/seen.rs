//! What real clients and servers send in the fields of a message.

use std::fmt::Write as _;

use coax_decode::{Seen, Value};

use super::Shown;

/// For each field whose values are known from captures: whether this value was seen, and what else was.
pub fn seen(shown: &Shown<'_>) -> String {
    let side = shown.decoded.title.rsplit(' ').next().unwrap_or_default();
    let (mut out, mut group) = (String::new(), "");
    for field in &shown.decoded.fields {
        if field.depth == 0 {
            group = field.name;
        }
        let (Value::Hex(value, _) | Value::Number(value)) = field.value else {
            continue;
        };
        let message = match coax_decode::is_frame(group) {
            true => group.to_owned(),
            false => format!("{group} {side}"),
        };
        let known = coax_decode::seen(&message, field.name);
        if known.is_empty() {
            continue;
        }
        let here = known.iter().find(|seen| seen.value == value);
        let verdict = match here {
            Some(seen) => format!("seen in {}", places(seen)),
            None => "not in the captures".to_owned(),
        };
        let others: Vec<String> = known
            .iter()
            .filter(|seen| seen.value != value)
            .map(|seen| format!("{:#x} in {}", seen.value, places(seen)))
            .collect();
        let _ = write!(out, "  {group}.{} {value:#x}: {verdict}", field.name);
        if !others.is_empty() {
            let _ = write!(out, "; others: {}", others.join("; "));
        }
        out.push('\n');
    }
    match out.is_empty() {
        true => out,
        false => format!("values in real captures:\n{out}"),
    }
}

/// How often, from which products, and in which captures.
fn places(seen: &Seen) -> String {
    let noun = if seen.count == 1 {
        "message"
    } else {
        "messages"
    };
    let captures = seen.captures.join(", ");
    match seen.products.is_empty() {
        true => format!("{} {noun} ({captures})", seen.count),
        false => {
            let products = seen.products.join(", ");
            format!("{} {noun} of {products} ({captures})", seen.count)
        }
    }
}
