//! Stations and codecs of NetBIOS without TCP/IP, fed with frames.

use crate::choices::Choices;
use coax_netbios::nbf::{Nbf, NbfConfig, NbfEvent, SessionId, StationName};
use coax_wire::{
    ether::{Frame, Mac, Payload, emit_802_3},
    llc::Pdu,
    nbf::{AdapterStatus, Frame as NetBios},
    nbt::name::NbName,
    time::{Span, Time},
};

const STATION: Mac = Mac([2, 0, 0, 0, 0, 1]);
const PEERS: [Mac; 3] = [
    Mac([2, 0, 0, 0, 0, 2]),
    Mac([2, 0, 0, 0, 0, 3]),
    Mac([2, 0, 0, 0, 0, 4]),
];

/// Every codec of a frame: what decodes is written as it was read.
pub fn frame(data: &[u8]) {
    let Ok(frame) = Frame::parse(data) else {
        return;
    };
    let Payload::Length(payload) = frame.payload else {
        return;
    };
    let again = emit_802_3(frame.destination, frame.source, &[payload]).expect("it fits");
    assert_eq!(Frame::parse(&again), Ok(frame));
    let Ok(pdu) = Pdu::parse(payload) else {
        return;
    };
    assert_eq!(Pdu::parse(&pdu.emit()), Ok(pdu));
    let Ok(netbios) = NetBios::parse(pdu.info) else {
        return;
    };
    let bytes = match netbios {
        NetBios::Name(name) => {
            if let Ok(status) = AdapterStatus::parse(name.data) {
                assert_eq!(AdapterStatus::parse(&status.emit()).as_ref(), Ok(&status));
            }
            name.emit()
        }
        NetBios::Session(session) => [&session.header()[..], session.data].concat(),
    };
    assert_eq!(NetBios::parse(&bytes), Ok(netbios));
}

/// A station in a conversation with peers that send anything, while its own program calls, sends and hangs up.
pub fn station(data: &[u8]) {
    let mut choices = Choices::new(data);
    let own = |characters: &[u8], suffix, group| StationName {
        name: NbName::new(characters, suffix).expect("a name"),
        group,
        listens: !group,
    };
    let names = vec![own(b"COAX", 0x20, false), own(b"LAB", 0, true)];
    let mut config = NbfConfig::new(STATION, names);
    config.max_sessions = 20;
    config.max_links = 3;
    config.max_message = *choices.one_of(&[100, 5000]);
    config.max_buffered = *choices.one_of(&[0, 2000]);
    let mut now = Time(1_000_000_000);
    let mut station = Nbf::new(now, config);
    let mut sessions: Vec<SessionId> = Vec::new();
    for _ in 0..2000 {
        if choices.is_done() {
            break;
        }
        step(&mut station, &mut now, &mut choices, &sessions);
        let due = station.poll_timeout();
        if due.is_some_and(|due| due <= now) {
            station.handle_timeout(now);
        }
        collect(&mut station, now, &mut sessions);
        assert!(station.session_count() <= 20 && station.link_count() <= 3);
        assert!(station.buffered() <= 20 * 5 * 5000 + 2000);
    }
}

fn step(station: &mut Nbf, now: &mut Time, choices: &mut Choices<'_>, sessions: &[SessionId]) {
    let session = match sessions {
        [] => SessionId(0),
        some => some[choices.below(some.len())],
    };
    match choices.below(8) {
        0 => *now = *now + Span::from_millis(u64::from(choices.u8()) * 10),
        1 => drop(station.call(
            *now,
            NbName(*b"PEER            "),
            NbName(*b"COAX            "),
        )),
        2 => drop(station.send(*now, session, vec![7; choices.below(4000)])),
        3 => station.hang_up(*now, session),
        _ => {
            let from = *choices.one_of(&PEERS);
            let to = *choices.one_of(&[STATION, Mac::NETBIOS]);
            let len = choices.below(80);
            let payload = choices.bytes(len);
            if let Ok(frame) = emit_802_3(to, from, &[payload]) {
                station.handle_frame(*now, &frame);
            }
        }
    }
}

fn collect(station: &mut Nbf, now: Time, sessions: &mut Vec<SessionId>) {
    while let Some(event) = station.poll_event() {
        match event {
            NbfEvent::Message { session, .. } => station.consumed(now, session),
            NbfEvent::SessionOpened { session, .. } => sessions.push(session),
            NbfEvent::SessionClosed { session, .. } => sessions.retain(|open| *open != session),
            _ => {}
        }
    }
    while let Some(sent) = station.poll_transmit() {
        assert!((60..=1514).contains(&sent.len()));
        let frame = Frame::parse(&sent).expect("a frame");
        let Payload::Length(payload) = frame.payload else {
            panic!("no 802.3 frame");
        };
        Pdu::parse(payload).expect("a protocol data unit");
    }
}

/// Frames of a DOS client and Windows 98.
pub fn frames() -> Vec<Vec<u8>> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/captures/dos-win98-netbeui.pcap"
    );
    let file = std::fs::read(path).unwrap_or_default();
    let mut rest = file.get(24..).unwrap_or_default();
    let mut found = Vec::new();
    while let Some(head) = rest.get(8..12) {
        let len = u32::from_le_bytes(head.try_into().expect("four bytes")) as usize;
        found.push(rest[16..16 + len].to_vec());
        rest = &rest[16 + len..];
    }
    found.truncate(140);
    found
}

/// Conversations: choices, then the payloads of those frames.
pub fn conversations() -> Vec<Vec<u8>> {
    let mut all = vec![1, 1];
    for frame in frames() {
        let len = usize::from(u16::from_be_bytes([frame[12], frame[13]])).min(79);
        all.extend([4, 0, 0, len as u8]);
        all.extend(frame.get(14..14 + len).unwrap_or_default());
    }
    vec![all.clone(), all.split_off(400)]
}
