//! Bytes as a story: clients come, ask, wait and go, in every dialect, on one server.

use super::{
    material, request,
    world::{Options, World},
};
use crate::choices::Choices;
use coax_server::{memfs::Fault, vfs::VfsError};
use coax_wire::{
    block::Block,
    command as c,
    header::{Flags, Flags2, HEADER_LEN, Pid, Tid, Uid},
    time::Span,
};

/// The dialects a client may speak: the name it offers, and how far it goes by itself.
pub const DIALECTS: &[&str] = &[
    "PC NETWORK PROGRAM 1.0",
    "PCLAN1.0",
    "MICROSOFT NETWORKS 1.03",
    "MICROSOFT NETWORKS 3.0",
    "LANMAN1.0",
    "LM1.2X002",
    "DOS LM1.2X002",
    "LANMAN2.1",
    "DOS LANMAN2.1",
    "Windows for Workgroups 3.1a",
    "NT LANMAN 1.0",
    "NT LM 0.12",
];

const MAX_STEPS: usize = 200;
const MAX_CLIENTS: usize = 4;

/// Plays the script that `data` is.
pub fn play(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mut world = World::new(Options::from_choices(&mut choices));
    let mut current = arrive(&mut world, &mut choices);
    for _ in 0..MAX_STEPS {
        if choices.is_done() {
            break;
        }
        current = step(&mut world, current, &mut choices);
    }
    world.end();
}

/// One step; says which client is to act next.
fn step(world: &mut World, client: usize, choices: &mut Choices<'_>) -> usize {
    match choices.below(32) {
        0..=19 => ask(world, client, choices),
        20..=22 => ask_chained(world, client, choices),
        23 => {
            let noise = choices.counted();
            world.give(client, noise);
        }
        24 => {
            let (command, noise) = (choices.u8(), choices.counted());
            world.request(client, command, noise);
        }
        25 => {
            let ms = [0, 1, 100, 2_000, 31_000, 3_600_000];
            world.pass(Span::from_millis(*choices.one_of(&ms)));
        }
        26 => return arrive(world, choices),
        27 => world.disconnect(client),
        28 | 29 => return choices.below(world.clients.len()),
        30 => change_header(world, client, choices),
        _ => break_disk(world, choices),
    }
    client
}

fn ask(world: &mut World, client: usize, choices: &mut Choices<'_>) {
    let own = &world.clients[client];
    let (command, block) = request::build(choices, &own.known, own.header.unicode());
    let replies = world.request(client, command, &block);
    follow(world, client, &replies);
}

/// A client uses the UID and TID it was given last.
fn follow(world: &mut World, client: usize, replies: &[Vec<u8>]) {
    let own = &mut world.clients[client];
    let last = replies.last().and_then(|reply| reply.get(4)).copied();
    match last {
        Some(c::SESSION_SETUP_ANDX) => {
            own.header.uid = Uid(own.known.uids.last().copied().unwrap_or(0))
        }
        Some(c::TREE_CONNECT | c::TREE_CONNECT_ANDX) => {
            own.header.tid = Tid(own.known.tids.last().copied().unwrap_or(0));
        }
        _ => {}
    }
}

/// Two or three commands in one message.
fn ask_chained(world: &mut World, client: usize, choices: &mut Choices<'_>) {
    let own = &world.clients[client];
    let (known, unicode) = (own.known.clone(), own.header.unicode());
    let (first, mut chain) = request::build(choices, &known, unicode);
    let mut link = 0;
    for _ in 0..1 + choices.below(3) {
        let (command, block) = request::build(choices, &known, unicode);
        let offset = (HEADER_LEN + chain.len()) as u16;
        let head = [command, 0, offset as u8, (offset >> 8) as u8];
        let Some(place) = chain.get_mut(link + 1..link + 5) else {
            break;
        };
        place.copy_from_slice(&head);
        link = chain.len();
        chain.extend(block);
    }
    let replies = world.request(client, first, &chain);
    follow(world, client, &replies);
}

fn change_header(world: &mut World, client: usize, choices: &mut Choices<'_>) {
    let own = &mut world.clients[client];
    let header = &mut own.header;
    match choices.below(6) {
        0 => header.tid = Tid(material::number_of(&own.known.tids, choices)),
        1 => header.uid = Uid(material::number_of(&own.known.uids, choices)),
        2 => header.pid = Pid(choices.u32()),
        3 => header.flags = Flags(choices.u8()),
        4 => header.flags2 = Flags2(choices.u16()),
        _ => own.mid = choices.u16() & 0x7fff,
    }
}

