//! The analyser, fed with frames of NetBEUI and packets of IPX whose headers are choices.

use coax_explain::{
    Analyser,
    capture::{LinkType, Packet},
};
use coax_wire::{
    ether::{self, Mac},
    ipx::{
        Address, FrameType, Network, Packet as IpxPacket,
        nbipx::{SessionHeader, stream},
        socket,
    },
    llc::{Control, Pdu, SAP_NETBIOS, Supervisory, Unnumbered},
    nbf::{SessionCommand, SessionFrame},
    time::Time,
};

use crate::choices::Choices;

const STATIONS: [Mac; 3] = [
    Mac([2, 0, 0, 0, 0, 1]),
    Mac([2, 0, 0, 0, 0, 2]),
    Mac([2, 0, 0, 0, 0, 3]),
];
const MAX_FRAMES: u64 = 400;

/// Whatever stations say, the causes of every copy add up to its time.
pub fn explained(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mut analyser = Analyser::default();
    let mut at = Time(1_000_000_000);
    for number in 1..=MAX_FRAMES {
        if choices.is_done() {
            break;
        }
        at = Time(at.0 + (1_u64 << choices.below(32)));
        let mut bytes = frame(&mut choices);
        let wire_len = bytes.len() as u32;
        if choices.once_in(16) {
            bytes.truncate(choices.below(100));
        }
        analyser.packet(&Packet {
            number,
            at,
            link: LinkType::Ethernet,
            bytes: &bytes,
            wire_len,
        });
    }
    let capture = analyser.finish();
    for copy in &capture.copies {
        assert_eq!(copy.account.total(), copy.wall);
        assert!(copy.connection < capture.connections.len());
    }
}

fn frame(choices: &mut Choices<'_>) -> Vec<u8> {
    let from = choices.below(STATIONS.len());
    let to = (from + 1) % STATIONS.len();
    let ends = (STATIONS[to], STATIONS[from]);
    match choices.below(8) {
        0 => nbipx(choices, ends),
        1 => direct(choices, ends),
        _ => netbeui(choices, ends),
    }
}

fn netbeui(choices: &mut Choices<'_>, (to, from): (Mac, Mac)) -> Vec<u8> {
    let (ns, nr, pf) = (choices.u8() & 127, choices.u8() & 127, choices.once_in(4));
    let control = match choices.below(8) {
        0 => Control::Supervisory {
            kind: *choices.one_of(&[Supervisory::Rr, Supervisory::Rnr, Supervisory::Rej]),
            nr,
            pf,
        },
        1 => Control::Unnumbered {
            kind: *choices.one_of(&[Unnumbered::Sabme, Unnumbered::Ua, Unnumbered::Disc]),
            pf,
        },
        _ => Control::Information { ns, nr, pf },
    };
    let code = 0x14 + choices.u8() % 12;
    let command = SessionCommand::from_code(code).unwrap_or(SessionCommand::DataOnlyLast);
    let session = SessionFrame {
        data1: choices.u8(),
        data2: choices.u16(),
        ..SessionFrame::new(command, choices.u8() % 3, choices.u8() % 3)
    };
    let info = [&session.header()[..], &message(choices)].concat();
    let pdu = Pdu {
        dsap: SAP_NETBIOS,
        ssap: SAP_NETBIOS,
        response: choices.once_in(2),
        control,
        info: &info,
    };
    ether::emit_802_3(to, from, &[&pdu.emit()]).unwrap_or_default()
}

fn nbipx(choices: &mut Choices<'_>, ends: (Mac, Mac)) -> Vec<u8> {
    let data = message(choices);
    let header = SessionHeader {
        control: choices.u8(),
        stream: stream::SESSION_DATA + choices.u8() % 3,
        source: choices.u16() % 3,
        destination: *choices.one_of(&[0, 1, 2, SessionHeader::UNASSIGNED]),
        sequence: choices.u16() % 8,
        total: choices.u16(),
        offset: choices.u16(),
        len: data.len() as u16,
        acknowledged: choices.u16() % 8,
        window_end: choices.u16() % 16,
    };
    let sockets = [socket::NETBIOS; 2];
    ipx(
        choices,
        ends,
        sockets,
        &[&header.emit()[..], &data].concat(),
    )
}

fn direct(choices: &mut Choices<'_>, ends: (Mac, Mac)) -> Vec<u8> {
    let sockets = *choices.one_of(&[
        [socket::SMB_SERVER, socket::SMB_CLIENT],
        [socket::SMB_CLIENT, socket::SMB_SERVER],
    ]);
    let data = message(choices);
    ipx(choices, ends, sockets, &data)
}

fn ipx(
    choices: &mut Choices<'_>,
    (to, from): (Mac, Mac),
    [to_socket, from_socket]: [u16; 2],
    data: &[u8],
) -> Vec<u8> {
    let packet = IpxPacket {
        hops: 0,
        kind: 4,
        destination: Address::new(Network(1), to, to_socket),
        source: Address::new(Network(1), from, from_socket),
        data: &[],
    };
    let frame_type = *choices.one_of(&FrameType::ALL);
    let emitted = frame_type.emit(to, from, &packet, &[data]);
    emitted.unwrap_or_default()
}

/// A message, or a piece of one.
fn message(choices: &mut Choices<'_>) -> Vec<u8> {
    if choices.once_in(3) {
        return choices.counted().to_vec();
    }
    let mut message = b"\xffSMB".to_vec();
    // NEGOTIATE, OPEN_ANDX, READ, CLOSE, READ_ANDX
    message.push(*choices.one_of(&[0x72, 0x2d, 0x0a, 0x04, 0x2e]));
    message.extend([0; 4]);
    message.push(if choices.once_in(2) { 0x80 } else { 0 });
    message.resize(32, 0);
    message[18..22].fill(choices.u8() & 3);
    message[30] = choices.u8() & 3;
    message.extend_from_slice(choices.counted());
    message
}

/// Choices by chance.
pub fn choices() -> Vec<Vec<u8>> {
    let chance = |seed: u64| {
        let mut state = seed;
        let next = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u8
        };
        std::iter::repeat_with(next).take(4000).collect()
    };
    (1..16).map(chance).collect()
}
