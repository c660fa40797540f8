//! Intervals in layers: at each instant the highest layer that covers it counts.

use coax_cause::Cause;

/// Layers, the highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Layer {
    /// The path carries this connection's bytes.
    Carried,
    /// The path carries other connections' bytes that this one's wait behind.
    Queued,
    /// The path is saturated, whatever it carries at this instant.
    Saturated,
    /// A loss is being repaired.
    Repair,
    /// The server's own data waits for TCP.
    ServerBlocked,
    /// The server has a whole request, and nothing has been on its way to it for so long that an acknowledgment came back.
    ServerAlone,
    /// The client's own data waits for TCP.
    ClientBlocked,
    /// A machine stops in the middle of a message.
    Pause,
    /// Bytes wait in a queue that nothing in the captures explains.
    Delayed,
    /// A request is on its way: a server may keep an answer until the next request comes.
    Asking,
    /// The server has a whole request and has not begun to answer.
    ServerHolds,
    /// The client has no room to send, for the server does not read.
    ClientShutOut,
    /// An answer is on its way.
    Answering,
}

const LAYERS: usize = 13;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    /// Time, whether it begins, layer, cause.
    edges: Vec<(i64, bool, Layer, Cause)>,
}

impl Canvas {
    pub(super) fn paint(&mut self, layer: Layer, (from, to): (i64, i64), cause: Cause) {
        if from < to {
            self.edges.push((from, true, layer, cause));
            self.edges.push((to, false, layer, cause));
        }
    }

    /// What each instant between `begin` and `end` was spent on: the end of each stretch, and its cause. `other` is the
    /// cause where no layer covers.
    pub(super) fn resolve(mut self, begin: i64, end: i64, other: Cause) -> Vec<(i64, Cause)> {
        self.edges.sort_unstable_by_key(|edge| (edge.0, edge.1));
        let mut covered = [[0_u32; Cause::COUNT]; LAYERS];
        let mut out: Vec<(i64, Cause)> = Vec::new();
        let mut at = begin;
        let mut add = |until: i64, cause: Cause| match out.last_mut() {
            Some(last) if last.1 == cause => last.0 = until,
            _ => out.push((until, cause)),
        };
        for (when, begins, layer, cause) in self.edges {
            let until = when.clamp(at, end.max(at));
            if until > at {
                add(until, top(&covered).unwrap_or(other));
                at = until;
            }
            let causes = covered.get_mut(layer as usize);
            if let Some(count) = causes.and_then(|causes| causes.get_mut(cause as usize)) {
                *count = if begins {
                    *count + 1
                } else {
                    count.saturating_sub(1)
                };
            }
        }
        if at < end {
            add(end, other);
        }
        out
    }
}

fn top(covered: &[[u32; Cause::COUNT]; LAYERS]) -> Option<Cause> {
    let layer = covered
        .iter()
        .find(|causes| causes.iter().any(|count| *count > 0))?;
    let place = layer.iter().position(|count| *count > 0)?;
    Cause::ALL.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_layer_counts_and_gaps_have_the_other_cause() {
        let mut canvas = Canvas::default();
        canvas.paint(Layer::Answering, (10, 50), Cause::RoundTrips);
        canvas.paint(Layer::Carried, (20, 30), Cause::Bandwidth);
        canvas.paint(Layer::ServerHolds, (25, 40), Cause::ServerThink);
        canvas.paint(Layer::Answering, (45, 60), Cause::Metadata);
        let found = canvas.resolve(0, 70, Cause::ClientThink);
        assert_eq!(
            found,
            [
                (10, Cause::ClientThink),
                (20, Cause::RoundTrips),
                (30, Cause::Bandwidth),
                (40, Cause::ServerThink),
                (50, Cause::RoundTrips),
                (60, Cause::Metadata),
                (70, Cause::ClientThink),
            ]
        );
    }
}
