//! Refused requests: each needs a reason, and may change only what cannot be undone.

use super::{
    Check, Moment, Open, State, beside, name,
    opening::{effective, joins, lets},
    parent, place, require,
    terms::Effect,
};
use crate::{
    op::{IfExists, Op, OpenArgs, Range, Request, Verb, right},
    rules::SHARES,
};
use coax_server::share::Access;

/// STATUS_CANCELLED.
const CANCELLED: u32 = 0xc000_0120;

type Reason = Option<&'static str>;

fn when(holds: bool, reason: &'static str) -> Reason {
    holds.then_some(reason)
}

impl State {
    pub(super) fn refused(&mut self, request: &Request, status: u32, at: Moment<'_>) -> Check {
        let reason = self.obstacle(request, at);
        let open = request
            .op
            .fid()
            .and_then(|fid| self.opens.get_mut(&(request.client, fid)));
        let deferred =
            reason.is_none() && open.is_some_and(|open| std::mem::take(&mut open.deferred));
        self.half_done(request, status, at);
        require(
            reason.is_some() || deferred,
            &format!("refused with {status:#010x}, and nothing stood against it"),
        )
    }

    /// Allows the possible effects of a refused request. After one failed call the server can undo a change of one
    /// object, or has not begun it. A second failure may also prevent the undo.
    fn half_done(&mut self, request: &Request, status: u32, at: Moment<'_>) {
        let open = request
            .op
            .fid()
            .and_then(|fid| self.opens.get(&(request.client, fid)));
        if let (Op::Write { .. } | Op::Flush { .. }, Some(open), true) =
            (&request.op, open, at.faults > 0)
        {
            self.nodes[open.node].sync_failed = true;
        }
        let share = self.trees.get(&(request.client, request.tid)).copied();
        if request.cancelled && status == CANCELLED {
            // A waiting request has not begun.
            return;
        }
        let (failed, twice) = (at.faults > 0, at.faults > 1);
        match &request.op {
            Op::Close { fid } if self.own(request, *fid, 0).is_ok() => {
                self.close((request.client, *fid), failed.then_some(()));
            }
            Op::Write { .. } | Op::SetLength { .. } if failed => self.allow_bytes(request),
            Op::Open(args) if twice => {
                let there = place(share.unwrap_or_default(), &args.path);
                self.unsure_watches();
                let overwrites = args.if_exists == IfExists::Overwrite;
                match self.names.get(&there).copied() {
                    Some(node) if overwrites => self.perhaps_overwrite(node, args.length),
                    None if args.create => self.possible.push(Effect::New {
                        place: there,
                        length: (args.folder != Some(true)).then_some(args.length),
                    }),
                    _ => {}
                }
            }
            Op::Rename { old, new, nt } if twice || old.contains('*') => {
                self.unsure_watches();
                self.perhaps_move(share.unwrap_or_default(), (old, new, *nt));
            }
            Op::Delete { path } if twice || path.contains('*') => {
                self.unsure_watches();
                self.perhaps_delete(&place(share.unwrap_or_default(), path));
            }
            _ => {}
        }
    }

    /// The reasons to refuse a request; `None` if it must succeed.
    pub(super) fn obstacle(&self, request: &Request, at: Moment<'_>) -> Reason {
        let client = request.client;
        let general = when(at.faults > 0, "the disk failed")
            .or(when(!at.nt, "refusals of old dialects are not judged"))
            .or(when(request.cancelled, "cancelled"));
        if general.is_some() || matches!(request.op, Op::LogOn { .. } | Op::Echo) {
            return general;
        }
        let Some(user) = self.sessions.get(&(client, request.uid)) else {
            return Some("not logged on");
        };
        match request.op {
            Op::LogOff | Op::Exit => return None,
            Op::Connect { share } => {
                return when(SHARES[share].access(*user) == Access::None, "not admitted");
            }
            _ => {}
        }
        let Some(share) = self.trees.get(&(client, request.tid)) else {
            return Some("not connected");
        };
        match (SHARES[*share].access(*user), &request.op) {
            (Access::None, _) => Some("not admitted"),
            (_, Op::Disconnect) => None,
            (access, _) => match request.op.fid() {
                Some(fid) => self.obstacle_of_open(request, fid, (access, at)),
                None => self.obstacle_of_path(request, *share, (access, at)),
            },
        }
    }

