//! Captures of a run: pcapng with nanoseconds, and frames with real headers and checksums.

use alloc::{vec, vec::Vec};

use coax_wire::time::Time;

use crate::{segment::Segment, world::Side};

/// Where a capture is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tap {
    /// At the client's card: frames as the card takes them, and as they arrive.
    Client,
    /// At the server's card.
    Server,
    /// On the wire: frames as they begin to leave either card.
    Wire,
}

impl Tap {
    pub(crate) const fn at(side: Side) -> Self {
        match side {
            Side::Client => Self::Client,
            Side::Server => Self::Server,
        }
    }
}

/// The run's time zero in captures: 1996-01-01T00:00:00Z, in seconds since 1970.
pub const EPOCH_S: u64 = 820_454_400;
const CLIENT_PORT: u16 = 1025;

/// One capture as it grows: the bytes of a pcapng file (draft-ietf-opsawg-pcapng).
#[derive(Debug)]
pub(crate) struct Recorder {
    tap: Tap,
    port: u16,
    /// Times to live, the client's and the server's.
    ttls: [u8; 2],
    identification: [u16; 2],
    /// Blocks are kept by time: a frame on the wire is known before it leaves.
    frames: Vec<(Time, Vec<u8>)>,
}

impl Recorder {
    pub(crate) const fn new(tap: Tap, port: u16, ttls: [u8; 2]) -> Self {
        Self {
            tap,
            port,
            ttls,
            identification: [0; 2],
            frames: Vec::new(),
        }
    }

    pub(crate) const fn tap(&self) -> Tap {
        self.tap
    }

    pub(crate) fn frame(&mut self, at: Time, from: Side, segment: &Segment) {
        let [client, server] = &mut self.identification;
        let (place, ttl) = match from {
            Side::Client => (client, self.ttls[0]),
            Side::Server => (server, self.ttls[1]),
        };
        *place = place.wrapping_add(1);
        let frame = ethernet_frame(segment, from, self.port, (*place, ttl));
        self.frames.push((at, frame));
    }

    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        self.frames.sort_by_key(|(at, _)| *at);
        let mut out = Vec::new();
        section_header(&mut out);
        interface(&mut out, self.tap);
        for (at, frame) in &self.frames {
            packet(&mut out, *at, frame);
        }
        out
    }
}

