//! Whose pace it is that a sender's data comes at: the path's, or a machine's.

use crate::constants::{
    DEFAULT_PS_PER_BYTE, ETHERNET_PS_PER_BYTE, FRAME_OVERHEAD, MAX_MODERN_NS_PER_BYTE, MIN_FRAME,
    MIN_WIDE_AREA_RTT, PRIOR_PENALTY, SLOWEST_NETWORK_RATIO,
};
use coax_explain::report::Direction;

use crate::parameters::{Loss, ModelParameters};

/// Whose pace a sender's data comes at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pacer {
    Path,
    Machine,
    /// The capture does not say.
    Open,
}

impl ModelParameters {
    /// The same with its pace taken for somebody else's, as far as the capture leaves that open. What comes at no
    /// network's own pace may come at that of the machine that gives or takes it: the client, which is the old one mostly,
    /// or the server. `bytes` has the longest segment.
    pub(crate) fn of_others(&self, bytes: u32) -> Vec<Self> {
        let by_request = self.by_request().into_iter();
        match self.pacer(bytes) {
            Pacer::Path => by_request.collect(),
            Pacer::Machine | Pacer::Open if self.is_by_machine() => vec![self.by_path(bytes)],
            Pacer::Machine | Pacer::Open => {
                let machines = [0, 1].map(|side| self.by_machine(bytes, side));
                machines.into_iter().chain(by_request).collect()
            }
        }
    }

    /// The likelier of them, before anything was run.
    pub(crate) fn likeliest(self, bytes: u32) -> Self {
        // hardly any network lies between those of 10 and of 100 Mbit/s, or of those and of 1,000
        let is_between = self.path_ps < ETHERNET_PS_PER_BYTE[0];
        match (self.pacer(bytes), self.by_request()) {
            (Pacer::Machine, _) => self.by_machine(bytes, 0),
            (_, Some(guess)) if is_between => Self {
                is_unlikely: false,
                ..guess
            },
            _ => self,
        }
    }

    /// How much better a reading has to fit that is not the likelier one.
    pub(crate) fn prior_penalty(&self) -> f64 {
        // chance does not strike at one place
        let is_chance = matches!(self.loss, Loss::Random(_) | Loss::Periodic(_));
        let doubts = [self.is_unlikely, self.at_one_place && is_chance];
        doubts.into_iter().filter(|doubt| *doubt).count() as f64 * PRIOR_PENALTY
    }

    pub(crate) fn is_by_machine(&self) -> bool {
        self.segment != [0.0; 2]
    }

    /// Whose pace it is, by the handshake. A path takes for its two small packets what it takes for their bytes: never
    /// more than the handshake took, and if that is most of it, the path is slow. A machine that takes its time for each
    /// packet takes about as much for those of the handshake.
    fn pacer(&self, bytes: u32) -> Pacer {
        let ps = self.pace_seen(bytes);
        if !self.path_known || ps <= DEFAULT_PS_PER_BYTE || is_networks(ps) {
            return Pacer::Path;
        }
        let carried = 2.0 * MIN_FRAME * ps / 1000.0;
        let each = (f64::from(bytes) + FRAME_OVERHEAD) * ps / 1000.0;
        if self.handshake_rtt < carried * 0.9 || (self.handshake_rtt / each - 1.0).abs() < 0.3 {
            Pacer::Machine
        } else if self.handshake_rtt < carried * 2.0 {
            Pacer::Path
        } else {
            Pacer::Open
        }
    }

    /// Picoseconds a byte, whoever takes them.
    fn pace_seen(&self, bytes: u32) -> f64 {
        let each = self.segment.iter().copied().fold(0.0, f64::max);
        if each > 0.0 {
            each * 1000.0 / (f64::from(bytes) + FRAME_OVERHEAD)
        } else {
            self.path_ps
        }
    }

    /// The way there and back, if a path of this pace carried the handshake.
    pub(crate) fn way(handshake_rtt: f64, path_ps: f64) -> f64 {
        (handshake_rtt - 2.0 * MIN_FRAME * path_ps / 1000.0).max(0.0)
    }

    fn by_machine(&self, bytes: u32, side: usize) -> Self {
        let each = (f64::from(bytes) + FRAME_OVERHEAD) * self.path_ps / 1000.0;
        Self {
            path_ps: DEFAULT_PS_PER_BYTE,
            round_trip: Self::way(self.handshake_rtt, DEFAULT_PS_PER_BYTE),
            segment: [0, 1].map(|one| if one == side { each } else { 0.0 }),
            is_unlikely: self.pacer(bytes) != Pacer::Machine,
            ..self.clone()
        }
    }

    fn by_path(&self, bytes: u32) -> Self {
        let path_ps = self.pace_seen(bytes);
        Self {
            path_ps,
            round_trip: Self::way(self.handshake_rtt, path_ps),
            segment: [0.0; 2],
            is_unlikely: self.pacer(bytes) == Pacer::Machine,
            ..self.clone()
        }
    }

