#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
use super::*;
use crate::ether::Frame;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use nbipx::{Datagram, NamePacket, SessionHeader, SessionOpen, control, stream};

/// Frames of tests/captures/tcpdump-ipx.pcap as Wireshark prints them.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// Frame 1: a Windows 2000 server asks for the master browsers.
const FIND_NAME: &str = "ffffffffffff 0003471bc1a8 0054 e0e003
    ffff 0050 00 14 00000000 ffffffffffff 0455 a8f87967 000000000001 0455
    00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000
    00 01 01025f5f4d5342524f5753455f5f0201 00";
/// Frame 5: a router, or a server that is one, tells a network.
const RIP: &str = "ffffffffffff 0003471bc1a8 002c e0e003
    ffff 0028 00 01 00000000 ffffffffffff 0453 00000000 0003471bc1a8 0453
    0002 a8f87967 0001 0002 000000";
/// Frame 7: Windows XP advertises a service.
const SAP: &str = "ffffffffffff 001485accdad 0064 e0e003
    ffff 0060 00 04 00000000 ffffffffffff 0452 00000000 001485accdad 4008
    0002 064e 454b544121212121212121212121214135353639423230414245353131434539434134303030303443373632383332 00
    00000000 001485accdad 4000 0001 6a";
/// The beginning of frame 36: a host announcement, without its mailslot message.
const NMPI: &str = "0000000000000000000000000000000000000000000000000000000000000000
    fc 02 0000 494e4449412d495420202020202020 00 415645534820202020202020202020 00 ff534d4225";
/// The beginning of frame 4: a domain announcement, without its mailslot message.
const DATAGRAM: &str =
    "00 0b 41444d494e54455354202020202020 00 01025f5f4d5342524f5753455f5f0201 ff534d4225";

fn packet(bytes: &[u8]) -> (FrameType, Packet<'_>) {
    FrameType::parse(&Frame::parse(bytes).unwrap()).unwrap()
}

#[test]
fn a_name_query_of_windows_decodes_and_encodes_to_the_same_bytes() {
    let bytes = hex(FIND_NAME);
    let (frame_type, packet) = packet(&bytes);
    assert_eq!(frame_type, FrameType::Ieee802_2);
    assert_eq!((packet.kind, packet.hops), (kind::PROPAGATED, 0));
    let source = packet.source.host;
    assert_eq!(source.to_string(), "A8F87967.00:00:00:00:00:01");
    assert_eq!(packet.destination.socket, socket::NETBIOS);
    let name = NamePacket::parse(packet.data).unwrap();
    assert_eq!((name.stream, name.flags), (stream::FIND_NAME, 0));
    assert_eq!(&name.name.0, b"\x01\x02__MSBROWSE__\x02\x01");
    let frame = Frame::parse(&bytes).unwrap();
    let again = frame_type.emit(frame.destination, frame.source, &packet, &[&name.emit()]);
    assert_eq!(again.unwrap(), bytes, "padding to an even length included");
}

#[test]
fn a_route_of_windows_decodes_and_encodes_to_the_same_bytes() {
    let bytes = hex(RIP);
    let (_, packet) = packet(&bytes);
    let rip = rip::Packet::parse(packet.data).unwrap();
    let route = rip::Route {
        network: Network(0xa8f8_7967),
        hops: 1,
        ticks: 2,
    };
    assert_eq!((rip.is_response, &rip.routes[..]), (true, &[route][..]));
    assert_eq!(rip.emit(), packet.data);
}

#[test]
fn a_service_of_windows_decodes_and_encodes_to_the_same_bytes() {
    let bytes = hex(SAP);
    let (_, packet) = packet(&bytes);
    let sap = sap::Packet::parse(packet.data).unwrap();
    assert_eq!(sap.operation, sap::Operation::GeneralResponse);
    let service = &sap.services[0];
    assert!(service.name.starts_with(b"EKTA!!!!!!!!!!!A5569B20"));
    assert_eq!((service.kind, service.hops), (0x064e, 1));
    assert_eq!(service.address.socket, 0x4000);
    assert_eq!(sap.emit(), packet.data);
    let query = hex("0003 0640");
    let asked = sap::Packet::parse(&query).unwrap();
    assert_eq!(asked.operation, sap::Operation::NearestQuery);
    assert_eq!((asked.wanted, asked.emit()), (sap::NT_SERVER, query));
}

