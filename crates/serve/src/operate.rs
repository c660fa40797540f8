//! The life of a running server: signals, and its orderly end.

use std::{sync::Arc, time::Duration};

use tokio::{sync::mpsc, time::sleep};

use super::{
    host::Host,
    reload::Reloader,
    signals::{Signals, Wish},
};

/// How long clients have to finish the request in progress when the server stops.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// Everything that the end of the server depends on.
pub(super) struct Operation<'a> {
    pub(super) host: &'a Arc<Host>,
    pub(super) signals: Signals,
    pub(super) reloader: Arc<Reloader>,
    /// Closed once no client is left.
    pub(super) gone: &'a mut mpsc::Receiver<()>,
}

/// How a time to finish ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// All clients have gone, or need not be waited for.
    InTime,
    /// The limit came first.
    TooLate,
}

impl Operation<'_> {
    /// Serves until a stop signal, then lets clients finish. A second stop signal ends this at once.
    pub(super) async fn run(mut self) {
        self.serve().await;
        let limit = self.host.settings().global.drain_seconds;
        self.host.reporter.notice(format!(
            "stopping: clients with open files have {limit} s to finish; a second signal stops at once"
        ));
        self.host.drain();
        let limit = Duration::from_secs(u64::from(limit));
        if self.left_within(limit).await == Left::InTime {
            return;
        }
        self.host.stop();
        let _ = tokio::time::timeout(GRACE, self.gone.recv()).await;
    }

    /// Serves until a stop signal.
    async fn serve(&mut self) {
        loop {
            match self.signals.next().await {
                Wish::Stop => return,
                Wish::ReopenLogs => self.host.reporter.reopen(),
                Wish::Reload => {
                    if self.host.settings().global.log_file.is_some() {
                        self.host.reporter.reopen();
                    }
                    self.reload().await;
                }
            }
        }
    }

    async fn reload(&self) {
        let (reloader, host) = (self.reloader.clone(), self.host.clone());
        let done = tokio::task::spawn_blocking(move || reloader.reload(&host)).await;
        if done.is_err() {
            let text = "reload: it failed, a defect of coax; the old configuration stays";
            self.host.reporter.notice(text);
        }
    }

    /// Waits until no client is left.
    async fn left_within(&mut self, limit: Duration) -> Left {
        let limit = sleep(limit);
        tokio::pin!(limit);
        loop {
            tokio::select! {
                _ = self.gone.recv() => return Left::InTime,
                () = &mut limit => {
                    self.host.reporter.notice("the time to finish is over; connections end");
                    return Left::TooLate;
                }
                wish = self.signals.next() => match wish {
                    // Nobody waits for the clients any more.
                    Wish::Stop => return Left::InTime,
                    Wish::ReopenLogs => self.host.reporter.reopen(),
                    Wish::Reload => self.host.reporter.notice("stopping: nothing is reloaded"),
                },
            }
        }
    }
}
