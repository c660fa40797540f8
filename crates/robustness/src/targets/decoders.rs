//! Decoders of SMB and NetBIOS.

use crate::{
    choices::Choices,
    engine::world::{Options, World},
    views,
};
use coax_wire::{
    block::Block,
    header::{HEADER_LEN, Header},
    io::Writer,
    nbt::{
        name::{NbName, ScopedName},
        ns::{Packet, Repr},
        session::{Control, Framing, Header as SessionHeader, PacketType},
    },
};
use std::hint::black_box;

/// A message of any bytes.
pub fn message(data: &[u8]) {
    views::look(data);
    black_box(views::commands(data));
}

/// Messages, each with its length before it, straight into a server's connection.
pub fn messages(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mut world = World::new(Options::from_choices(&mut choices));
    world.connect();
    if data.starts_with(b"\xffSMB") {
        world.give(0, data);
    }
    for _ in 0..64 {
        if choices.is_done() {
            break;
        }
        let len = usize::from(choices.u16());
        world.give(0, choices.bytes(len));
    }
    world.end();
}

/// One block behind a good header: the first two bytes are flags.
pub fn blocks(data: &[u8]) {
    let mut out = Writer::default();
    Header::default().emit(&mut out);
    out.bytes(data);
    let Ok(block) = Block::at(out.as_slice(), HEADER_LEN) else {
        return;
    };
    views::look_at_block(&block);
}

/// An information level's number, then its data.
pub fn levels(data: &[u8]) {
    let mut choices = Choices::new(data);
    let level = choices.u16();
    views::look_at_levels(level, choices.rest());
}

/// A name as it stands in packets: what is decoded encodes to the same name.
pub fn nbt_name(data: &[u8]) {
    let mut choices = Choices::new(data);
    let at = choices.below(256);
    let packet = choices.rest();
    if let Ok((Some(name), next)) = ScopedName::decode(packet, at) {
        assert!(next <= packet.len() && next > at);
        let mut out = Vec::new();
        name.encode(&mut out);
        assert_eq!(ScopedName::decode(&out, 0), Ok((Some(name), out.len())));
    }
    if let Ok(name) = NbName::from_first_level(packet) {
        assert_eq!(NbName::from_first_level(&name.first_level()), Ok(name));
    }
}

/// A datagram of the name service: what is understood encodes to what is understood the same way.
pub fn nbt_datagram(data: &[u8]) {
    if let Ok(packet) = Packet::new(data) {
        for question in packet.questions().flatten() {
            let _ = black_box(question.name());
        }
        for record in packet.records().flatten() {
            let _ = black_box((record.name(), record.statistics()));
            black_box((record.entries().count(), record.node_names().count()));
        }
        let _ = black_box((packet.subject(), packet.record_counts()));
    }
    if let Ok(repr) = Repr::parse(data) {
        assert_eq!(Repr::parse(&repr.emit()), Ok(repr));
    }
    control(data);
}

fn control(data: &[u8]) {
    let Some(header) = SessionHeader::first_of(data) else {
        return;
    };
    let len = header.len(Framing::Nbt).max(header.len(Framing::Direct));
    assert!(len < 1 << 24);
    let kind: PacketType = header.packet_type();
    if let Ok(control) = Control::parse(kind, &data[4..]) {
        let again = control.emit();
        assert_eq!(Control::parse(kind, &again[4..]), Ok(control));
    }
}
