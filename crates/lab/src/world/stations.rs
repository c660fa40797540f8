//! Hosts that use NetBEUI or IPX instead of TCP. Links, cards, machines and accounts are the same.

use alloc::boxed::Box;

use coax_wire::time::Time;

use super::{Setup, World, events::Event};
use crate::{
    machine::Job,
    segment::{Segment, Sent},
    side::{End, Side},
    station::{Deadline, Station},
};

impl World {
    /// Gives the ends stations, if the carrier is not TCP. The server's appears once for each client.
    pub(super) fn place_stations(&mut self, setup: &Setup) {
        let clients = core::iter::once(&setup.client).chain(&setup.more);
        for (client, params) in (0..).zip(clients) {
            for (side, params) in [(Side::Client, params), (Side::Server, &setup.server)] {
                let end = End::new(side, client);
                self.socket_mut(end).station = Station::new(setup.carrier, end, &params.netbios);
            }
        }
    }

    /// Starts the stations: they claim their names.
    pub(super) fn start_stations(&mut self) {
        let count = u16::try_from(self.clients()).unwrap_or(u16::MAX);
        for client in 0..count {
            for side in [Side::Server, Side::Client] {
                self.pump_station(End::new(side, client));
            }
        }
    }

    /// Runs a program's action on its station, and sends what becomes possible at once.
    pub(super) fn with_station(&mut self, end: End, act: impl FnOnce(&mut Station, Time)) {
        let now = self.now;
        if let Some(station) = &mut self.socket_mut(end).station {
            act(station, now);
        }
        self.pump_station(end);
        self.station_events(end);
    }

    /// A frame went through the processor.
    pub(super) fn station_receives(&mut self, end: End, segment: &Segment, frame: &[u8]) {
        let now = self.now;
        // frames that are not with the processor yet are taken from the card at this very time
        let cpu = &self.host(end).cpu;
        let in_card = cpu.waiting.is_empty() && self.socket(end).rx_waiting > 0;
        let has_next = in_card || cpu.receives_next(end.client);
        if let Some(station) = &mut self.socket_mut(end).station {
            station.handle_frame(now, segment, frame);
            if station.takes_another(has_next) {
                return;
            }
        }
        self.after_station(end);
    }

    /// A deadline may have passed.
    pub(super) fn station_timer(&mut self, end: End) {
        let (now, epoch) = (self.now, self.epoch(end));
        let Some(station) = &mut self.socket_mut(end).station else {
            return;
        };
        if station.timer_event.is_some_and(|at| at <= now) {
            station.timer_event = None;
        }
        if let Some(due) = station.handle_timeout(now) {
            let set = station.timers.get_mut(due as usize).and_then(Option::take);
            if let Some((_, account)) = set {
                self.current = account.in_epoch(epoch).charge(due.cause(), now);
            }
            self.after_station(end);
        }
        self.watch_deadlines(end);
    }

    /// Sends what the engine has, then delivers events.
    fn after_station(&mut self, end: End) {
        let account = self.current.clone();
        self.pump_station(end);
        self.current = account;
        self.station_events(end);
    }

    fn station_events(&mut self, end: End) {
        let station = |world: &mut Self| world.socket_mut(end).station.as_mut()?.poll_event();
        while let Some(event) = station(self) {
            self.pending.push_back((end, event, self.current.clone()));
        }
    }

    /// Sends the engine's frames.
    pub(super) fn pump_station(&mut self, end: End) {
        while let Some(segment) = self
            .socket_mut(end)
            .station
            .as_mut()
            .and_then(|station| station.poll_transmit())
        {
            if segment.seq_len() > 0 {
                self.station_released(end, &segment);
            }
            let job = Job::Send(Box::new(segment));
            let cost = job.cost(&self.host(end).machine);
            self.submit(end, job, cost);
        }
        if let Some(station) = &mut self.socket_mut(end).station {
            station.held = station.blocked();
        }
        self.watch_deadlines(end);
    }

    /// Data is sent that may have been blocked: charges the current account's transit.
    fn station_released(&mut self, end: End, segment: &Segment) {
        let station = &mut self.socket_mut(end).station;
        let held = station.as_mut().and_then(|station| station.held.take());
        let cause = match segment.sent {
            Sent::FastRetransmit | Sent::Timeout => Some(segment.sent.cause()),
            Sent::New | Sent::Probe => held,
        };
        if let Some(cause) = cause {
            self.current = self.current.clone().resolve(cause);
        }
    }

    /// Schedules an event for the earliest deadline, and records the account in which each deadline was set.
    fn watch_deadlines(&mut self, end: End) {
        let (now, current) = (self.now, self.current.clone());
        let Some(station) = &mut self.socket_mut(end).station else {
            return;
        };
        let deadlines = station.deadlines();
        for (kind, place) in Deadline::ALL.into_iter().zip(&mut station.timers) {
            let at = Station::deadline(kind, &deadlines);
            if place.as_ref().map(|(at, _)| *at) != at {
                *place = at.map(|at| (at, current.clone()));
            }
        }
        let Some(next) = deadlines.next() else { return };
        if station.timer_event.is_none_or(|at| at > next) {
            let at = next.max(now);
            station.timer_event = Some(at);
            self.events.push(at, (Event::Station(end), current));
        }
    }
}
