//! A client's task: it sleeps until data, a wake from another client or a deadline arrives, then hands the work to a
//! thread.
//!
//! *Cold*, a connection is this task and no thread. When bytes come, it turns *hot*: a thread of the pool takes the
//! session over and stays while the client keeps asking, reading and writing with plain blocking calls. The socket is
//! registered with the runtime only while the connection is cold, so a busy client costs the runtime nothing.

use std::{sync::Arc, time::Duration};

use coax_netbios::Session;
use coax_server::Reach;
use coax_wire::time::{Span, Time};
use tokio::{
    io::{Interest, unix::AsyncFd},
    time::{Instant, sleep, sleep_until},
};

use super::{
    admission::Seat,
    lanes::Pass,
    link::Link,
    outcome::{End, TurnOutcome},
    phase::Stage,
};

/// The client is disconnected if it accepts no data for this long.
const SEND_TIMEOUT: Duration = Duration::from_secs(60);

/// Minimum wait even for a deadline that has passed, so that the task cannot spin.
const SOONEST: Duration = Duration::from_millis(1);

/// Retry interval for wakes while another thread holds the engine.
const ANEW: Duration = Duration::from_millis(20);
/// How long the server keeps a client that has closed its side while its request waits for a disk.
const HALF_CLOSED: Duration = Duration::from_secs(60);
/// Idle time before a requested probe is sent.
const PROBE_IDLE: Duration = Duration::from_secs(1);
/// Duration of a probe: a reset takes one round trip.
const PROBE_TIME: Duration = Duration::from_secs(3);
/// While the server drains, a client without open files that requests nothing for this long is disconnected. It covers
/// the pause between two files of a copy.
const DRAIN_IDLE: Span = Span::from_secs(2);
/// The longest keep-alive time that Linux accepts, in effect none.
const NO_KEEPALIVE: Duration = Duration::from_secs(32_767);

/// Why a cold connection needs service.
enum Cue {
    /// The socket is readable or writable again.
    Ready,
    /// A wake or a deadline.
    Attend,
    /// The connection has ended.
    Over(End),
}

/// Serves a client from its first byte to its last.
pub(super) async fn attend(link: Arc<Link>, session: Session, seat: Seat) {
    let mut client = Client {
        link: link.clone(),
        session: Some(session),
        last_heard: link.host.clock.now(),
        blocked: None,
        seat,
    };
    let end = client.live().await;
    let seat = client.seat;
    if let Some(end) = end {
        close(link, end).await;
    }
    drop(seat);
}

/// Closes the client's opens, share by share, so that a hung disk delays only its own files. The calls handle panics
/// themselves.
async fn close(link: Arc<Link>, end: End) {
    let host = link.host.clone();
    let mut left = link.hang_up();
    while !left.is_empty() {
        // A disk with many threads in it may hang, so it comes last.
        left.sort_by_key(|share| host.lanes.load(*share));
        let pass = host.lanes.first_of(&left).await;
        let Reach::Share(share) = pass.reach() else {
            break;
        };
        left.retain(|other| *other != share);
        let link = link.clone();
        let closing = move || {
            link.close_share(share);
            drop(pass);
        };
        let _ = host.pool.run(closing).await;
    }
    let _ = host.pool.run(move || link.close(&end)).await;
}

struct Client {
    link: Arc<Link>,
    /// Present while cold; the thread has it while hot.
    session: Option<Session>,
    last_heard: Time,
    /// When the client stopped accepting data, and the bytes sent by then.
    blocked: Option<(Instant, u64)>,
    seat: Seat,
}

