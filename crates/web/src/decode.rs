//! Messages that a person typed, field by field.

use anyhow::{Context as _, Result, anyhow};
use coax_decode::{Field, Kind, bytes_of_digits};
use coax_report::decode::{Shown, fields, heading, line, profiles, seen, value};
use serde::Deserialize;
use serde_json::{Value, json};

/// Digits, and what they are.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Hexadecimal digits.
    pub digits: String,
    /// One of [`KINDS`]; it is recognised if empty.
    #[serde(default)]
    pub kind: String,
}

/// The kinds of messages: as `coax decode --kind` names them, and in words.
pub const KINDS: [(&str, Kind, &str); 8] = [
    ("session", Kind::Session, "NetBIOS session packet (TCP)"),
    ("smb", Kind::Smb, "SMB message from 0xff"),
    ("name", Kind::Name, "name service (UDP 137)"),
    ("datagram", Kind::Datagram, "datagram (UDP 138)"),
    ("netbeui", Kind::Netbeui, "NetBEUI frame"),
    (
        "ethernet",
        Kind::Ethernet,
        "Ethernet frame with NetBEUI or IPX",
    ),
    ("llc", Kind::Llc, "LLC frame"),
    ("ipx", Kind::Ipx, "IPX packet"),
];

/// The most fields that the page shows in its table; the text has all.
const MAX_ROWS: usize = 2_000;
/// The most bytes of the message that the page shows.
const MAX_BYTES: usize = 16_384;

/// The request's message: `text` is what `coax decode` prints, `json` what `--json` prints; `kind`, `bytes` and `rows` are for the table.
///
/// # Errors
/// The request is damaged, or its text is not hexadecimal digits.
pub fn typed(request: &str) -> Result<Value> {
    let request: Request = serde_json::from_str(request).context("the request is damaged")?;
    let bytes = bytes_of_digits(&request.digits)
        .map_err(|problem| anyhow!("these are not hexadecimal digits of a message: {problem}"))?;
    let kind = match request.kind.as_str() {
        "" => Kind::of(&bytes),
        name => kind(name)?,
    };
    let decoded = kind.decode(&bytes);
    let shown = Shown {
        place: None,
        bytes: &bytes,
        len: bytes.len(),
        decoded: &decoded,
    };
    let rows: Vec<Value> = decoded
        .fields
        .iter()
        .take(MAX_ROWS)
        .map(|field| row(&bytes, field))
        .collect();
    Ok(json!({
        "kind": KINDS.iter().find(|(_, other, _)| *other == kind).map(|(name, ..)| name),
        "title": decoded.title,
        "problems": decoded.problems().count(),
        "text": format!("{}{}\n", heading(&shown), fields(&shown)),
        "seen": seen(&shown) + &profiles(&shown),
        "json": line(&shown),
        "bytes": bytes.iter().take(MAX_BYTES).collect::<Vec<_>>(),
        "length": bytes.len(),
        "rows": rows,
        "rows_left": decoded.fields.len().saturating_sub(MAX_ROWS),
    }))
}

fn kind(name: &str) -> Result<Kind> {
    let found = KINDS.iter().find(|(other, ..)| *other == name);
    found
        .map(|(_, kind, _)| *kind)
        .ok_or_else(|| anyhow!("there is no kind of message '{name}'"))
}

fn row(bytes: &[u8], field: &Field) -> Value {
    json!({
        "at": field.at,
        "len": field.len,
        "depth": field.depth,
        "name": field.name,
        "value": value(bytes, field),
        "meaning": field.meaning,
        "problem": field.problem,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use super::*;

    fn request(digits: &str, kind: &str) -> Result<Value> {
        typed(&json!({ "digits": digits, "kind": kind }).to_string())
    }

    #[test]
    fn a_row_names_the_bytes_of_its_field() {
        let told = request("83 00 00 01 80", "").unwrap();
        assert_eq!(told["kind"], "session");
        let rows = told["rows"].as_array().unwrap();
        let code = rows.iter().find(|row| row["at"] == 4).unwrap();
        assert_eq!(
            (code["len"].as_u64(), told["length"].as_u64()),
            (Some(1), Some(5))
        );
        assert!(
            code["meaning"].as_str().unwrap().contains("called"),
            "{code}"
        );
        let text = told["text"].as_str().unwrap();
        assert!(told["seen"].is_string(), "{told}");
        assert!(text.contains(code["meaning"].as_str().unwrap()), "{text}");
    }

    #[test]
    fn text_that_is_no_message_is_named() {
        for (digits, kind, why) in [
            ("", "", "0 digits"),
            ("8", "", "1 digits"),
            ("8g", "", "'g'"),
            ("85", "letter", "letter"),
        ] {
            let error = format!("{:#}", request(digits, kind).unwrap_err());
            assert!(error.contains(why), "{error}");
        }
        assert!(typed("{}").is_err());
    }

    #[test]
    fn any_bytes_give_rows_within_them() {
        for first in 0..=255_u8 {
            let told = request(&format!("{first:02x}00ff53 4d42 72").repeat(9), "").unwrap();
            for row in told["rows"].as_array().unwrap() {
                let end = row["at"].as_u64().unwrap() + row["len"].as_u64().unwrap();
                assert!(end <= 63, "{row}");
            }
        }
    }
}
