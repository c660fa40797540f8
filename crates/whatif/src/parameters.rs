//! What a capture does not say outright, and is fitted.

mod buffers;
#[cfg(test)]
pub(crate) mod example;
mod pace;
mod values;

use crate::constants::{
    ACK_EACH_RATIO, BSD_FAST_TIMEOUT, COMPARABLE, CONSIDERABLE, CORRECTION, DEFAULT_PS_PER_BYTE,
    ETHERNET_PS_PER_BYTE, EVEN_SHARE_BLOCK, FRAME_OVERHEAD, INITIAL_WINDOWS,
    MAX_HIDDEN_THINK_RATIO, MAX_LOSS, MAX_MODERN_NS_PER_BYTE, MAX_PACE_ERROR, MAX_RTO,
    MAX_SEGMENTS_OF_SMALL_BLOCK, MAX_SERIAL_THINK_RATIO, MEMORY_RATIO, MIN_FAST_RATIO,
    MIN_FIXED_OF_UNEVEN, MIN_QUEUE, MIN_WINDOW_PART, MODERN_DELAYED_ACK, MODERN_RTO, OLD_RTO,
    PATH_BOUND, RING_PLACING, RTO_RANGE, SHAPING, THINK_RESOLUTION, TOO_FAST_RATIO,
    USUAL_CLIENT_BUFFER, VISIBLE,
};
use coax_cause::{Cause, Kind};
use coax_explain::report::{Connection, Copy, Direction, Side, Vantage};

use crate::{
    observation::{MACHINES, Observation, receiver, sender},
    used::Used,
    windows::Windows,
};

/// Which frames are lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Loss {
    /// None is.
    None,
    /// This part of those with data, by chance.
    Random(f64),
    /// One in so many with data.
    Periodic(f64),
    /// What the sender's card has no room for.
    Ring(Ring),
    /// What a router's queue has no room for: it holds so many bytes.
    Queue(f64),
}

/// A card's room for frames that are to be sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ring {
    /// It holds so many.
    pub(crate) frames: u64,
    /// The machine places one in this part of the time that the path takes for it.
    pub(crate) placing: f64,
}

impl Ring {
    /// Cards that have no room for the frame after so many that follow each other: while a machine places them, the card
    /// sends some already.
    pub(crate) fn of_burst(frames: u64) -> [Self; 3] {
        RING_PLACING.map(|placing| Self {
            frames: (frames as f64 * (1.0 - placing)).ceil() as u64,
            placing,
        })
    }
}

/// How many segments there may be before anything is known of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Congestion {
    /// The window is filled at once.
    None,
    /// Slow start from so many.
    From(u64),
}

