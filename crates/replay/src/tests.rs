//! Captures are played against what they recorded.

use std::{collections::VecDeque, fs, path::Path, time::Duration};

use coax_capture::Reader;

use crate::{Conversation, Identity, Packet, Wire, conversations, play};

/// A server that answers what was recorded, with other identifiers.
struct Recorded {
    left: VecDeque<Packet>,
    ready: VecDeque<Vec<u8>>,
    /// TIDs, UIDs and so on are changed by this.
    shift: u16,
}

impl Recorded {
    fn of(conversation: &Conversation, shift: u16) -> Self {
        // the first part of a log-on in two parts is not played
        let goes_on = |packet: &Packet| packet.bytes.get(5..9) == Some(&[0x16, 0, 0, 0xc0]);
        let mut left: VecDeque<Packet> = VecDeque::new();
        for packet in &conversation.packets {
            if goes_on(packet) {
                let asked = left.iter().rposition(|other| {
                    other.from_client && other.bytes.get(30..32) == packet.bytes.get(30..32)
                });
                asked.map(|index| left.remove(index));
            } else {
                left.push_back(packet.clone());
            }
        }
        Self {
            left,
            ready: VecDeque::new(),
            shift,
        }
    }

    /// Goes on to the request and its replies.
    fn advance(&mut self, message: &[u8]) {
        let is_it = |packet: &Packet| {
            packet.from_client
                && (packet.bytes.get(30..32) == message.get(30..32) || packet.header().is_none())
        };
        if let Some(index) = self.left.iter().position(is_it) {
            self.left.drain(..=index);
        }
        while let Some(packet) = self
            .left
            .front()
            .filter(|packet| !packet.from_client)
            .cloned()
        {
            self.left.pop_front();
            let mut bytes = packet.bytes;
            if self.shift > 0 && bytes.starts_with(b"\xffSMB\x73") {
                // the UID
                bytes[28] ^= self.shift as u8;
            }
            self.ready.push_back(bytes);
        }
    }
}

impl Wire for Recorded {
    fn send(&mut self, message: &[u8]) -> Result<(), String> {
        self.advance(message);
        Ok(())
    }

    fn receive(&mut self, _: Duration) -> Result<Option<Vec<u8>>, String> {
        Ok(self.ready.pop_front())
    }
}

fn captures() -> Vec<(String, Vec<Conversation>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.contains(".pcap") {
            continue;
        }
        let mut reader = Reader::new(fs::File::open(&path).unwrap()).unwrap();
        if let Ok(conversations) = conversations(&mut reader) {
            found.push((name, conversations));
        }
    }
    found
}

fn played(conversation: &Conversation, shift: u16) -> crate::Outcome {
    let mut wire = Recorded::of(conversation, shift);
    play(
        conversation,
        &Identity::default(),
        &mut wire,
        Duration::from_millis(1),
    )
}

#[test]
fn a_server_that_answers_as_recorded_has_no_differences() {
    let mut compared = 0;
    for (name, conversations) in captures() {
        for conversation in conversations {
            let outcome = played(&conversation, 0);
            let real: Vec<_> = outcome.real().collect();
            assert_eq!(real, Vec::<&crate::Difference>::new(), "{name}");
            compared += outcome.compared;
        }
    }
    assert!(compared > 500, "{compared} replies compared");
}

#[test]
fn identifiers_that_differ_are_no_differences() {
    for (name, conversations) in captures() {
        for conversation in conversations {
            let outcome = played(&conversation, 0x40);
            assert_eq!(outcome.real().count(), 0, "{name}");
        }
    }
}

#[test]
fn a_changed_reply_is_found_with_its_field() {
    let (_, conversations) = captures()
        .into_iter()
        .find(|(name, _)| name.contains("netbeui"))
        .unwrap();
    let is_write =
        |packet: &Packet| !packet.from_client && packet.bytes.starts_with(b"\xffSMB\x0b");
    let conversation = conversations
        .iter()
        .find(|one| one.packets.iter().any(is_write))
        .unwrap();
    let mut changed = conversation.clone();
    let write = changed
        .packets
        .iter_mut()
        .find(|packet| !packet.from_client && packet.bytes.starts_with(b"\xffSMB\x0b"))
        .unwrap();
    let frame = write.frame;
    write.bytes[33] ^= 1;
    let mut wire = Recorded::of(&changed, 0);
    let outcome = play(
        conversation,
        &Identity::default(),
        &mut wire,
        Duration::from_millis(1),
    );
    let real: Vec<_> = outcome
        .real()
        .map(|found| (found.frame, found.field.as_str()))
        .collect();
    assert_eq!(real, [(frame, "CountOfBytesWritten")]);
}

