//! Pipes over the wire: as smbclient and Windows use them, and RAP requests of DOS clients.

use crate::testkit::{Answer, TestClient, TestServer};
use coax_wire::{
    block::WireStr,
    command as c,
    header::HEADER_LEN,
    io::Writer,
    rpc::{self, Bind, Context, Header, NDR, Request as RpcRequest, pfc, ptype},
    smb::transaction::{Kind, Request, Response},
    status::Status,
};
use std::{vec, vec::Vec};

fn ipc_client(dialect: &str) -> TestClient {
    let mut client = TestServer::new().client(dialect);
    client.connect_share("IPC$");
    client
}

/// A TRANSACTION with `setup` on `name`.
fn transaction(
    client: &mut TestClient,
    name: &str,
    setup: &[u16],
    parameters: &[u8],
    data: &[u8],
    max_data: u32,
) -> Answer {
    let unicode = client.header.unicode();
    let raw: Vec<u8> = if unicode {
        name.encode_utf16().flat_map(u16::to_le_bytes).collect()
    } else {
        name.bytes().collect()
    };
    let setup: Vec<u8> = setup.iter().flat_map(|word| word.to_le_bytes()).collect();
    let request = Request {
        kind: Kind::Transaction,
        total_parameters: parameters.len() as u32,
        total_data: data.len() as u32,
        max_parameters: 1024,
        max_data,
        max_setup: 0,
        flags: 0,
        timeout_ms: 0,
        function: 0,
        setup: &setup,
        name: WireStr { raw: &raw, unicode },
        parameters,
        data,
    };
    let mut out = Writer::default();
    request.emit(out.zeros(HEADER_LEN));
    let block = out.as_slice()[HEADER_LEN..].to_vec();
    client.send_block(c::TRANSACTION, &block)
}

fn parts(answer: &Answer) -> (Vec<u8>, Vec<u8>) {
    let block = answer.block();
    let response = Response::parse(Kind::Transaction, &block).unwrap().unwrap();
    (response.parameters.to_vec(), response.data.to_vec())
}

fn bind() -> Vec<u8> {
    let mut out = Writer::default();
    Bind {
        max_transmit: 4280,
        max_receive: 4280,
        group: 0,
        contexts: vec![Context {
            id: 0,
            interface: rpc::srvsvc::INTERFACE,
            transfers: vec![NDR],
        }],
    }
    .emit(1, &mut out);
    out.into_vec()
}

/// NetrShareEnum level 1.
fn share_enum() -> Vec<u8> {
    let stub: Vec<u8> = [0u32, 1, 1, 0x20000, 0, 0, 0xffff_ffff, 0]
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .collect();
    let mut out = Writer::default();
    let request = RpcRequest {
        context: 0,
        opnum: 15,
        stub: &stub,
    };
    request.emit(pfc::FIRST | pfc::LAST, 2, &mut out);
    out.into_vec()
}

fn open(client: &mut TestClient, name: &str) -> Answer {
    let name = client.string(name, 0);
    let len = (name.len() - 2) as u16;
    let mut block = vec![24, 0xff, 0, 0, 0, 0];
    block.extend(len.to_le_bytes());
    block.extend(
        [0u32, 0, 0x2019f, 0, 0, 0, 3, 1, 0, 2]
            .iter()
            .flat_map(|n| n.to_le_bytes()),
    );
    block.push(0);
    let bytes: Vec<u8> = [vec![0], name].concat();
    block.extend((bytes.len() as u16).to_le_bytes());
    block.extend(bytes);
    client.send_block(c::NT_CREATE_ANDX, &block)
}

fn fid_of(answer: &Answer) -> u16 {
    let words = answer.block().words;
    u16::from_le_bytes([words[5], words[6]])
}

fn write_andx(client: &mut TestClient, fid: u16, mode: u16, data: &[u8]) -> Answer {
    let at = (HEADER_LEN + 1 + 24 + 2) as u16;
    let words = [0xff, 0, fid, 0, 0, 0, 0, mode, 0, 0, data.len() as u16, at];
    client.request(c::WRITE_ANDX, &words, data)
}

#[test]
fn shares_are_listed_by_writing_and_reading_a_pipe() {
    let mut client = ipc_client("NT LM 0.12");
    let opened = open(&mut client, "\\SRVSVC").ok();
    let fid = fid_of(&opened);
    write_andx(&mut client, fid, 8, &bind()).ok();
    let words = [0xff, 0, fid, 0, 0, 1024, 1024, 0xffff, 0xffff, 1024];
    let ack = client.request(c::READ_ANDX, &words, b"").ok();
    assert_eq!(ack.message[usize::from(ack.word(6)) + 2], ptype::BIND_ACK);
    // The length prefix of the raw pipe is not part of the message.
    let call = share_enum();
    let prefixed = [&(call.len() as u16).to_le_bytes()[..], &call].concat();
    let written = write_andx(&mut client, fid, 0xc, &prefixed).ok();
    assert_eq!(usize::from(written.word(2)), prefixed.len());
    let short = [0xff, 0, fid, 0, 0, 40, 40, 0, 0, 0];
    let first = client.request(c::READ_ANDX, &short, b"");
    first.refused(Status::BUFFER_OVERFLOW);
    assert_eq!(first.word(5), 40);
    let rest = client.request(c::READ_ANDX, &words, b"").ok();
    assert!(rest.word(5) > 40);
    let empty = client.request(c::READ_ANDX, &words, b"");
    empty.refused(Status::PIPE_EMPTY);
    client.close(fid).ok();
}

