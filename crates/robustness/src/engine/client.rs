//! One client of a [`super::world::World`]: its connection, what it learnt from replies, what it may still be sent.

use super::flag::Flag;
use coax_server::Connection;
use coax_wire::{
    block::Block,
    command as c,
    header::{Flags, HEADER_LEN, Header},
    io::Writer,
};
use std::{collections::BTreeMap, sync::Arc};

/// Numbers that replies gave, oldest first; a few of each.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// FIDs.
    pub fids: Vec<u16>,
    /// TIDs.
    pub tids: Vec<u16>,
    /// UIDs.
    pub uids: Vec<u16>,
    /// SIDs of TRANS2 searches.
    pub sids: Vec<u16>,
    /// Resume keys of core searches.
    pub resume_keys: Vec<Vec<u8>>,
}

/// A client.
#[derive(Debug)]
pub struct Client {
    /// The server's end.
    pub conn: Connection,
    /// Set when the server wants to be woken for this client.
    pub woken: Arc<Flag>,
    /// What its requests' headers say.
    pub header: Header,
    /// What it learnt.
    pub known: Known,
    /// The last MID used.
    pub mid: u16,
    /// The disconnect has been handled.
    pub gone: bool,
    owed: BTreeMap<u16, usize>,
    owed_raw: usize,
}

/// The longest message there may be: READ_ANDX fills 17 bits of length.
const LONGEST: usize = 0x1_ffff;

impl Client {
    /// A client at the other end of `conn`.
    pub fn new(conn: Connection, woken: Arc<Flag>) -> Self {
        Self {
            conn,
            woken,
            header: Header::default(),
            known: Known::default(),
            mid: 0,
            gone: false,
            owed: BTreeMap::new(),
            owed_raw: 0,
        }
    }

    /// The next request's message: its header with a fresh MID, and this block.
    pub fn message(&mut self, command: u8, block: &[u8]) -> Vec<u8> {
        self.mid = if self.mid >= 0xfff0 { 1 } else { self.mid + 1 };
        let header = Header {
            command,
            mid: coax_wire::header::Mid(self.mid),
            ..self.header
        };
        let mut out = Writer::default();
        header.emit(&mut out);
        out.bytes(block);
        out.into_vec()
    }

    /// Notes what may be answered to `message`.
    pub fn note_sent(&mut self, message: &[u8]) {
        let Ok(header) = Header::parse(message) else {
            return;
        };
        *self.owed.entry(header.mid.0).or_default() += replies_to(message);
        if header.command == c::READ_RAW {
            self.owed_raw += 1;
        }
    }

    /// Judges a message from the server and learns from it.
    pub fn note_received(&mut self, message: &[u8]) {
        assert!(message.len() <= LONGEST, "{} bytes", message.len());
        let parsed = Header::parse(message).ok();
        let Some(header) = parsed.filter(|header| self.is_expected(header)) else {
            assert!(
                self.owed_raw > 0,
                "neither a reply nor raw data: {:02x?}",
                &message[..message.len().min(80)]
            );
            self.owed_raw -= 1;
            return;
        };
        if header.mid.0 == 0xffff
            && header.command == c::LOCKING_ANDX
            && !header.flags.has(Flags::REPLY)
        {
            return;
        }
        *self.owed.get_mut(&header.mid.0).unwrap() -= 1;
        self.learn(&header, message);
    }

    fn is_expected(&self, header: &Header) -> bool {
        let is_break = header.command == c::LOCKING_ANDX && header.mid.0 == 0xffff;
        let owed = self.owed.get(&header.mid.0).is_some_and(|left| *left > 0);
        (is_break && !header.flags.has(Flags::REPLY)) || (owed && header.flags.has(Flags::REPLY))
    }

    fn learn(&mut self, header: &Header, message: &[u8]) {
        let mut at = (header.command, HEADER_LEN);
        loop {
            let block = Block::at(message, at.1).expect("a whole block");
            if at.0 != c::READ_ANDX {
                assert_eq!(
                    block.bytes.len(),
                    usize::from(block.declared_bytes),
                    "{:#x}",
                    at.0
                );
            }
            self.learn_from(at.0, header, &block);
            let next = block
                .andx()
                .filter(|_| c::is_andx(at.0) && !block.words.is_empty());
            let Some((command, offset)) = next.filter(|_| header.status == 0) else {
                return;
            };
            assert!(offset > at.1, "the AndX offset of a chain must increase");
            at = (command, offset);
        }
    }

    fn learn_from(&mut self, command: u8, header: &Header, block: &Block<'_>) {
        let word = |index| block.word(index).ok();
        match command {
            c::OPEN | c::CREATE | c::CREATE_NEW | c::CREATE_TEMPORARY | c::OPEN_PRINT_FILE => {
                keep(&mut self.known.fids, word(0));
            }
            c::OPEN_ANDX => keep(&mut self.known.fids, word(2)),
            c::NT_CREATE_ANDX => {
                let fid = word(2).zip(word(3)).map(|(low, high)| low >> 8 | high << 8);
                keep(&mut self.known.fids, fid);
            }
            c::TREE_CONNECT => keep(&mut self.known.tids, word(1)),
            c::TREE_CONNECT_ANDX => keep(&mut self.known.tids, Some(header.tid.0)),
            c::SESSION_SETUP_ANDX => keep(&mut self.known.uids, Some(header.uid.0)),
            c::TRANSACTION2 => self.learn_sid(block),
            c::SEARCH | c::FIND => {
                let key = block.bytes.get(3..24).map(<[u8]>::to_vec);
                self.known.resume_keys.extend(key);
                cut(&mut self.known.resume_keys);
            }
            _ => {}
        }
    }

    fn learn_sid(&mut self, block: &Block<'_>) {
        let offset = block.word(4).map(usize::from);
        let sid = offset.and_then(|offset| block.slice(offset, 2, "SID"));
        keep(
            &mut self.known.sids,
            sid.ok().map(|sid| u16::from_le_bytes([sid[0], sid[1]])),
        );
    }
}

fn keep(list: &mut Vec<u16>, found: Option<u16>) {
    list.extend(found);
    cut(list);
}

fn cut<T>(list: &mut Vec<T>) {
    let over = list.len().saturating_sub(8);
    list.drain(..over);
}

/// How many replies a request may get at most: one; ECHO as many as it asks for up to a hundred; transactions may come in
/// pieces; a raw write has an interim reply.
fn replies_to(message: &[u8]) -> usize {
    let commands = crate::views::commands(message);
    let echoes = if commands.contains(&c::ECHO) { 100 } else { 0 };
    let pieces = [
        c::TRANSACTION,
        c::TRANSACTION_SECONDARY,
        c::TRANSACTION2,
        c::TRANSACTION2_SECONDARY,
        c::NT_TRANSACT,
        c::NT_TRANSACT_SECONDARY,
        c::IOCTL,
    ];
    let pieces = if commands.iter().any(|command| pieces.contains(command)) {
        300
    } else {
        0
    };
    let interim = usize::from(commands.contains(&c::WRITE_RAW));
    1 + echoes + pieces + interim
}
