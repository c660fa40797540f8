//! The status as text.

use coax_serve::status::{
    AuditStatus, ClientStatus, FileStatus, NetworkStatus, Status, WinsStatus,
};

use super::{table::table, waits};
use crate::{digits::size, explain::words::harmless};

/// Files that are shown as text.
const FILES_SHOWN: usize = 100;
/// From this part of a limit on, it is shown.
const NEARLY: f64 = 0.8;

/// The report; `before` is an earlier status and the seconds since, for rates.
pub fn report(status: &Status, before: Option<(&Status, f64)>) -> String {
    let mut out = format!(
        "coax {}, process {}, {} for {}; {}\n",
        status.version,
        status.process,
        status.state,
        duration(status.seconds),
        count(status.clients.len(), "client"),
    );
    for limit in &status.limits {
        if limit.used as f64 >= limit.most as f64 * NEARLY {
            out.push_str(&format!(
                "nearly exhausted: {} {} of {}\n",
                limit.used, limit.what, limit.most
            ));
        }
    }
    out.push_str(&audit(status.audit.as_ref()));
    out.push_str(&wins(status.wins.as_ref()));
    if !status.clients.is_empty() {
        out.push('\n');
        let rows = status.clients.iter().map(|client| row(client, before));
        out.push_str(&table(&CLIENTS, rows.collect()));
    }
    if status.files_total > 0 {
        out.push_str(&format!("\n{}:\n", count(status.files_total, "open file")));
        let rows = status.files.iter().take(FILES_SHOWN).map(file);
        out.push_str(&table(&FILES, rows.collect()));
        if status.files_total > FILES_SHOWN {
            out.push_str(&format!(
                "… and {} more (--json)\n",
                status.files_total - FILES_SHOWN
            ));
        }
    }
    if !status.networks.is_empty() {
        out.push('\n');
    }
    status
        .networks
        .iter()
        .for_each(|known| out.push_str(&network(known)));
    if !status.print_jobs.is_empty() {
        let jobs = count(status.print_jobs.len(), "print command");
        out.push_str(&format!("\n{jobs} running or waiting:\n"));
        for job in status.print_jobs.iter().take(FILES_SHOWN) {
            out.push_str(&format!("  {}\n", harmless(job)));
        }
    }
    for client in &status.clients {
        out.push_str(&waits::report(client));
    }
    for client in &status.clients {
        for refused in &client.refused {
            out.push_str(&format!(
                "\nclient {} was refused: {}\n",
                client.client,
                harmless(refused)
            ));
        }
    }
    out
}

/// The audit log, if it lacks entries or cannot be written.
fn audit(audit: Option<&AuditStatus>) -> String {
    let Some(audit) = audit.filter(|audit| audit.dropped > 0 || audit.problem.is_some()) else {
        return String::new();
    };
    let problem = audit.problem.as_deref().unwrap_or("it is written again");
    format!(
        "audit log {}: {} entries waiting, {} dropped: {}\n",
        harmless(&audit.to),
        audit.waiting,
        audit.dropped,
        harmless(problem)
    )
}

/// The WINS server, if it refused a name because it asked the owners of too many.
fn wins(wins: Option<&WinsStatus>) -> String {
    let refused = wins.map_or(0, |wins| wins.refused_challenges);
    match refused {
        0 => String::new(),
        refused => format!(
            "WINS refused {refused} registrations: it asked the owners of too many names at a time\n"
        ),
    }
}

const CLIENTS: [&str; 10] = [
    "no.", "address", "name", "system", "dialect", "user", "idle", "in", "out", "requests",
];
const FILES: [&str; 6] = ["no.", "client", "share", "path", "open for", "oplock"];

fn row(client: &ClientStatus, before: Option<(&Status, f64)>) -> Vec<String> {
    let text = |text: &Option<String>| {
        text.as_deref()
            .map(|text| harmless(text).to_string())
            .unwrap_or_default()
    };
    let mut row = vec![client.client.to_string(), client.address.clone()];
    if client.busy {
        row.push("(busy)".into());
        return row;
    }
    let earlier = before.and_then(|(status, seconds)| {
        let found = status
            .clients
            .iter()
            .find(|other| other.client == client.client && !other.busy)?;
        Some((found, seconds))
    });
    let volume = |now: u64, of: fn(&ClientStatus) -> u64| match earlier {
        Some((earlier, seconds)) => format!(
            "{}/s",
            size((now.saturating_sub(of(earlier)) as f64 / seconds) as u64)
        ),
        None => size(now),
    };
    row.extend([
        text(&client.name),
        harmless(&client.system).to_string(),
        text(&client.dialect),
        text(&client.user),
        duration(client.idle_seconds),
        volume(client.bytes_in, |client| client.bytes_in),
        volume(client.bytes_out, |client| client.bytes_out),
        client.requests.to_string(),
    ]);
    row
}

