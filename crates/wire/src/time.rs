//! Time: the newtype every sans-IO crate is handed, and the time formats of SMB.

/// A moment: nanoseconds since 1970-01-01T00:00:00Z. Engines are handed it and never ask a clock.
///
/// Drivers anchor it to the wall clock once and advance it monotonically; the lab advances it by events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A span of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

impl Span {
    /// A span of `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// A span of `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s.saturating_mul(1_000_000_000))
    }

    /// Whole milliseconds in this span.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }
}

impl core::ops::Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl core::ops::Sub for Time {
    type Output = Span;
    fn sub(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

/// Nanoseconds in a second.
const SECOND_NS: i64 = 1_000_000_000;
/// Seconds in a day.
const DAY_S: i64 = 86_400;
/// 100 ns units from 1601-01-01 to 1970-01-01.
const EPOCH_1601: i128 = 116_444_736_000_000_000;

/// A time zone as SMB's negotiate response has it: minutes *west* of UTC, so that UTC = local + this
/// ([MS-CIFS] 2.2.4.52.2, ServerTimeZone). Central Europe in winter is -60, New York 300.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ZoneMinutesWest(pub i16);

impl ZoneMinutesWest {
    /// Nanoseconds of local time since 1970-01-01T00:00 local, from nanoseconds UTC. Saturates.
    const fn local_from_utc(self, utc_ns: i64) -> i64 {
        utc_ns.saturating_sub(self.0 as i64 * 60 * SECOND_NS)
    }

    /// The inverse of [`Self::local_from_utc`].
    const fn utc_from_local(self, local_ns: i64) -> i64 {
        local_ns.saturating_add(self.0 as i64 * 60 * SECOND_NS)
    }
}

/// What a time in a set-time request asks for. Each wire format has its own values for "leave it".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeChange {
    /// Leave this time stamp unchanged.
    Leave,
    /// Leave it, and do not update it for operations through this handle ([MS-FSCC] 2.4.7, -1).
    Suspend,
    /// Leave it, and resume updates for operations through this handle ([MS-FSCC] 2.4.7, -2).
    Resume,
    /// Set it to this many nanoseconds since 1970 UTC.
    Set(i64),
}

/// Units of 100 ns since 1601-01-01T00:00:00Z ([MS-DTYP] 2.3.3). 0 means "no time".
///
/// It spans 1601 to 60056; conversions from nanoseconds round down to 100 ns, and moments
/// before 1601 become 0. Conversions to nanoseconds saturate at what an `i64` holds (1677-09-21 and 2262-04-11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileTime(pub u64);

impl FileTime {
    /// The time is unknown, or (in a set request) stays unchanged.
    pub const NONE: Self = Self(0);

    /// From nanoseconds since 1970 UTC.
    pub fn from_unix_ns(ns: i64) -> Self {
        let units = i128::from(ns).div_euclid(100) + EPOCH_1601;
        Self(u64::try_from(units).unwrap_or(0))
    }

    /// Nanoseconds since 1970 UTC.
    pub fn unix_ns(self) -> i64 {
        let ns = (i128::from(self.0) - EPOCH_1601) * 100;
        i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
    }

    /// What this value asks for in a set-time request ([MS-FSCC] 2.4.7): 0 leaves the stamp, -1 and -2 stop and
    /// restart its automatic update. Other values with the top bit set are no time ([MS-DTYP] 2.3.3) and leave it too.
    pub fn change(self) -> TimeChange {
        match self.0 {
            0 => TimeChange::Leave,
            u64::MAX => TimeChange::Suspend,
            0xffff_ffff_ffff_fffe => TimeChange::Resume,
            v if v > i64::MAX as u64 => TimeChange::Leave,
            _ => TimeChange::Set(self.unix_ns()),
        }
    }
}

impl From<Time> for FileTime {
    fn from(t: Time) -> Self {
        Self(u64::try_from(i128::from(t.0 / 100) + EPOCH_1601).unwrap_or(u64::MAX))
    }
}

/// Seconds since 1970-01-01T00:00 in the server's *local* time, as LAN Manager sends them ([MS-CIFS] 2.2.1.4.3, UTIME).
/// 0 means "no time".
///
/// It spans 1970 to 2106. Earlier moments become 0, later ones 0xFFFF_FFFE (0xFFFF_FFFF means "leave it").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Utime(pub u32);

impl Utime {
    /// From nanoseconds since 1970 UTC, rounded down to the second.
    pub fn from_unix_ns(ns: i64, zone: ZoneMinutesWest) -> Self {
        let seconds = zone.local_from_utc(ns).div_euclid(SECOND_NS);
        Self(u32::try_from(seconds.clamp(0, 0xffff_fffe)).unwrap_or(0))
    }

