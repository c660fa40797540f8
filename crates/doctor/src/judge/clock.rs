//! Time and time zone.

use crate::{
    facts::Facts,
    finding::{Check, Finding, Severity},
};

/// 2026-01-01, before which this program did not exist, seconds since 1970.
const EARLIEST_S: u64 = 1_767_225_600;

pub(super) fn judge(facts: &Facts, all: &mut Vec<Finding>) {
    let clock = &facts.clock;
    let found = |severity, what: String| Finding::new(severity, Check::Clock, what);
    if clock.now_s < EARLIEST_S {
        all.push(
            found(
                Severity::Error,
                "the clock is wrong: it shows a time before 2026".into(),
            )
            .why("files get wrong dates, and copies that compare dates overwrite the newer file")
            .fix("sudo timedatectl set-ntp true, or sudo date -s '2026-12-31 12:00'"),
        );
        return;
    }
    let zone = clock.zone.as_deref().unwrap_or("an unknown time zone");
    let east = -i32::from(clock.minutes_west);
    let sign = if east < 0 { '-' } else { '+' };
    let offset = format!("UTC{sign}{}:{:02}", east.abs() / 60, east.abs() % 60);
    match clock.synchronised {
        Some(true) => all.push(found(
            Severity::Ok,
            format!("the clock follows a time server; time zone {zone} ({offset})"),
        )),
        Some(false) => all.push(
            found(Severity::Warning, "the clock follows no time server".into())
                .why("dates of files drift; machines without a battery start years behind")
                .fix("sudo timedatectl set-ntp true"),
        ),
        None => all.push(
            found(
                Severity::Note,
                "it is not known whether the clock follows a time server".into(),
            )
            .why("neither timedatectl nor a time service of this machine answers")
            .fix("sudo apt install systemd-timesyncd, or compare with 'date'"),
        ),
    }
    if clock.minutes_west == 0 && facts.config.settings.global.time_offset_minutes == 0 {
        all.push(
            found(Severity::Note, format!("clients see the time in {offset}"))
                .at(zone)
                .why("DOS and Windows 9x keep local time: dates of files are hours off if they live in another zone")
                .fix("sudo timedatectl set-timezone Europe/Berlin (timedatectl list-timezones)"),
        );
    }
}
