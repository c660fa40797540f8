//! Fields of the dump.

use serde_json::Value;

/// A field that is a text.
pub(super) fn word<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str()
}

/// The family and name of a table that packets of IP pass.
pub(super) fn table(object: &Value) -> Option<String> {
    let (family, name) = (word(object, "family")?, word(object, "table")?);
    let is_for_ip = matches!(family, "ip" | "ip6" | "inet" | "netdev");
    is_for_ip.then(|| format!("{family} {name}"))
}

/// A value that is no set, as text.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.starts_with('@') => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
