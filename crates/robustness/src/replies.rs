//! Every view a client has of a server's replies.

use crate::see::see;
use coax_wire::{
    block::Block,
    command,
    error::Result,
    header::{Flags2, Header},
    info, rap,
    rpc::{self, srvsvc},
    smb::{
        self,
        find_entries::{Entries, Format},
        find_first2::{Found, Level},
        reassembly::Reassembly,
        transaction::{self, Kind},
    },
    status::reply::ReplyStatus,
    time::ZoneMinutesWest,
};
use std::hint::black_box;

/// Looks at one block through every view there is of replies.
pub fn look_at_block(block: &Block<'_>) {
    for unicode in [false, true] {
        see(smb::negotiate::Response::parse(block, unicode));
        see(smb::session_setup_andx::Response::parse(block, unicode));
        see(smb::tree_connect_andx::Response::parse(block, unicode));
        see(smb::copy::Response::parse(block, unicode));
    }
    see(smb::tree_connect::Response::parse(block));
    see(smb::echo::Response::parse(block));
    see(smb::ioctl::Response::parse(block));
    see(smb::print::Queue::parse(block));
    see(smb::print::parse_open_response(block));
    look_at_opens(block);
    look_at_transfers(block);
    look_at_searches(block);
    for kind in [Kind::Transaction, Kind::Transaction2, Kind::NtTransact] {
        look_at_transaction(kind, block);
    }
}

fn look_at_opens(block: &Block<'_>) {
    see(smb::open::OpenResponse::parse(block));
    see(smb::open::parse_create_response(block));
    see(smb::open::parse_create_temporary_response(block));
    see(smb::open_andx::Response::parse(block));
    see(smb::nt_create_andx::Response::parse(block));
}

/// Data that a view places in the message is there.
fn look_at_transfers(block: &Block<'_>) {
    if let Ok(reply) = smb::read::Response::parse(block) {
        assert!(block.message.get(reply.data).is_some());
    }
    if let Ok(reply) = smb::read_andx::Response::parse(block) {
        assert!(block.message.get(reply.data).is_some());
    }
    see(smb::seek::parse_response(block));
    see(smb::write::parse_response(block));
    see(smb::write_andx::Response::parse(block));
    for code in [command::WRITE_RAW, command::WRITE_COMPLETE, command::ECHO] {
        see(smb::write_raw::Response::parse(code, block));
    }
}

fn look_at_searches(block: &Block<'_>) {
    if let Ok(reply) = smb::search::Response::parse(block) {
        let entries = reply.entries().count();
        assert!(entries <= usize::from(reply.count));
        assert!(entries * smb::search::ENTRY_LEN <= block.bytes.len());
        reply.entries().for_each(|entry| see(Ok(entry)));
    }
}

fn look_at_transaction(kind: Kind, block: &Block<'_>) {
    const LIMIT: usize = 4096;
    let Ok(Some(reply)) = transaction::Response::parse(kind, block) else {
        return;
    };
    let mut whole = Reassembly::new(LIMIT, LIMIT);
    for _ in 0..2 {
        if let Ok(Some(whole)) = whole.push(&reply) {
            assert!(whole.parameters.len() <= LIMIT && whole.data.len() <= LIMIT);
            black_box(whole);
        }
    }
}

/// Looks at a transaction's results in every form they have: files, volumes, searches, changes.
pub fn look_at_results(level: u16, data: &[u8]) {
    if let Some(level) = info::file::Level::of(level) {
        see(info::file::FileInfo::parse(level, data));
    }
    if let Some(level) = info::volume::Level::of(level) {
        see(info::volume::VolumeInfo::parse(level, data, false));
        see(info::volume::VolumeInfo::parse(level, data, true));
    }
    for bits in 0..4u8 {
        see(Found::parse(data, bits & 1 != 0));
        let format = Format {
            level: Level::of(level).unwrap_or(Level::Standard),
            unicode: bits & 1 != 0,
            resume_keys: bits & 2 != 0,
            zone: ZoneMinutesWest(level as i16),
        };
        assert!(Entries::new(format, data, u16::MAX).count() <= data.len());
        Entries::new(format, data, level).for_each(see);
    }
    assert!(info::reply::streams(data).count() <= data.len());
    info::reply::streams(data).for_each(see);
    assert!(smb::nt_transact::changes(data).count() <= data.len());
    smb::nt_transact::changes(data).for_each(see);
    see(smb::nt_transact::parse_descriptor_len(data));
}

