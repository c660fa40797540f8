//! Round trips by timestamps (RFC 7323 §3.2), seen at the receiver of data: from an acknowledgment to data whose sender had
//! just heard it.

use std::collections::VecDeque;

use coax_capture::Segment;
use coax_wire::time::{Span, Time};

/// Acknowledgments whose echo is waited for.
const MOST: usize = 256;
/// Kind and length of the option.
const KIND: u8 = 8;
const LENGTH: u8 = 10;

/// The values of a timestamps option: the sender's clock, and what it heard last of the other's.
pub(super) fn timestamps(options: &[u8]) -> Option<(u32, u32)> {
    let mut rest = options;
    loop {
        rest = match rest {
            [KIND, LENGTH, values @ ..] => {
                let (value, values) = values.split_first_chunk::<4>()?;
                let (echo, _) = values.split_first_chunk::<4>()?;
                return Some((u32::from_be_bytes(*value), u32::from_be_bytes(*echo)));
            }
            [1, rest @ ..] => rest,
            [0, ..] | [] => return None,
            [_, len, ..] => rest.get(usize::from(*len).max(2)..)?,
            [_] => return None,
        };
    }
}

/// The clock values of one side's pure acknowledgments, until the other side's data echoes them.
#[derive(Debug, Default)]
pub(super) struct Echoes {
    waiting: VecDeque<(u32, Time)>,
    /// The first value, for the length of a tick.
    first: Option<(u32, Time)>,
    tick: Span,
    /// What was echoed last.
    echoed: Option<u32>,
}

impl Echoes {
    /// The side sent this at `at`.
    pub(super) fn sent(&mut self, segment: &Segment<'_>, at: Time) {
        let Some((value, _)) = timestamps(segment.options).filter(|_| segment.len == 0) else {
            return;
        };
        let (first, since) = *self.first.get_or_insert((value, at));
        let ticks = u64::from(value.wrapping_sub(first));
        self.tick = Span((at - since).0 / ticks.max(1));
        if self.waiting.back().is_some_and(|(last, _)| *last == value) {
            return;
        }
        if self.waiting.len() >= MOST {
            self.waiting.pop_front();
        }
        self.waiting.push_back((value, at));
    }

    /// The other side sent this data at `at`: how long ago the acknowledgment that it had just heard was sent, less what a
    /// tick of the clock hides.
    pub(super) fn came(&mut self, segment: &Segment<'_>, at: Time) -> Option<Span> {
        let (_, echo) = timestamps(segment.options)?;
        if self.echoed.replace(echo) == Some(echo) {
            return None;
        }
        let is_older = |value: u32| (value.wrapping_sub(echo) as i32) < 0;
        while self
            .waiting
            .front()
            .is_some_and(|(value, _)| is_older(*value))
        {
            self.waiting.pop_front();
        }
        let (value, sent) = self.waiting.front()?;
        (*value == echo).then(|| Span((at - *sent).0.saturating_sub(self.tick.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_found_behind_other_options() {
        let option = [8, 10, 0, 0, 1, 0, 0, 0, 0, 7];
        let with = |before: &[u8]| [before, &option].concat();
        for before in [
            &[][..],
            &[1, 1],
            &[2, 4, 5, 180, 4, 2],
            &[1, 1, 5, 10, 0, 0, 0, 0, 0, 0, 0, 0],
        ] {
            assert_eq!(timestamps(&with(before)), Some((256, 7)), "{before:?}");
        }
        for cut in 0..option.len() {
            assert_eq!(timestamps(option.get(..cut).unwrap_or_default()), None);
        }
        assert_eq!(timestamps(&[5, 0, 8, 10]), None);
        assert_eq!(timestamps(&[0, 8, 10]), None);
    }
}
