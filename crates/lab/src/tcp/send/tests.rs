//! What SACK reported, against the same sums over a plain list of ranges.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::tcp::ranges::tests::joined;

/// The ranges as a list, with every sum made anew.
#[derive(Default)]
struct PlainSacked(Vec<(u64, u64)>);

impl PlainSacked {
    fn note(&mut self, sender: &Sender, (from, to): (u64, u64)) {
        if to > sender.una && to <= sender.max {
            self.0.push((from, to));
            self.0 = joined(core::mem::take(&mut self.0));
        }
    }

    fn pipe(&self, sender: &Sender) -> u64 {
        let Some((_, highest)) = self.0.last() else {
            return sender.flight();
        };
        let from = sender.resent.max(sender.una);
        let arrived = self.above(sender.una);
        let lost = highest
            .saturating_sub(from)
            .saturating_sub(self.above(from));
        sender.flight().saturating_sub(arrived).saturating_sub(lost)
    }

    fn gone(&self, sender: &Sender) -> u64 {
        let timeout = matches!(sender.recovery, Some((Sent::Timeout, _)));
        if sender.next >= sender.max && !timeout {
            return sender.flight().saturating_sub(self.pipe(sender));
        }
        let below = self.0.iter().map(|(from, to)| {
            let to = (*to).min(sender.next);
            to.saturating_sub((*from).max(sender.una))
        });
        below.sum()
    }

    fn above(&self, from: u64) -> u64 {
        let above = self
            .0
            .iter()
            .map(|(start, end)| end.saturating_sub((*start).max(from)));
        above.sum()
    }

    fn hole_after(&self, from: u64) -> Option<(u64, u64)> {
        self.0.iter().find(|(_, to)| *to > from).copied()
    }
}

#[derive(Clone, Debug)]
enum Step {
    Sacked(u64, u64),
    Acknowledged(u64),
    Resent(u64),
    SentUpTo(u64),
    TimedOut(bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0_u64..1000, 1_u64..40).prop_map(|(from, len)| Step::Sacked(from, from + len)),
        1 => (0_u64..1000).prop_map(Step::Acknowledged),
        1 => (0_u64..1000).prop_map(Step::Resent),
        1 => (0_u64..1000).prop_map(Step::SentUpTo),
        1 => any::<bool>().prop_map(Step::TimedOut),
    ]
}

fn apply(step: &Step, sender: &mut Sender, plain: &mut PlainSacked) {
    match *step {
        Step::Sacked(from, to) => {
            plain.note(sender, (from, to));
            sender.note_sacked(&[(from, to)]);
        }
        Step::Acknowledged(ack) if ack >= sender.una => {
            sender.acknowledge(ack);
            plain.0.retain(|(_, to)| *to > ack);
        }
        Step::Acknowledged(_) => {}
        Step::Resent(to) => sender.resent = to,
        Step::SentUpTo(next) => sender.next = next.max(sender.una),
        Step::TimedOut(whole) => {
            let sent = [Sent::FastRetransmit, Sent::Timeout][usize::from(whole)];
            sender.recovery = Some((sent, sender.max));
        }
    }
}

proptest! {
    #[test]
    fn counters_of_sacked_bytes_equal_sums_over_all_ranges(
        steps in proptest::collection::vec(step(), 0..80),
    ) {
        let mut sender = Sender::new(0, &StackParams::default());
        sender.write(Payload::pattern(0, 1000));
        (sender.max, sender.next) = (1001, 1001);
        let mut plain = PlainSacked::default();
        for step in &steps {
            apply(step, &mut sender, &mut plain);
            prop_assert_eq!(sender.gone(), plain.gone(&sender));
            prop_assert_eq!(sender.pipe(), plain.pipe(&sender));
            let from = sender.resent.max(sender.una);
            let (new, old) = (sender.sacked.first_above(from), plain.hole_after(from));
            // only the part of a range above `una` counts, and `from` is not below that
            prop_assert_eq!(
                new.map(|(start, end)| (start.max(from), end)),
                old.map(|(start, end)| (start.max(from), end))
            );
        }
    }
}
