//! Oplocks: granting, breaking, acknowledging ([MS-CIFS] 3.3.5, 3.3.4.2; [MS-FSA] 2.1.5.18).
//!
//! At most one open of a file has an exclusive or batch oplock. Another open of the file breaks it and waits until the
//! holder has acknowledged, has closed or has taken too long. If share modes forbid that other open, only a batch
//! oplock is broken (its holder may be keeping the file open without need); then it is judged anew.
//!
//! Level II oplocks are broken to none by whatever changes the file, without waiting: by overwriting opens, writes and
//! byte-range locks, those of the holder itself included.

use super::oplock::{Break, BreakOutcome, Oplock, OplockWish};
use super::{ConnId, Event, Open, OpenId, OpenOutcome, OpenRequest, Refusal, Tables, Timer};
use crate::vfs::FileId;
use alloc::vec::Vec;
use coax_wire::time::Time;

impl Tables {
    /// The client acknowledges a break, keeping `level` (LOCKING_ANDX with OPLOCK_RELEASE). Returns the oplock it has
    /// then: never more than the break offered. An acknowledgement nobody waits for changes nothing.
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

    /// To be called before data, length or locks of the file change through `id`: breaks all level II oplocks on it,
    /// the writer's own included, without waiting.
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

    /// For what `conn` does to a file by its path without opening it: breaks an exclusive or batch oplock on it down
    /// to `to` (level II or none), and level II oplocks if `to` is none.
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

    /// For renaming a file by its path through SET_PATH_INFORMATION: breaks a batch oplock on it down to `to`, and
    /// leaves others alone. Windows asks for none (raw.oplock batch19, batch20; exclusive7).
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

    /// Asks the holder to give up its oplock, unless it has been asked already. Returns its deadline.
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

    /// The holder of a breaking oplock has `level` from now on; whoever waited for it may retry.
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

    /// What can be granted, now that nobody's oplock is in the way.
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
