//! The conversation of a DOS client with Windows 98 (tests/captures/dos-win98-netbeui.pcap): the client's frames against
//! our server, the server's frames against our client.

use super::super::*;
use super::lan::{name, unique};
use coax_wire::llc::Supervisory;
use coax_wire::nbf::{NameCommand, SessionCommand, SessionFrame, flags};
use std::vec;

const CLIENT: Mac = Mac([0x00, 0x0c, 0x29, 0xd4, 0x79, 0xb2]);
const SERVER: Mac = Mac([0x00, 0x50, 0x56, 0x33, 0x78, 0x9e]);

/// Messages of each side.
const REQUESTS: usize = 24;

/// The frames of the conversation, from the client's NAME QUERY on, without datagrams to groups.
fn conversation() -> Vec<(Mac, Vec<u8>)> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/captures/dos-win98-netbeui.pcap"
    );
    let file = std::fs::read(path).unwrap();
    let mut rest = &file[24..];
    let mut frames = vec![];
    while rest.len() > 16 {
        let len = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        frames.push(rest[16..16 + len].to_vec());
        rest = &rest[16 + len..];
    }
    let mut found = vec![];
    for bytes in &frames[65..] {
        let Ok(frame) = Ethernet::parse(bytes) else {
            continue;
        };
        let Payload::Length(payload) = frame.payload else {
            continue;
        };
        let Ok(pdu) = Pdu::parse(payload) else {
            continue;
        };
        if pdu.dsap != SAP_NETBIOS {
            continue;
        }
        let is_query = matches!(
            Frame::parse(pdu.info),
            Ok(Frame::Name(name)) if name.command == NameCommand::NameQuery
        );
        if is_query || !frame.destination.is_group() {
            found.push((frame.source, bytes.clone()));
        }
    }
    found
}

/// Command, both data fields, transmit correlator, both session numbers, data.
type Heard = (SessionCommand, u8, u16, u16, u8, u8, Vec<u8>);

/// The other station, which sends what it sent in the capture, with the numbers that this conversation has.
struct Replayed {
    /// I frames that it sent and received.
    sent: u8,
    received: u8,
    /// What our station said last: correlators, and its session number.
    response: u16,
    number: u8,
    /// The station's answers to the replayed frames, as NetBIOS frames with their data.
    heard: Vec<Heard>,
}

impl Replayed {
    fn new() -> Self {
        Self {
            sent: 0,
            received: 0,
            response: 0,
            number: 0,
            heard: vec![],
        }
    }

    /// Takes what our station sends.
    fn listen(&mut self, station: &mut Nbf) {
        while let Some(bytes) = station.poll_transmit() {
            let frame = Ethernet::parse(&bytes).unwrap();
            let Payload::Length(payload) = frame.payload else {
                panic!("not 802.3");
            };
            let pdu = Pdu::parse(payload).unwrap();
            match (pdu.control, Frame::parse(pdu.info)) {
                (Control::Information { ns, .. }, Ok(Frame::Session(frame))) => {
                    assert_eq!(ns, self.received % 128, "I frames in order");
                    self.received = self.received.wrapping_add(1);
                    if matches!(
                        frame.command,
                        SessionCommand::DataOnlyLast | SessionCommand::SessionInitialize
                    ) {
                        self.response = frame.response;
                    }
                    let (destination, source) = (frame.destination, frame.source);
                    self.heard.push((
                        frame.command,
                        frame.data1,
                        frame.data2,
                        frame.transmit,
                        destination,
                        source,
                        frame.data.to_vec(),
                    ));
                }
                (_, Ok(Frame::Name(frame))) => {
                    self.response = frame.response;
                    self.number = frame.session();
                }
                _ => {}
            }
        }
    }

    /// The frame of the capture, with N(S), N(R), correlators and session numbers of this conversation.
    fn adapt(&mut self, bytes: &[u8]) -> Vec<u8> {
        let frame = Ethernet::parse(bytes).unwrap();
        let Payload::Length(payload) = frame.payload else {
            panic!("not 802.3");
        };
        let pdu = Pdu::parse(payload).unwrap();
        let nr = self.received % 128;
        let (control, info) = match pdu.control {
            Control::Information { pf, .. } => {
                let ns = self.sent % 128;
                self.sent = self.sent.wrapping_add(1);
                (
                    Control::Information { ns, nr, pf },
                    self.adapt_session(pdu.info),
                )
            }
            Control::Supervisory { kind, pf, .. } => {
                (Control::Supervisory { kind, nr, pf }, vec![])
            }
            Control::Unnumbered { .. } => (pdu.control, pdu.info.to_vec()),
        };
        let pdu = Pdu {
            control,
            info: &info,
            ..pdu
        };
        emit_802_3(frame.destination, frame.source, &[&pdu.emit()]).unwrap()
    }

    fn adapt_session(&self, info: &[u8]) -> Vec<u8> {
        let Ok(Frame::Session(frame)) = Frame::parse(info) else {
            panic!("no frame of a session");
        };
        let answers = matches!(
            frame.command,
            SessionCommand::SessionInitialize
                | SessionCommand::SessionConfirm
                | SessionCommand::DataAck
        );
        let transmit = if answers || frame.has(flags::ACK_INCLUDED) {
            self.response
        } else {
            frame.transmit
        };
        let frame = SessionFrame {
            transmit,
            destination: if frame.command == SessionCommand::SessionAlive {
                0
            } else {
                self.number
            },
            ..frame
        };
        [&frame.header()[..], frame.data].concat()
    }
}

