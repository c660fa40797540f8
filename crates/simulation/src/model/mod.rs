//! The specification: the possible states of a server, given the answers that its clients got.
//!
//! The model never predicts which of several legal answers comes. It checks that its state allows the actual answer,
//! and applies the acknowledged operation to its state. A refused request changes nothing, and needs a reason
//! (`refusal`). After each step the disks must match the model (`audit`).

mod audit;
mod candidates;
mod closing;
mod data;
mod effect;
mod names;
mod opening;
mod refusal;
mod terms;
mod watch;
mod watched;

pub use candidates::Model;
pub use terms::{Check, Handle, Place};

use crate::{
    op::{Op, Oplock, Range, Request, Sharing, right},
    reply::Reply,
    rules::SHARES,
};
use coax_server::{share::Access, vfs::FileId};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};
use terms::{Effect, Partial, beside, name, parent, place, require};

/// A file or folder.
#[derive(Clone, Debug, Default, PartialEq)]
struct Node {
    folder: bool,
    /// The identity on the disk, once an audit has seen it.
    id: Option<FileId>,
    bytes: Arc<Vec<u8>>,
    /// The deletion happens at the last close.
    doomed: bool,
    /// A deletion that failed half-way may have marked it.
    perhaps_doomed: bool,
    /// Written data did not reach the disk. The server refuses requests that would hide this until all clients have
    /// closed the file.
    sync_failed: bool,
    place: Option<Place>,
}

/// The open behind a FID.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    node: usize,
    uid: u16,
    tid: u16,
    pid: u16,
    /// Rights granted.
    pub rights: u8,
    sharing: Sharing,
    /// The rights that it leaves to others.
    lets: u8,
    /// The current oplock.
    pub oplock: Oplock,
    /// The pending break: the new level and the holder's deadline.
    breaking: Option<(Oplock, u64)>,
    /// The command that requested the oplock has no level II in its answer: the open may have level II.
    untold: bool,
    /// The contents changed while it had level II, and the client has not yet received the break.
    break_due: bool,
    delete_on_close: bool,
    /// The client caches unwritten data.
    pub dirty: bool,
    /// A write-behind failed: a later request on the FID must report it.
    deferred: bool,
    /// A waiting lock was cancelled.
    lock_cancelled: bool,
    watch: Option<watched::Watch>,
}

/// A byte-range lock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lock {
    /// The open that locks.
    pub owner: Handle,
    /// The process that locks.
    pub pid: u16,
    node: usize,
    /// The locked bytes.
    pub range: Range,
    shared: bool,
}

/// The circumstances of an answer.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The current time, ns.
    pub now: u64,
    /// The number of failed disk calls in this step.
    pub faults: u64,
    /// Requests that the server has received and not answered.
    pub pending: &'a [Request],
    /// The client uses NT statuses. For other clients the model judges only successes.
    pub nt: bool,
}

/// A possible state of the server.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    nodes: Vec<Node>,
    names: BTreeMap<Place, usize>,
    opens: BTreeMap<Handle, Open>,
    locks: Vec<Lock>,
    sessions: BTreeMap<(usize, u16), Option<&'static str>>,
    trees: BTreeMap<(usize, u16), usize>,
    /// Effects that the request just judged may have had.
    possible: Vec<Effect>,
    /// Changes of contents in this step that reached the disk in part.
    partial: Vec<Partial>,
    /// Opens that the server is closing one after the other. A request that waited may run in between.
    closing: VecDeque<Handle>,
    /// Folders that this step may have removed, once they were empty.
    perhaps_gone: Vec<usize>,
    /// The open limit of one connection.
    max_opens: usize,
    /// The time that the holder of an oplock has to answer a break, ns.
    break_timeout: u64,
}

impl State {
    /// A server with these limits and empty shares.
    #[must_use]
    pub(super) fn new(max_opens: usize, break_timeout: u64) -> Self {
        let mut model = Self {
            max_opens,
            break_timeout,
            ..Self::default()
        };
        for share in 0..SHARES.len() {
            model.put((share, String::new()), None);
        }
        model
    }

    /// Creates a file (or folder: `None`).
    pub(super) fn put(&mut self, place: Place, bytes: Option<Vec<u8>>) {
        let node = Node {
            folder: bytes.is_none(),
            bytes: Arc::new(bytes.unwrap_or_default()),
            place: Some(place.clone()),
            ..Node::default()
        };
        self.names.insert(place, self.nodes.len());
        self.nodes.push(node);
    }

