//! Encodes requests, written from [MS-CIFS] independently: the server's codec must not check itself.

use crate::{
    op::{Carrier, IfExists, Op, OpenArgs, Oplock, Range, Request, Sharing, Verb, right},
    rules::{SHARES, USERS},
};

const HEADER: usize = 32;
/// SMB_FLAGS_OPLOCK and SMB_FLAGS_OPBATCH, of core opens.
const FLAG_OPLOCK: u8 = 0x20;
const FLAG_OPBATCH: u8 = 0x40;
/// Offsets have 16 bits. Data and parameters of a transaction begin at the same offset in all messages here.
const MAX_DATA_ANSWERED: u16 = 0x1000;

/// The properties of a client that affect every message.
#[derive(Clone, Copy, Debug)]
pub struct Speaker {
    /// NT LM 0.12 with NT statuses; else LM1.2X002.
    pub nt: bool,
}

impl Speaker {
    fn header(self, command: u8, flags: u8, of: &Request) -> Vec<u8> {
        // Caseless paths; NT statuses and long names. Strings are OEM everywhere.
        let flags2: u16 = if self.nt { 0x4001 } else { 0 };
        let mut out = b"\xffSMB".to_vec();
        out.push(command);
        out.extend([0; 4]);
        out.push(0x08 | flags);
        out.extend(flags2.to_le_bytes());
        out.extend([0; 12]);
        for id in [of.tid, of.pid, of.uid, of.mid] {
            out.extend(id.to_le_bytes());
        }
        out
    }

    /// The messages of a request. The client sends the first at once, and the others when the server asks for them.
    #[must_use]
    pub fn messages(self, of: &Request) -> Vec<Vec<u8>> {
        let (command, flags, blocks) = self.blocks(&of.op);
        let mut messages = Vec::new();
        for (nth, block) in blocks.into_iter().enumerate() {
            if command == WRITE_RAW && nth > 0 {
                messages.push(block);
                continue;
            }
            // The second part of a transaction uses the command that follows that of the first.
            let mut message = self.header(command + nth as u8, flags, of);
            message.extend(block);
            messages.push(message);
        }
        messages
    }

    /// NEGOTIATE.
    #[must_use]
    pub fn negotiate(self, of: &Request) -> Vec<u8> {
        let dialect = if self.nt { "NT LM 0.12" } else { "LM1.2X002" };
        let mut message = self.header(0x72, 0, of);
        message.extend(block(&[], format!("\x02{dialect}\0").as_bytes()));
        message
    }

    /// NT_CANCEL of a request.
    #[must_use]
    pub fn cancel(self, of: &Request) -> Vec<u8> {
        let mut message = self.header(0xa4, 0, of);
        message.extend(block(&[], &[]));
        message
    }

    /// LOCKING_ANDX that acknowledges an oplock break.
    #[must_use]
    pub fn acknowledge(self, of: &Request, fid: u16, level: Oplock) -> Vec<u8> {
        let mut message = self.header(LOCKING, 0, of);
        let level = u16::from(level == Oplock::LevelII);
        message.extend(block(&[0xff, 0, fid, 0x02 | level << 8, 0, 0, 0, 0], &[]));
        message
    }

    fn blocks(self, op: &Op) -> (u8, u8, Vec<Vec<u8>>) {
        let one = |command: u8, block: Vec<u8>| (command, 0, vec![block]);
        match op {
            Op::Open(args) => opens(args),
            Op::Close { fid } => one(0x04, block(&[*fid, 0, 0], &[])),
            Op::Flush { fid } => one(0x05, block(&[*fid], &[])),
            Op::Read {
                fid,
                offset,
                len,
                by,
            } => one(read_command(*by), read(*fid, *offset, *len, *by)),
            Op::Write {
                fid,
                offset,
                data,
                by,
                through,
            } => writes(*fid, *offset, data, (*by, *through)),
            Op::SetLength {
                fid,
                len,
                by: Carrier::Core,
            } => one(
                0x0b,
                block(&[*fid, 0, low(*len), high(*len), 0], &[1, 0, 0]),
            ),
            Op::SetLength { fid, len, .. } => set_file(*fid, 0x104, &u64::from(*len).to_le_bytes()),
            Op::Lock {
                fid,
                ranges,
                core: true,
                ..
            } => {
                let range = ranges.first().copied().unwrap_or(Range {
                    offset: 0,
                    length: 0,
                });
                one(0x0c, core_range(*fid, range))
            }
            Op::Lock {
                fid,
                ranges,
                shared,
                wait_ms,
                ..
            } => one(
                LOCKING,
                locking(*fid, u16::from(*shared), *wait_ms, (&[], ranges)),
            ),
            Op::Unlock {
                fid,
                range,
                core: true,
            } => one(0x0d, core_range(*fid, *range)),
            Op::Unlock { fid, range, .. } => one(LOCKING, locking(*fid, 0, 0, (&[*range], &[]))),
            Op::CancelLock { fid, range, shared } => one(
                LOCKING,
                locking(*fid, 0x08 | u16::from(*shared), 0, (&[], &[*range])),
            ),
            _ => self.other_blocks(op),
        }
    }

