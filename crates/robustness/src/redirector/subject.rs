//! A client under test, and what must hold after every step.

use super::plan::{Plan, Task};
use coax_client::{
    Client, CopySpec, Direction, Error, Event, JobId, LocalError, LocalFiles, Operation, Outcome,
    Tail, Transmit,
};
use coax_wire::time::{Span, Time};
use std::{collections::BTreeMap, sync::OnceLock};

/// The longest message that a transport's length field can announce, and what the buffer may keep besides, bytes.
const MOST_BUFFERED: usize = (1 << 24) + 70_000;
/// The buffer grows with what came, to at most this many times as much.
const GROWTH: u64 = 4;
/// What an idle buffer may hold, bytes.
const IDLE: u64 = 8192;
/// Requests that may be outstanding when a step begins.
const OUTSTANDING: u64 = 200;
/// The shortest reply, bytes: what comes in a step holds no more replies than its length divided by this.
const SHORTEST: u64 = 4;
/// The longest request, bytes.
const LONGEST: u64 = 140_000;
/// Local files are kept up to here, bytes.
const KEPT: u64 = 1 << 20;

/// The bytes of local files: the same for all.
pub fn pattern() -> &'static [u8] {
    static NOISE: OnceLock<Vec<u8>> = OnceLock::new();
    NOISE.get_or_init(|| {
        let mut random = crate::mutate::Random(3);
        // A prime, so that no block size repeats.
        (0..65_521).map(|_| random.next_u64() as u8).collect()
    })
}

/// Fills `buffer` with what a local file holds from `offset` on.
pub fn fill(offset: u64, buffer: &mut [u8]) {
    let noise = pattern();
    let mut at = (offset % noise.len() as u64) as usize;
    for piece in buffer.chunks_mut(noise.len()) {
        let (head, tail) = piece.split_at_mut((noise.len() - at).min(piece.len()));
        head.copy_from_slice(&noise[at..at + head.len()]);
        tail.copy_from_slice(&noise[..tail.len()]);
        at = (at + piece.len()) % noise.len();
    }
}

/// Local files: to read, the pattern; to write, what came.
#[derive(Debug, Default)]
pub struct Files {
    tasks: BTreeMap<JobId, Task>,
    /// What copies brought, as far as it is kept.
    pub brought: BTreeMap<JobId, Vec<u8>>,
    written: u64,
    /// The job that is being handed in, which the engine may begin before its number is known.
    coming: Option<Task>,
}

impl Files {
    fn task(&self, job: JobId) -> &Task {
        self.tasks
            .get(&job)
            .or(self.coming.as_ref())
            .expect("a local file of a job that was never submitted")
    }
}

impl LocalFiles for Files {
    fn write(&mut self, job: JobId, offset: u64, data: &[u8]) -> Result<(), LocalError> {
        self.written += data.len() as u64;
        let end = offset.saturating_add(data.len() as u64);
        if end > self.task(job).full_at {
            return Err(LocalError {
                message: "full".into(),
                disk_full: true,
            });
        }
        if end <= KEPT {
            let file = self.brought.entry(job).or_default();
            file.resize(file.len().max(end as usize), 0);
            file[offset as usize..end as usize].copy_from_slice(data);
        }
        Ok(())
    }

    fn read(&mut self, job: JobId, offset: u64, buffer: &mut [u8]) -> Result<usize, LocalError> {
        let rest = self.task(job).local_len.saturating_sub(offset);
        let len = rest.min(buffer.len() as u64) as usize;
        fill(offset, &mut buffer[..len]);
        Ok(len)
    }
}

/// A client, what was asked of it, and what it said.
pub struct Subject {
    /// The client.
    pub client: Client,
    /// Now.
    pub now: Time,
    /// Local files.
    pub files: Files,
    /// How each operation ended.
    pub ends: BTreeMap<JobId, Result<Outcome, Error>>,
    submitted: u64,
    fed: u64,
    closed_events: u64,
}

impl Subject {
    /// A client that was just connected.
    pub fn new(now: Time, plan: &Plan) -> Self {
        let mut client = Client::new(now, plan.profile.clone(), plan.target.clone());
        client.record_exchanges();
        Self {
            client,
            now,
            files: Files::default(),
            ends: BTreeMap::new(),
            submitted: 0,
            fed: 0,
            closed_events: 0,
        }
    }

    /// Hands in an operation.
    pub fn submit(&mut self, task: Task) -> JobId {
        self.files.coming = Some(task.clone());
        let operation = task.operation.clone();
        let job = self.client.submit(self.now, operation, &mut self.files);
        self.files.coming = None;
        assert!(
            self.files.tasks.insert(job, task).is_none(),
            "duplicate job number"
        );
        self.submitted += 1;
        job
    }

    /// The operation of a job.
    pub fn operation(&self, job: JobId) -> &Operation {
        &self.files.task(job).operation
    }

    /// The copy that a job is, if it is one in this direction from the file's beginning, of a file that has the same name
    /// in every code page.
    pub fn copy(&self, job: JobId, direction: Direction) -> Option<&CopySpec> {
        let Operation::Copy(spec) = self.operation(job) else {
            return None;
        };
        let plain = spec.from == 0 && spec.path.is_ascii();
        (plain && spec.direction == direction).then_some(spec)
    }

