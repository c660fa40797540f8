//! Frames of NetBEUI and IPX: what is recognised, and what is invalid.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use coax_wire::{
    ether::Mac,
    ipx::{Address, FrameType, Network, Packet},
};

use crate::{Context, Decoded, Identifier, Kind, Value, bytes_of_digits, ethernet_frame};

fn problems(decoded: &Decoded) -> Vec<(&str, &str)> {
    let each = decoded.problems();
    each.map(|field| (field.name, field.problem.as_deref().unwrap()))
        .collect()
}

/// Frame 87 of tests/captures/dos-win98-netbeui.pcap, and its headers without those before them.
#[test]
fn a_data_ack_is_recognised_at_each_of_its_headers() {
    let digits = "00 50 56 33 78 9e 00 0c 29 d4 79 b2 00 12 f0 f0 08 09 0e 00 ff ef 14 00 00 00 04 00 00 00 01 02 0000";
    let frame = bytes_of_digits(digits).unwrap();
    for (start, kind) in [(0, Kind::Ethernet), (14, Kind::Llc), (18, Kind::Netbeui)] {
        let bytes = &frame[start..32];
        assert_eq!(Kind::of(bytes), kind);
        let decoded = kind.decode(bytes);
        assert_eq!(
            (decoded.title.as_str(), problems(&decoded)),
            ("DATA ACK", vec![])
        );
        let correlator = decoded.field("TransmitCorrelator").unwrap();
        assert_eq!(
            (correlator.at, &correlator.value),
            (26 - start, &Value::Number(4))
        );
    }
    let whole = Kind::Ethernet.decode(&frame);
    assert_eq!(whole.field("Padding").unwrap().at, 32);
    assert_eq!(
        whole.field("Control").unwrap().meaning,
        "I N(S)=4 N(R)=4 P/F"
    );
}

/// A CLOSE request of direct hosting.
fn direct(frame_type: FrameType) -> Vec<u8> {
    let mut message = b"\xffSMB\x04".to_vec();
    message.extend([0; 9]);
    message.extend([1, 2, 3, 4, 0x34, 0x12, 7, 0, 0, 0]);
    message.extend([0; 8]);
    message.extend([3, 5, 0, 0, 0, 0, 0, 0, 0]);
    let packet = Packet {
        hops: 0,
        kind: 4,
        destination: Address::new(Network(7), Mac([2, 0, 0, 0, 0, 2]), 0x550),
        source: Address::new(Network(7), Mac([2, 0, 0, 0, 0, 1]), 0x552),
        data: &[],
    };
    let ends = [packet.destination.host.node, packet.source.host.node];
    frame_type
        .emit(ends[0], ends[1], &packet, &[&message])
        .unwrap()
}

#[test]
fn direct_hosting_has_its_numbers_in_every_frame_type() {
    for frame_type in FrameType::ALL {
        let frame = direct(frame_type);
        assert_eq!(Kind::of(&frame), Kind::Ethernet, "{frame_type}");
        let decoded = ethernet_frame(&frame, &mut Context::default());
        assert_eq!(decoded.title, "CLOSE request");
        assert_eq!(problems(&decoded), [], "{frame_type}");
        let value = |name| decoded.field(name).unwrap().value.clone();
        assert_eq!(value("Key"), Value::Hex(0x0403_0201, 4));
        assert_eq!(value("CID"), Value::Hex(0x1234, 2));
        assert_eq!(value("SequenceNumber"), Value::Hex(7, 2));
        assert_eq!(value("FID"), Value::Id(Identifier::Fid, 5));
        assert!(decoded.field("SecurityFeatures").is_none());
    }
}

#[test]
fn what_is_invalid_in_a_frame_is_named_with_what_is_right() {
    let frame = direct(FrameType::Ieee802_2);
    let with = |at: usize, byte: u8| {
        let mut frame = frame.clone();
        frame[at] = byte;
        ethernet_frame(&frame, &mut Context::default())
    };
    assert_eq!(
        problems(&with(21, 17)),
        [("TransportControl", "more than 16 routers")]
    );
    assert_eq!(
        problems(&with(20, 29)),
        [("PacketLength", "should be 30 or more")]
    );
    let long = with(19, 5);
    assert_eq!(problems(&long)[0].0, "PacketLength");
    assert!(problems(&long)[0].1.starts_with("only "));
    assert_eq!(problems(&with(13, 0xff))[0].0, "Length");
    assert_eq!(
        problems(&with(16, 0x0d)),
        [("Control", "no such control field")]
    );
    let nbf = [0x2c, 0, 0xff, 0xef, 0x16, 0, 0, 0, 0, 0, 0, 0, 1, 2];
    assert_eq!(
        problems(&Kind::Netbeui.decode(&nbf)),
        [("Length", "should be 14; Windows NT discards the frame")]
    );
}

/// Every prefix of a frame, and every byte of it with other values.
#[test]
fn any_frame_gives_fields_within_it() {
    let frame = direct(FrameType::Snap);
    for len in 0..frame.len() {
        check(&frame[..len]);
        for byte in [0, 1, 0x7f, 0x80, 0xff] {
            let mut frame = frame.clone();
            frame[len] = byte;
            check(&frame);
        }
    }
}

fn check(bytes: &[u8]) {
    for kind in [Kind::Ethernet, Kind::Llc, Kind::Ipx, Kind::Netbeui] {
        for field in kind.decode(bytes).fields {
            assert!(field.at + field.len <= bytes.len(), "{field:?}");
        }
    }
}