    fn other_blocks(self, op: &Op) -> (u8, u8, Vec<Vec<u8>>) {
        let one = |command: u8, block: Vec<u8>| (command, 0, vec![block]);
        match op {
            Op::Rename {
                old,
                new,
                nt: false,
            } => one(0x07, block(&[0x16], &paths(&[old, new]))),
            Op::Rename { old, new, .. } => {
                one(0xa5, block(&[0x16, 0x0104, 0, 0], &paths(&[old, new])))
            }
            Op::RenameOpen { fid, new, replace } => {
                let mut data = u32::from(*replace).to_le_bytes().to_vec();
                data.extend([0; 4]);
                data.extend((new.len() as u32).to_le_bytes());
                data.extend(new.as_bytes());
                set_file(*fid, 1010, &data)
            }
            Op::Delete { path } => one(0x06, block(&[0x06], &paths(&[path]))),
            Op::MakeFolder { path } => one(0x00, block(&[], &paths(&[path]))),
            Op::RemoveFolder { path } => one(0x01, block(&[], &paths(&[path]))),
            Op::Disposition { fid, delete } => set_file(*fid, 0x102, &[u8::from(*delete)]),
            Op::Notify {
                fid,
                filter,
                tree,
                room,
            } => one(0xa0, notify(*fid, *filter, *tree, *room)),
            Op::LogOn { user } => one(0x73, self.log_on(*user)),
            Op::LogOff => one(0x74, block(&[0xff, 0], &[])),
            Op::Connect { share } => {
                let name = SHARES[*share].name;
                let bytes = format!("\0\\\\COAX\\{name}\0?????\0");
                one(0x75, block(&[0xff, 0, 0, 1], bytes.as_bytes()))
            }
            Op::Disconnect => one(0x71, block(&[], &[])),
            Op::Exit => one(0x11, block(&[], &[])),
            _ => one(0x2b, block(&[1], b"echo")),
        }
    }

    fn log_on(self, user: Option<&str>) -> Vec<u8> {
        let known = USERS.iter().find(|(name, _)| Some(*name) == user);
        let (name, password) = known.map_or(("", ""), |(name, password)| (*name, *password));
        let mut bytes = password.as_bytes().to_vec();
        let len = bytes.len() as u16;
        bytes.extend(format!("{name}\0WORKGROUP\0sim\0sim\0").as_bytes());
        // Level II oplocks, NT statuses, NT commands, large files.
        const CAPABILITIES: u16 = 0x00d8;
        match self.nt {
            true => block(
                &[0xff, 0, 0xffff, 50, 1, 0, 0, len, 0, 0, 0, CAPABILITIES, 0],
                &bytes,
            ),
            false => block(&[0xff, 0, 0xffff, 50, 1, 0, 0, len, 0, 0], &bytes),
        }
    }
}

const LOCKING: u8 = 0x24;
const WRITE_RAW: u8 = 0x1d;

fn low(number: u32) -> u16 {
    number as u16
}

fn high(number: u32) -> u16 {
    (number >> 16) as u16
}

/// Word count, words, byte count, bytes.
pub(crate) fn block(words: &[u16], bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![words.len() as u8];
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    out.extend((bytes.len() as u16).to_le_bytes());
    out.extend(bytes);
    out
}

fn paths(paths: &[&String]) -> Vec<u8> {
    paths
        .iter()
        .flat_map(|path| format!("\x04\\{path}\0").into_bytes())
        .collect()
}

fn core_range(fid: u16, range: Range) -> Vec<u8> {
    let (count, offset) = (range.length as u32, range.offset as u32);
    block(
        &[fid, low(count), high(count), low(offset), high(offset)],
        &[],
    )
}