fn break_disk(world: &mut World, choices: &mut Choices<'_>) {
    const ERRORS: &[VfsError] = &[
        VfsError::Io(5),
        VfsError::NoSpace,
        VfsError::Denied,
        VfsError::NotFound,
    ];
    world.fs.inject(Fault {
        call: None,
        skip: u64::from(choices.u8() % 8),
        times: 1,
        error: *choices.one_of(ERRORS),
        written: choices.below(256),
    });
}

/// A new client, in some dialect, which gets some way: nowhere, negotiated, logged on, connected, with a file open.
fn arrive(world: &mut World, choices: &mut Choices<'_>) -> usize {
    let present = world.clients.iter().filter(|client| !client.gone).count();
    if present >= MAX_CLIENTS {
        return choices.below(world.clients.len());
    }
    let client = world.connect();
    let dialect = *choices.one_of(DIALECTS);
    let progress = choices.u8();
    let flags2 = if progress & 0x40 == 0 {
        Flags2::UNICODE | Flags2::NT_STATUS
    } else {
        0
    };
    greet(world, client, dialect, flags2, usize::from(progress % 8));
    client
}

/// Brings a client so far: 0 nowhere, 1 negotiated, 2 logged on, 3 connected, 4 and more with a file open.
pub fn greet(world: &mut World, client: usize, dialect: &str, flags2: u16, progress: usize) {
    let own = &mut world.clients[client];
    own.header.pid = Pid(77);
    if dialect == "NT LM 0.12" {
        own.header.flags2 = Flags2(flags2 | Flags2::LONG_NAMES);
    }
    if progress == 0 {
        return;
    }
    let offer = [&[0, 0, 0, 2], dialect.as_bytes(), &[0]].concat();
    let offer = [&[0, (offer.len() - 3) as u8, 0], &offer[3..]].concat();
    world.request(client, c::NEGOTIATE, &offer);
    if progress >= 2 {
        log_on(world, client, dialect);
    }
    if progress >= 3 {
        connect(world, client, dialect, "DISK");
    }
    if progress >= 4 {
        open(world, client);
    }
}

fn is_core(dialect: &str) -> bool {
    DIALECTS[..3].contains(&dialect)
}

fn block(words: &[u16], bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![words.len() as u8];
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    out.extend((bytes.len() as u16).to_le_bytes());
    out.extend(bytes);
    out
}

fn log_on(world: &mut World, client: usize, dialect: &str) {
    if is_core(dialect) {
        return;
    }
    let words: &[u16] = if dialect == "NT LM 0.12" {
        &[0xff, 0, 0xffff, 50, 1, 0, 0, 0, 0, 0, 0, 0xd0fc, 0x0080]
    } else {
        &[0xff, 0, 0xffff, 50, 1, 0, 0, 0, 0, 0]
    };
    let replies = world.request(client, c::SESSION_SETUP_ANDX, &block(words, &[0; 12]));
    follow(world, client, &replies);
}

/// Connects a share in the dialect's way.
pub fn connect(world: &mut World, client: usize, dialect: &str, share: &str) {
    let unicode = world.clients[client].header.unicode();
    let replies = if is_core(dialect) {
        let bytes = format!("\x04{share}\0\x04\0\x04A:\0");
        world.request(client, c::TREE_CONNECT, &block(&[], bytes.as_bytes()))
    } else {
        let path = material::encode(
            &format!("\\\\COAX\\{share}"),
            unicode,
            HEADER_LEN + 1 + 8 + 2 + 1,
        );
        let bytes = [&[0], path.as_slice(), b"?????\0"].concat();
        world.request(
            client,
            c::TREE_CONNECT_ANDX,
            &block(&[0xff, 0, 0, 1], &bytes),
        )
    };
    follow(world, client, &replies);
}

/// Opens a file with the core protocol's OPEN; its FID if that went well.
pub fn open(world: &mut World, client: usize) -> Option<u16> {
    let unicode = world.clients[client].header.unicode();
    let path = material::encode("\\A.TXT", unicode, HEADER_LEN + 1 + 4 + 2 + 1);
    let bytes = [&[4], path.as_slice()].concat();
    let replies = world.request(client, c::OPEN, &block(&[0x42, 0x16], &bytes));
    Block::first(replies.last()?).ok()?.word(0).ok()
}
