//! Where the time of a connection went, from both captures.

use coax_cause::Cause;

use super::{
    canvas::{Canvas, Layer},
    delays,
    direction::Direction,
    exchanges::Exchange,
    waits::{Gap, Losses, Wait},
};
use crate::constants::MAX_JITTER;
use crate::timeline::Delays;

/// A sender goes on within this time after an acknowledgment, nanoseconds.
const REACTION: i64 = 2_000_000;

/// What is known of a connection.
pub(super) struct Scene<'a> {
    pub(super) directions: [&'a Direction; 2],
    pub(super) gaps: [&'a [Gap]; 2],
    pub(super) losses: [&'a Losses; 2],
    pub(super) exchanges: &'a [Exchange],
    /// Of each direction: when the path carried what (this connection's or another's), and when it was saturated by what.
    pub(super) busy: [Vec<(i64, i64, bool)>; 2],
    pub(super) saturated: [Vec<(i64, i64, bool)>; 2],
    /// What makes packets late that nothing in the captures does.
    pub(super) delays: [Delays; 2],
    /// First and last packet at the client, and the end of the handshake.
    pub(super) span: (i64, i64),
    pub(super) opened: Option<i64>,
}

/// The stretches of a connection: until when, and the cause.
pub(super) fn stretches(scene: &Scene<'_>) -> Vec<(i64, Cause)> {
    let mut canvas = Canvas::default();
    if let Some(opened) = scene.opened {
        canvas.paint(Layer::Asking, (scene.span.0, opened), Cause::Metadata);
    }
    let asked = on_their_way(scene.directions[0]);
    for exchange in scene.exchanges {
        paint_exchange(&mut canvas, scene, exchange, &asked);
    }
    for side in 0..2 {
        paint_sender(&mut canvas, scene, side);
        paint_path(&mut canvas, scene, side);
    }
    canvas.resolve(scene.span.0, scene.span.1, Cause::ClientThink)
}

fn paint_exchange(
    canvas: &mut Canvas,
    scene: &Scene<'_>,
    exchange: &Exchange,
    asked: &[(i64, i64)],
) {
    let travel = if exchange.is_data {
        Cause::RoundTrips
    } else {
        Cause::Metadata
    };
    let [to_server, to_client] = scene.directions;
    let ways = [
        (Layer::Asking, to_server, exchange.request),
        (Layer::Answering, to_client, exchange.answer),
    ];
    for ((layer, direction, (start, end)), late_by) in ways.into_iter().zip(scene.delays) {
        let (Some(left), Some(arrived)) = (direction.sent_at(start), direction.delivered_at(end))
        else {
            continue;
        };
        if layer == Layer::Asking {
            // what has no room to be sent is not on its way
            let after = asked.partition_point(|(_, to)| *to <= left);
            for span in common(&[(left, arrived)], asked.get(after..).unwrap_or_default()) {
                canvas.paint(layer, span, travel);
            }
        } else {
            canvas.paint(layer, (left, arrived), travel);
        }
        let last = direction.sent_at(end.saturating_sub(1)).unwrap_or(left);
        let due = last + direction.base;
        if late_by == Delays::Unknown && arrived - due > delays::least(direction.base) {
            canvas.paint(Layer::Delayed, (due, arrived), Cause::Queueing);
        }
    }
    let came = to_server.delivered_at(exchange.request.1);
    let began = to_client.sent_at(exchange.answer.0);
    if let (Some(came), Some(began)) = (came, began) {
        canvas.paint(Layer::ServerHolds, (came, began), Cause::ServerThink);
        let after = asked.partition_point(|(_, to)| *to + to_client.base + REACTION <= came);
        let mut alone = came;
        for (from, to) in asked.get(after..).unwrap_or_default() {
            if *from >= began {
                break;
            }
            canvas.paint(Layer::ServerAlone, (alone, *from), Cause::ServerThink);
            alone = alone.max(*to + to_client.base + REACTION);
        }
        canvas.paint(Layer::ServerAlone, (alone, began), Cause::ServerThink);
    }
}

fn paint_sender(canvas: &mut Canvas, scene: &Scene<'_>, side: usize) {
    let (blocked, think) = match side {
        0 => (Layer::ClientBlocked, Cause::ClientThink),
        _ => (Layer::ServerBlocked, Cause::ServerThink),
    };
    let (Some(gaps), Some(losses)) = (scene.gaps.get(side), scene.losses.get(side)) else {
        return;
    };
    // the path idles for lack of this data when it would have arrived: as late as what it did carry is painted
    let late = scene.directions.get(side).map_or(0, |it| it.base);
    for gap in *gaps {
        let span = (gap.from + late, gap.to + late);
        match gap.wait {
            Wait::Tcp(Cause::ZeroWindow) if side == 0 => {
                canvas.paint(Layer::ClientShutOut, span, Cause::ZeroWindow);
            }
            Wait::Tcp(cause) => canvas.paint(blocked, span, cause),
            Wait::Own if gap.in_message => canvas.paint(Layer::Pause, span, think),
            Wait::Own => {}
        }
    }
    for repair in &losses.repairs {
        canvas.paint(Layer::Repair, (repair.from, repair.to), repair.cause);
    }
}

/// What the path carries while bytes of this connection are on their way.
fn paint_path(canvas: &mut Canvas, scene: &Scene<'_>, side: usize) {
    let (Some(direction), Some(busy)) = (scene.directions.get(side), scene.busy.get(side)) else {
        return;
    };
    let on_their_way = on_their_way(direction);
    let mut others = Vec::new();
    for (from, to, is_own) in busy {
        if *is_own {
            canvas.paint(Layer::Carried, (*from, *to), Cause::Bandwidth);
        } else {
            others.push((*from, *to));
        }
    }
    for span in common(&others, &on_their_way) {
        canvas.paint(Layer::Queued, span, Cause::Queueing);
    }
    if let Some(delays) = scene.delays.get(side) {
        paint_delays(canvas, direction, *delays);
    }
    let Some(saturated) = scene.saturated.get(side) else {
        return;
    };
    for (is_own, cause) in [(true, Cause::Bandwidth), (false, Cause::Queueing)] {
        let windows = saturated.iter().filter(|window| window.2 == is_own);
        let windows: Vec<_> = windows.map(|(from, to, _)| (*from, *to)).collect();
        for span in common(&windows, &on_their_way) {
            canvas.paint(Layer::Saturated, span, cause);
        }
    }
}

/// What the path did before it carried bytes that arrived late.
fn paint_delays(canvas: &mut Canvas, direction: &Direction, delays: Delays) {
    let base = direction.base;
    let (layer, cause, least) = match delays {
        Delays::Queue => (Layer::Queued, Cause::Queueing, delays::least(base)),
        // a busy machine delivers nothing for some milliseconds too
        Delays::Standstill => {
            let round = (MAX_JITTER.0 as i64).max(base * 2);
            (Layer::Saturated, Cause::Bandwidth, round)
        }
        Delays::Unknown | Delays::Varies => return,
    };
    let mut before = i64::MIN;
    for (left, arrival) in direction.transits() {
        // a path that stands still delivers nothing
        let from = match delays {
            Delays::Standstill => (left + base).max(before),
            _ => left + base,
        };
        if arrival.at - from > least && !direction.was_lost(arrival.start) {
            canvas.paint(layer, (from, arrival.at), cause);
        }
        before = before.max(arrival.at);
    }
}

/// When bytes of a direction had left and had not arrived.
fn on_their_way(direction: &Direction) -> Vec<(i64, i64)> {
    let mut out: Vec<(i64, i64)> = Vec::new();
    for send in direction.sends.iter().filter(|send| !send.again) {
        let Some(arrived) = direction.delivered_at(send.end) else {
            continue;
        };
        match out.last_mut() {
            Some(last) if last.1 >= send.at => last.1 = last.1.max(arrived),
            _ => out.push((send.at, arrived)),
        }
    }
    out
}

/// What two sorted lists of intervals have in common.
fn common(one: &[(i64, i64)], other: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let (mut place, mut out) = (0, Vec::new());
    for (from, to) in one {
        while other.get(place).is_some_and(|it| it.1 <= *from) {
            place += 1;
        }
        for it in other.iter().skip(place).take_while(|it| it.0 < *to) {
            out.push((it.0.max(*from), it.1.min(*to)));
        }
    }
    out
}