    /// The local file's length.
    pub fn local_len(&self, job: JobId) -> u64 {
        self.files.task(job).local_len
    }

    /// Whether every operation that was handed in has ended.
    pub fn is_done(&self) -> bool {
        self.ends.len() as u64 == self.submitted
    }

    /// Bytes come from the server, in one of the two ways; what there is to send is returned.
    pub fn feed(&mut self, bytes: &[u8], by_copying: bool) -> Vec<Transmit> {
        self.fed += bytes.len() as u64;
        if by_copying {
            self.client.handle_bytes(self.now, bytes, &mut self.files);
        } else {
            self.read_in(bytes);
        }
        self.settle(bytes.len() as u64)
    }

    /// As a driver does that reads into the client's own space.
    fn read_in(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() && !self.client.is_closed() {
            let space = self.client.recv_space(rest.len());
            let count = space.len().min(rest.len());
            assert!(
                count > 0,
                "no space to read into, but the connection is open"
            );
            space[..count].copy_from_slice(&rest[..count]);
            rest = &rest[count..];
            self.client.received(self.now, count, &mut self.files);
        }
    }

    /// Lets time pass, and what was due happen.
    pub fn pass(&mut self, span: Span) -> Vec<Transmit> {
        self.now = self.now + span;
        let is_due = |due: Option<Time>, now| due.is_some_and(|due| due <= now);
        if is_due(self.client.poll_timeout(), self.now) {
            self.client.handle_timeout(self.now, &mut self.files);
            assert!(
                !is_due(self.client.poll_timeout(), self.now),
                "the deadline does not advance: the driver would spin"
            );
        }
        self.settle(0)
    }

    /// Takes all there is to send and to tell, of which `came` new bytes can have made only so much.
    pub fn settle(&mut self, came: u64) -> Vec<Transmit> {
        let replies = came / SHORTEST + 1;
        let mut sent = Vec::new();
        let mut bytes = 0;
        while let Some(transmit) = self.client.poll_transmit() {
            bytes += transmit.head.len() as u64;
            if let Tail::Bytes(tail) = &transmit.tail {
                bytes += tail.len() as u64;
            }
            sent.push(transmit);
            assert!(
                sent.len() as u64 <= 4 * (OUTSTANDING + self.submitted + replies),
                "endless requests"
            );
        }
        assert!(
            bytes <= LONGEST * (OUTSTANDING + replies),
            "{bytes} bytes queued for sending"
        );
        self.take_events(replies);
        let exchanges = std::iter::from_fn(|| self.client.poll_exchange()).count() as u64;
        assert!(exchanges <= replies, "{exchanges} exchanges recorded");
        let held = self.client.buffered_capacity();
        assert!(held <= MOST_BUFFERED, "{held} bytes in the receive buffer");
        assert!(
            held as u64 <= IDLE + GROWTH * self.fed,
            "{held} bytes of buffer for {} received bytes",
            self.fed
        );
        assert!(
            self.files.written <= self.fed,
            "more data was written than received"
        );
        sent
    }

    fn take_events(&mut self, replies: u64) {
        let most = self.submitted + replies + 2;
        let mut count = 0;
        while let Some(event) = self.client.poll_event() {
            count += 1;
            assert!(count <= most, "endless events");
            match event {
                Event::Done { job, result } => self.note_end(job, result),
                Event::Closed(_) => self.closed_events += 1,
                Event::Connected(_) | Event::Progress { .. } => {
                    assert_eq!(
                        self.closed_events, 0,
                        "activity after the connection closed"
                    );
                }
            }
        }
        assert!(self.closed_events <= 1, "the connection closed twice");
    }

    fn note_end(&mut self, job: JobId, result: Result<Outcome, Error>) {
        let listed = match &result {
            Ok(Outcome::Entries(entries)) => entries.len(),
            Ok(Outcome::Shares(shares)) => shares.len(),
            _ => 0,
        };
        assert!(
            listed as u64 <= self.fed,
            "{listed} entries listed without data"
        );
        if let Err(error) = &result {
            assert!(!error.to_string().is_empty());
        }
        assert!(
            self.ends.insert(job, result).is_none(),
            "{job:?} ended twice"
        );
    }

    /// The server is gone: every operation has ended once, and nothing is left to do.
    pub fn end(mut self) -> Self {
        self.client.handle_eof(self.now, &mut self.files);
        self.settle(0);
        assert!(self.client.is_closed());
        self.pass(Span::from_secs(100_000));
        assert!(
            self.is_done(),
            "{} of {} operations ended",
            self.ends.len(),
            self.submitted
        );
        self.submit(Task {
            operation: Operation::DiskSpace,
            local_len: 0,
            full_at: 0,
        });
        self.settle(0);
        assert!(self.is_done(), "an operation after the close must end");
        self.client.handle_eof(self.now, &mut self.files);
        self.settle(0);
        self
    }
}
