//! NetBIOS names in text files: `"NAME#20"` of Samba, `"NAME           \0x14"` of LMHOSTS.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use coax_wire::nbt::name::{MAX_CHARACTERS, NbName};

/// A name in quotation marks, with the suffix after `#` and other bytes as `\0xNN`.
pub(crate) fn quoted_name(name: &NbName) -> String {
    let mut text = String::from("\"");
    for &byte in name.characters() {
        match byte {
            b'"' | b'#' | b'\\' | 0..=0x1f | 0x7f.. => text.push_str(&format!("\\0x{byte:02x}")),
            byte => text.push(char::from(byte)),
        }
    }
    text.push_str(&format!("#{:02x}\"", name.suffix()));
    text
}

/// The name at the beginning of a line, and the rest of the line.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn take_name(line: &str) -> Result<(NbName, &str), String> {
    let rest = line
        .strip_prefix('"')
        .ok_or("a line begins with a name in quotation marks")?;
    let (name, rest) = rest
        .split_once('"')
        .ok_or("the quotation mark at the end of the name is missing")?;
    let (name, suffix) = name
        .rsplit_once('#')
        .ok_or("the name needs its suffix, as in \"NAME#20\"")?;
    let suffix = u8::from_str_radix(suffix, 16)
        .map_err(|_| format!("'{suffix}' is no suffix: two hexadecimal digits"))?;
    let bytes = unescaped(name)?;
    if bytes.is_empty() || bytes.len() > MAX_CHARACTERS {
        return Err(format!(
            "a name has 1 to 15 characters, not {}",
            bytes.len()
        ));
    }
    let mut padded = [b' '; 16];
    for (slot, byte) in padded.iter_mut().zip(&bytes) {
        *slot = *byte;
    }
    Ok((NbName(padded).with_suffix(suffix), rest))
}

/// Bytes of a text in which `\0xNN` stands for a byte (KB Q314108).
///
/// # Errors
/// What is wrong with an escape.
pub(crate) fn unescaped(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\0x") {
        bytes.extend_from_slice(before.as_bytes());
        let digits = after.get(..2).filter(|d| d.is_ascii());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or("\\0x needs two hexadecimal digits")?);
        rest = after.get(2..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(bytes)
}
