//! Oplocks: granting, breaking, acknowledging ([MS-CIFS] 3.3.5, 3.3.4.2; [MS-FSA] 2.1.5.18).
//!
//! At most one open of a file has an exclusive or batch oplock. Another open of the file breaks it and waits until the
//! holder acknowledges, closes or times out. On a sharing violation the other open breaks only a batch oplock, because
//! its holder may be keeping the file open without need. After the break the table checks the open again.
//!
//! Every change of the file breaks level II oplocks to none, without waiting: overwriting opens, writes and byte-range
//! locks, even those of the holder itself.

use super::oplock::{Break, BreakOutcome, Oplock, OplockWish};
use super::{ConnId, Event, Open, OpenId, OpenOutcome, OpenRequest, Refusal, Tables, Timer};
use crate::vfs::FileId;
use alloc::vec::Vec;
use coax_wire::time::Time;

impl Tables {
    /// Handles the client's acknowledgement of a break, which keeps `level` (LOCKING_ANDX with OPLOCK_RELEASE). Returns
    /// the new oplock, never more than the break offered. An unexpected acknowledgement has no effect.
    pub fn acknowledge(&mut self, id: OpenId, level: Oplock) -> Result<Oplock, Refusal> {
        let open = self.opens.get(&id).ok_or(Refusal::UnknownOpen)?;
        if let Some(Break { to, .. }) = open.breaking {
            self.finish_break(id, level.min(to));
        }
        self.opens
            .get(&id)
            .map(|open| open.oplock)
            .ok_or(Refusal::UnknownOpen)
    }

    /// Breaks all level II oplocks on the file, the writer's own included, without waiting. The engine must call this
    /// before data, length or locks of the file change through `id`.
    pub fn before_write(&mut self, id: OpenId) {
        if let Some(file) = self.opens.get(&id).map(|open| open.request.file) {
            self.break_level2(file);
        }
    }

    /// Breaks all level II oplocks on a file to none.
    pub fn break_level2(&mut self, file: FileId) {
        let holders: Vec<(ConnId, OpenId)> = self
            .opens_of_file(file)
            .filter(|open| open.oplock == Oplock::LevelII)
            .map(|open| (open.request.conn, open.id))
            .collect();
        for (conn, id) in holders {
            if let Some(open) = self.opens.get_mut(&id) {
                open.oplock = Oplock::None;
            }
            self.post(
                conn,
                Event::OplockBreak {
                    open: id,
                    to: Oplock::None,
                },
            );
        }
    }

    /// Breaks the oplocks for an operation of `conn` on a file by path, without an open. Breaks an exclusive or batch
    /// oplock to `to` (level II or none), and level II oplocks if `to` is none.
    pub fn break_oplocks(
        &mut self,
        now: Time,
        conn: ConnId,
        file: FileId,
        to: Oplock,
    ) -> BreakOutcome {
        let outcome = self.break_where(now, conn, file, to, Oplock::excludes);
        if outcome == BreakOutcome::Clear && to == Oplock::None {
            self.break_level2(file);
        }
        outcome
    }

    /// Breaks the oplock for a rename by path through SET_PATH_INFORMATION: a batch oplock breaks to `to`, others stay.
    /// Windows breaks to none (raw.oplock batch19, batch20; exclusive7).
    pub fn break_batch(
        &mut self,
        now: Time,
        conn: ConnId,
        file: FileId,
        to: Oplock,
    ) -> BreakOutcome {
        self.break_where(now, conn, file, to, |oplock| oplock == Oplock::Batch)
    }

    fn break_where(
        &mut self,
        now: Time,
        conn: ConnId,
        file: FileId,
        to: Oplock,
        breaks: impl Fn(Oplock) -> bool,
    ) -> BreakOutcome {
        match self.holder(file, |open| breaks(open.oplock)) {
            Some(holder) => self.park(now, conn, file, holder, to),
            None => BreakOutcome::Clear,
        }
    }

