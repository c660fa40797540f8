//! The specification: what may be true of a server whose clients got the answers they got.
//!
//! The model never predicts which of several legal answers comes. It takes each answer as it came, checks that the state
//! before allowed it, and does to its own state what was acknowledged. A refused request changes nothing, and must have
//! had a reason (`refusal`). After each step the disks must hold what the model holds (`audit`).

mod allowance;
mod audit;
mod closing;
mod data;
mod names;
mod opening;
mod refusal;
mod terms;
mod watch;
mod watched;

pub use terms::{Check, Handle, Place};

use crate::{
    op::{Op, Oplock, Range, Request, Sharing, right},
    reply::Reply,
    rules::SHARES,
};
use allowance::Allowance;
use coax_server::share::Access;
use std::collections::BTreeMap;
use terms::{name, parent, place, require};

/// A file or folder.
#[derive(Clone, Debug, Default)]
struct Node {
    folder: bool,
    bytes: Vec<u8>,
    /// It goes when its last open is closed.
    doomed: bool,
    /// A deletion that failed half-way may have marked it.
    perhaps_doomed: bool,
    /// Something that was written did not get to the disk: the server refuses what would hide that, until all have
    /// closed the file.
    sync_failed: bool,
    place: Option<Place>,
}

/// What a FID stands for.
#[derive(Clone, Debug)]
pub struct Open {
    node: usize,
    uid: u16,
    tid: u16,
    pid: u16,
    /// Rights granted.
    pub rights: u8,
    sharing: Sharing,
    /// What others may do.
    lets: u8,
    /// The oplock it has.
    pub oplock: Oplock,
    /// The oplock is being broken: to what, and when the holder's time is up.
    breaking: Option<(Oplock, u64)>,
    /// It asked for an oplock through a command whose answer does not tell of level II: it may have that.
    untold: bool,
    /// It had level II when contents changed, and its client has not been told.
    break_due: bool,
    delete_on_close: bool,
    /// The client caches data that it has not written yet.
    pub dirty: bool,
    /// A write behind failed: a later request on the FID says so.
    deferred: bool,
    /// A waiting lock was cancelled.
    lock_cancelled: bool,
    watch: Option<watched::Watch>,
}

/// A byte-range lock.
#[derive(Clone, Copy, Debug)]
pub struct Lock {
    /// Through which open.
    pub owner: Handle,
    /// By which process.
    pub pid: u16,
    node: usize,
    /// Which bytes.
    pub range: Range,
    shared: bool,
}

/// What the model must know of the moment.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Now, ns.
    pub now: u64,
    /// How many disk calls failed in this step.
    pub faults: u64,
    /// Requests that the server has and has not answered.
    pub pending: &'a [Request],
    /// The step closes several files one after the other, and what waited for one of them may be decided in between.
    pub between: bool,
    /// The client has NT statuses; of others only successes are judged.
    pub nt: bool,
}

/// STATUS_OBJECT_NAME_NOT_FOUND.
const NOT_FOUND: u32 = 0xc000_0034;

/// What is true of the server.
#[derive(Debug, Default)]
pub struct Model {
    nodes: Vec<Node>,
    names: BTreeMap<Place, usize>,
    opens: BTreeMap<Handle, Open>,
    locks: Vec<Lock>,
    sessions: BTreeMap<(usize, u16), Option<&'static str>>,
    trees: BTreeMap<(usize, u16), usize>,
    /// What an operation that failed half-way may have done.
    allowances: Vec<Allowance>,
    /// A change of many names failed half-way in this step: what is answered after it may have met any of them.
    half_way: bool,
    /// Files that one connection may have open.
    max_opens: usize,
    /// How long the holder of an oplock may take, ns.
    break_timeout: u64,
}

impl Model {
    /// A server with these limits on whose shares nothing lies.
    #[must_use]
    pub fn new(max_opens: usize, break_timeout: u64) -> Self {
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

    /// Puts a file (or folder: `None`) there.
    pub fn put(&mut self, place: Place, bytes: Option<Vec<u8>>) {
        let node = Node {
            folder: bytes.is_none(),
            bytes: bytes.unwrap_or_default(),
            place: Some(place.clone()),
            ..Node::default()
        };
        self.names.insert(place, self.nodes.len());
        self.nodes.push(node);
    }

    /// Takes an answer as it came: checks that it was allowed, and does what it says.
    ///
    /// # Errors
    /// What the answer breaks.
    pub fn judge(&mut self, request: &Request, reply: &Reply, at: Moment<'_>) -> Check {
        let says_free = reply.opened.is_some_and(|opened| opened.action == Some(2))
            || reply.status == NOT_FOUND;
        if let (Op::Open(args), true, Some(share)) = (
            &request.op,
            says_free,
            self.trees.get(&(request.client, request.tid)),
        ) {
            self.found_free(&place(*share, &args.path));
        }
        if let (Op::Open(args), Some(opened)) = (&request.op, reply.opened) {
            if let (Some(1 | 3), Some(share)) = (
                opened.action,
                self.trees.get(&(request.client, request.tid)),
            ) {
                self.found_left_over(&place(*share, &args.path), opened.size);
            }
            self.opened(request, args, opened, at)?;
            let read = args.read.map(|len| Op::Read {
                fid: opened.fid,
                offset: 0,
                len,
                by: crate::op::Carrier::AndX,
            });
            // What the disk did of the length that was asked for is not known yet.
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
            Op::LogOff => self.logged_off(request, at),
            Op::Connect { share } => {
                let user = self.user(request)?;
                require(
                    SHARES[*share].access(user) != Access::None,
                    "the share does not admit this user",
                )?;
                let before = self.trees.insert((client, reply.tid), *share);
                require(before.is_none(), "a TID in use was given again")
            }
            Op::Disconnect => self.disconnected_tree(request, at),
            Op::Exit => self.exited(request, at),
            Op::Echo => Ok(()),
            Op::Close { fid } => {
                self.own(request, *fid, 0)?;
                self.close((client, *fid), None)
            }
            Op::Notify { fid, .. } => self.notified(request, *fid, reply),
            Op::Flush { fid } => self.own(request, *fid, 0).map(drop),
            Op::Read { .. } | Op::Write { .. } | Op::SetLength { .. } => {
                self.transferred(request, reply, at)
            }
            // Granted when one file was closed, and gone when the next one was.
            Op::Lock { fid, .. } if at.between && self.own(request, *fid, 0).is_err() => Ok(()),
            Op::Lock { .. } | Op::Unlock { .. } | Op::CancelLock { .. } => self.locked(request),
            _ => self.renamed_or_deleted(request, at),
        }
    }

    /// Who the request's UID is.
    fn user(&self, request: &Request) -> Result<Option<&'static str>, String> {
        let session = self.sessions.get(&(request.client, request.uid));
        session
            .copied()
            .ok_or_else(|| "success for a UID that is not logged on".into())
    }

