//! Random programs. Each step draws its own random numbers, so that omitting a step changes no other.

mod random;

use crate::rules::{OTHER_PID, PID};
use crate::{
    client::File,
    disk::Trouble,
    model::Check,
    op::{Carrier, Op, Oplock, right},
    rng::Rng,
    rules::{SHARES, USERS},
    world::{MS, World},
};
use coax_server::vfs::VfsError;

/// Injected disk errors. They are truthful: none reports an existing file as missing.
const ERRORS: [VfsError; 6] = [
    VfsError::Io(5),
    VfsError::NoSpace,
    VfsError::Denied,
    VfsError::ReadOnly,
    VfsError::TooManyOpen,
    VfsError::Busy,
];

/// Runs one step: a client acts, and some of the messages in transit arrive.
///
/// # Errors
/// The rule that the server violated.
pub fn step(world: &mut World, rng: &mut Rng) -> Check {
    let client = rng.below(world.clients.len());
    match rng.below(100) {
        0..=71 => ask(world, client, rng),
        72..=77 => answer_break(world, client, rng),
        78..=80 => cancel(world, rng),
        81..=84 => world.pass(rng.below(1_500) as u64 * MS)?,
        85 => world.pass(rng.below(45_000) as u64 * MS)?,
        86..=90 => trouble(world, rng),
        91 => world.disks.iter().for_each(|disk| disk.inject(None)),
        92 => {
            let ms = rng.below(3_000) as u64;
            world.disks[rng.below(SHARES.len())].delay(ms * MS);
        }
        93 => world.step_wall((rng.below(7_200_000) as i64 - 3_600_000) * MS as i64),
        94 => {
            world.disconnect(client)?;
            world.connect(client, any_user(rng), rng.below(SHARES.len()))?;
        }
        _ => use_cache(world, client, rng)?,
    }
    arrive(world, rng)
}

/// Delivers some messages, in random order.
fn arrive(world: &mut World, rng: &mut Rng) -> Check {
    loop {
        let senders: Vec<usize> = (0..world.clients.len())
            .filter(|at| !world.clients[*at].outbox.is_empty())
            .collect();
        let Some(client) = rng.pick(&senders) else {
            break;
        };
        if rng.chance(20) {
            break;
        }
        world.deliver(*client)?;
        if rng.chance(60) {
            world.drain_all()?;
        }
    }
    world.fire_due()
}

fn any_user(rng: &mut Rng) -> Option<&'static str> {
    rng.of([None, Some(USERS[0].0), Some(USERS[1].0)])
}

fn trouble(world: &mut World, rng: &mut Rng) {
    let trouble = Trouble {
        skip: rng.below(8) as u64,
        times: rng.of([1, 1, 1, 2, 5]),
        only_changes: rng.chance(60),
        error: rng.of(ERRORS),
    };
    let share = rng.below(SHARES.len());
    world.tell(|| format!("disk {share}: {trouble:?}"));
    world.disks[share].inject(Some(trouble));
}

fn cancel(world: &mut World, rng: &mut Rng) {
    let waiting: Vec<_> = world
        .pending
        .iter()
        .filter(|request| request.delivered && !world.clients[request.client].raw)
        .cloned()
        .collect();
    if let Some(request) = rng.pick(&waiting) {
        world.cancel(request);
    }
}

/// Answers an oplock break: the client writes its cache, and acknowledges or closes. Or it ignores the break, and the
/// server must continue without it.
fn answer_break(world: &mut World, client: usize, rng: &mut Rng) {
    let from = &mut world.clients[client];
    if from.raw || from.breaks.is_empty() {
        return;
    }
    let (fid, to) = from.breaks.remove(0);
    let Some(file) = from.file(fid).cloned() else {
        return;
    };
    match rng.below(10) {
        0 => {}
        1 | 2 => {
            flush(world, client, &file);
            world.send(client, Op::Close { fid }, file.ids);
        }
        _ => {
            flush(world, client, &file);
            world.acknowledge(client, fid, if rng.chance(80) { to } else { Oplock::None });
        }
    }
}

fn flush(world: &mut World, client: usize, file: &File) {
    let Some((offset, data)) = world.clients[client]
        .file(file.fid)
        .and_then(|file| file.dirty.take())
    else {
        return;
    };
    world.send(
        client,
        Op::Write {
            fid: file.fid,
            offset,
            data,
            by: Carrier::AndX,
            through: false,
        },
        file.ids,
    );
}

fn use_cache(world: &mut World, client: usize, rng: &mut Rng) -> Check {
    world.drain(client)?;
    let files = world.clients[client].files.len();
    let at = rng.below(files);
    let (data, offset) = (random::bytes(rng), rng.below(40) as u64);
    let may_write = |fid: u16| {
        world
            .model
            .open((client, fid))
            .is_some_and(|open| open.rights & right::WRITE != 0)
    };
    let Some(file) = world.clients[client].files.get(at).cloned() else {
        return Ok(());
    };
    let handle = (client, file.fid);
    if !world.model.may_cache(handle) {
        return Ok(());
    }
    if file.oplock.excludes() && file.dirty.is_none() && may_write(file.fid) && rng.chance(50) {
        world.tell(|| format!("client {client} caches a write to FID {}", file.fid));
        world.model.set_dirty(handle, true);
        if let Some(file) = world.clients[client].file(file.fid) {
            file.dirty = Some((offset, data));
            file.cached = None;
        }
        return Ok(());
    }
    let Some((offset, len, data)) = &file.cached else {
        return Ok(());
    };
    let now = world.model.contents(handle).unwrap_or_default();
    let start = now.len().min(*offset as usize);
    let end = now.len().min(start + usize::from(*len));
    match now.get(start..end) == Some(data.as_slice()) {
        true => Ok(()),
        false => Err(format!(
            "client {client} reads old bytes in its cache of FID {}, whose oplock it still has",
            file.fid
        )),
    }
}

