//! A server that behaves like Windows 95, 98 and Me: share-level passwords, a small buffer, no NT capabilities,
//! unaligned transaction parts, DOS errors whatever the flags request.
//!
//! The listing is the exact data of a Windows Me server in the dump of pull request 294 of rapid7/ruby_smb. The same
//! thread shows the other peculiarities: replies of TRANS2 and TRANSACTION with 10 words and parameters directly after
//! the byte count, a negotiate reply that ends with the challenge, a session set-up reply without strings, a tree
//! connect reply without a file system, and no OPEN_ANDX of `\PIPE\LANMAN`.

use coax_client::{CopySpec, Error, Operation, Outcome};
use coax_logon::{hash, response};
use coax_server::config::Config;
use coax_wire::{
    block::Block,
    command as c,
    header::{Flags, Header, Tid},
    io::Writer,
    smb::{
        close, open_andx, query_information, read, read_andx, transaction, tree_connect_andx,
        write, write_andx,
    },
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use crate::pair::{Pair, noise, profile};

/// The buffer size that Windows 98 announces ("Windows for Workgroups 3.1a", capture dos-win98-netbeui.pcap).
const BUFFER: usize = 2920;
const CHALLENGE: &[u8; 8] = b"12345678";
/// Words and bytes of the FIND_FIRST2 reply: the parameters start at 55, the data at 66.
const LISTING: &[u8] = b"\x0a\x0a\0\x54\0\0\0\x0a\0\x37\0\0\0\x54\0\x42\0\0\0\0\0\x5f\0\
\0\0\x03\0\x01\0\0\0\x4a\0\0\
\x98\x5c\x38\x70\x98\x5c\0\0\x98\x5c\x39\x70\0\0\0\0\0\0\0\0\x10\0\x01.\0\
\x98\x5c\x38\x70\x98\x5c\0\0\x98\x5c\x39\x70\0\0\0\0\0\0\0\0\x10\0\x02..\0\
\x98\x5c\x40\x70\x98\x5c\0\0\x98\x5c\x4c\x70\x16\0\0\0\x16\0\0\0\x20\0\x09HELLO.TXT\0";

/// Status as DOS class and code.
const OK: (u8, u16) = (0, 0);
const BAD_FILE: (u8, u16) = (1, 2);
const BAD_PASSWORD: (u8, u16) = (2, 2);
const BAD_COMMAND: (u8, u16) = (2, 64);

/// The answer to a request: status, words with their count, bytes with their count.
type Answer = ((u8, u16), Vec<u8>);

#[derive(Debug)]
struct Windows9x {
    files: BTreeMap<String, Vec<u8>>,
    /// The share's password; clients send the LM response to the challenge.
    password: &'static str,
    open: String,
    largest: usize,
    commands: Vec<u8>,
}

type Shared = Arc<Mutex<Windows9x>>;

fn block(words: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![(words.len() / 2) as u8];
    out.extend(words);
    out.extend((bytes.len() as u16).to_le_bytes());
    out.extend(bytes);
    out
}

fn words(words: &[u16]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A transaction's reply: ten words, the parameters directly after the byte count, one byte between them and the data.
fn transacted(parameters: &[u8], data: &[u8]) -> Vec<u8> {
    let at = 32 + 1 + 20 + 2;
    let (p, d) = (parameters.len() as u16, data.len() as u16);
    let head = words(&[p, d, 0, p, at, 0, d, at + p + 1, 0, 0]);
    block(&head, &[parameters, &[0], data].concat())
}

impl Windows9x {
    fn answer(&mut self, message: &[u8]) -> Vec<u8> {
        self.largest = self.largest.max(message.len());
        let header = Header::parse(message).unwrap();
        self.commands.push(header.command);
        let request = Block::first(message).unwrap();
        let ((class, code), body) = self.serve(header.command, &request);
        // The reply repeats the request's flags, including the one for NTSTATUS, which this server does not support.
        let header = Header {
            flags: Flags(header.flags.0 | Flags::REPLY),
            status: u32::from(class) | u32::from(code) << 16,
            tid: match header.command {
                c::TREE_CONNECT_ANDX => Tid(0xc8bc),
                _ => header.tid,
            },
            ..header
        };
        let mut out = Writer::default();
        header.emit(&mut out);
        out.bytes(&body);
        out.into_vec()
    }

    fn serve(&mut self, command: u8, request: &Block<'_>) -> Answer {
        let none = block(&[], &[]);
        match command {
            c::NEGOTIATE => (OK, negotiated(request)),
            c::SESSION_SETUP_ANDX => (OK, block(&words(&[0xff, 0, 0]), &[])),
            c::TREE_CONNECT_ANDX => self.connect(request),
            c::TREE_DISCONNECT | c::LOGOFF_ANDX | c::FIND_CLOSE2 => (OK, none),
            c::TRANSACTION2 => find(request),
            c::TRANSACTION => rap(request),
            c::OPEN_ANDX => self.open(request),
            c::READ_ANDX | c::READ => self.read(command, request),
            c::WRITE_ANDX | c::WRITE => self.write(command, request),
            c::CLOSE => {
                close::Request::parse(request).unwrap();
                (OK, none)
            }
            c::QUERY_INFORMATION => self.query(request),
            c::DELETE | c::RENAME | c::SET_INFORMATION | c::SET_INFORMATION2 | c::FLUSH => {
                self.other(command, request)
            }
            _ => (BAD_COMMAND, none),
        }
    }

    fn connect(&mut self, request: &Block<'_>) -> Answer {
        let request = tree_connect_andx::Request::parse(request, false).unwrap();
        let lm = hash::lm_hash_of_oem(self.password.as_bytes()).unwrap();
        let wanted = response::lm(&lm, CHALLENGE).bytes;
        let opens = self.password.is_empty() || request.password == wanted;
        let ipc = request.path.raw.ends_with(b"IPC$");
        if !opens && !ipc {
            return (BAD_PASSWORD, block(&[], &[]));
        }
        let service: &[u8] = if ipc { b"IPC\0" } else { b"A:\0" };
        (OK, block(&words(&[0xff, 0]), service))
    }

    fn open(&mut self, request: &Block<'_>) -> Answer {
        let request = open_andx::Request::parse(request, false).unwrap();
        let name = String::from_utf8(request.path.raw.to_vec()).unwrap();
        let exists = self.files.contains_key(&name);
        if name.contains("PIPE") || (!exists && request.open_mode & 0x10 == 0) {
            return (BAD_FILE, block(&[], &[]));
        }
        let file = self.files.entry(name.clone()).or_default();
        if request.open_mode & 3 == 2 {
            file.clear();
        }
        let [low, high] = [file.len() as u16, (file.len() >> 16) as u16];
        let action = if exists { 1 } else { 2 };
        self.open = name;
        let reply = [
            0xff, 0, 7, 0x20, 0, 0x5c98, low, high, 2, 0, 0, action, 0, 0, 0,
        ];
        (OK, block(&words(&reply), &[]))
    }

    fn read(&self, command: u8, request: &Block<'_>) -> Answer {
        let file = &self.files[&self.open];
        let (offset, count) = match command {
            c::READ => {
                let request = read::Request::parse(request).unwrap();
                (u64::from(request.offset), usize::from(request.count))
            }
            _ => {
                let request = read_andx::Request::parse(request).unwrap();
                (request.offset, request.max_count as usize)
            }
        };
        let rest = file.get(offset as usize..).unwrap_or_default();
        let data = &rest[..count.min(rest.len()).min(BUFFER - 64)];
        let len = data.len() as u16;
        if command == c::READ {
            let bytes = [&[1][..], &len.to_le_bytes(), data].concat();
            return (OK, block(&words(&[len, 0, 0, 0, 0]), &bytes));
        }
        let at = 32 + 1 + 24 + 2;
        let head = [0xff, 0, 0xffff, 0, 0, len, at, 0, 0, 0, 0, 0];
        (OK, block(&words(&head), data))
    }

    fn write(&mut self, command: u8, request: &Block<'_>) -> Answer {
        let (offset, data) = match command {
            c::WRITE => {
                let request = write::Request::parse(request).unwrap();
                (u64::from(request.offset), request.data.to_vec())
            }
            _ => {
                let parsed = write_andx::Request::parse(request).unwrap();
                (parsed.offset, parsed.data.to_vec())
            }
        };
        let file = self.files.get_mut(&self.open).unwrap();
        let end = offset as usize + data.len();
        file.resize(end.max(file.len()), 0);
        file[offset as usize..end].copy_from_slice(&data);
        let len = data.len() as u16;
        match command {
            c::WRITE => (OK, block(&words(&[len]), &[])),
            _ => (OK, block(&words(&[0xff, 0, len, 0, 0, 0]), &[])),
        }
    }

    fn query(&self, request: &Block<'_>) -> Answer {
        let path = query_information::parse_path(request, false).unwrap();
        let name = String::from_utf8(path.raw.to_vec()).unwrap();
        let Some(file) = self.files.get(&name) else {
            return (BAD_FILE, block(&[], &[]));
        };
        let [low, high] = [file.len() as u16, (file.len() >> 16) as u16];
        (
            OK,
            block(&words(&[0x20, 0, 0, low, high, 0, 0, 0, 0, 0]), &[]),
        )
    }

    /// Further commands: only names and times matter.
    fn other(&mut self, command: u8, request: &Block<'_>) -> Answer {
        let mut strings = request.strings(false);
        let mut name = || {
            let _ = strings.format(4);
            String::from_utf8(strings.string().raw.to_vec()).unwrap()
        };
        match command {
            c::DELETE if self.files.remove(&name()).is_none() => {
                return (BAD_FILE, block(&[], &[]));
            }
            c::RENAME => {
                let (old, new) = (name(), name());
                let Some(file) = self.files.remove(&old) else {
                    return (BAD_FILE, block(&[], &[]));
                };
                self.files.insert(new, file);
            }
            _ => {}
        }
        (OK, block(&[], &[]))
    }
}

/// NT LM 0.12 without capabilities, share-level security with challenge: the bytes contain only the challenge.
fn negotiated(request: &Block<'_>) -> Vec<u8> {
    let dialects = request.bytes.split(|&byte| byte == 0);
    let index = dialects
        .into_iter()
        .position(|name| name.ends_with(b"NT LM 0.12"))
        .unwrap() as u16;
    let mut out = Writer::default();
    out.u16(index).u8(2).u16(2).u16(1).u32(BUFFER as u32);
    out.u32(65_535).u32(0).u32(0).u64(0).u16(0).u8(8);
    block(out.as_slice(), CHALLENGE)
}

fn find(request: &Block<'_>) -> Answer {
    let request =
        transaction::Request::parse(transaction::Kind::Transaction2, request, false).unwrap();
    match request.function {
        1 => (OK, LISTING.to_vec()),
        _ => (BAD_COMMAND, block(&[], &[])),
    }
}

/// NetShareEnum of level 1: records of 20 bytes, then the remarks; pointers are relative to the converter.
fn rap(request: &Block<'_>) -> Answer {
    let request =
        transaction::Request::parse(transaction::Kind::Transaction, request, false).unwrap();
    assert_eq!(request.name.raw, b"\\PIPE\\LANMAN");
    assert!(request.parameters.starts_with(b"\0\0WrLeh\0B13BWz\0\x01\0"));
    const CONVERTER: u16 = 0x1f40;
    let shares: [(&str, u16, &str); 3] = [
        ("GAMES", 0, "Doom and Quake"),
        ("LASERJET", 1, ""),
        ("IPC$", 3, "Remote Inter Process Communication"),
    ];
    let (mut records, mut remarks) = (Vec::new(), Vec::new());
    for (name, kind, remark) in shares {
        let at = CONVERTER + 20 * shares.len() as u16 + remarks.len() as u16;
        let mut field = name.as_bytes().to_vec();
        field.resize(14, 0);
        records.extend([field, words(&[kind, at, 0])].concat());
        remarks.extend([remark.as_bytes(), &[0]].concat());
    }
    let parameters = words(&[0, CONVERTER, 3, 3]);
    (OK, transacted(&parameters, &[records, remarks].concat()))
}

/// A client connected to such a server.
fn joined(name: &str, share: &str, password: &'static str, given: &'static str) -> (Pair, Shared) {
    let server = Arc::new(Mutex::new(Windows9x {
        files: BTreeMap::from([("\\HELLO.TXT".to_owned(), b"Hello from Windows Me!".to_vec())]),
        password,
        open: String::new(),
        largest: 0,
        commands: Vec::new(),
    }));
    let mut pair = Pair::with(profile(name), Config::default(), |target| {
        target.share = share.into();
        target.credentials.password = given.into();
    });
    let answering = server.clone();
    pair.intercept = Some(Box::new(move |message| {
        Some(answering.lock().unwrap().answer(message))
    }));
    (pair, server)
}

fn list(pair: &mut Pair) -> Vec<(String, u64)> {
    let pattern = "*".into();
    let outcome = pair.run(Operation::List { pattern }, &[]);
    let Ok(Outcome::Entries(entries)) = outcome else {
        panic!("{outcome:?}");
    };
    let entries = entries.into_iter();
    entries.map(|entry| (entry.name, entry.stat.size)).collect()
}

#[test]
fn the_listing_of_a_real_windows_me_is_read() {
    for profile in ["modern", "windows-95", "windows-98", "smbclient-1999"] {
        let (mut pair, _) = joined(profile, "GAMES", "", "");
        assert_eq!(list(&mut pair), [("HELLO.TXT".to_owned(), 22)], "{profile}");
    }
}

#[test]
fn files_are_copied_both_ways_through_a_small_buffer() {
    for profile in ["modern", "windows-95", "windows-98"] {
        let (mut pair, server) = joined(profile, "GAMES", "", "");
        let big = noise(200_000);
        let put = CopySpec::put("BIG.BIN", big.len() as u64);
        pair.run(Operation::Copy(put), &big)
            .unwrap_or_else(|error| panic!("{profile}: {error}"));
        assert!(
            server.lock().unwrap().files["\\BIG.BIN"] == big,
            "{profile}"
        );
        pair.run(Operation::Copy(CopySpec::get("BIG.BIN")), &[])
            .unwrap_or_else(|error| panic!("{profile}: {error}"));
        assert!(pair.local() == big, "{profile}");
        let server = server.lock().unwrap();
        assert!(server.largest <= BUFFER, "{profile}: {}", server.largest);
        assert!(!server.commands.contains(&c::NT_CREATE_ANDX), "{profile}");
    }
}

#[test]
fn shares_are_listed_by_rap_and_no_pipe_is_opened() {
    let (mut pair, server) = joined("modern", "IPC$", "", "");
    let outcome = pair.run(Operation::Shares, &[]);
    let Ok(Outcome::Shares(shares)) = outcome else {
        panic!("{outcome:?}");
    };
    let output: Vec<_> = shares
        .iter()
        .map(|(name, kind, remark)| (name.as_str(), *kind, remark.as_str()))
        .collect();
    let ipc = "Remote Inter Process Communication";
    assert_eq!(
        output,
        [
            ("GAMES", 0, "Doom and Quake"),
            ("LASERJET", 1, ""),
            ("IPC$", 3, ipc)
        ]
    );
    let commands = &server.lock().unwrap().commands;
    let opens = [c::OPEN_ANDX, c::NT_CREATE_ANDX, c::OPEN];
    assert!(!commands.iter().any(|command| opens.contains(command)));
}

#[test]
fn a_share_password_is_sent_as_windows_9x_lm_response() {
    for profile in ["modern", "windows-95", "windows-98"] {
        let (mut pair, _) = joined(profile, "GAMES", "QUAKE", "quake");
        assert_eq!(list(&mut pair).len(), 1, "{profile}");
        let (mut pair, _) = joined(profile, "GAMES", "QUAKE", "doom");
        let refused = pair.run(Operation::Copy(CopySpec::get("HELLO.TXT")), &[]);
        assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
    }
}
