//! Metrics as text of OpenMetrics 1.0.
//!
//! The values of labels are those of [`coax_serve::TotalsStatus`], which limits their number; here their length is limited
//! too.

use std::{collections::BTreeMap, fmt::Write as _};

use coax_serve::{OTHER, TotalsStatus};

use crate::frame::Seen;

/// The type of the text.
pub(crate) const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Systems of connected clients that are counted for themselves.
const SYSTEMS_MAX: usize = 32;
/// The longest value of a label, characters.
const LABEL_MAX: usize = 120;

/// All families: name, type, meaning.
pub const FAMILIES: &[(&str, &str, &str)] = &[
    ("coax_build", "info", "The version of the server."),
    (
        "coax_uptime_seconds",
        "gauge",
        "Seconds since the server started.",
    ),
    (
        "coax_clients",
        "gauge",
        "Connected clients by recognised system.",
    ),
    ("coax_open_files", "gauge", "Open files and folders."),
    ("coax_print_jobs", "gauge", "Print jobs that run or wait."),
    (
        "coax_limit_used",
        "gauge",
        "How much of a limit of the server is used.",
    ),
    ("coax_limit_max", "gauge", "The limits of the server."),
    ("coax_requests", "counter", "Requests by SMB command."),
    ("coax_share_requests", "counter", "Requests by share."),
    (
        "coax_share_received_bytes",
        "counter",
        "Bytes received by share.",
    ),
    ("coax_share_sent_bytes", "counter", "Bytes sent by share."),
    (
        "coax_share_free_bytes",
        "gauge",
        "Free space of a share's disk.",
    ),
    ("coax_share_size_bytes", "gauge", "Size of a share's disk."),
    (
        "coax_system_requests",
        "counter",
        "Requests by the client's recognised system.",
    ),
    (
        "coax_system_received_bytes",
        "counter",
        "Bytes received by the client's recognised system.",
    ),
    (
        "coax_system_sent_bytes",
        "counter",
        "Bytes sent by the client's recognised system.",
    ),
    (
        "coax_wait_seconds",
        "counter",
        "What clients waited for, by recognised system and cause of coax explain.",
    ),
    (
        "coax_page_readers",
        "gauge",
        "Readers of the page's events.",
    ),
    (
        "coax_page_refused",
        "counter",
        "Requests to the page that were refused, by reason.",
    ),
];

/// The metrics.
pub(crate) fn text(seen: &Seen, readers: usize, refused: &BTreeMap<&'static str, u64>) -> String {
    let mut out = Text(String::new());
    let status = &seen.status;
    out.family(
        "coax_build",
        [(&[("version", &*status.version)][..], 1.into())],
    );
    out.one("coax_uptime_seconds", status.seconds);
    out.by("coax_clients", "system", &systems(seen));
    out.one("coax_open_files", status.files_total as u64);
    out.one("coax_print_jobs", status.print_jobs.len() as u64);
    let limits = status.limits.iter();
    out.each(
        "coax_limit_used",
        "limit",
        limits.clone().map(|limit| (&*limit.what, limit.used)),
    );
    out.each(
        "coax_limit_max",
        "limit",
        limits.map(|limit| (&*limit.what, limit.most)),
    );
    counted(&mut out, &seen.totals);
    let spaces = seen.spaces.iter();
    out.each(
        "coax_share_free_bytes",
        "share",
        spaces.clone().map(|(name, space)| (&**name, space.0)),
    );
    out.each(
        "coax_share_size_bytes",
        "share",
        spaces.map(|(name, space)| (&**name, space.1)),
    );
    out.one("coax_page_readers", readers as u64);
    out.each(
        "coax_page_refused",
        "reason",
        refused.iter().map(|(why, count)| (*why, *count)),
    );
    out.0 + "# EOF\n"
}

fn counted(out: &mut Text, totals: &TotalsStatus) {
    let commands = totals.commands.iter();
    out.each(
        "coax_requests",
        "command",
        commands.map(|(name, count)| (&**name, *count)),
    );
    let shares = || {
        totals
            .shares
            .iter()
            .map(|(name, traffic)| (&**name, traffic))
    };
    out.each(
        "coax_share_requests",
        "share",
        shares().map(|(name, it)| (name, it.requests)),
    );
    out.each(
        "coax_share_received_bytes",
        "share",
        shares().map(|(name, it)| (name, it.received)),
    );
    out.each(
        "coax_share_sent_bytes",
        "share",
        shares().map(|(name, it)| (name, it.sent)),
    );
    let systems = || {
        totals
            .systems
            .iter()
            .map(|(name, system)| (&**name, system))
    };
    let traffic = || systems().map(|(name, system)| (name, system.traffic));
    out.each(
        "coax_system_requests",
        "system",
        traffic().map(|(name, it)| (name, it.requests)),
    );
    out.each(
        "coax_system_received_bytes",
        "system",
        traffic().map(|(name, it)| (name, it.received)),
    );
    out.each(
        "coax_system_sent_bytes",
        "system",
        traffic().map(|(name, it)| (name, it.sent)),
    );
    let mut waits = Vec::new();
    for (name, system) in systems() {
        for (cause, ns) in &system.waits_ns {
            waits.push((
                [("system", name), ("cause", &**cause)],
                Value::Nanoseconds(*ns),
            ));
        }
    }
    let waits = waits.iter().map(|(labels, value)| (&labels[..], *value));
    out.family("coax_wait_seconds", waits);
}

/// Connected clients by system.
fn systems(seen: &Seen) -> BTreeMap<&str, u64> {
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    for client in &seen.status.clients {
        let name = match &*client.system {
            "" => "unknown",
            name => name,
        };
        let is_new = !found.contains_key(name);
        let name = if is_new && found.len() >= SYSTEMS_MAX {
            OTHER
        } else {
            name
        };
        let count = found.entry(name).or_default();
        *count = count.saturating_add(1);
    }
    found
}