impl Client {
    /// Serves until the connection ends; returns the reason, unless the link is already closed.
    async fn live(&mut self) -> Option<End> {
        // A client that connects will send a request.
        let mut rest = TurnOutcome::Again;
        loop {
            self.note_blocked(rest == TurnOutcome::Blocked);
            self.probe();
            if self.link.logon.is_known() {
                self.seat.settle();
            }
            rest = match rest {
                TurnOutcome::Gone => return None,
                TurnOutcome::Over(end) => return Some(end),
                TurnOutcome::Again => self.hot(true, None).await,
                TurnOutcome::Wait(reach) => match self.gate(reach).await {
                    Ok(pass) => self.hot(true, Some(pass)).await,
                    Err(end) => return Some(end),
                },
                TurnOutcome::Idle | TurnOutcome::Blocked => match self.cold().await {
                    Cue::Ready => self.hot(true, None).await,
                    Cue::Attend => self.hot(false, None).await,
                    Cue::Over(end) => return Some(end),
                },
            };
        }
    }

    /// Waits for the next cue.
    async fn cold(&mut self) -> Cue {
        let phase = self.link.host.phases.now();
        if self.link.waker.is_pending() || self.link.is_outdated() || self.link.has_unwanted() {
            return Cue::Attend;
        }
        if phase.stage == Stage::Stopping {
            return Cue::Over(End::Stopping);
        }
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
            () = self.link.waker.woken() => Cue::Attend,
            () = sleep(until.unwrap_or_default()), if until.is_some() => self.overdue(),
            () = sleep_until(gives_up.unwrap_or_else(Instant::now)), if gives_up.is_some() => {
                Cue::Over(End::Because(format!("it accepted no data of a reply for {} s", SEND_TIMEOUT.as_secs())))
            }
            // The next look finds what has changed.
            () = self.link.host.phases.past(phase) => Cue::Attend,
        }
    }

    /// Lets a thread serve the client and delivers wakes and time-outs meanwhile.
    async fn hot(&mut self, ready: bool, pass: Option<Pass>) -> TurnOutcome {
        let Some(mut session) = self.session.take() else {
            return TurnOutcome::Over(End::Because(
                "its session was lost: a defect of coax".into(),
            ));
        };
        let link = self.link.clone();
        let turn = self.link.host.pool.run(move || {
            let rest = link.turn(&mut session, ready, pass);
            (session, rest)
        });
        tokio::pin!(turn);
        let mut interjected = Ok(true);
        let outcome = loop {
            let until = self.next_interjection(&interjected);
            tokio::select! {
                outcome = &mut turn => break outcome,
                () = self.link.waker.woken() => interjected = self.interject(interjected).await,
                () = sleep(until.unwrap_or_default()), if until.is_some() => {
                    interjected = self.interject(interjected).await;
                }
            }
        };
        match (outcome, interjected) {
            (Ok((session, rest)), interjected) => {
                self.session = Some(session);
                if ready {
                    self.last_heard = self.link.host.clock.now();
                }
                match (rest, interjected) {
                    (rest @ (TurnOutcome::Over(_) | TurnOutcome::Gone), _) | (rest, Ok(_)) => rest,
                    (_, Err(end)) => TurnOutcome::Over(end),
                }
            }
            (Err(error), _) => TurnOutcome::Over(End::Because(lost(&error))),
        }
    }

    /// Waits for a pass for the disks in `reach` and delivers wakes and time-outs meanwhile. Returns the end of the
    /// connection if the client gives up.
    async fn gate(&mut self, reach: Reach) -> Result<Pass, End> {
        let host = self.link.host.clone();
        let (pass, gone) = (host.lanes.pass_for(reach), gives_up(self.link.clone()));
        tokio::pin!(pass, gone);
        let mut interjected = Ok(true);
        loop {
            let until = self.next_interjection(&interjected);
            tokio::select! {
                pass = &mut pass => return Ok(pass),
                () = &mut gone => return Err(End::Because("it gave up waiting for the disk".into())),
                () = self.link.waker.woken() => interjected = self.interject(interjected).await,
                () = sleep(until.unwrap_or_default()), if until.is_some() => {
                    interjected = self.interject(interjected).await;
                }
                () = host.stopped() => return Err(End::Stopping),
            }
            if let Err(end) = interjected {
                return Err(end);
            }
        }
    }

    /// The time until the next delivery of wakes and time-outs, or until the retry if the last one failed.
    fn next_interjection(&self, last: &Result<bool, End>) -> Option<Duration> {
        match last {
            Ok(true) => self
                .link
                .deadline()
                .map(|deadline| self.link.host.clock.until(deadline).max(SOONEST)),
            Ok(false) => Some(ANEW),
            Err(_) => None,
        }
    }

    /// Delivers wakes and time-outs, unless another thread holds the engine (and will deliver them) or they must wait
    /// for a disk. An earlier end is kept.
    async fn interject(&self, last: Result<bool, End>) -> Result<bool, End> {
        self.probe();
        last?;
        if self.link.is_busy() {
            return Ok(false);
        }
        let link = self.link.clone();
        let done = self.link.host.pool.run(move || link.interject()).await;
        // The thread that serves the client finds the error.
        done.unwrap_or(Ok(true))
    }

    /// Makes the system probe the peer if a probe was requested.
    fn probe(&self) {
        if !self.link.take_probe() || self.link.socket.probe_after(PROBE_IDLE).is_err() {
            return;
        }
        let link = Arc::downgrade(&self.link);
        tokio::spawn(async move {
            tokio::time::sleep(PROBE_TIME).await;
            if let Some(link) = link.upgrade() {
                let usual = match link.host.settings().global.keepalive_seconds {
                    0 => NO_KEEPALIVE,
                    seconds => Duration::from_secs(u64::from(seconds)),
                };
                // On failure the system probes the peer more often, which is harmless.
                let _ = link.socket.probe_after(usual);
            }
        });
    }

    fn deadline(&self) -> Option<Time> {
        let session = self.session.as_ref().and_then(Session::poll_timeout);
        [
            session,
            self.link.deadline(),
            self.dead_at(),
            self.drained_at(),
            self.link.logon.due(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// When `deadtime` expires.
    fn dead_at(&self) -> Option<Time> {
        let minutes = u64::from(self.link.host.settings().global.deadtime_minutes);
        (minutes > 0).then(|| self.last_heard + Span::from_secs(minutes.saturating_mul(60)))
    }

    /// When the client must leave if it requests nothing, because the server drains.
    fn drained_at(&self) -> Option<Time> {
        let draining = self.link.host.is_draining();
        draining.then(|| self.last_heard + DRAIN_IDLE)
    }

    fn overdue(&mut self) -> Cue {
        let now = self.link.host.clock.now();
        if let Some(end) = self.link.logon.overdue(now) {
            return Cue::Over(end);
        }
        if self.dead_at().is_some_and(|at| at <= now) {
            if self.link.is_idle() {
                return Cue::Over(End::Because(
                    "it asked nothing for as long as 'deadtime' allows".into(),
                ));
            }
            self.last_heard = now;
        }
        if self.drained_at().is_some_and(|at| at <= now) {
            if self.link.is_idle() {
                return Cue::Over(End::Stopping);
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

/// Waits until a client whose request waits for a disk gives up: it resets the connection, or [`HALF_CLOSED`] passes
/// after it closes its side.
async fn gives_up(link: Arc<Link>) {
    let Ok(registered) = register(link, Interest::READABLE) else {
        return std::future::pending().await;
    };
    loop {
        match registered.ready(Interest::READABLE).await {
            Err(_) => return,
            Ok(guard) if guard.ready().is_write_closed() => return,
            Ok(guard) if guard.ready().is_read_closed() => {
                drop(guard);
                return tokio::time::sleep(HALF_CLOSED).await;
            }
            Ok(mut guard) => guard.clear_ready(),
        }
    }
}

/// Registers the link's socket with the runtime. Deprecated because a type could close its descriptor while it is
/// watched; a [`Link`] owns its socket, never replaces it, and is kept alive by the registration.
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
