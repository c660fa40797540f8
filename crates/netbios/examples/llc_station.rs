//! One LLC type 2 station on a UNIX datagram socket that carries Ethernet frames, as QEMU's `-netdev dgram` does. It sends and
//! receives a pattern, and reports what it saw as one JSON object. `scripts/test --only netbeui-llc` connects it to Linux's
//! llc2: `llc_station OWN-SOCKET PEER-SOCKET connect|accept KEY=NUMBER...`.

use std::{
    collections::BTreeMap,
    error::Error,
    os::unix::net::UnixDatagram,
    time::{Duration, Instant},
};

use coax_netbios::llc::{Link, LinkConfig, LinkEnd, LinkEvent, answer_without_link};
use coax_wire::{
    ether::{Frame, Mac, Payload},
    llc::{Control, Pdu, SAP_NULL, Supervisory, Unnumbered},
    time::{Span, Time},
};

const OWN: Mac = Mac([2, 0, 0, 0, 0, 1]);
const PEER: Mac = Mac([0x52, 0x54, 0, 0, 0, 2]);

/// Numbers of the command line, with their defaults.
struct Options(BTreeMap<String, u64>);

impl Options {
    /// `sap`; bytes to `send` and to `receive`; `echo` what arrives; frames lost in a thousand, `lose-sent` and
    /// `lose-received`; `window`; `busy-after` (a number of bytes) and `busy-ms`; `limit-s`.
    fn parse(words: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let keys = [
            ("sap", 0xf0),
            ("send", 0),
            ("receive", 0),
            ("echo", 0),
            ("lose-sent", 0),
            ("lose-received", 0),
            ("window", 7),
            ("busy-after", 0),
            ("busy-ms", 0),
            ("limit-s", 30),
        ];
        let mut values: BTreeMap<String, u64> = keys.map(|(k, v)| (k.into(), v)).into();
        for word in words {
            let (key, value) = word.split_once('=').ok_or("write KEY=NUMBER")?;
            let slot = values.get_mut(key).ok_or(format!("unknown: {key}"))?;
            *slot = value.parse()?;
        }
        Ok(Self(values))
    }

    fn get(&self, key: &str) -> u64 {
        self.0.get(key).copied().unwrap_or_default()
    }
}

/// What went over the wire, by kind.
#[derive(Default)]
struct Seen {
    rej: u64,
    rnr: u64,
    /// I frames that carried new data while we were busy, after the first 200 ms.
    while_busy: u64,
}

struct Station {
    socket: UnixDatagram,
    link: Link,
    options: Options,
    began: Instant,
    random: u64,
    sent: u64,
    received: u64,
    /// The offset of the first byte that is not the pattern's.
    false_at: Option<u64>,
    to_echo: Vec<u8>,
    busy_since: Option<Instant>,
    was_busy: bool,
    out: Seen,
    into: Seen,
    established: bool,
    end: Option<LinkEnd>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut next = |what: &str| words.next().ok_or(format!("missing: {what}"));
    let (own, peer, command) = (
        next("own socket")?,
        next("peer's socket")?,
        next("command")?,
    );
    let options = Options::parse(words)?;
    let _ = std::fs::remove_file(&own);
    let socket = UnixDatagram::bind(&own)?;
    socket.connect(&peer)?;
    let config = LinkConfig {
        window: u8::try_from(options.get("window"))?,
        ..LinkConfig::default()
    };
    let sap = u8::try_from(options.get("sap"))?;
    let mut station = Station {
        socket,
        link: Link::new(Time(0), OWN, PEER, sap, config),
        options,
        began: Instant::now(),
        random: 0x9e37_79b9_7f4a_7c15,
        sent: 0,
        received: 0,
        false_at: None,
        to_echo: Vec::new(),
        busy_since: None,
        was_busy: false,
        out: Seen::default(),
        into: Seen::default(),
        established: false,
        end: None,
    };
    if command == "connect" {
        station.link.connect(Time(0));
    }
    println!("ready");
    station.run(&command)?;
    println!("{}", station.report());
    Ok(())
}

