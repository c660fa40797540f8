//! What the whole server is doing, for every task that has to react to it.

use tokio::sync::watch;

/// How far the server is from its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// It serves.
    #[default]
    Serving,
    /// It accepts no clients, and those that are busy finish.
    Draining,
    /// All connections end after the request in progress.
    Stopping,
}

/// The server's state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Phase {
    /// How far the server is from its end.
    pub(super) stage: Stage,
    /// The configuration in force.
    pub(super) generation: u64,
}

/// The server's state, which tasks can wait for.
#[derive(Debug, Default)]
pub(super) struct Phases(watch::Sender<Phase>);

impl Phases {
    /// The state now.
    pub(super) fn now(&self) -> Phase {
        *self.0.borrow()
    }

    /// Goes on to `stage`, never back.
    pub(super) fn enter(&self, stage: Stage) {
        self.0
            .send_modify(|phase| phase.stage = phase.stage.max(stage));
    }

    /// Another configuration is in force.
    pub(super) fn begin(&self, generation: u64) {
        self.0.send_modify(|phase| phase.generation = generation);
    }

    /// Waits until the state is not `seen` any more.
    pub(super) async fn past(&self, seen: Phase) {
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = self.0.subscribe().wait_for(|phase| *phase != seen).await;
    }

    /// Waits until the server is at `stage` or beyond.
    pub(super) async fn reaches(&self, stage: Stage) {
        let at = |phase: &Phase| phase.stage >= stage;
        let _ = self.0.subscribe().wait_for(at).await;
    }
}