    /// Judges an answer: checks that the model allows it, and applies it.
    ///
    /// # Errors
    /// The rule that the answer violates.
    pub(super) fn judge(&mut self, request: &Request, reply: &Reply, at: Moment<'_>) -> Check {
        if let (Op::Open(args), Some(opened)) = (&request.op, reply.opened) {
            self.opened(request, args, opened, at)?;
            let read = args.read.map(|len| Op::Read {
                fid: opened.fid,
                offset: 0,
                len,
                by: crate::op::Carrier::AndX,
            });
            // How much of the requested length the disk has applied is not yet known.
            let unsure = args.length > 0 && at.faults > 0;
            let Some(op) = read.filter(|_| !unsure) else {
                return Ok(());
            };
            return self.judge(
                &Request {
                    op,
                    ..request.clone()
                },
                &Reply {
                    opened: None,
                    ..reply.clone()
                },
                at,
            );
        }
        if reply.is_ok() {
            self.done(request, reply, at)
        } else {
            self.refused(request, reply.status, at)
        }
    }

    fn done(&mut self, request: &Request, reply: &Reply, at: Moment<'_>) -> Check {
        let client = request.client;
        match &request.op {
            Op::Open(_) => Err("an open that gives no FID".into()),
            Op::LogOn { user } => {
                let before = self.sessions.insert((client, reply.uid), *user);
                require(before.is_none(), "a UID in use was given again")
            }
            Op::LogOff => self.logged_off(request),
            Op::Connect { share } => {
                let user = self.user(request)?;
                require(
                    SHARES[*share].access(user) != Access::None,
                    "the share does not admit this user",
                )?;
                let before = self.trees.insert((client, reply.tid), *share);
                require(before.is_none(), "a TID in use was given again")
            }
            Op::Disconnect => self.disconnected_tree(request),
            Op::Exit => self.exited(request),
            Op::Echo => Ok(()),
            Op::Close { fid } => {
                self.own(request, *fid, 0)?;
                self.close((client, *fid), None);
                Ok(())
            }
            Op::Notify { fid, .. } => self.notified(request, *fid, reply),
            Op::Flush { fid } => self.own(request, *fid, 0).map(drop),
            Op::Read { .. } | Op::Write { .. } | Op::SetLength { .. } => {
                self.transferred(request, reply, at)
            }
            // The close of one file granted the lock, and the close of this one will remove it.
            Op::Lock { fid, .. } if self.closing.contains(&(client, *fid)) => Ok(()),
            Op::Lock { .. } | Op::Unlock { .. } | Op::CancelLock { .. } => self.locked(request),
            _ => self.renamed_or_deleted(request, at),
        }
    }

