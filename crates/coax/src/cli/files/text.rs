//! Sizes, times and attributes for people.

use coax_client::FileStat;
use coax_report::digits::grouped;
pub use coax_report::digits::{count, rate, size, span};
use jiff::{Timestamp, tz::TimeZone};

/// A time in this machine's time zone, `1996-05-03 10:21:04`.
pub fn local_time(ns: Option<i64>) -> String {
    let time = ns.and_then(|ns| Timestamp::from_nanosecond(i128::from(ns)).ok());
    time.map_or("-".into(), |time| {
        let zoned = time.to_zoned(TimeZone::system());
        zoned.strftime("%Y-%m-%d %H:%M:%S").to_string()
    })
}

/// A time for machines, `1996-05-03T08:21:04Z`.
pub fn utc(ns: Option<i64>) -> Option<String> {
    let time = Timestamp::from_nanosecond(i128::from(ns?)).ok()?;
    Some(time.to_string())
}

/// `D-HSA`: folder, read-only, hidden, system, archive.
pub fn attributes(attributes: u16) -> String {
    [
        (0x10, 'D'),
        (0x01, 'R'),
        (0x02, 'H'),
        (0x04, 'S'),
        (0x20, 'A'),
    ]
    .iter()
    .map(
        |(bit, letter)| {
            if attributes & bit != 0 { *letter } else { '-' }
        },
    )
    .collect()
}

/// A file's or folder's size for a listing.
pub fn size_column(stat: &FileStat) -> String {
    if stat.is_directory() {
        "-".into()
    } else {
        grouped(stat.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_stand_in_their_places() {
        assert_eq!(
            (attributes(0x31), attributes(0x06)),
            ("DR--A".into(), "--HS-".into())
        );
    }

    #[test]
    fn times_for_machines_are_utc() {
        let time = utc(Some(831_118_864_000_000_000));
        assert_eq!(time.as_deref(), Some("1996-05-03T10:21:04Z"));
        assert_eq!((utc(None), local_time(None)), (None, "-".into()));
    }
}
