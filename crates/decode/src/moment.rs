//! Times in words.

use coax_wire::time::civil_from_days;

/// 100 ns of a second.
const UNITS: u64 = 10_000_000;
/// Seconds from 1601 to 1970.
const UNIX_EPOCH: i64 = 11_644_473_600;

/// Seconds since 1970, or that there is none.
pub(crate) fn utime(number: u64) -> Option<String> {
    match number {
        0 | 0xffff_ffff => Some("none".to_owned()),
        _ => i64::try_from(number).ok().map(|seconds| local(seconds, 0)),
    }
}

/// 100 ns since 1601, or that there is none.
pub(crate) fn filetime(number: u64) -> Option<String> {
    match number {
        0 | u64::MAX => return Some("none".to_owned()),
        // beyond the year 9999
        0x24c8_5a5e_d1c0_4000.. => return None,
        _ => {}
    }
    let seconds = i64::try_from(number / UNITS).ok()? - UNIX_EPOCH;
    Some(local(seconds, number % UNITS))
}

/// Seconds since 1970, and units of 100 ns.
fn local(seconds: i64, units: u64) -> String {
    let (year, month, day) = civil_from_days(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400);
    let fraction = match units {
        0 => String::new(),
        units => format!(".{units:07}"),
    };
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}{fraction}",
        of_day / 3600,
        of_day / 60 % 60,
        of_day % 60
    )
}

/// A DOS date.
pub(crate) fn date(number: u64) -> Option<String> {
    let (year, month, day) = (1980 + (number >> 9), number >> 5 & 15, number & 31);
    match number {
        0 => Some("none".to_owned()),
        _ if (1..=12).contains(&month) && day > 0 => Some(format!("{year}-{month:02}-{day:02}")),
        _ => None,
    }
}

/// A DOS time of day.
pub(crate) fn time_of_day(number: u64) -> Option<String> {
    let (hours, minutes, seconds) = (number >> 11, number >> 5 & 63, (number & 31) * 2);
    let is_valid = hours < 24 && minutes < 60 && seconds < 60;
    is_valid.then(|| format!("{hours:02}:{minutes:02}:{seconds:02}"))
}

/// A timeout in milliseconds, with its special values ([MS-CIFS] 2.2.4.32.1, 2.2.4.33.1).
pub(crate) fn timeout(number: u64) -> String {
    match number {
        0 => "do not wait".to_owned(),
        0xffff_ffff => "wait for ever".to_owned(),
        0xffff_fffe => "the server's default".to_owned(),
        _ => "ms".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::filetime;

    #[test]
    fn file_times_are_exact_from_1601_to_9999() {
        for (number, text) in [
            (0, "none"),
            (1, "1601-01-01 00:00:00.0000001"),
            (10_000_000 * 86_400 * 365, "1602-01-01 00:00:00"),
            // 64 bits of nanoseconds reach from 1677 to 2262
            (0x00d6_9340_85d2_4000, "1792-05-23 13:43:54.8419072"),
            (0x01bd_fb06_7fa2_c000, "1998-10-19 02:16:36.5989888"),
            (0x24c8_5a5e_d1c0_3fff, "9999-12-31 23:59:59.9999999"),
        ] {
            assert_eq!(filetime(number).as_deref(), Some(text), "{number:x}");
        }
        assert_eq!(filetime(0x24c8_5a5e_d1c0_4000), None);
    }
}
