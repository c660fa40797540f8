//! A NetBEUI session written frame by frame, seen next to the client.

use coax_explain::{capture::LinkType, report::Capture};
use coax_wire::{
    ether::{self, Mac},
    llc::{Control, Pdu, SAP_NETBIOS, Supervisory, Unnumbered},
    nbf::{SessionCommand, SessionFrame, flags},
    time::Time,
};

use super::{
    packets::{Owned, analyse},
    talk::{Message, brought, read},
};

/// The longest piece of a message, bytes.
pub const PIECE: usize = 1482;

/// See the module. Station 0 is the client.
pub struct Link {
    pub packets: Vec<Owned>,
    pub at_us: u64,
    /// The number of each station's next frame, and the number that each expects.
    next: [u8; 2],
    expected: [u8; 2],
}

const STATIONS: [Mac; 2] = [Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2])];

impl Link {
    /// A session that is open.
    pub fn open() -> Self {
        Self::open_between(50, 300)
    }

    /// The same; the way from the capture to client and server and back takes so long.
    pub fn open_between(client_us: u64, server_us: u64) -> Self {
        let mut link = Self {
            packets: Vec::new(),
            at_us: 1_000_000,
            next: [0; 2],
            expected: [0; 2],
        };
        link.unnumbered(0, Unnumbered::Sabme);
        link.wait(server_us).unnumbered(1, Unnumbered::Ua);
        link.wait(client_us)
            .session(0, SessionCommand::SessionInitialize);
        link.wait(server_us)
            .session(1, SessionCommand::SessionConfirm);
        link.wait(client_us).rr(0);
        link
    }

    /// Nothing happens for so long.
    pub fn wait(&mut self, us: u64) -> &mut Self {
        self.at_us += us;
        self
    }

    pub fn unnumbered(&mut self, from: usize, kind: Unnumbered) {
        self.pdu(from, false, Control::Unnumbered { kind, pf: true }, &[]);
    }

    /// A supervisory frame; a poll is a command, a final a response.
    pub fn supervisory(&mut self, from: usize, kind: Supervisory, (pf, response): (bool, bool)) {
        let nr = self.expected[from];
        self.pdu(from, response, Control::Supervisory { kind, nr, pf }, &[]);
    }

    /// An acknowledgment.
    pub fn rr(&mut self, from: usize) {
        self.supervisory(from, Supervisory::Rr, (false, true));
    }

    /// A frame of the session without data.
    pub fn session(&mut self, from: usize, command: SessionCommand) {
        let frame = SessionFrame {
            data2: 1482,
            ..SessionFrame::new(command, 2 - from as u8, 1 + from as u8)
        };
        self.information(from, &frame, true);
    }

    /// A piece of a message with this number. It arrives, if `arrives`; else the other side does not get it.
    pub fn piece(&mut self, from: usize, data: &[u8], (ends, asks): (bool, bool), arrives: bool) {
        let command = match ends {
            true => SessionCommand::DataOnlyLast,
            false => SessionCommand::DataFirstMiddle,
        };
        let frame = SessionFrame {
            data1: if asks { flags::RECEIVE_CONTINUE } else { 0 },
            response: 1,
            data,
            ..SessionFrame::new(command, 2 - from as u8, 1 + from as u8)
        };
        self.information(from, &frame, arrives);
    }

    /// A whole message, one frame after the other, 1.3 ms apart. After every `window` frames the other side acknowledges.
    pub fn say(&mut self, from: usize, message: &[u8], window: usize) -> &mut Self {
        let pieces: Vec<&[u8]> = message.chunks(PIECE).collect();
        for (place, piece) in pieces.iter().enumerate() {
            let ends = place + 1 == pieces.len();
            self.piece(from, piece, (ends, false), true);
            self.wait(1300);
            if (place + 1) % window == 0 && !ends {
                self.wait(300).rr(1 - from);
                self.wait(50);
            }
        }
        self
    }

    /// A station goes back to the frame that the other one expects.
    pub fn go_back(&mut self, from: usize) {
        self.next[from] = self.expected[1 - from];
    }

    /// A request and its answer, the server after so long.
    pub fn exchange(&mut self, asked: &Message, told: &Message, server_us: u64) -> &mut Self {
        self.say(0, &body(&asked.bytes()), 100);
        self.wait(server_us).say(1, &body(&told.answer()), 100);
        self.wait(200)
    }

    /// A file of this size is opened under number 7.
    pub fn open_file(&mut self, size: u16) -> &mut Self {
        self.open_file_in(size, 1000)
    }

    /// The same; the server takes so long.
    pub fn open_file_in(&mut self, size: u16, server_us: u64) -> &mut Self {
        let asked = [0xff, 0, 0, 0x40, 0x16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        let told = [0xff, 0, 7, 0, 0, 0, size, 0, 0, 0, 0, 1, 0, 0, 0];
        let open = Message::new(coax_wire::command::OPEN_ANDX, 1);
        let asked = open.clone().words(&asked).data(b"\\A.TXT\0");
        self.exchange(&asked, &open.words(&told), server_us)
    }

    pub fn close_file(&mut self) -> &mut Self {
        let close = Message::new(coax_wire::command::CLOSE, 99);
        let asked = close.clone().words(&[7, 0, 0]);
        self.exchange(&asked, &close, 1000)
    }

    /// The request for `count` bytes from `offset` on is sent; the bytes of the answer.
    pub fn ask(&mut self, mid: u16, offset: u16, count: u32) -> Vec<u8> {
        self.say(0, &body(&read(mid, 7, offset, count).bytes()), 100);
        body(&brought(mid, count).answer())
    }

    pub fn explained(&self) -> Capture {
        analyse(LinkType::Ethernet, &self.packets)
    }

    /// The same, the capture lacks what `is_missing`.
    pub fn explained_without(&self, is_missing: impl Fn(usize) -> bool) -> Capture {
        let kept = self.packets.iter().enumerate();
        let kept = kept.filter(|(place, _)| !is_missing(*place));
        let kept: Vec<Owned> = kept.map(|(_, packet)| packet.clone()).collect();
        analyse(LinkType::Ethernet, &kept)
    }

    fn information(&mut self, from: usize, frame: &SessionFrame<'_>, arrives: bool) {
        let info = [&frame.header()[..], frame.data].concat();
        let ns = self.next[from];
        let nr = self.expected[from];
        self.pdu(
            from,
            false,
            Control::Information { ns, nr, pf: false },
            &info,
        );
        self.next[from] = (ns + 1) % 128;
        if arrives {
            self.expected[1 - from] = self.next[from];
        }
    }

    fn pdu(&mut self, from: usize, response: bool, control: Control, info: &[u8]) {
        let pdu = Pdu {
            dsap: SAP_NETBIOS,
            ssap: SAP_NETBIOS,
            response,
            control,
            info,
        };
        let bytes = ether::emit_802_3(STATIONS[1 - from], STATIONS[from], &[&pdu.emit()]).unwrap();
        self.packets.push(Owned {
            at: Time(self.at_us * 1000),
            wire_len: bytes.len() as u32,
            bytes,
        });
    }
}

/// A message without the header that TCP puts before it.
fn body(packet: &[u8]) -> Vec<u8> {
    packet[4..].to_vec()
}
