//! A client's task: it sleeps until the client, another client's doings or a deadline want something, and then has a
//! thread do it.
//!
//! *Cold*, a connection is this task and no thread. When bytes come, it turns *hot*: a thread of the pool takes the
//! session over and stays while the client keeps asking, reading and writing with plain blocking calls. The socket is
//! registered with the runtime only while the connection is cold, so a busy client costs the runtime nothing.

use std::{sync::Arc, time::Duration};

use coax_netbios::Session;
use coax_wire::time::{Span, Time};
use tokio::{
    io::{Interest, unix::AsyncFd},
    time::{Instant, sleep, sleep_until},
};

use super::{
    host::Seat,
    link::{End, Link, Rest},
};

/// How long a client may take nothing of what is sent to it before it is given up.
const SEND_TIMEOUT: Duration = Duration::from_secs(60);

/// A deadline that has passed is met after this long all the same, so that none can spin.
const SOONEST: Duration = Duration::from_millis(1);

/// Why a cold connection is looked at.
enum Cue {
    /// The client sent something, or takes something again.
    Ready,
    /// A wake or a deadline.
    Attend,
    /// It is over.
    Over(End),
}

/// Serves a client from its first byte to its last.
pub(super) async fn attend(link: Arc<Link>, session: Session, seat: Seat) {
    let mut client = Client {
        link: link.clone(),
        session: Some(session),
        last_heard: link.host.clock.now(),
        blocked: None,
    };
    let end = client.live().await;
    drop(client);
    let Some(end) = end else { return drop(seat) };
    // The engine closes files, which may block. A panic in there is dealt with in there.
    let _ = link.clone().host.pool.run(move || link.close(&end)).await;
    drop(seat);
}

struct Client {
    link: Arc<Link>,
    /// Here while cold, with the thread while hot.
    session: Option<Session>,
    last_heard: Time,
    /// Since when it takes nothing, and how many bytes it had taken by then.
    blocked: Option<(Instant, u64)>,
}

impl Client {
    /// Why it ended, unless it is closed already.
    async fn live(&mut self) -> Option<End> {
        // A client that connects has something to ask.
        let mut rest = Rest::Again;
        loop {
            self.note_blocked(rest == Rest::Blocked);
            rest = match rest {
                Rest::Gone => return None,
                Rest::Over(end) => return Some(end),
                Rest::Again => self.hot(true).await,
                Rest::Idle | Rest::Blocked => match self.cold().await {
                    Cue::Ready => self.hot(true).await,
                    Cue::Attend => self.hot(false).await,
                    Cue::Over(end) => return Some(end),
                },
            };
        }
    }

    /// Waits for something to do.
    async fn cold(&mut self) -> Cue {
        let interest = if self.blocked.is_some() {
            Interest::WRITABLE
        } else {
            Interest::READABLE
        };
        let registered = match register(self.link.clone(), interest) {
            Ok(registered) => registered,
            Err(error) => return Cue::Over(End::Because(format!("cannot wait for it: {error}"))),
        };
        let deadline = self.deadline();
        let until = deadline.map(|deadline| self.link.host.clock.until(deadline).max(SOONEST));
        let gives_up = self.blocked.map(|(since, _)| since + SEND_TIMEOUT);
        tokio::select! {
            ready = registered.ready(interest) => match ready {
                Ok(_) => Cue::Ready,
                Err(error) => Cue::Over(End::Because(error.to_string())),
            },
            () = self.link.bell.heard() => Cue::Attend,
            () = sleep(until.unwrap_or_default()), if until.is_some() => self.overdue(),
            () = sleep_until(gives_up.unwrap_or_else(Instant::now)), if gives_up.is_some() => {
                Cue::Over(End::Because(format!("it took nothing of a reply for {} s", SEND_TIMEOUT.as_secs())))
            }
            () = self.link.host.stopped() => Cue::Over(End::Stopping),
        }
    }

    /// Has a thread serve the client, and delivers wakes and time-outs meanwhile.
    async fn hot(&mut self, ready: bool) -> Rest {
        let Some(mut session) = self.session.take() else {
            return Rest::Over(End::Because(
                "its session was lost: a defect of coax".into(),
            ));
        };
        let link = self.link.clone();
        let turn = self.link.host.pool.run(move || {
            let rest = link.turn(&mut session, ready);
            (session, rest)
        });
        tokio::pin!(turn);
        let outcome = loop {
            let until = self
                .link
                .deadline()
                .map(|deadline| self.link.host.clock.until(deadline).max(SOONEST));
            tokio::select! {
                outcome = &mut turn => break outcome,
                () = self.link.bell.heard() => self.interject().await,
                () = sleep(until.unwrap_or_default()), if until.is_some() => self.interject().await,
            }
        };
        match outcome {
            Ok((session, rest)) => {
                self.session = Some(session);
                if ready {
                    self.last_heard = self.link.host.clock.now();
                }
                rest
            }
            Err(error) => Rest::Over(End::Because(lost(&error))),
        }
    }

    /// While a thread serves the client: what cannot wait until it is done. Whatever goes wrong here, that thread will
    /// find it too.
    async fn interject(&self) {
        let link = self.link.clone();
        let _ = self.link.host.pool.run(move || link.attend()).await;
    }

    fn deadline(&self) -> Option<Time> {
        let session = self.session.as_ref().and_then(Session::poll_timeout);
        [session, self.link.deadline(), self.dead_at()]
            .into_iter()
            .flatten()
            .min()
    }

    /// When `deadtime` is over.
    fn dead_at(&self) -> Option<Time> {
        let minutes = u64::from(self.link.host.settings.global.deadtime_minutes);
        (minutes > 0).then(|| self.last_heard + Span::from_secs(minutes.saturating_mul(60)))
    }

    fn overdue(&mut self) -> Cue {
        let now = self.link.host.clock.now();
        if self.dead_at().is_some_and(|at| at <= now) {
            if self.link.is_idle() {
                return Cue::Over(End::Because(
                    "it asked nothing for as long as 'deadtime' allows".into(),
                ));
            }
            self.last_heard = now;
        }
        Cue::Attend
    }

    fn note_blocked(&mut self, blocked: bool) {
        let sent = self.link.sent_total();
        self.blocked = match self.blocked {
            _ if !blocked => None,
            Some((since, before)) if before == sent => Some((since, sent)),
            _ => Some((Instant::now(), sent)),
        };
    }
}

/// Has the runtime watch the link's socket. Deprecated because a type could close its descriptor while it is watched; a
/// [`Link`] owns its socket, never replaces it, and is kept alive by the registration.
#[allow(deprecated)]
fn register(link: Arc<Link>, interest: Interest) -> std::io::Result<AsyncFd<Arc<Link>>> {
    AsyncFd::with_interest(link, interest)
}

fn lost(error: &tokio::task::JoinError) -> String {
    if error.is_panic() {
        "serving it failed: a defect of coax, which would like to hear of it".into()
    } else {
        "the server is going down".into()
    }
}
