//! Files from open to close, and the copies that come of them.

use std::sync::Arc;

use coax_cause::Account;
use coax_wire::{
    command::TRANSACTION,
    time::{Span, Time},
};
use hashbrown::{HashMap, HashSet};

use super::{
    kept::CUT,
    mix::{Mix, Outcome},
    op::Opened,
    ranges::Ranges,
    union::Union,
};
use crate::{
    evidence::{self, Exchanged, Extent, MemoryBudget, RecorderId, RecorderSet},
    longest::Longest,
    report::{Copy, Direction},
    session::Moment,
};

/// Files open at a time on one connection; more are not followed.
const MOST_OPEN: usize = 2048;
/// Trees connected at a time; more are not followed.
const MOST_TREES: usize = 1024;

/// Copies listed of one connection, the longest; more are counted.
const MOST_ENDED: usize = 20_000;

/// The share that holds no files.
const PIPES: &[u8] = b"IPC$";

/// A moment, and what had been spent by then.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark {
    pub(crate) moment: Moment,
    pub(crate) spent: Account,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Files {
    open: HashMap<u16, Box<Open>>,
    /// The file opened or used last.
    latest: Option<u16>,
    /// Those that were opened and of whose numbers not all was kept, under numbers that stand in, the latest last.
    unsure: Vec<u16>,
    trees: HashMap<u16, Arc<str>>,
    /// Trees that TRANSACTION goes to: it carries named pipes and mailslots alone ([MS-CIFS] 2.2.4.33), so these are no
    /// folders, whether their names were kept or not.
    pipes: HashSet<u16>,
    ended: Longest<Copy, MOST_ENDED>,
    left_out: u64,
    /// What belongs to no copy, and the time that copies took.
    around: Mix,
    copying: Union,
    /// Who records the copies; and the places of those with detail.
    pub(super) recorders: Box<RecorderSet>,
    detailed: Vec<usize>,
}

#[derive(Debug)]
struct Open {
    tid: u16,
    name: Option<String>,
    /// Whether its opening was seen.
    seen: bool,
    share: Option<Arc<str>>,
    begin: Mark,
    last: Mark,
    size: Option<u64>,
    is_file: bool,
    /// Where its evidence is kept; folders and pipes have none.
    recorder: Option<RecorderId>,
    read: Ranges,
    written: Ranges,
    mix: Mix,
}

/// One request on an open file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(crate) tid: u16,
    pub(crate) fid: u16,
    pub(crate) begin: Mark,
    pub(crate) end: Mark,
    pub(crate) outcome: Outcome,
    /// Where the bytes are in the file, if any were moved, and whether they were written.
    pub(crate) moved: Option<(u64, bool)>,
}

impl Files {
    /// A share was connected.
    pub(crate) fn connect(&mut self, tid: u16, share: String) {
        self.pipes.remove(&tid);
        if self.trees.len() < MOST_TREES || self.trees.contains_key(&tid) {
            self.trees.insert(tid, share.into());
        }
    }

    /// A file was opened.
    pub(crate) fn open(&mut self, name: String, opened: Opened, usage: &Use) {
        let fid = self.number(&opened);
        // a server gives a FID anew only when it is free: we missed the close
        self.end(fid, false);
        // of some nothing was kept
        let name = Some(name).filter(|name| !name.trim_end_matches(CUT).is_empty());
        let mut open = Open::new(name, usage, &self.trees);
        open.seen = true;
        self.unsure.extend((!opened.is_sure).then_some(fid));
        self.latest = Some(fid);
        open.size = opened.size;
        open.is_file = opened.is_file && !open.is_on_pipes(&self.pipes);
        self.keep(fid, open);
        self.count(fid, usage);
    }

    /// A file's number; where not all of it was kept one that no file has, from the end that servers come to last.
    fn number(&self, opened: &Opened) -> u16 {
        let mut free = (1..u16::MAX).rev().filter(|fid| !self.is_open(*fid));
        match opened.is_sure {
            true => opened.fid,
            false => free.next().unwrap_or(opened.fid),
        }
    }

    /// A file was used; one that was opened before the capture is known from now on.
    pub(crate) fn touch(&mut self, usage: &Use) {
        self.adopt(usage);
        self.latest = Some(usage.fid);
        if !self.open.contains_key(&usage.fid) {
            let open = Open::new(None, usage, &self.trees);
            self.keep(usage.fid, open);
        }
        self.count(usage.fid, usage);
    }