/// Values that are fitted: times in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct ModelParameters {
    /// The way there and back.
    pub(crate) round_trip: f64,
    /// What the path takes for a byte, picoseconds; and whether anything is known of it.
    pub(crate) path_ps: f64,
    pub(crate) path_known: bool,
    /// The machine (client 0, server 1) to which the path is between it and where the capture was taken.
    pub(crate) far_end: Option<usize>,
    /// What the handshake took, both ways.
    pub(crate) handshake_rtt: f64,
    /// The path is taken for faster than it seems: what there is too much of is a machine's.
    pub(crate) is_assumed: bool,
    /// The capture allows it, and something else is likelier.
    pub(crate) is_unlikely: bool,
    /// What client and server take for a segment with the file's data, where that sets the pace and not the path.
    pub(crate) segment: [f64; 2],
    /// What client and server take for a request of the usual size.
    pub(crate) think: [f64; 2],
    /// They take no more: where one request follows the other nothing hides of it.
    pub(crate) most_think: [f64; 2],
    /// Whether the pace is known by the answers to a few segments at a time at best, from where they were sent.
    pub(crate) is_weak: bool,
    /// Whether more than one request was under way at once.
    pub(crate) overlaps: bool,
    /// The longest frame that the sender sends, bytes.
    pub(crate) longest: f64,
    /// What part of that comes now and then.
    pub(crate) rare: [f64; 2],
    /// What part of that they take whatever its size.
    pub(crate) fixed: [f64; 2],
    pub(crate) block: f64,
    pub(crate) loss: Loss,
    /// Losses were seen at one place of what is sent at once.
    pub(crate) at_one_place: bool,
    /// Shortest retransmission timer.
    pub(crate) timer: f64,
    pub(crate) fast_retransmit: bool,
    pub(crate) congestion: Congestion,
    /// How long an acknowledgment waits; 0: it does not.
    pub(crate) hold: f64,
    /// The clock whose next beat ends that; 0: none does.
    pub(crate) tick: f64,
    /// Whether client and server hold small segments back.
    pub(crate) nagle: [bool; 2],
    /// Whether they may: neither was seen to send small segments while others were not acknowledged.
    pub(crate) may_hold: [bool; 2],
    /// Whether they offered window scaling: what is as young holds but one small segment back.
    pub(crate) young: [bool; 2],
    /// Bytes that the sender keeps; 0: as many as the window allows.
    pub(crate) send_buffer: u64,
    /// Which way the file goes.
    pub(crate) direction: Direction,
    /// Whether the stacks are of the kind that has window scaling.
    pub(crate) is_modern: bool,
    /// Windows of client and server that are taken to be so wide, where the capture does not say.
    pub(crate) wide: [Option<u64>; 2],
    /// The receiver's window as it was announced, bytes, and the part of it that its sender could use.
    pub(crate) window: u64,
    pub(crate) window_part: f64,
    /// The client's largest message, where the capture shows only the smaller one of the server.
    pub(crate) client_buffer: Option<u64>,
}

impl ModelParameters {
    /// What can be said before anything was run.
    pub(crate) fn first(
        seen: &Observation,
        used: &Used,
        connection: &Connection,
        copy: &Copy,
    ) -> Self {
        let think = machines(seen, used, copy);
        let more = if used.is_serial {
            MAX_SERIAL_THINK_RATIO
        } else {
            MAX_HIDDEN_THINK_RATIO
        };
        let waits_for_acks = seen.spent(Cause::NagleDelayedAck) > seen.wall / SHAPING;
        let fast = seen.spent(Cause::FastRecovery) > seen.spent(Cause::Timeout) / MIN_FAST_RATIO;
        let may_hold = connection.habits.each_ref().map(|habits| !habits.no_delay);
        let path_ps = seen.path_ps;
        let path_ps = path_ps.unwrap_or_else(|| unknown_path(seen, connection));
        let mut guess = Self {
            round_trip: Self::way(seen.round_trip, path_ps),
            path_ps,
            path_known: seen.path_ps.is_some(),
            far_end: far_end(connection),
            handshake_rtt: seen.round_trip,
            think,
            most_think: think.map(|think| think * more + THINK_RESOLUTION),
            is_weak: is_weak(connection, copy.direction, used.block),
            longest: f64::from(sender(connection, copy.direction).largest_segment) + FRAME_OVERHEAD,
            fast_retransmit: fast || seen.lost == 0.0,
            hold: hold(connection, copy.direction, used.is_modern, waits_for_acks),
            nagle: may_hold.map(|may| may && waits_for_acks),
            may_hold,
            young: [0, 1].map(|side| used.is_modern || offers_scale(connection, side)),
            window: receiver(connection, copy.direction).settled_window.into(),
            ..Self::plain(used, copy.direction)
        };
        guess.repairs(seen);
        guess.share(seen);
        guess.over_slowest(seen.bare).unwrap_or(guess)
    }

