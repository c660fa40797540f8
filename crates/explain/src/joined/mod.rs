//! Two captures of the same connections, taken at the client and at the server.
//!
//! Each capture alone shows one end exactly and must infer the other. Both together show when each byte left and arrived, so
//! the rules are simple. At each instant the first of these that holds is the cause:
//!
//! 1. The path carries this connection's bytes: `bandwidth`.
//! 2. This connection's bytes wait while the path carries other connections' bytes: `queueing`. Others are in the captures,
//!    or show in the waits of this connection's packets (`delays`, `rate`). A path that was saturated for some round trips
//!    and carries nothing at the instant: the one of both that it carried more of. A path that stands still: `bandwidth`.
//! 3. Bytes that were lost are due: `timeout` or `fast-recovery`, by what made the sender send them again.
//! 4. The server's answer waits for TCP: `receive-window`, `zero-window`, `slow-start`, `send-window`,
//!    `pacing`, `nagle-delayed-ack`, or the last loss.
//! 5. The server has a whole request, and nothing is on its way to it or was until an acknowledgment came back:
//!    `server-think`.
//! 6. The client's request waits for TCP, as in 4, but not for a server that does not read.
//! 7. A machine stops in the middle of a message with nothing in flight: `client-think` or `server-think`.
//! 8. Bytes take much longer than the shortest one-way delay, and too few packets show why: `queueing`. If the delay of the
//!    path varies by itself, 9 or 12 hold.
//! 9. A request is on its way: `round-trips` or `metadata`. A server may keep an answer until the next request comes.
//! 10. The server has a whole request and has not begun to answer: `server-think`.
//! 11. The client has no room to send: `zero-window`.
//! 12. An answer is on its way: `round-trips` or `metadata`.
//! 13. Nothing was asked: `client-think`.
//!
//! All of a direction is as late as it is at its receiver: what the path carries is known by arrivals, so a sender's wait
//! counts one shortest delay later, when its data is what the path lacks.
//!
//! The capture of the client is then read again for the report, with these causes instead of inferred ones.

mod canvas;
mod clock;
mod delays;
mod direction;
mod exchanges;
mod log;
pub(crate) mod merged;
mod pacing;
mod paint;
mod pairing;
mod rate;
mod waits;

use std::collections::HashMap;

use coax_capture::Error;
use coax_cause::Cause;
use coax_wire::time::Span;

use crate::{
    analyser::Analyser,
    charge::Script,
    report::{Capture, Joined, JoinedPath, JoinedWay},
    timeline::Delays,
};
use clock::Clock;
use direction::{BothEnds, Direction};
use exchanges::Exchange;
use log::FileLog;
use paint::Scene;
use pairing::Pair;
use rate::Rate;
use waits::{Gap, Losses};

/// What two captures show together.
#[derive(Debug)]
pub struct Joint {
    is_swapped: bool,
    clock: Joined,
    /// By the first frame of each connection in the client's capture.
    scripts: HashMap<u64, Script>,
    paths: HashMap<u64, JoinedPath>,
}

/// A connection with what is known of it.
struct Known {
    first_frame: u64,
    span: (i64, i64),
    opened: Option<i64>,
    directions: [Direction; 2],
    exchanges: Vec<Exchange>,
    gaps: [Vec<Gap>; 2],
    losses: [Losses; 2],
}

