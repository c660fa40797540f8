//! The frames of Windows 2000 and XP in tests/captures/tcpdump-ipx.pcap (tcpdump's tests, BSD licence).

use super::super::*;
use super::lan::{group, mac, unique};
use coax_wire::browser::BrowserMessage;
use coax_wire::mailslot::MailslotMessage;
use std::vec;

const FILE: &[u8] = include_bytes!("../../../../../tests/captures/tcpdump-ipx.pcap");

/// The frames of a pcap file in this machine's byte order.
fn frames() -> Vec<Vec<u8>> {
    let mut rest = &FILE[24..];
    let mut frames = vec![];
    while let [_, _, _, _, _, _, _, _, a, b, c, d, _, _, _, _, tail @ ..] = rest {
        let len = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
        frames.push(tail[..len].to_vec());
        rest = &tail[len..];
    }
    frames
}

/// Every frame was made by Windows or a printer: each decodes, and only its sender knows what we do not.
#[test]
fn every_frame_of_windows_is_understood() {
    let names = vec![
        group("INDIA-IT<1e>"),
        group("WORKGROUP<1e>"),
        group("RADIUS<1e>"),
        group("WORKGROUP<00>"),
        unique("COAX<20>"),
    ];
    let mut station = Ipx::new(Time(0), IpxConfig::new(mac(9), names));
    for ms in [600, 1200, 1800] {
        station.handle_timeout(Time(0) + Span::from_millis(ms));
    }
    let frames = frames();
    assert_eq!(frames.len(), 64);
    let now = Time(0) + Span::from_secs(10);
    while station.poll_event().is_some() {}
    for (at, frame) in frames.iter().enumerate() {
        station.handle_frame(now + Span::from_secs(at as u64), frame);
    }
    assert_eq!(station.counters().ignored, 0);
    let mut opcodes = vec![];
    while let Some(event) = station.poll_event() {
        let IpxEvent::Datagram { data, .. } = event else {
            panic!("{event:?}");
        };
        let message = MailslotMessage::parse(&data).unwrap();
        assert!(BrowserMessage::parse(&message.data).is_ok());
        opcodes.push(message.data[0]);
    }
    // Three workgroups, two servers and a master announce themselves.
    assert_eq!(opcodes, [12, 12, 1, 12, 1, 15]);
}

/// Nobody who is in the capture's network has its number as the network of his own address.
#[test]
fn the_number_of_a_network_inside_a_server_is_not_learned() {
    let mut station = Ipx::new(Time(0), IpxConfig::new(mac(9), vec![]));
    for frame in frames() {
        station.handle_frame(Time(0), &frame);
    }
    assert_eq!(station.network(), Network(0));
}

/// A host that asks for a name of ours as frame 32 asks for INDIA-IT<1e> gets one answer, in its frame type.
#[test]
fn a_question_of_windows_for_our_name_is_answered() {
    let mut station = Ipx::new(
        Time(0),
        IpxConfig::new(mac(9), vec![unique("INDIA-IT<1e>")]),
    );
    for ms in [600, 1200, 1800] {
        station.handle_timeout(Time(0) + Span::from_millis(ms));
    }
    while station.poll_transmit().is_some() {}
    station.handle_frame(Time(0) + Span::from_secs(9), &frames()[31]);
    let bytes = station.poll_transmit().unwrap();
    assert_eq!(station.poll_transmit(), None);
    let frame = Frame::parse(&bytes).unwrap();
    assert_eq!(frame.destination, Mac([0x00, 0x13, 0x20, 0x61, 0x83, 0xa3]));
    let (frame_type, packet) = FrameType::parse(&frame).unwrap();
    assert_eq!((frame_type, packet.kind), (FrameType::Ieee802_2, 4));
    let answer = NamePacket::parse(packet.data).unwrap();
    assert_eq!(
        (answer.stream, answer.flags),
        (stream::NAME_RECOGNIZED, 0x44)
    );
}