#[test]
fn a_transaction_writes_and_reads_at_once_and_the_rest_is_read() {
    let mut client = ipc_client("NT LM 0.12");
    let opened = open(&mut client, "\\SrvSvc").ok();
    let fid = fid_of(&opened);
    let ack = transaction(&mut client, "\\PIPE\\", &[0x26, fid], b"", &bind(), 4280).ok();
    assert_eq!(
        Header::parse(&parts(&ack).1).unwrap().ptype,
        ptype::BIND_ACK
    );
    let answer = transaction(
        &mut client,
        "\\PIPE\\",
        &[0x26, fid],
        b"",
        &share_enum(),
        64,
    );
    answer.refused(Status::BUFFER_OVERFLOW);
    assert_eq!(parts(&answer).1.len(), 64);
    let busy = transaction(
        &mut client,
        "\\PIPE\\",
        &[0x26, fid],
        b"",
        &share_enum(),
        64,
    );
    busy.refused(Status::PIPE_BUSY);
    let peeked = transaction(&mut client, "\\PIPE\\", &[0x23, fid], b"", b"", 8);
    peeked.refused(Status::BUFFER_OVERFLOW);
    let (counts, data) = parts(&peeked);
    assert_eq!((counts[4], data.len()), (3, 8));
    let rest = transaction(&mut client, "\\PIPE\\", &[0x11, fid], b"", b"", 4280).ok();
    let rest = parts(&rest).1;
    assert_eq!(counts[..2], (rest.len() as u16).to_le_bytes());
    let names: Vec<u8> = "DISK".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(rest.windows(8).any(|window| window == names));
}

#[test]
fn a_pipes_state_can_be_queried_and_set() {
    let mut client = ipc_client("NT LM 0.12");
    let fid = fid_of(&open(&mut client, "\\wkssvc").ok());
    let state = |client: &mut TestClient| {
        parts(&transaction(client, "\\PIPE\\", &[0x21, fid], b"", b"", 0).ok()).0
    };
    assert_eq!(state(&mut client), [0xff, 0x05]);
    transaction(&mut client, "\\PIPE\\", &[0x01, fid], b"\0\x80", b"", 0).ok();
    assert_eq!(state(&mut client), [0xff, 0x84]);
    let info = transaction(&mut client, "\\PIPE\\", &[0x22, fid], b"\x01\0", b"", 100).ok();
    let name: Vec<u8> = "\\PIPE\\wkssvc\0"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(parts(&info).1[7..], name);
}

#[test]
fn missing_pipes_are_not_found_and_unknown_fids_are_invalid() {
    let mut client = ipc_client("NT LM 0.12");
    open(&mut client, "\\lsarpc").refused(Status::OBJECT_NAME_NOT_FOUND);
    let wait = transaction(&mut client, "\\PIPE\\samr", &[0x53, 0], b"", b"", 0);
    wait.refused(Status::OBJECT_NAME_NOT_FOUND);
    transaction(&mut client, "\\PIPE\\srvsvc", &[0x53, 0], b"", b"", 0).ok();
    let bad = transaction(&mut client, "\\PIPE\\", &[0x26, 99], b"", b"", 0);
    bad.refused(Status::INVALID_HANDLE);
}

#[test]
fn one_call_opens_exchanges_and_closes() {
    let mut client = ipc_client("LANMAN1.0");
    let answer = transaction(
        &mut client,
        "\\PIPE\\srvsvc",
        &[0x54, 0],
        b"",
        &bind(),
        1000,
    )
    .ok();
    assert_eq!(
        Header::parse(&parts(&answer).1).unwrap().ptype,
        ptype::BIND_ACK
    );
    assert!(client.conn.is_idle());
}

#[test]
fn a_lan_manager_client_lists_shares_without_opening_the_pipe() {
    for dialect in ["LANMAN1.0", "NT LM 0.12"] {
        let mut client = ipc_client(dialect);
        let request = b"\0\0WrLeh\0B13BWz\0\x01\0\0\x10";
        let answer = transaction(&mut client, "\\PIPE\\LANMAN", &[], request, b"", 4096).ok();
        let (parameters, data) = parts(&answer);
        assert_eq!(parameters, [0, 0, 0, 0, 2, 0, 2, 0]);
        assert!(data.starts_with(b"DISK\0"));
    }
}

#[test]
fn pipes_are_served_on_ipc_only_and_rap_everywhere() {
    let mut client = TestServer::new().client("NT LM 0.12");
    let refused = transaction(&mut client, "\\PIPE\\srvsvc", &[0x53, 0], b"", b"", 0);
    refused.refused(Status::ACCESS_DENIED);
    transaction(&mut client, "\\PIPE\\LANMAN", &[], b"\0\0", b"", 0).ok();
}