fn network(network: &NetworkStatus) -> String {
    let names = network.names.iter().map(|name| match name.registered {
        true => name.name.clone(),
        false => format!("{} (not registered)", name.name),
    });
    let names: Vec<String> = names.collect();
    let mut line = format!("names at {}: {}", network.address, names.join(", "));
    if let Some(role) = &network.role {
        line.push_str(match role.as_str() {
            "master" => "; master browser",
            "backup" => "; backup browser",
            _ => "; no browser",
        });
    }
    if let Some(master) = &network.master {
        line.push_str(&format!(", the master is {}", harmless(master)));
    }
    line.push('\n');
    line
}

fn file(file: &FileStatus) -> Vec<String> {
    let mut access = match (file.reads, file.writes) {
        (true, true) => "reading and writing",
        (true, false) => "reading",
        (false, true) => "writing",
        (false, false) => "attributes",
    }
    .to_owned();
    for (is, word) in [
        (file.folder, "folder"),
        (file.locked, "locked"),
        (file.deleted_at_close, "to be deleted"),
    ] {
        if is {
            access.push_str(", ");
            access.push_str(word);
        }
    }
    let oplock = match (file.oplock.as_str(), file.breaking) {
        ("none", _) => String::new(),
        (oplock, false) => oplock.into(),
        (oplock, true) => format!("{oplock}, break not answered"),
    };
    vec![
        file.id.to_string(),
        harmless(&file.client).to_string(),
        harmless(&file.share).to_string(),
        harmless(&file.path).to_string(),
        access,
        oplock,
    ]
}

fn count(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use coax_serve::status::{LimitStatus, NameStatus};

    use super::*;

    fn clients() -> Vec<ClientStatus> {
        let dos = ClientStatus {
            client: 3,
            address: "10.0.0.5:1025".into(),
            name: Some("DOS\x1b[2J".into()),
            system: "MS-DOS".into(),
            dialect: Some("DOS LANMAN2.1".into()),
            user: Some("ann".into()),
            idle_seconds: 2,
            requests: 12,
            bytes_in: 5_000_000,
            refused: vec!["OPEN X: read-only share ('read only = no' would allow it)".into()],
            ..ClientStatus::default()
        };
        let busy = ClientStatus {
            client: 4,
            address: "10.0.0.6:1025".into(),
            busy: true,
            ..ClientStatus::default()
        };
        vec![dos, busy]
    }

    fn status() -> Status {
        Status {
            wins: Some(WinsStatus {
                challenges: 2,
                refused_challenges: 17,
            }),
            schema: 1,
            version: "0.1.0".into(),
            process: 77,
            seconds: 7_300,
            state: "serving".into(),
            clients: clients(),
            networks: vec![NetworkStatus {
                address: "10.0.0.1".into(),
                names: vec![
                    NameStatus {
                        name: "COAX<20>".into(),
                        registered: true,
                    },
                    NameStatus {
                        name: "COAX<00>".into(),
                        registered: false,
                    },
                ],
                role: Some("master".into()),
                master: Some("COAX".into()),
            }],
            print_jobs: vec!["the print command for a on LP".into()],
            files: vec![FileStatus {
                id: 12,
                client: "client 3 at 10.0.0.5:1025".into(),
                share: "DATA".into(),
                path: "a/b.txt".into(),
                folder: false,
                reads: true,
                writes: true,
                oplock: "batch".into(),
                breaking: true,
                locked: true,
                deleted_at_close: false,
            }],
            files_total: 1,
            audit: None,
            limits: vec![LimitStatus {
                what: "clients".into(),
                used: 9,
                most: 10,
            }],
        }
    }

    #[test]
    fn everything_is_shown_and_names_cannot_control_the_terminal() {
        let text = report(&status(), None);
        for part in [
            "process 77, serving for 2 h; 2 clients",
            "nearly exhausted: 9 clients of 10",
            "WINS refused 17 registrations: it asked",
            "10.0.0.6:1025  (busy)",
            "5.00 MB",
            "reading and writing, locked  batch, break not answered",
            "12   client 3",
            "names at 10.0.0.1: COAX<20>, COAX<00> (not registered); master browser, the master is COAX",
            "1 print command running or waiting:\n  the print command for a on LP",
            "client 3 was refused: OPEN X: read-only share",
        ] {
            assert!(text.contains(part), "{part}:\n{text}");
        }
        assert!(!text.contains('\x1b'));
    }

    #[test]
    fn rates_are_since_the_look_before() {
        let mut earlier = status();
        for client in &mut earlier.clients {
            client.bytes_in = 1_000_000;
        }
        let text = report(&status(), Some((&earlier, 2.0)));
        assert!(text.contains("2.00 MB/s"), "{text}");
    }
}
