//! A capture of many small files on one connection, made byte by byte: of each the attributes are asked for, and it is
//! opened, read at once and closed, eight packets in all.

/// What is made.
#[derive(Clone, Copy, Debug)]
pub struct Tree {
    /// Files.
    pub files: u32,
    /// Bytes of each.
    pub size: u16,
    /// From a request to its answer, and from an answer to the next request, ns.
    pub answer_ns: u64,
    pub request_ns: u64,
}

/// The file, as pcap with nanoseconds.
pub fn pcap(tree: &Tree) -> Vec<u8> {
    let mut writer = Writer {
        tree: *tree,
        out: Vec::new(),
        at: 1_000_000_000,
        seq: [1, 1],
        id: 0,
    };
    for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 262_144, 1] {
        writer.out.extend(word.to_le_bytes());
    }
    writer.handshake();
    (0..tree.files).for_each(|number| writer.file(number));
    writer.out
}

struct Writer {
    tree: Tree,
    out: Vec<u8>,
    at: u64,
    /// Of client and server.
    seq: [u32; 2],
    id: u16,
}

const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
const PUSH: u8 = 0x18;

impl Writer {
    fn handshake(&mut self) {
        self.seq = [0, 0];
        self.packet(0, SYN, &[]);
        self.seq[0] = 1;
        self.packet(1, SYN | ACK, &[]);
        self.seq[1] = 1;
        self.packet(0, ACK, &[]);
    }

    fn file(&mut self, number: u32) {
        let name = format!("\\DIR{:03}\\FILE{number:05}.TXT\0", number / 1000);
        let fid = 0x4000 | (number as u16 & 0x0fff);
        let size = self.tree.size;
        let path = [&[4], name.as_bytes()].concat();
        let file = [0, 0, 0, size, 0, 0, 0, 0, 0, 0];
        self.exchange(0x08, &[], &path, &file, &[]);
        let open = [0xff, 0, 0, 0x40, 0x16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        let opened = [0xff, 0, fid, 0, 0, 0, size, 0, 0, 0, 0, 1, 0, 0, 0];
        self.exchange(0x2d, &open, name.as_bytes(), &opened, &[]);
        let read = [0xff, 0, fid, 0, 0, size, size, 0, 0, 0];
        let data = [vec![0], vec![0x61; usize::from(size)]].concat();
        let brought = [0xff, 0, 0, 0, 0, size, 60, 0, 0, 0, 0, 0];
        self.exchange(0x2e, &read, &[], &brought, &data);
        self.exchange(0x04, &[fid, 0, 0], &[], &[], &[]);
    }

    fn exchange(&mut self, command: u8, asked: &[u16], data: &[u8], words: &[u16], told: &[u8]) {
        self.at += self.tree.request_ns;
        self.id = self.id.wrapping_add(1);
        self.packet(0, PUSH, &message(command, 0, self.id, asked, data));
        self.at += self.tree.answer_ns;
        self.packet(1, PUSH, &message(command, 0x80, self.id, words, told));
    }

    fn packet(&mut self, from: usize, flags: u8, data: &[u8]) {
        let mut frame = vec![0; 12];
        frame.extend([8, 0, 0x45, 0]);
        frame.extend((40 + data.len() as u16).to_be_bytes());
        frame.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        let hosts = [[10, 0, 0, 1], [10, 0, 0, 2]];
        let ports = [1025_u16, 139];
        frame.extend(hosts[from]);
        frame.extend(hosts[1 - from]);
        frame.extend(ports[from].to_be_bytes());
        frame.extend(ports[1 - from].to_be_bytes());
        frame.extend(self.seq[from].to_be_bytes());
        frame.extend(self.seq[1 - from].to_be_bytes());
        frame.extend([0x50, flags, 0x7f, 0xff, 0, 0, 0, 0]);
        frame.extend(data);
        self.seq[from] += data.len() as u32;
        let len = frame.len() as u32;
        let words = [self.at / 1_000_000_000, self.at % 1_000_000_000];
        words
            .iter()
            .for_each(|word| self.out.extend((*word as u32).to_le_bytes()));
        self.out.extend(len.to_le_bytes());
        self.out.extend(len.to_le_bytes());
        self.out.extend(frame);
    }
}

/// A message in its session packet.
fn message(command: u8, flags: u8, id: u16, words: &[u16], data: &[u8]) -> Vec<u8> {
    let mut body = b"\xffSMB".to_vec();
    body.push(command);
    body.resize(32, 0);
    body[9] = flags;
    body[24] = 1;
    body[28] = 100;
    body[30..32].copy_from_slice(&id.to_le_bytes());
    body.push(words.len() as u8);
    words
        .iter()
        .for_each(|word| body.extend(word.to_le_bytes()));
    body.extend((data.len() as u16).to_le_bytes());
    body.extend(data);
    let mut out = (body.len() as u32).to_be_bytes().to_vec();
    out.extend(body);
    out
}
