//! Datagrams: mailslot messages over NMPI, as browsers send them, and those of NBIPX.

use coax_wire::ipx::nbipx::{DATAGRAM_HEADER_LEN, Datagram};
use coax_wire::ipx::{FrameType, kind, nmpi, socket};
use coax_wire::mailslot::{self, MailslotMessage};
use coax_wire::nbt::name::{NbName, SUFFIX_WORKSTATION};

use crate::browse::MSBROWSE;
use crate::datagram::{Outgoing, Route as Reach};

use super::Ipx;
use super::config::IpxEvent;
use super::route::Place;

/// The most data of a datagram, in bytes: what fits with the longer header into the narrowest frame type.
pub const MAX_DATAGRAM: usize = FrameType::Snap.max_data() - nmpi::HEADER_LEN;
/// Suffix of the local master browser's name.
const SUFFIX_MASTER: u8 = 0x1d;
/// Suffix of the group of browsers.
const SUFFIX_ELECTION: u8 = 0x1e;
/// The opcode of a local master's announcement ([MS-BRWS] 2.2.10).
const LOCAL_MASTER: u8 = 0x0f;
/// Opcodes of messages for the local master browser: announcements of servers and requests for the list ([MS-BRWS] 2.2.1,
/// 2.2.4).
const FOR_MASTER: [u8; 2] = [0x01, 0x09];

const _: () = assert!(DATAGRAM_HEADER_LEN < nmpi::HEADER_LEN);

impl Ipx {
    /// Sends a datagram of at most [`MAX_DATAGRAM`] bytes. Whether it fits.
    ///
    /// Windows 2000 and XP send workgroup announcements by NBIPX and all else by NMPI, to the workgroup's name with the
    /// suffix 00 and a type that says who of it is meant (tests/captures/tcpdump-ipx.pcap, frames 4, 36 and 56).
    pub fn send_datagram(&mut self, outgoing: &Outgoing<Place>) -> bool {
        if outgoing.data.len() > MAX_DATAGRAM {
            return false;
        }
        let data = &outgoing.data;
        if outgoing.destination == MSBROWSE {
            let datagram = Datagram {
                source: outgoing.source,
                destination: outgoing.destination,
                data: &[],
            };
            let parts = [&datagram.header()[..], data];
            self.broadcast(kind::PACKET_EXCHANGE, socket::NETBIOS, &parts);
            return true;
        }
        let (requested, name_type) = nmpi_name(outgoing);
        let packet = nmpi::Packet {
            operation: nmpi::Operation::MailslotWrite,
            name_type,
            message: 0,
            requested,
            source: outgoing.source,
            data: &[],
        };
        let parts = [&packet.header()[..], data];
        match outgoing.route {
            Reach::Everybody => self.broadcast(kind::PROPAGATED, socket::NMPI_MAILSLOTS, &parts),
            Reach::Station(place) => {
                self.reply(kind::PACKET_EXCHANGE, socket::NMPI_MAILSLOTS, place, &parts);
            }
        }
        true
    }

    fn hears(&self, name: &NbName) -> bool {
        self.owns(name) || self.config.hears.contains(name)
    }

    pub(super) fn handle_mailslot(&mut self, from: Place, packet: &nmpi::Packet<'_>) {
        if packet.operation != nmpi::Operation::MailslotWrite {
            return;
        }
        let requested = packet.requested;
        let destination = match packet.name_type {
            // The type says that it is for the workgroup's browsers.
            nmpi::name_type::WORKGROUP | nmpi::name_type::BROWSER => {
                let suffix = match opcode(packet.data) {
                    Some(opcode) if FOR_MASTER.contains(&opcode) => SUFFIX_MASTER,
                    _ => SUFFIX_ELECTION,
                };
                requested.with_suffix(suffix)
            }
            _ => requested,
        };
        let group = requested.with_suffix(SUFFIX_ELECTION);
        if [requested, destination, group]
            .iter()
            .any(|name| self.hears(name))
        {
            self.tell(IpxEvent::Datagram {
                from,
                source: packet.source,
                destination,
                data: packet.data.to_vec(),
            });
        }
    }

    pub(super) fn handle_datagram(&mut self, from: Place, datagram: &Datagram<'_>) {
        if self.hears(&datagram.destination) || datagram.destination == MSBROWSE {
            self.tell(IpxEvent::Datagram {
                from,
                source: datagram.source,
                destination: datagram.destination,
                data: datagram.data.to_vec(),
            });
        }
    }
}

/// The opcode of a browser message.
fn opcode(data: &[u8]) -> Option<u8> {
    let message = MailslotMessage::parse(data).ok()?;
    let first = message.data.first().copied();
    first.filter(|_| message.is_for(mailslot::BROWSE))
}

/// The name and its type as NMPI has them.
fn nmpi_name(outgoing: &Outgoing<Place>) -> (NbName, u8) {
    let name = outgoing.destination;
    let is_browsers = matches!(name.suffix(), SUFFIX_MASTER | SUFFIX_ELECTION);
    if !is_browsers && !outgoing.group {
        return (name, nmpi::name_type::MACHINE);
    }
    let name_type = match opcode(&outgoing.data) {
        Some(LOCAL_MASTER) => nmpi::name_type::BROWSER,
        _ => nmpi::name_type::WORKGROUP,
    };
    (name.with_suffix(SUFFIX_WORKSTATION), name_type)
}