fn block(out: &mut Vec<u8>, kind: u32, body: &[u8]) {
    let padding = body.len().next_multiple_of(4).saturating_sub(body.len());
    let total = (body.len() as u32)
        .saturating_add(padding as u32)
        .saturating_add(12);
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&total.to_le_bytes());
    out.extend_from_slice(body);
    out.resize(out.len().saturating_add(padding), 0);
    out.extend_from_slice(&total.to_le_bytes());
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend_from_slice(&code.to_le_bytes());
    body.extend_from_slice(&(value.len() as u16).to_le_bytes());
    body.extend_from_slice(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

fn section_header(out: &mut Vec<u8>) {
    let mut body = Vec::new();
    body.extend_from_slice(&0x1a2b_3c4d_u32.to_le_bytes());
    body.extend_from_slice(&[1, 0, 0, 0]);
    body.extend_from_slice(&u64::MAX.to_le_bytes());
    option(&mut body, 4, b"coax lab");
    option(&mut body, 0, &[]);
    block(out, 0x0a0d_0d0a, &body);
}

fn interface(out: &mut Vec<u8>, tap: Tap) {
    // link type Ethernet, no snap length
    let mut body = vec![1, 0, 0, 0, 0, 0, 0, 0];
    let name: &[u8] = match tap {
        Tap::Client => b"client",
        Tap::Server => b"server",
        Tap::Wire => b"wire",
    };
    option(&mut body, 2, name);
    option(&mut body, 9, &[9]);
    option(&mut body, 0, &[]);
    block(out, 1, &body);
}

fn packet(out: &mut Vec<u8>, at: Time, frame: &[u8]) {
    let stamp = EPOCH_S.saturating_mul(1_000_000_000).saturating_add(at.0);
    let mut body = Vec::with_capacity(frame.len().saturating_add(24));
    body.extend_from_slice(&0_u32.to_le_bytes());
    body.extend_from_slice(&((stamp >> 32) as u32).to_le_bytes());
    body.extend_from_slice(&(stamp as u32).to_le_bytes());
    let len = (frame.len() as u32).to_le_bytes();
    body.extend_from_slice(&len);
    body.extend_from_slice(&len);
    body.extend_from_slice(frame);
    block(out, 6, &body);
}

const CLIENT: [u8; 4] = [192, 0, 2, 2];
const SERVER: [u8; 4] = [192, 0, 2, 1];

/// The frame of a segment, from the destination address to the end of the payload (IEEE 802.3, RFC 791, RFC 9293).
fn ethernet_frame(
    segment: &Segment,
    from: Side,
    port: u16,
    (identification, ttl): (u16, u8),
) -> Vec<u8> {
    let (source, target) = match from {
        Side::Client => (CLIENT, SERVER),
        Side::Server => (SERVER, CLIENT),
    };
    let tcp = tcp_bytes(segment, from, port, source, target);
    let mut frame = Vec::with_capacity(tcp.len().saturating_add(34));
    for last in [target[3], source[3]] {
        frame.extend_from_slice(&[2, 0, 0, 0, 0, last]);
    }
    frame.extend_from_slice(&[8, 0]);
    let mut header = vec![0x45, 0];
    header.extend_from_slice(&(tcp.len() as u16).saturating_add(20).to_be_bytes());
    header.extend_from_slice(&identification.to_be_bytes());
    // do not fragment; TCP
    header.extend_from_slice(&[0x40, 0, ttl, 6, 0, 0]);
    header.extend_from_slice(&source);
    header.extend_from_slice(&target);
    let sum = checksum(&[&header]);
    if let Some(place) = header.get_mut(10..12) {
        place.copy_from_slice(&sum);
    }
    frame.extend_from_slice(&header);
    frame.extend_from_slice(&tcp);
    frame
}

fn tcp_bytes(
    segment: &Segment,
    from: Side,
    port: u16,
    source: [u8; 4],
    target: [u8; 4],
) -> Vec<u8> {
    let options = option_bytes(segment);
    let ports = match from {
        Side::Client => [CLIENT_PORT, port],
        Side::Server => [port, CLIENT_PORT],
    };
    let mut out: Vec<u8> = ports.iter().flat_map(|port| port.to_be_bytes()).collect();
    out.extend_from_slice(&(segment.seq as u32).to_be_bytes());
    out.extend_from_slice(&(segment.ack as u32).to_be_bytes());
    let words = (options.len() / 4).saturating_add(5) as u8;
    out.extend_from_slice(&[words << 4, segment.flags.bits()]);
    out.extend_from_slice(&((segment.window >> segment.window_shift) as u16).to_be_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&options);
    segment
        .payload
        .chunks()
        .for_each(|chunk| chunk.copy_to(&mut out));
    let len = (out.len() as u16).to_be_bytes();
    let sum = checksum(&[&source, &target, &[0, 6], &len, &out]);
    if let Some(place) = out.get_mut(16..18) {
        place.copy_from_slice(&sum);
    }
    out
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
        // as Linux has them: the two take the place of what would pad either
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

/// The Internet checksum (RFC 1071) over parts, each of an even length but the last.
fn checksum(parts: &[&[u8]]) -> [u8; 2] {
    let mut sum: u64 = 0;
    for part in parts {
        for pair in part.chunks(2) {
            let word = match pair {
                [high, low] => u16::from_be_bytes([*high, *low]),
                [high] => u16::from_be_bytes([*high, 0]),
                _ => 0,
            };
            sum = sum.wrapping_add(u64::from(word));
        }
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::{payload::Payload, segment::Flags};

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
        let frame = ethernet_frame(&segment, Side::Client, 139, (9, 64));
        assert_eq!(frame.len() as u64, segment.frame_len());
        let (ip, tcp) = (&frame[14..34], &frame[34..]);
        assert_eq!(checksum(&[ip]), [0, 0]);
        let len = (tcp.len() as u16).to_be_bytes();
        assert_eq!(checksum(&[&CLIENT, &SERVER, &[0, 6], &len, tcp]), [0, 0]);
        assert_eq!(&tcp[4..8], &0x2345_6789_u32.to_be_bytes());
    }

    #[test]
    fn options_are_as_long_as_they_say() {
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
        let mut recorder = Recorder::new(Tap::Wire, 139, [64, 64]);
        recorder.frame(Time(2), Side::Server, &Segment::default());
        recorder.frame(Time(1), Side::Client, &Segment::default());
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
