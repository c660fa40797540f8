//! Two captures of the same copies, taken at both ends, by the lab with ground truth.

use coax_explain::{
    Cause,
    joined::Joint,
    report::{Capture, Joined},
};

use crate::common::{
    packets::{Owned, as_pcap, packets},
    unpacked,
};

const RAW_IP: u32 = 101;

/// Both files of a labelled copy, as bare IP packets.
fn ends(name: &str) -> [Vec<Owned>; 2] {
    ["client", "server"]
        .map(|end| packets(&unpacked(&format!("labelled/{name}-{end}.pcapng.gz"))).1)
}

fn file(packets: &[Owned]) -> Vec<u8> {
    as_pcap(RAW_IP, packets, true, false)
}

fn joined(one: &[Owned], other: &[Owned]) -> Capture {
    let files = [file(one), file(other)];
    let joint = Joint::of([&mut files[0].as_slice(), &mut files[1].as_slice()]);
    let joint = joint.unwrap().unwrap();
    let of_client = &files[usize::from(joint.is_swapped())];
    joint.explain(of_client.as_slice()).unwrap()
}

fn clocks(capture: &Capture) -> Joined {
    capture.joined.unwrap()
}

/// A clock that is ahead, and fast by so many parts per million.
fn by_another_clock(packets: &[Owned], ahead_ns: i64, ppm: u64) -> Vec<Owned> {
    let first = packets[0].at.0;
    let mut out = packets.to_vec();
    for packet in &mut out {
        let since = packet.at.0.saturating_sub(first);
        packet.at.0 = (packet.at.0 + since / 1_000_000 * ppm).saturating_add_signed(ahead_ns);
    }
    out
}

#[test]
fn both_ends_together_name_the_cause_that_the_copy_was_made_with() {
    for (name, cause) in [
        ("nagle_lan", Cause::NagleDelayedAck),
        ("andx4k", Cause::RoundTrips),
        ("raw60k", Cause::RoundTrips),
        ("rwnd", Cause::ReceiveWindow),
        // 8 MB take 3.3 of its 4.8 s at 20 Mbit/s
        ("shallow", Cause::Bandwidth),
    ] {
        let [client, server] = ends(name);
        let capture = joined(&client, &server);
        let copy = &capture.copies[0];
        assert_eq!(copy.account.total(), copy.wall, "{name}");
        assert_eq!(copy.account.dominant(), cause, "{name}: {:?}", copy.account);
        assert!(clocks(&capture).clocks_fit, "{name}");
    }
}

#[test]
fn a_clock_that_is_ahead_changes_no_cause() {
    let [client, server] = ends("andx4k");
    let plain = joined(&client, &server);
    for ahead_ns in [-3_600_000_000_000, 1_234_567_890] {
        let capture = joined(&client, &by_another_clock(&server, ahead_ns, 0));
        let (found, before) = (clocks(&capture), clocks(&plain));
        assert_eq!(found.offset_ns - before.offset_ns, ahead_ns);
        assert_eq!(found.packets, before.packets);
        assert_eq!(capture.copies[0].account, plain.copies[0].account);
    }
}

#[test]
fn a_clock_that_runs_much_faster_changes_no_cause() {
    let [client, server] = ends("andx4k");
    let plain = joined(&client, &server);
    let capture = joined(&client, &by_another_clock(&server, 5_000_000_000, 3000));
    let found = clocks(&capture);
    assert!(found.clocks_fit && (found.drift_ppm - 3000.0).abs() < 5.0);
    let (before, after) = (&plain.copies[0].account, &capture.copies[0].account);
    assert_eq!(after.dominant(), before.dominant());
    let queueing = after.get(Cause::Queueing).0 * 100 / capture.copies[0].wall.0;
    assert!(queueing < 2, "{after:?}");
}

#[test]
fn if_a_clock_was_set_meanwhile_the_clients_capture_counts_alone() {
    let [client, server] = ends("andx4k");
    let mut set = server.clone();
    let half = set.len() / 2;
    set[half..]
        .iter_mut()
        .for_each(|packet| packet.at.0 += 3_000_000_000);
    let capture = joined(&client, &set);
    assert!(!clocks(&capture).clocks_fit);
    assert!(capture.connections[0].joined.is_none());
    let alone = coax_explain::explain(file(&client).as_slice()).unwrap();
    assert_eq!(capture.copies[0].account, alone.copies[0].account);
}

#[test]
fn files_may_be_named_in_any_order() {
    let [client, server] = ends("rwnd");
    let (one, other) = (joined(&client, &server), joined(&server, &client));
    assert!(clocks(&other).is_swapped && !clocks(&one).is_swapped);
    assert_eq!(one.copies[0].account, other.copies[0].account);
}

#[test]
fn addresses_may_be_translated_between_the_ends() {
    let [client, server] = ends("rwnd");
    let mut translated = server.clone();
    for packet in &mut translated {
        // the client's address: where the first packet comes from
        for place in [12, 16] {
            if packet.bytes[place..place + 4] == server[0].bytes[12..16] {
                packet.bytes[place..place + 4].copy_from_slice(&[203, 0, 113, 9]);
            }
        }
    }
    let (plain, found) = (joined(&client, &server), joined(&client, &translated));
    assert_eq!(clocks(&found).connections, clocks(&plain).connections);
    assert_eq!(found.copies[0].account, plain.copies[0].account);
}

#[test]
fn losses_are_found_between_the_ends() {
    let [client, server] = ends("shallow");
    let capture = joined(&client, &server);
    let path = capture.connections[0].joined.unwrap();
    let sent = server.len();
    let came = client.len();
    assert!(
        path.to_client.lost > 0 && path.to_server.lost == 0,
        "{path:?}"
    );
    assert!(
        path.to_client.lost <= (sent - came) as u64,
        "{path:?}, {sent}, {came}"
    );
}

#[test]
fn pieces_of_one_capture_and_captures_of_other_copies_are_no_pair() {
    let [client, _] = ends("base");
    let [_, other] = ends("rwnd");
    let (first, second) = client.split_at(client.len() / 2);
    for (one, two) in [(first, second), (&client[..], &other[..])] {
        let files = [file(one), file(two)];
        let joint = Joint::of([&mut files[0].as_slice(), &mut files[1].as_slice()]).unwrap();
        assert!(joint.is_none() || one.len() == client.len());
    }
}
