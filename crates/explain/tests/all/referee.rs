//! Copies between real programs that the referee (docs/referee.md) judged: tests/captures/referee, each from both ends.

use std::{fs::File, path::Path};

use coax_explain::{Cause, explain, report::Copy};
use flate2::read::GzDecoder;

/// The longest copy of a capture.
fn longest(name: &str) -> Copy {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/referee");
    let file = File::open(folder.join(format!("{name}.pcap.gz"))).unwrap();
    let capture = explain(GzDecoder::new(file)).unwrap();
    let copies = capture.copies.into_iter();
    copies.max_by_key(|copy| copy.wall).unwrap()
}

/// Points of difference to the referee's shares, percent.
fn assert_near(name: &str, shares: &[(Cause, u64)]) {
    const MOST: u64 = 10;
    for end in ["client", "server"] {
        let copy = longest(&format!("{name}-{end}"));
        for (cause, known) in shares {
            let said = copy.account.get(*cause).0 * 100 / copy.wall.0;
            assert!(
                said.abs_diff(*known) <= MOST,
                "{name} at the {end}: {} {said} %, the referee has {known} %",
                cause.name()
            );
        }
    }
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