impl Station {
    fn now(&self) -> Time {
        Time(u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn run(&mut self, command: &str) -> Result<(), Box<dyn Error>> {
        let limit = Duration::from_secs(self.options.get("limit-s"));
        let mut buffer = [0; 2048];
        while self.began.elapsed() < limit && self.end.is_none() {
            self.fill();
            self.mind_business();
            self.link.handle_timeout(self.now());
            self.flush()?;
            self.take_events();
            if command == "connect" && self.is_finished() {
                self.link.disconnect(self.now());
            }
            self.flush()?;
            let due = self.link.poll_timeout().map(|due| due - self.now());
            let wait = due.unwrap_or(Span::from_millis(20)).0;
            let wait = Duration::from_nanos(wait.clamp(100_000, 20_000_000));
            self.socket.set_read_timeout(Some(wait))?;
            if let Ok(len) = self.socket.recv(&mut buffer) {
                self.handle_frame(buffer.get(..len).unwrap_or_default())?;
            }
            self.take_events();
        }
        Ok(())
    }

    /// All that was wanted is sent, acknowledged and received.
    fn is_finished(&self) -> bool {
        self.established
            && self.link.is_open()
            && self.link.is_idle()
            && self.sent >= self.options.get("send")
            && self.received >= self.options.get("receive")
            && self.to_echo.is_empty()
    }

    fn fill(&mut self) {
        while self.link.room() > 0 {
            let now = self.now();
            let left = self.options.get("send").saturating_sub(self.sent);
            let chunk: Vec<u8> = match (left, self.to_echo.len()) {
                (0, 0) => return,
                (0, waiting) => self.to_echo.drain(..waiting.min(1400)).collect(),
                (left, _) => (self.sent..self.sent + left.min(1400))
                    .map(pattern)
                    .collect(),
            };
            if left > 0 {
                self.sent += chunk.len() as u64;
            }
            self.link.send(now, chunk, false);
        }
    }

    /// Stops the peer once for a while.
    fn mind_business(&mut self) {
        let (after, ms) = (self.options.get("busy-after"), self.options.get("busy-ms"));
        if ms > 0 && !self.was_busy && self.received >= after {
            self.was_busy = true;
            self.busy_since = Some(Instant::now());
            self.link.set_busy(true);
        }
        let over = |since: Instant| since.elapsed() >= Duration::from_millis(ms);
        if self.busy_since.is_some_and(over) {
            self.busy_since = None;
            self.link.set_busy(false);
        }
    }

    fn flush(&mut self) -> Result<(), Box<dyn Error>> {
        while let Some(frame) = self.link.poll_transmit() {
            let pdu = pdu_of(&frame);
            if let Some(pdu) = &pdu {
                self.out.note(pdu.control);
            }
            let data = pdu.is_some_and(|pdu| matches!(pdu.control, Control::Information { .. }));
            if !(data && self.loses("lose-sent")) {
                self.socket.send(&frame)?;
            }
        }
        Ok(())
    }

    fn handle_frame(&mut self, frame: &[u8]) -> Result<(), Box<dyn Error>> {
        let Some(pdu) = pdu_of(frame) else {
            return Ok(());
        };
        if pdu.dsap == SAP_NULL
            || matches!(
                pdu.control,
                Control::Unnumbered {
                    kind: Unnumbered::Test | Unnumbered::Xid,
                    ..
                }
            )
        {
            if let Some(answer) = answer_without_link(OWN, PEER, &pdu, 127) {
                self.socket.send(&answer)?;
            }
            return Ok(());
        }
        if let Control::Information { .. } = pdu.control {
            let settled = |since: Instant| since.elapsed() >= Duration::from_millis(200);
            self.into.while_busy += u64::from(self.busy_since.is_some_and(settled));
            if self.loses("lose-received") {
                return Ok(());
            }
        }
        self.into.note(pdu.control);
        let now = self.now();
        self.link.handle_pdu(now, &pdu);
        Ok(())
    }

    fn take_events(&mut self) {
        while let Some(event) = self.link.poll_event() {
            match event {
                LinkEvent::Established => self.established = true,
                LinkEvent::Reset => self.false_at = Some(self.received),
                LinkEvent::Ended(end) => self.end = Some(end),
                LinkEvent::Data(info) => {
                    for byte in &info {
                        if *byte != pattern(self.received) {
                            self.false_at.get_or_insert(self.received);
                        }
                        self.received += 1;
                    }
                    if self.options.get("echo") > 0 {
                        self.to_echo.extend(info);
                    }
                }
            }
        }
    }

    fn loses(&mut self, key: &str) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % 1000 < self.options.get(key)
    }

    fn report(&self) -> String {
        let counters = self.link.counters();
        format!(
            "{{\"established\":{},\"end\":\"{}\",\"sent\":{},\"received\":{},\"false_at\":{},\"retransmitted\":{},\
             \"discarded\":{},\"timeouts\":{},\"rej_sent\":{},\"rej_received\":{},\"rnr_sent\":{},\"rnr_received\":{},\
             \"while_busy\":{},\"ms\":{}}}",
            self.established,
            self.end.map_or("none".into(), |end| end.to_string()),
            self.sent,
            self.received,
            self.false_at.map_or("null".into(), |at| at.to_string()),
            counters.retransmitted,
            counters.discarded,
            counters.timeouts,
            self.out.rej,
            self.into.rej,
            self.out.rnr,
            self.into.rnr,
            self.into.while_busy,
            self.began.elapsed().as_millis()
        )
    }
}

impl Seen {
    fn note(&mut self, control: Control) {
        if let Control::Supervisory { kind, .. } = control {
            self.rej += u64::from(kind == Supervisory::Rej);
            self.rnr += u64::from(kind == Supervisory::Rnr);
        }
    }
}

fn pdu_of(frame: &[u8]) -> Option<Pdu<'_>> {
    match Frame::parse(frame).ok()?.payload {
        Payload::Length(payload) => Pdu::parse(payload).ok(),
        _ => None,
    }
}

/// The byte at an offset: no two pieces of a transfer are equal.
fn pattern(at: u64) -> u8 {
    let [low, second, third, ..] = at.to_le_bytes();
    low ^ second ^ third
}
