//! Machines that join, leave and crash at random times.

use super::*;
use alloc::format;

/// The longest time between two announcements of a server, and a minute for an election.
const INTERVAL: u64 = 12 * MINUTE + MINUTE;
/// A server that vanished is kept for three announcements.
const FORGOTTEN: u64 = 36 * MINUTE + MINUTE;
const MACHINES: u16 = 24;

/// What became of a machine, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Absent,
    Up(Time),
    Left(Time),
    Crashed(Time),
}

struct Churn {
    net: Net,
    fates: Vec<Fate>,
    random: u64,
    /// Since when the network may be without a master browser: one crashed.
    disturbed: Time,
    checked: usize,
}

impl Churn {
    fn new(seed: u64) -> Self {
        Self {
            net: Net::new(),
            fates: alloc::vec![Fate::Absent; usize::from(MACHINES)],
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            disturbed: START,
            checked: 0,
        }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 20) % bound
    }

    /// A machine that is off starts; one that is on leaves, or crashes.
    fn happen(&mut self) {
        let station = self.below(u64::from(MACHINES)) as u16;
        let (now, at) = (self.net.now, usize::from(station));
        let (fate, crashes) = (self.fates[at], self.below(3) == 0);
        match fate {
            Fate::Up(_) if crashes => {
                if self.net.masters().contains(&station) {
                    self.disturbed = now;
                }
                self.net.crash(station);
                self.fates[at] = Fate::Crashed(now);
            }
            Fate::Up(_) => {
                self.net.leave(station);
                self.fates[at] = Fate::Left(now);
            }
            _ => {
                let level = self.below(40) as u8;
                let mut config = config(&format!("S{station:02}"), level);
                config.seed = self.random;
                config.preferred_master = self.below(6) == 0;
                self.net.join(station, config);
                self.fates[at] = Fate::Up(now);
            }
        }
    }

    /// What has been so for one interval is in the list of the only master browser. A new one asks all servers to announce
    /// themselves, which takes up to 30 s.
    fn check(&mut self, seed: u64) {
        let before = self.net.masters();
        self.net.run(MINUTE);
        if self.net.masters() != before {
            self.net.run(MINUTE);
        }
        let now = self.net.now;
        let since = |at: Time| (now - at).as_millis();
        let has_settled = since(self.disturbed) > INTERVAL;
        let up = self.fates.iter();
        let anybody = up.filter(|fate| matches!(fate, Fate::Up(at) if since(*at) > MINUTE));
        if anybody.count() == 0 || !has_settled {
            return;
        }
        let masters = self.net.masters();
        assert_eq!(masters.len(), 1, "seed {seed}: masters");
        let listed = self.net.listed(masters[0]);
        for (station, fate) in self.fates.iter().enumerate() {
            let is_listed = listed.contains(&format!("S{station:02}"));
            match *fate {
                Fate::Up(at) if since(at) > INTERVAL => {
                    assert!(is_listed, "seed {seed}: S{station:02} is missing");
                }
                Fate::Left(at) if since(at) > INTERVAL => {
                    assert!(!is_listed, "seed {seed}: S{station:02} has left");
                }
                Fate::Crashed(at) if since(at) > FORGOTTEN => {
                    assert!(!is_listed, "seed {seed}: S{station:02} has crashed");
                }
                _ => continue,
            }
            self.checked += 1;
        }
    }
}

#[test]
fn a_list_is_correct_within_one_interval_after_any_machine_joins_or_leaves() {
    let mut checked = 0;
    for seed in 0..60 {
        let mut churn = Churn::new(seed);
        for _ in 0..80 {
            churn.happen();
            let wait = match churn.below(4) {
                0 => churn.below(14 * MINUTE),
                _ => churn.below(MINUTE),
            };
            churn.net.run(wait);
            churn.check(seed);
        }
        churn.net.run(FORGOTTEN + MINUTE);
        churn.check(seed);
        checked += churn.checked;
    }
    assert!(checked > 20_000, "only {checked} statements");
}
