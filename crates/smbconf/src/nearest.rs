//! Replacements for values that cannot be used as written.
//!
//! Samba reads numbers with `strtol`: it ignores text after the digits and limits the number to the range of its type.
//! Existing files rely on that, so such values cause a warning, not an error. Invalid words (`read only = maybe`) are
//! errors because they have no replacement.

/// A usable value, and the warning that explains the change.
pub type Nearest<T> = Option<(T, String)>;

/// No replacement: an invalid value is an error.
pub fn none<T>(_: &str) -> Nearest<T> {
    None
}

/// An integer: the leading digits, limited to the bounds.
pub fn number<T: TryFrom<u64>>(text: &str, low: u64, high: u64) -> Nearest<T> {
    let (written, rest) = leading(text)?;
    moved(text, written, rest.trim().is_empty(), (low, high))
}

/// A number of bytes, optionally with K, M, G or T for powers of 1,024.
pub fn bytes<T: TryFrom<u64>>(text: &str, low: u64, high: u64) -> Nearest<T> {
    let (digits, rest) = leading(text)?;
    let mut unit = rest.trim_start().chars();
    let shift = match unit.next().map(|c| c.to_ascii_uppercase()) {
        Some('K') => 10,
        Some('M') => 20,
        Some('G') => 30,
        Some('T') => 40,
        _ => 0,
    };
    let is_whole = rest.trim().is_empty() || (shift > 0 && unit.as_str().trim().is_empty());
    moved(
        text,
        digits.saturating_mul(1 << shift),
        is_whole,
        (low, high),
    )
}

/// Minutes, positive or negative.
pub fn minutes(text: &str, most: i32) -> Nearest<i32> {
    let (written, rest) = leading(text)?;
    let most = i128::from(most);
    let used = i32::try_from(written.clamp(-most, most)).ok()?;
    let why = match rest.trim().is_empty() {
        true => format!("'{text}' is more than a day; {used} is used"),
        false => format!("'{text}' is not a whole number of minutes; {used} is used"),
    };
    Some((used, why))
}

/// Octal permission bits: the leading digits without undefined bits.
pub fn octal(text: &str, bits: u32) -> Nearest<u32> {
    let digits = text.chars().map_while(|c| c.to_digit(8));
    // Shifting drops high bits, which are undefined anyway.
    let used = digits.fold(None, |mode: Option<u32>, digit| {
        Some((mode.unwrap_or(0) << 3) | digit)
    })? & bits;
    Some((
        used,
        format!("'{text}' is not an octal mode up to {bits:04o}; {used:04o} is used"),
    ))
}

/// Text that is only too long.
pub fn shortened(text: &str, most: usize) -> Nearest<String> {
    let used: String = text.chars().take(most).collect();
    (used.len() < text.len()).then(|| {
        let why = format!("'{text}' is longer than {most} characters; '{used}' is used");
        (used, why)
    })
}

fn moved<T: TryFrom<u64>>(
    text: &str,
    written: i128,
    is_whole: bool,
    (low, high): (u64, u64),
) -> Nearest<T> {
    let used = u64::try_from(written.clamp(low.into(), high.into())).ok()?;
    let why = match is_whole {
        true => format!("'{text}' is outside {low} to {high}; {used} is used"),
        false => format!("'{text}' is not a whole number; {used} is used"),
    };
    Some((T::try_from(used).ok()?, why))
}

/// The leading number, decimal or `0x…`, and the text after it. A number beyond the range saturates.
fn leading(text: &str) -> Option<(i128, &str)> {
    let text = text.trim_start();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hex = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"));
    let (digits, radix) = hex.map_or((digits, 10), |hex| (hex, 16));
    let end = digits
        .find(|c: char| !c.is_digit(radix))
        .unwrap_or(digits.len());
    let (digits, rest) = digits.split_at_checked(end)?;
    if digits.is_empty() {
        return None;
    }
    let size = digits
        .chars()
        .filter_map(|c| c.to_digit(radix))
        .fold(0i128, |sum, digit| {
            sum.saturating_mul(radix.into())
                .saturating_add(digit.into())
        });
    Some((if negative { -size } else { size }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used<T>(nearest: Nearest<T>) -> Option<T> {
        nearest.map(|(used, _)| used)
    }

    #[test]
    fn numbers_are_moved_into_their_bounds_and_what_follows_them_is_left_out() {
        assert_eq!(used(number::<u32>("65536", 1024, 65_535)), Some(65_535));
        assert_eq!(used(number::<u32>("-1", 1, 9)), Some(1));
        assert_eq!(used(number::<u32>("50 KB", 0, 99)), Some(50));
        assert_eq!(used(number::<u32>("0xffff", 0, 99)), Some(99));
        let endless = "9".repeat(4_000);
        assert_eq!(used(number::<u32>(&endless, 0, 99)), Some(99));
        assert_eq!(used(number::<u32>("ten", 0, 99)), None);
        assert_eq!(used(number::<u32>("", 0, 99)), None);
        assert_eq!(used(number::<u32>("0x", 0, 99)), None);
    }

    #[test]
    fn sizes_keep_their_unit() {
        assert_eq!(used(bytes::<u32>("1M", 1_024, 65_535)), Some(65_535));
        assert_eq!(used(bytes::<u32>("8 KB", 1_024, 65_535)), Some(8_192));
        assert_eq!(used(bytes::<u32>("1 byte", 1_024, 65_535)), Some(1_024));
    }

    #[test]
    fn modes_lose_the_bits_that_do_not_exist_and_names_what_is_too_much() {
        assert_eq!(used(octal("0100644", 0o7777)), Some(0o644));
        assert_eq!(used(octal("0778", 0o7777)), Some(0o77));
        assert_eq!(used(octal("rw", 0o7777)), None);
        assert_eq!(used(shortened("ABCDE", 3)).as_deref(), Some("ABC"));
        assert_eq!(used(shortened("ABC", 3)), None);
        assert_eq!(used(minutes("5000", 1_440)), Some(1_440));
        assert_eq!(used(minutes("-60 minutes", 1_440)), Some(-60));
    }

    #[test]
    fn the_warning_names_what_was_written_and_what_is_used() {
        let (_, why) = number::<u32>("65536", 1_024, 65_535).unwrap_or_default();
        assert_eq!(why, "'65536' is outside 1024 to 65535; 65535 is used");
    }
}
