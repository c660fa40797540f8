//! Random operations, as values. [`super`] sends them.

use crate::{
    op::{Carrier, IfExists, Op, OpenArgs, Oplock, Range, Sharing, Verb, right},
    rng::Rng,
    world::World,
};

/// Paths of files, chosen so that most of them conflict.
const FILES: [&str; 8] = [
    "A.TXT",
    "B.TXT",
    "C.BAK",
    "RUN.EXE",
    "BIG.BIN",
    "DIR\\A.TXT",
    "DIR\\B.TXT",
    "SUB\\A.TXT",
];
/// Paths of folders.
const FOLDERS: [&str; 4] = ["DIR", "SUB", "DIR\\SUB", ""];

/// An open that a client of this dialect may send.
pub(super) fn open(rng: &mut Rng, nt: bool) -> OpenArgs {
    let verbs = [
        Verb::Open,
        Verb::Create,
        Verb::CreateNew,
        Verb::OpenAndX,
        Verb::Trans2Open,
        Verb::OpenAndX,
    ];
    let verb = if nt && rng.chance(60) {
        Verb::NtCreate
    } else {
        rng.of(verbs)
    };
    let oplock = rng.of([Oplock::None, Oplock::None, Oplock::Exclusive, Oplock::Batch]);
    let folder = (verb == Verb::NtCreate && rng.chance(20)) || rng.chance(2);
    let mut args = OpenArgs {
        verb,
        path: some_path(rng, folder),
        rights: rng.of([right::READ, right::WRITE, right::READ | right::WRITE]),
        sharing: rng.of([
            Sharing::Compatibility,
            Sharing::Deny(1),
            Sharing::Deny(2),
            Sharing::Deny(3),
            Sharing::Deny(4),
            Sharing::Deny(4),
            Sharing::Fcb,
        ]),
        if_exists: rng.of([
            IfExists::Open,
            IfExists::Open,
            IfExists::Overwrite,
            IfExists::Fail,
        ]),
        create: rng.chance(60),
        folder: None,
        oplock,
        delete_on_close: false,
        length: if rng.chance(20) {
            rng.below(100) as u32
        } else {
            0
        },
        read: (verb == Verb::OpenAndX && rng.chance(30)).then(|| 1 + rng.below(200) as u16),
        split: rng.chance(30),
    };
    match verb {
        Verb::NtCreate => nt_open(&mut args, folder, rng),
        _ => core_open(&mut args),
    }
    if args.if_exists == IfExists::Fail {
        args.create = true;
    }
    if args.sharing == Sharing::Fcb {
        args.rights = right::READ | right::WRITE;
    }
    args
}

fn some_path(rng: &mut Rng, folder: bool) -> String {
    let path = if folder {
        rng.of(FOLDERS)
    } else {
        rng.of(FILES)
    };
    match rng.chance(10) {
        true => path.to_lowercase(),
        false => path.into(),
    }
}

/// What the core verbs cannot express.
fn core_open(args: &mut OpenArgs) {
    let exists = match args.verb {
        Verb::Open => {
            (args.if_exists, args.create, args.length) = (IfExists::Open, false, 0);
            return;
        }
        Verb::Create => IfExists::Overwrite,
        Verb::CreateNew => IfExists::Fail,
        _ => return,
    };
    (args.if_exists, args.create, args.length) = (exists, true, 0);
    (args.rights, args.sharing) = (right::READ | right::WRITE, Sharing::Compatibility);
}

fn nt_open(args: &mut OpenArgs, folder: bool, rng: &mut Rng) {
    args.rights = rng.of([
        0,
        right::READ,
        right::READ,
        right::READ | right::WRITE,
        right::READ | right::WRITE,
        right::ALL,
        right::DELETE,
        right::READ | right::DELETE,
    ]);
    args.sharing = Sharing::Nt(rng.of([
        0,
        right::READ,
        right::READ | right::WRITE,
        right::ALL,
        right::ALL,
        right::ALL,
    ]));
    args.folder = rng.of([None, None, Some(folder)]);
    args.delete_on_close = args.rights & right::DELETE != 0 && rng.chance(40);
    args.length = 0;
    if args.folder == Some(true) && args.if_exists == IfExists::Overwrite {
        args.if_exists = IfExists::Open;
    }
}