    /// A file was closed.
    pub(crate) fn close(&mut self, usage: &Use) {
        self.adopt(usage);
        self.count(usage.fid, usage);
        self.end(usage.fid, true);
    }

    /// A number that no open file has is that of the latest on its tree whose number was not kept.
    fn adopt(&mut self, usage: &Use) {
        if self.unsure.is_empty() || self.is_open(usage.fid) {
            return;
        }
        let is_there = |fid: &u16| self.open.get(fid).is_some_and(|open| open.tid == usage.tid);
        let Some(place) = self.unsure.iter().rposition(is_there) else {
            return;
        };
        let unsure = self.unsure.remove(place);
        if let Some(open) = self.open.remove(&unsure) {
            self.open.insert(usage.fid, open);
        }
    }

    /// The file on a tree that was opened or used last, if it is still open; else the one on any.
    pub(crate) fn latest(&self, tid: u16) -> Option<u16> {
        let latest = self
            .latest
            .and_then(|fid| Some((fid, self.open.get(&fid)?)));
        if latest.is_some_and(|(_, open)| open.tid == tid) {
            return self.latest;
        }
        let there = self.open.iter().filter(|(_, open)| open.tid == tid);
        let there = there.max_by_key(|(fid, open)| (open.last.moment.frame, **fid));
        there.map(|(fid, _)| *fid).or(latest.map(|(fid, _)| fid))
    }

    /// Where the next bytes read or written belong, if they follow those before.
    pub(crate) fn next_offset(&self, fid: u16, writes: bool) -> u64 {
        let open = self.open.get(&fid);
        open.map_or(0, |open| {
            if writes {
                open.written.end()
            } else {
                open.read.end()
            }
        })
    }

    /// Whether a file of this number is open.
    pub(crate) fn is_open(&self, fid: u16) -> bool {
        self.open.contains_key(&fid)
    }

    /// The name of an open file, if it is known.
    pub(crate) fn name(&self, fid: u16) -> Option<&str> {
        self.open.get(&fid)?.name.as_deref()
    }

    /// The share that a file is on.
    pub(crate) fn share_of(&self, fid: u16) -> Option<Arc<str>> {
        self.open.get(&fid)?.share.clone()
    }

    /// The share of a tree.
    pub(crate) fn share(&self, tid: u16) -> Option<Arc<str>> {
        self.trees.get(&tid).cloned()
    }

    /// No more comes: what is still open ends where it was last used.
    pub(crate) fn finish(&mut self) {
        let mut left: Vec<u16> = self.open.keys().copied().collect();
        left.sort_unstable();
        left.into_iter().for_each(|fid| self.end(fid, false));
    }

    /// The copies that have ended, and how many more there were.
    pub(crate) fn take_ended(&mut self) -> (Vec<Copy>, u64) {
        (self.ended.take(), self.left_out)
    }

    fn keep(&mut self, fid: u16, mut open: Open) {
        if self.open.len() < MOST_OPEN {
            let is_copy = open.is_file && !open.is_on_pipes(&self.pipes);
            open.recorder = is_copy.then(|| self.recorders.begin(open.begin.moment.at));
            self.open.insert(fid, Box::new(open));
        }
    }

    /// Counts a request that is about no open file.
    pub(crate) fn count_around(&mut self, outcome: &Outcome) {
        self.around.add(outcome);
    }

    /// Counts a request that is about no open file, and notes its tree.
    pub(crate) fn count_apart(&mut self, usage: &Use) {
        if usage.outcome.name.command == TRANSACTION && self.pipes.len() < MOST_TREES {
            self.pipes.insert(usage.tid);
        }
        self.count_around(&usage.outcome);
    }

    /// What belongs to no copy, and the time in which a copy was under way.
    pub(crate) fn around(&self) -> (&Mix, Span) {
        (&self.around, self.copying.total())
    }

    /// Counts a request on a file that is open.
    fn count(&mut self, fid: u16, usage: &Use) {
        let Some(open) = self.open.get_mut(&fid) else {
            return self.count_around(&usage.outcome);
        };
        open.count(usage);
        if let Some(recorder) = open.recorder {
            let exchanged = usage.outcome.response.map(|response| Exchanged {
                name: usage.outcome.name,
                bytes: usage.outcome.bytes,
                response,
                begin: usage.begin.moment.at,
            });
            self.recorders.used(recorder, exchanged);
        }
    }

