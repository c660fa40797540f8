//! One day of samples.

use proptest::prelude::*;

use super::open;
use crate::{
    ClientSample, HISTORY_MINUTES, Minute, OTHERS, SAMPLES_MAX, ShareSample,
    history::{decode, encode},
};

const NOW: u64 = 30_000_000;

fn sample(minute: u64, read: u64) -> Minute {
    Minute {
        minute,
        shares: vec![ShareSample {
            share: "DATA".into(),
            read,
            written: 1,
        }],
        clients: vec![ClientSample {
            address: "10.0.0.5".into(),
            name: "PC1".into(),
            received: 10,
            sent: read,
            requests: 3,
            refused: 1,
            waited_us: read,
            cause: "bandwidth".into(),
        }],
    }
}

#[test]
fn a_minute_that_is_written_in_parts_is_their_sum() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.write_minute(NOW, sample(NOW, 5)).unwrap();
    drop(store);
    let store = open(folder.path());
    let mut other = sample(NOW, 7);
    other.clients[0].cause = "round-trips".into();
    store.write_minute(NOW, other).unwrap();
    let known = store.history(NOW).unwrap();
    assert_eq!(known.len(), 1);
    assert_eq!(
        (known[0].shares[0].read, known[0].shares[0].written),
        (12, 2)
    );
    let client = &known[0].clients[0];
    assert_eq!(
        (client.requests, client.refused, client.waited_us),
        (6, 2, 12)
    );
    assert_eq!(client.cause, "round-trips", "that of the longer wait");
}

#[test]
fn a_day_is_kept_and_what_is_older_goes() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for minute in (NOW - 3 * HISTORY_MINUTES..=NOW).step_by(97) {
        store.write_minute(minute, sample(minute, 1)).unwrap();
    }
    let known = store.history(NOW).unwrap();
    assert!(known.first().unwrap().minute > NOW - HISTORY_MINUTES);
    assert_eq!(known.len() as u64, HISTORY_MINUTES.div_ceil(97));
    let rows = crate::history::rows(&store.0).unwrap() as u64;
    assert!(rows <= HISTORY_MINUTES / 97 + 2, "{rows} rows");
}

#[test]
fn a_clock_that_was_wrong_for_a_while_does_not_cost_the_day() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.write_minute(NOW, sample(NOW, 1)).unwrap();
    // an hour back: the day after is kept
    store.write_minute(NOW - 60, sample(NOW - 60, 1)).unwrap();
    assert_eq!(store.history(NOW).unwrap().len(), 2);
    assert_eq!(store.history(NOW - 60).unwrap().len(), 1);
}

#[test]
fn more_shares_and_clients_than_fit_are_one_sample() {
    let mut minute = Minute::default();
    for number in 0..SAMPLES_MAX as u64 * 3 {
        let mut one = sample(0, 1);
        one.shares[0].share = format!("S{number}");
        one.clients[0].address = format!("10.0.1.{number}");
        minute.add(one);
    }
    assert_eq!(
        (minute.shares.len(), minute.clients.len()),
        (SAMPLES_MAX, SAMPLES_MAX)
    );
    let (share, client) = (
        minute.shares.last().unwrap(),
        minute.clients.last().unwrap(),
    );
    assert_eq!((&*share.share, &*client.address), (OTHERS, OTHERS));
    let total: u64 = minute.shares.iter().map(|share| share.read).sum();
    assert_eq!(total, SAMPLES_MAX as u64 * 3, "nothing is lost");
    assert_eq!(client.name, "");
}

#[test]
fn a_row_that_is_none_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.write_minute(NOW, sample(NOW, 1)).unwrap();
    let table = redb::TableDefinition::<u64, &[u8]>::new("history-1");
    let transaction = store.0.begin_write().unwrap();
    let rubbish: &[u8] = &[200, 1, 2, 3];
    transaction
        .open_table(table)
        .unwrap()
        .insert(NOW - 1, rubbish)
        .unwrap();
    transaction.commit().unwrap();
    assert_eq!(store.history(NOW).unwrap().len(), 1);
    store.write_minute(NOW, sample(NOW - 1, 4)).unwrap();
    assert_eq!(store.history(NOW).unwrap()[0].shares[0].read, 4);
}

proptest! {
    #[test]
    fn any_bytes_are_a_row_or_none(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        if let Some(minute) = decode(NOW, &bytes) {
            prop_assert_eq!(encode(&minute), bytes);
        }
    }

    #[test]
    fn a_row_reads_as_it_was_written(names in prop::collection::vec(".{0,80}", 0..40), read in any::<u64>()) {
        let mut minute = Minute { minute: NOW, ..Minute::default() };
        for name in names {
            let mut one = sample(NOW, read);
            one.shares[0].share = name.clone();
            one.clients[0].address = name;
            minute.add(one);
        }
        let decoded = decode(NOW, &encode(&minute)).unwrap();
        prop_assert_eq!(decoded.shares.len(), minute.shares.len());
        for (got, put) in decoded.shares.iter().zip(&minute.shares) {
            prop_assert!(put.share.starts_with(&got.share) && got.share.len() <= 64);
            prop_assert_eq!((got.read, got.written), (put.read, put.written));
        }
    }
}