    /// The share of the request's TID, if its UID may do that much there.
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

    /// The open that a request is about, which must be its user's on its tree and have one of the rights.
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

    /// Whether its deletion is pending, or may be.
    fn goes(&self, node: usize) -> bool {
        self.nodes[node].doomed || self.nodes[node].perhaps_doomed
    }

    fn is_open(&self, node: usize) -> bool {
        self.opens_of(node).next().is_some()
    }

    /// Whether somebody has an exclusive or batch oplock, and time left to give it up.
    fn held_exclusively(&self, node: usize, now: u64) -> bool {
        self.opens_of(node).any(|(_, open)| {
            let late = open.breaking.is_some_and(|(_, deadline)| now >= deadline);
            open.oplock.excludes() && !late
        })
    }

    /// Whether an open forbids one with these rights that lets others do `lets`.
    fn conflicts(&self, node: usize, rights: u8, lets: u8) -> bool {
        self.opens_of(node)
            .any(|(_, open)| excludes((open.rights, open.lets), (rights, lets)))
    }

    /// The server has told a client that its oplock breaks.
    ///
    /// # Errors
    /// If there was none to break.
    pub fn break_told(&mut self, handle: Handle, to: Oplock, now: u64) -> Check {
        let deadline = now + self.break_timeout;
        // The break may cross with the close of its file.
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

    /// The server has got a client's acknowledgement of a break.
    pub fn break_acknowledged(&mut self, request: &Request, fid: u16, level: Oplock) {
        let heard = self.own(request, fid, 0).is_ok();
        let open = self.opens.get_mut(&(request.client, fid)).filter(|_| heard);
        if let Some(open) = open
            && let Some((to, _)) = open.breaking.take()
        {
            open.oplock = level.min(to);
        }
    }

    /// Ends oplocks whose holders took too long.
    pub fn expire(&mut self, now: u64) {
        for open in self.opens.values_mut() {
            if open.breaking.is_some_and(|(_, deadline)| now >= deadline) {
                open.breaking = None;
                open.oplock = Oplock::None;
                // The server may notice later, and take a late acknowledgement.
                open.untold = true;
            }
        }
    }

    /// What must be true when every connection has done what others made due.
    ///
    /// # Errors
    /// A notification or break that was missed.
    pub fn settled(&self, pending: &[Request]) -> Check {
        let late = self.opens.values().any(|open| open.break_due);
        require(
            !late,
            "contents changed and the holder of a level II oplock was not told",
        )?;
        self.nothing_missed(pending)
    }

    /// The contents of what a FID stands for.
    #[must_use]
    pub fn contents(&self, handle: Handle) -> Option<&[u8]> {
        let open = self.opens.get(&handle)?;
        Some(&self.nodes[open.node].bytes)
    }

    /// An open.
    #[must_use]
    pub fn open(&self, handle: Handle) -> Option<&Open> {
        self.opens.get(&handle)
    }

    /// How many files a client has open.
    #[must_use]
    pub fn open_count(&self, client: usize) -> usize {
        self.opens.keys().filter(|(of, _)| *of == client).count()
    }

    /// The client has cached a write, or written what it had cached.
    pub fn set_dirty(&mut self, handle: Handle, dirty: bool) {
        if let Some(open) = self.opens.get_mut(&handle) {
            open.dirty = dirty;
        }
    }

    /// The locks of a client.
    pub fn locks_of(&self, client: usize) -> impl Iterator<Item = &Lock> {
        self.locks.iter().filter(move |lock| lock.owner.0 == client)
    }

    /// How many files and folders there are on a share, its root included.
    #[must_use]
    pub fn objects(&self, share: usize) -> usize {
        self.names.keys().filter(|(of, _)| *of == share).count()
    }
}

/// Whether two opens, each with rights and what it lets others do, exclude each other ([MS-FSA] 2.1.5.1.2.2).
fn excludes((rights1, lets1): (u8, u8), (rights2, lets2): (u8, u8)) -> bool {
    rights1 != 0 && rights2 != 0 && (rights1 & !lets2 != 0 || rights2 & !lets1 != 0)
}