/// Sends a random request.
fn ask(world: &mut World, client: usize, rng: &mut Rng) {
    let from = &world.clients[client];
    // A raw write must be alone on its connection, and the number of outstanding requests is bounded.
    let outstanding = world
        .pending
        .iter()
        .filter(|request| request.client == client)
        .count();
    if from.raw || outstanding > 6 {
        return;
    }
    let nt = from.speaker.nt;
    let mut ids = usual_ids(world, client, rng);
    if rng.chance(6) {
        mix(world, client, &mut ids, rng);
    }
    if from.sessions.is_empty() || from.sessions.len() < 3 && rng.chance(3) {
        world.send(
            client,
            Op::LogOn {
                user: any_user(rng),
            },
            (0, 0, PID),
        );
        return;
    }
    if from.trees.is_empty() || from.trees.len() < 4 && rng.chance(4) {
        world.send(
            client,
            Op::Connect {
                share: rng.below(SHARES.len()),
            },
            ids,
        );
        return;
    }
    let file = rng.pick(&from.files).cloned();
    match rng.below(100) {
        0..=33 => {
            let args = random::open(rng, nt);
            let abandoned = args.split && rng.chance(15);
            let mid = world.send(client, Op::Open(args), ids);
            let request = world
                .pending
                .iter_mut()
                .find(|request| (request.client, request.mid) == (client, mid));
            if let Some(request) = request.filter(|_| abandoned) {
                request.abandoned = true;
            }
        }
        34..=49 => {
            let nt = world.clients[client].speaker.nt && rng.chance(40);
            let op = random::by_path(nt, rng);
            world.send(client, op, ids);
        }
        50..=51 => end(world, client, ids, rng),
        _ => {
            if let Some(file) = file {
                by_fid(world, client, &file, rng);
            }
        }
    }
}

/// The TID, and the UID that connected the tree.
fn usual_ids(world: &World, client: usize, rng: &mut Rng) -> (u16, u16, u16) {
    let from = &world.clients[client];
    let (tid, uid) = rng.pick(&from.trees).copied().unwrap_or_default();
    let logged_on = from.sessions.iter().any(|session| session.0 == uid);
    let first = from.sessions.first().map_or(0, |session| session.0);
    let pid = if rng.chance(85) { PID } else { OTHER_PID };
    (if logged_on { uid } else { first }, tid, pid)
}

/// Mixes in another user, tree or process of the same connection, or an invalid one.
fn mix(world: &World, client: usize, ids: &mut (u16, u16, u16), rng: &mut Rng) {
    let from = &world.clients[client];
    match rng.below(4) {
        0 | 1 => ids.0 = rng.pick(&from.sessions).map_or(999, |session| session.0),
        2 => ids.1 = rng.pick(&from.trees).map_or(999, |tree| tree.0),
        _ => (ids.0, ids.1) = (rng.of([ids.0, 999]), rng.of([ids.1, 999])),
    }
}

/// Ends something at random, or does nothing.
fn end(world: &mut World, client: usize, ids: (u16, u16, u16), rng: &mut Rng) {
    let op = match rng.below(10) {
        0 | 1 => Op::LogOff,
        2 | 3 => Op::Disconnect,
        4..=6 => Op::Exit,
        _ => Op::Echo,
    };
    world.send(client, op, ids);
}

fn by_fid(world: &mut World, client: usize, file: &File, rng: &mut Rng) {
    let mut ids = file.ids;
    if rng.chance(8) {
        mix(world, client, &mut ids, rng);
    }
    if rng.chance(8) {
        ids.2 = rng.of([PID, OTHER_PID]);
    }
    let op = match (file.folder || rng.chance(1), rng.below(100)) {
        (_, 0..=13) => {
            flush(world, client, file);
            Op::Close { fid: file.fid }
        }
        (true, 14..=79) if world.clients[client].speaker.nt => Op::Notify {
            fid: file.fid,
            filter: rng.of([0x3, 0x3, 0x1, 0x2, 0x17, 0x13]),
            tree: rng.chance(50),
            room: rng.of([64, 1_024, 1_024, 8_192]),
        },
        (_, 14..=48) => random::transfer(world, client, file.fid, rng),
        (_, 49..=53) => Op::SetLength {
            fid: file.fid,
            len: rng.below(200) as u32,
            by: rng.of([Carrier::Core, Carrier::AndX]),
        },
        (_, 54..=56) => Op::Flush { fid: file.fid },
        (_, 57..=79) => random::lock(world, client, file.fid, rng),
        (_, 80..=89) => Op::Disposition {
            fid: file.fid,
            delete: rng.chance(75),
        },
        _ => {
            let name = rng.of(["A.TXT", "B.TXT", "C.BAK", "SUB"]);
            Op::RenameOpen {
                fid: file.fid,
                new: name.into(),
                replace: rng.chance(60),
            }
        }
    };
    world.send(client, op, ids);
}
