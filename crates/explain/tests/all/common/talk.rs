//! An SMB connection written message by message, a millisecond apart.

use coax_explain::report::Capture;
use coax_wire::command::{CLOSE, OPEN_ANDX, READ_ANDX};

use super::flow::{Ends, Flow, Sent};

const MSS: usize = 1460;

/// No command follows ([MS-CIFS] 2.2.3.4).
pub const NONE: u8 = 0xff;

/// See the module.
pub struct Talk {
    flow: Flow,
    at_us: u64,
    said: [i64; 2],
}

impl Talk {
    /// Between a client and this port of a server, seen next to the client.
    pub fn on(port: u16) -> Self {
        let ends = Ends {
            port,
            near_us: 50,
            far_us: 400,
            mss: MSS as u16,
            window: 60_000,
        };
        Self {
            flow: Flow::begin(&ends),
            at_us: 10_000,
            said: [0; 2],
        }
    }

    /// The next message of the client (0) or of the server (1), or a part of one.
    pub fn say(&mut self, from: usize, bytes: &[u8]) -> &mut Self {
        self.say_cut(from, bytes, MSS)
    }

    /// The same, and the capture lacks all of it.
    pub fn miss(&mut self, from: usize, bytes: &[u8]) -> &mut Self {
        self.at_us += 1000;
        self.said[from] += bytes.len() as i64;
        self
    }

    /// What a side says next was said so many bytes ago, or is said so many bytes later.
    pub fn rewind(&mut self, from: usize, bytes: usize) -> &mut Self {
        self.said[from] -= bytes as i64;
        self
    }

    pub fn skip(&mut self, from: usize, bytes: usize) -> &mut Self {
        self.said[from] += bytes as i64;
        self
    }

    /// Nothing happens for so long.
    pub fn wait(&mut self, wait_us: u64) -> &mut Self {
        self.at_us += wait_us;
        self
    }

    /// The same as [`Self::say`], in a packet that brings the last `back` bytes before it once more.
    pub fn say_from(&mut self, from: usize, back: &[u8], bytes: &[u8]) -> &mut Self {
        self.said[from] -= back.len() as i64;
        self.say(from, &[back, bytes].concat())
    }

    /// The same, of each packet only the first bytes were kept.
    pub fn say_cut(&mut self, from: usize, bytes: &[u8], kept: usize) -> &mut Self {
        self.at_us += 1000;
        for piece in bytes.chunks(MSS) {
            self.flow.send(Sent {
                at_us: self.at_us,
                from,
                seq: self.said[from],
                ack: self.said[1 - from],
                data: &piece[..kept.min(piece.len())],
                len: piece.len(),
                ..Sent::default()
            });
            self.said[from] += piece.len() as i64;
            self.at_us += 13;
        }
        self
    }

    /// One side says that it has all.
    pub fn acknowledge(&mut self, from: usize) -> &mut Self {
        self.flow.send(Sent {
            at_us: self.at_us,
            from,
            seq: self.said[from],
            ack: self.said[1 - from],
            ..Sent::default()
        });
        self
    }

    /// A request and its answer.
    pub fn exchange(&mut self, asked: &Message, told: &Message) -> &mut Self {
        self.say(0, &asked.bytes()).say(1, &told.answer())
    }

    /// A file of so many bytes is opened under this number.
    pub fn open(&mut self, mid: u16, fid: u16, size: u16) -> &mut Self {
        let asked = [0xff, 0, 0, 0x40, 0x16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        let told = [0xff, 0, fid, 0, 0, 0, size, 0, 0, 0, 0, 1, 0, 0, 0];
        let asked = Message::new(OPEN_ANDX, mid)
            .words(&asked)
            .data(b"\\A.TXT\0");
        self.exchange(&asked, &Message::new(OPEN_ANDX, mid).words(&told))
    }

    /// It is closed.
    pub fn close(&mut self, mid: u16, fid: u16) -> &mut Self {
        let asked = Message::new(CLOSE, mid).words(&[fid, 0, 0]);
        self.exchange(&asked, &Message::new(CLOSE, mid))
    }

    /// What is said of it.
    pub fn explained(&self) -> Capture {
        self.flow.explained()
    }

    /// What is said of it without its first packets.
    pub fn explained_from(&self, first: usize) -> Capture {
        self.flow.explained_from(first)
    }
}

/// An SMB message.
#[derive(Clone)]
pub struct Message {
    command: u8,
    mid: u16,
    pid: u16,
    tid: u16,
    status: u32,
    is_nt: bool,
    words: Vec<u16>,
    data: Vec<u8>,
}

impl Message {
    pub fn new(command: u8, mid: u16) -> Self {
        Self {
            command,
            mid,
            pid: 100,
            tid: 1,
            status: 0,
            is_nt: false,
            words: Vec::new(),
            data: Vec::new(),
        }
    }

    pub fn words(self, words: &[u16]) -> Self {
        Self {
            words: words.to_vec(),
            ..self
        }
    }

    pub fn data(self, data: &[u8]) -> Self {
        Self {
            data: data.to_vec(),
            ..self
        }
    }

    pub fn pid(self, pid: u16) -> Self {
        Self { pid, ..self }
    }

    /// An NT status ([MS-ERREF] 2.3).
    pub fn status(self, status: u32) -> Self {
        Self {
            status,
            is_nt: true,
            ..self
        }
    }

    /// A DOS class and code ([MS-CIFS] 2.2.2.4).
    pub fn dos_status(self, class: u8, code: u16) -> Self {
        Self {
            status: u32::from(class) | u32::from(code) << 16,
            ..self
        }
    }

    /// The request in its session packet.
    pub fn bytes(&self) -> Vec<u8> {
        self.packet(false)
    }

    /// The answer.
    pub fn answer(&self) -> Vec<u8> {
        self.packet(true)
    }

    fn packet(&self, is_answer: bool) -> Vec<u8> {
        let mut body = b"\xffSMB".to_vec();
        body.push(self.command);
        body.extend(self.status.to_le_bytes());
        body.push(if is_answer { 0x80 } else { 0 });
        body.extend(if self.is_nt { [0, 0x40] } else { [0, 0] });
        body.resize(24, 0);
        for number in [self.tid, self.pid, 100, self.mid] {
            body.extend(number.to_le_bytes());
        }
        body.push(self.words.len() as u8);
        body.extend(self.words.iter().flat_map(|word| word.to_le_bytes()));
        body.extend((self.data.len() as u16).to_le_bytes());
        body.extend(&self.data);
        let mut packet = (body.len() as u32).to_be_bytes().to_vec();
        packet.extend(body);
        packet
    }
}

/// A request for bytes of a file.
pub fn read(mid: u16, fid: u16, offset: u16, count: u32) -> Message {
    let (low, high) = (count as u16, (count >> 16) as u16);
    let words = [NONE.into(), 0, fid, offset, 0, low, low, high, 0, 0];
    Message::new(READ_ANDX, mid).words(&words)
}

/// Its answer.
pub fn brought(mid: u16, count: u32) -> Message {
    let words = [
        NONE.into(),
        0,
        0,
        0,
        0,
        count as u16,
        60,
        (count >> 16) as u16,
        0,
        0,
        0,
        0,
    ];
    Message::new(READ_ANDX, mid)
        .words(&words)
        .data(&vec![b'a'; count as usize + 1])
}
