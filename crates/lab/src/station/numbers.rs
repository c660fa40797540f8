//! Frames as the lab sees them: how much data each carries, its place in the stream, and whether it was sent before.

use alloc::{sync::Arc, vec::Vec};

use coax_wire::{
    ether::{Frame as Ethernet, Payload as Body},
    header::{HEADER_LEN as SMB_HEADER_LEN, Header},
    ipx::{
        FrameType,
        nbipx::{SessionHeader, control, stream},
        socket,
    },
    llc::{Control, Pdu, Supervisory},
    nbf::{Frame as NbfFrame, SessionCommand},
};

use crate::{
    payload::Payload,
    segment::{Flags, Segment, Sent},
};

/// More numbers than can be in flight: the modulus of LLC, and NBIPX's widest window.
const KEPT: usize = 128;

/// What a frame is.
enum Kind {
    /// It has no number: names, supervision, and system packets. `linked`: it acknowledges.
    Plain { linked: bool },
    /// It has a number of its link or session, and so much data.
    Numbered { number: u16, modulus: u32, len: u64 },
    /// A message of direct hosting with the number of its request, 0 for none.
    Direct { number: u16, len: u64 },
}

/// Places of data in both directions of one session.
#[derive(Debug)]
pub(super) struct Numbers {
    /// The number of the next new frame.
    next: u16,
    /// Data bytes before each number.
    starts: [u64; KEPT],
    sent: u64,
    received: u64,
    /// Number and place of the last message of direct hosting.
    last: Option<(u16, u64)>,
}

impl Default for Numbers {
    fn default() -> Self {
        Self {
            next: 0,
            starts: [0; KEPT],
            sent: 0,
            received: 0,
            last: None,
        }
    }
}

impl Numbers {
    /// A frame that the station sends. `again` is the reason if it was sent before.
    pub(super) fn sent(&mut self, frame: Vec<u8>, again: Sent) -> Segment {
        let kind = kind(&frame).unwrap_or(Kind::Plain { linked: false });
        let (seq, len, is_new) = match kind {
            Kind::Plain { .. } => (self.sent, 0, true),
            Kind::Numbered {
                number,
                modulus,
                len,
            } => self.numbered(number, modulus, len),
            Kind::Direct { number, len } => self.direct(number, len),
        };
        if is_new {
            self.sent = self.sent.saturating_add(len);
        }
        Segment {
            seq,
            ack: self.received,
            flags: Flags {
                ack: !matches!(kind, Kind::Plain { linked: false }),
                ..Flags::default()
            },
            payload: Payload::pattern(seq, len),
            sent: if is_new { Sent::New } else { again },
            frame: Some(Arc::from(frame)),
            ..Segment::default()
        }
    }

    /// A frame that the station received.
    pub(super) fn received(&mut self, segment: &Segment) {
        if segment.seq == self.received {
            self.received = self.received.saturating_add(segment.payload.len());
        }
    }

    fn numbered(&mut self, number: u16, modulus: u32, len: u64) -> (u64, u64, bool) {
        let is_new = number == self.next;
        let place = usize::from(number) % KEPT;
        if is_new {
            self.next = (u32::from(number).wrapping_add(1) % modulus) as u16;
            if let Some(start) = self.starts.get_mut(place) {
                *start = self.sent;
            }
        }
        let start = self.starts.get(place).copied().unwrap_or(self.sent);
        (start, len, is_new)
    }

    fn direct(&mut self, number: u16, len: u64) -> (u64, u64, bool) {
        match self.last {
            Some((last, start)) if number != 0 && last == number => (start, len, false),
            _ => {
                self.last = Some((number, self.sent));
                (self.sent, len, true)
            }
        }
    }
}

/// Whether the frame asks for others again.
pub(super) fn rejects(frame: &[u8]) -> bool {
    let Ok(ethernet) = Ethernet::parse(frame) else {
        return false;
    };
    if let Ok((_, packet)) = FrameType::parse(&ethernet) {
        let header = SessionHeader::parse(packet.data);
        return packet.destination.socket == socket::NETBIOS
            && header.is_ok_and(|(header, _)| header.has(control::SYSTEM | control::RESEND));
    }
    let Body::Length(bytes) = ethernet.payload else {
        return false;
    };
    let rej = |pdu: Pdu<'_>| {
        matches!(
            pdu.control,
            Control::Supervisory {
                kind: Supervisory::Rej,
                ..
            }
        )
    };
    Pdu::parse(bytes).is_ok_and(rej)
}

/// What a frame is; `None`: none that the engines send.
fn kind(frame: &[u8]) -> Option<Kind> {
    let ethernet = Ethernet::parse(frame).ok()?;
    if let Ok((_, packet)) = FrameType::parse(&ethernet) {
        return Some(match packet.destination.socket {
            socket::NETBIOS => of_nbipx(packet.data)?,
            socket::SMB_SERVER | socket::SMB_CLIENT => of_direct(packet.data)?,
            _ => Kind::Plain { linked: false },
        });
    }
    let Body::Length(bytes) = ethernet.payload else {
        return None;
    };
    let pdu = Pdu::parse(bytes).ok()?;
    Some(match pdu.control {
        Control::Unnumbered { .. } => Kind::Plain { linked: false },
        Control::Supervisory { .. } => Kind::Plain { linked: true },
        Control::Information { ns, .. } => Kind::Numbered {
            number: u16::from(ns),
            modulus: u32::from(coax_wire::llc::MODULUS),
            len: data_of_nbf(pdu.info),
        },
    })
}

fn data_of_nbf(info: &[u8]) -> u64 {
    match NbfFrame::parse(info) {
        Ok(NbfFrame::Session(frame)) => match frame.command {
            SessionCommand::DataFirstMiddle | SessionCommand::DataOnlyLast => {
                frame.data.len() as u64
            }
            _ => 0,
        },
        _ => 0,
    }
}

fn of_nbipx(data: &[u8]) -> Option<Kind> {
    if data.len() == coax_wire::ipx::nbipx::NAME_LEN {
        return Some(Kind::Plain { linked: false });
    }
    let (header, data) = SessionHeader::parse(data).ok()?;
    let is_data = header.stream == stream::SESSION_DATA && !header.has(control::SYSTEM);
    // Numbers are taken by the opening and the end, too.
    let takes = is_data || header.stream == stream::SESSION_END;
    Some(match takes {
        true => Kind::Numbered {
            number: header.sequence,
            modulus: 0x1_0000,
            len: if is_data { data.len() as u64 } else { 0 },
        },
        false => Kind::Plain { linked: true },
    })
}

fn of_direct(data: &[u8]) -> Option<Kind> {
    data.get(..SMB_HEADER_LEN)?;
    Header::parse(data).ok()?;
    // [MS-CIFS] 2.2.3.1: SequenceNumber on connectionless transports
    let number = data.get(20..22)?.first_chunk::<2>()?;
    Some(Kind::Direct {
        number: u16::from_le_bytes(*number),
        len: data.len() as u64,
    })
}
