//! Formats sizes, rates and times: 1 MB is 10^6 bytes, and rates are in MB/s and Mbit/s.

pub use coax_decode::harmless_json;
use coax_decode::is_harmful;
use coax_explain::report::Quality;
use coax_wire::time::Span;

/// Converts to seconds.
pub(super) fn seconds(span: Span) -> f64 {
    span.0 as f64 / 1e9
}

/// For example `8.0 MB`, `512 bytes`.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => many(bytes, "byte"),
        10_000..1_000_000 => format!("{:.1} KB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}

/// For example `6.17 s`, `12.3 ms`, `49 min 3 s`, `3 h 20 min`, `12 days`.
pub(super) fn time(span: Span) -> String {
    // a value that rounds up to the next unit is shown in that unit
    match span.0 {
        0 => "0".to_owned(),
        1..999_500 => format!("{:.0} µs", span.0 as f64 / 1e3),
        999_500..999_950_000 => format!("{:.1} ms", span.0 as f64 / 1e6),
        999_950_000..99_995_000_000 => format!("{:.2} s", seconds(span)),
        _ => long_time(span.0.saturating_add(500_000_000) / 1_000_000_000),
    }
}

fn long_time(seconds: u64) -> String {
    const HOUR: u64 = 3600;
    match seconds {
        0..7200 => format!("{} min {} s", seconds / 60, seconds % 60),
        7200..172_800 => format!("{} h {} min", seconds / HOUR, seconds % HOUR / 60),
        _ => format!("{} days", seconds / (24 * HOUR)),
    }
}

/// For example `4.985 s`, or `52.100 ms` if the whole is less than a second: a part in the unit of the whole, with
/// three decimals.
pub(super) fn part_of(part: Span, whole: Span) -> String {
    match whole.0 {
        0..1_000_000_000 => format!("{:.3} ms", part.0 as f64 / 1e6),
        _ => format!("{:.3} s", seconds(part)),
    }
}

/// For example `1.30 MB/s (10.4 Mbit/s)`; `None` for no time.
pub(super) fn rate(bytes: u64, span: Span) -> Option<String> {
    (span.0 > 0).then(|| {
        let per_second = bytes as f64 / seconds(span);
        let megabytes = per_second / 1e6;
        let megabits = per_second * 8.0 / 1e6;
        if megabytes >= 0.1 {
            format!("{megabytes:.2} MB/s, {megabits:.1} Mbit/s")
        } else if per_second < 100.0 {
            format!("{per_second:.1} bytes/s")
        } else {
            format!("{:.1} KB/s, {:.3} Mbit/s", per_second / 1e3, megabits)
        }
    })
}

/// `part` as a percentage of `whole`.
pub(super) fn percent(part: Span, whole: Span) -> f64 {
    if whole.0 == 0 {
        0.0
    } else {
        part.0 as f64 * 100.0 / whole.0 as f64
    }
}

/// For example `1 request`, `2 requests`.
pub(super) fn many(count: u64, one: &str) -> String {
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{count} {one}s")
    }
}

/// Replaces the harmful characters of an untrusted name by question marks (html/dom.js replaces the same ones).
pub fn harmless(name: &str) -> String {
    name.chars()
        .map(|c| if is_harmful(c) { '?' } else { c })
        .collect()
}

/// The first unsupported link type of a capture (tcpdump.org/linktypes.html).
pub(super) fn unknown_link(quality: &Quality) -> String {
    let Some(number) = quality.unknown_link else {
        return "a link type that is not understood".to_owned();
    };
    let name = match number {
        3 => "AX.25",
        7 | 129 => "ARCNET",
        11 | 100 | 106 | 123 => "ATM",
        105 => "802.11",
        119 => "802.11 with a Prism header",
        127 => "802.11 with a radiotap header",
        163 => "802.11 with an AVS header",
        192 => "PPI",
        104 => "Cisco HDLC",
        107 => "frame relay",
        186 | 189 | 220 | 249 => "USB",
        _ => return format!("link type {number}"),
    };
    format!("link type {number} ({name})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_times_and_rates_read_as_people_write_them() {
        assert_eq!(size(8_000_000), "8.0 MB");
        assert_eq!(size(512), "512 bytes");
        assert_eq!(time(Span(6_168_200_000)), "6.17 s");
        assert_eq!(time(Span(2_943_000_000_000)), "49 min 3 s");
        assert_eq!(time(Span(119_700_000_000)), "2 min 0 s");
        assert_eq!(time(Span(12_000_000_000_000)), "3 h 20 min");
        assert_eq!(time(Span(12 * 86_400_000_000_000)), "12 days");
        assert_eq!(time(Span(999_960_000)), "1.00 s");
        assert_eq!(time(Span(999_600)), "1.0 ms");
        assert_eq!(part_of(Span(52_100), Span(1_000_000)), "0.052 ms");
        assert_eq!(part_of(Span(52_100_000), Span(1_000_000_000)), "0.052 s");
        assert_eq!(
            rate(8_000_000, Span(2_000_000_000)).as_deref(),
            Some("4.00 MB/s, 32.0 Mbit/s")
        );
        assert_eq!(
            rate(97, Span(222_000_000_000)).as_deref(),
            Some("0.4 bytes/s")
        );
        assert_eq!(rate(1, Span(0)), None);
    }

    #[test]
    fn a_name_cannot_command_the_terminal() {
        assert_eq!(harmless("A\x1b[2J\u{9b}B"), "A?[2J?B");
        assert_eq!(harmless("a\u{202e}fdp.exe\u{2028}\u{200b}"), "a?fdp.exe??");
        let value = serde_json::json!({ "name": "A\x1b[2J\u{9b}\u{202e}\u{7f}é\n" });
        let text = harmless_json(format!("{value:#}"));
        assert!(text.chars().all(|c| c == '\n' || !is_harmful(c)), "{text}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).ok(),
            Some(value)
        );
    }
}
