//! Captures of a run: pcapng with nanosecond timestamps, and frames with real headers and checksums.
//!
//! [`pcapng`] and [`frame`] do not depend on the simulation and can write any frames.

pub mod frame;
pub mod pcapng;

use alloc::{collections::BTreeMap, vec::Vec};
use core::net::{Ipv4Addr, SocketAddr};

use self::frame::{Ip, Tcp, tcp_frame};

use coax_wire::time::Time;

use crate::{
    segment::Segment,
    side::{End, Side},
};

/// A capture point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tap {
    /// At the client's card: sent frames when the card takes them, received frames when they arrive.
    Client,
    /// At the server's card.
    Server,
    /// On the wire: frames when either card starts to send them.
    Wire,
}

impl Tap {
    const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Wire => "wire",
        }
    }

    pub(crate) const fn at(side: Side) -> Self {
        match side {
            Side::Client => Self::Client,
            Side::Server => Self::Server,
        }
    }
}

/// Time zero of the run in captures: 1996-01-01T00:00:00Z, in seconds since 1970.
pub const EPOCH_S: u64 = 820_454_400;
const CLIENT_PORT: u16 = 1025;

/// A capture under construction: the bytes of a pcapng file (draft-ietf-opsawg-pcapng).
#[derive(Debug)]
pub(crate) struct Recorder {
    tap: Tap,
    port: u16,
    /// TTL of the server and of the clients.
    ttls: (u8, Vec<u8>),
    /// Identification of the last packet of the server and of each client.
    identification: (u16, BTreeMap<u16, u16>),
    /// Blocks sorted by time, because a frame on the wire is known before it is sent.
    frames: Vec<(Time, Vec<u8>)>,
}

impl Recorder {
    pub(crate) const fn new(tap: Tap, port: u16, ttls: (u8, Vec<u8>)) -> Self {
        Self {
            tap,
            port,
            ttls,
            identification: (0, BTreeMap::new()),
            frames: Vec::new(),
        }
    }

    pub(crate) const fn tap(&self) -> Tap {
        self.tap
    }

    pub(crate) fn frame(&mut self, at: Time, from: End, segment: &Segment) {
        if let Some(frame) = &segment.frame {
            self.frames.push((at, frame.to_vec()));
            return;
        }
        let (server, clients) = &mut self.identification;
        let client_ttl = self.ttls.1.get(usize::from(from.client));
        let (place, ttl) = match from.side {
            Side::Client => (
                clients.entry(from.client).or_default(),
                client_ttl.copied().unwrap_or(self.ttls.0),
            ),
            Side::Server => (server, self.ttls.0),
        };
        *place = place.wrapping_add(1);
        let frame = ethernet_frame(segment, from, self.port, (*place, ttl));
        self.frames.push((at, frame));
    }

    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        self.frames.sort_by_key(|(at, _)| *at);
        let mut out = Vec::new();
        pcapng::section_header(&mut out, "coax lab");
        pcapng::interface(&mut out, self.tap.name());
        let start = EPOCH_S.saturating_mul(1_000_000_000);
        for (at, frame) in &self.frames {
            pcapng::packet(&mut out, start.saturating_add(at.0), frame);
        }
        out
    }
}

const SERVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);

/// The clients have the addresses after the server's (RFC 5737), from 192.0.2.2 on.
fn client_address(client: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(SERVER.to_bits().saturating_add(u32::from(client) + 1))
}

/// The Ethernet frame of a segment, from the destination address to the end of the payload.
fn ethernet_frame(
    segment: &Segment,
    from: End,
    port: u16,
    (identification, ttl): (u16, u8),
) -> Vec<u8> {
    let client = SocketAddr::new(client_address(from.client).into(), CLIENT_PORT);
    let server = SocketAddr::new(SERVER.into(), port);
    let (source, target) = match from.side {
        Side::Client => (client, server),
        Side::Server => (server, client),
    };
    let mut payload = Vec::new();
    segment
        .payload
        .chunks()
        .for_each(|chunk| chunk.copy_to(&mut payload));
    let ip = Ip {
        source,
        target,
        identification,
        ttl,
    };
    let tcp = Tcp {
        seq: segment.seq as u32,
        ack: segment.ack as u32,
        flags: segment.flags,
        window: (segment.window >> segment.window_shift) as u16,
        options: &option_bytes(segment),
    };
    tcp_frame(&ip, &tcp, &payload)
}

