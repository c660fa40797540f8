//! Rules as nft writes them, about.

use serde_json::Value;

use super::json::{text, word};

pub(super) fn verdict_text(kind: &str, value: &Value) -> String {
    match word(value, "target") {
        Some(target) => format!("{kind} {target}"),
        None => kind.to_owned(),
    }
}

/// What is compared: `tcp dport`; `…` for what has no name here.
pub(super) fn key(left: &Value) -> String {
    if let Some(parts) = left.get("concat").and_then(Value::as_array) {
        let parts: Vec<String> = parts.iter().map(key).collect();
        return parts.join(" . ");
    }
    match left.get("&").and_then(Value::as_array).map(Vec::as_slice) {
        Some([left, mask]) => format!("{} & {}", key(left), shown(mask)),
        _ => super::matches::key(left).unwrap_or_else(|| "…".into()),
    }
}

/// A condition as nft writes it, about.
pub(super) fn match_text(value: &Value) -> String {
    let name = value.get("left").map(key).unwrap_or_default();
    let not = match word(value, "op") {
        Some("==" | "in") | None => String::new(),
        Some(other) => format!("{other} "),
    };
    let right = value.get("right").map(shown).unwrap_or_default();
    format!("{name} {not}{right}")
}

pub(super) fn shown(value: &Value) -> String {
    let list = value.as_array().or_else(|| value.get("set")?.as_array());
    if let Some(list) = list {
        let all: Vec<String> = list.iter().map(shown).collect();
        return format!("{{ {} }}", all.join(", "));
    }
    let joined = |list: &Value, by: &str| {
        let list = list.as_array()?.iter().map(shown);
        Some(list.collect::<Vec<_>>().join(by))
    };
    if let Some(text) = value.get("concat").and_then(|list| joined(list, " . ")) {
        return text;
    }
    if let Some(text) = value.get("|").and_then(|list| joined(list, " | ")) {
        return text;
    }
    if let Some([first, last]) = value
        .get("range")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
    {
        return format!("{}-{}", shown(first), shown(last));
    }
    if let Some(prefix) = value.get("prefix") {
        let len = prefix.get("len").map(Value::to_string);
        return format!(
            "{}/{}",
            word(prefix, "addr").unwrap_or_default(),
            len.unwrap_or_default()
        );
    }
    text(value).unwrap_or_else(|| value.as_str().unwrap_or("…").to_owned())
}
