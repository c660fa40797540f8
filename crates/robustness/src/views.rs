//! Every view of a message at once: header, blocks along the chain, and the commands' requests.

use crate::replies;
use crate::see::see;
use coax_wire::{
    block::{Block, WireStr},
    command,
    header::{HEADER_LEN, Header},
    info,
    io::{Reader, Writer},
    smb,
};
use std::hint::black_box;

/// Commands of a message, in order, the 0xFF at the end of a chain included: what tshark lists as `smb.cmd`.
pub fn commands(message: &[u8]) -> Vec<u8> {
    let Ok(header) = Header::parse(message) else {
        return Vec::new();
    };
    let mut found = vec![header.command];
    let mut at = (header.command, HEADER_LEN);
    while command::is_andx(at.0) {
        let Ok(block) = Block::at(message, at.1) else {
            break;
        };
        let Some((next, offset)) = block.andx() else {
            found.extend((!block.words.is_empty()).then_some(0xff));
            break;
        };
        found.push(next);
        if offset <= at.1 {
            break;
        }
        at = (next, offset);
    }
    found
}

/// Looks at the message through every view there is, whatever command it says it is.
pub fn look(message: &[u8]) {
    let Ok(header) = Header::parse(message) else {
        return;
    };
    let mut again = Writer::default();
    header.emit(&mut again);
    assert_eq!(Header::parse(again.as_slice()), Ok(header));
    let mut at = HEADER_LEN;
    for _ in 0..16 {
        let Ok(block) = Block::at(message, at) else {
            return;
        };
        look_at_block(&block);
        match block.andx() {
            Some((_, next)) if next > at => at = next,
            _ => return,
        }
    }
}

/// Looks at one block through every view.
pub fn look_at_block(block: &Block<'_>) {
    assert!(block.bytes.len() <= usize::from(block.declared_bytes));
    assert_eq!(block.words.len(), usize::from(block.word_count()) * 2);
    for unicode in [false, true] {
        look_at_strings(block, unicode);
        look_at_opens(block, unicode);
        look_at_names(block, unicode);
        see(smb::session_setup_andx::Request::parse(block, unicode));
        see(smb::tree_connect_andx::Request::parse(block, unicode));
    }
    see(smb::negotiate::Request::parse(block));
    if let Ok(request) = smb::negotiate::Request::parse(block) {
        black_box(request.dialects().count());
    }
    look_at_transfers(block);
    replies::look_at_block(block);
    look_at_locks_and_raw(block);
    look_at_transactions(block);
    see(smb::tree_connect::Request::parse(block));
}

fn look_at_strings(block: &Block<'_>, unicode: bool) {
    let mut strings = block.strings(unicode);
    for _ in 0..8 {
        let _ = strings.format(4);
        black_box(strings.string());
        let _ = black_box(strings.counted(5));
    }
    let _ = black_box(strings.bytes(3, "bytes"));
    black_box((strings.rest().len(), strings.is_empty()));
}

fn look_at_opens(block: &Block<'_>, unicode: bool) {
    see(smb::open::Open::parse(block, unicode));
    see(smb::open::Create::parse(block, unicode));
    see(smb::open_andx::Request::parse(block, unicode));
    see(smb::nt_create_andx::Request::parse(block, unicode));
}

fn look_at_names(block: &Block<'_>, unicode: bool) {
    see(smb::copy::Request::parse(block, unicode));
    see(smb::delete::Request::parse(block, unicode));
    see(smb::directory::Request::parse(block, unicode));
    see(smb::search::Request::parse(block, unicode));
    see(smb::rename::Request::parse(block, unicode));
    see(smb::rename::NtRequest::parse(block, unicode));
    see(smb::query_information::parse_path(block, unicode));
    see(smb::set_information::Request::parse(block, unicode));
    see(smb::set_information::Request2::parse(block));
    see(smb::query_information::parse_fid(block));
    see(smb::query_information::Response::parse(block));
    see(smb::query_information::Response2::parse(block));
    see(smb::query_information_disk::Response::parse(block));
}

fn look_at_locks_and_raw(block: &Block<'_>) {
    see(smb::ioctl::Request::parse(block));
    see(smb::lock_byte_range::Request::parse(block));
    see(smb::locking_andx::Request::parse(block));
    see(smb::find_close2::Request::parse(block));
    see(smb::read_raw::Request::parse(block));
    see(smb::write_raw::Request::parse(block));
}

fn look_at_transactions(block: &Block<'_>) {
    use smb::transaction::{Kind, Request, Response, Secondary};
    for kind in [Kind::Transaction, Kind::Transaction2, Kind::NtTransact] {
        see(Request::parse(kind, block, false));
        see(Request::parse(kind, block, true));
        see(Secondary::parse(kind, block));
        see(Response::parse(kind, block));
    }
}

/// Parameters and data of transactions in every form they have: searches and opens, set levels, lists of extended attributes and their names.
pub fn look_at_levels(level: u16, data: &[u8]) {
    see(smb::find_first2::FindFirst2::parse(Reader::new(data)));
    see(smb::find_first2::FindNext2::parse(Reader::new(data)));
    see(smb::trans2_open2::Request::parse(data));
    see(smb::search::ResumeKey::parse(data));
    see(smb::nt_transact::Ioctl::parse(data));
    see(smb::nt_transact::NotifyChange::parse(data));
    see(smb::nt_transact::SecurityDesc::parse(data));
    see(smb::nt_transact::parse_full_eas(data));
    let path = WireStr {
        raw: data,
        unicode: false,
    };
    see(smb::nt_transact::Create::parse(data, data, path));
    look_at_what_is_set(level, data);
    replies::look_at_results(level, data);
    if let Ok(list) = info::ea::parse_list(data) {
        let mut again = Writer::default();
        info::ea::emit_list(list.iter().copied(), &mut again);
        assert_eq!(info::ea::parse_list(again.as_slice()), Ok(list));
    }
    if let Ok(chain) = info::ea::parse_chain(data) {
        let mut again = Writer::default();
        info::ea::emit_chain(chain.iter().copied(), &mut again);
        assert_eq!(info::ea::parse_chain(again.as_slice()), Ok(chain));
    }
    see(info::ea::parse_names(data));
}

/// What decodes encodes to the same, but for names that end in zeros, of which a decoder takes two away.
fn look_at_what_is_set(level: u16, data: &[u8]) {
    use info::set_file::SetFile;
    let set = SetFile::parse(level, data, true);
    let ends_in_zeros =
        matches!(&set, Ok(Some(SetFile::Rename(rename))) if rename.name.raw.ends_with(&[0, 0]));
    if let Ok(Some(set)) = set
        && !ends_in_zeros
    {
        let mut again = Writer::default();
        set.emit(&mut again);
        let parsed = SetFile::parse(set.code(), again.as_slice(), true);
        assert_eq!(parsed, Ok(Some(set)));
    }
    see(set);
}

fn look_at_transfers(block: &Block<'_>) {
    see(smb::close::Request::parse(block));
    see(smb::read::Request::parse(block));
    see(smb::read_andx::Request::parse(block));
    see(smb::seek::Request::parse(block));
    see(smb::write::Request::parse(block));
    see(smb::write::AndClose::parse(block));
    see(smb::write_andx::Request::parse(block));
}