/// The owner of byte-range locks is the process of the header, 1. Ranges have 32 bits.
fn locking(fid: u16, kind: u16, wait_ms: u32, (unlocks, locks): (&[Range], &[Range])) -> Vec<u8> {
    let mut bytes = Vec::new();
    for range in unlocks.iter().chain(locks) {
        bytes.extend(crate::rules::PID.to_le_bytes());
        bytes.extend((range.offset as u32).to_le_bytes());
        bytes.extend((range.length as u32).to_le_bytes());
    }
    let counts = [unlocks.len() as u16, locks.len() as u16];
    block(
        &[
            0xff,
            0,
            fid,
            kind,
            low(wait_ms),
            high(wait_ms),
            counts[0],
            counts[1],
        ],
        &bytes,
    )
}

fn read_command(by: Carrier) -> u8 {
    match by {
        Carrier::Core => 0x0a,
        Carrier::AndX => 0x2e,
        Carrier::Raw => 0x1a,
    }
}

fn read(fid: u16, offset: u64, len: u16, by: Carrier) -> Vec<u8> {
    let at = offset as u32;
    match by {
        Carrier::Core => block(&[fid, len, low(at), high(at), 0], &[]),
        Carrier::AndX => block(&read_andx(fid, at, len), &[]),
        Carrier::Raw => block(&[fid, low(at), high(at), len, 0, 0, 0, 0], &[]),
    }
}

fn read_andx(fid: u16, at: u32, len: u16) -> [u16; 10] {
    [0xff, 0, fid, low(at), high(at), len, 0, 0, 0, 0]
}

fn writes(
    fid: u16,
    offset: u64,
    data: &[u8],
    (by, through): (Carrier, bool),
) -> (u8, u8, Vec<Vec<u8>>) {
    let (at, len, mode) = (offset as u32, data.len() as u16, u16::from(through));
    match by {
        Carrier::Core => {
            let mut bytes = vec![1];
            bytes.extend(len.to_le_bytes());
            bytes.extend(data);
            (
                0x0b,
                0,
                vec![block(&[fid, len, low(at), high(at), 0], &bytes)],
            )
        }
        Carrier::AndX => {
            let start = (HEADER + 1 + 24 + 2) as u16;
            let words = [
                0xff,
                0,
                fid,
                low(at),
                high(at),
                0,
                0,
                mode,
                0,
                0,
                len,
                start,
            ];
            (0x2f, 0, vec![block(&words, data)])
        }
        Carrier::Raw => {
            let words = [fid, len, 0, low(at), high(at), 0, 0, mode, 0, 0, 0, 0];
            (WRITE_RAW, 0, vec![block(&words, &[]), data.to_vec()])
        }
    }
}

fn transaction2(function: u16, parameters: &[u8], data: &[u8], first: usize) -> Vec<Vec<u8>> {
    let (sent, kept) = parameters.split_at(first.min(parameters.len()));
    let start = HEADER + 1 + 30 + 2 + 1;
    let data_at = start + sent.len();
    let (all, total) = (parameters.len() as u16, data.len() as u16);
    let words = [
        all,
        total,
        64,
        MAX_DATA_ANSWERED,
        0,
        0,
        0,
        0,
        0,
        sent.len() as u16,
        start as u16,
        total,
        data_at as u16,
        1,
        function,
    ];
    let mut bytes = vec![0];
    bytes.extend(sent);
    bytes.extend(data);
    let mut blocks = vec![block(&words, &bytes)];
    if !kept.is_empty() {
        let start = (HEADER + 1 + 18 + 2) as u16;
        let words = [
            all,
            total,
            kept.len() as u16,
            start,
            sent.len() as u16,
            0,
            0,
            0,
            0xffff,
        ];
        blocks.push(block(&words, kept));
    }
    blocks
}

fn set_file(fid: u16, level: u16, data: &[u8]) -> (u8, u8, Vec<Vec<u8>>) {
    let parameters = [fid.to_le_bytes(), level.to_le_bytes(), [0, 0]].concat();
    (0x32, 0, transaction2(8, &parameters, data, usize::MAX))
}

fn notify(fid: u16, filter: u32, tree: bool, room: u32) -> Vec<u8> {
    let mut words = vec![0, 0, 0];
    let start = (HEADER + 1 + 46 + 2) as u32;
    for field in [0, 0, room, 0, 0, start, 0, start] {
        words.extend(u32::to_le_bytes(field));
    }
    words.push(4);
    words.extend(4u16.to_le_bytes());
    words.extend(filter.to_le_bytes());
    words.extend(fid.to_le_bytes());
    words.extend([u8::from(tree), 0]);
    let mut out = vec![(words.len() / 2) as u8];
    out.extend(words);
    out.extend([0, 0]);
    out
}