#[derive(Clone, Copy)]
enum Value {
    Number(u64),
    Nanoseconds(u64),
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

struct Text(String);

impl Text {
    fn one(&mut self, name: &str, value: u64) {
        self.family(name, [(&[][..], value.into())]);
    }

    fn by(&mut self, name: &str, label: &str, values: &BTreeMap<&str, u64>) {
        self.each(
            name,
            label,
            values.iter().map(|(value, count)| (*value, *count)),
        );
    }

    fn each<'a>(&mut self, name: &str, label: &str, values: impl Iterator<Item = (&'a str, u64)>) {
        let samples: Vec<_> = values
            .map(|(value, count)| ([(label, value)], count))
            .collect();
        let samples = samples
            .iter()
            .map(|(labels, count)| (&labels[..], (*count).into()));
        self.family(name, samples);
    }

    fn family<'a>(
        &mut self,
        name: &str,
        samples: impl IntoIterator<Item = (&'a [(&'a str, &'a str)], Value)>,
    ) {
        let row = FAMILIES.iter().find(|row| row.0 == name);
        let Some((_, kind, help)) = row else {
            return;
        };
        let _ = writeln!(self.0, "# TYPE {name} {kind}");
        if let Some(unit) = ["seconds", "bytes"]
            .iter()
            .find(|unit| name.ends_with(&format!("_{unit}")))
        {
            let _ = writeln!(self.0, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.0, "# HELP {name} {help}");
        let suffix = match *kind {
            "counter" => "_total",
            "info" => "_info",
            _ => "",
        };
        for (labels, value) in samples {
            let _ = write!(self.0, "{name}{suffix}");
            for (place, (label, text)) in labels.iter().enumerate() {
                let before = if place == 0 { '{' } else { ',' };
                let _ = write!(self.0, "{before}{label}=\"{}\"", escaped(text));
            }
            if !labels.is_empty() {
                self.0.push('}');
            }
            let _ = match value {
                Value::Number(number) => writeln!(self.0, " {number}"),
                Value::Nanoseconds(ns) => {
                    writeln!(self.0, " {}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
                }
            };
        }
    }
}

/// A label's value: at most [`LABEL_MAX`] characters, without control characters.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().take(LABEL_MAX) {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::string_slice)]
    use super::*;
    use crate::frame::tests::status;
    use coax_serve::{SystemStatus, TrafficStatus, status::ClientStatus};

    fn seen(systems: usize) -> Seen {
        let clients = (0..systems).map(|number| ClientStatus {
            client: number as u64,
            system: format!("system \"{number}\"\\\n"),
            ..ClientStatus::default()
        });
        let system = SystemStatus {
            traffic: TrafficStatus {
                requests: 2,
                received: 3,
                sent: 4,
            },
            waits_ns: BTreeMap::from([("server-think".to_owned(), 1_050_000_000)]),
        };
        Seen {
            at_ms: 0,
            status: status(clients.collect()),
            totals: TotalsStatus {
                systems: BTreeMap::from([("x".repeat(1000), system)]),
                ..TotalsStatus::default()
            },
            name: (String::new(), String::new()),
            shares: Vec::new(),
            spaces: BTreeMap::new(),
            recording: serde_json::Value::Null,
        }
    }

    #[test]
    fn every_family_is_written_once_with_its_type() {
        let text = text(&seen(1), 1, &BTreeMap::new());
        for (name, kind, help) in FAMILIES {
            assert_eq!(
                text.matches(&format!("# TYPE {name} {kind}\n")).count(),
                1,
                "{name}"
            );
            assert!(text.contains(&format!("# HELP {name} {help}\n")));
        }
        assert_eq!(text.matches("# TYPE").count(), FAMILIES.len());
        assert!(text.ends_with("# EOF\n"));
    }

    #[test]
    fn label_values_are_escaped_short_and_few() {
        let text = text(&seen(100), 1, &BTreeMap::new());
        assert_eq!(text.matches("coax_clients{").count(), SYSTEMS_MAX + 1);
        assert!(
            text.contains("coax_clients{system=\"other\"} 68\n"),
            "{text}"
        );
        assert!(
            text.contains("coax_clients{system=\"system \\\"0\\\"\\\\ \"} 1\n"),
            "{text}"
        );
        let wait = format!(
            "coax_wait_seconds_total{{system=\"{}\",cause=\"server-think\"}} 1.050000000\n",
            "x".repeat(LABEL_MAX)
        );
        assert!(text.contains(&wait), "{text}");
    }

    #[test]
    fn the_dashboard_uses_metrics_that_exist() {
        let text = include_str!("../../../packaging/grafana/coax.json");
        let dashboard: serde_json::Value = serde_json::from_str(text).unwrap();
        let mut asked = 0;
        for panel in dashboard["panels"].as_array().unwrap() {
            for target in panel["targets"].as_array().unwrap() {
                let expression = target["expr"].as_str().unwrap();
                for at in expression.match_indices("coax_").map(|(at, _)| at) {
                    let rest = &expression[at..];
                    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                    let name = &rest[..end.unwrap_or(rest.len())];
                    let is_known = |row: &&(&str, &str, &str)| match row.1 {
                        "counter" => name.strip_suffix("_total") == Some(row.0),
                        "info" => name.strip_suffix("_info") == Some(row.0),
                        _ => name == row.0,
                    };
                    assert!(FAMILIES.iter().any(|row| is_known(&row)), "{name}");
                    asked += 1;
                }
            }
        }
        assert!(asked >= FAMILIES.len() - 3, "{asked}");
    }
}
