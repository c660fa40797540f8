//! After a step of the wall clock, time stamps follow it and deadlines do not.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use crate::testkit::TestServer;
use coax_wire::time::FileTime;

/// One hour in nanoseconds.
const HOUR: i64 = 3_600_000_000_000;

#[test]
fn negotiate_reports_the_stepped_wall_clock() {
    let server = TestServer::new();
    let told = || {
        let answer = server.connect().negotiate(&["NT LM 0.12"]);
        // SystemTime is at byte 23 of the words ([MS-CIFS] 2.2.4.52.2).
        u64::from_le_bytes(answer.block().words[23..31].try_into().unwrap())
    };
    let before = told();
    server.server.locked(|tables| tables.set_wall_offset(-HOUR));
    let hour = FileTime::from_unix_ns(HOUR).0 - FileTime::from_unix_ns(0).0;
    assert_eq!(before - told(), hour);
}
