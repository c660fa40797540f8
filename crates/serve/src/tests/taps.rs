use super::*;
use crate::{pcap::Target, report::Reporter};

const ENDS: [&str; 2] = ["10.0.0.2:1025", "10.0.0.1:445"];

fn ends() -> Option<(SocketAddr, SocketAddr)> {
    let [client, server] = ENDS.map(|text| text.parse().unwrap());
    Some((client, server))
}

/// A recording of `client`, and how many bytes its file has.
fn recording(recorder: &Recorder, client: Option<u64>) -> (Capture, impl Fn() -> u64) {
    let file = tempfile::tempfile().unwrap();
    let copy = file.try_clone().unwrap();
    let start = || {
        let reporter = Reporter::to(|_| {}).unwrap();
        Capture::start(Target::unnamed(copy, "test", 1 << 20), reporter)
    };
    let capture = recorder.begin(client, start).unwrap().unwrap();
    let flushed = capture.clone();
    let len = move || {
        flushed.flush();
        file.metadata().unwrap().len()
    };
    (capture, len)
}

#[test]
fn a_recording_gets_the_bytes_of_the_client_that_it_is_of_from_when_that_joins_until_its_end() {
    let recorder = Recorder::default();
    let (mine, other) = (Taps::default(), Taps::default());
    assert!(!mine.is_outdated(&recorder) && !mine.is_on());
    let (_capture, len) = recording(&recorder, Some(1));
    let empty = len();
    assert!(mine.is_outdated(&recorder));
    mine.received(b"before it joins");
    mine.follow(&recorder, 1, ends());
    other.follow(&recorder, 2, ends());
    assert!(mine.is_on() && !other.is_on() && !mine.is_outdated(&recorder));
    let joined = len();
    assert!(joined > empty, "a handshake");
    mine.received(&[1; 1000]);
    mine.sent(&[2; 1000]);
    other.received(&[3; 1000]);
    let full = len();
    assert!((joined + 2000..joined + 2500).contains(&full), "{full}");
    recorder.end();
    mine.end_recording();
    mine.received(&[1; 1000]);
    assert_eq!(len(), full);
    assert!(!mine.is_on() && mine.is_outdated(&recorder));
    mine.follow(&recorder, 1, ends());
    assert!(!mine.is_on());
}

#[test]
fn there_is_one_recording_at_a_time_and_a_client_without_an_address_is_left_out() {
    let recorder = Recorder::default();
    let (_capture, len) = recording(&recorder, None);
    let second = recorder.begin(None, || Err::<Capture, _>("it must not be started"));
    assert!(second.unwrap().is_none());
    let netbeui = Taps::default();
    let empty = len();
    netbeui.follow(&recorder, 1, None);
    netbeui.received(&[0; 100]);
    assert_eq!(len(), empty);
    recorder.end();
    let (_capture, _) = recording(&recorder, None);
}
