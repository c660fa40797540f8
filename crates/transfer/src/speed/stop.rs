//! The stop flag.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::signal::unix::{SignalKind, signal};

/// Set once, by a signal or by a holder of a clone; checked ten times a second.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// A flag that Ctrl-C (SIGINT) and SIGTERM set. If signal handlers cannot be installed, these signals end the
    /// process as usual.
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
            // registered before this returns, so that no signal is missed
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

    /// Requests the stop.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the stop was requested.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
