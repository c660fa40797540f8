//! The same detection of losses by loops over all segments, and its comparison with [`Scoreboard`].

use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

/// The segments from the oldest unacknowledged one on, without anything that finds some of them faster.
#[derive(Debug)]
struct PlainBoard {
    records: Vec<Record>,
    newest: (Time, u64),
    round: u64,
    least_round: u64,
    highest: u64,
    reordered: bool,
}

impl PlainBoard {
    const fn new() -> Self {
        Self {
            records: Vec::new(),
            newest: (Time(0), 0),
            round: 0,
            least_round: u64::MAX,
            highest: 0,
            reordered: false,
        }
    }

    fn out(&self) -> u64 {
        let out = self
            .records
            .iter()
            .filter(|record| record.fate == Fate::Out);
        out.map(|record| record.end - record.seq).sum()
    }

    fn first_lost(&self) -> Option<(u64, u64)> {
        let lost = self.records.iter().find(|record| record.fate == Fate::Lost);
        lost.map(|record| (record.seq, record.end))
    }

    fn sent(&mut self, now: Time, seq: u64, end: u64) {
        match self.records.iter_mut().find(|record| record.end > seq) {
            None => self.records.push(Record {
                seq,
                end,
                at: now,
                again: false,
                fate: Fate::Out,
            }),
            Some(record) => {
                (record.at, record.again) = (now, true);
                if record.fate == Fate::Lost {
                    record.fate = Fate::Out;
                }
            }
        }
    }

    fn acknowledged(&mut self, now: Time, ack: u64, ranges: &[(u64, u64)]) -> AckInfo {
        let mut info = AckInfo::default();
        let (gone, left): (Vec<Record>, Vec<Record>) =
            self.records.iter().partition(|record| record.end <= ack);
        self.records = left;
        info.advanced = !gone.is_empty();
        for record in gone.iter().filter(|record| record.fate != Fate::Arrived) {
            self.arrives(now, record, &mut info);
        }
        if let Some(front) = self.records.first_mut() {
            let covered = ack.saturating_sub(front.seq);
            front.seq = front.seq.max(ack);
            info.delivered += if front.fate == Fate::Arrived {
                0
            } else {
                covered
            };
        }
        for (from, to) in ranges {
            for place in 0..self.records.len() {
                let record = self.records[place];
                if record.seq >= *from && record.end <= *to && record.fate != Fate::Arrived {
                    self.records[place].fate = Fate::Arrived;
                    self.arrives(now, &record, &mut info);
                }
            }
        }
        info
    }

    fn arrives(&mut self, now: Time, record: &Record, info: &mut AckInfo) {
        info.delivered += record.end - record.seq;
        let round = now - record.at;
        if record.again {
            if round.0 < self.least_round {
                return;
            }
        } else {
            self.least_round = self.least_round.min(round.0);
            info.round = Some(round);
            self.reordered |= record.end < self.highest;
        }
        self.highest = self.highest.max(record.end);
        if (record.at, record.end) > self.newest {
            self.newest = (record.at, record.end);
            self.round = round.0;
        }
    }

    fn detect(&mut self, now: Time, repairing: bool, duplicates: u32) -> (bool, Option<Time>) {
        let wait = self.wait(repairing, duplicates);
        let (mut found, mut next) = (false, None);
        for record in &mut self.records {
            if record.fate != Fate::Out || (record.at, record.end) > self.newest {
                continue;
            }
            let due = record.at + wait;
            if due <= now {
                record.fate = Fate::Lost;
                found = true;
            } else {
                next = next.max(Some(due));
            }
        }
        (found, next)
    }

    fn timed_out(&mut self, now: Time) {
        let wait = self.wait(false, 0);
        for (place, record) in self.records.iter_mut().enumerate() {
            if record.fate == Fate::Out && (place == 0 || record.at + wait <= now) {
                record.fate = Fate::Lost;
            }
        }
    }