    /// The user of the request's UID.
    fn user(&self, request: &Request) -> Result<Option<&'static str>, String> {
        let session = self.sessions.get(&(request.client, request.uid));
        session
            .copied()
            .ok_or_else(|| "success for a UID that is not logged on".into())
    }

    /// The share of the request's TID, if its UID has this access there.
    fn authorized(&self, request: &Request, need: Access) -> Result<usize, String> {
        let user = self.user(request)?;
        let share = self.trees.get(&(request.client, request.tid)).copied();
        let share = share.ok_or("success on a TID that is not connected")?;
        let may = SHARES[share].access(user);
        require(
            may >= need,
            "success without authorization: this user may not do that on this share",
        )?;
        Ok(share)
    }

    /// The open of a request. It must belong to the same user and tree and have one of the rights.
    fn own(&self, request: &Request, fid: u16, rights: u8) -> Result<&Open, String> {
        let changes = rights & !right::READ != 0;
        self.authorized(request, if changes { Access::Write } else { Access::Read })?;
        let open = self
            .opens
            .get(&(request.client, fid))
            .ok_or("success on a FID that is not open")?;
        require(open.tid == request.tid, "success on another tree's FID")?;
        require(open.uid == request.uid, "success on another user's FID")?;
        require(
            rights == 0 || open.rights & rights != 0,
            "success on a FID without the right",
        )?;
        Ok(open)
    }

    fn folder_at(&self, share: usize, path: &str) -> Option<usize> {
        let node = self.names.get(&(share, path.into())).copied()?;
        self.nodes[node].folder.then_some(node)
    }

    fn opens_of(&self, node: usize) -> impl Iterator<Item = (&Handle, &Open)> {
        self.opens.iter().filter(move |(_, open)| open.node == node)
    }

    /// Whether its deletion is or may be pending.
    fn goes(&self, node: usize) -> bool {
        self.nodes[node].doomed || self.nodes[node].perhaps_doomed
    }

    fn is_open(&self, node: usize) -> bool {
        self.opens_of(node).next().is_some()
    }

    /// Whether an open has an exclusive or batch oplock whose break has not timed out.
    fn held_exclusively(&self, node: usize, now: u64) -> bool {
        self.opens_of(node).any(|(_, open)| {
            let late = open.breaking.is_some_and(|(_, deadline)| now >= deadline);
            open.oplock.excludes() && !late
        })
    }

    /// Whether an existing open conflicts with one that has these rights and leaves `lets` to others.
    fn conflicts(&self, node: usize, rights: u8, lets: u8) -> bool {
        self.opens_of(node)
            .any(|(_, open)| excludes((open.rights, open.lets), (rights, lets)))
    }

    /// Handles an oplock break that the server sent to a client.
    ///
    /// # Errors
    /// If there was none to break.
    pub(super) fn break_told(&mut self, handle: Handle, to: Oplock, now: u64) -> Check {
        let deadline = now + self.break_timeout;
        // The break and the close of its file may cross on the wire.
        let Some(open) = self.opens.get_mut(&handle) else {
            return Ok(());
        };
        match open.oplock {
            Oplock::None if open.untold => {}
            Oplock::None => return Err("an oplock breaks that nobody has".into()),
            Oplock::LevelII => open.oplock = to,
            _ => open.breaking = Some((to, deadline)),
        }
        open.break_due = false;
        require(
            to < Oplock::Exclusive,
            "an oplock breaks to an exclusive one",
        )
    }

    /// Handles a client's acknowledgement of a break at the server.
    pub(super) fn break_acknowledged(&mut self, request: &Request, fid: u16, level: Oplock) {
        let heard = self.own(request, fid, 0).is_ok();
        let open = self.opens.get_mut(&(request.client, fid)).filter(|_| heard);
        if let Some(open) = open
            && let Some((to, _)) = open.breaking.take()
        {
            open.oplock = level.min(to);
        }
    }

    /// Ends oplocks whose holders timed out.
    pub(super) fn expire(&mut self, now: u64) {
        for open in self.opens.values_mut() {
            if open.breaking.is_some_and(|(_, deadline)| now >= deadline) {
                open.breaking = None;
                open.oplock = Oplock::None;
                // The server may notice later, and accept a late acknowledgement.
                open.untold = true;
            }
        }
    }

    /// Checks the invariants after every connection has handled its events.
    ///
    /// # Errors
    /// A missed notification or break.
    pub(super) fn settled(&self, pending: &[Request]) -> Check {
        let late = self.opens.values().any(|open| open.break_due);
        require(
            !late,
            "contents changed and the holder of a level II oplock was not told",
        )?;
        self.nothing_missed(pending)
    }

    /// The contents of the file behind a FID.
    #[must_use]
    pub(super) fn contents(&self, handle: Handle) -> Option<&[u8]> {
        let open = self.opens.get(&handle)?;
        Some(&self.nodes[open.node].bytes)
    }

    /// An open.
    #[must_use]
    pub(super) fn open(&self, handle: Handle) -> Option<&Open> {
        self.opens.get(&handle)
    }

    /// The number of open files of a client.
    #[must_use]
    pub(super) fn open_count(&self, client: usize) -> usize {
        self.opens.keys().filter(|(of, _)| *of == client).count()
    }

    /// Notes that the client has cached a write, or has written its cached data.
    pub(super) fn set_dirty(&mut self, handle: Handle, dirty: bool) {
        if let Some(open) = self.opens.get_mut(&handle) {
            open.dirty = dirty;
        }
    }

    /// The locks of a client.
    pub(super) fn locks_of(&self, client: usize) -> impl Iterator<Item = &Lock> {
        self.locks.iter().filter(move |lock| lock.owner.0 == client)
    }

    /// The number of files and folders on a share, including its root.
    #[must_use]
    pub(super) fn objects(&self, share: usize) -> usize {
        self.names.keys().filter(|(of, _)| *of == share).count()
    }
}

/// Whether two opens conflict, each with its rights and those that it leaves to others ([MS-FSA] 2.1.5.1.2.2).
fn excludes((rights1, lets1): (u8, u8), (rights2, lets2): (u8, u8)) -> bool {
    rights1 != 0 && rights2 != 0 && (rights1 & !lets2 != 0 || rights2 & !lets1 != 0)
}
