//! The session of a real MS-DOS client, recorded with a Windows 98 server, replayed with this one.
//!
//! Its requests go in byte for byte, but for the TIDs, UIDs and FIDs, which are those that this server gave. Each reply must
//! be one the client could live with: the same status and the same number of words, or a difference that stands in
//! [`DIFFERENCES`] with its reason.

use coax_robustness::{
    captures,
    engine::world::{Options, World},
};
use coax_wire::{
    block::Block,
    command as c,
    header::{Fid, Flags, Header, Tid, Uid},
    io::Writer,
    time::Span,
};
use std::collections::HashMap;

/// Where this server rightly answers otherwise: number of the request, its command, why.
const DIFFERENCES: &[(usize, u8, &str)] = &[
    (
        3,
        c::SEARCH,
        "a search for the volume's label: the recorded disk had none",
    ),
    (16, c::SEARCH, "the same again"),
];

struct Exchange {
    request: Vec<u8>,
    reply: Vec<u8>,
}

/// Requests from the negotiate on and their replies, without what came twice.
fn session() -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    let mut asked: Option<Vec<u8>> = None;
    for message in captures::messages("dos-win98-netbeui.pcap") {
        let header = Header::parse(&message).unwrap();
        let begun = !exchanges.is_empty() || asked.is_some() || header.command == c::NEGOTIATE;
        if !begun || header.command == c::TRANSACTION {
            continue;
        }
        if header.flags.has(Flags::REPLY) {
            if let Some(request) = asked.take() {
                let reply = message;
                exchanges.push(Exchange { request, reply });
            }
        } else {
            asked = Some(message);
        }
    }
    exchanges
}

/// What the recorded server called things, and what this one does.
#[derive(Default)]
struct Names {
    tids: HashMap<u16, u16>,
    uids: HashMap<u16, u16>,
    fids: HashMap<u16, u16>,
}

impl Names {
    /// The request as the client would have sent it to this server.
    fn translate(&self, message: &[u8]) -> Vec<u8> {
        let mut header = Header::parse(message).unwrap();
        header.tid = Tid(*self.tids.get(&header.tid.0).unwrap_or(&header.tid.0));
        header.uid = Uid(*self.uids.get(&header.uid.0).unwrap_or(&header.uid.0));
        let mut out = Writer::default();
        header.emit(&mut out);
        out.bytes(&message[32..]);
        if [c::CLOSE, c::WRITE, c::READ].contains(&header.command) {
            let fid = Fid(Block::first(message).unwrap().word(0).unwrap());
            out.patch_u16(33, *self.fids.get(&fid.0).unwrap_or(&fid.0));
        }
        out.into_vec()
    }

    fn learn(&mut self, recorded: &[u8], ours: &[u8]) {
        let (theirs, header) = (
            Header::parse(recorded).unwrap(),
            Header::parse(ours).unwrap(),
        );
        self.tids.insert(theirs.tid.0, header.tid.0);
        self.uids.insert(theirs.uid.0, header.uid.0);
        if header.command == c::OPEN_ANDX && header.status == 0 {
            let fid = |message| Block::first(message).unwrap().word(2).unwrap();
            self.fids.insert(fid(recorded), fid(ours));
        }
    }
}

fn shape(message: &[u8]) -> (u32, u8) {
    let status = Header::parse(message).unwrap().status;
    (status, Block::first(message).unwrap().word_count())
}

#[test]
fn a_real_dos_client_could_live_with_every_reply() {
    let mut world = World::new(Options {
        disk: "TEST",
        ..Options::default()
    });
    let client = world.connect();
    let mut names = Names::default();
    let mut wrong = Vec::new();
    let exchanges = session();
    assert!(exchanges.len() >= 20, "{}", exchanges.len());
    for (number, exchange) in exchanges.iter().enumerate() {
        let replies = world.give(client, &names.translate(&exchange.request));
        let command = exchange.request[4];
        let [reply] = replies.as_slice() else {
            panic!(
                "{} replies to request {number}, {command:#x}",
                replies.len()
            );
        };
        names.learn(&exchange.reply, reply);
        let (theirs, ours) = (shape(&exchange.reply), shape(reply));
        let excused = DIFFERENCES
            .iter()
            .any(|row| (row.0, row.1) == (number, command));
        if (theirs == ours) == excused {
            let name = c::name(command).unwrap_or("?");
            wrong.push(format!(
                "{number} {name} ({command:#x}): recorded {theirs:x?}, here {ours:x?}"
            ));
        }
        world.pass(Span::from_millis(100));
    }
    world.end();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
