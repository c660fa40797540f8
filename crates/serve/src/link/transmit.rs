//! The link's socket: what goes out after an engine call, and what comes in.

use std::sync::atomic::Ordering;

use coax_netbios::Session;
use coax_server::Event;
use coax_wire::time::Time;

use super::{Inner, Link, NEVER, over};
use crate::{
    lanes::Pass,
    outcome::{End, TurnOutcome},
    printing::Job,
    socket::Received,
};

impl Link {
    /// After an engine call: sends, reports, and records the next deadline.
    pub(super) fn settle(&self, inner: &mut Inner) -> Result<(), TurnOutcome> {
        if inner.engine.is_none() {
            return Ok(());
        }
        self.queue_replies(inner)?;
        self.report_events(inner);
        self.set_deadline(inner);
        self.send_queued(inner)
    }

    /// Moves the engine's replies to the outbox, or through the injected faults.
    fn queue_replies(&self, inner: &mut Inner) -> Result<(), TurnOutcome> {
        let Inner {
            engine: Some(engine),
            outbox,
            story,
            faults,
            ..
        } = inner
        else {
            return Ok(());
        };
        let framing = story.framing();
        while let Some(transmit) = engine.poll_transmit() {
            story.reply(&transmit);
            if let Some(faults) = faults {
                faults.reply(self.host.clock.now(), transmit);
                continue;
            }
            let header = framing.header(transmit.len()).map_err(|e| over(&e))?;
            outbox.push(header, transmit);
        }
        if let Some(faults) = faults {
            faults.release(self.host.clock.now(), framing, (outbox, story))?;
        }
        Ok(())
    }

    fn report_events(&self, inner: &mut Inner) {
        let Inner {
            engine: Some(engine),
            story,
            ..
        } = inner
        else {
            return;
        };
        while let Some(event) = engine.poll_event() {
            if let Event::Printed { share, path, name } = &event {
                self.print(story, Job { share, path, name });
            }
            if let Event::Message { from, to, text } = &event {
                self.user_message(story, [from, to, text]);
            }
            story.event(self.host.clock.now(), event);
        }
        story.acts(&engine.take_acts());
        story.explain();
        if story.deadline().is_some() {
            story.report_repeats(self.host.clock.now());
        }
        if story.uses_a_share() {
            self.uses_a_share.store(true, Ordering::Relaxed);
        }
        let is_delayed = !self.logon.is_known() && engine.has_parked();
        let delayed = is_delayed.then(|| self.host.clock.now());
        if self.logon.note(story, delayed) {
            self.waker.nudge();
        }
    }

    fn set_deadline(&self, inner: &mut Inner) {
        let Some(engine) = &mut inner.engine else {
            return;
        };
        if engine.take_probe() {
            self.probe.store(true, Ordering::Release);
            self.waker.nudge();
        }
        let held = inner.faults.as_ref().and_then(|faults| faults.deadline());
        let next = engine
            .poll_timeout()
            .into_iter()
            .chain(inner.story.deadline())
            .chain(held);
        let deadline = next.min().map_or(NEVER, |time| time.0);
        if self.deadline.load(Ordering::Relaxed) != deadline {
            self.deadline.store(deadline, Ordering::Release);
            self.waker.nudge();
        }
    }

    /// Sends what the socket takes now.
    fn send_queued(&self, inner: &mut Inner) -> Result<(), TurnOutcome> {
        let Inner {
            engine: Some(engine),
            outbox,
            unsent,
            story,
            faults,
            ..
        } = inner
        else {
            return Ok(());
        };
        let served = Some((self.host.clock.now(), engine.has_parked()));
        let before = outbox.sent_total();
        let sent = outbox.flush(&self.socket, &self.taps);
        self.count_sent(before, outbox, *unsent, served);
        engine.recycle(sent.map_err(|e| over(&e))?);
        if let Some(end) = faults.as_ref().and_then(|faults| faults.end(&self.socket)) {
            return Err(end);
        }
        if engine.is_closing() {
            return Err(TurnOutcome::Over(End::Because(story.fatal())));
        }
        if outbox.is_empty() {
            Ok(())
        } else {
            Err(TurnOutcome::Blocked)
        }
    }

    /// Sends the data that an earlier turn could not send.
    pub(super) fn flush_again(&self, pass: &mut Option<Pass>) -> Result<(), TurnOutcome> {
        let mut inner = self.lock();
        if inner.outbox.is_empty() {
            return Ok(());
        }
        let _pass = self.leave(inner.unsent, pass)?;
        let before = inner.outbox.sent_total();
        let sent = inner.outbox.flush(&self.socket, &self.taps);
        self.count_sent(before, &inner.outbox, inner.unsent, None);
        sent.map_err(|e| over(&e))?;
        if inner.outbox.is_empty() {
            Ok(())
        } else {
            Err(TurnOutcome::Blocked)
        }
    }

    /// Sends the session layer's own packets: the answer to a session request, a keep-alive.
    pub(super) fn session_bytes(
        &self,
        session: &mut Session,
        pass: &mut Option<Pass>,
    ) -> Result<(), TurnOutcome> {
        match session.poll_transmit() {
            None => Ok(()),
            Some(bytes) => {
                self.lock().outbox.push_bytes(bytes);
                self.flush_again(pass)
            }
        }
    }

    /// Reads from the socket. Returns when data arrived; `None` if none did.
    pub(super) fn receive(
        &self,
        session: &mut Session,
        hint: usize,
        wait: bool,
    ) -> Result<Option<Time>, TurnOutcome> {
        self.follow_recording(session);
        let space = session.recv_space(hint);
        match self.socket.receive(space, wait) {
            Ok(Received::Bytes(count)) => {
                self.taps.received(space.get(..count).unwrap_or_default());
                let now = self.host.clock.now();
                session.received(now, count);
                let missing = session.missing_bytes();
                self.socket.note_received(count, missing);
                if self.waits.received(now, count, missing == 0, &self.socket) {
                    self.count_waits();
                }
                Ok(Some(now))
            }
            Ok(Received::Nothing) => Ok(None),
            Ok(Received::Closed) => Err(match session.handle_eof() {
                Ok(()) => TurnOutcome::Over(End::Closed),
                Err(error) => over(&error),
            }),
            Err(error) => Err(over(&error)),
        }
    }
}
