//! Requests of applications to their host.

use coax_wire::time::Span;

use super::{World, events::Event};
use crate::{
    app::{AppEvent, DiskWork},
    cause::{Account, Cause, Epoch, Provenance},
    machine::{Job, Queued},
    payload::Payload,
    side::{End, Side},
    station::Station,
    tcp::Endpoint,
};

/// Requests of applications.
impl World {
    /// Runs an application's action on its endpoint, and sends what becomes possible at once.
    pub(crate) fn endpoint(&mut self, end: End, act: impl FnOnce(&mut Endpoint)) {
        act(&mut self.socket_mut(end).tcp);
        self.pump(end, true);
    }

    /// Opens the connection.
    pub(crate) fn connect(&mut self, end: End) {
        match self.socket(end).station {
            Some(_) => self.with_station(end, Station::connect),
            None => self.endpoint(end, Endpoint::connect),
        }
    }

    /// One write call.
    pub(crate) fn send(&mut self, end: End, payload: Payload) {
        match self.socket(end).station {
            Some(_) => self.with_station(end, |station, now| station.send(now, payload)),
            None => self.endpoint(end, |tcp| tcp.send(payload)),
        }
    }

    /// Closes the write direction, or the session.
    pub(crate) fn close(&mut self, end: End) {
        match self.socket(end).station {
            Some(_) => self.with_station(end, Station::close),
            None => self.endpoint(end, Endpoint::close),
        }
    }

    pub(crate) fn read(&mut self, end: End, max: u64) -> Payload {
        let now = self.now();
        if let Some(station) = &mut self.socket_mut(end).station {
            return station.read(now, max);
        }
        // a window update caused by this is sent after the event
        self.socket_mut(end).tcp.recv(max)
    }

    /// Queues processor work. It starts after TCP has answered the event, so that ACKs are sent first.
    pub(crate) fn work(&mut self, end: End, span: Span, token: u64) {
        let account = self.current.clone();
        let cpu = &mut self.host_mut(end).cpu;
        cpu.waiting.push_back(Queued {
            client: end.client,
            job: Job::Work(token),
            cost: span,
            account,
        });
    }

    pub(crate) fn disk(&mut self, end: End, work: DiskWork, token: u64) {
        let account = self.current.clone();
        let host = self.host_mut(end);
        let cost = match work {
            DiskWork::Read(bytes) => host.machine.disk_read.of(bytes),
            DiskWork::Write(bytes) => host.machine.disk_write.of(bytes),
        };
        let account = match host.disk.last.take() {
            Some((of, last)) if host.disk.free_at > account.at() => match of == end.client {
                true => last.in_epoch(account.epoch()),
                false => account.charge(end.think(), host.disk.free_at),
            },
            _ => account,
        };
        let free_at = account.at() + cost;
        let account = account.charge(end.think(), free_at);
        host.disk.free_at = free_at;
        host.disk.last = Some((end.client, account.clone()));
        self.schedule(Event::App(end, AppEvent::DiskDone(token)), account);
    }

    pub(crate) fn timer(&mut self, end: End, span: Span, token: u64) {
        let account = self.current.clone().charge(end.think(), self.now + span);
        self.schedule(Event::App(end, AppEvent::Timer(token)), account);
    }

    pub(crate) fn exchange_is(&mut self, end: End, cause: Cause) {
        self.flows.of_mut(end.client).exchange = cause;
    }

    pub(crate) fn begin_account(&mut self, end: End) {
        let flow = self.flows.of_mut(end.client);
        flow.epoch = Epoch {
            start: self.now,
            number: flow.epoch.number.wrapping_add(1),
            trail: flow.epoch.trail,
        };
        self.current = Provenance::begin(flow.epoch);
    }

    /// The account of a client, at its end or now.
    pub fn account_of(&self, client: u16) -> Account {
        let flow = self.flows.of(client);
        flow.account(&self.current).finish(flow.exchange)
    }

    /// Another connection of the server acts now.
    pub(crate) fn wake(&mut self, client: u16) {
        let account =
            Provenance::begin(self.flows.of(client).epoch).charge(Cause::ServerThink, self.now);
        self.pending
            .push_back((End::new(Side::Server, client), AppEvent::Woken, account));
    }

    /// A client's run has ended; the last one ends the run.
    pub(crate) fn stop(&mut self, end: End) {
        let current = self.current.clone();
        self.flows.of_mut(end.client).ended.get_or_insert(current);
        self.stopped = self.flows.iter().all(|flow| flow.ended.is_some());
    }
}
