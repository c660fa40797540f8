//! The life of a running server: signals, and its orderly end.

use std::{sync::Arc, time::Duration};

use tokio::{
    net::{UnixListener, UnixStream},
    sync::mpsc,
    task::JoinHandle,
    time::sleep,
};

use super::{
    ci::{Ended, Watch},
    host::Host,
    notify,
    reload::Reloader,
    signals::{Signals, Wish},
    takeover::{Control, Deed, Successor},
};

/// How long clients have to finish the request in progress when the server stops.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// The pause after a request that could not be accepted.
const PAUSE: Duration = Duration::from_millis(200);

/// What a new process can take over.
pub(super) struct Offer {
    control: Arc<Control>,
    deed: Arc<Deed>,
}

impl Offer {
    /// Offers the sockets of `deed`.
    pub(super) fn new(control: Control, deed: Deed) -> Self {
        Self {
            control: Arc::new(control),
            deed: Arc::new(deed),
        }
    }
}

/// A takeover in progress.
type Offered = JoinHandle<Result<Successor, String>>;

/// Everything that the end of the server depends on.
pub(super) struct Operation<'a> {
    pub(super) host: &'a Arc<Host>,
    pub(super) signals: Signals,
    /// What ends a server for continuous integration.
    pub(super) watch: Watch,
    /// Why it ends.
    pub(super) ended: Ended,
    pub(super) reloader: Arc<Reloader>,
    pub(super) control: Option<Offer>,
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
    /// Serves until a stop signal or a takeover, then lets clients finish. A second stop signal ends this at once.
    pub(super) async fn run(mut self) -> Ended {
        let successor = self.serve().await;
        let settings = self.host.settings();
        let seconds = match successor {
            Some(_) => settings.global.takeover_seconds,
            None => settings.global.drain_seconds,
        };
        let limit = Duration::from_secs(u64::from(seconds));
        match successor {
            Some(successor) => {
                self.host.hand_over();
                successor.release();
                self.host.reporter.notice(format!(
                    "a new process accepts clients now; here, clients with open files have {seconds} s to finish"
                ));
            }
            None => {
                self.host.reporter.notice(format!(
                    "stopping: clients with open files have {seconds} s to finish; a second signal stops at once"
                ));
                notify::stopping(limit);
                self.host.drain();
            }
        }
        if self.left_within(limit).await == Left::InTime {
            return self.ended;
        }
        self.host.stop();
        let _ = tokio::time::timeout(GRACE, self.gone.recv()).await;
        self.ended
    }

    /// Serves until a stop signal, or until a new process can take over.
    async fn serve(&mut self) -> Option<Successor> {
        let requests = self.requests();
        let mut offered: Option<Offered> = None;
        loop {
            tokio::select! {
                ended = self.watch.ended() => {
                    self.ended = ended;
                    return None;
                }
                wish = self.signals.next() => match wish {
                    Wish::Stop => return None,
                    Wish::ReopenLogs => self.host.reopen_logs(),
                    Wish::Reload => {
                        if self.host.settings().global.log_file.is_some() {
                            self.host.reopen_logs();
                        } else if let Some(audit) = &self.host.audit {
                            audit.reopen();
                        }
                        notify::reloading();
                        self.reload().await;
                        notify::ready(false);
                    }
                },
                stream = request(requests.as_ref()), if offered.is_none() => {
                    offered = stream.and_then(|stream| self.offer(stream));
                }
                done = result(offered.as_mut()), if offered.is_some() => {
                    offered = None;
                    match done {
                        Ok(successor) => return Some(successor),
                        Err(why) => self.host.reporter.notice(format!("{why}; this server keeps running")),
                    }
                }
            }
        }
    }

    fn requests(&self) -> Option<UnixListener> {
        let listener = self.control.as_ref()?.control.listener().ok()?;
        listener.set_nonblocking(true).ok()?;
        UnixListener::from_std(listener).ok()
    }

    fn offer(&self, stream: UnixStream) -> Option<Offered> {
        let Offer { control, deed } = self.control.as_ref()?;
        let (control, deed) = (control.clone(), deed.clone());
        let stream = stream.into_std().ok()?;
        Some(tokio::task::spawn_blocking(move || {
            control.offer(&deed, stream)
        }))
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
                    Wish::ReopenLogs => self.host.reopen_logs(),
                    Wish::Reload => self.host.reporter.notice("stopping: nothing is reloaded"),
                },
            }
        }
    }
}

/// The next process that asks for the sockets.
async fn request(requests: Option<&UnixListener>) -> Option<UnixStream> {
    match requests {
        Some(requests) => match requests.accept().await {
            Ok((stream, _)) => Some(stream),
            Err(_) => {
                // No descriptor is left at the moment.
                sleep(PAUSE).await;
                None
            }
        },
        None => std::future::pending().await,
    }
}

/// The outcome of a takeover in progress.
async fn result(offered: Option<&mut Offered>) -> Result<Successor, String> {
    match offered {
        Some(offered) => offered
            .await
            .unwrap_or_else(|_| Err("a takeover failed: a defect of coax".into())),
        None => std::future::pending().await,
    }
}
