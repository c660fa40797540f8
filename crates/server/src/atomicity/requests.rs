//! Requests in the form of each dialect, with one call each.

use super::{CORE, LANMAN1, LANMAN2};
use crate::testkit::{Answer, TestClient, block};
use alloc::{vec, vec::Vec};
use coax_wire::{
    command as c,
    header::{Fid, HEADER_LEN, Tid},
    info::ea::{self, Ea},
    io::Writer,
    security::{Ace, Acl, Descriptor, Sid, ace_type},
    smb::{nt_transact, read_raw, write_raw},
};

pub(super) const ALL_ACCESS: u32 = 0x001f_01ff;
/// Dispositions of NT_CREATE_ANDX.
pub(super) const SUPERSEDE: u32 = 0;
pub(super) const OPEN: u32 = 1;
pub(super) const CREATE: u32 = 2;
pub(super) const OVERWRITE_IF: u32 = 5;
/// Create options.
pub(super) const DIRECTORY: u32 = 1;
pub(super) const DELETE_ON_CLOSE: u32 = 0x1000;

pub(super) fn done(answer: &Answer) -> bool {
    answer.status() == 0
}

fn dialect(client: &TestClient) -> &'static str {
    client.conn.context.client.dialect.unwrap().name
}

/// Connects another share.
pub(super) fn connect(client: &mut TestClient, share: &str) {
    if dialect(client) != CORE {
        return client.connect_share(share);
    }
    let bytes: Vec<u8> = [b"\x04", share.as_bytes(), b"\0\x04\0\x04?????\0"].concat();
    let reply = client.request(c::TREE_CONNECT, &[], &bytes).ok();
    client.header.tid = Tid(reply.word(1));
}

/// Connects another share and returns its tree. The client continues to use its own.
pub(super) fn second_tree(client: &mut TestClient, share: &str) -> u16 {
    let own = client.header.tid;
    connect(client, share);
    let tid = client.header.tid.0;
    client.header.tid = own;
    tid
}

pub(super) fn make_and_delete(client: &mut TestClient, name: &str) -> bool {
    let made = done(&client.paths(c::CREATE_DIRECTORY, &[], &[name]));
    let opened = open_as_dialect(client, "G");
    let closed = done(&client.close(opened));
    made && closed && done(&client.paths(c::DELETE_DIRECTORY, &[], &[name]))
}

/// Opens an existing file for reading and writing, in the form of the dialect.
pub(super) fn open_as_dialect(client: &mut TestClient, path: &str) -> u16 {
    match dialect(client) {
        CORE => client.paths(c::OPEN, &[0x42, 0x16], &[path]).ok().word(0),
        LANMAN1 | LANMAN2 => fid_of_open_andx(&open_andx(client, path, (0x42, 0x01), 0).ok()),
        _ => nt_fid(&client.nt_create(path, ALL_ACCESS, (OPEN, 0)).ok()),
    }
}

/// OPEN_ANDX with access mode, open mode and allocation size.
pub(super) fn open_andx(
    client: &mut TestClient,
    path: &str,
    (access, how): (u16, u16),
    allocation: u16,
) -> Answer {
    let block = open_andx_block(client, path, (access, how), allocation);
    client.send_block(c::OPEN_ANDX, &block)
}

fn open_andx_block(
    client: &TestClient,
    path: &str,
    (access, how): (u16, u16),
    allocation: u16,
) -> Vec<u8> {
    let bytes = client.string(path, HEADER_LEN + 1 + 30 + 2);
    let words = [
        0xff, 0, 0, access, 0x16, 0x20, 0, 0, how, allocation, 0, 0, 0, 0, 0,
    ];
    block(&words, &bytes)
}

pub(super) fn fid_of_open_andx(answer: &Answer) -> u16 {
    answer.word(2)
}

/// Sends a chain of commands; this function fills in the AndX part of each block.
pub(super) fn chain(client: &mut TestClient, mut parts: Vec<(u8, Vec<u8>)>) -> Answer {
    let mut at = HEADER_LEN;
    for i in 0..parts.len() {
        at += parts[i].1.len();
        let next = parts.get(i + 1).map_or(0xff, |(command, _)| *command);
        // CLOSE ends a chain and has no AndX part.
        if parts[i].0 != c::CLOSE {
            parts[i].1[1] = next;
            parts[i].1[3..5].copy_from_slice(&(at as u16).to_le_bytes());
        }
    }
    let whole: Vec<u8> = parts.iter().flat_map(|(_, block)| block.clone()).collect();
    client.send_block(parts[0].0, &whole)
}

pub(super) fn open_part(client: &TestClient, path: &str, how: u16) -> (u8, Vec<u8>) {
    (c::OPEN_ANDX, open_andx_block(client, path, (0x42, how), 0))
}