/// Numbers that look random and are the same in each run.
fn noise(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

#[test]
fn damaged_and_incomplete_captures_are_played_to_an_end() {
    let mut seed = 0x9e37_79b9_7f4a_7c15;
    for (_, conversations) in captures() {
        for conversation in conversations.iter().filter(|c| c.packets.len() < 400) {
            for round in 0..8 {
                let mut damaged = conversation.clone();
                damaged
                    .packets
                    .retain(|_| !noise(&mut seed).is_multiple_of(10));
                for packet in &mut damaged.packets {
                    let len = packet.bytes.len().max(1);
                    if round > 3 && noise(&mut seed).is_multiple_of(4) {
                        let at = noise(&mut seed) as usize % len;
                        if let Some(byte) = packet.bytes.get_mut(at) {
                            *byte = noise(&mut seed) as u8;
                        }
                    }
                    if round > 5 && noise(&mut seed).is_multiple_of(6) {
                        packet.bytes.truncate(noise(&mut seed) as usize % len);
                    }
                }
                played(&damaged, 0);
                let mut wire = Recorded::of(conversation, 1);
                play(
                    &damaged,
                    &Identity::default(),
                    &mut wire,
                    Duration::from_millis(1),
                );
            }
        }
    }
}

#[test]
fn a_server_that_hangs_or_closes_ends_the_replay_with_a_reason() {
    struct Silent;
    impl Wire for Silent {
        fn send(&mut self, _: &[u8]) -> Result<(), String> {
            Ok(())
        }
        fn receive(&mut self, _: Duration) -> Result<Option<Vec<u8>>, String> {
            Ok(None)
        }
    }
    struct Closed;
    impl Wire for Closed {
        fn send(&mut self, _: &[u8]) -> Result<(), String> {
            Ok(())
        }
        fn receive(&mut self, _: Duration) -> Result<Option<Vec<u8>>, String> {
            Err("the server closed the connection".into())
        }
    }
    let (_, conversations) = captures()
        .into_iter()
        .find(|(name, _)| name == "arkime-smbclient.pcap")
        .unwrap();
    let limit = Duration::from_millis(500);
    let silent = play(&conversations[0], &Identity::default(), &mut Silent, limit);
    assert_eq!(
        silent.stopped.unwrap().1,
        "no answer within 0.5 s to NEGOTIATE"
    );
    let closed = play(&conversations[0], &Identity::default(), &mut Closed, limit);
    assert_eq!(
        closed.stopped.unwrap().1,
        "the server closed the connection"
    );
}

#[test]
fn what_the_capture_lacks_of_a_reply_is_no_difference() {
    let mut cut = 0;
    for (name, conversations) in captures() {
        for conversation in conversations {
            let whole = conversation.clone();
            for left in [47, 90, 1000] {
                let mut short = conversation.clone();
                let replies = short.packets.iter_mut().filter(|one| !one.from_client);
                for reply in replies.filter(|one| one.bytes.starts_with(b"\xffSMB")) {
                    cut += usize::from(reply.bytes.len() > left);
                    reply.bytes.truncate(left);
                }
                let mut wire = Recorded::of(&whole, 0);
                let outcome = play(
                    &short,
                    &Identity::default(),
                    &mut wire,
                    Duration::from_millis(1),
                );
                let real: Vec<_> = outcome.real().collect();
                assert_eq!(real, Vec::<&crate::Difference>::new(), "{name} {left}");
            }
        }
    }
    assert!(cut > 500, "{cut} replies cut");
}

#[test]
fn a_negotiation_that_the_capture_cut_is_not_sent() {
    let (_, conversations) = captures()
        .into_iter()
        .find(|(name, _)| name == "arkime-smbclient.pcap")
        .unwrap();
    let mut conversation = conversations[0].clone();
    conversation.packets[0].bytes.truncate(40);
    let outcome = played(&conversation, 0);
    assert_eq!(outcome.sent, 0);
    let (_, why) = outcome.stopped.unwrap();
    assert!(why.contains("snap length"), "{why}");
}

#[test]
fn a_server_that_breaks_oplocks_without_end_ends_the_replay() {
    /// Breaks the oplock of a file that was never opened.
    struct Breaks;
    impl Wire for Breaks {
        fn send(&mut self, _: &[u8]) -> Result<(), String> {
            Ok(())
        }
        fn receive(&mut self, _: Duration) -> Result<Option<Vec<u8>>, String> {
            let mut message = b"\xffSMB\x24".to_vec();
            message.resize(30, 0);
            message.extend([
                0xff, 0xff, 8, 0xff, 0, 0, 0, 1, 0x40, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            ]);
            message.extend([0, 0]);
            Ok(Some(message))
        }
    }
    let (_, conversations) = captures()
        .into_iter()
        .find(|(name, _)| name == "arkime-smbclient.pcap")
        .unwrap();
    let limit = Duration::from_secs(3600);
    let outcome = play(&conversations[0], &Identity::default(), &mut Breaks, limit);
    let (_, why) = outcome.stopped.unwrap();
    assert!(why.contains("oplocks"), "{why}");
}
