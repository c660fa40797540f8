//! Numbers, names and data that requests are made of.

use crate::choices::Choices;

const NUMBERS: &[u16] = &[
    0, 1, 2, 3, 0x10, 0x11, 0x12, 0x16, 0x20, 0x21, 0x40, 0x42, 0x80, 0xff, 0x100, 0x101, 0x102,
    0x104, 512, 1024, 4096, 4356, 16_644, 0x7fff, 0x8000, 0xfff0, 0xfffe, 0xffff, 61_440, 65_000,
    100, 1000,
];

const NAMES: &[&str] = &[
    "A.TXT",
    "\\A.TXT",
    "b.txt",
    "\\DIR\\INNER.DAT",
    "DIR",
    "\\DIR\\SUB",
    "\\NEW",
    "\\NEW\\X.Y",
    "\\*.*",
    "*.TXT",
    "\\????????.???",
    "\\DIR\\*",
    "LONGFI~1.TEX",
    "\\Long file name.text",
    "prog.exe",
    "",
    "\\",
    "..\\..\\etc",
    ".",
    "A.TXT:stream",
    "A.TXT:other:$DATA",
    "DIR:stream",
    "A.TXT::$DATA",
    ":other",
    "\\srvsvc",
    "\\PIPE\\LANMAN",
    "NEW2",
    "\\DIR2\\",
    "CON",
    "X",
    "Y",
    "\\DIR\\SUB\\DEEP.BIN",
    "<.\"*",
    "a/b",
    "\\\\COAX\\DISK",
    "\\missing\\x",
];

/// A number that matters, or now and then anything.
pub fn number(choices: &mut Choices<'_>) -> u16 {
    match NUMBERS.get(choices.below(NUMBERS.len() + 8)) {
        Some(number) => *number,
        None => choices.u16(),
    }
}

/// One of the numbers the client was given, mostly the last; now and then anything.
pub fn number_of(known: &[u16], choices: &mut Choices<'_>) -> u16 {
    let back = choices.below(12);
    match known
        .len()
        .checked_sub(1 + back.saturating_sub(4))
        .and_then(|index| known.get(index))
    {
        Some(number) => *number,
        None => number(choices),
    }
}

/// A name, encoded and terminated; aligned as if it stood at `at`.
pub fn name(choices: &mut Choices<'_>, unicode: bool, at: usize) -> Vec<u8> {
    let raw;
    let name = match NAMES.get(choices.below(NAMES.len() + 3)) {
        Some(name) => *name,
        None => {
            raw = String::from_utf8_lossy(choices.counted()).into_owned();
            raw.as_str()
        }
    };
    encode(name, unicode, at)
}

/// `text` encoded and terminated; aligned as if it stood at `at`.
pub fn encode(text: &str, unicode: bool, at: usize) -> Vec<u8> {
    if !unicode {
        return text.bytes().chain([0]).collect();
    }
    let pad = vec![0; at % 2];
    pad.into_iter()
        .chain(text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes))
        .collect()
}

/// Some data.
pub fn data<'a>(choices: &mut Choices<'a>) -> Vec<u8> {
    match choices.below(4) {
        0 => Vec::new(),
        1 => vec![0x41; usize::from(number(choices)).min(5000)],
        _ => choices.counted().to_vec(),
    }
}