    fn wait(&self, repairing: bool, duplicates: u32) -> Span {
        let arrived = self
            .records
            .iter()
            .filter(|record| record.fate == Fate::Arrived);
        let arrived = arrived.count() as u32;
        let loss_indicated = repairing || (duplicates > 0 && arrived >= duplicates);
        let window = match (loss_indicated && !self.reordered, self.least_round) {
            (true, _) | (_, u64::MAX) => 0,
            (false, least) => least / 4,
        };
        Span(self.round + window)
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// New segments, so long.
    Sent(Vec<u64>),
    /// The first lost one, or the one that contains this part of what was sent, is sent again.
    SentAgain(Option<u64>),
    Acknowledged(u64, Vec<(u64, u64)>),
    Detect(bool, u32),
    TimedOut,
}

fn step() -> impl Strategy<Value = Step> {
    let ranges = proptest::collection::vec((0_u64..100, 0_u64..40), 0..4);
    prop_oneof![
        3 => proptest::collection::vec(1_u64..5, 1..6).prop_map(Step::Sent),
        2 => Just(Step::SentAgain(None)),
        1 => (0_u64..100).prop_map(|part| Step::SentAgain(Some(part))),
        4 => (0_u64..20, ranges).prop_map(|(ack, ranges)| Step::Acknowledged(ack, ranges)),
        3 => (any::<bool>(), 0_u32..4).prop_map(|(repairing, most)| Step::Detect(repairing, most)),
        1 => Just(Step::TimedOut),
    ]
}

/// Both boards, and what of the sequence numbers is unacknowledged.
struct Boards {
    board: Scoreboard,
    plain: PlainBoard,
    una: u64,
    max: u64,
}

impl Boards {
    fn part(&self, part: u64) -> u64 {
        self.una + (self.max - self.una) * part / 100
    }

    fn send(&mut self, now: Time, seq: u64, end: u64) {
        self.board.sent(now, seq, end);
        self.plain.sent(now, seq, end);
    }

    fn apply(&mut self, now: Time, step: &Step) {
        match step {
            Step::Sent(lengths) => {
                for len in lengths {
                    self.send(now, self.max, self.max + len);
                    self.max += len;
                }
            }
            Step::SentAgain(part) => {
                let place = part.map(|part| (self.part(part), self.part(part) + 1));
                let place = place.filter(|(seq, _)| *seq < self.max);
                if let Some((seq, end)) = place.or_else(|| self.plain.first_lost()) {
                    self.send(now, seq, end);
                }
            }
            Step::Acknowledged(ack, ranges) => self.acknowledge(now, self.part(*ack), ranges),
            Step::Detect(repairing, duplicates) => assert_eq!(
                self.board.detect(now, *repairing, *duplicates),
                self.plain.detect(now, *repairing, *duplicates)
            ),
            Step::TimedOut => {
                self.board.timed_out(now);
                self.plain.timed_out(now);
            }
        }
    }

    fn acknowledge(&mut self, now: Time, ack: u64, parts: &[(u64, u64)]) {
        let range = |(from, len): &(u64, u64)| (self.part(*from), self.part(from + len));
        let ranges: Vec<(u64, u64)> = parts.iter().map(range).collect();
        let info = self.board.acknowledged(now, ack, &ranges);
        let plain = self.plain.acknowledged(now, ack, &ranges);
        assert_eq!(
            (info.delivered, info.round, info.advanced),
            (plain.delivered, plain.round, plain.advanced)
        );
        self.una = ack;
    }
}

proptest! {
    #[test]
    fn losses_are_those_that_loops_over_all_segments_find(
        steps in proptest::collection::vec((step(), 0_u64..9), 0..80),
    ) {
        let mut both = Boards {
            board: Scoreboard::default(),
            plain: PlainBoard::new(),
            una: 1,
            max: 1,
        };
        let mut now = 1;
        for (step, later) in &steps {
            now += later;
            both.apply(Time(now), step);
            prop_assert_eq!(both.board.out(), both.plain.out());
            prop_assert_eq!(both.board.first_lost(), both.plain.first_lost());
            prop_assert_eq!(both.board.has_lost(), both.plain.first_lost().is_some());
        }
    }
}