/// A change of names.
pub(super) fn by_path(nt: bool, rng: &mut Rng) -> Op {
    let file = |rng: &mut Rng| {
        String::from(if rng.chance(95) {
            rng.of(FILES)
        } else {
            rng.of(FOLDERS)
        })
    };
    let folder = |rng: &mut Rng| {
        String::from(if rng.chance(95) {
            rng.of(FOLDERS)
        } else {
            rng.of(FILES)
        })
    };
    match rng.below(10) {
        0 => {
            let (old, new) = rng.of([
                ("*.TXT", "*.BAK"),
                ("*.BAK", "*.TXT"),
                ("DIR\\*.TXT", "DIR\\*.BAK"),
                ("*.TXT", "DIR\\*.TXT"),
                ("DIR\\*.BAK", "*.TXT"),
            ]);
            Op::Rename {
                old: old.into(),
                new: new.into(),
                nt: false,
            }
        }
        1 => Op::Rename {
            old: folder(rng),
            new: folder(rng),
            nt,
        },
        2..=4 => Op::Rename {
            old: file(rng),
            new: file(rng),
            nt,
        },
        5 => Op::Delete {
            path: rng.of(["*.TXT", "*.BAK", "DIR\\*.TXT"]).into(),
        },
        6 | 7 => Op::Delete { path: file(rng) },
        8 => Op::MakeFolder { path: folder(rng) },
        _ => Op::RemoveFolder { path: folder(rng) },
    }
}

/// A read or a write.
pub(super) fn transfer(world: &World, client: usize, fid: u16, rng: &mut Rng) -> Op {
    let offset = if rng.chance(10) {
        rng.below(20_100)
    } else {
        rng.below(60)
    } as u64;
    // Raw transfers are only legal for clients without outstanding requests.
    let idle = world.clients[client].outbox.is_empty()
        && !world.pending.iter().any(|request| request.client == client);
    let by = rng.of([
        Carrier::Core,
        Carrier::AndX,
        Carrier::AndX,
        if idle { Carrier::Raw } else { Carrier::AndX },
    ]);
    match rng.chance(50) {
        true => Op::Read {
            fid,
            offset,
            len: 1 + if rng.chance(5) {
                17_000
            } else {
                rng.below(100)
            } as u16,
            by: if by == Carrier::Core {
                Carrier::AndX
            } else {
                by
            },
        },
        false => Op::Write {
            fid,
            offset,
            data: bytes(rng),
            by,
            through: rng.chance(30),
        },
    }
}

/// A lock, an unlock, or the end of a wait for a lock.
pub(super) fn lock(world: &World, client: usize, fid: u16, rng: &mut Rng) -> Op {
    let range = |rng: &mut Rng| Range {
        offset: rng.below(12) as u64 * 4,
        length: rng.of([0, 1, 4, 8, 20]),
    };
    let held: Vec<_> = world
        .model
        .locks_of(client)
        .filter(|lock| lock.owner.1 == fid)
        .copied()
        .collect();
    match rng.below(10) {
        0..=5 => {
            let ranges = if rng.chance(20) {
                vec![range(rng), range(rng)]
            } else {
                vec![range(rng)]
            };
            let wait_ms = rng.of([0, 0, 0, 200, 5_000, 40_000, u32::MAX]);
            let core = rng.chance(15);
            match core {
                true => Op::Lock {
                    fid,
                    ranges: vec![range(rng)],
                    shared: false,
                    wait_ms: 0,
                    core,
                },
                false => Op::Lock {
                    fid,
                    ranges,
                    shared: rng.chance(35),
                    wait_ms,
                    core,
                },
            }
        }
        6..=8 => {
            let lock = rng.pick(&held);
            let range = lock.map_or_else(|| range(rng), |lock| lock.range);
            Op::Unlock {
                fid,
                range,
                core: rng.chance(15),
            }
        }
        _ => {
            let waiting = world.pending.iter().find_map(|request| match &request.op {
                Op::Lock {
                    fid: of,
                    ranges,
                    shared,
                    ..
                } if *of == fid && request.client == client => {
                    Some((ranges.first().copied()?, *shared))
                }
                _ => None,
            });
            let (range, shared) = waiting.unwrap_or((range(rng), false));
            Op::CancelLock { fid, range, shared }
        }
    }
}

/// Data to write.
pub(super) fn bytes(rng: &mut Rng) -> Vec<u8> {
    let most = if rng.chance(10) { 3_000 } else { 24 };
    vec![b'a' + rng.below(26) as u8; 1 + rng.below(most)]
}