fn dos_mode(args: &OpenArgs) -> u16 {
    let deny = match args.sharing {
        Sharing::Fcb => return 0xff,
        Sharing::Deny(deny) => u16::from(deny),
        _ => 0,
    };
    let access = match args.rights & (right::READ | right::WRITE) {
        right::READ => 0,
        right::WRITE => 1,
        _ => 2,
    };
    deny << 4 | access
}

fn open_mode(args: &OpenArgs) -> u16 {
    let exists = match args.if_exists {
        IfExists::Fail => 0,
        IfExists::Open => 1,
        IfExists::Overwrite => 2,
    };
    exists | if args.create { 0x10 } else { 0 }
}

fn opens(args: &OpenArgs) -> (u8, u8, Vec<Vec<u8>>) {
    let path = format!("\\{}\0", args.path);
    let oplock_flags = match args.oplock {
        Oplock::Batch => FLAG_OPLOCK | FLAG_OPBATCH,
        Oplock::Exclusive => FLAG_OPLOCK,
        _ => 0,
    };
    let wish: u16 = match args.oplock {
        Oplock::Batch => 6,
        Oplock::Exclusive => 2,
        _ => 0,
    };
    let (length, mode) = (args.length, dos_mode(args));
    match args.verb {
        Verb::Open => (
            0x02,
            oplock_flags,
            vec![block(&[mode, 0x16], &paths(&[&args.path]))],
        ),
        Verb::Create => (
            0x03,
            oplock_flags,
            vec![block(&[0, 0, 0], &paths(&[&args.path]))],
        ),
        Verb::CreateNew => (
            0x0f,
            oplock_flags,
            vec![block(&[0, 0, 0], &paths(&[&args.path]))],
        ),
        Verb::OpenAndX => {
            let [low, high] = [low(length), high(length)];
            let words = [
                0xff,
                0,
                wish,
                mode,
                0x16,
                0,
                0,
                0,
                open_mode(args),
                low,
                high,
                0,
                0,
                0,
                0,
            ];
            (0x2d, 0, vec![open_andx(words, path.as_bytes(), args.read)])
        }
        Verb::NtCreate => (0xa2, 0, vec![nt_create(args, wish, path.as_bytes())]),
        Verb::Trans2Open => (0x32, 0, trans2_open(args, [wish, mode], path.as_bytes())),
    }
}

fn trans2_open(args: &OpenArgs, [wish, mode]: [u16; 2], path: &[u8]) -> Vec<Vec<u8>> {
    let [low, high] = [low(args.length), high(args.length)];
    let words = [
        wish,
        mode,
        0,
        0,
        0,
        0,
        open_mode(args),
        low,
        high,
        0,
        0,
        0,
        0,
        0,
    ];
    let mut parameters: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    parameters.extend(path);
    let first = if args.split { 20 } else { usize::MAX };
    transaction2(0, &parameters, &[], first)
}

fn open_andx(mut words: [u16; 15], path: &[u8], read: Option<u16>) -> Vec<u8> {
    let Some(len) = read else {
        return block(&words, path);
    };
    let next = HEADER + 1 + 30 + 2 + path.len();
    words[0] = 0x2e;
    words[1] = next as u16;
    let mut out = block(&words, path);
    out.extend(block(&read_andx(0, 0, len), &[]));
    out
}

fn nt_create(args: &OpenArgs, wish: u16, path: &[u8]) -> Vec<u8> {
    let mut access = 0x80;
    for (bit, nt) in [
        (right::READ, 0x1),
        (right::WRITE, 0x2),
        (right::DELETE, 0x1_0000),
    ] {
        access |= if args.rights & bit != 0 { nt } else { 0 };
    }
    let disposition = match (args.if_exists, args.create) {
        (IfExists::Fail, _) => 2,
        (IfExists::Open, false) => 1,
        (IfExists::Open, true) => 3,
        (IfExists::Overwrite, false) => 4,
        (IfExists::Overwrite, true) => 5,
    };
    let folder = match args.folder {
        Some(true) => 0x01,
        Some(false) => 0x40,
        None => 0,
    };
    let options = folder | if args.delete_on_close { 0x1000 } else { 0 };
    let share = match args.sharing {
        Sharing::Nt(lets) => u32::from(lets),
        _ => 0,
    };
    let mut words = vec![0xff, 0, 0, 0, 0];
    words.extend((path.len() as u16 - 1).to_le_bytes());
    for field in [
        u32::from(wish),
        0,
        access,
        0,
        0,
        0,
        share,
        disposition,
        options,
        2,
    ] {
        words.extend(u32::to_le_bytes(field));
    }
    words.push(0);
    let mut out = vec![24];
    out.extend(words);
    out.extend((path.len() as u16).to_le_bytes());
    out.extend(path);
    out
}
