//! Copies between real programs that the referee (docs/referee.md) judged: tests/captures/referee, each from both ends.

use std::{fs::File, path::Path};

use coax_explain::{
    Cause, explain,
    joined::Joint,
    report::{Capture, Copy},
};
use flate2::read::GzDecoder;

fn capture(name: &str) -> GzDecoder<File> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/referee");
    GzDecoder::new(File::open(folder.join(format!("{name}.pcap.gz"))).unwrap())
}

fn longest(capture: Capture) -> Copy {
    let copies = capture.copies.into_iter();
    copies.max_by_key(|copy| copy.wall).unwrap()
}

/// The longest copy as the captures of both ends show it.
fn joined(name: &str) -> Copy {
    let [mut client, mut server] =
        ["client", "server"].map(|end| capture(&format!("{name}-{end}")));
    let joint = Joint::of([&mut client, &mut server]).unwrap().unwrap();
    assert!(!joint.is_swapped());
    longest(joint.explain(capture(&format!("{name}-client"))).unwrap())
}

/// Points of difference to the referee's shares, percent.
fn assert_near_in(copy: &Copy, what: &str, shares: &[(Cause, u64)]) {
    const MOST: u64 = 10;
    for (cause, known) in shares {
        let said = copy.account.get(*cause).0 * 100 / copy.wall.0;
        assert!(
            said.abs_diff(*known) <= MOST,
            "{what}: {} {said} %, the referee has {known} %",
            cause.name()
        );
    }
}

fn assert_near(name: &str, shares: &[(Cause, u64)]) {
    for end in ["client", "server"] {
        let copy = longest(explain(capture(&format!("{name}-{end}"))).unwrap());
        assert_near_in(&copy, &format!("{name} at the {end}"), shares);
    }
}

fn assert_near_joined(name: &str, shares: &[(Cause, u64)]) {
    assert_near_in(&joined(name), &format!("{name}, joined"), shares);
}

#[test]
fn another_connection_between_the_hosts_is_queueing() {
    let shares = [
        (Cause::Bandwidth, 66),
        (Cause::Queueing, 33),
        (Cause::ClientThink, 0),
        (Cause::ServerThink, 0),
    ];
    assert_near("two-copies", &shares);
}

#[test]
fn a_sender_with_bbr_on_an_idle_path_paces() {
    let shares = [
        (Cause::RoundTrips, 57),
        (Cause::Pacing, 28),
        (Cause::Metadata, 11),
        (Cause::ServerThink, 0),
    ];
    assert_near("paced", &shares);
}

#[test]
fn what_is_lost_twice_waits_for_its_last_repair() {
    let shares = [
        (Cause::Timeout, 60),
        (Cause::Bandwidth, 21),
        (Cause::FastRecovery, 0),
    ];
    assert_near("twice-lost", &shares);
    assert_near_joined("twice-lost", &shares);
}

#[test]
fn raw_writes_whose_requests_are_cut_off_wait_for_answers() {
    let shares = [
        (Cause::RoundTrips, 58),
        (Cause::Bandwidth, 25),
        (Cause::Metadata, 6),
    ];
    assert_near("raw-writes", &shares);
    assert_near_joined("raw-writes", &shares);
}

#[test]
fn a_server_that_owes_answers_waits_for_its_send_buffer() {
    let shares = [
        (Cause::SendWindow, 61),
        (Cause::Metadata, 13),
        (Cause::Bandwidth, 12),
        (Cause::SlowStart, 8),
        (Cause::ServerThink, 1),
    ];
    assert_near_joined("send-buffer", &shares);
    // one end shows less of it, and takes nothing of it for the server's own time
    assert_near(
        "send-buffer",
        &[(Cause::ServerThink, 1), (Cause::ClientThink, 3)],
    );
}

#[test]
fn a_queue_that_grows_is_no_timer() {
    // the round trip grows from 9 to 400 ms, so what a duplicate ACK asked for comes late; no timer fired
    let copy = longest(explain(capture("overload-client")).unwrap());
    assert_eq!(copy.account.get(Cause::Timeout).0, 0);
    // the server waited for its loss to be repaired, and was not busy
    assert!(copy.account.get(Cause::ServerThink).0 * 20 < copy.wall.0);
}
