//! The thread that passes entries on.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc,
        mpsc::{Receiver, channel},
    },
    time::{Duration, Instant},
};

use super::{
    queue::{BATCH, Queue},
    sink::{Progress, Sink},
};
use crate::report::Reporter;

/// Time between two attempts while nothing can be written.
const AGAIN: Duration = Duration::from_secs(1);
/// Time between two reports of dropped entries.
const REPORTS: Duration = Duration::from_secs(60);

/// Starts the thread. The channel closes when it ends.
///
/// # Errors
/// The system gives no thread.
pub(super) fn start(sink: Sink, queue: Arc<Queue>, reporter: Reporter) -> io::Result<Receiver<()>> {
    let (ends, ended) = channel();
    let builder = std::thread::Builder::new().name("coax-audit".into());
    builder.spawn(move || {
        let _ends = ends;
        let mut writer = Writer {
            sink,
            queue: &queue,
            reporter: &reporter,
            lines: VecDeque::with_capacity(BATCH),
            failed: None,
            dropped: 0,
            told: Instant::now(),
        };
        writer.run();
    })?;
    Ok(ended)
}

struct Writer<'a> {
    sink: Sink,
    queue: &'a Queue,
    reporter: &'a Reporter,
    /// Lines that are being passed on.
    lines: VecDeque<Box<[u8]>>,
    /// When the last attempt failed, if it did.
    failed: Option<Instant>,
    /// Dropped entries that were reported, and when.
    dropped: u64,
    told: Instant,
}

impl Writer<'_> {
    fn run(&mut self) {
        loop {
            let is_failing = self.failed.is_some();
            let until = match self.failed {
                Some(at) => at + AGAIN,
                None => Instant::now() + REPORTS,
            };
            let orders = self.queue.take(&mut self.lines, until, !is_failing);
            if orders.reopen {
                self.reopen();
            }
            if let Err(error) = self.pass_on_all(orders.empty) {
                self.fail(&error);
            }
            self.report_dropped(orders.end);
            let is_done = self.lines.is_empty() && orders.empty;
            if orders.end && (is_done || self.failed.is_some()) {
                return self.end();
            }
        }
    }

    /// Passes on all lines that were taken. If none follow, the number of dropped entries follows.
    fn pass_on_all(&mut self, none_follow: bool) -> io::Result<()> {
        self.pass_on()?;
        if none_follow {
            self.lines.extend(self.queue.marker());
        }
        self.pass_on()
    }

    /// Passes on all lines that were taken.
    fn pass_on(&mut self) -> io::Result<()> {
        while !self.lines.is_empty() {
            match self.sink.write(&self.lines) {
                Ok(Progress::Lines(count)) => {
                    let done: Vec<_> = self.lines.drain(..count).collect();
                    self.queue.written(&done);
                    self.recover();
                }
                Ok(Progress::TooLong) => {
                    let long: Vec<_> = self.lines.drain(..1).collect();
                    self.queue.drop_lines(&long);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn fail(&mut self, error: &io::Error) {
        let first = self.failed.replace(Instant::now()).is_none();
        if first {
            let problem = error.to_string();
            self.reporter.notice(format!(
                "the audit log {} cannot be written: {problem}; entries wait in memory up to 'coax:audit queue', further ones are dropped",
                self.sink
            ));
            self.queue.set_problem(Some(problem));
        }
    }

    fn recover(&mut self) {
        if self.failed.take().is_some() {
            self.queue.set_problem(None);
            let text = format!("the audit log {} is written again", self.sink);
            self.reporter.notice(text);
        }
    }

    fn reopen(&mut self) {
        let sink = self.sink.to_string();
        let text = match self.sink.reopen() {
            None => return,
            Some(Ok(())) => format!("signal to open logs: the audit log {sink} is open anew"),
            Some(Err(error)) => format!(
                "signal to open logs: cannot open the audit log {sink} anew: {error}; the old one stays open"
            ),
        };
        self.reporter.notice(text);
    }

    fn report_dropped(&mut self, at_once: bool) {
        let dropped = self.queue.figures().dropped;
        let is_due = at_once || self.dropped == 0 || self.told.elapsed() >= REPORTS;
        if dropped == self.dropped || !is_due {
            return;
        }
        (self.dropped, self.told) = (dropped, Instant::now());
        self.reporter.notice(format!(
            "the audit log {} lacks {dropped} entries so far: its queue was full ('coax:audit queue')",
            self.sink
        ));
    }

    fn end(&mut self) {
        let lines: Vec<_> = self.lines.drain(..).collect();
        self.queue.drop_lines(&lines);
        let dropped = self.queue.abandon();
        if dropped != self.dropped {
            self.reporter.notice(format!(
                "the audit log {} lacks {dropped} entries at the end",
                self.sink
            ));
        }
    }
}