    /// Nanoseconds since 1970 UTC.
    pub fn unix_ns(self, zone: ZoneMinutesWest) -> i64 {
        zone.utc_from_local(i64::from(self.0) * SECOND_NS)
    }

    /// What this value asks for in a set-time request: 0 and 0xFFFF_FFFF leave the stamp ([MS-CIFS] 2.2.4.10.1).
    pub fn change(self, zone: ZoneMinutesWest) -> TimeChange {
        match self.0 {
            0 | u32::MAX => TimeChange::Leave,
            _ => TimeChange::Set(self.unix_ns(zone)),
        }
    }
}

/// A FAT directory's stamp in the server's local time: SMB_DATE and SMB_TIME ([MS-CIFS] 2.2.1.4.1, 2.2.1.4.2).
///
/// Steps of 2 seconds, 1980-01-01T00:00:00 to 2107-12-31T23:59:58; conversions round down, and moments outside become
/// the nearest end. All zero means "no time".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DosDateTime {
    /// Year - 1980 in bits 9..16, month 1..=12 in bits 5..9, day 1..=31 in bits 0..5.
    pub date: u16,
    /// Hour in bits 11..16, minute in bits 5..11, second / 2 in bits 0..5.
    pub time: u16,
}

impl DosDateTime {
    /// The time is unknown, or (in a set request) stays unchanged.
    pub const NONE: Self = Self { date: 0, time: 0 };
    /// The earliest time stamp: 1980-01-01T00:00:00.
    pub const MIN: Self = Self {
        date: 0x21,
        time: 0,
    };
    /// The latest time stamp: 2107-12-31T23:59:58.
    pub const MAX: Self = Self {
        date: 0xff9f,
        time: 0xbf7d,
    };

    /// From nanoseconds since 1970 UTC.
    pub fn from_unix_ns(ns: i64, zone: ZoneMinutesWest) -> Self {
        let seconds = zone.local_from_utc(ns).div_euclid(SECOND_NS);
        let (year, month, day) = civil_from_days(seconds.div_euclid(DAY_S));
        let second = seconds.rem_euclid(DAY_S);
        if year < 1980 {
            return Self::MIN;
        }
        if year > 2107 {
            return Self::MAX;
        }
        let date = ((year - 1980) << 9) | (month << 5) | day;
        let time = ((second / 3600) << 11) | ((second / 60 % 60) << 5) | (second % 60 / 2);
        Self {
            date: u16::try_from(date).unwrap_or(0),
            time: u16::try_from(time).unwrap_or(0),
        }
    }

    /// Nanoseconds since 1970 UTC; `None` if the fields are no date and time (all zero included).
    pub fn unix_ns(self, zone: ZoneMinutesWest) -> Option<i64> {
        let (date, time) = (i64::from(self.date), i64::from(self.time));
        let (year, month, day) = (1980 + (date >> 9), date >> 5 & 15, date & 31);
        let (hour, minute, second) = (time >> 11, time >> 5 & 63, (time & 31) * 2);
        let valid = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
        if !valid || hour > 23 || minute > 59 || second > 58 {
            return None;
        }
        let days = days_from_civil(year, month, day);
        Some(zone.utc_from_local((days * DAY_S + hour * 3600 + minute * 60 + second) * SECOND_NS))
    }

    /// What this value asks for in a set-time request: all zero leaves the stamp ([MS-CIFS] 2.2.4.30.1); so does what
    /// is no date, and all ones, which some redirectors send for "unknown".
    pub fn change(self, zone: ZoneMinutesWest) -> TimeChange {
        self.unix_ns(zone)
            .map_or(TimeChange::Leave, TimeChange::Set)
    }
}

impl Time {
    /// From signed nanoseconds since 1970; earlier moments become 1970.
    pub fn from_unix_ns(ns: i64) -> Self {
        Self(u64::try_from(ns).unwrap_or(0))
    }

