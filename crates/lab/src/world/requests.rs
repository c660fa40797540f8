//! Requests of applications to their host.

use coax_wire::time::Span;

use super::{World, events::Event};
use crate::{
    app::{AppEvent, DiskWork},
    cause::{Cause, Epoch, Provenance},
    machine::{Job, Queued},
    payload::Payload,
    side::Side,
    tcp::Endpoint,
};

/// Requests of applications.
impl World {
    /// Runs an application's action on its endpoint, and sends what becomes possible at once.
    pub(crate) fn endpoint(&mut self, side: Side, act: impl FnOnce(&mut Endpoint)) {
        act(&mut self.host_mut(side).tcp);
        self.pump(side, true);
    }

    pub(crate) fn read(&mut self, side: Side, max: u64) -> Payload {
        // a window update caused by this is sent after the event
        self.host_mut(side).tcp.recv(max)
    }

    /// Queues processor work. It starts after TCP has answered the event, so that ACKs are sent first.
    pub(crate) fn work(&mut self, side: Side, span: Span, token: u64) {
        let account = self.current.clone();
        let cpu = &mut self.host_mut(side).cpu;
        cpu.waiting.push_back(Queued {
            job: Job::Work(token),
            cost: span,
            account,
        });
    }

    pub(crate) fn disk(&mut self, side: Side, work: DiskWork, token: u64) {
        let account = self.current.clone();
        let host = self.host_mut(side);
        let cost = match work {
            DiskWork::Read(bytes) => host.machine.disk_read.of(bytes),
            DiskWork::Write(bytes) => host.machine.disk_write.of(bytes),
        };
        let account = match host.disk.last.take() {
            Some(last) if host.disk.free_at > account.at() => last.in_epoch(account.epoch()),
            _ => account,
        };
        let end = account.at() + cost;
        let account = account.charge(side.think(), end);
        host.disk.free_at = end;
        host.disk.last = Some(account.clone());
        self.schedule(Event::App(side, AppEvent::DiskDone(token)), account);
    }

    pub(crate) fn timer(&mut self, side: Side, span: Span, token: u64) {
        let account = self.current.clone().charge(side.think(), self.now + span);
        self.schedule(Event::App(side, AppEvent::Timer(token)), account);
    }

    pub(crate) const fn exchange_is(&mut self, cause: Cause) {
        self.exchange = cause;
    }

    pub(crate) fn begin_account(&mut self) {
        self.epoch = Epoch {
            start: self.now,
            number: self.epoch.number.wrapping_add(1),
            trail: self.epoch.trail,
        };
        self.current = Provenance::begin(self.epoch);
    }

    pub(crate) const fn stop(&mut self) {
        self.stopped = true;
    }
}
