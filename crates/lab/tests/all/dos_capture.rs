//! A DOS client and Windows 98 in a capture, and the lab's stations with their values: the same pattern of frames and acknowledgments.

use std::path::Path;

use coax_catalog::scenario::Scenario;
use coax_lab::{
    Tap,
    smb::{CopySetup, copy},
};

const DOS: [u8; 6] = [0x00, 0x0c, 0x29, 0xd4, 0x79, 0xb2];
const LAB_CLIENT: [u8; 6] = [2, 0, 0, 0, 0, 2];

/// Each frame of a link: `C` or `S` for its sender, then what it is.
fn pattern<'a>(frames: impl Iterator<Item = &'a [u8]>, client: [u8; 6]) -> Vec<String> {
    let of_link = frames.filter(|frame| {
        u16::from_be_bytes([frame[12], frame[13]]) <= 1500
            && frame[14] == 0xf0
            && frame[16] & 0xef != 0x03
    });
    of_link
        .map(|frame| {
            let sender = if frame[6..12] == client { 'C' } else { 'S' };
            let what = match frame[16] & 3 {
                1 => "RR".to_owned(),
                3 => format!("U{:02x}", frame[16]),
                _ => match frame[22] {
                    0x15 | 0x16 => "message".to_owned(),
                    command => format!("{command:02x}"),
                },
            };
            format!("{sender} {what}")
        })
        .collect()
}

/// Frames `first` to `last` of the capture, from 1.
fn captured(first: usize, last: usize) -> Vec<String> {
    let path = "../../tests/captures/dos-win98-netbeui.pcap";
    let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let (mut at, mut frames) = (24, Vec::new());
    while at < bytes.len() {
        let len = u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
        frames.push(&bytes[at + 16..at + 16 + len]);
        at += 16 + len;
    }
    pattern(frames[first - 1..last].iter().copied(), DOS)
}

/// A write of 1,124 bytes by the DOS client, as in frames 110 to 115, to a server with Windows 98's values.
fn simulated(changes: &[&str]) -> Vec<String> {
    let mut scenario = Scenario::new("the capture");
    scenario.choose_client("ms-net-3.11-full").unwrap();
    for change in [
        "transport=netbeui",
        "server.netbios=windows-9x",
        "size=1124",
        "direction=to-server",
    ] {
        scenario.set_text(change).unwrap();
    }
    for change in changes {
        scenario.set_text(change).unwrap();
    }
    let mut setup = CopySetup::of(&scenario).unwrap();
    setup.taps = vec![Tap::Wire];
    let mut result = copy(&setup);
    assert_eq!(result.copied, Ok(1124));
    let file = result.world.captures().pop().unwrap();
    let (mut at, mut frames) = (0, Vec::new());
    while at < file.len() {
        let word = |from: usize| u32::from_le_bytes(file[from..from + 4].try_into().unwrap());
        if word(at) == 6 {
            let len = word(at + 20) as usize;
            frames.push(&file[at + 28..at + 28 + len]);
        }
        at += word(at + 4) as usize;
    }
    pattern(frames.into_iter(), LAB_CLIENT)
}

fn contains(all: &[String], part: &[String]) -> bool {
    all.windows(part.len()).any(|window| window == part)
}

#[test]
fn requests_that_are_acknowledged_one_by_one_have_the_frames_of_the_capture() {
    let lab = simulated(&[]);
    // NEGOTIATE, the log-on and an echo: each message is acknowledged by a frame of its own
    let seen = captured(75, 86);
    assert_eq!(seen[..4], ["C message", "S RR", "S message", "C RR"]);
    assert!(contains(&lab, &seen), "{seen:?} in {lab:?}");
}

#[test]
fn acknowledgments_that_wait_travel_with_the_next_message_as_in_the_capture() {
    // later in the capture both sides wait: OPEN, WRITE and CLOSE have no frame but their messages
    let seen = captured(110, 115);
    assert_eq!(seen, ["C message", "S message"].repeat(3));
    let lab = simulated(&[
        "client.netbios.acknowledge_every=2",
        "server.netbios.acknowledge_every=2",
    ]);
    assert!(contains(&lab, &seen), "{seen:?} in {lab:?}");
    assert!(!contains(&simulated(&[]), &seen), "the test could not fail");
}

#[test]
fn the_link_is_opened_with_the_frames_of_the_capture_but_for_the_poll_of_session_initialize() {
    let seen = captured(68, 74);
    let opening = ["C U7f", "S U73", "C RR", "S RR", "C 19", "S 17", "C RR"];
    assert_eq!(seen, opening);
    let lab = simulated(&[]);
    let at = lab.iter().position(|frame| frame == "C U7f").unwrap();
    // coax's caller polls with SESSION INITIALIZE, which the DOS client does not: the answer is one frame more
    let mut expected: Vec<String> = opening.map(str::to_owned).to_vec();
    expected.insert(5, "S RR".to_owned());
    assert_eq!(lab[at..at + 8], expected);
}

#[test]
fn a_window_of_one_frame_waits_for_each_delayed_acknowledgment_as_in_a_published_trace() {
    // KB Q192496: IBM's DOS LAN Requester with a send window of 1 writes to Windows NT, which waits for T2 = 150 ms
    let scenario = Scenario::built_in("dos-lan-requester").unwrap();
    let result = copy(&CopySetup::of(&scenario).unwrap());
    let pieces = result.client_tcp.data_segments;
    let waits = result.server_tcp.delayed_acks;
    // the last frame of a message is answered by the response instead
    assert!(waits > pieces * 2 / 3, "{waits} of {pieces}");
    let delayed = result.account.get(coax_lab::Cause::NagleDelayedAck);
    assert!(delayed.0 > result.took.0 * 9 / 10, "{:?}", result.account);
    let polls = scenario.parameter("client.netbios.poll_when_full");
    assert_eq!(polls.as_deref(), Some("false"));
    let mut polling = scenario;
    polling
        .set_text("client.netbios.poll_when_full=true")
        .unwrap();
    let quick = copy(&CopySetup::of(&polling).unwrap());
    assert!(
        quick.took.0 < result.took.0 / 10,
        "a poll is answered at once"
    );
}
