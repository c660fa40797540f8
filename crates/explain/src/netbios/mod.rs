//! Sessions without TCP: NetBEUI, NetBIOS over IPX and SMB directly on IPX.
//!
//! Frames become segments of the byte stream that TCP would carry: numbers of frames become numbers of bytes, N(R) an
//! acknowledgment, REJ a report of a hole, a final an answer. What TCP cannot say stands in [`marks`]. So the stages behind
//! this one (reassembly, path, charges, SMB) are those of TCP, and a cause means the same on all transports.

mod direct;
mod ended;
pub(crate) mod marks;
mod nbf;
mod nbipx;
mod numbers;
mod room;
mod session;
mod stream;

use std::collections::HashMap;

use coax_capture::{Ipx, NetBeui, Segment};
use coax_wire::{
    ether::Mac,
    ipx::{kind, socket},
};

use crate::report::Netbios;
use crate::session::Moment;
use direct::DirectHosting;
use ended::Ended;
use nbf::Link;
use nbipx::Circuits;

/// Links that are followed at a time; of more, the one that was silent longest is left.
const MOST_LINKS: usize = 1024;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct NetbiosStage {
    links: HashMap<(Mac, Mac), Link>,
    circuits: Circuits,
    direct: DirectHosting,
    ended: Ended,
}

impl NetbiosStage {
    /// Takes a frame of NetBEUI, and hands the segments on that it is read as.
    pub(crate) fn netbeui(
        &mut self,
        frame: &NetBeui<'_>,
        moment: Moment,
        out: &mut dyn FnMut(&Segment<'_>, Moment),
    ) {
        // what is for a group of stations belongs to no link
        if frame.to.is_group() {
            return;
        }
        let key = (frame.from.min(frame.to), frame.from.max(frame.to));
        if !self.links.contains_key(&key) {
            let oldest = room::make(&mut self.links, MOST_LINKS, |link| link.last.at);
            if let Some(mut link) = oldest {
                link.finish(&mut self.ended);
            }
        }
        let link = self
            .links
            .entry(key)
            .or_insert_with(|| Link::new(key, moment));
        link.frame(frame, moment, &mut self.ended, out);
    }

    /// The same of a packet of IPX.
    pub(crate) fn ipx(
        &mut self,
        packet: &Ipx<'_>,
        moment: Moment,
        out: &mut dyn FnMut(&Segment<'_>, Moment),
    ) {
        let sockets = [packet.from.socket, packet.to.socket];
        if packet.to.host.node.is_group() || packet.kind == kind::PROPAGATED {
            return;
        }
        if sockets == [socket::NETBIOS; 2] {
            self.circuits.packet(packet, moment, &mut self.ended, out);
        } else if sockets.contains(&socket::SMB_SERVER) {
            self.direct.packet(packet, moment, &mut self.ended, out);
        }
    }

    /// What was seen of each session beyond its stream, by the number of its first frame; and how many frames could not be
    /// read.
    pub(crate) fn finish(mut self) -> (HashMap<u64, Netbios>, u64) {
        for link in self.links.values_mut() {
            link.finish(&mut self.ended);
        }
        self.circuits.finish(&mut self.ended);
        self.direct.finish(&mut self.ended);
        (self.ended.reports.into_iter().collect(), self.ended.damaged)
    }
}
