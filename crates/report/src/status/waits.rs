//! What clients wait for, as text.

use coax_cause::Cause;
use coax_serve::status::{AccountStatus, ClientStatus, SharesStatus};

use crate::{digits::size, explain::words::harmless};

/// Causes with less than this part of the time are left out, percent.
const LEAST: u64 = 5;
/// A server that works on one request for longer than this is reported, milliseconds.
const LONG_MS: u64 = 1000;

/// What a client waits for; nothing of one that is idle.
pub(super) fn report(client: &ClientStatus) -> String {
    let Some(account) = &client.account else {
        return String::new();
    };
    let mut out = String::new();
    let number = client.client;
    if let Some(copy) = account.copy.as_ref().filter(|copy| copy.wall_us > 0) {
        let verb = match (copy.direction.as_str(), copy.ended) {
            ("to-client", false) => "reads",
            ("to-client", true) => "has read",
            (_, false) => "writes",
            (_, true) => "has written",
        };
        out.push_str(&format!(
            "\nclient {number} {verb} a file, {} in {:.1} s: {}\n",
            size(copy.bytes),
            copy.wall_us as f64 / 1e6,
            shares(&copy.shares)
        ));
    } else if account.minute.total_us() > 0 {
        out.push_str(&format!(
            "\nclient {number}, last minute: {}\n",
            shares(&account.minute)
        ));
    }
    out.push_str(&now(number, account));
    if let Some(advice) = &client.advice {
        out.push_str(&format!(
            "  advice, affects {} % of the copy time: {}. {}\n",
            advice.percent,
            advice.title,
            harmless(&advice.why)
        ));
        for change in &advice.changes {
            out.push_str(&format!("    {change}\n"));
        }
    }
    out
}

fn now(number: u64, account: &AccountStatus) -> String {
    let seconds = account.doing_ms / 1000;
    let what = match account.doing.as_str() {
        "parked" => "waits for another client (a lock, an oplock or an open file)",
        "serving" if account.doing_ms >= LONG_MS => "waits for the server's program or disk",
        "sending" if account.doing_ms >= LONG_MS => "does not accept the reply",
        _ => return String::new(),
    };
    format!("client {number} {what}, for {seconds} s\n")
}

/// The causes with the most time.
fn shares(shares: &SharesStatus) -> String {
    let total = shares.total_us().max(1);
    let mut parts: Vec<(u64, &str)> = shares
        .us
        .iter()
        .map(|(key, us)| (us.saturating_mul(100) / total, label(key)))
        .filter(|(percent, _)| *percent >= LEAST)
        .collect();
    parts.sort_by_key(|(percent, _)| std::cmp::Reverse(*percent));
    let parts: Vec<String> = parts
        .iter()
        .map(|(percent, label)| format!("{percent} % {label}"))
        .collect();
    parts.join(", ")
}

fn label(key: &str) -> &str {
    let mut all = Cause::ALL.into_iter();
    let found = all.find(|cause| cause.name() == key);
    found.map_or(key, |cause| cause.label())
}

#[cfg(test)]
mod tests {
    use coax_serve::status::{AdviceStatus, CopyStatus};

    use super::*;

    fn client(account: AccountStatus) -> ClientStatus {
        ClientStatus {
            client: 7,
            account: Some(account),
            ..ClientStatus::default()
        }
    }

    #[test]
    fn a_copy_is_shown_with_its_causes_and_advice() {
        let us = [
            ("round-trips", 700_000),
            ("server-think", 270_000),
            ("metadata", 30_000),
        ];
        let copy = CopyStatus {
            direction: "to-client".into(),
            wall_us: 1_000_000,
            bytes: 2_000_000,
            shares: SharesStatus {
                most: Some("round-trips".into()),
                us: us.map(|(key, us)| (key.into(), us)).into(),
            },
            ..CopyStatus::default()
        };
        let mut shown = client(AccountStatus {
            copy: Some(copy),
            ..AccountStatus::default()
        });
        shown.advice = Some(AdviceStatus {
            title: "Do this".into(),
            why: "Because.".into(),
            percent: 70,
            changes: vec!["on the client, X: 1".into()],
            ..AdviceStatus::default()
        });
        assert_eq!(
            report(&shown),
            "\nclient 7 reads a file, 2.00 MB in 1.0 s: 70 % waiting for round trips, 27 % server processing (its program or disk)\n  \
            advice, affects 70 % of the copy time: Do this. Because.\n    on the client, X: 1\n"
        );
    }

    #[test]
    fn a_client_that_waits_for_another_one_is_shown_and_an_idle_one_is_not() {
        let parked = client(AccountStatus {
            doing: "parked".into(),
            doing_ms: 12_345,
            ..AccountStatus::default()
        });
        assert_eq!(
            report(&parked),
            "client 7 waits for another client (a lock, an oplock or an open file), for 12 s\n"
        );
        let idle = client(AccountStatus {
            doing: "waiting".into(),
            doing_ms: 12_345,
            ..AccountStatus::default()
        });
        assert_eq!(report(&idle), "");
        assert_eq!(report(&ClientStatus::default()), "");
    }
}