    /// What can be said by what was used alone: nothing takes time, nothing is lost.
    fn plain(used: &Used, direction: Direction) -> Self {
        let [young, old] = INITIAL_WINDOWS;
        Self {
            round_trip: 0.0,
            path_ps: DEFAULT_PS_PER_BYTE,
            path_known: false,
            far_end: None,
            handshake_rtt: 0.0,
            is_assumed: false,
            is_unlikely: false,
            segment: [0.0; 2],
            think: [0.0; 2],
            most_think: [0.0; 2],
            is_weak: false,
            overlaps: !used.is_serial,
            longest: 0.0,
            rare: [0.0; 2],
            fixed: [usual_share(used.block); 2],
            block: used.block as f64,
            loss: Loss::None,
            at_one_place: false,
            timer: if used.is_modern { MODERN_RTO } else { OLD_RTO },
            fast_retransmit: true,
            congestion: Congestion::From(if used.is_modern { young } else { old }),
            hold: 0.0,
            tick: 0.0,
            nagle: [false; 2],
            may_hold: [true; 2],
            young: [used.is_modern; 2],
            send_buffer: 0,
            direction,
            is_modern: used.is_modern,
            wide: used.windows.likely,
            window: 0,
            window_part: 1.0,
            client_buffer: used.repeats_limit.then_some(USUAL_CLIENT_BUFFER),
        }
    }

    /// These parts of the machines' time come now and then: they do not go with bytes.
    pub(crate) fn with(mut self, rare: [f64; 2]) -> Self {
        self.rare = rare;
        for (share, rare) in self.fixed.iter_mut().zip(rare) {
            *share = 1.0 - (1.0 - *share) * (1.0 - rare);
        }
        self
    }

    /// What is lost, and after how long it is sent again.
    fn repairs(&mut self, seen: &Observation) {
        let timeouts = seen.spent(Cause::Timeout);
        // what cost no time was sent again in vain, or was no loss; what is sent less at once after a loss is its cost too
        if seen.lost > 0.0 && seen.repairs() > seen.wall / VISIBLE {
            self.loss = Loss::Random((seen.lost / seen.segments.max(1.0)).min(MAX_LOSS));
        }
        if timeouts > seen.wall / VISIBLE {
            self.timer = (timeouts / seen.lost.max(1.0)).clamp(RTO_RANGE[0], RTO_RANGE[1]);
        }
    }

    /// What part of the machines' time is the same whatever the size. What the server takes for a request without data
    /// is. What comes faster than by any network of the time comes at the pace of a machine's own memory: a byte of a
    /// request takes no longer; nor does it on machines as young as window scaling.
    fn share(&mut self, seen: &Observation) {
        let ([_, server], [_, share], [_, rare]) = (self.think, &mut self.fixed, self.rare);
        if let Some(bare) = seen.bare.filter(|_| server > 0.0) {
            let least = if seen.is_uneven {
                MIN_FIXED_OF_UNEVEN
            } else {
                0.0
            };
            *share = (bare / server).clamp(least, 1.0).max(rare);
        }
        let is_memory = self.path_known && self.path_ps <= ETHERNET_PS_PER_BYTE[2] * MEMORY_RATIO;
        let by_byte = match (is_memory, self.is_modern) {
            (true, _) => self.path_ps / 1000.0 * self.block,
            (false, true) => MAX_MODERN_NS_PER_BYTE * self.block,
            (false, false) => return,
        };
        for (share, think) in self.fixed.iter_mut().zip(self.think) {
            let least = 1.0 - by_byte / think.max(1.0);
            *share = share.max(least.min(1.0));
        }
    }

    /// Small segments may have been held back where nothing showed it, and acknowledgments delayed or not; or what seems to be held back
    /// was not.
    pub(crate) fn holding(&self) -> Vec<Self> {
        let with = |nagle, hold| Self {
            nagle,
            hold,
            ..self.clone()
        };
        if self.nagle != [false; 2] {
            return vec![with([false; 2], self.hold)];
        }
        let usual = self.hold.max(usual_hold(self.is_modern));
        let holds = [self.hold, usual].into_iter();
        holds
            .flat_map(|hold| self.who_holds().map(move |nagle| with(nagle, hold)))
            .collect()
    }

    /// Who may follow Nagle's algorithm: both, one of them.
    pub(crate) fn who_holds(&self) -> impl Iterator<Item = [bool; 2]> {
        let [client, server] = self.may_hold;
        let who = [[true; 2], [true, false], [false, true]];
        who.into_iter()
            .filter(move |[of_client, of_server]| (client || !of_client) && (server || !of_server))
    }