    /// The same over a path of which nothing is known, as slow and as fast as may be.
    pub(crate) fn of_unknown_path(&self) -> Vec<Self> {
        if self.path_known {
            return Vec::new();
        }
        vec![self.over(self.path_ps * 0.1), self.over(self.slowest())]
    }

    /// Picoseconds a byte, if what is taken for the time of the machine at the far end is what the path carries a request
    /// in, as far as the handshake allows it and a network of the time is as slow.
    fn slowest(&self) -> f64 {
        let room: f64 = [0, 1].map(|side| self.usual_at_far_end(side)).iter().sum();
        let by_room = self.path_ps + room * 1000.0 / (self.block + FRAME_OVERHEAD);
        let by_handshake = self.handshake_rtt * 1000.0 / (2.0 * MIN_FRAME);
        let by_network = match self.handshake_rtt < MIN_WIDE_AREA_RTT {
            true if is_nearer_to_slowest(by_room) => ETHERNET_PS_PER_BYTE[0],
            true => by_room.min(ETHERNET_PS_PER_BYTE[0]),
            false => by_room,
        };
        by_handshake.min(by_network).max(self.path_ps)
    }

    /// Over the slowest usual network, if an answer with data takes so much longer than one without (`bare`, ns) that this network
    /// explains it, and no machine of today takes as long for these bytes.
    pub(crate) fn over_slowest(&self, bare: Option<f64>) -> Option<Self> {
        let bare = bare.filter(|_| !self.path_known && self.is_modern)?;
        let by_machine = bare + MAX_MODERN_NS_PER_BYTE * self.block;
        let by_path = (self.usual_at_far_end(1) - by_machine).max(0.0);
        let ps = self.path_ps + by_path * 1000.0 / (self.block + FRAME_OVERHEAD);
        let is_local = self.handshake_rtt < MIN_WIDE_AREA_RTT;
        let is_slowest = is_local && is_nearer_to_slowest(ps);
        is_slowest.then(|| self.over(self.slowest()))
    }

    /// The same over a path of another pace: what that takes more of a request's bytes the machine at the far end takes
    /// less (what is more than it takes, the handshake took longer for other reasons), and the way there and back is shorter by what
    /// the path takes of the handshake's.
    fn over(&self, path_ps: f64) -> Self {
        let more = path_ps - self.path_ps;
        let carried = more * (self.block + FRAME_OVERHEAD) / 1000.0;
        let room = [0, 1].map(|side| self.usual_at_far_end(side));
        let all = room.iter().sum::<f64>().max(1.0);
        let mut guess = self.clone();
        for (think, room) in guess.think.iter_mut().zip(room) {
            *think = (*think - carried * room / all).max(0.0);
        }
        let beyond = (carried - all).max(0.0);
        let way = more * 2.0 * MIN_FRAME / 1000.0 + beyond;
        guess.round_trip = (guess.round_trip - way).max(0.0);
        guess.path_ps = path_ps;
        guess
    }

    /// What a machine usually takes for a request, if the path is between it and where the capture was taken: what the
    /// path takes for bytes is then part of what it seems to take.
    fn usual_at_far_end(&self, side: usize) -> f64 {
        let (think, rare) = (self.think.get(side), self.rare.get(side));
        let usual = |(think, rare): (&f64, &f64)| think * (1.0 - rare);
        let is_far = self.far_end.is_none_or(|far| far == side);
        think.zip(rare).filter(|_| is_far).map_or(0.0, usual)
    }

    /// The same with the time that a path of this pace takes for a request's data taken by the machine that gets it: where
    /// the answer to a few segments is all that is seen of their arrival, the capture says no more.
    fn by_request(&self) -> Option<Self> {
        let faster = ETHERNET_PS_PER_BYTE
            .into_iter()
            .find(|ps| ps * 1.2 < self.path_ps)?;
        let is_networks = is_networks(self.path_ps) || is_about_slowest(self.path_ps);
        if !self.is_weak || !self.path_known || self.is_by_machine() || is_networks {
            return None;
        }
        let side = match self.direction {
            Direction::ToClient => 0,
            Direction::ToServer => 1,
        };
        let mut guess = Self {
            path_ps: faster,
            round_trip: Self::way(self.handshake_rtt, faster),
            is_assumed: true,
            is_unlikely: true,
            ..self.clone()
        };
        let more = (self.path_ps - faster) / 1000.0 * self.block;
        let (think, share) = (guess.think.get_mut(side)?, guess.fixed.get_mut(side)?);
        *share = (*think * *share + more) / (*think + more).max(1.0);
        *think += more;
        *guess.most_think.get_mut(side)? += more * 1.5;
        Some(guess)
    }
}

/// Whether it is a network's own pace: nothing passes it faster than that, and little is seen to pass much slower.
fn is_networks(ps: f64) -> bool {
    let is_of = |network: &f64| (0.97..1.12).contains(&(ps / network));
    ETHERNET_PS_PER_BYTE.iter().any(is_of)
}

