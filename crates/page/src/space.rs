//! Free space of the shares' disks. A disk that hangs occupies one thread, and its share has no figure.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::source::{ShareSetting, Source};

/// How long a figure is good.
const GOOD: Duration = Duration::from_secs(15);
/// Disks that are asked at a time.
const ASKED_MAX: usize = 4;

/// The figures.
#[derive(Debug, Default)]
pub(crate) struct Spaces(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    found: BTreeMap<String, (Instant, Option<(u64, u64)>)>,
    asked: BTreeSet<String>,
}

impl Spaces {
    /// Free and total bytes by share.
    pub(crate) fn found(&self) -> BTreeMap<String, (u64, u64)> {
        let state = self.lock();
        let found = state.found.iter();
        found
            .filter_map(|(name, (_, space))| Some((name.clone(), (*space)?)))
            .collect()
    }

    /// Asks the disks whose figures are old. Returns at once.
    pub(crate) fn refresh(self: &Arc<Self>, source: &Arc<dyn Source>, shares: &[ShareSetting]) {
        let mut state = self.lock();
        state
            .found
            .retain(|name, _| shares.iter().any(|share| share.name == *name));
        for share in shares.iter().filter(|share| !share.printer) {
            let name = &share.name;
            let is_good = state
                .found
                .get(name)
                .is_some_and(|(at, _)| at.elapsed() < GOOD);
            if is_good || state.asked.len() >= ASKED_MAX || !state.asked.insert(name.clone()) {
                continue;
            }
            let (spaces, source, name) = (self.clone(), source.clone(), name.clone());
            tokio::task::spawn_blocking(move || {
                let space = source.space(&name);
                let mut state = spaces.lock();
                state.asked.remove(&name);
                state.found.insert(name, (Instant::now(), space));
            });
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
