//! A question by datagram, such as that for a workgroup's browsers, asked without a thread.

use std::{
    io,
    time::{Duration, Instant},
};

use coax_clock::Clock;
use coax_netbios::{
    BrowserStation, Meaning, Outgoing, Route,
    ipx::{Ipx, IpxConfig},
    nbf::{Nbf, NbfConfig},
};
use coax_wire::{nbt::name::NbName, time::Time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::port::Port;

/// How often a question is sent ([MS-BRWS] 3.2.6, as by the browser).
const TRIES: usize = 3;
/// How long each waits for an answer.
const INTERVAL: Duration = Duration::from_secs(1);

/// A question to the station that has a name.
#[derive(Clone, Debug)]
pub struct Question {
    /// Who asks; the answer goes to this name. It is not claimed.
    pub source: NbName,
    /// The name that is asked.
    pub destination: NbName,
    /// The mailslot's message.
    pub data: Vec<u8>,
}

/// The station that asks.
#[derive(Debug)]
pub enum Asker {
    /// Of NetBEUI.
    Netbeui(NbfConfig),
    /// Of IPX.
    Ipx(Box<IpxConfig>),
}

/// Asks up to three times, a second apart, until `take` finds the answer in a datagram's data. `None`: nobody answered.
///
/// # Errors
/// The system cannot wait for frames.
pub fn ask<T>(
    port: &Port,
    asker: Asker,
    question: &Question,
    mut take: impl FnMut(&[u8]) -> Option<T>,
) -> io::Result<Option<T>> {
    let clock = Clock::new();
    match asker {
        Asker::Netbeui(mut config) => {
            config.hears.push(question.source);
            let station = Nbf::new(clock.now(), config);
            asked(port, &clock, station, question, &mut take)
        }
        Asker::Ipx(mut config) => {
            config.hears.push(question.source);
            let station = Ipx::new(clock.now(), *config);
            asked(port, &clock, station, question, &mut take)
        }
    }
}

/// What asking needs of a station.
trait Asking: BrowserStation {
    fn take_frame(&mut self, now: Time, frame: &[u8]);
    fn next_frame(&mut self) -> Option<Vec<u8>>;
}

impl Asking for Nbf {
    fn take_frame(&mut self, now: Time, frame: &[u8]) {
        self.handle_frame(now, frame);
    }

    fn next_frame(&mut self) -> Option<Vec<u8>> {
        self.poll_transmit()
    }
}

impl Asking for Ipx {
    fn take_frame(&mut self, now: Time, frame: &[u8]) {
        self.handle_frame(now, frame);
    }

    fn next_frame(&mut self) -> Option<Vec<u8>> {
        self.poll_transmit()
    }
}

fn asked<S: Asking, T>(
    port: &Port,
    clock: &Clock,
    mut station: S,
    question: &Question,
    take: &mut impl FnMut(&[u8]) -> Option<T>,
) -> io::Result<Option<T>> {
    let outgoing = Outgoing {
        source: question.source,
        destination: question.destination,
        group: false,
        route: Route::Everybody,
        data: question.data.clone(),
    };
    let mut buffer = vec![0; 2048];
    for _ in 0..TRIES {
        station.carry(&outgoing);
        let end = Instant::now() + INTERVAL;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            while let Some(frame) = station.next_frame() {
                // One that the interface does not take is lost, as on a cable; the question is repeated.
                port.send(&frame);
            }
            wait(port, left)?;
            while let Some(len) = port.receive(&mut buffer) {
                let frame = buffer.get(..len).unwrap_or_default();
                station.take_frame(clock.now(), frame);
            }
            if let Some(answer) = answer(&mut station, question.source, take) {
                return Ok(Some(answer));
            }
        }
    }
    Ok(None)
}

fn answer<S: Asking, T>(
    station: &mut S,
    own: NbName,
    take: &mut impl FnMut(&[u8]) -> Option<T>,
) -> Option<T> {
    while let Some(event) = station.next_event() {
        if let Meaning::Datagram(incoming) = S::meaning(&event)
            && incoming.destination == own
            && let Some(answer) = take(&incoming.data)
        {
            return Some(answer);
        }
    }
    None
}

fn wait(port: &Port, limit: Duration) -> io::Result<()> {
    let sockets: Vec<_> = port.sockets().collect();
    let mut sockets: Vec<PollFd<'_>> = sockets
        .iter()
        .map(|socket| PollFd::new(socket, PollFlags::IN))
        .collect();
    let limit = Timespec::try_from(limit).ok();
    match poll(&mut sockets, limit.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
