//! What the lab's machines take is seen as theirs.

use coax_cause::Cause;
use coax_explain::{
    explain,
    report::{Capture, Copy},
};
use coax_lab::{Tap, scenario::Scenario, smb};
use toml::Value;

/// What a client takes for a request.
const WORK_NS: u64 = 5_000_000;

/// A copy whose client takes its time, with these values changed, captured at the server.
fn made(values: &[(&str, Value)]) -> Capture {
    let mut scenario = Scenario::new("a client that takes its time");
    let fixed = [
        ("client.profile", "modern".into()),
        ("direction", "to-server".into()),
        ("size", "100 KB".into()),
        ("link.delay", "500 us".into()),
        ("client.machine.request.fixed", "5 ms".into()),
        ("client.profile.write.in-flight", Value::Integer(1)),
    ];
    for (path, value) in fixed.iter().chain(values) {
        scenario.set(path, value.clone()).unwrap();
    }
    let mut setup = smb::CopySetup::of(&scenario).unwrap();
    setup.taps = vec![Tap::Server];
    let mut result = smb::copy(&setup);
    explain(result.world.captures().pop().unwrap().as_slice()).unwrap()
}

fn requests(copy: &Copy) -> u64 {
    copy.requests.iter().map(|row| row.count).sum()
}

#[test]
fn a_handshake_is_answered_before_a_client_goes_to_work() {
    let capture = made(&[]);
    let way = capture.connections.first().unwrap().client_rtt.unwrap();
    assert!((1_000_000..1_100_000).contains(&way.0), "{way:?}");
    let copy = capture.copies.first().unwrap();
    let own = copy.account.get(Cause::ClientThink).0;
    // the first request was sent before the copy began to be seen
    let least = (requests(copy) - 1) * WORK_NS;
    assert!(own >= least && own < least + 2 * WORK_NS, "{own}");
}

#[test]
fn a_client_has_done_its_work_before_the_first_piece_of_a_message_leaves() {
    let whole = made(&[]);
    let cut = made(&[
        ("client.profile.transport.cut", "session-header".into()),
        ("client.stack.nagle", "standard".into()),
    ]);
    let [whole, cut] = [&whole, &cut].map(|capture| capture.copies.first().unwrap().clone());
    assert_eq!(requests(&whole), requests(&cut));
    assert!(cut.account.get(Cause::NagleDelayedAck).0 > whole.wall.0);
    let [own, of_cut] = [&whole, &cut].map(|copy| copy.account.get(Cause::ClientThink).0);
    assert!(of_cut.abs_diff(own) < own / 10, "{of_cut} {own}");
}
