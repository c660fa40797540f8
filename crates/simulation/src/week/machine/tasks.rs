//! What a machine does while it is there.

use super::Machine;
use crate::{
    op::{Carrier, IfExists, Op, OpenArgs, Oplock, Range, Sharing, Verb, right},
    rng::Rng,
    rules::USERS,
    week::terms::{Figures, MACHINES},
};

impl Machine {
    /// One task.
    pub(super) fn work(
        &mut self,
        now: u64,
        rng: &mut Rng,
        figures: &mut Figures,
    ) -> Result<(), String> {
        match rng.below(13) {
            0..3 => self.write_a_file(now, rng, figures),
            3..5 => self.read_a_file(now, figures),
            5 => self.lock(now, rng, figures),
            6 => self.delete(now, rng, figures),
            7 => self.guess_passwords(now, rng, figures),
            8 => self.watch(now, figures),
            9 => self.keep_open(now, rng, figures),
            10 => self.search(now, figures),
            11 => self.print(now, rng, figures),
            _ => self.begin_and_forget(now, figures),
        }
    }

    fn own(&self, name: &str) -> String {
        format!("M{}\\{name}", self.number)
    }

    fn open(
        &mut self,
        now: u64,
        args: OpenArgs,
        figures: &mut Figures,
    ) -> Result<Option<u16>, String> {
        let reply = self.ask(now, Op::Open(args), figures)?;
        Ok(reply
            .and_then(|reply| reply.opened)
            .map(|opened| opened.fid))
    }

    fn close(&mut self, now: u64, fid: u16, figures: &mut Figures) -> Result<(), String> {
        if let Some(visit) = &mut self.visit {
            visit.open.retain(|(open, _)| *open != fid);
        }
        self.ask(now, Op::Close { fid }, figures).map(drop)
    }

    fn write_a_file(
        &mut self,
        now: u64,
        rng: &mut Rng,
        figures: &mut Figures,
    ) -> Result<(), String> {
        let path = self.own(&format!("F{}.TMP", rng.below(40)));
        let args = OpenArgs {
            create: true,
            rights: right::READ | right::WRITE,
            if_exists: IfExists::Overwrite,
            oplock: rng.of([Oplock::None, Oplock::Batch]),
            ..plain(path)
        };
        let Some(fid) = self.open(now, args, figures)? else {
            return Ok(());
        };
        for block in 0..1 + rng.below(4) as u64 {
            let write = Op::Write {
                fid,
                offset: block * 1_000,
                data: vec![b'x'; 1_000],
                by: rng.of([Carrier::Core, Carrier::AndX]),
                through: false,
            };
            self.ask(now, write, figures)?;
        }
        self.close(now, fid, figures)
    }

    fn read_a_file(&mut self, now: u64, figures: &mut Figures) -> Result<(), String> {
        let Some(fid) = self.open(now, plain("SHARED.DAT".into()), figures)? else {
            return Ok(());
        };
        for block in 0..4 {
            let read = Op::Read {
                fid,
                offset: block * 1_000,
                len: 1_000,
                by: Carrier::AndX,
            };
            self.ask(now, read, figures)?;
        }
        self.close(now, fid, figures)
    }

    /// Locks a range of a file that others lock too, and waits up to some seconds for it. The file stays open.
    fn lock(&mut self, now: u64, rng: &mut Rng, figures: &mut Figures) -> Result<(), String> {
        let Some(fid) = self.open(now, plain("SHARED.DAT".into()), figures)? else {
            return Ok(());
        };
        let lock = Op::Lock {
            fid,
            ranges: vec![Range {
                offset: 0,
                length: 10,
            }],
            shared: false,
            wait_ms: rng.of([0, 5_000, 120_000]),
            core: false,
        };
        self.ask(now, lock, figures).map(drop)
    }

    fn delete(&mut self, now: u64, rng: &mut Rng, figures: &mut Figures) -> Result<(), String> {
        let path = match rng.chance(50) {
            true => self.own("F1*.TMP"),
            false => self.own(&format!("F{}.TMP", rng.below(40))),
        };
        self.ask(now, Op::Delete { path }, figures).map(drop)
    }