impl Joint {
    /// Matches the packets of two captures. `None` if they have no connection in common: they may be pieces of one capture.
    ///
    /// # Errors
    /// The place of the file that cannot be used, and why.
    pub fn of(files: [&mut dyn std::io::Read; 2]) -> Result<Option<Self>, (usize, Error)> {
        let [one, other] = files;
        let one = FileLog::read(one).map_err(|error| (0, error))?;
        let other = FileLog::read(other).map_err(|error| (1, error))?;
        let pairs = pairing::pairs([&one, &other]);
        let delays = clock::delays([&one, &other], &pairs);
        let Some((is_swapped, clock)) = clock::solve_roles(&delays) else {
            return Ok(None);
        };
        let pairs: Vec<Pair> = pairs
            .into_iter()
            .map(|[one, other]| {
                if is_swapped {
                    [other, one]
                } else {
                    [one, other]
                }
            })
            .collect();
        let (client, server) = if is_swapped {
            (&other, &one)
        } else {
            (&one, &other)
        };
        let mut joint = Self {
            is_swapped,
            clock: Joined {
                offset_ns: clock.offset_ns as i64,
                drift_ppm: clock.drift * 1e6,
                uncertainty: span(clock.uncertainty_ns.abs() as i64),
                clocks_fit: clock.fits(),
                is_swapped,
                packets: delays.iter().map(|way| way.len() as u64).sum(),
                connections: pairs.len() as u64,
                unmatched: client.connections.len().saturating_sub(pairs.len()) as u64,
            },
            scripts: HashMap::new(),
            paths: HashMap::new(),
        };
        // without a common clock nothing is known of the way; the client's capture alone says more
        if clock.fits() {
            joint.analyse([client, server], &pairs, clock);
        }
        Ok(Some(joint))
    }

    /// Whether the first file is the server's.
    pub fn is_swapped(&self) -> bool {
        self.is_swapped
    }

    /// The report, from the client's capture.
    ///
    /// # Errors
    /// [`Error`] if it cannot be read again.
    pub fn explain(self, client: impl std::io::Read) -> Result<Capture, Error> {
        let mut analyser = Analyser::with_scripts(self.scripts);
        analyser.read(client)?;
        let mut capture = analyser.finish();
        capture.joined = Some(self.clock);
        let mut paths = self.paths;
        for connection in &mut capture.connections {
            connection.joined = paths.remove(&connection.frames.0);
        }
        Ok(capture)
    }

    fn analyse(&mut self, [client, server]: [&FileLog; 2], pairs: &[Pair], clock: Clock) {
        let known = |[at_client, at_server]: &Pair| {
            let (client, server) = (
                client.connections.get(*at_client)?,
                server.connections.get(*at_server)?,
            );
            let ends = BothEnds {
                client,
                server,
                clock,
            };
            Some(Known::new(&ends))
        };
        let mut known: Vec<Known> = pairs.iter().filter_map(known).collect();
        let base = [0, 1].map(|way| shortest(&known, way));
        for connection in &mut known {
            connection.learn(base);
        }
        let (mut busy, mut rates) = ([Vec::new(), Vec::new()], [None, None]);
        let ways = busy.iter_mut().zip(&mut rates).zip(base);
        for (way, ((busy, rate), base)) in ways.enumerate() {
            let directions: Vec<&Direction> = known
                .iter()
                .filter_map(|known| known.directions.get(way))
                .collect();
            let carried = rate::carried(&directions);
            *rate = rate::rate(&carried, base);
            *busy = rate.map_or(Vec::new(), |rate| {
                rate::busy(&carried, base, rate.ns_per_byte)
            });
        }
        let round = base[0] + base[1];
        for (place, connection) in known.iter().enumerate() {
            let own = busy.each_ref().map(|busy| {
                let busy = busy.iter();
                busy.map(|(from, to, of)| (*from, *to, *of == place))
                    .collect::<Vec<_>>()
            });
            let saturated = busy
                .each_ref()
                .map(|busy| rate::saturated(busy, round, place));
            let stretches = connection.stretches(own, saturated, rates);
            let stretches = stretches
                .into_iter()
                .map(|(until, cause)| (log::time(until), cause));
            self.scripts
                .insert(connection.first_frame, Script::new(stretches.collect()));
            self.paths
                .insert(connection.first_frame, connection.path(rates));
        }
    }
}

