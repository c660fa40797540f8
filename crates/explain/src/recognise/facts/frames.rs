//! Facts about connections without TCP.

use super::Facts;
use crate::report::{Connection, Direction};

impl Facts {
    /// Everything that is known of the frames of a copy.
    pub(super) fn frames_of(&mut self, connection: &Connection, direction: Direction) {
        let (from, to) = match direction {
            Direction::ToClient => (1, 0),
            Direction::ToServer => (0, 1),
        };
        let (Some(netbios), Some(side)) = (&connection.netbios, connection.sides.get(from)) else {
            return;
        };
        let (Some(sender), Some(receiver)) = (netbios.sides.get(from), netbios.sides.get(to))
        else {
            return;
        };
        let habits = connection.habits.get(from).copied().unwrap_or_default();
        let again = [habits.again.frame];
        self.seen("frames.again", sender.again, again);
        let percent = sender.again as f64 * 100.0 / sender.frames.max(1) as f64;
        self.seen("frames.again-percent", percent, again);
        let needless = side.spurious as f64 * 100.0 / sender.again.max(1) as f64;
        self.set("frames.needless-percent", needless);
        let timer = habits.shortest_timer;
        let ms = timer.map(|(silence, _)| silence.0 as f64 / 1e6);
        self.some("frames.timer-ms", ms, timer.map(|(_, frame)| frame));
        self.set("frames.in-flight", sender.most_unacknowledged);
        self.some("frames.window", receiver.window_frames.map(u64::from), []);
        self.set("frames.busy", receiver.busy);
        if let Some(habits) = connection.habits.get(to) {
            let hold = habits.hold.map(|hold| hold.0 as f64 / 1e6);
            self.some("frames.hold-ms", hold, [habits.held_acks.frame]);
        }
    }
}
