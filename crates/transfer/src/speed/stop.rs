//! The user's wish to stop.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::signal::unix::{SignalKind, signal};

/// Set once, by a signal or by whoever holds it; looked at ten times a second.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// One that Ctrl-C (SIGINT) and SIGTERM set. If the system refuses to tell of signals, they end the process as usual.
    pub fn on_signals() -> Self {
        let stop = Self::default();
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
        else {
            return stop;
        };
        let set = stop.clone();
        {
            // registered before this returns, so that none is missed
            let _inside = runtime.enter();
            let (Ok(mut interrupt), Ok(mut terminate)) = (
                signal(SignalKind::interrupt()),
                signal(SignalKind::terminate()),
            ) else {
                return stop;
            };
            let wait = async move {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                set.set();
            };
            std::thread::spawn(move || runtime.block_on(wait));
        }
        stop
    }

    /// Asks everybody to stop.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
