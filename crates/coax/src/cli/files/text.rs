//! Sizes, times and attributes for people.

use std::time::Duration;

use coax_client::FileStat;
use coax_report::digits::grouped;
pub use coax_report::digits::size;
use jiff::{Timestamp, tz::TimeZone};

/// `11.2 MB/s`.
pub fn rate(bytes: u64, time: Duration) -> String {
    let per_second = bytes as f64 / time.as_secs_f64().max(1e-6);
    if per_second < 1e5 {
        format!("{:.1} kB/s", per_second / 1e3)
    } else {
        format!("{:.1} MB/s", per_second / 1e6)
    }
}

/// `0.4 s`, `3:07`, `1:02:03`.
pub fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        60..3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!(
            "{}:{:02}:{:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        ),
    }
}

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

/// `1 file`, `2 files`.
pub fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(number as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_legible() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(grouped),
            ["0", "999", "1,000", "1,234,567"]
        );
        let seconds = [0.42, 187.0, 3723.0].map(|s| span(Duration::from_secs_f64(s)));
        assert_eq!(seconds, ["0.4 s", "3:07", "1:02:03"]);
        assert_eq!(rate(11_200_000, Duration::from_secs(1)), "11.2 MB/s");
        assert_eq!(rate(14_300, Duration::from_secs(1)), "14.3 kB/s");
        assert_eq!(
            (count(1, "file"), count(0, "file")),
            ("1 file".into(), "0 files".into())
        );
    }

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