pub(super) fn read_part(count: u16) -> (u8, Vec<u8>) {
    (
        c::READ_ANDX,
        block(&[0xff, 0, 0, 0, 0, count, 0, 0, 0, 0], b""),
    )
}

pub(super) fn close_part() -> (u8, Vec<u8>) {
    (c::CLOSE, block(&[0, 0, 0], b""))
}

pub(super) fn nt_fid(answer: &Answer) -> u16 {
    let words = answer.block().words;
    u16::from_le_bytes([words[5], words[6]])
}

/// NT_CREATE_ANDX that reserves space.
pub(super) fn nt_create_sized(
    client: &mut TestClient,
    path: &str,
    disposition: u32,
    allocation: u32,
) -> Answer {
    let mut out = vec![24, 0xff, 0, 0, 0, 0];
    let name = client.string(path, HEADER_LEN + 1 + 48 + 2);
    out.extend((name.len() as u16).to_le_bytes());
    for field in [0, 0, ALL_ACCESS, allocation, 0, 0x80, 7, disposition, 0, 2] {
        out.extend(u32::to_le_bytes(field));
    }
    out.push(0);
    out.extend((name.len() as u16).to_le_bytes());
    out.extend(name);
    client.send_block(c::NT_CREATE_ANDX, &out)
}

fn nt_transact(
    client: &mut TestClient,
    function: u16,
    parameters: &[u8],
    data: &[u8],
    max: (u32, u32),
) -> Answer {
    let request = nt_transact::request(function, b"", parameters, data, max);
    let mut out = Writer::default();
    request.emit(out.zeros(HEADER_LEN));
    let block = out.as_slice()[HEADER_LEN..].to_vec();
    client.send_block(c::NT_TRANSACT, &block)
}

/// NT_TRANSACT_CREATE with a descriptor and an extended attribute.
pub(super) fn nt_transact_create(
    client: &mut TestClient,
    path: &str,
    disposition: u32,
    options: u32,
) -> Answer {
    let descriptor = descriptor();
    let eas = b"\0\0\0\0\0\x07\x03\0COMMENT\0new";
    let name = client.string(path, 1);
    let numbers = [0, 0, ALL_ACCESS, 0, 0, 0x80, 7, disposition, options];
    let lens = [descriptor.len(), eas.len(), name.len() - 1, 2].map(|len| len as u32);
    let numbers = numbers.into_iter().chain(lens);
    let mut parameters: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
    parameters.push(0);
    parameters.extend(name);
    let mut data = descriptor;
    let pad = data.len().next_multiple_of(4);
    data.resize(pad, 0);
    data.extend(eas);
    // The lengths determine the offset of the attributes, so the length of the descriptor includes its padding.
    parameters[36..40].copy_from_slice(&(pad as u32).to_le_bytes());
    nt_transact(client, 1, &parameters, &data, (100, 0))
}

fn descriptor() -> Vec<u8> {
    let everything = Ace {
        kind: ace_type::ALLOWED,
        flags: 0,
        mask: ALL_ACCESS,
        sid: Sid::everyone(),
    };
    let descriptor = Descriptor {
        dacl: Some(Some(Acl {
            aces: vec![everything],
        })),
        ..Descriptor::default()
    };
    descriptor.to_bytes()
}

pub(super) fn set_security(client: &mut TestClient, fid: u16) -> Answer {
    let mut parameters = fid.to_le_bytes().to_vec();
    parameters.extend([0, 0, 4, 0, 0, 0]);
    nt_transact(client, 3, &parameters, &descriptor(), (0, 0))
}

pub(super) fn query_security(client: &mut TestClient, fid: u16) -> Answer {
    let mut parameters = fid.to_le_bytes().to_vec();
    parameters.extend([0, 0, 4, 0, 0, 0]);
    nt_transact(client, 6, &parameters, b"", (4, 1000))
}

/// A list of extended attributes.
pub(super) fn ea_list(eas: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Writer::default();
    let eas = eas.iter().map(|(name, value)| Ea {
        flags: 0,
        name: name.as_bytes(),
        value: value.as_bytes(),
    });
    ea::emit_list(eas, &mut out);
    out.into_vec()
}

/// TRANS2_OPEN2 with two extended attributes.
pub(super) fn open2(client: &mut TestClient, path: &str, how: u16, eas: bool) -> Answer {
    let mut out = Writer::default();
    out.u16(0).u16(0x42).u16(0).u16(0x20);
    out.u32(0).u16(how).u32(0);
    out.zeros(10).bytes(&client.string(path, 0));
    let list = match eas {
        true => ea_list(&[("COMMENT", "new"), ("TYPE", "text")]),
        false => Vec::new(),
    };
    client.trans2(0, &out.into_vec(), &list).answer
}