    /// Acknowledgments may have been delayed to the next beat of a clock, as by stacks of BSD's kind, and not for so long
    /// each: then something else that is shorter makes them no sooner.
    pub(crate) fn ticking(&self) -> Option<Self> {
        let is_open = self.nagle != [false; 2] && !self.is_modern && self.tick == 0.0;
        is_open.then(|| Self {
            hold: BSD_FAST_TIMEOUT,
            tick: BSD_FAST_TIMEOUT,
            ..self.clone()
        })
    }

    /// Corrects what the model, run with this guess, got wrong of `seen`.
    pub(crate) fn correct(&mut self, seen: &Observation, model: &Observation) {
        let requests = seen.requests.max(1.0);
        let seen = &self.shown(seen, model);
        let machines = self.think.iter_mut().zip(self.most_think);
        for ((think, most), cause) in machines.zip(MACHINES) {
            let (own, model) = (seen.spent(cause), model.spent(cause));
            // where requests overlap, most of a machine's time is hidden: a little that shows says nothing of the rest
            let is_noise = self.overlaps && (own - model).abs() < seen.wall / CONSIDERABLE;
            *think = if is_noise {
                *think
            } else if model > own {
                // what comes more than once a request is too much by as often
                *think * own / model
            } else {
                (*think + (own - model) / requests).min(most)
            };
        }
        self.round_trip = (self.round_trip + seen.round_trip - model.round_trip).max(0.0);
        self.correct_path(seen, model);
        self.share(seen);
        // a stack that knows no other repair waits for its timer, whatever acknowledgments tell
        let timeouts = ratio(seen, model, |of| {
            if self.fast_retransmit {
                of.spent(Cause::Timeout)
            } else {
                of.of_kind(Kind::Recovery)
            }
        });
        self.timer = (self.timer * timeouts).clamp(RTO_RANGE[0], MAX_RTO);
        if self.tick == 0.0 {
            self.hold *= ratio(seen, model, |of| of.of_kind(Kind::DelayedAck));
        }
        self.correct_loss(seen, model);
        self.correct_send_buffer(seen, model);
    }

    /// Corrects the send buffer by the time spent on it: with half the buffer a sender waits twice as often.
    fn correct_send_buffer(&mut self, seen: &Observation, model: &Observation) {
        if self.send_buffer > 0 {
            let factor = ratio(model, seen, |of| of.spent(Cause::SendWindow));
            self.send_buffer = ((self.send_buffer as f64 * factor) as u64).max(1);
        }
    }

    /// What a copy would show of this guess, `model` being what a run of it shows: where nothing is known of the path, what
    /// it takes for bytes is part of what the machine at the far end seems to take.
    pub(crate) fn shown(&self, seen: &Observation, model: &Observation) -> Observation {
        if self.path_known {
            return seen.clone();
        }
        let far = self.far_end.map_or([0.5; 2], |far| {
            [0, 1].map(|side| if side == far { 1.0 } else { 0.0 })
        });
        seen.with_carrying(model, far)
    }

    fn correct_path(&mut self, seen: &Observation, model: &Observation) {
        let carrying = seen.of_kind(Kind::Path);
        let by_time = carrying > seen.wall * PATH_BOUND;
        // the way there and back is known: what windows are waited for longer than in the model is what their bytes take
        let waited = seen.spent(Cause::ReceiveWindow) - model.spent(Cause::ReceiveWindow);
        let is_held = waited > seen.wall / CONSIDERABLE && seen.wall > model.wall * TOO_FAST_RATIO;
        let factor = match (seen.path_ps, model.path_ps) {
            // the pace is known too: the window was narrower than announced, because its program read late
            (Some(_), _) if is_held && self.path_known => {
                let part = self.window_part * model.wall / seen.wall.max(1.0);
                self.window_part = part.max(MIN_WINDOW_PART);
                1.0
            }
            _ if is_held => {
                let more = waited * 1000.0 / seen.bytes.max(1) as f64;
                1.0 + more / self.path_ps.max(1.0)
            }
            _ if by_time => ratio(seen, model, |of| of.of_kind(Kind::Path)),
            (Some(seen), Some(model)) if model > 0.0 => {
                let off = self.path_ps / seen.max(0.1);
                let factor = (seen / model).clamp(CORRECTION[0], CORRECTION[1]);
                factor.clamp(1.0 / MAX_PACE_ERROR / off, MAX_PACE_ERROR / off)
            }
            _ => 1.0,
        };
        if self.is_by_machine() {
            self.segment = self.segment.map(|segment| (segment * factor).min(1e9));
        } else if !self.is_assumed {
            self.path_ps = (self.path_ps * factor).clamp(0.1, 8e9);
        }
    }