fn data_of(bytes: &[u8]) -> Option<(u8, Vec<u8>)> {
    let Payload::Length(payload) = Ethernet::parse(bytes).ok()?.payload else {
        return None;
    };
    let pdu = Pdu::parse(payload).ok()?;
    let Control::Information { .. } = pdu.control else {
        return None;
    };
    match Frame::parse(pdu.info).ok()? {
        Frame::Session(frame) if frame.command == SessionCommand::DataOnlyLast => {
            Some((frame.data1, frame.data.to_vec()))
        }
        _ => None,
    }
}

fn messages(station: &mut Nbf, now: Time) -> Vec<(SessionId, Vec<u8>)> {
    let mut found = vec![];
    while let Some(event) = station.poll_event() {
        if let NbfEvent::Message { session, bytes } = event {
            station.consumed(now, session);
            found.push((session, bytes));
        }
    }
    found
}

#[test]
fn a_dos_clients_frames_get_the_answers_of_windows_98() {
    let mut config = NbfConfig::new(SERVER, vec![unique("MDJR98<20>")]);
    config.first_session = 0x15;
    let mut station = Nbf::new(Time(0), config);
    let mut now = Time(0);
    for _ in 0..4 {
        now = now + Span::from_secs(1);
        station.handle_timeout(now);
    }
    while station.poll_transmit().is_some() {}
    let frames = conversation();
    let mut replies = frames
        .iter()
        .filter(|(from, _)| *from == SERVER)
        .filter_map(|(_, f)| data_of(f));
    let mut client = Replayed::new();
    let (mut requests, mut answered) = (0usize, vec![]);
    for (_, bytes) in frames.iter().filter(|(from, _)| *from == CLIENT) {
        now = now + Span::from_millis(1);
        let frame = client.adapt(bytes);
        station.handle_frame(now, &frame);
        for (session, message) in messages(&mut station, now) {
            let (_, wanted) = data_of(bytes).unwrap();
            assert_eq!(message, wanted, "the client's message");
            requests += 1;
            let (flags, reply) = replies.next().unwrap();
            station.send(now, session, reply.clone()).unwrap();
            answered.push((flags, reply));
        }
        client.listen(&mut station);
    }
    assert_eq!((requests, client.number), (REQUESTS, 0x15));
    let confirm = &client.heard[0];
    assert_eq!(
        (confirm.0, confirm.1, confirm.3),
        (SessionCommand::SessionConfirm, 0x81, 3)
    );
    let data: Vec<_> = client
        .heard
        .iter()
        .filter(|f| f.0 == SessionCommand::DataOnlyLast)
        .collect();
    assert_eq!(data.len(), answered.len());
    for (at, (frame, (flags, reply))) in data.iter().zip(&answered).enumerate() {
        let (_, data1, data2, transmit, destination, source, bytes) = frame;
        assert_eq!(
            (bytes, data1),
            (reply, flags),
            "reply {at} has Windows 98's flags"
        );
        assert_eq!((*data2, *destination, *source), (0, 3, 0x15));
        assert_eq!(
            usize::from(*transmit),
            at + 1,
            "the client's correlators count from 1"
        );
    }
    assert_eq!(station.counters().ignored, 0);
}

#[test]
fn windows_98s_frames_open_our_session_and_answer_our_requests() {
    let mut station = Nbf::new(Time(0), NbfConfig::new(CLIENT, vec![]));
    let mut now = Time(0);
    let frames = conversation();
    let mut requests = frames
        .iter()
        .filter(|(from, _)| *from == CLIENT)
        .filter_map(|(_, f)| data_of(f));
    let session = station
        .call(now, name("MDJR98<20>"), name("TEST1<00>"))
        .unwrap();
    let mut server = Replayed::new();
    server.listen(&mut station);
    let (mut replies, mut open) = (0usize, false);
    for (_, bytes) in frames.iter().filter(|(from, _)| *from == SERVER) {
        now = now + Span::from_millis(1);
        let mut frame = server.adapt(bytes);
        // NAME RECOGNIZED answers the correlator of our query.
        if frame[21] == 0x0e {
            frame[25..27].copy_from_slice(&server.response.to_le_bytes());
        }
        station.handle_frame(now, &frame);
        let mut ready = false;
        while let Some(event) = station.poll_event() {
            match event {
                NbfEvent::SessionOpened {
                    session: opened, ..
                } => {
                    (open, ready) = (opened == session, true);
                }
                NbfEvent::Message {
                    session,
                    bytes: message,
                } => {
                    assert_eq!(message, data_of(bytes).unwrap().1);
                    station.consumed(now, session);
                    (replies, ready) = (replies + 1, true);
                }
                other => panic!("{other:?}"),
            }
        }
        if let Some((_, request)) = requests.next().filter(|_| ready) {
            station.send(now, session, request).unwrap();
        }
        server.listen(&mut station);
    }
    assert!(open, "{:?}", server.heard);
    assert_eq!(replies, REQUESTS);
    let first = &server.heard[0];
    assert_eq!(
        (first.0, first.1, first.2),
        (SessionCommand::SessionInitialize, 0x8f, 1482)
    );
    let poll = Control::Supervisory {
        kind: Supervisory::Rr,
        nr: 0,
        pf: true,
    };
    assert_eq!(poll.emit().0, [1, 1]);
}