    /// Log-ons with a wrong password, then perhaps the right one.
    fn guess_passwords(
        &mut self,
        now: u64,
        rng: &mut Rng,
        figures: &mut Figures,
    ) -> Result<(), String> {
        for _ in 0..1 + rng.below(6) {
            let mut request = self.echo(0);
            request.op = Op::LogOn { user: Some("ann") };
            request.mid = self.next_mid();
            let mut message = self.speaker().messages(&request).swap_remove(0);
            let right = USERS[0].1.as_bytes();
            let place = message.windows(right.len()).position(|part| part == right);
            let place = place.ok_or("a log-on without its password")?;
            message[place] = b'?';
            figures.wrong_passwords += 1;
            self.failed = Some(now);
            self.send(now, &message, figures)?;
        }
        Ok(())
    }

    /// Waits for a change that may come or not.
    fn watch(&mut self, now: u64, figures: &mut Figures) -> Result<(), String> {
        if !self.nt {
            return Ok(());
        }
        let args = OpenArgs {
            verb: Verb::NtCreate,
            folder: Some(true),
            ..plain(format!("M{}", (self.number + 1) % MACHINES))
        };
        let Some(fid) = self.open(now, args, figures)? else {
            return Ok(());
        };
        let notify = Op::Notify {
            fid,
            filter: 0x17f,
            tree: false,
            room: 200,
        };
        self.ask(now, notify, figures).map(drop)
    }

    /// Keeps a file open with an oplock whose break it never answers.
    fn keep_open(&mut self, now: u64, rng: &mut Rng, figures: &mut Figures) -> Result<(), String> {
        let args = OpenArgs {
            oplock: Oplock::Exclusive,
            ..plain("SHARED.DAT".into())
        };
        let fid = self.open(now, args, figures)?;
        let visit = self.visit.as_mut();
        let many = visit.is_some_and(|visit| visit.open.len() > 6);
        match fid {
            Some(fid) if many || rng.chance(30) => self.close(now, fid, figures),
            _ => Ok(()),
        }
    }

    /// Begins a search of the core protocol, which clients never end.
    fn search(&mut self, now: u64, figures: &mut Figures) -> Result<(), String> {
        let pattern = format!("\x04\\{}\0\x05\0\0", self.own("*.*"));
        figures.searches += 1;
        let words = [2, 0x16];
        self.raw(now, 0x81, (&words, pattern.as_bytes()), figures)
            .map(drop)
    }

    fn print(&mut self, now: u64, rng: &mut Rng, figures: &mut Figures) -> Result<(), String> {
        let printer = self.visit.as_ref().map_or(0, |visit| visit.printer);
        let begin = self.raw_on(now, (0xc0, printer), (&[0, 1], b"\x04JOB\0"), figures)?;
        if begin.as_ref().is_none_or(|reply| !reply.is_ok()) {
            return Ok(());
        }
        let fid = self.word;
        let data = b"\x01\x05\0hello";
        self.raw_on(now, (0xc1, printer), (&[fid], data), figures)?;
        if rng.chance(70) {
            self.raw_on(now, (0xc2, printer), (&[fid], b""), figures)?;
        }
        Ok(())
    }

    /// A transaction whose second part never comes.
    fn begin_and_forget(&mut self, now: u64, figures: &mut Figures) -> Result<(), String> {
        let mut request = self.echo(self.visit.as_ref().map_or(0, |visit| visit.tid));
        request.op = Op::Open(OpenArgs {
            verb: Verb::Trans2Open,
            split: true,
            ..plain("SHARED.DAT".into())
        });
        request.mid = self.next_mid();
        let message = self.speaker().messages(&request).swap_remove(0);
        self.send(now, &message, figures).map(drop)
    }
}

fn plain(path: String) -> OpenArgs {
    OpenArgs {
        verb: Verb::OpenAndX,
        path,
        rights: right::READ,
        sharing: Sharing::Deny(4),
        if_exists: IfExists::Open,
        create: false,
        folder: None,
        oplock: Oplock::None,
        delete_on_close: false,
        length: 0,
        read: None,
        split: false,
    }
}
