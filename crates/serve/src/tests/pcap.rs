use std::{
    fs::Permissions,
    os::fd::OwnedFd,
    sync::mpsc::{Receiver, channel},
};

use super::{
    super::report::{Line, Told},
    *,
};

const CLIENT_ADDRESS: &str = "10.0.0.2:1025";
const SERVER_ADDRESS: &str = "10.0.0.1:445";

fn reporter() -> (Reporter, Receiver<String>) {
    let (tell, lines) = channel();
    let reporter = Reporter::to(move |told| {
        if let Told::Line(Line::Notice { text }, _) = told {
            // The test may have ended and dropped the receiver.
            let _ = tell.send(text);
        }
    });
    (reporter.unwrap(), lines)
}

fn tap(capture: &Capture, selection: Selection) -> Tap {
    let [client, server] = [CLIENT_ADDRESS, SERVER_ADDRESS].map(|text| text.parse().unwrap());
    Tap::new(capture.clone(), client, server, selection)
}

fn started(path: &Path, limit: u64) -> (Capture, Reporter, Receiver<String>) {
    let (reporter, lines) = reporter();
    let target = Target::open(path, limit).unwrap();
    let capture = Capture::start(target, reporter.clone()).unwrap();
    (capture, reporter, lines)
}

/// The types of all blocks; panics if the file ends within a block.
fn blocks(bytes: &[u8]) -> Vec<u32> {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (mut at, mut kinds) = (0, Vec::new());
    while at < bytes.len() {
        let len = word(at + 4) as usize;
        assert_eq!(word(at + len - 4) as usize, len);
        kinds.push(word(at));
        at += len;
    }
    kinds
}

fn packets(path: &Path) -> usize {
    let bytes = std::fs::read(path).unwrap();
    blocks(&bytes).iter().filter(|kind| **kind == 6).count()
}

#[test]
fn only_the_owner_may_read_it_even_if_the_file_was_there_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.pcapng");
    std::fs::write(&path, "old").unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let (capture, ..) = started(&path, 1 << 20);
    capture.flush();
    let seen = std::fs::metadata(&path).unwrap();
    assert_eq!(seen.permissions().mode() & 0o777, 0o600);
    assert_eq!(blocks(&std::fs::read(&path).unwrap()), [0x0a0d_0d0a, 1]);
}

#[test]
fn a_connection_begins_with_a_handshake_and_ends_with_both_sides_closing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.pcapng");
    let (capture, ..) = started(&path, 1 << 24);
    let mut tap = tap(&capture, Selection::Yes);
    tap.received(b"a request");
    tap.sent(&vec![7; 100_000]);
    tap.end();
    capture.flush();
    // Handshake 3, request 1, reply 2, end 3.
    assert_eq!(packets(&path), 9);
    assert_eq!(
        (tap.client.next, tap.server.next),
        (0x1000 + 9 + 2, 0x2000 + 100_000 + 2)
    );
}

#[test]
fn packets_are_held_until_the_client_s_name_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.pcapng");
    let (capture, ..) = started(&path, 1 << 24);
    let (mut wanted, mut other) = (
        tap(&capture, Selection::Undecided),
        tap(&capture, Selection::Undecided),
    );
    for tap in [&mut wanted, &mut other] {
        tap.received(b"session request");
    }
    capture.flush();
    assert_eq!(packets(&path), 0);
    wanted.decide(true);
    other.decide(false);
    other.received(b"more");
    other.end();
    capture.flush();
    assert_eq!(packets(&path), 4);
    let mut silent = tap(&capture, Selection::Undecided);
    silent.received(&vec![0; 10 * HELD_BYTES]);
    assert!(silent.held.as_ref().is_some_and(|held| held.len() < 10));
}

#[test]
fn at_its_limit_it_ends_with_a_whole_block_and_one_notice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.pcapng");
    let (capture, reporter, lines) = started(&path, 10_000);
    let mut tap = tap(&capture, Selection::Yes);
    for _ in 0..100 {
        tap.received(&[1; 1_000]);
        capture.flush();
    }
    reporter.flush();
    let len = std::fs::metadata(&path).unwrap().len();
    assert!((8_000..=10_000).contains(&len), "{len}");
    assert!(packets(&path) > 8);
    let notices: Vec<String> = lines.try_iter().collect();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains("--pcap-limit (10000 bytes)"));
}

#[test]
fn a_blocked_disk_does_not_block_clients_and_dropped_packets_are_counted() {
    let (mut reading, writing) = std::io::pipe().unwrap();
    let (reporter, lines) = reporter();
    let target = Target {
        file: OwnedFd::from(writing).into(),
        name: "slow".into(),
        limited_by: "",
        limit: u64::MAX,
    };
    let capture = Capture::start(target, reporter.clone()).unwrap();
    let mut tap = tap(&capture, Selection::Yes);
    let data = vec![1; 1 << 20];
    for _ in 0..100 {
        tap.received(&data);
    }
    let dropped = capture.state.dropped.load(Ordering::Relaxed);
    assert!(dropped > 0);
    assert!(capture.state.waiting_bytes.load(Ordering::Relaxed) <= WAITING_BYTES);
    std::thread::spawn(move || std::io::copy(&mut reading, &mut std::io::sink()));
    let notice = lines.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(notice.contains("packets so far"), "{notice}");
}

#[test]
fn a_full_disk_ends_the_capture_with_one_notice() {
    let (reporter, lines) = reporter();
    let file = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut writer = Writer {
        target: Target {
            file,
            name: "full".into(),
            limited_by: "",
            limit: u64::MAX,
        },
        reporter: reporter.clone(),
        state: Arc::default(),
        written: 0,
        told_of_drops: false,
    };
    writer.write(b"packet");
    let mut batch = Vec::new();
    writer.add(&mut batch, b"packet");
    assert!(batch.is_empty() && writer.state.over.load(Ordering::Relaxed));
    reporter.flush();
    let notices: Vec<String> = lines.try_iter().collect();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains("cannot write the capture full"));
}
