//! The signals that the server handles.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// SIGTERM, SIGINT: stop.
    Stop,
    /// SIGHUP: read the configuration again.
    Reload,
    /// SIGUSR1: open log files again.
    ReopenLogs,
}

/// The handlers.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    user: Signal,
}

impl Signals {
    /// Installs the handlers. Must be called within the runtime.
    ///
    /// # Errors
    /// The system refuses a handler.
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            user: signal(SignalKind::user_defined1())?,
        })
    }

    /// The next signal.
    pub(super) async fn next(&mut self) -> Wish {
        tokio::select! {
            _ = self.interrupt.recv() => Wish::Stop,
            _ = self.terminate.recv() => Wish::Stop,
            _ = self.hangup.recv() => Wish::Reload,
            _ = self.user.recv() => Wish::ReopenLogs,
        }
    }
}
