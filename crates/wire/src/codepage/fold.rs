//! Upper-casing as NTFS and DOS do it: one character to one character.

use alloc::string::String;

/// The upper-case form of a character for comparing names, as NTFS's table has it: one to one, within the basic
/// multilingual plane, and never from a non-ASCII character to an ASCII one.
///
/// Unchanged are `ß` (not `SS`), `ı` and `ſ` (not `I` and `S`), `µ` (no DOS page contains its capital), and Georgian
/// (its capitals were encoded later).
pub fn upper_char(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_uppercase();
    }
    match u32::from(c) {
        0xB5 | 0x10D0..=0x10FF | 0x1_0000.. => c,
        // Greek with iota subscript: the one-to-one capitals lie 8 or 9 further, where core expands to two letters.
        n @ (0x1F80..=0x1F87 | 0x1F90..=0x1F97 | 0x1FA0..=0x1FA7) => {
            char::from_u32(n + 8).unwrap_or(c)
        }
        n @ (0x1FB3 | 0x1FC3 | 0x1FF3) => char::from_u32(n + 9).unwrap_or(c),
        _ => {
            let mut upper = c.to_uppercase();
            upper
                .next()
                .filter(|u| upper.next().is_none() && !u.is_ascii())
                .unwrap_or(c)
        }
    }
}

/// The form of a name by which it is compared without regard to case: [`upper_char`] of every character.
pub fn fold(name: &str) -> String {
    if name.is_ascii() {
        name.to_ascii_uppercase()
    } else {
        name.chars().map(upper_char).collect()
    }
}

/// Compares two names without case. Does not allocate.
pub fn eq_ignore_case(a: &str, b: &str) -> bool {
    if a.is_ascii() && b.is_ascii() {
        return a.eq_ignore_ascii_case(b);
    }
    a == b || a.chars().map(upper_char).eq(b.chars().map(upper_char))
}

/// The ASCII capital under a small Latin-1 letter with a mark.
pub(super) fn bare_capital(c: char) -> Option<char> {
    Some(match c {
        'à'..='å' => 'A',
        'ç' => 'C',
        'è'..='ë' => 'E',
        'ì'..='ï' => 'I',
        'ñ' => 'N',
        'ò'..='ö' | 'ø' => 'O',
        'ù'..='ü' => 'U',
        'ý' | 'ÿ' => 'Y',
        _ => return None,
    })
}