    /// Takes detail from copies that are not among the longest any more.
    fn prune(&mut self) {
        if !MemoryBudget::is_due(&self.detailed) {
            return;
        }
        for place in &self.detailed {
            let copy = self.ended.get_mut(*place);
            evidence::prune(self.recorders.room(), copy.into_iter());
        }
        let ended = &self.ended;
        self.detailed
            .retain(|place| ended.get(*place).is_some_and(has_detail));
    }

    fn end(&mut self, fid: u16, closed: bool) {
        let Some(open) = self.open.remove(&fid) else {
            return;
        };
        self.unsure.retain(|unsure| *unsure != fid);
        let is_file = open.is_file && !open.is_on_pipes(&self.pipes);
        let open = Open { is_file, ..*open };
        let copy = open.into_copy(closed, &mut self.recorders, &mut self.around);
        if let Some(copy) = copy {
            let others = self.open.values();
            let oldest = || others.map(|open| open.begin.moment.at).min();
            self.copying.add(copy.start, copy.start + copy.wall, oldest);
            self.list(copy);
        }
    }

    fn list(&mut self, copy: Copy) {
        let (detailed, wall) = (has_detail(&copy), copy.wall);
        let (place, left_out) = self.ended.add(copy, wall);
        self.left_out += u64::from(left_out.is_some());
        if let Some(place) = place.filter(|place| detailed && !self.detailed.contains(place)) {
            self.detailed.push(place);
        }
        self.prune();
    }
}

fn has_detail(copy: &Copy) -> bool {
    copy.breakdown.detail.is_some()
}

impl Open {
    fn new(name: Option<String>, usage: &Use, trees: &HashMap<u16, Arc<str>>) -> Self {
        Self {
            tid: usage.tid,
            name,
            seen: false,
            share: trees.get(&usage.tid).cloned(),
            begin: usage.begin,
            last: usage.begin,
            size: None,
            is_file: true,
            recorder: None,
            read: Ranges::default(),
            written: Ranges::default(),
            mix: Mix::default(),
        }
    }

    /// Whether it is on the share of pipes, by its name or, where that was not kept, by what goes to it.
    fn is_on_pipes(&self, pipes: &HashSet<u16>) -> bool {
        let share = self.share.as_deref().filter(|share| !share.ends_with(CUT));
        let Some(share) = share else {
            return pipes.contains(&self.tid);
        };
        let tail = share.len().checked_sub(PIPES.len());
        let tail = tail.and_then(|from| share.as_bytes().get(from..));
        tail.is_some_and(|tail| tail.eq_ignore_ascii_case(PIPES))
    }

    fn count(&mut self, usage: &Use) {
        self.mix.add(&usage.outcome);
        self.last = usage.end;
        let bytes = usage.outcome.bytes;
        match usage.moved {
            Some((offset, true)) => self.written.add(offset, bytes),
            Some((offset, false)) => self.read.add(offset, bytes),
            None => {}
        }
    }

    /// The copy, if any bytes of a file were moved.
    fn into_copy(
        self,
        closed: bool,
        recorders: &mut RecorderSet,
        around: &mut Mix,
    ) -> Option<Copy> {
        let to_client = self.read.moved() >= self.written.moved();
        let (moved, direction) = if to_client {
            (&self.read, Direction::ToClient)
        } else {
            (&self.written, Direction::ToServer)
        };
        let (begin, last) = (self.begin.moment, self.last.moment);
        let is_copy = moved.moved() > 0 && self.is_file;
        let extent = Extent {
            begin: begin.at,
            end: last,
            account: self.last.spent.since(&self.begin.spent),
            direction,
        };
        let told = self
            .recorder
            .map(|recorder| recorders.end(recorder, is_copy.then_some(&extent)));
        if !is_copy {
            around.merge(&self.mix);
            return None;
        }
        Some(Copy {
            connection: 0,
            direction,
            bytes: moved.covered(),
            moved: moved.moved(),
            start: begin.at,
            wall: Time::max(last.at, begin.at) - begin.at,
            frames: (begin.frame, last.frame),
            seen: (self.seen, closed),
            name: self.name,
            share: self.share,
            file_size: self.size,
            holes: moved.holes(),
            requests: self.mix.report(),
            account: extent.account,
            breakdown: told.unwrap_or_default(),
        })
    }
}