#[test]
fn an_announcement_and_a_datagram_of_windows_decode_and_encode_to_the_same_bytes() {
    let bytes = hex(NMPI);
    let packet = nmpi::Packet::parse(&bytes).unwrap();
    assert_eq!(packet.operation, nmpi::Operation::MailslotWrite);
    assert_eq!(packet.name_type, nmpi::name_type::WORKGROUP);
    assert_eq!(packet.requested.to_string(), "INDIA-IT<00>");
    assert_eq!(packet.source.to_string(), "AVESH<00>");
    assert_eq!([&packet.header()[..], packet.data].concat(), bytes);
    let bytes = hex(DATAGRAM);
    let datagram = Datagram::parse(&bytes).unwrap();
    assert_eq!(datagram.source.to_string(), "ADMINTEST<00>");
    assert_eq!(&datagram.destination.0, b"\x01\x02__MSBROWSE__\x02\x01");
    assert_eq!([&datagram.header()[..], datagram.data].concat(), bytes);
}

#[test]
fn every_frame_type_carries_a_packet_there_and_back() {
    let source = Address::new(Network(7), Mac([2, 0, 0, 0, 0, 1]), socket::SMB_CLIENT);
    let destination = Address::new(Network(7), Mac([2, 0, 0, 0, 0, 2]), socket::SMB_SERVER);
    let packet = Packet {
        hops: 0,
        kind: kind::PACKET_EXCHANGE,
        destination,
        source,
        data: &[],
    };
    for frame_type in FrameType::ALL {
        for len in [0, 1, 2, 15, 500, frame_type.max_data()] {
            let data = vec![0xa5; len];
            let bytes = frame_type
                .emit(destination.host.node, source.host.node, &packet, &[&data])
                .unwrap();
            assert!((60..=1514).contains(&bytes.len()));
            let frame = Frame::parse(&bytes).unwrap();
            let whole = Packet {
                data: &data,
                ..packet
            };
            assert_eq!(FrameType::parse(&frame), Ok((frame_type, whole)));
        }
        let long = vec![0; frame_type.max_data() + 1];
        assert!(
            frame_type
                .emit(Mac::BROADCAST, Mac::BROADCAST, &packet, &[&long])
                .is_err()
        );
    }
    let room = FrameType::ALL.map(FrameType::max_data);
    assert_eq!(room, [1467, 1470, 1470, 1462]);
}

#[test]
fn a_session_packet_is_18_bytes_and_little_endian() {
    let bytes = hex("50 06 0102 0304 0500 0300 0000 0300 0700 0c00 616263 0000");
    let (header, data) = SessionHeader::parse(&bytes).unwrap();
    let wanted = SessionHeader {
        control: control::ACK_REQUIRED | control::END_OF_MESSAGE,
        stream: stream::SESSION_DATA,
        source: 0x0201,
        destination: 0x0403,
        sequence: 5,
        total: 3,
        offset: 0,
        len: 3,
        acknowledged: 7,
        window_end: 12,
    };
    assert_eq!((header, data), (wanted, &b"abc"[..]));
    assert_eq!(wanted.emit(), bytes[..18]);
    let open = SessionOpen {
        source: "CLIENT<00>".parse().unwrap(),
        destination: "SERVER<20>".parse().unwrap(),
        max_data: 1452,
        times: [0x15, 9],
    };
    let bytes = open.emit();
    assert_eq!(bytes[32..], [0xac, 5, 0x15, 0, 9, 0]);
    assert_eq!(SessionOpen::parse(&bytes), Ok(open));
}

#[test]
fn damaged_packets_are_refused() {
    let good = hex(FIND_NAME);
    for len in 0..good.len() - 1 {
        let frame = Frame::parse(&good[..len]);
        assert!(
            frame.and_then(|frame| FrameType::parse(&frame)).is_err(),
            "{len}"
        );
    }
    let mut checksum = hex(FIND_NAME);
    checksum[17] = 0;
    let frame = Frame::parse(&checksum).unwrap();
    assert_eq!(
        FrameType::parse(&frame),
        Err(Error::Value { what: "checksum" })
    );
    let mut short = hex(FIND_NAME);
    short[20] = 29;
    assert!(FrameType::parse(&Frame::parse(&short).unwrap()).is_err());
    assert!(NamePacket::parse(&[0; 50]).is_err(), "no such stream type");
    assert!(nmpi::Packet::parse(&[0; 68]).is_err(), "no such operation");
    assert!(SessionHeader::parse(&[6; 40]).is_err(), "its length lies");
}

#[test]
fn frame_types_have_our_names_and_novells() {
    for frame_type in FrameType::ALL {
        assert_eq!(frame_type.to_string().parse(), Ok(frame_type));
    }
    assert_eq!("ETHERNET_802.3".parse(), Ok(FrameType::Raw802_3));
    assert_eq!("Ethernet_II".parse(), Ok(FrameType::EthernetII));
    assert_eq!("ethernet_snap".parse(), Ok(FrameType::Snap));
    let error = "802.4".parse::<FrameType>().unwrap_err();
    assert_eq!(
        format!("{error}"),
        "a frame type is 802.2, 802.3, ethernet-ii or snap"
    );
}