    fn correct_loss(&mut self, seen: &Observation, model: &Observation) {
        let factor = (seen.lost / model.lost.max(0.5)).clamp(CORRECTION[0], CORRECTION[1]);
        match &mut self.loss {
            Loss::Random(part) => *part = (*part * factor).min(MAX_LOSS),
            Loss::Periodic(every) => *every = (*every / factor).max(2.0),
            Loss::Queue(bytes) => *bytes = (*bytes / factor.sqrt()).max(MIN_QUEUE),
            Loss::None | Loss::Ring(_) => {}
        }
    }

    /// With windows that are as wide as may be where the capture does not say, and with those that it shows at least.
    pub(crate) fn other_windows(&self, windows: &Windows) -> Vec<Self> {
        let [client, server] = windows.wide;
        let mut all = vec![[None, server], [client, None], [client, server], [None; 2]];
        all.dedup();
        all.retain(|wide| *wide != self.wide);
        let with = |wide| Self {
            wide,
            ..self.clone()
        };
        all.into_iter().map(with).collect()
    }
}

/// What client and server seem to take for a request.
fn machines(seen: &Observation, used: &Used, copy: &Copy) -> [f64; 2] {
    let each = |cause| seen.spent(cause) / seen.requests.max(1.0);
    MACHINES.map(|cause| {
        // where requests overlap, a machine's time shows now and then, and then whole
        let shown = copy.breakdown.of(cause).filter(|_| !used.is_serial);
        // and what shows of it altogether is no more than all of it
        shown.map_or(each(cause), |row| each(cause).max(row.median.0 as f64))
    })
}

/// See [`ModelParameters::far_end`].
const fn far_end(connection: &Connection) -> Option<usize> {
    match connection.vantage {
        Some(Vantage::Client) => Some(1),
        Some(Vantage::Server) => Some(0),
        Some(Vantage::Between) | None => None,
    }
}

/// By how much more time went to some causes than in the model; 1 where there is too little of it to tell.
fn ratio(seen: &Observation, model: &Observation, spent: impl Fn(&Observation) -> f64) -> f64 {
    let (seen_time, model_time) = (spent(seen), spent(model));
    let least = seen.wall / COMPARABLE;
    if seen_time < least || model_time < least {
        return 1.0;
    }
    (seen_time / model_time).clamp(CORRECTION[0], CORRECTION[1])
}

/// What part of a machine's time for a request is the same whatever its size, as long as nothing is known of it: half
/// of it where a request moves 16 KB, more of smaller ones.
fn usual_share(block: u64) -> f64 {
    EVEN_SHARE_BLOCK / (EVEN_SHARE_BLOCK + block as f64)
}

/// A path of which no pace was seen takes what it was seen to take altogether, for what both sides said; if that is
/// nothing, it is as fast as 100 Mbit/s, or as what it carried shows at least.
fn unknown_path(seen: &Observation, connection: &Connection) -> f64 {
    let carrying = seen.of_kind(Kind::Path);
    if carrying > seen.wall / CONSIDERABLE {
        let said = |side: &Side| side.bytes as f64 + side.data_segments as f64 * FRAME_OVERHEAD;
        let of_both: f64 = connection.sides.iter().map(said).sum();
        let moved: u64 = connection.requests.iter().map(|row| row.bytes).sum();
        let of_copy = seen.bytes as f64 / moved.max(seen.bytes).max(1) as f64;
        return carrying * 1000.0 / (of_both * of_copy).max(1.0);
    }
    let at_least = seen.wall * 1000.0 / seen.bytes.max(1) as f64;
    DEFAULT_PS_PER_BYTE.min(at_least * 0.9)
}

