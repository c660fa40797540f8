//! Frames between stations without IP: LLC of NetBEUI (IEEE 802.2), and IPX in its four frame types.
//!
//! Only headers are looked at, so that frames which the snap length cut are decoded too.

use super::{bytes::u16_at, bytes::u32_at, link::Place};
use crate::Packet;
use coax_wire::{
    ether::Mac,
    ipx::{Address, FrameType, HEADER_LEN, Network},
    llc::{Control, Pdu},
};

/// A frame of NetBEUI.
#[derive(Clone, Copy, Debug)]
pub struct NetBeui<'a> {
    /// Who sent it.
    pub from: Mac,
    /// To whom.
    pub to: Mac,
    /// Whether it is a response rather than a command.
    pub response: bool,
    /// LLC's control field.
    pub control: Control,
    /// What was kept of what follows: a NetBIOS frame.
    pub info: &'a [u8],
    /// Its length on the wire, bytes.
    pub len: u32,
    /// Where LLC begins in the captured packet.
    pub start: usize,
}

/// A packet of IPX.
#[derive(Clone, Copy, Debug)]
pub struct Ipx<'a> {
    /// How it travels in an Ethernet frame.
    pub frame_type: FrameType,
    /// The packet type ([`coax_wire::ipx::kind`]).
    pub kind: u8,
    /// Who sent it.
    pub from: Address,
    /// To whom.
    pub to: Address,
    /// What was kept of its data.
    pub data: &'a [u8],
    /// Length of its data on the wire, bytes.
    pub len: u32,
    /// Where its header begins in the captured packet.
    pub start: usize,
}

impl<'a> NetBeui<'a> {
    /// The frame in a packet; `None` if it is damaged or its headers were cut off.
    pub(super) fn parse(packet: &Packet<'a>, place: Place) -> Option<Self> {
        let (to, from) = stations(packet.bytes, place)?;
        let end = place.start.saturating_add(place.len);
        let kept = packet.bytes.get(place.start..end.min(packet.bytes.len()))?;
        let pdu = Pdu::parse(kept).ok()?;
        let header = kept.len() - pdu.info.len();
        Some(Self {
            from,
            to,
            response: pdu.response,
            control: pdu.control,
            info: pdu.info,
            len: u32::try_from(place.len.checked_sub(header)?).ok()?,
            start: place.start,
        })
    }
}

impl<'a> Ipx<'a> {
    /// The same of IPX. A checksum is not verified.
    pub(super) fn parse(packet: &Packet<'a>, frame_type: FrameType, place: Place) -> Option<Self> {
        let bytes = packet.bytes.get(place.start..)?;
        let total = usize::from(u16_at(bytes, 2)?);
        let len = total.checked_sub(HEADER_LEN)?;
        let data = bytes.get(HEADER_LEN..)?;
        if total > place.len {
            return None;
        }
        Some(Self {
            frame_type,
            kind: *bytes.get(5)?,
            to: address(bytes, 6)?,
            from: address(bytes, 18)?,
            data: data.get(..len).unwrap_or(data),
            len: u32::try_from(len).ok()?,
            start: place.start,
        })
    }
}

fn address(bytes: &[u8], at: usize) -> Option<Address> {
    let node = Mac(*bytes.get(at + 4..)?.first_chunk()?);
    let network = Network(u32_at(bytes, at)?);
    Some(Address::new(network, node, u16_at(bytes, at + 10)?))
}

