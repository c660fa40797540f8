use std::time::Duration;

use coax_serve::status::{AccountStatus, CopyStatus};
use serde_json::Value;

use super::*;

pub(crate) fn status(clients: Vec<ClientStatus>) -> Status {
    Status {
        wins: None,
        schema: 1,
        version: "0.1.0".into(),
        process: 7,
        seconds: 60,
        state: "serving".into(),
        clients,
        files: Vec::new(),
        files_total: 0,
        networks: Vec::new(),
        print_jobs: Vec::new(),
        audit: None,
        limits: Vec::new(),
    }
}

fn client(number: u64, bytes_out: u64) -> ClientStatus {
    let copy = CopyStatus {
        direction: "to-client".into(),
        file: Some("DATA/BIG.BIN".into()),
        ..CopyStatus::default()
    };
    ClientStatus {
        client: number,
        system: "Windows 98".into(),
        bytes_out,
        account: Some(AccountStatus {
            copy: Some(copy),
            ..AccountStatus::default()
        }),
        ..ClientStatus::default()
    }
}

fn seen(clients: Vec<ClientStatus>) -> Seen {
    let shares = ["DATA", "LPT"].map(|name| ShareSetting {
        name: name.into(),
        printer: name == "LPT",
    });
    Seen {
        at_ms: 1,
        status: status(clients),
        totals: TotalsStatus::default(),
        name: ("COAX".into(), "GROUP".into()),
        shares: shares.into(),
        spaces: BTreeMap::from([("DATA".to_owned(), (1, 2))]),
        recording: Value::Null,
    }
}

fn parsed(frame: &Frame) -> Value {
    serde_json::from_str(&frame.text).unwrap()
}

#[test]
fn a_client_has_its_rate_its_past_and_the_file_that_it_copies() {
    let (mut watcher, start) = (Watcher::default(), Instant::now());
    watcher.frame(seen(vec![client(3, 1000)]), start);
    let frame = watcher.frame(seen(vec![client(3, 5000)]), start + Duration::from_secs(2));
    let object = parsed(&frame);
    assert_eq!(object["clients"][0]["rate"], serde_json::json!([0, 2000]));
    assert_eq!(object["clients"][0]["system"], "Windows 98");
    let busiest = serde_json::json!([{ "file": "BIG.BIN", "client": 3, "direction": "to-client", "rate": 2000 }]);
    assert_eq!(object["shares"][0]["busiest"], busiest);
    assert_eq!(object["shares"][0]["space"], serde_json::json!([1, 2]));
    assert_eq!(object["shares"][1]["busiest"], serde_json::json!([]));
    assert_eq!(frame.past[&3], [(0, 0), (0, 2000)]);
    let gone = watcher.frame(seen(vec![]), start + Duration::from_secs(3));
    assert!(parsed(&gone)["clients"].as_array().unwrap().is_empty() && watcher.clients.is_empty());
}

#[test]
fn a_busy_client_keeps_what_was_known_of_it_and_stands_still_in_the_end() {
    let (mut watcher, start) = (Watcher::default(), Instant::now());
    let at = |seconds| start + Duration::from_secs(seconds);
    watcher.frame(seen(vec![client(3, 0)]), at(0));
    watcher.frame(seen(vec![client(3, 500)]), at(1));
    let busy = || ClientStatus {
        busy: true,
        system: String::new(),
        bytes_out: 0,
        ..client(3, 0)
    };
    let object = parsed(&watcher.frame(seen(vec![busy()]), at(2)));
    let shown = &object["clients"][0];
    assert_eq!(
        (&shown["system"], &shown["busy"]),
        (&"Windows 98".into(), &true.into())
    );
    assert_eq!(shown["rate"], serde_json::json!([0, 500]));
    for second in 3..6 {
        watcher.frame(seen(vec![busy()]), at(second));
    }
    let object = parsed(&watcher.frame(seen(vec![busy()]), at(6)));
    assert_eq!(object["clients"][0]["rate"], serde_json::json!([0, 0]));
    // the bytes of the whole time
    let object = parsed(&watcher.frame(seen(vec![client(3, 12_500)]), at(7)));
    assert_eq!(object["clients"][0]["rate"], serde_json::json!([0, 2000]));
}

#[test]
fn of_many_clients_the_most_active_are_shown_and_all_are_counted() {
    let (mut watcher, start) = (Watcher::default(), Instant::now());
    let all = |bytes: u64| {
        (1..=1000)
            .map(|number| client(number, number * bytes))
            .collect()
    };
    watcher.frame(seen(all(0)), start);
    let frame = watcher.frame(seen(all(10)), start + Duration::from_secs(1));
    let object = parsed(&frame);
    let shown: Vec<u64> = object["clients"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["client"].as_u64().unwrap())
        .collect();
    assert_eq!(shown, (801..=1000).collect::<Vec<u64>>());
    assert_eq!(
        (&object["clients_total"], frame.past.len()),
        (&1000.into(), 200)
    );
    for second in 2..300 {
        watcher.frame(seen(all(second)), start + Duration::from_secs(second));
    }
    assert!(
        watcher
            .clients
            .values()
            .all(|known| known.past.len() <= PAST)
    );
}