fn option_bytes(segment: &Segment) -> Vec<u8> {
    let options = &segment.options;
    let mut out = Vec::new();
    if let Some(mss) = options.mss {
        out.extend_from_slice(&[2, 4]);
        out.extend_from_slice(&mss.to_be_bytes());
    }
    let scale = options.window_scale.map(|shift| [1, 3, 3, shift]);
    let times = options.timestamps.map(|(value, echo)| {
        let stamps = [value.to_be_bytes(), echo.to_be_bytes()];
        [&[8, 10][..], &stamps.concat()].concat()
    });
    match times {
        // as in Linux: SACK-permitted replaces the padding of the timestamps option
        Some(times) if options.sack_permitted => {
            out.extend_from_slice(&[4, 2]);
            out.extend(times);
            out.extend(scale.into_iter().flatten());
        }
        times => {
            out.extend(scale.into_iter().flatten());
            if options.sack_permitted {
                out.extend_from_slice(&[1, 1, 4, 2]);
            }
            if let Some(times) = times {
                out.extend_from_slice(&[1, 1]);
                out.extend(times);
            }
        }
    }
    if !options.sack.is_empty() {
        let len = options.sack.len().saturating_mul(8).saturating_add(2) as u8;
        out.extend_from_slice(&[1, 1, 5, len]);
        for (from, to) in &options.sack {
            out.extend_from_slice(&(*from as u32).to_be_bytes());
            out.extend_from_slice(&(*to as u32).to_be_bytes());
        }
    }
    out
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::{frame::checksum, *};
    use crate::{payload::Payload, segment::Flags};
    use alloc::vec;

    #[test]
    fn checksums_of_a_frame_verify() {
        let segment = Segment {
            seq: 0x1_2345_6789,
            ack: 77,
            flags: Flags {
                ack: true,
                psh: true,
                ..Flags::default()
            },
            window: 8760,
            payload: Payload::pattern(5, 33),
            ..Segment::default()
        };
        let frame = ethernet_frame(&segment, Side::Client.into(), 139, (9, 64));
        assert_eq!(frame.len() as u64, segment.frame_len());
        let (ip, tcp) = (&frame[14..34], &frame[34..]);
        assert_eq!(checksum(&[ip]), [0, 0]);
        let len = (tcp.len() as u16).to_be_bytes();
        let (source, target) = (client_address(0).octets(), SERVER.octets());
        assert_eq!(checksum(&[&source, &target, &[0, 6], &len, tcp]), [0, 0]);
        assert_eq!(&tcp[4..8], &0x2345_6789_u32.to_be_bytes());
    }

    #[test]
    fn option_lengths_match_their_encoding() {
        let mut segment = Segment::default();
        segment.options.mss = Some(1460);
        segment.options.window_scale = Some(7);
        segment.options.sack_permitted = true;
        segment.options.timestamps = Some((1, 2));
        segment.options.sack = vec![(1, 2), (5, 9)];
        assert_eq!(option_bytes(&segment).len() as u64, segment.options.len());
    }

    #[test]
    fn the_file_is_made_of_whole_blocks() {
        let mut recorder = Recorder::new(Tap::Wire, 139, (64, vec![64]));
        recorder.frame(Time(2), Side::Server.into(), &Segment::default());
        recorder.frame(Time(1), Side::Client.into(), &Segment::default());
        let bytes = recorder.into_bytes();
        let (mut at, mut kinds) = (0, Vec::new());
        while at < bytes.len() {
            let word = |from: usize| {
                u32::from_le_bytes([
                    bytes[from],
                    bytes[from + 1],
                    bytes[from + 2],
                    bytes[from + 3],
                ])
            };
            let len = word(at + 4) as usize;
            assert_eq!(word(at + len - 4) as usize, len);
            kinds.push(word(at));
            at += len;
        }
        assert_eq!(kinds, [0x0a0d_0d0a, 1, 6, 6]);
    }
}