/// Whether it is nearer to the slowest usual network than to the next one: hardly any lies between.
fn is_nearer_to_slowest(ps: f64) -> bool {
    ps >= ETHERNET_PS_PER_BYTE[0] / 2.0
}

/// Whether it is about the pace of the slowest usual network. The time that answers take varies, so a pace that they tell may be off.
fn is_about_slowest(ps: f64) -> bool {
    (SLOWEST_NETWORK_RATIO..1.0).contains(&(ps / ETHERNET_PS_PER_BYTE[0]))
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::panic)]
mod tests {
    use super::*;
    use crate::parameters::example::guess;

    #[test]
    fn a_networks_own_pace_is_the_paths() {
        for ns in [800.0, 820.0, 80.0, 8.0, 20.0] {
            assert_eq!(guess(ns, 3000.0).pacer(1460), Pacer::Path, "{ns}");
        }
    }

    #[test]
    fn no_path_is_slower_than_its_handshake_allows() {
        // 168 bytes at 4,640 ns take 780 us
        assert_eq!(guess(4640.0, 300.0).pacer(536), Pacer::Machine);
        assert_eq!(guess(4640.0, 900.0).pacer(536), Pacer::Path);
        assert_eq!(guess(4640.0, 9000.0).pacer(536), Pacer::Open);
    }

    #[test]
    fn a_machine_that_takes_its_time_for_every_packet_takes_it_for_the_handshakes() {
        // 614 bytes at 4,640 ns take 2,850 us
        assert_eq!(guess(4640.0, 3290.0).pacer(536), Pacer::Machine);
        let likeliest = guess(4640.0, 3290.0).likeliest(536);
        assert_eq!(likeliest.path_ps, DEFAULT_PS_PER_BYTE);
        assert!((likeliest.segment[0] - 2_849_000.0).abs() < 1000.0);
        let other = &likeliest.of_others(536)[0];
        assert!((other.path_ps / 4_640_000.0 - 1.0).abs() < 1e-9 && other.is_unlikely);
    }

    #[test]
    fn a_path_of_which_nothing_is_known_is_no_slower_than_the_far_machines_time_and_the_handshake_allow()
     {
        let mut open = ModelParameters {
            path_known: false,
            think: [100_000.0, 200_000.0],
            ..guess(80.0, 3000.0)
        };
        let [fast, slow] = &open.of_unknown_path()[..] else {
            panic!("two paths");
        };
        assert!((slow.path_ps - 80_000.0 - 2e8 / (4096.0 + FRAME_OVERHEAD)).abs() < 1.0);
        assert!(slow.think[1].abs() < 1.0 && slow.think[0] == 100_000.0);
        // and what the handshake took is no longer for it
        let shorter = (slow.path_ps - 80_000.0) * 0.168;
        assert!((3e6 - slow.round_trip - shorter).abs() < 1.0);
        let carried = 0.9 * 80.0 * (4096.0 + FRAME_OVERHEAD);
        assert!((fast.think[1] - 200_000.0 - carried).abs() < 1.0);
        // as long for its two packets as they took
        open.handshake_rtt = 168.0 * 90.0;
        assert_eq!(open.slowest(), 90_000.0);
        // within a house no network is slower than the slowest usual one
        open.think = [1e9; 2];
        open.handshake_rtt = 3e6;
        assert_eq!(open.slowest(), ETHERNET_PS_PER_BYTE[0]);
        open.handshake_rtt = 20e6;
        assert!(open.slowest() > 10.0 * ETHERNET_PS_PER_BYTE[0]);
    }

    #[test]
    fn answers_that_take_as_long_as_the_slowest_network_came_over_it() {
        let open = ModelParameters {
            path_known: false,
            is_modern: true,
            think: [100_000.0, 640_000.0],
            block: 1024.0,
            ..guess(80.0, 1040.0)
        };
        let slow = open.over_slowest(Some(136_000.0)).map(|it| it.path_ps);
        assert_eq!(slow, Some(ETHERNET_PS_PER_BYTE[0]));
        // a server that takes as long without data, and a machine of the time
        assert!(open.over_slowest(Some(500_000.0)).is_none());
        assert!(open.over_slowest(None).is_none());
        let old = ModelParameters {
            is_modern: false,
            ..open
        };
        assert!(old.over_slowest(Some(136_000.0)).is_none());
    }

    #[test]
    fn what_only_the_next_request_tells_may_be_the_machines_that_makes_it() {
        let weak = ModelParameters {
            is_weak: true,
            ..guess(628.0, 4130.0)
        };
        let likeliest = weak.clone().likeliest(1460);
        assert_eq!(likeliest.path_ps, DEFAULT_PS_PER_BYTE);
        let more = likeliest.think[0] - weak.think[0];
        assert!((more - 548.0 * 4096.0).abs() < 1.0, "{more}");
        assert_eq!(likeliest.think[1], weak.think[1]);
        // a little faster than 10 Mbit/s: the answers varied
        let near = ModelParameters {
            is_weak: true,
            ..guess(762.0, 4130.0)
        };
        assert_eq!(near.clone().likeliest(1460).path_ps, near.path_ps);
    }
}