/// Looks at a RAP reply: `descriptor` of the records, and the bytes as parameters and as data.
pub fn look_at_rap(descriptor: &str, data: &[u8]) {
    see(rap::client::time_of_day(data));
    let Ok(reply) = rap::client::Reply::parse(data) else {
        return;
    };
    black_box(rap::client::shares(&reply, data));
    black_box(rap::client::servers(&reply, data));
    black_box(rap::client::server_info(&reply, data));
    let records = rap::client::records(descriptor, reply.entries, reply.converter, data);
    assert!(records.len() <= data.len());
}

/// Looks at what a pipe sent: PDU by PDU, as a bind's answer and as results.
pub fn look_at_pdus(mut stream: &[u8]) {
    let call_id = rpc::Header::parse(stream).map_or(0, |header| header.call_id);
    let mut reply = rpc::client::Assembly::new(call_id, 4096);
    while let Ok(Some((pdu, rest))) = rpc::client::Pdu::first(stream) {
        assert!(rest.len() < stream.len());
        see(rpc::client::Granted::parse(&pdu));
        if let Ok(rpc::client::Progress::Results(stub)) = reply.push(&pdu) {
            assert!(stub.len() <= 4096);
            see(srvsvc::parse_share_enum_results(&stub));
        }
        stream = rest;
    }
    see(srvsvc::parse_share_enum_results(stream));
}

/// Whether the first block of a reply is understood by the view of its command: for commands that have one, and unless
/// the reply is an error's or an interim one.
pub fn understood(message: &[u8]) -> Option<Result<()>> {
    let header = Header::parse(message).ok()?;
    let block = Block::first(message).ok()?;
    black_box(ReplyStatus::of(&header).to_string());
    let is_reply = header.flags.has(coax_wire::header::Flags::REPLY);
    if !is_reply || block.words.is_empty() {
        return None;
    }
    let unicode = header.flags2.has(Flags2::UNICODE);
    let b = &block;
    Some(match header.command {
        command::NEGOTIATE => smb::negotiate::Response::parse(b, unicode).map(drop),
        command::SESSION_SETUP_ANDX => {
            smb::session_setup_andx::Response::parse(b, unicode).map(drop)
        }
        command::TREE_CONNECT_ANDX => smb::tree_connect_andx::Response::parse(b, unicode).map(drop),
        command::TREE_CONNECT => smb::tree_connect::Response::parse(b).map(drop),
        command::NT_CREATE_ANDX => smb::nt_create_andx::Response::parse(b).map(drop),
        command::OPEN_ANDX => smb::open_andx::Response::parse(b).map(drop),
        command::READ_ANDX => smb::read_andx::Response::parse(b).map(drop),
        command::WRITE_ANDX => smb::write_andx::Response::parse(b).map(drop),
        command::WRITE => smb::write::parse_response(b).map(drop),
        command::SEARCH => smb::search::Response::parse(b).map(drop),
        command::ECHO => smb::echo::Response::parse(b).map(drop),
        command::QUERY_INFORMATION => smb::query_information::Response::parse(b).map(drop),
        command::QUERY_INFORMATION_DISK => {
            smb::query_information_disk::Response::parse(b).map(drop)
        }
        code => transaction::Response::parse(Kind::of(code)?, b).map(drop),
    })
}
