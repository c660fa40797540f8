//! TCP streams put in order, and the NetBIOS session messages in them.

use coax_capture::{Endpoint, Flags, Segment};
use std::collections::{BTreeMap, HashMap};

/// Streams by flow, each direction its own.
#[derive(Debug, Default)]
pub struct Streams(HashMap<(Endpoint, Endpoint), Stream>);

#[derive(Debug, Default)]
struct Stream {
    /// Sequence number of the first byte of all.
    first: u32,
    /// How many bytes were put in order.
    ordered: u32,
    /// Segments that came too early, by their distance from `first`.
    early: BTreeMap<u32, Vec<u8>>,
    /// What is in order and not yet a whole message.
    buffer: Vec<u8>,
}

impl Streams {
    /// Adds a segment; the SMB messages that it completes.
    pub fn add(&mut self, segment: &Segment<'_>) -> Vec<Vec<u8>> {
        let flow = (segment.from, segment.to);
        let ports = [flow.0.port, flow.1.port];
        if !ports.iter().any(|port| [139, 445].contains(port)) {
            return Vec::new();
        }
        if segment.flags.has(Flags::SYN) {
            let first = segment.seq.wrapping_add(1);
            self.0.insert(
                flow,
                Stream {
                    first,
                    ..Stream::default()
                },
            );
        }
        let stream = self.0.entry(flow).or_insert_with(|| Stream {
            first: segment.seq,
            ..Stream::default()
        });
        if !segment.data.is_empty() {
            let distance = segment.seq.wrapping_sub(stream.first);
            stream
                .early
                .entry(distance)
                .or_insert_with(|| segment.data.to_vec());
        }
        stream.order();
        stream.cut()
    }
}

impl Stream {
    /// Moves what follows without a gap into the buffer; of overlapping bytes the earlier ones count.
    fn order(&mut self) {
        while let Some(entry) = self
            .early
            .first_entry()
            .filter(|entry| *entry.key() <= self.ordered)
        {
            let (at, data) = entry.remove_entry();
            let fresh = data.get((self.ordered - at) as usize..).unwrap_or_default();
            self.buffer.extend_from_slice(fresh);
            self.ordered += fresh.len() as u32;
        }
    }

    /// Whole messages at the beginning of the buffer. Bytes that cannot begin a packet are a capture's that began late.
    fn cut(&mut self) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        while let Some(head) = self.buffer.first_chunk::<4>() {
            if head[0] != 0 && !(0x81..=0x85).contains(&head[0]) {
                self.buffer.clear();
                break;
            }
            let len = u32::from_be_bytes([0, head[1], head[2], head[3]]) as usize;
            let Some(message) = self.buffer.get(4..4 + len) else {
                break;
            };
            if head[0] == 0 && message.starts_with(b"\xffSMB") {
                found.push(message.to_vec());
            }
            self.buffer.drain(..4 + len);
        }
        found
    }
}
