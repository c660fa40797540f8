//! The station and the codecs of IPX, fed with frames.

use crate::choices::Choices;
use coax_netbios::{
    ipx::{Carriage, Ipx, IpxConfig, IpxEvent},
    nbf::{SessionId, StationName},
};
use coax_wire::{
    ether::{Frame, Mac},
    ipx::{
        Address, FrameType, Network, Packet, kind,
        nbipx::{Datagram, NamePacket, SessionHeader, SessionOpen},
        nmpi, rip, sap, socket,
    },
    nbt::name::NbName,
    time::{Span, Time},
};

const STATION: Mac = Mac([2, 0, 0, 0, 0, 1]);
const PEERS: [Mac; 3] = [
    Mac([2, 0, 0, 0, 0, 2]),
    Mac([2, 0, 0, 0, 0, 3]),
    Mac([2, 0, 0, 0, 0, 4]),
];
const SOCKETS: [u16; 7] = [
    socket::NETBIOS,
    socket::SMB_SERVER,
    socket::SMB_CLIENT,
    socket::NMPI_NAMES,
    socket::NMPI_MAILSLOTS,
    socket::RIP,
    socket::SAP,
];

/// Every codec of a frame: what decodes is written as it was read.
pub fn frame(data: &[u8]) {
    let Ok(frame) = Frame::parse(data) else {
        return;
    };
    let Ok((frame_type, packet)) = FrameType::parse(&frame) else {
        return;
    };
    let again = frame_type.emit(frame.destination, frame.source, &packet, &[packet.data]);
    // An Ethernet II frame may be longer than the standard allows.
    if let Ok(again) = again {
        let again = Frame::parse(&again).expect("a frame");
        assert_eq!(FrameType::parse(&again), Ok((frame_type, packet)));
    }
    contents(packet.data);
}

fn contents(data: &[u8]) {
    if let Ok(name) = NamePacket::parse(data) {
        assert_eq!(NamePacket::parse(&name.emit()), Ok(name));
    }
    if let Ok(datagram) = Datagram::parse(data) {
        let again = [&datagram.header()[..], datagram.data].concat();
        assert_eq!(Datagram::parse(&again), Ok(datagram));
    }
    if let Ok((header, rest)) = SessionHeader::parse(data) {
        let again = [&header.emit()[..], rest].concat();
        assert_eq!(SessionHeader::parse(&again), Ok((header, rest)));
        if let Ok(open) = SessionOpen::parse(rest) {
            assert_eq!(SessionOpen::parse(&open.emit()), Ok(open));
        }
    }
    if let Ok(packet) = nmpi::Packet::parse(data) {
        let again = [&packet.header()[..], packet.data].concat();
        assert_eq!(nmpi::Packet::parse(&again), Ok(packet));
    }
    if let Ok(packet) = rip::Packet::parse(data) {
        assert_eq!(rip::Packet::parse(&packet.emit()), Ok(packet));
    }
    if let Ok(packet) = sap::Packet::parse(data) {
        assert_eq!(sap::Packet::parse(&packet.emit()), Ok(packet));
    }
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
    let mut config = IpxConfig::new(STATION, names);
    config.max_sessions = 20;
    config.max_per_station = *choices.one_of(&[2, 20]);
    config.circuit.max_message = *choices.one_of(&[100, 5000]);
    config.max_buffered = *choices.one_of(&[0, 2000]);
    config.advertised = Some(b"COAX".to_vec());
    let mut now = Time(1_000_000_000);
    let mut station = Ipx::new(now, config);
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
        assert!(station.session_count() <= 20);
        assert!(station.buffered() <= 20 * 5 * 5000 + 2000);
    }
}

fn step(station: &mut Ipx, now: &mut Time, choices: &mut Choices<'_>, sessions: &[SessionId]) {
    let session = match sessions {
        [] => SessionId(0),
        some => some[choices.below(some.len())],
    };
    match choices.below(8) {
        0 => *now = *now + Span::from_millis(u64::from(choices.u8()) * 10),
        1 => {
            let only = *choices.one_of(&[None, Some(Carriage::NetBios), Some(Carriage::Direct)]);
            let called = NbName(*b"PEER            ");
            let _ = station.call(*now, called, NbName(*b"COAX            "), only);
        }
        2 => {
            let _ = station.send(*now, session, vec![7; choices.below(4000)]);
        }
        3 => station.hang_up(*now, session),
        _ => {
            if let Some(frame) = received(choices) {
                station.handle_frame(*now, &frame);
            }
        }
    }
}

/// A packet with chosen addresses and any data.
fn received(choices: &mut Choices<'_>) -> Option<Vec<u8>> {
    let from = *choices.one_of(&PEERS);
    let to = *choices.one_of(&[STATION, Mac::BROADCAST]);
    let frame_type = *choices.one_of(&FrameType::ALL);
    let (own, other) = (*choices.one_of(&SOCKETS), *choices.one_of(&SOCKETS));
    let len = choices.below(120);
    let data = choices.bytes(len);
    let packet = Packet {
        hops: 0,
        kind: kind::PACKET_EXCHANGE,
        destination: Address::new(Network(0), to, own),
        source: Address::new(Network(0), from, other),
        data: &[],
    };
    frame_type.emit(to, from, &packet, &[data]).ok()
}

fn collect(station: &mut Ipx, now: Time, sessions: &mut Vec<SessionId>) {
    while let Some(event) = station.poll_event() {
        match event {
            IpxEvent::Message { session, .. } => station.consumed(now, session),
            IpxEvent::SessionOpened { session, .. } => sessions.push(session),
            IpxEvent::SessionClosed { session, .. } => sessions.retain(|open| *open != session),
            _ => {}
        }
    }
    while let Some(sent) = station.poll_transmit() {
        assert!((60..=1514).contains(&sent.len()));
        let frame = Frame::parse(&sent).expect("a frame");
        FrameType::parse(&frame).expect("a packet");
    }
}

/// Frames of Windows 2000 and XP.
pub fn frames() -> Vec<Vec<u8>> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/captures/tcpdump-ipx.pcap"
    );
    let file = std::fs::read(path).unwrap_or_default();
    let mut rest = file.get(24..).unwrap_or_default();
    let mut found = Vec::new();
    while let Some(head) = rest.get(8..12) {
        let len = u32::from_le_bytes(head.try_into().expect("four bytes")) as usize;
        found.push(rest[16..16 + len].to_vec());
        rest = &rest[16 + len..];
    }
    found
}

/// Conversations: choices, then the data of those frames and of a session.
pub fn conversations() -> Vec<Vec<u8>> {
    let mut all = vec![1, 1, 1];
    let open = SessionOpen {
        source: NbName(*b"PEER            "),
        destination: NbName(*b"COAX            ").with_suffix(0x20),
        max_data: 1449,
        times: [0x15, 9],
    };
    let header = SessionHeader {
        control: 0x41,
        stream: 6,
        source: 1,
        destination: 0xffff,
        len: 38,
        total: 38,
        ..SessionHeader::default()
    };
    let mut packets: Vec<(u8, Vec<u8>)> = vec![(0, [&header.emit()[..], &open.emit()].concat())];
    for frame in frames() {
        packets.push((4, frame.get(47..).unwrap_or_default().to_vec()));
    }
    for (own, data) in packets {
        let len = data.len().min(119);
        all.extend([4, 0, 0, 0, own, 0, len as u8]);
        all.extend(&data[..len]);
    }
    vec![all.clone(), all.split_off(600)]
}