    pub(super) fn holder(&self, file: FileId, is_it: impl Fn(&Open) -> bool) -> Option<OpenId> {
        self.opens_of_file(file)
            .find(|open| is_it(open))
            .map(|open| open.id)
    }

    pub(super) fn break_first(
        &mut self,
        now: Time,
        request: &OpenRequest,
        holder: OpenId,
    ) -> OpenOutcome {
        let to = if request.overwrites {
            Oplock::None
        } else {
            Oplock::LevelII
        };
        match self.park(now, request.conn, request.file, holder, to) {
            BreakOutcome::Wait { ticket, deadline } => OpenOutcome::BreakFirst { ticket, deadline },
            BreakOutcome::Clear => OpenOutcome::SharingViolation,
        }
    }

    fn park(
        &mut self,
        now: Time,
        conn: ConnId,
        file: FileId,
        holder: OpenId,
        to: Oplock,
    ) -> BreakOutcome {
        let Some(deadline) = self.begin_break(now, holder, to) else {
            return BreakOutcome::Clear;
        };
        let ticket = self.next_ticket();
        self.files
            .entry(file)
            .or_default()
            .parked
            .push((conn, ticket));
        self.tickets.insert(ticket, file);
        BreakOutcome::Wait { ticket, deadline }
    }

    /// Asks the holder to give up its oplock, unless a break is pending. Returns the deadline of the holder.
    fn begin_break(&mut self, now: Time, id: OpenId, to: Oplock) -> Option<Time> {
        let timeout = self.config.break_timeout;
        let open = self.opens.get_mut(&id)?;
        if let Some(running) = open.breaking {
            return Some(running.deadline);
        }
        let to = if open.request.level2 {
            to
        } else {
            Oplock::None
        };
        let deadline = now + timeout;
        open.breaking = Some(Break { to, deadline });
        let (conn, file) = (open.request.conn, open.request.file);
        self.deadlines.insert((deadline, Timer::Break(id)));
        let file = self.files.entry(file).or_default();
        file.contentions = file.contentions.saturating_add(1);
        self.post(conn, Event::OplockBreak { open: id, to });
        Some(deadline)
    }

    /// Ends a break: the holder keeps `level`, and requests that waited may retry.
    pub(super) fn finish_break(&mut self, id: OpenId, level: Oplock) {
        let Some(open) = self.opens.get_mut(&id) else {
            return;
        };
        let Some(Break { deadline, .. }) = open.breaking.take() else {
            return;
        };
        open.oplock = level;
        self.deadlines.remove(&(deadline, Timer::Break(id)));
        let file = open.request.file;
        let parked = self
            .files
            .get_mut(&file)
            .map(|file| core::mem::take(&mut file.parked));
        for (conn, ticket) in parked.unwrap_or_default() {
            self.retry(conn, ticket);
        }
    }

    /// The oplock to grant when no other open's oplock conflicts.
    pub(super) fn oplock_for(&self, request: &OpenRequest) -> Oplock {
        let wished = match request.oplock {
            OplockWish::None => return Oplock::None,
            _ if request.is_directory => return Oplock::None,
            OplockWish::Exclusive => Oplock::Exclusive,
            OplockWish::Batch => Oplock::Batch,
        };
        if request.fake_oplocks {
            return wished;
        }
        let file = self.files.get(&request.file);
        if file.is_some_and(|file| !file.locks.is_empty()) {
            return Oplock::None;
        }
        let shared = self
            .opens_of_file(request.file)
            .any(|open| !open.is_bystander());
        let limit = self.config.contention_limit;
        let contended = limit > 0 && file.is_some_and(|file| file.contentions >= limit);
        match (shared, contended) {
            (false, false) => wished,
            (true, _) if request.only_attributes() => Oplock::None,
            _ if request.level2 => Oplock::LevelII,
            _ => Oplock::None,
        }
    }
}