/// FileRenameInformation.
pub(super) fn rename_to(client: &TestClient, name: &str, replace: bool) -> Vec<u8> {
    let name = client.string(name, 0);
    let end = if client.header.unicode() { 2 } else { 1 };
    let name = &name[..name.len() - end];
    let mut data = vec![u8::from(replace), 0, 0, 0, 0, 0, 0, 0];
    data.extend((name.len() as u32).to_le_bytes());
    data.extend(name);
    data
}

/// FileBasicInformation with a last-write time and attributes.
pub(super) fn basic(attributes: u32) -> Vec<u8> {
    let time = 0x01dd_0000_0000_0000u64;
    let mut data = Vec::new();
    for time in [time, 0, time, 0] {
        data.extend(time.to_le_bytes());
    }
    data.extend(attributes.to_le_bytes());
    data.extend([0; 4]);
    data
}

pub(super) fn write_andx(client: &mut TestClient, fid: u16, mode: u16, data: &[u8]) -> Answer {
    let at = (HEADER_LEN + 1 + 24 + 2) as u16;
    let words = [0xff, 0, fid, 0, 0, 0, 0, mode, 0, 0, data.len() as u16, at];
    client.request(c::WRITE_ANDX, &words, data)
}

/// A buffer format, a length and data, in the form of core commands.
pub(super) fn piece(data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![1];
    bytes.extend((data.len() as u16).to_le_bytes());
    bytes.extend(data);
    bytes
}

pub(super) fn write(client: &mut TestClient, command: u8, fid: u16, data: &[u8]) -> Answer {
    client.request(command, &[fid, data.len() as u16, 0, 0, 0], &piece(data))
}

/// Whether READ_RAW returned data.
pub(super) fn read_raw(client: &mut TestClient, fid: u16) -> bool {
    let mut out = Writer::default();
    read_raw::Request {
        fid: Fid(fid),
        offset: 0,
        max_count: 100,
        min_count: 0,
        timeout_ms: 0,
    }
    .emit(&mut out);
    client.post(c::READ_RAW, out.as_slice());
    !client.raw_answer().unwrap().is_empty()
}

/// WRITE_RAW in write-through mode, with some data in the request and some after it.
pub(super) fn write_raw(client: &mut TestClient, fid: u16) -> bool {
    let request = write_raw::Request {
        fid: Fid(fid),
        count: 8,
        offset: 0,
        timeout_ms: 0,
        mode: write_raw::mode::WRITE_THROUGH,
        data: b"RAWD",
    };
    let mut out = Writer::default();
    out.zeros(HEADER_LEN);
    request.emit(&mut out);
    let first = client.send_block(c::WRITE_RAW, &out.as_slice()[HEADER_LEN..]);
    if first.header.command != c::WRITE_RAW || !done(&first) {
        return false;
    }
    client.post_raw(b"ATA!");
    done(&client.answer().unwrap())
}

/// COPY or MOVE, into the tree `to_tree`.
pub(super) fn copy(
    client: &mut TestClient,
    command: u8,
    (to_tree, open_function, flags): (u16, u16, u16),
    (from, to): (&str, &str),
) -> Answer {
    let bytes: Vec<u8> = [from.as_bytes(), b"\0", to.as_bytes(), b"\0"].concat();
    client.request(command, &[to_tree, open_function, flags], &bytes)
}

pub(super) fn nt_rename(client: &mut TestClient, level: u16, from: &str, to: &str) -> Answer {
    client.paths(c::NT_RENAME, &[0x16, level, 0, 0], &[from, to])
}

/// Words and a name, as parameters of TRANS2.
pub(super) fn parameters(client: &TestClient, words: &[u16], name: &str) -> Vec<u8> {
    let words = words.iter().flat_map(|word| word.to_le_bytes());
    words.chain(client.string(name, 0)).collect()
}

/// SEARCH, FIND, FIND_UNIQUE or FIND_CLOSE with count, attributes, path and resume key.
pub(super) fn search(
    client: &mut TestClient,
    command: u8,
    count: u16,
    path: &str,
    key: &[u8],
) -> Answer {
    let mut bytes = vec![4];
    bytes.extend(client.string(path, HEADER_LEN + 1 + 4 + 2 + 1));
    bytes.extend([5, key.len() as u8, 0]);
    bytes.extend(key);
    client.request(command, &[count, 0x16], &bytes)
}

/// The key of the last entry that a search found.
pub(super) fn last_key(answer: &Answer) -> Vec<u8> {
    let bytes = answer.bytes();
    let last = bytes[3..].chunks_exact(43).next_back().unwrap();
    last[..21].to_vec()
}
