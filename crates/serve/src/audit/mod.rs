//! The audit log (smb.conf `coax:audit`): one line of JSON for each operation on files and each refused request.
//!
//! Clients' threads put lines into a bounded [`queue`]; a thread of its own ([`writer`]) passes them to the [`sink`]. So a
//! full disk or a daemon that does not read delays no client. What finds no room is counted, and the log says how many
//! entries are missing.

mod entry;
mod queue;
mod sink;
mod writer;

use std::{
    sync::{Arc, Mutex, PoisonError, mpsc::Receiver},
    time::Duration,
};

use coax_server::act::Act;
use coax_smbconf::settings::{AuditEvent, AuditEvents, Settings};
use jiff::Timestamp;

pub(super) use entry::{Refusal, Who};
pub(super) use sink::Sink;

use entry::Entry;
use queue::Queue;

use super::{report::Reporter, status::AuditStatus};

/// How long the end of the server waits for the last entries.
const LAST_WRITE: Duration = Duration::from_secs(2);

/// The audit log.
#[derive(Debug)]
pub(super) struct Audit {
    events: AuditEvents,
    target: String,
    queue: Arc<Queue>,
    ended: Mutex<Receiver<()>>,
}

impl Audit {
    /// Starts the thread that writes to `sink`.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(super) fn start(
        sink: Sink,
        settings: &Settings,
        reporter: Reporter,
    ) -> std::io::Result<Self> {
        let bytes = usize::try_from(settings.global.audit_queue_kib).unwrap_or(usize::MAX);
        let queue = Arc::new(Queue::new(bytes.saturating_mul(1024)));
        let target = sink.to_string();
        let ended = writer::start(sink, queue.clone(), reporter)?;
        Ok(Self {
            events: settings.global.audit_events,
            target,
            queue,
            ended: Mutex::new(ended),
        })
    }

    /// Whether `event` is recorded.
    pub(super) fn wants(&self, event: AuditEvent) -> bool {
        self.events.has(event)
    }

    /// Records an operation.
    pub(super) fn act(&self, who: &Who<'_>, act: &Act) {
        let entry = Entry::of(who, act);
        if self.wants(entry.event()) {
            self.put(&entry);
        }
    }

    /// Records that a share was connected.
    pub(super) fn connect(&self, who: &Who<'_>, share: &str) {
        if self.wants(AuditEvent::Connect) {
            self.put(&Entry::connected(who, share));
        }
    }

    /// Records a refused request.
    pub(super) fn refused(&self, who: &Who<'_>, refusal: &Refusal<'_>) {
        if self.wants(AuditEvent::Refused) {
            self.put(&Entry::refused(who, refusal));
        }
    }

    fn put(&self, entry: &Entry<'_>) {
        self.queue.put(entry.line(Timestamp::now()));
    }

    /// Opens the file again by its name, after another program has rotated it.
    pub(super) fn reopen(&self) {
        self.queue.reopen();
    }

    /// Waits a short time until what was recorded is written, and ends.
    pub(super) fn finish(&self) {
        self.queue.end();
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = ended.recv_timeout(LAST_WRITE);
    }

    /// What `coax status` shows of it.
    pub(super) fn status(&self) -> AuditStatus {
        let state = self.queue.figures();
        AuditStatus {
            to: self.target.clone(),
            written: state.written,
            waiting: state.waiting,
            dropped: state.dropped,
            problem: state.problem,
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
