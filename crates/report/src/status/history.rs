//! The last day as text.

use std::collections::BTreeMap;

use coax_serve::status::HistoryStatus;

use super::table::table;
use crate::{digits::size, explain::words::harmless};

/// Minutes of a column of the graph.
const STEP: u64 = 30;
/// Heights of a column; the first one is for a little, nothing is a blank.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

const SHARES: [&str; 5] = ["share", "read", "written", "most in a minute", "graph"];
const CLIENTS: [&str; 9] = [
    "client",
    "name",
    "received",
    "sent",
    "requests",
    "refused",
    "waited for",
    "most in a minute",
    "graph",
];

/// The sums of one share or client.
#[derive(Clone, Debug, Default)]
struct Sum {
    name: String,
    /// Bytes from the client, and to it.
    to_server: u64,
    to_client: u64,
    requests: u64,
    refused: u64,
    /// Microseconds by cause.
    causes: BTreeMap<String, u64>,
    /// Bytes by minute.
    minutes: BTreeMap<u64, u64>,
}

/// The report.
pub fn report(history: &HistoryStatus) -> String {
    let (mut shares, mut clients) = (BTreeMap::new(), BTreeMap::new());
    for minute in &history.minutes {
        for share in &minute.shares {
            let sum: &mut Sum = shares.entry(share.share.clone()).or_default();
            sum.add(minute.minute, share.written, share.read);
        }
        for client in &minute.clients {
            let sum: &mut Sum = clients.entry(client.address.clone()).or_default();
            sum.add(minute.minute, client.received, client.sent);
            sum.requests = sum.requests.saturating_add(client.requests);
            sum.refused = sum.refused.saturating_add(client.refused);
            if !client.name.is_empty() {
                sum.name.clone_from(&client.name);
            }
            if !client.cause.is_empty() {
                let waited = sum.causes.entry(client.cause.clone()).or_default();
                *waited = waited.saturating_add(client.waited_us);
            }
        }
    }
    let hours = history.length / 60;
    if shares.is_empty() && clients.is_empty() {
        return format!("no client requested anything in the last {hours} hours\n");
    }
    let mut out = format!(
        "the last {hours} hours; a column of the graph is {STEP} minutes, the last one is now\n"
    );
    if !shares.is_empty() {
        let rows = shares.iter().map(|(name, sum)| share(history, name, sum));
        out.push_str(&format!("\n{}", table(&SHARES, rows.collect())));
    }
    let rows = clients.iter().map(|(name, sum)| client(history, name, sum));
    out.push_str(&format!("\n{}", table(&CLIENTS, rows.collect())));
    out
}

impl Sum {
    fn add(&mut self, minute: u64, to_server: u64, to_client: u64) {
        self.to_server = self.to_server.saturating_add(to_server);
        self.to_client = self.to_client.saturating_add(to_client);
        let both = to_server.saturating_add(to_client);
        let bytes = self.minutes.entry(minute).or_default();
        *bytes = bytes.saturating_add(both);
    }

    /// The minute with the most bytes, by the server's clock.
    fn most(&self, history: &HistoryStatus) -> String {
        let most = self.minutes.iter().max_by_key(|(_, bytes)| **bytes);
        let Some((minute, bytes)) = most.filter(|(_, bytes)| **bytes > 0) else {
            return String::new();
        };
        let local = i128::from(*minute) - i128::from(history.minutes_west);
        let local = local.rem_euclid(24 * 60);
        format!("{} at {:02}:{:02}", size(*bytes), local / 60, local % 60)
    }

    /// The bytes of each step, relative to the step with the most.
    fn graph(&self, history: &HistoryStatus) -> String {
        let steps = history.length.div_ceil(STEP).clamp(1, 200);
        let mut columns = vec![0_u64; usize::try_from(steps).unwrap_or(1)];
        for (minute, bytes) in &self.minutes {
            let back = history.now.saturating_sub(*minute) / STEP;
            let place = steps.checked_sub(back.saturating_add(1));
            let place = place.and_then(|place| usize::try_from(place).ok());
            if let Some(column) = place.and_then(|place| columns.get_mut(place)) {
                *column = column.saturating_add(*bytes);
            }
        }
        let most = columns.iter().copied().max().unwrap_or(0).max(1);
        let height = |bytes: u64| {
            let steps = u128::from(bytes) * HEIGHTS.len() as u128;
            let place = usize::try_from(steps.div_ceil(u128::from(most))).unwrap_or(0);
            match place {
                0 => ' ',
                place => HEIGHTS.get(place - 1).copied().unwrap_or('█'),
            }
        };
        columns.into_iter().map(height).collect()
    }
}

fn share(history: &HistoryStatus, name: &str, sum: &Sum) -> Vec<String> {
    vec![
        harmless(name).to_string(),
        size(sum.to_client),
        size(sum.to_server),
        sum.most(history),
        sum.graph(history),
    ]
}

fn client(history: &HistoryStatus, address: &str, sum: &Sum) -> Vec<String> {
    let waited: u64 = sum.causes.values().sum();
    let cause = sum.causes.iter().max_by_key(|(_, us)| **us);
    let cause = match cause {
        Some((cause, us)) if waited > 0 => format!(
            "{} ({} %)",
            harmless(cause),
            u128::from(*us) * 100 / u128::from(waited)
        ),
        _ => String::new(),
    };
    vec![
        harmless(address).to_string(),
        harmless(&sum.name).to_string(),
        size(sum.to_server),
        size(sum.to_client),
        sum.requests.to_string(),
        sum.refused.to_string(),
        cause,
        sum.most(history),
        sum.graph(history),
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]

    use coax_serve::status::{ClientMinute, MinuteStatus, ShareMinute};

    use super::*;

    fn minute(minute: u64, bytes: u64) -> MinuteStatus {
        MinuteStatus {
            minute,
            shares: vec![ShareMinute {
                share: "DATA".into(),
                read: bytes,
                written: 0,
            }],
            clients: vec![ClientMinute {
                address: "10.0.0.5".into(),
                name: "PC\x1b[2J".into(),
                sent: bytes,
                requests: 2,
                waited_us: bytes,
                cause: "bandwidth".into(),
                ..ClientMinute::default()
            }],
        }
    }

    #[test]
    fn a_day_is_a_row_with_a_graph_for_each_share_and_client() {
        let now = 10_000 * 24 * 60 + 12 * 60;
        let history = HistoryStatus {
            schema: 1,
            now,
            length: 1440,
            minutes_west: -60,
            minutes: vec![
                minute(now - 1439, 1_000),
                minute(now - 61, 8_000),
                minute(now, 4_000),
            ],
        };
        let text = report(&history);
        let row = |name: &str| text.lines().find(|line| line.starts_with(name));
        let share = row("DATA").unwrap_or_default();
        assert!(
            share.contains("13.0 kB") && share.contains("8.0 kB at 11:59"),
            "{text}"
        );
        let graph: Vec<char> = share.chars().rev().take(48).collect();
        assert_eq!(
            (graph[0], graph[1], graph[2], graph[47]),
            ('▄', ' ', '█', '▁'),
            "{text}"
        );
        let client = row("10.0.0.5").unwrap_or_default();
        assert!(
            client.contains("bandwidth (100 %)") && !client.contains('\x1b'),
            "{text}"
        );
    }

    #[test]
    fn a_day_without_clients_is_said() {
        let history = HistoryStatus {
            length: 1440,
            ..HistoryStatus::default()
        };
        assert_eq!(
            report(&history),
            "no client requested anything in the last 24 hours\n"
        );
    }
}