    fn obstacle_of_open(
        &self,
        request: &Request,
        fid: u16,
        (access, at): (Access, Moment<'_>),
    ) -> Reason {
        let Some(open) = self.opens.get(&(request.client, fid)) else {
            return Some("not open");
        };
        if (open.uid, open.tid) != (request.uid, request.tid) {
            return Some("another's FID");
        }
        let (node, read_only) = (&self.nodes[open.node], access != Access::Write);
        let lacks = |right: u8| open.rights & right == 0;
        let transfer = |right, range| self.obstacle_of_transfer(request, open, (right, range), at);
        match &request.op {
            Op::Read { offset, len, .. } => transfer(
                right::READ,
                Range {
                    offset: *offset,
                    length: u64::from(*len),
                },
            ),
            Op::Write { offset, data, .. } => transfer(
                right::WRITE,
                Range {
                    offset: *offset,
                    length: data.len() as u64,
                },
            ),
            Op::SetLength { len, .. } => {
                transfer(right::WRITE, self.resized_range(open.node, *len))
            }
            Op::Lock { .. } => {
                when(node.folder, "a folder").or(self.lock_obstacle(request, open, at))
            }
            Op::Unlock { range, .. } => {
                let pid = Self::locker(request);
                let held = |lock: &super::Lock| {
                    (lock.owner, lock.pid, lock.range) == ((request.client, fid), pid, *range)
                };
                when(node.folder, "a folder").or(when(!self.locks.iter().any(held), "not locked"))
            }
            Op::CancelLock { .. } => Some("there may be nothing to cancel"),
            Op::RenameOpen { new, replace, .. } => {
                when(read_only || lacks(right::DELETE), "no such right")
                    .or_else(|| self.rename_open_obstacle(open, new, *replace))
            }
            Op::Disposition { delete, .. } => {
                when(read_only || lacks(right::DELETE), "no such right")
                    .or(when(
                        node.place.as_ref().is_none_or(|there| there.1.is_empty()),
                        "the root",
                    ))
                    .or(when(*delete && !self.is_empty(open.node), "not empty"))
            }
            Op::Notify { .. } => when(!node.folder, "no folder")
                .or(when(lacks(right::READ), "no such right"))
                .or(when(node.doomed, "it goes")),
            Op::Flush { .. } => when(node.sync_failed, "a sync failed"),
            Op::Close { .. } => when(node.sync_failed, "a sync failed").or(when(
                !self.is_empty(open.node),
                "a folder to be deleted is not empty",
            )),
            _ => None,
        }
    }

    /// Why data of a range cannot be read or written.
    fn obstacle_of_transfer(
        &self,
        request: &Request,
        open: &Open,
        (right, range): (u8, Range),
        at: Moment<'_>,
    ) -> Reason {
        let node = &self.nodes[open.node];
        when(node.folder, "a folder")
            .or(when(open.rights & right == 0, "no such right"))
            .or(when(
                right == right::WRITE && node.sync_failed,
                "a sync failed",
            ))
            .or(self.locked_out(request, open, (range, at)))
    }

    fn rename_open_obstacle(&self, open: &Open, new: &str, replace: bool) -> Reason {
        let node = &self.nodes[open.node];
        let Some(from) = node.place.clone().filter(|there| !there.1.is_empty()) else {
            return Some("no name, or the root");
        };
        let to = beside(&from, new);
        let target = self.names.get(&to).filter(|_| from != to);
        let in_the_way = target.is_some_and(|target| {
            !replace || self.is_open(*target) || self.nodes[*target].folder || node.folder
        });
        let inside = node.folder
            && self
                .beneath(&from)
                .iter()
                .any(|there| self.is_open(self.names[there]));
        let doomed = self
            .folder_at(from.0, parent(&from.1))
            .is_none_or(|folder| self.nodes[folder].doomed);
        when(in_the_way, "the name is taken")
            .or(when(inside, "something in it is open"))
            .or(when(doomed, "its folder goes"))
    }

    fn locked_out(
        &self,
        request: &Request,
        open: &Open,
        (range, at): (Range, Moment<'_>),
    ) -> Reason {
        let owner = (request.client, request.op.fid().unwrap_or_default());
        let write = !matches!(request.op, Op::Read { .. });
        when(
            !self.may_transfer(owner, request.pid, range, write),
            "locked",
        )
        .or(when(
            self.granted_soon(request, open.node, range, at),
            "perhaps locked already",
        ))
    }

    /// Whether a waiting lock wants the range. It may already be granted without the owner's knowledge.
    fn granted_soon(&self, request: &Request, node: usize, range: Range, at: Moment<'_>) -> bool {
        at.pending.iter().any(|other| {
            let Op::Lock { fid, ranges, .. } = &other.op else {
                return false;
            };
            let open = self.opens.get(&(other.client, *fid));
            let same = (other.client, other.mid) == (request.client, request.mid);
            other.delivered
                && !same
                && open.is_some_and(|open| open.node == node)
                && ranges.iter().any(|wanted| wanted.overlaps(range))
        })
    }

    fn lock_obstacle(&self, request: &Request, open: &Open, at: Moment<'_>) -> Reason {
        let Op::Lock {
            fid,
            ranges,
            shared,
            wait_ms,
            ..
        } = &request.op
        else {
            return None;
        };
        let owner = ((request.client, *fid), Self::locker(request));
        let waited = at.now.saturating_sub(request.arrived) >= u64::from(*wait_ms) * 1_000_000;
        if !waited || *wait_ms == u32::MAX {
            return when(open.lock_cancelled, "cancelled");
        }
        let taken = |range: &Range| {
            self.lock_conflicts(open.node, owner, *range, *shared)
                || self.granted_soon(request, open.node, *range, at)
        };
        let itself = ranges.iter().enumerate().any(|(nth, range)| {
            !shared && ranges[..nth].iter().any(|other| other.overlaps(*range))
        });
        when(*wait_ms > 0, "waited in vain")
            .or(when(itself, "overlaps itself"))
            .or(when(ranges.iter().any(taken), "locked"))
    }

    fn obstacle_of_path(
        &self,
        request: &Request,
        share: usize,
        (access, at): (Access, Moment<'_>),
    ) -> Reason {
        let read_only = when(access != Access::Write, "read only");
        match &request.op {
            Op::Open(args) => self.open_obstacle(request, args, share, (access, at)),
            Op::Rename { old, new, nt } => read_only
                .or(self.crowded(request, at))
                .or_else(|| self.rename_obstacle(share, (old, new, *nt))),
            Op::Delete { path } => read_only.or(self.crowded(request, at)).or_else(|| {
                let found = self.meant(&place(share, path));
                let obstacle = found.iter().find_map(|there| {
                    let Some(node) = self.names.get(there).copied() else {
                        return Some("not found");
                    };
                    when(self.nodes[node].folder, "a folder")
                        .or(when(self.goes(node), "it goes already"))
                        .or(when(self.conflicts(node, right::DELETE, 0), "open"))
                });
                when(
                    self.files_meant(&place(share, path)).is_empty(),
                    "nothing found",
                )
                .or(obstacle)
            }),
            Op::MakeFolder { path } => {
                let there = place(share, path);
                read_only
                    .or(self.crowded(request, at))
                    .or(when(self.names.contains_key(&there), "it exists"))
                    .or(self.folder_obstacle(share, parent(&there.1)))
            }
            Op::RemoveFolder { path } => read_only.or(self.crowded(request, at)).or_else(|| {
                let there = place(share, path);
                let Some(node) = self.folder_at(share, &there.1) else {
                    return Some("no folder");
                };
                when(there.1.is_empty(), "the root")
                    .or(when(!self.is_empty(node), "not empty"))
                    .or(when(self.goes(node), "it goes already"))
                    .or(when(
                        self.conflicts(node, right::DELETE, right::ALL),
                        "open",
                    ))
            }),
            _ => None,
        }
    }

    /// Reasons of the parent folder of a new name: it is missing, or its deletion is pending.
    fn folder_obstacle(&self, share: usize, folder: &str) -> Reason {
        match self.folder_at(share, folder) {
            None => Some("no such folder"),
            Some(node) => when(self.nodes[node].doomed, "its folder goes"),
        }
    }

    /// Reasons of the open limit: the connection has reached it, or will if its waiting opens are granted.
    fn crowded(&self, request: &Request, at: Moment<'_>) -> Reason {
        let open = self
            .opens
            .keys()
            .filter(|(client, _)| *client == request.client)
            .count();
        let opening = at.pending.iter().filter(|other| {
            let same = other.mid == request.mid;
            other.client == request.client
                && other.delivered
                && !same
                && matches!(other.op, Op::Open(_))
        });
        when(
            open + opening.count() >= self.max_opens,
            "too many open files",
        )
    }

    fn open_obstacle(
        &self,
        request: &Request,
        args: &OpenArgs,
        share: usize,
        (access, at): (Access, Moment<'_>),
    ) -> Reason {
        let there = place(share, &args.path);
        let overwrites = args.if_exists == IfExists::Overwrite;
        let changes = args.rights & !right::READ != 0 || args.delete_on_close || overwrites;
        let read_only = access != Access::Write;
        let general = when(changes && read_only, "read only").or(self.crowded(request, at));
        let Some(node) = self.names.get(&there).copied() else {
            return general
                .or(when(!args.create, "not found"))
                .or(when(read_only, "read only"))
                .or(self.folder_obstacle(share, parent(&there.1)));
        };
        let found = &self.nodes[node];
        let folder_wanted = args
            .folder
            .unwrap_or(found.folder && args.verb == Verb::NtCreate);
        let wanted = (effective(args), lets(args, &there.1));
        let own = |client: usize| client == request.client;
        let joined = self
            .opens_of(node)
            .any(|((of, _), open)| own(*of) && joins(open, request, args, &there.1));
        general
            .or(when(args.if_exists == IfExists::Fail, "it exists"))
            .or(when(folder_wanted != found.folder, "another kind"))
            .or(when(overwrites && found.folder, "a folder"))
            .or(when(self.goes(node), "it goes"))
            .or(when(
                !joined && self.conflicts(node, wanted.0, wanted.1),
                "open",
            ))
    }

    fn rename_obstacle(&self, share: usize, (old, new, nt): (&str, &str, bool)) -> Reason {
        let moves = self.moves(share, (old, new, nt));
        if moves.is_empty() || old.contains('*') {
            return Some("a pattern may find nothing, or names that collide");
        }
        moves.iter().find_map(|(from, to)| {
            let Some(node) = self.names.get(from).copied() else {
                return Some("not found");
            };
            let folder = self.nodes[node].folder;
            let inside = folder
                && self
                    .beneath(from)
                    .iter()
                    .any(|there| self.is_open(self.names[there]));
            let into_itself = folder && to.1.starts_with(&format!("{}/", from.1));
            when(from.1.is_empty() || name(&to.1).is_empty(), "the root")
                .or(when(
                    from != to && self.names.contains_key(to),
                    "the name is taken",
                ))
                .or(when(self.goes(node), "it goes"))
                .or(when(
                    self.conflicts(node, right::DELETE, right::READ | right::WRITE),
                    "open",
                ))
                .or(when(
                    inside || into_itself,
                    "something in it is open, or it would lie in itself",
                ))
                .or(self.folder_obstacle(share, parent(&to.1)))
        })
    }
}
