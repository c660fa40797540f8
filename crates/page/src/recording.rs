//! Recordings that readers ask for: one at a time, limited, explained at the end, and deleted after a while.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::FileExt as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{
    sync::Notify,
    time::{interval, sleep, sleep_until},
};

use crate::source::{Recording, Source};

/// The longest recording, seconds.
pub(crate) const SECONDS_MAX: u64 = 300;
/// How often it is checked whether a recording is full.
const CHECK: Duration = Duration::from_millis(500);

/// All recordings: the one under way, or the last one.
#[derive(Default)]
pub(crate) struct Recordings {
    state: Mutex<State>,
    stop: Notify,
}

#[derive(Default)]
struct State {
    /// The number of the last recording.
    id: u64,
    client: Option<u64>,
    phase: Phase,
}

#[derive(Default)]
enum Phase {
    #[default]
    None,
    Recording {
        until: Instant,
        recording: Box<dyn Recording>,
    },
    Explaining,
    Done(Done),
}

/// A finished recording.
struct Done {
    until: Instant,
    bytes: u64,
    is_full: bool,
    file: Option<Arc<File>>,
    page: Result<Arc<str>, String>,
}

impl Recordings {
    /// Begins one and returns its number.
    ///
    /// # Errors
    /// One is under way, or the server cannot.
    pub(crate) fn begin(
        self: &Arc<Self>,
        source: &Arc<dyn Source>,
        client: Option<u64>,
        (length, limit, kept): (Duration, u64, Duration),
    ) -> Result<u64, String> {
        let mut state = self.lock();
        if matches!(state.phase, Phase::Recording { .. } | Phase::Explaining) {
            return Err("a recording is under way; wait for its end, or end it".into());
        }
        let recording = source.record(client, limit)?;
        let until = Instant::now() + length;
        state.id = state.id.saturating_add(1);
        (state.client, state.phase) = (client, Phase::Recording { until, recording });
        let (all, source, id) = (self.clone(), source.clone(), state.id);
        tokio::spawn(async move {
            all.reach_end(until).await;
            all.end(source, id, kept).await;
        });
        Ok(id)
    }

    /// Ends the one under way; false if there is none.
    pub(crate) fn stop(&self) -> bool {
        let runs = matches!(self.lock().phase, Phase::Recording { .. });
        if runs {
            self.stop.notify_one();
        }
        runs
    }

    /// Deletes the last one, or the one under way.
    pub(crate) fn delete(&self) {
        let mut state = self.lock();
        if !matches!(state.phase, Phase::Explaining) {
            state.phase = Phase::None;
        }
        drop(state);
        self.stop.notify_one();
    }

    /// The capture and its length, if this is the last recording and is kept.
    pub(crate) fn capture(&self, id: u64) -> Option<(Arc<File>, u64)> {
        let state = self.lock();
        match &state.phase {
            Phase::Done(done) if state.id == id => Some((done.file.clone()?, done.bytes)),
            _ => None,
        }
    }

    /// The page that explains it.
    pub(crate) fn page(&self, id: u64) -> Option<Result<Arc<str>, String>> {
        let state = self.lock();
        match &state.phase {
            Phase::Done(done) if state.id == id => Some(done.page.clone()),
            _ => None,
        }
    }

    /// For the frame.
    pub(crate) fn status(&self) -> Value {
        let state = self.lock();
        let left = |until: &Instant| until.saturating_duration_since(Instant::now()).as_secs();
        let (id, client) = (state.id, state.client);
        match &state.phase {
            Phase::None => json!({ "state": "none" }),
            Phase::Recording { until, recording } => json!({
                "state": "recording", "id": id, "client": client, "seconds_left": left(until), "bytes": recording.bytes(),
            }),
            Phase::Explaining => json!({ "state": "explaining", "id": id, "client": client }),
            Phase::Done(done) => json!({
                "state": "done", "id": id, "client": client, "seconds_left": left(&done.until), "bytes": done.bytes,
                "full": done.is_full, "error": done.page.as_ref().err(),
            }),
        }
    }

    /// Waits until the recording's time is over, it is full, or somebody ends it.
    async fn reach_end(&self, until: Instant) {
        let mut checks = interval(CHECK);
        let over = sleep_until(until.into());
        tokio::pin!(over);
        loop {
            tokio::select! {
                () = &mut over => return,
                () = self.stop.notified() => return,
                _ = checks.tick() => match &self.lock().phase {
                    Phase::Recording { recording, .. } if !recording.is_full() => {}
                    _ => return,
                },
            }
        }
    }

    async fn end(self: Arc<Self>, source: Arc<dyn Source>, id: u64, kept: Duration) {
        let recording = {
            let mut state = self.lock();
            if state.id != id {
                return;
            }
            match std::mem::take(&mut state.phase) {
                Phase::Recording { recording, .. } => {
                    state.phase = Phase::Explaining;
                    recording
                }
                // it was deleted
                other => {
                    state.phase = other;
                    return;
                }
            }
        };
        let done = tokio::task::spawn_blocking(move || explained(recording, &*source, kept)).await;
        {
            let mut state = self.lock();
            state.phase = match done {
                Ok(done) => Phase::Done(done),
                Err(_) => Phase::None,
            };
        }
        sleep(kept).await;
        let mut state = self.lock();
        if state.id == id && matches!(state.phase, Phase::Done(_)) {
            state.phase = Phase::None;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn explained(recording: Box<dyn Recording>, source: &dyn Source, kept: Duration) -> Done {
    let is_full = recording.is_full();
    let file = recording.finish();
    let page = match &file {
        Ok(file) => match file.try_clone() {
            Ok(copy) => source.explain(copy),
            Err(error) => Err(format!("the capture cannot be read: {error}")),
        },
        Err(error) => Err(format!("the capture cannot be read: {error}")),
    };
    let file = file.ok();
    let bytes = file.as_ref().and_then(|file| file.metadata().ok());
    Done {
        until: Instant::now() + kept,
        bytes: bytes.map_or(0, |metadata| metadata.len()),
        is_full,
        file: file.map(Arc::new),
        page: page.map(Into::into),
    }
}

/// Reads a capture from its beginning, whatever others that have it open do.
#[derive(Debug)]
pub struct Contents {
    file: File,
    at: u64,
}

impl Contents {
    /// The contents of `file`.
    pub fn new(file: File) -> Self {
        Self { file, at: 0 }
    }
}

impl Read for Contents {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.at)?;
        self.at = self.at.saturating_add(count as u64);
        Ok(count)
    }
}
