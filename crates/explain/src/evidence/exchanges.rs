//! Some of a copy's exchanges, chosen evenly as they come.

use coax_wire::time::Span;

use super::{budget::Hold, excerpts::Rungs};
use crate::report::{Exchange, PacketExcerpt, RequestSample};
use crate::smb::Name;

/// Exchanges whose packets are kept.
const LADDERS: usize = 16;
/// Exchanges whose size and time are kept: with little memory, and with more.
const FEW: usize = 64;
const MOST: usize = 1000;

/// An exchange that is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchanged {
    pub(crate) name: Name,
    /// Bytes of a file that it moved.
    pub(crate) bytes: u64,
    pub(crate) response: Span,
    /// When its request began.
    pub(crate) begin: coax_wire::time::Time,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    seen: u64,
    ladders: Vec<(Exchanged, PacketExcerpt)>,
    spots: Vec<Exchanged>,
    most: usize,
    random: u64,
}

impl Exchanges {
    /// What the full number of them takes, bytes.
    const GROWN: usize = (MOST - FEW) * size_of::<Exchanged>();

    pub(super) fn add(&mut self, exchanged: Exchanged, rungs: &Rungs, hold: &mut Hold) {
        self.seen += 1;
        self.most = self.most.max(FEW);
        if self.most == FEW && self.spots.len() == FEW && hold.grow(Self::GROWN) {
            self.most = MOST;
        }
        if let Some(place) = self.place(self.most, self.spots.len()) {
            put(&mut self.spots, place, exchanged);
        }
        if exchanged.bytes == 0 {
            return;
        }
        if let Some(place) = self.place(LADDERS, self.ladders.len()) {
            let ladder = rungs.since(exchanged.begin);
            put(&mut self.ladders, place, (exchanged, ladder));
        }
    }

    /// Where the one that just came has its place, if it is chosen: each of all that came is with the same odds.
    fn place(&mut self, most: usize, have: usize) -> Option<usize> {
        if have < most {
            return Some(have);
        }
        let place = usize::try_from(self.next() % self.seen).ok()?;
        (place < most).then_some(place)
    }

    /// Numbers without a pattern, the same in every run (Marsaglia, Xorshift RNGs, 2003).
    fn next(&mut self) -> u64 {
        let mut x = self.random ^ 0x9e37_79b9_7f4a_7c15;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random = x ^ 0x9e37_79b9_7f4a_7c15;
        x
    }

    /// The one with the median response time among those of the command that moved most.
    pub(super) fn typical(&self) -> Option<Exchange> {
        let bytes = |name: Name| -> u64 {
            let same = self.spots.iter().filter(|spot| spot.name == name);
            same.map(|spot| spot.bytes).sum()
        };
        let (most, _) = self.ladders.iter().max_by_key(|(it, _)| bytes(it.name))?;
        let same = self.spots.iter().filter(|spot| spot.name == most.name);
        let mut times: Vec<u64> = same.map(|spot| spot.response.0).collect();
        times.sort_unstable();
        let median = times.get(times.len() / 2).copied().unwrap_or(0);
        let ladders = self.ladders.iter().filter(|(it, _)| it.name == most.name);
        let (typical, ladder) = ladders.min_by_key(|(it, _)| it.response.0.abs_diff(median))?;
        Some(Exchange {
            command: typical.name.to_string(),
            bytes: typical.bytes,
            response: typical.response,
            ladder: ladder.clone(),
        })
    }

    /// Those chosen, and how many there were.
    pub(super) fn told(&self) -> (Vec<RequestSample>, u64) {
        let told = self.spots.iter().map(|spot| RequestSample {
            command: spot.name.to_string(),
            bytes: spot.bytes,
            response: spot.response,
            begin: spot.begin,
        });
        (told.collect(), self.seen)
    }
}

fn put<T>(all: &mut Vec<T>, place: usize, new: T) {
    match all.get_mut(place) {
        Some(old) => *old = new,
        None => all.push(new),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use coax_wire::{command, time::Time};

    use super::*;
    use crate::evidence::budget::MemoryBudget;

    #[test]
    fn typical_is_the_median_of_the_command_that_moved_most_be_others_more() {
        let mut hold = MemoryBudget::default().hold(0).unwrap();
        let mut exchanges = Exchanges::default();
        let mut add = |command, bytes, response| {
            let exchanged = Exchanged {
                name: Name {
                    command,
                    function: None,
                },
                bytes,
                response: Span(response),
                begin: Time(0),
            };
            exchanges.add(exchanged, &Rungs::default(), &mut hold);
        };
        for response in [9, 1, 7, 3, 5] {
            add(command::READ_ANDX, 4096, response);
        }
        (0..9).for_each(|_| add(command::READ, 512, 100));
        let typical = exchanges.typical().unwrap();
        assert_eq!(typical.response, Span(5));
        assert_eq!(
            (typical.command.as_str(), typical.bytes),
            ("READ_ANDX", 4096)
        );
    }
}
