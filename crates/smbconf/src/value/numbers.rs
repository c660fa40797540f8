//! Values that are numbers.

use super::{Codec, nearest, words};

/// Minutes of a day.
const DAY_MINUTES: i32 = 1_440;
/// The permission bits of a file.
const MODE_BITS: u32 = 0o7777;

/// A non-negative integer.
pub const COUNT: Codec<u32> = Codec {
    kind: "number",
    read: |t| number(t, 0, u32::MAX.into()),
    nearest: |t| nearest::number(t, 0, u32::MAX.into()),
    show: ToString::to_string,
};

/// A 16-bit integer above 0.
pub const COUNT16: Codec<u16> = Codec {
    kind: "number",
    read: |t| number(t, 1, u16::MAX.into()),
    nearest: |t| nearest::number(t, 1, u16::MAX.into()),
    show: ToString::to_string,
};

/// Minutes, positive or negative.
pub const MINUTES: Codec<i32> = Codec {
    kind: "minutes",
    read: minutes,
    nearest: |t| nearest::minutes(t, DAY_MINUTES),
    show: ToString::to_string,
};

/// Octal permission bits.
pub const MODE: Codec<u32> = Codec {
    kind: "octal mode",
    read: octal,
    nearest: |t| nearest::octal(t, MODE_BITS),
    show: |v| format!("{v:04o}"),
};

/// The size of a message, bytes.
pub const MESSAGE_SIZE: Codec<u32> = Codec {
    kind: "bytes, 1024 to 65535",
    read: |t| bytes(t, 1_024, 65_535),
    nearest: |t| nearest::bytes(t, 1_024, 65_535),
    show: ToString::to_string,
};

/// Mebibytes, stored as bytes.
pub const MEBIBYTES: Codec<u64> = Codec {
    kind: "MiB",
    read: |t| number::<u64>(t, 0, 1 << 40).map(|v| v << 20),
    nearest: |t| nearest::number::<u64>(t, 0, 1 << 40).map(|(v, why)| (v << 20, why)),
    show: |v| (v >> 20).to_string(),
};

/// TCP ports.
pub const PORTS: Codec<Vec<u16>> = Codec {
    kind: "list of ports",
    read: |t| words(t).iter().map(|w| number(w, 1, 65_535)).collect(),
    nearest: nearest::none,
    show: |v| {
        v.iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    },
};

/// An integer within bounds, decimal or `0x…`.
fn number<T: TryFrom<u64>>(text: &str, low: u64, high: u64) -> Result<T, String> {
    let value = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    };
    within(
        value.ok_or_else(|| format!("'{text}' is not a whole number"))?,
        text,
        low,
        high,
    )
}

/// A number of bytes, optionally with K, M, G or T for powers of 1,024.
fn bytes<T: TryFrom<u64>>(text: &str, low: u64, high: u64) -> Result<T, String> {
    let (digits, shift) = match text.chars().last().map(|c| c.to_ascii_uppercase()) {
        Some('K') => (text.get(..text.len() - 1), 10),
        Some('M') => (text.get(..text.len() - 1), 20),
        Some('G') => (text.get(..text.len() - 1), 30),
        Some('T') => (text.get(..text.len() - 1), 40),
        _ => (Some(text), 0),
    };
    let value: u64 = number(digits.unwrap_or_default().trim_end(), 0, u64::MAX)
        .map_err(|_| format!("'{text}' is not a number of bytes (4356, 16K)"))?;
    within(value.saturating_mul(1 << shift), text, low, high)
}

fn within<T: TryFrom<u64>>(value: u64, text: &str, low: u64, high: u64) -> Result<T, String> {
    let fits = T::try_from(value)
        .ok()
        .filter(|_| (low..=high).contains(&value));
    fits.ok_or_else(|| format!("'{text}' is outside {low} to {high}"))
}

fn minutes(text: &str) -> Result<i32, String> {
    let value: i32 = text
        .parse()
        .map_err(|_| format!("'{text}' is not a whole number of minutes"))?;
    if (-DAY_MINUTES..=DAY_MINUTES).contains(&value) {
        Ok(value)
    } else {
        Err(format!("'{text}' is more than a day"))
    }
}

fn octal(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 8)
        .ok()
        .filter(|v| *v <= MODE_BITS)
        .ok_or_else(|| format!("'{text}' is not an octal mode (0644)"))
}
