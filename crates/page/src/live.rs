//! Looks at the server, once for all readers.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use tokio::{
    sync::watch,
    time::{MissedTickBehavior, interval},
};

use crate::{
    frame::{Frame, Seen, Watcher},
    history::{Day, History},
    recording::Recordings,
    source::Source,
    space::Spaces,
};

/// What is seen of a server.
pub(crate) struct Live {
    source: Arc<dyn Source>,
    recordings: Arc<Recordings>,
    period: Duration,
    texts: watch::Sender<Arc<str>>,
    /// Held while the server is looked at, so that it is looked at once for all who want to know.
    last: tokio::sync::Mutex<Last>,
    spaces: Arc<Spaces>,
    history: Mutex<History>,
}

#[derive(Default)]
struct Last {
    watcher: Watcher,
    frame: Option<(Instant, Arc<Frame>)>,
}

impl Live {
    pub(crate) fn new(
        source: Arc<dyn Source>,
        recordings: Arc<Recordings>,
        period: Duration,
    ) -> Self {
        Self {
            source,
            recordings,
            period,
            texts: watch::Sender::new("".into()),
            last: tokio::sync::Mutex::default(),
            spaces: Arc::default(),
            history: Mutex::default(),
        }
    }

    /// The events.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Arc<str>> {
        self.texts.subscribe()
    }

    /// How many readers get events.
    pub(crate) fn readers(&self) -> usize {
        self.texts.receiver_count()
    }

    /// Looks while there are readers, and once a minute for the history.
    pub(crate) async fn run(&self) {
        let mut ticks = interval(self.period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if self.readers() > 0 || self.history().is_due(now().as_secs()) {
                let frame = self.look(Duration::ZERO).await;
                if let Some(frame) = frame {
                    self.texts.send_replace(frame.text.clone());
                }
            }
        }
    }

    /// The server as it was at most a period ago.
    pub(crate) async fn frame(&self) -> Option<Arc<Frame>> {
        self.look(self.period).await
    }

    async fn look(&self, age: Duration) -> Option<Arc<Frame>> {
        let mut last = self.last.lock().await;
        if let Some((at, frame)) = &last.frame
            && at.elapsed() < age
        {
            return Some(frame.clone());
        }
        let (source, recordings) = (self.source.clone(), self.recordings.clone());
        let spaces = self.spaces.clone();
        let mut watcher = std::mem::take(&mut last.watcher);
        let looked = tokio::task::spawn_blocking(move || {
            let seen = see(&*source, &recordings, &spaces);
            let frame = watcher.frame(seen, Instant::now());
            (watcher, frame)
        });
        let (watcher, frame) = looked.await.ok()?;
        let frame = Arc::new(frame);
        last.watcher = watcher;
        last.frame = Some((Instant::now(), frame.clone()));
        drop(last);
        self.spaces.refresh(&self.source, &frame.seen.shares);
        let now_s = frame.seen.at_ms / 1000;
        let mut history = self.history();
        if history.is_due(now_s) {
            history.add(now_s, frame.seen.status.clients.len(), &frame.seen.totals);
        }
        Some(frame)
    }

    /// The day that this process remembers.
    pub(crate) fn day(&self) -> Day {
        self.history().day()
    }

    fn history(&self) -> std::sync::MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn see(source: &dyn Source, recordings: &Recordings, spaces: &Spaces) -> Seen {
    Seen {
        at_ms: u64::try_from(now().as_millis()).unwrap_or(u64::MAX),
        status: source.status(),
        totals: source.totals(),
        name: source.name(),
        shares: source.shares(),
        spaces: spaces.found(),
        recording: recordings.status(),
    }
}

fn now() -> Duration {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default()
}