/// Destination and source. The highest bit of a Token Ring's source says that a route follows.
fn stations(bytes: &[u8], place: Place) -> Option<(Mac, Mac)> {
    let at = place.stations;
    let to = Mac(*bytes.get(at..)?.first_chunk()?);
    let mut from: [u8; 6] = *bytes.get(at + 6..)?.first_chunk()?;
    if let (true, [first, ..]) = (place.may_have_route, &mut from) {
        *first &= 0x7f;
    }
    Some((to, Mac(from)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
mod tests {
    extern crate std;
    use std::{vec, vec::Vec};

    use super::super::{Content, Dissector};
    use super::*;
    use crate::{LinkType, Packet};
    use coax_wire::ipx;
    use coax_wire::time::Time;

    fn look<T>(bytes: &[u8], wire_len: usize, look: impl FnOnce(Content<'_>) -> T) -> T {
        look(Dissector::default().dissect(&Packet {
            number: 1,
            at: Time(0),
            link: LinkType::Ethernet,
            bytes,
            wire_len: wire_len as u32,
        }))
    }

    /// Frame 87 of tests/captures/dos-win98-netbeui.pcap: DATA ACK in an I frame, padded to 60 bytes. The source has another
    /// first byte.
    fn data_ack() -> Vec<u8> {
        let mut frame = vec![
            0, 0x50, 0x56, 0x33, 0x78, 0x9e, 0x82, 0x0c, 0x29, 0xd4, 0x79, 0xb2, 0, 18, 0xf0, 0xf0,
            8, 9, 14, 0, 0xff, 0xef, 0x14, 0, 0, 0, 4, 0, 0, 0, 1, 2,
        ];
        frame.resize(60, 0);
        frame
    }

    #[test]
    fn padding_is_no_part_of_a_netbeui_frame() {
        look(&data_ack(), 60, |content| {
            let Content::NetBeui(frame) = content else {
                panic!("{content:?}");
            };
            assert_eq!((frame.info.len(), frame.len), (14, 14));
            assert_eq!(frame.from, Mac([0x82, 0x0c, 0x29, 0xd4, 0x79, 0xb2]));
            let control = Control::Information {
                ns: 4,
                nr: 4,
                pf: true,
            };
            assert_eq!(frame.control, control);
        });
    }

    #[test]
    fn a_frame_that_was_cut_keeps_its_length_and_one_without_headers_is_damaged() {
        let frame = data_ack();
        look(&frame[..20], 60, |content| {
            assert!(
                matches!(content, Content::NetBeui(frame) if frame.info.len() == 2 && frame.len == 14)
            );
        });
        look(&frame[..16], 60, |content| {
            assert!(matches!(
                content,
                Content::DamagedFrame(crate::Transport::NetBeui)
            ));
        });
    }

    #[test]
    fn ipx_is_found_in_all_four_frame_types_and_behind_a_vlan_tag() {
        let source = ipx::Address::new(Network(7), Mac([2, 0, 0, 0, 0, 1]), 0x552);
        let packet = ipx::Packet {
            hops: 0,
            kind: 4,
            destination: ipx::Address::new(Network(7), Mac([2, 0, 0, 0, 0, 2]), 0x550),
            source,
            data: &[],
        };
        for kind in FrameType::ALL {
            let plain = kind
                .emit(
                    Mac([2, 0, 0, 0, 0, 2]),
                    source.host.node,
                    &packet,
                    &[b"four"],
                )
                .unwrap();
            let tagged = [&plain[..12], &[0x81, 0, 0, 5], &plain[12..]].concat();
            for frame in [plain, tagged] {
                look(&frame, frame.len(), |content| {
                    let Content::Ipx(found) = content else {
                        panic!("{kind}: {content:?}");
                    };
                    assert_eq!((found.frame_type, found.from), (kind, source));
                    assert_eq!((found.data, found.len), (&b"four"[..], 4));
                });
            }
        }
    }

    #[test]
    fn a_length_beyond_the_frame_is_damage() {
        let mut frame = vec![0; 14];
        frame[12..14].copy_from_slice(&[0x81, 0x37]);
        frame.extend_from_slice(&[0xff, 0xff, 5, 0xdc]);
        frame.resize(60, 0);
        look(&frame, 60, |content| {
            assert!(matches!(content, Content::DamagedFrame(_)), "{content:?}");
        });
    }
}