    /// Signed nanoseconds since 1970, at most `i64::MAX` (2262-04-11).
    pub fn unix_ns(self) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }
}

/// Days since 1970-01-01 of a day of the Gregorian calendar, years counted from March so that leap days come last.
const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (y.div_euclid(400), y.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Year, month and day of a day counted from 1970-01-01.
pub const fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let (era, day_of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

/// Days in a month of the Gregorian calendar.
const fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::expect_used,
        clippy::panic
    )]
    use super::*;
    use proptest::prelude::*;

    const UTC: ZoneMinutesWest = ZoneMinutesWest(0);
    const BERLIN_WINTER: ZoneMinutesWest = ZoneMinutesWest(-60);
    const NEW_YORK_WINTER: ZoneMinutesWest = ZoneMinutesWest(300);

    #[test]
    fn filetime_of_known_moments() {
        assert_eq!(FileTime::from_unix_ns(0).0, 116_444_736_000_000_000);
        assert_eq!(
            FileTime::from_unix_ns(1_000_000_000 * SECOND_NS).0,
            126_444_736_000_000_000
        );
        assert_eq!(
            FileTime(0).unix_ns(),
            i64::MIN,
            "the year 1601 is before the range of i64 nanoseconds"
        );
        assert_eq!(FileTime(u64::MAX).unix_ns(), i64::MAX);
        assert_eq!(
            FileTime::from(Time(123_456_789)).0,
            116_444_736_000_000_000 + 1_234_567
        );
    }

    #[test]
    fn filetime_rounds_down_before_1970_too() {
        assert_eq!(FileTime::from_unix_ns(-1).0, 116_444_736_000_000_000 - 1);
        assert_eq!(FileTime::from_unix_ns(-1).unix_ns(), -100);
    }

    #[test]
    fn special_filetimes_set_nothing() {
        assert_eq!(FileTime(0).change(), TimeChange::Leave);
        assert_eq!(FileTime(u64::MAX).change(), TimeChange::Suspend);
        assert_eq!(FileTime(u64::MAX - 1).change(), TimeChange::Resume);
        assert_eq!(FileTime(1 << 63).change(), TimeChange::Leave);
        assert_eq!(
            FileTime(116_444_736_000_000_001).change(),
            TimeChange::Set(100)
        );
    }

    #[test]
    fn utime_is_local_time() {
        let ns = 1_700_000_000 * SECOND_NS;
        assert_eq!(Utime::from_unix_ns(ns, BERLIN_WINTER), Utime(1_700_003_600));
        assert_eq!(
            Utime::from_unix_ns(ns, NEW_YORK_WINTER),
            Utime(1_700_000_000 - 5 * 3600)
        );
        assert_eq!(Utime(1_700_003_600).unix_ns(BERLIN_WINTER), ns);
        assert_eq!(Utime::from_unix_ns(-SECOND_NS, UTC), Utime(0));
        assert_eq!(Utime::from_unix_ns(i64::MAX, UTC), Utime(0xffff_fffe));
        assert_eq!(Utime(0).change(UTC), TimeChange::Leave);
        assert_eq!(Utime(u32::MAX).change(UTC), TimeChange::Leave);
        assert_eq!(Utime(5).change(UTC), TimeChange::Set(5 * SECOND_NS));
    }

    #[test]
    fn dos_date_of_a_known_moment() {
        // 1993-11-10T11:22:32 local: year 13, month 11, day 10; hour 11, minute 22, second 32.
        let stamp = DosDateTime {
            date: 13 << 9 | 11 << 5 | 10,
            time: 11 << 11 | 22 << 5 | 16,
        };
        let ns = 752_930_552 * SECOND_NS;
        assert_eq!(stamp.unix_ns(UTC), Some(ns));
        assert_eq!(stamp.unix_ns(BERLIN_WINTER), Some(ns - 3600 * SECOND_NS));
        assert_eq!(DosDateTime::from_unix_ns(ns, UTC), stamp);
        assert_eq!(
            DosDateTime::from_unix_ns(ns + 2 * SECOND_NS - 1, UTC),
            stamp,
            "the time must be rounded down to 2 s"
        );
    }

    #[test]
    fn dos_dates_clamp_at_both_ends() {
        assert_eq!(DosDateTime::from_unix_ns(0, UTC), DosDateTime::MIN);
        assert_eq!(
            DosDateTime::from_unix_ns(i64::MIN, BERLIN_WINTER),
            DosDateTime::MIN
        );
        assert_eq!(
            DosDateTime::from_unix_ns(i64::MAX, NEW_YORK_WINTER),
            DosDateTime::MAX
        );
        let last = DosDateTime::MAX.unix_ns(UTC).unwrap();
        assert_eq!(last, 4_354_819_198 * SECOND_NS);
        assert_eq!(DosDateTime::from_unix_ns(last, UTC), DosDateTime::MAX);
        assert_eq!(
            DosDateTime::from_unix_ns(last + 2 * SECOND_NS, UTC),
            DosDateTime::MAX
        );
    }

    #[test]
    fn an_invalid_date_is_rejected() {
        for (date, time) in [
            (0, 0),
            (0xffff, 0xffff),
            (0x0021, 24 << 11),
            (0x0021, 60 << 5),
            (0x0021, 30),
            (0x005e, 0),
        ] {
            assert_eq!(
                DosDateTime { date, time }.unix_ns(UTC),
                None,
                "{date:#x} {time:#x}"
            );
            assert_eq!(DosDateTime { date, time }.change(UTC), TimeChange::Leave);
        }
    }

    #[test]
    fn every_valid_dos_date_and_time_survives_a_round_trip() {
        let (mut dates, mut times) = (0, 0);
        for date in 0..=u16::MAX {
            let stamp = DosDateTime { date, time: 0xbf7d };
            if let Some(ns) = stamp.unix_ns(NEW_YORK_WINTER) {
                assert_eq!(DosDateTime::from_unix_ns(ns, NEW_YORK_WINTER), stamp);
                dates += 1;
            }
        }
        for time in 0..=u16::MAX {
            let stamp = DosDateTime { date: 0x3c5c, time };
            if let Some(ns) = stamp.unix_ns(BERLIN_WINTER) {
                assert_eq!(DosDateTime::from_unix_ns(ns, BERLIN_WINTER), stamp);
                times += 1;
            }
        }
        assert_eq!(
            (dates, times),
            (46_751, 43_200),
            "days of 1980..=2107, 2-second steps of a day"
        );
    }

    #[test]
    fn civil_days_agree_with_counting_day_by_day() {
        let (mut year, mut month, mut day) = (1601, 1, 1);
        for days in days_from_civil(1601, 1, 1)..=days_from_civil(2200, 12, 31) {
            assert_eq!(civil_from_days(days), (year, month, day));
            assert_eq!(days_from_civil(year, month, day), days);
            day += 1;
            if day > days_in_month(year, month) {
                (day, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
        assert_eq!((year, month, day), (2201, 1, 1));
    }

    proptest! {
        #[test]
        fn filetime_keeps_what_100_ns_can_hold(ns in any::<i64>()) {
            let back = FileTime::from_unix_ns(ns).unix_ns();
            prop_assert!(back <= ns && (ns - back < 100 || ns < i64::MIN + 100));
        }

        #[test]
        fn utime_keeps_whole_seconds(s in 1u32..0xffff_ffff, zone in -840i16..=840) {
            let zone = ZoneMinutesWest(zone);
            prop_assert_eq!(Utime::from_unix_ns(Utime(s).unix_ns(zone), zone), Utime(s));
        }

        #[test]
        fn dos_time_is_the_last_step_not_after_the_moment(s in 315_532_800i64 + 86_400..4_354_819_200 - 86_400, zone in -840i16..=840) {
            let zone = ZoneMinutesWest(zone);
            let back = DosDateTime::from_unix_ns(s * SECOND_NS, zone).unix_ns(zone).unwrap();
            prop_assert!(s * SECOND_NS - back < 2 * SECOND_NS && back <= s * SECOND_NS);
        }

        #[test]
        fn no_moment_and_zone_overflows(ns in any::<i64>(), zone in any::<i16>(), date in any::<u16>(), time in any::<u16>()) {
            let zone = ZoneMinutesWest(zone);
            let _ = Utime::from_unix_ns(ns, zone).unix_ns(zone);
            let stamp = DosDateTime::from_unix_ns(ns, zone);
            prop_assert!(stamp >= DosDateTime::MIN && stamp <= DosDateTime::MAX);
            let _ = DosDateTime { date, time }.change(zone);
        }
    }
}
