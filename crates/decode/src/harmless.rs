//! Text from a network or a file that a terminal or another program may obey, or show as another text.

/// Whether a character is a control character, has no width, ends a line or turns the direction of writing.
pub fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Escapes the harmful characters in the text of a JSON value. They occur in its strings only, except for line ends between them.
#[must_use]
pub fn harmless_json(text: String) -> String {
    let is_raw = |c: char| is_harmful(c) && c != '\n';
    if !text.contains(is_raw) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_raw(c) {
            true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
    }
    out
}