fn is_weak(connection: &Connection, direction: Direction, block: u64) -> bool {
    let longest = u64::from(sender(connection, direction).largest_segment);
    let arrives_at = match direction {
        Direction::ToClient => Vantage::Client,
        Direction::ToServer => Vantage::Server,
    };
    block <= longest.saturating_mul(MAX_SEGMENTS_OF_SMALL_BLOCK)
        && connection.vantage != Some(arrives_at)
}

fn offers_scale(connection: &Connection, side: usize) -> bool {
    let side = connection.sides.get(side);
    side.is_some_and(|side| side.window_scale.is_some())
}

/// How long an acknowledgment waits: as was seen, or as is usual.
fn hold(connection: &Connection, direction: Direction, is_modern: bool, is_seen: bool) -> f64 {
    let holds = connection.habits.iter().filter_map(|habits| habits.hold);
    match holds.max() {
        Some(hold) if is_seen => hold.0 as f64,
        _ if acknowledges_each(connection, direction) => 0.0,
        _ => usual_hold(is_modern),
    }
}

fn usual_hold(is_modern: bool) -> f64 {
    if is_modern {
        MODERN_DELAYED_ACK
    } else {
        BSD_FAST_TIMEOUT
    }
}

/// Whether the receiver acknowledges nearly every segment by itself.
fn acknowledges_each(connection: &Connection, direction: Direction) -> bool {
    let [client, server] = &connection.sides;
    let (from, to) = match direction {
        Direction::ToServer => (client, server),
        Direction::ToClient => (server, client),
    };
    let pure = to.segments.saturating_sub(to.data_segments);
    pure as f64 > from.data_segments as f64 * ACK_EACH_RATIO
}

#[cfg(test)]
mod tests {
    use super::{example::guess, *};

    /// A copy of 1,000 bytes that waited for the window and then for transmission. `path_ps` is the path's time for a byte.
    fn seen(waited: f64, carrying: f64, path_ps: Option<f64>) -> Observation {
        let mut seen =
            Observation::spending(&[(Cause::ReceiveWindow, waited), (Cause::Bandwidth, carrying)]);
        (seen.path_ps, seen.bytes) = (path_ps, 1000);
        seen
    }

    #[test]
    fn a_window_that_is_waited_for_longer_than_its_size_explains_was_narrower() {
        let pace = Some(80_000.0);
        let model = seen(500.0, 500.0, pace);
        let mut narrower = guess(80.0, 3000.0);
        narrower.correct_path(&seen(1500.0, 500.0, pace), &model);
        assert_eq!((narrower.window_part, narrower.path_ps), (0.5, 80_000.0));
        // not without limit
        narrower.correct_path(&seen(9500.0, 500.0, pace), &model);
        assert_eq!(narrower.window_part, MIN_WINDOW_PART);
    }

    #[test]
    fn a_window_is_as_wide_as_announced_if_the_path_explains_the_wait() {
        // nothing shows the path's pace: it takes longer for the bytes
        let model = seen(500.0, 500.0, None);
        let mut slower = guess(80.0, 3000.0);
        slower.correct_path(&seen(1500.0, 500.0, None), &model);
        assert_eq!((slower.window_part, slower.path_ps), (1.0, 81_000.0));
        // a wait of a few percent is within what the model misses
        let mut same = guess(80.0, 3000.0);
        let pace = Some(80_000.0);
        same.correct_path(&seen(520.0, 500.0, pace), &seen(500.0, 500.0, pace));
        assert_eq!(same.window_part, 1.0);
    }
}
