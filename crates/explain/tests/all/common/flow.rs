//! A TCP connection written packet by packet.

use coax_explain::{Cause, capture::LinkType, report::Capture};
use coax_wire::time::Time;

use super::packets::{Owned, analyse};

pub const SYN: u8 = 0x02;
pub const ACK: u8 = 0x10;
/// Timestamps (RFC 7323 3.2).
const STAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0];

/// Where it is seen, and what both sides offer.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    pub port: u16,
    /// To the client and back.
    pub near_us: u64,
    /// To the server and back.
    pub far_us: u64,
    pub mss: u16,
    pub window: u16,
}

/// What one side sends; sequence numbers count from 0, and the SYN's is one less.
#[derive(Clone, Debug)]
pub struct Sent<'a> {
    /// When it was captured, microseconds.
    pub at_us: u64,
    /// 0: the client; 1: the server.
    pub from: usize,
    pub seq: i64,
    pub ack: i64,
    pub window: u16,
    pub flags: u8,
    /// What was kept of the data, and how much there was.
    pub data: &'a [u8],
    pub len: usize,
    /// Blocks of a SACK option, the first of them perhaps a duplicate (RFC 2018, RFC 2883).
    pub sack: &'a [(i64, i64)],
}

impl Default for Sent<'_> {
    fn default() -> Self {
        Self {
            at_us: 0,
            from: 0,
            seq: 0,
            ack: 0,
            window: 0xffff,
            flags: ACK,
            data: &[],
            len: 0,
            sack: &[],
        }
    }
}

/// See the module.
#[derive(Default)]
pub struct Flow {
    packets: Vec<Owned>,
    port: u16,
    /// How many packets each side has sent.
    counts: [u16; 2],
}

impl Flow {
    /// A connection that begins with a handshake, at time 0.
    pub fn begin(ends: &Ends) -> Self {
        let Ends {
            port,
            near_us,
            far_us,
            mss,
            window,
        } = *ends;
        let mut flow = Self {
            port,
            ..Self::default()
        };
        let steps = [
            (0, 0, SYN),
            (1, far_us, SYN | ACK),
            (0, far_us + near_us, ACK),
        ];
        for (from, at_us, flags) in steps {
            let is_syn = flags & SYN != 0;
            let sent = Sent {
                at_us,
                from,
                seq: -i64::from(is_syn),
                flags,
                window,
                ..Sent::default()
            };
            let mss = [&[2, 4][..], &mss.to_be_bytes(), &[4, 2, 1, 1], &STAMPS].concat();
            flow.add(&sent, if is_syn { &mss } else { &[] });
        }
        flow
    }

    /// The next packet.
    pub fn send(&mut self, sent: Sent<'_>) -> &mut Self {
        let mut options = Vec::new();
        if !sent.sack.is_empty() {
            options.extend([1, 1, 5, 2 + 8 * sent.sack.len() as u8]);
            for edge in sent.sack.iter().flat_map(|(from, to)| [*from, *to]) {
                options.extend(number(1 - sent.from, edge).to_be_bytes());
            }
        }
        self.add(&sent, &options);
        self
    }

    /// A side sends a packet that is lost before it is captured.
    pub fn lose(&mut self, from: usize) -> &mut Self {
        self.counts[from] += 1;
        self
    }

    /// What is said of it.
    pub fn explained(&self) -> Capture {
        self.explained_from(0)
    }

    /// The same with a client that has this address in the network of the others.
    pub fn of_client(mut self, last: u8) -> Self {
        for packet in &mut self.packets {
            for place in [12, 16] {
                let address = &mut packet.bytes[place..place + 4];
                if address == [10, 0, 0, 1] {
                    address[3] = last;
                }
            }
        }
        self
    }

    /// What is said of connections in one capture.
    pub fn explained_together(flows: [Self; 2]) -> Capture {
        let mut packets: Vec<Owned> = flows.into_iter().flat_map(|flow| flow.packets).collect();
        packets.sort_by_key(|packet| packet.at);
        analyse(LinkType::Ip, &packets)
    }

    /// What is said of it without its first packets.
    pub fn explained_from(&self, first: usize) -> Capture {
        analyse(LinkType::Ip, &self.packets[first..])
    }

    fn add(&mut self, sent: &Sent<'_>, options: &[u8]) {
        let len = sent.len.max(sent.data.len());
        let headers = 40 + options.len();
        let mut bytes = vec![0x45, 0];
        bytes.extend(((headers + len) as u16).to_be_bytes());
        // an identification of its own: what is sent twice is not captured twice
        self.counts[sent.from] += 1;
        bytes.extend(self.counts[sent.from].to_be_bytes());
        bytes.extend([0x40, 0, 64, 6, 0, 0]);
        let hosts = [[10, 0, 0, 1], [10, 0, 0, 2]];
        bytes.extend(hosts[sent.from]);
        bytes.extend(hosts[1 - sent.from]);
        let ports = [1025, self.port];
        bytes.extend(ports[sent.from].to_be_bytes());
        bytes.extend(ports[1 - sent.from].to_be_bytes());
        bytes.extend(number(sent.from, sent.seq).to_be_bytes());
        bytes.extend(number(1 - sent.from, sent.ack).to_be_bytes());
        bytes.extend([(20 + options.len() as u8) << 2, sent.flags]);
        bytes.extend(sent.window.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(options);
        bytes.extend(sent.data);
        self.packets.push(Owned {
            at: Time(1_000_000_000 + sent.at_us * 1000),
            bytes,
            wire_len: (headers + len) as u32,
        });
    }
}

/// What a cause took of the first copy's time, percent.
pub fn share(flow: &Flow, cause: Cause) -> u64 {
    let capture = flow.explained();
    let copy = &capture.copies[0];
    copy.account.get(cause).0 * 100 / copy.wall.0
}

/// A sequence number of what that side sends.
fn number(from: usize, offset: i64) -> u32 {
    (1_000_000 * (from as i64 + 1) + offset) as u32
}
