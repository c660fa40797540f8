//! Copies whose cause is known (tests/captures/labelled), each from both ends.

use coax_explain::{
    Cause,
    report::{Capture, Connection, Copy, Direction, Vantage},
};
use coax_wire::time::Span;

use crate::common::labelled;

const ALL: [&str; 7] = [
    "base",
    "rwnd",
    "andx4k",
    "raw60k",
    "nagle_lan",
    "nagle_lan_nd",
    "shallow",
];

fn only_copy(name: &str) -> [Copy; 2] {
    labelled(name).map(|capture| {
        assert_eq!(capture.copies.len(), 1, "{name}");
        capture.copies[0].clone()
    })
}

/// The connection that carried the copy.
fn main(capture: &Capture) -> &Connection {
    &capture.connections[capture.copies[0].connection]
}

fn share(copy: &Copy, cause: Cause) -> u64 {
    copy.account.get(cause).0 * 100 / copy.wall.0
}

#[test]
fn both_ends_are_recognised_as_what_they_are() {
    for name in ALL {
        let vantages = labelled(name).map(|capture| main(&capture).vantage);
        assert_eq!(
            vantages,
            [Some(Vantage::Client), Some(Vantage::Server)],
            "{name}"
        );
    }
}

#[test]
fn bytes_and_exchanges_are_those_of_the_copies() {
    for (name, bytes, command, count) in [
        ("base", 8_000_000, "READ_ANDX", 125),
        ("rwnd", 8_000_000, "READ_ANDX", 125),
        ("andx4k", 2_002_944, "READ_ANDX", 489),
        ("raw60k", 8_000_000, "READ_RAW", 131),
        ("nagle_lan", 802_816, "READ_ANDX", 196),
        ("nagle_lan_nd", 802_816, "READ_ANDX", 196),
        ("shallow", 8_000_000, "READ_ANDX", 125),
    ] {
        for copy in only_copy(name) {
            assert_eq!(
                (copy.bytes, copy.direction),
                (bytes, Direction::ToClient),
                "{name}"
            );
            assert_eq!((copy.holes, copy.seen), ((0, 0), (true, true)), "{name}");
            let row = &copy.requests[0];
            assert_eq!(
                (&*row.command, row.count, row.bytes),
                (command, count, bytes),
                "{name}"
            );
            assert_eq!((row.refused, row.unanswered), (0, 0), "{name}");
        }
    }
}

#[test]
fn causes_add_up_to_the_wall_clock_exactly() {
    for name in ALL {
        for copy in only_copy(name) {
            assert_eq!(copy.account.total(), copy.wall, "{name}");
            assert_eq!(copy.account.get(Cause::Unattributed), Span(0), "{name}");
            assert_eq!(copy.account.get(Cause::Capture), Span(0), "{name}");
        }
    }
}

#[test]
fn what_took_most_is_what_the_label_says_from_both_ends() {
    for (name, cause) in [
        ("rwnd", Cause::ReceiveWindow),
        ("andx4k", Cause::RoundTrips),
        ("raw60k", Cause::RoundTrips),
        ("nagle_lan", Cause::NagleDelayedAck),
    ] {
        let copies = only_copy(name);
        for copy in &copies {
            assert_eq!(copy.account.dominant(), cause, "{name}");
        }
        let shares = copies.each_ref().map(|copy| share(copy, cause));
        assert!(shares[0].abs_diff(shares[1]) <= 6, "{name}: {shares:?}");
    }
}

#[test]
fn a_short_queue_costs_what_its_path_does_not_take() {
    // labels.toml: 20 Mbit/s; segments of 1,448 bytes with the 14 bytes of Ethernet that the emulator counted
    const CARRIED_MS: u64 = 8_000_000 / 1448 * 1514 * 8 / 20_000;
    for copy in only_copy("shallow") {
        let carried = copy.account.get(Cause::Bandwidth).0 / 1_000_000;
        assert!(carried.abs_diff(CARRIED_MS) * 10 <= CARRIED_MS, "{carried}");
        let repaired = copy.account.get(Cause::FastRecovery);
        let rest = Span(copy.wall.0 - copy.account.get(Cause::Bandwidth).0);
        assert!(repaired.0 * 10 >= rest.0 * 7, "{repaired:?} of {rest:?}");
    }
}

#[test]
fn the_time_limited_by_the_window_is_the_kernel_s_own_account_of_it() {
    // labels.toml: rwnd_limited of TCP_INFO, milliseconds
    const KERNEL_MS: u64 = 1336;
    for copy in only_copy("rwnd") {
        let limited = copy.account.get(Cause::ReceiveWindow).0 / 1_000_000;
        assert!(limited.abs_diff(KERNEL_MS) * 10 <= KERNEL_MS, "{limited}");
    }
}

#[test]
fn without_nagle_nothing_waits_for_acknowledgments() {
    for copy in only_copy("nagle_lan_nd") {
        assert!(share(&copy, Cause::NagleDelayedAck) <= 1);
    }
}

#[test]
fn a_window_too_small_shows_nowhere_else() {
    for name in ["andx4k", "raw60k", "nagle_lan", "nagle_lan_nd", "shallow"] {
        for copy in only_copy(name) {
            assert!(share(&copy, Cause::ReceiveWindow) <= 1, "{name}");
        }
    }
}

#[test]
fn a_loss_without_timeouts_shows_as_fast_recovery() {
    for copy in only_copy("shallow") {
        let timeout = copy.account.get(Cause::Timeout);
        assert!(copy.account.get(Cause::FastRecovery) > Span(timeout.0 * 5));
    }
}

#[test]
fn what_was_sent_again_is_counted_where_it_can_be_seen() {
    let [client, server] = labelled("shallow");
    let sent = main(&server).sides[1];
    assert_eq!((sent.retransmissions, sent.out_of_order), (79, 0));
    let arrived = main(&client).sides[1];
    // the last of them came after nothing later: at the client it looks like new data, as tcptrace has it too
    assert_eq!((arrived.retransmissions, arrived.out_of_order), (0, 78));
}

#[test]
fn what_was_agreed_on_is_told() {
    let [client, _] = labelled("raw60k");
    let smb = main(&client).smb.as_ref().unwrap();
    assert_eq!(smb.dialect.as_deref(), Some("NT LM 0.12"));
    assert_eq!(
        (smb.server_max_buffer, smb.client_max_buffer),
        (Some(16_644), Some(61_440))
    );
    assert_eq!(
        (smb.raw_offered, smb.raw_reads),
        (Some((true, true)), (131, 0))
    );
    assert_eq!((smb.most_outstanding, smb.max_mpx), (1, Some(50)));
}