impl Known {
    fn new(ends: &BothEnds<'_>) -> Self {
        let mut to_server = ends.direction(0);
        let mut to_client = ends.direction(1);
        if !ends.client.is_smb() && !ends.server.is_smb() {
            exchanges::turns(&mut to_server, &mut to_client);
        }
        let packets = ends.client.halves.iter().flat_map(|half| &half.packets);
        let times: Vec<i64> = packets.map(|packet| packet.at).collect();
        let first = times.iter().min().copied().unwrap_or(0);
        let of_server = ends.client.halves[1].packets.first();
        Self {
            first_frame: ends.client.first_frame,
            span: (first, times.iter().max().copied().unwrap_or(first)),
            opened: of_server
                .filter(|_| ends.client.halves[1].has_syn)
                .map(|packet| packet.at),
            exchanges: exchanges::exchanges(&to_server, &to_client),
            directions: [to_server, to_client],
            gaps: [Vec::new(), Vec::new()],
            losses: [Losses::default(), Losses::default()],
        }
    }

    /// Explains the senders' waits, now that the shortest delays are known.
    fn learn(&mut self, base: [i64; 2]) {
        for (direction, base) in self.directions.iter_mut().zip(base) {
            direction.base = base;
        }
        let [to_server, to_client] = &self.directions;
        let (gaps, losses) = waits::waits(to_server, &to_client.told(), base[1]);
        let (gaps_back, losses_back) = waits::waits(to_client, &to_server.told(), base[0]);
        (self.gaps, self.losses) = ([gaps, gaps_back], [losses, losses_back]);
    }

    fn stretches(
        &self,
        busy: [Vec<(i64, i64, bool)>; 2],
        saturated: [Vec<(i64, i64, bool)>; 2],
        rates: [Option<Rate>; 2],
    ) -> Vec<(i64, Cause)> {
        let delays =
            |way: usize| match (self.directions.get(way), rates.get(way).copied().flatten()) {
                (_, Some(rate)) if rate.is_shared => Delays::Queue,
                (Some(direction), rate) => delays::of(direction, rate.map(|rate| rate.ns_per_byte)),
                (None, _) => Delays::Unknown,
            };
        paint::stretches(&Scene {
            directions: self.directions.each_ref(),
            gaps: self.gaps.each_ref().map(Vec::as_slice),
            losses: self.losses.each_ref(),
            exchanges: &self.exchanges,
            busy,
            saturated,
            delays: [delays(0), delays(1)],
            span: self.span,
            opened: self.opened,
        })
    }

    fn path(&self, rates: [Option<Rate>; 2]) -> JoinedPath {
        let way = |way: usize| -> JoinedWay {
            let (Some(direction), Some(losses)) = (self.directions.get(way), self.losses.get(way))
            else {
                return JoinedWay::default();
            };
            let delays = direction
                .transits()
                .map(|(left, arrival)| arrival.at - left);
            let [least, median, p95] = quantiles(delays.collect()).unwrap_or_default();
            let rate = rates.get(way).copied().flatten();
            JoinedWay {
                delay_min: least,
                delay_median: median,
                delay_p95: p95,
                lost: losses.lost,
                needless: losses.needless,
                bits_per_s: rate.map(|rate| (8e9 / rate.ns_per_byte.max(1e-3)) as u64),
            }
        };
        let [to_server, to_client] = &self.directions;
        let served = self.exchanges.iter().filter_map(|exchange| {
            let came = to_server.delivered_at(exchange.request.1)?;
            Some(to_client.sent_at(exchange.answer.0)? - came)
        });
        JoinedPath {
            to_server: way(0),
            to_client: way(1),
            exchanges: self.exchanges.len() as u64,
            server_time: quantiles(served.collect()),
        }
    }
}

/// The shortest one-way delay of all connections in a direction.
fn shortest(known: &[Known], way: usize) -> i64 {
    let directions = known.iter().filter_map(|known| known.directions.get(way));
    let delays = directions.flat_map(|direction| {
        let transits = direction.transits();
        transits.map(|(left, arrival)| arrival.at - left).min()
    });
    delays.min().unwrap_or(0).max(0)
}

/// The least, the median and the 95th percentile.
fn quantiles(mut times: Vec<i64>) -> Option<[Span; 3]> {
    times.sort_unstable();
    let at = |part: usize| {
        times
            .get((times.len().saturating_sub(1)) * part / 100)
            .copied()
    };
    Some([span(at(0)?), span(at(50)?), span(at(95)?)])
}

fn span(ns: i64) -> Span {
    Span(u64::try_from(ns).unwrap_or(0))
}
