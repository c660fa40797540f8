//! A copy: the profile's sequence of requests, with the data transfer in the middle.

mod depth;
mod download;
mod part;
mod script;
mod upload;

use super::{
    job::{Context, Job, Step as Progress},
    reply::Reply,
};
use crate::{
    calls::Request,
    error::{Error, Unfit},
    event::{Event, Outcome},
    profile::Step,
    spec::{CopySpec, Direction},
};
use alloc::vec::Vec;
use coax_wire::{
    command,
    header::{Fid, Mid},
    smb::close,
    time::Utime,
};
use download::Download;
use part::{STEP, WATCH, WATCH_FOLDER};
use upload::Upload;

#[derive(Debug)]
enum Stage {
    /// The next step of the sequence can start.
    Next,
    /// A step waits for its reply.
    Awaiting(Step),
    /// A search has found the file; the reply to its continuation is outstanding. One match is enough, because a name
    /// without wildcards has at most one, and the end of the search does not affect the copy.
    EndingSearch,
    /// The data is being transferred.
    Moving(Mover),
}

#[derive(Debug)]
enum Mover {
    Down(Download),
    Up(Upload),
}

/// Metadata of the server's file from earlier replies.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    size: Option<u64>,
    /// The size came in a field of 32 bits.
    narrow: bool,
    modified: Option<i64>,
    attributes: Option<u16>,
}

/// A change notification request for the file's folder, outstanding on the server.
#[derive(Debug, Default)]
struct Watch {
    folder: Option<Fid>,
    request: Option<Mid>,
}

#[derive(Debug)]
pub(crate) struct Copy {
    spec: CopySpec,
    steps: Option<Vec<Step>>,
    done_steps: usize,
    stage: Stage,
    fid: Option<Fid>,
    known: Known,
    watch: Watch,
    /// Bytes transferred, counted from [`CopySpec::from`].
    moved: u64,
    /// Bytes until the next [`Event::Progress`].
    reported: u64,
}

/// The largest size that fits into 32 bits. Servers also report it for larger files.
const SIZE_LIMIT: u64 = 0xffff_ffff;
/// Interval of progress events, bytes.
const REPORT_EVERY: u64 = 1 << 18;

impl Copy {
    pub fn new(spec: CopySpec) -> Self {
        Self {
            spec,
            steps: None,
            done_steps: 0,
            stage: Stage::Next,
            fid: None,
            known: Known::default(),
            watch: Watch::default(),
            moved: 0,
            reported: 0,
        }
    }

    fn to_server(&self) -> bool {
        self.spec.direction == Direction::ToServer
    }

    /// The next step of the sequence in this dialect.
    fn next_step(&mut self, cx: &Context<'_>) -> Option<Step> {
        let to_server = self.to_server();
        let steps = self.steps.get_or_insert_with(|| {
            let copying = &cx.profile.copy;
            let script = if to_server {
                &copying.put
            } else {
                &copying.get
            };
            let suited = |step: &Step| step.suited(cx.link.generation(), cx.link.nt_smbs());
            script.iter().filter_map(suited).collect()
        });
        let step = steps.get(self.done_steps).copied();
        self.done_steps = self.done_steps.saturating_add(1);
        step
    }

    fn opened(&self) -> Result<Fid, Error> {
        self.fid.ok_or(Error::Protocol(
            "a copy whose script does not open the file",
        ))
    }

    fn mover(&self, cx: &Context<'_>) -> Result<Mover, Error> {
        let fid = self.opened()?;
        if self.to_server() {
            return Ok(Mover::Up(Upload::new(fid, &self.spec, &cx.profile.write)));
        }
        let checks_end = self.known.narrow && self.spec.checks_end;
        let unknown = checks_end && self.known.size == Some(SIZE_LIMIT);
        let expected = self.spec.size.filter(|_| self.known.narrow);
        if unknown || expected.is_some_and(|size| size > SIZE_LIMIT) {
            return Err(Unfit::TooLarge(cx.link.dialect.name).into());
        }
        let spec = CopySpec {
            checks_end,
            ..self.spec.clone()
        };
        let size = self.known.size;
        Ok(Mover::Down(Download::new(
            fid,
            &spec,
            size,
            &cx.profile.read,
        )))
    }

    /// Records the progress of the transfer, and reports it at intervals.
    fn note(&mut self, cx: &mut Context<'_>, moved: u64) {
        self.moved = moved;
        if self.moved >= self.reported.saturating_add(REPORT_EVERY) {
            self.reported = self.moved;
            cx.events.push_back(Event::Progress {
                job: cx.job,
                bytes: self.moved,
            });
        }
    }

    /// Continues the transfer. Returns whether it is complete.
    fn move_on(&mut self, cx: &mut Context<'_>) -> Result<bool, Error> {
        let Stage::Moving(mover) = &mut self.stage else {
            return Ok(false);
        };
        let (over, moved) = match mover {
            Mover::Down(down) => (down.advance(cx)?, down.moved()),
            Mover::Up(up) => (up.advance(cx)?, up.moved()),
        };
        self.note(cx, moved);
        Ok(over)
    }
}

impl Job for Copy {
    fn advance(&mut self, cx: &mut Context<'_>) -> Result<Progress, Error> {
        if self.done_steps == 0 && self.to_server() {
            upload::check_size(cx, &self.spec)?;
        }
        loop {
            match self.stage {
                Stage::Awaiting(_) | Stage::EndingSearch => return Ok(Progress::Waiting),
                Stage::Moving(_) => {
                    if !self.move_on(cx)? {
                        return Ok(Progress::Waiting);
                    }
                    self.stage = Stage::Next;
                }
                Stage::Next => match self.next_step(cx) {
                    Some(Step::Transfer) => self.stage = Stage::Moving(self.mover(cx)?),
                    Some(step) => {
                        if self.send_step(cx, step)? {
                            self.stage = Stage::Awaiting(step);
                        }
                    }
                    None => {
                        self.end_watch(cx);
                        return Ok(Progress::Done(Outcome::Copied {
                            bytes: self.moved,
                            modified: self.known.modified,
                            attributes: self.known.attributes,
                        }));
                    }
                },
            }
        }
    }

    fn reply(&mut self, cx: &mut Context<'_>, part: u32, reply: &Reply<'_>) -> Result<(), Error> {
        match (part, &mut self.stage) {
            (STEP, Stage::Awaiting(step)) => {
                let step = *step;
                self.stage = Stage::Next;
                self.step_reply(cx, step, reply)?;
                if step == Step::SetFileTimes && cx.link.nt_smbs() {
                    // CLOSE counts seconds and ends in 2106; its time would replace the exact one.
                    self.spec.modified = None;
                }
                Ok(())
            }
            (STEP, Stage::EndingSearch) => {
                self.stage = Stage::Next;
                Ok(())
            }
            (WATCH_FOLDER, _) => self.watch_folder(cx, reply),
            (WATCH, _) => self.watch_answered(cx, reply),
            (_, Stage::Moving(Mover::Down(down))) => down.reply(cx, part, reply),
            (_, Stage::Moving(Mover::Up(up))) => up.reply(cx, part, reply),
            _ => Ok(()),
        }
    }

    fn give_up(&mut self, cx: &mut Context<'_>) {
        if let Some(fid) = self.fid.take() {
            let mut request = Request::new(command::CLOSE, STEP);
            close::Request {
                fid,
                modified: Utime(0),
            }
            .emit(&mut request.out);
            // The copy has failed already; an error here has no consequence.
            let _ = cx.send(request);
        }
        self.end_watch(cx);
    }
}
