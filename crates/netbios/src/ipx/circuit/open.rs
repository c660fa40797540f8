//! Opening and ending a session.

use coax_wire::ipx::nbipx::{SessionHeader, SessionOpen, control, stream};
use coax_wire::time::Time;

use super::super::close::SessionClose;
use super::{Circuit, CircuitConfig, CircuitEvent, Names, Phase};

/// The least data of a packet that makes sense: the names of another session.
const MIN_DATA: u16 = 64;

impl Circuit {
    /// Calls a peer, which takes packets with at most `max_data` bytes of data if it does not tell less.
    pub(crate) fn call(
        now: Time,
        config: CircuitConfig,
        local: u16,
        names: Names,
        max_data: u16,
    ) -> Self {
        let mut circuit = Self::new(now, config, local, names, Phase::Opening);
        circuit.max_data = max_data;
        let open = SessionOpen {
            source: names.calling,
            destination: names.called,
            max_data,
            times: circuit.times,
        };
        let control = control::ACK_REQUIRED | control::CONFIRM;
        circuit.append(control, stream::SESSION_DATA, open.emit());
        circuit.pump(now);
        circuit
    }

    /// Accepts the call of a peer. Our packets have at most `max_data` bytes of data.
    pub(crate) fn accept(
        now: Time,
        config: CircuitConfig,
        local: u16,
        (header, open): (&SessionHeader, &SessionOpen),
        names: Names,
        max_data: u16,
    ) -> Self {
        let mut circuit = Self::new(now, config, local, names, Phase::Open);
        circuit.incoming = true;
        circuit.remote = header.source;
        circuit.times = open.times;
        circuit.max_data = open.max_data.clamp(MIN_DATA, max_data);
        circuit.expected = header.sequence.wrapping_add(1);
        circuit.note_edge(header);
        circuit.confirm();
        circuit.events.push_back(CircuitEvent::Opened);
        circuit
    }

    /// Repeats the acceptance, for a peer that has not got it.
    pub(crate) fn confirm(&mut self) {
        let open = SessionOpen {
            source: self.names.called,
            destination: self.names.calling,
            max_data: self.max_data,
            times: self.times,
        };
        let data = open.emit();
        let mut header = self.header(control::SYSTEM | control::CONFIRM, stream::SESSION_DATA);
        let len = u16::try_from(data.len()).unwrap_or_default();
        (header.total, header.len) = (len, len);
        self.emit(&mut header, &data);
    }

    /// The peer accepted our call.
    pub(super) fn confirmed(&mut self, now: Time, header: &SessionHeader, data: &[u8]) {
        if self.phase != Phase::Opening || header.acknowledged != self.next {
            return;
        }
        self.remote = header.source;
        if let Ok(open) = SessionOpen::parse(data) {
            self.max_data = open.max_data.clamp(MIN_DATA, self.max_data);
        }
        self.expected = header.sequence;
        self.phase = Phase::Open;
        self.flight.clear();
        (self.cursor, self.due, self.tries) = (0, None, 0);
        self.note_edge(header);
        self.events.push_back(CircuitEvent::Opened);
        self.pump(now);
    }

    /// Closes the session when everything that waits is sent.
    pub(crate) fn hang_up(&mut self, now: Time) {
        match self.phase {
            Phase::Open => {
                self.phase = Phase::Draining;
                self.farewell = Some(now + self.config.farewell);
                self.pump(now);
            }
            Phase::Opening => self.close(SessionClose::Local),
            Phase::Draining | Phase::Ending | Phase::Over => {}
        }
    }

    /// Ends the session at once; what waits is lost.
    pub(crate) fn abort(&mut self, now: Time) {
        if self.is_open() {
            // What is in flight stays, for the end has the number after it.
            self.outbox.clear();
            self.packed = 0;
            self.end(now);
        } else if self.phase == Phase::Opening {
            self.close(SessionClose::Local);
        }
    }

    /// Tells the peer that the session ends.
    pub(super) fn end(&mut self, now: Time) {
        self.phase = Phase::Ending;
        (self.tries, self.farewell) = (0, Some(now + self.config.farewell));
        self.append(
            control::ACK_REQUIRED,
            stream::SESSION_END,
            alloc::vec::Vec::new(),
        );
        self.pump(now);
    }

    /// The peer ends the session.
    pub(super) fn ended_by_peer(&mut self, header: &SessionHeader) {
        if header.sequence != self.expected {
            return self.out_of_order(header.sequence);
        }
        self.expected = self.expected.wrapping_add(1);
        let mut answer = self.header(control::SYSTEM, stream::SESSION_END_ACK);
        self.emit(&mut answer, &[]);
        self.close(SessionClose::Peer);
    }

    /// The peer knows that the session ends.
    pub(super) fn end_acknowledged(&mut self) {
        if self.phase == Phase::Ending {
            self.close(self.why);
        }
    }
}

/// The answer to the end of a session that is not known any more.
pub(crate) fn answer_end(header: &SessionHeader) -> [u8; 18] {
    SessionHeader {
        control: control::SYSTEM,
        stream: stream::SESSION_END_ACK,
        source: header.destination,
        destination: header.source,
        sequence: header.acknowledged,
        acknowledged: header.sequence.wrapping_add(1),
        window_end: header.sequence.wrapping_add(1),
        ..SessionHeader::default()
    }
    .emit()
}
