//! Captures of both ends of copies over NetBEUI and IPX, by the lab with ground truth.

use coax_explain::{Account, Cause, explain, joined::Joint, report::Capture};
use coax_lab::{
    Stretch, Tap,
    capture::EPOCH_S,
    scenario::Scenario,
    smb::{CopySetup, copy},
};
use coax_wire::time::Time;

use crate::common::packets::{Owned, as_pcap, packets};

const ETHERNET: u32 = 1;
const TRANSPORTS: [&str; 3] = ["netbeui", "nbipx", "ipx"];

/// The captures at the client and at the server, and what took the time.
struct Copied {
    files: [Vec<u8>; 2],
    truth: Vec<Stretch>,
}

fn copied(transport: &str, more: &[&str]) -> Copied {
    let mut scenario = Scenario::new("joined");
    let transport = format!("transport={transport}");
    let usual = [
        transport.as_str(),
        "client.profile=windows-98",
        "size=1000000",
        "link.rate=10 Mbit/s",
        "link.delay=200 us",
    ];
    for line in usual.iter().chain(more) {
        scenario
            .set_text(line)
            .unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    let mut setup = CopySetup::of(&scenario).unwrap_or_else(|error| panic!("{error}"));
    setup.world.keep_truth = true;
    setup.taps = vec![Tap::Client, Tap::Server];
    let mut result = copy(&setup);
    result.copied.as_ref().unwrap();
    let mut captures = result.world.captures().into_iter();
    Copied {
        files: [captures.next().unwrap(), captures.next().unwrap()],
        truth: result.world.truth(),
    }
}

fn joined([client, server]: [&[u8]; 2]) -> Capture {
    let files = [client, server];
    let (mut one, mut other) = (client, server);
    let joint = Joint::of([&mut one, &mut other]).unwrap().unwrap();
    let of_client = files[usize::from(joint.is_swapped())];
    joint.explain(of_client).unwrap()
}

fn both(copied: &Copied) -> Capture {
    joined([&copied.files[0], &copied.files[1]])
}

/// What of the truth lies between two moments of a capture.
fn clipped(stretches: &[Stretch], from: Time, to: Time) -> Account {
    let since = |at: Time| Time(at.0.saturating_sub(EPOCH_S * 1_000_000_000));
    let (from, to) = (since(from), since(to));
    let mut account = Account::default();
    for stretch in stretches {
        let (begin, end) = (stretch.from.max(from), stretch.to.min(to));
        if end > begin {
            account.add(stretch.cause, end - begin);
        }
    }
    account
}

fn shares(account: &Account) -> [f64; Cause::COUNT] {
    let total = account.total().0.max(1) as f64;
    Cause::ALL.map(|cause| account.get(cause).0 as f64 * 100.0 / total)
}

/// How far an account is from the truth, points.
fn off(said: &Account, truth: &Account) -> f64 {
    let pairs = shares(said).into_iter().zip(shares(truth));
    pairs.map(|(said, was)| (said - was).abs()).sum::<f64>() / 2.0
}

/// The account of the copy that both captures show, and the truth.
fn judged(copied: &Copied) -> (Account, Account) {
    let capture = both(copied);
    let copy = capture.copies.iter().max_by_key(|copy| copy.moved).unwrap();
    assert_eq!(copy.account.total(), copy.wall);
    assert!(capture.joined.unwrap().clocks_fit);
    let truth = clipped(&copied.truth, copy.start, copy.start + copy.wall);
    (copy.account, truth)
}

const SERVER: &str = "server.machine.request.fixed=20 ms";
const CLIENT: &str = "client.machine.request.fixed=20 ms";
const FAR: &str = "link.delay=10 ms";
const LOSES: &str = "link.loss_to_client={ rule = { kind = \"random\", probability = 0.01 } }";

#[test]
fn both_ends_together_name_the_cause_that_the_copy_was_made_with() {
    // the most points that the account may be off
    for (transport, line, most) in [
        ("netbeui", None, 6.0),
        ("nbipx", None, 9.0),
        ("ipx", None, 12.0),
        ("nbipx", Some(SERVER), 11.0),
        ("ipx", Some(SERVER), 3.0),
        ("netbeui", Some(CLIENT), 4.0),
        ("nbipx", Some(CLIENT), 3.0),
        ("ipx", Some(CLIENT), 3.0),
        ("netbeui", Some(FAR), 28.0),
        ("nbipx", Some(FAR), 3.0),
        ("ipx", Some(FAR), 3.0),
        ("netbeui", Some(LOSES), 8.0),
        ("nbipx", Some(LOSES), 8.0),
        ("ipx", Some(LOSES), 8.0),
    ] {
        let lines: Vec<&str> = line.into_iter().collect();
        let (said, truth) = judged(&copied(transport, &lines));
        // of two causes with nearly the same share either may be named
        let share = |of: &Account, cause: Cause| shares(of)[cause as usize];
        let behind = share(&truth, truth.dominant()) - share(&truth, said.dominant());
        assert!(
            behind < 5.0,
            "{transport} {line:?}: {said:?}, not {truth:?}"
        );
        let off = off(&said, &truth);
        assert!(
            off <= most,
            "{transport} {line:?}: {off:.1} points off: {said:?}, not {truth:?}"
        );
    }
}

/// From one end, the time of the other one looks like round trips.
#[test]
fn the_work_of_either_machine_is_told_apart_from_the_path() {
    for (transport, line, cause) in [
        ("ipx", SERVER, Cause::ServerThink),
        ("nbipx", SERVER, Cause::ServerThink),
        ("ipx", CLIENT, Cause::ClientThink),
        ("nbipx", CLIENT, Cause::ClientThink),
    ] {
        let copied = copied(transport, &[line]);
        let (said, truth) = judged(&copied);
        let at = Cause::ALL.iter().position(|it| *it == cause).unwrap();
        assert!(
            (shares(&said)[at] - shares(&truth)[at]).abs() < 9.0,
            "{transport}"
        );
        let alone = explain(copied.files[0].as_slice()).unwrap();
        let single = alone.copies.iter().max_by_key(|copy| copy.moved).unwrap();
        assert!(
            off(&said, &truth) < off(&single.account, &truth),
            "{transport}"
        );
    }
}

#[test]
fn a_clock_that_is_ahead_and_the_order_of_the_files_change_no_cause() {
    for transport in TRANSPORTS {
        let copied = copied(transport, &[CLIENT]);
        let plain = both(&copied);
        let (_, mut server) = packets(&copied.files[1]);
        let ahead_ns = 1_234_567_890;
        server.iter_mut().for_each(|packet| packet.at.0 += ahead_ns);
        let server = as_pcap(ETHERNET, &server, true, false);
        for files in [[&copied.files[0], &server], [&server, &copied.files[0]]] {
            let found = joined([files[0].as_slice(), files[1].as_slice()]);
            assert_eq!(
                found.copies[0].account, plain.copies[0].account,
                "{transport}"
            );
            let (found, before) = (found.joined.unwrap(), plain.joined.unwrap());
            assert_eq!(
                found.offset_ns - before.offset_ns,
                ahead_ns as i64,
                "{transport}"
            );
            assert_eq!(found.packets, before.packets, "{transport}");
        }
    }
}

#[test]
fn losses_are_located_between_the_ends() {
    for transport in TRANSPORTS {
        for (to, is_server) in [("server", true), ("client", false)] {
            let lossy = format!(
                "link.loss_to_{to}={{ rule = {{ kind = \"random\", probability = 0.02 }}, data_only = true }}"
            );
            let copied = copied(transport, &[&lossy]);
            let count = |file: &[u8]| packets(file).1.len();
            let capture = both(&copied);
            let path = capture.connections[0].joined.unwrap();
            let (here, there) = match is_server {
                true => (path.to_server, path.to_client),
                false => (path.to_client, path.to_server),
            };
            assert_eq!(there.lost, 0, "{transport} to {to}: {path:?}");
            let missing = count(&copied.files[0]).abs_diff(count(&copied.files[1]));
            assert!(
                here.lost > 0 || missing < 3,
                "{transport} to {to}: {path:?}, {missing}"
            );
            // the frames behind a lost one count too, because receivers discard them; direct hosting has no such frames
            let most = if transport == "ipx" {
                missing
            } else {
                missing * 7
            };
            assert!(
                here.lost <= most as u64,
                "{transport} to {to}: {path:?}, {missing}"
            );
        }
    }
}

/// Each session of these transports begins with the same numbers, often with the same bytes.
#[test]
fn the_same_copy_twice_is_two_pairs() {
    for transport in TRANSPORTS {
        let copied = copied(transport, &[]);
        let files = copied.files.each_ref().map(|file| {
            let (_, once) = packets(file);
            let again = once.iter().cloned().map(|mut packet| {
                packet.at.0 += 60_000_000_000;
                packet
            });
            let both: Vec<Owned> = once.iter().cloned().chain(again).collect();
            as_pcap(ETHERNET, &both, true, false)
        });
        let (once, twice) = (both(&copied), joined([&files[0], &files[1]]));
        let (once_found, found) = (once.joined.unwrap(), twice.joined.unwrap());
        assert_eq!(found.connections, 2 * once_found.connections, "{transport}");
        assert_eq!(found.packets, 2 * once_found.packets, "{transport}");
        for copy in &twice.copies {
            assert_eq!(copy.account, once.copies[0].account, "{transport}");
        }
    }
}
