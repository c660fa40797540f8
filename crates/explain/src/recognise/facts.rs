//! What is known of a copy and its connection, by name.

mod frames;

use std::collections::BTreeMap;

use coax_cause::Cause;
use coax_wire::smb::negotiate::cap;

use super::vocabulary::{Value, word};
use crate::constants::{MAX_ANDX_HEADER, MIN_PATTERN_LOSSES};
use crate::report::{
    Capture, Connection, Copy, Direction, Protocol, Refusal, Requests, Seen, Side, Smb, Transport,
};

/// Facts by name, and the packets that tell them.
#[derive(Clone, Debug, Default)]
pub struct Facts(BTreeMap<&'static str, (Value, Vec<u64>)>);

impl Facts {
    /// Everything that is known of a copy and its connection.
    pub fn of(capture: &Capture, copy: &Copy) -> Self {
        let mut facts = Self::default();
        facts.copy(copy);
        if let Some(connection) = capture.connections.get(copy.connection) {
            facts.parties(connection);
            match connection.transport() {
                Transport::Tcp => {
                    facts.tcp(connection, copy.direction);
                    facts.in_flight(connection, copy);
                }
                _ => facts.frames_of(connection, copy.direction),
            }
            if let Some(smb) = &connection.smb {
                facts.negotiated(smb);
                facts.used(smb);
                facts.block_of_buffer();
                facts.answering(connection, copy);
                facts.shut_per_write(connection);
            }
        }
        facts
    }

    /// The size of a request in percent of what the largest message that the server accepts has room for, and of the smaller limit of
    /// both sides; and the bytes of as many requests as were outstanding at once.
    fn block_of_buffer(&mut self) {
        let Some(block) = self.number("block.usual") else {
            return;
        };
        if let Some(count) = self.number("mpx.used") {
            self.set("block.at-once", block * count.max(1.0));
        }
        if let Some(buffer) = self.number("buffer.server") {
            let client = self.number("buffer.client").unwrap_or(buffer);
            self.set("block.of-buffer", block * 100.0 / room_for(block, buffer));
            self.set(
                "block.of-limit",
                block * 100.0 / buffer.min(client).max(1.0),
            );
        }
    }

    fn number(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// The most that the sender had in flight. A capture at the receiver's end does not show it: there it is at least what
    /// arrived in a round trip.
    fn in_flight(&mut self, connection: &Connection, copy: &Copy) {
        let [client, server] = &connection.sides;
        let sender = match copy.direction {
            Direction::ToClient => server,
            Direction::ToServer => client,
        };
        let usual = connection.bytes_in_round_trip(copy);
        self.set("in-flight.max", sender.max_in_flight.max(usual));
    }

    /// What is known of a connection, of whatever it carried.
    pub fn of_connection(connection: &Connection) -> Self {
        let mut facts = Self::default();
        facts.parties(connection);
        let is_tcp = connection.transport() == Transport::Tcp;
        let stuck = connection.habits.iter().max_by_key(|side| side.stuck.count);
        if let Some(habits) = stuck.filter(|_| is_tcp) {
            facts.seen("stuck.count", habits.stuck.count, [habits.stuck.frame]);
            facts.set("stuck.bytes", u64::from(habits.stuck_bytes));
        }
        if let Some(smb) = &connection.smb {
            facts.negotiated(smb);
            facts.used(smb);
        }
        facts
    }

    /// For how much of the copy the server had a whole request to answer: what responses took, less the way there and back of each.
    fn answering(&mut self, connection: &Connection, copy: &Copy) {
        let way = connection.server_rtt.map_or(0, |way| way.0);
        let own = copy.requests.iter().filter(|row| !row.waits).map(|row| {
            let ways = row.answered.saturating_mul(way);
            row.response_total.0.saturating_sub(ways)
        });
        let own = own.fold(0_u64, u64::saturating_add);
        let percent = own as f64 * 100.0 / copy.wall.0.max(1) as f64;
        self.set("server.answering", percent.min(100.0));
    }

    /// A server that shuts its window within a single write reads that slowly. With several, it may be busy with one before.
    fn shut_per_write(&mut self, connection: &Connection) {
        let (one, writes) = (self.number("mpx.used"), self.number("write.count"));
        let shut = match (one, writes) {
            (Some(used), Some(writes)) if used <= 1.0 && writes >= 1.0 => {
                connection.sides[1].zero_windows as f64 / writes
            }
            _ => 0.0,
        };
        self.set("window.shut-per-write", shut);
    }

    /// A fact; `None` of what is not known.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).map(|fact| &fact.0)
    }

    /// The packets that tell a fact.
    pub fn frames(&self, name: &str) -> Vec<u64> {
        self.0
            .get(name)
            .map(|fact| fact.1.clone())
            .unwrap_or_default()
    }

    /// Sets a fact. A name that is not in the `vocabulary` is left out.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.seen(name, value, []);
    }

    /// Sets a fact that these packets tell; 0 is none.
    pub fn seen(
        &mut self,
        name: &str,
        value: impl Into<Value>,
        frames: impl IntoIterator<Item = u64>,
    ) {
        if let Some(word) = word(name) {
            let frames = frames.into_iter().filter(|frame| *frame > 0).collect();
            self.0.insert(word.name, (value.into(), frames));
        }
    }

    fn some(
        &mut self,
        name: &str,
        value: Option<impl Into<Value>>,
        frames: impl IntoIterator<Item = u64>,
    ) {
        if let Some(value) = value {
            self.seen(name, value, frames);
        }
    }

    fn copy(&mut self, copy: &Copy) {
        self.set("direction", copy.direction.name());
        let seconds = copy.wall.0 as f64 / 1e9;
        self.set("copy.bytes", copy.bytes);
        self.set("copy.seconds", seconds);
        if seconds > 0.0 {
            self.set("copy.rate", copy.bytes as f64 / seconds);
        }
        for cause in Cause::ALL {
            let share = copy.account.get(cause).0 as f64 * 100.0 / copy.wall.0.max(1) as f64;
            self.set(cause.description().share, share);
        }
        self.requests(copy);
    }

    fn requests(&mut self, copy: &Copy) {
        let reads = copy.direction == Direction::ToClient;
        let ours =
            |row: &&Requests| matches!(family(&row.command), Some((read, _)) if read == reads);
        let rows: Vec<&Requests> = copy.requests.iter().filter(ours).collect();
        self.set("block.count", rows.iter().map(|row| row.count).sum::<u64>());
        if let Some(row) = rows
            .iter()
            .max_by_key(|row| row.bytes)
            .filter(|row| row.bytes > 0)
        {
            self.some("block.kind", family(&row.command).map(|(_, kind)| kind), []);
            self.set("block.usual", row.usual_bytes);
            self.set("block.page-rest", row.usual_bytes % 4096);
            self.set("block.largest", row.largest_bytes);
            let median = row.response_median.map(|span| span.0 as f64 / 1e6);
            self.some("block.response-ms", median, []);
        }
        let count = |wanted: (bool, &str)| {
            let rows = copy
                .requests
                .iter()
                .filter(|row| family(&row.command) == Some(wanted));
            rows.map(|row| row.count).sum::<u64>()
        };
        for kind in ["core", "andx", "raw", "mpx"] {
            self.set(&format!("read.{kind}.count"), count((true, kind)));
            self.set(&format!("write.{kind}.count"), count((false, kind)));
        }
        let writes = ["core", "andx", "raw", "mpx"].map(|kind| count((false, kind)));
        self.set("write.count", writes.iter().sum::<u64>());
        let flushes = copy.requests.iter().filter(|row| row.command == "FLUSH");
        self.set("flush.count", flushes.map(|row| row.count).sum::<u64>());
    }

    fn parties(&mut self, connection: &Connection) {
        let carries = match connection.protocol {
            Protocol::Smb1 => "smb1",
            Protocol::Smb2 { .. } => "smb2",
            Protocol::Other => "other",
        };
        self.set("carries", carries);
        self.set("transport", connection.transport().name());
        let [client, server] = &connection.parties;
        let frames = |party: &crate::report::Party| -> Vec<u64> {
            party
                .evidence
                .iter()
                .filter_map(|evidence| evidence.frame)
                .collect()
        };
        let known = |name: &Option<String>| name.clone().unwrap_or_else(|| "unknown".to_owned());
        self.seen("client.profile", known(&client.profile), frames(client));
        self.seen("client.name", client.name.clone(), frames(client));
        self.set("client.sure", client.sure.name());
        self.seen("server.kind", known(&server.profile), frames(server));
        self.seen("server.name", server.name.clone(), frames(server));
        if let (Some(client), Some(server)) = (connection.client_rtt, connection.server_rtt) {
            self.set(
                "round-trip.ms",
                client.0.saturating_add(server.0) as f64 / 1e6,
            );
        }
    }

    fn tcp(&mut self, connection: &Connection, direction: Direction) {
        let [client, server] = &connection.sides;
        let [client_habits, server_habits] = &connection.habits;
        for (place, who, side, habits) in [
            (0, "client", client, client_habits),
            (1, "server", server, server_habits),
        ] {
            let syn = habits.syn;
            self.some(&format!("mss.{who}"), side.mss.map(u64::from), syn);
            let width = connection
                .knows_windows_of(place)
                .then_some(side.max_window);
            let width = width.map(u64::from);
            self.some(&format!("window.{who}"), width, [habits.widest_frame]);
            if syn.is_some() {
                self.seen(&format!("scale.{who}"), side.window_scale.is_some(), syn);
                self.seen(&format!("sack.{who}"), side.sack, syn);
            }
            self.seen(
                &format!("held.{who}"),
                habits.held_acks.count,
                [habits.held_acks.frame],
            );
            let hold = habits.hold.map(|hold| hold.0 as f64 / 1e6);
            self.some(&format!("hold.{who}-ms"), hold, [habits.held_acks.frame]);
        }
        let (from, to) = match direction {
            Direction::ToClient => (1, 0),
            Direction::ToServer => (0, 1),
        };
        self.sender(connection, from);
        self.receiver(connection, from, to);
    }

    fn sender(&mut self, connection: &Connection, from: usize) {
        let (Some(side), Some(habits)) = (connection.sides.get(from), connection.habits.get(from))
        else {
            return;
        };
        self.seen(
            "segment.largest",
            u64::from(side.largest_segment),
            [habits.largest_frame],
        );
        self.set("window.full", side.window_full);
        let again = side.retransmissions + side.out_of_order;
        self.seen("retransmissions", again, [habits.again.frame]);
        let percent = again as f64 * 100.0 / side.data_segments.max(1) as f64;
        self.seen("retransmissions.percent", percent, [habits.again.frame]);
        self.set("spurious", side.spurious);
        let needless = side.spurious as f64 * 100.0 / again.max(1) as f64;
        self.set("spurious.percent", needless);
        let (losses, hit) = habits.burst_losses;
        self.seen("loss.bursts", losses, [habits.again.frame]);
        self.some("loss.place", habits.burst_place, []);
        let hit = if losses < MIN_PATTERN_LOSSES { 0 } else { hit };
        let percent = hit as f64 * 100.0 / losses.max(1) as f64;
        self.set("loss.place-percent", percent);
        self.seen("stuck.count", habits.stuck.count, [habits.stuck.frame]);
        self.set("stuck.bytes", u64::from(habits.stuck_bytes));
    }

    fn receiver(&mut self, connection: &Connection, from: usize, to: usize) {
        let (Some(side), Some(habits)) = (connection.sides.get(to), connection.habits.get(to))
        else {
            return;
        };
        let largest = connection
            .sides
            .get(from)
            .map_or(0, |side: &Side| side.largest_segment);
        let width = connection
            .knows_windows_of(to)
            .then_some(side.settled_window);
        let segments = width.map(|width| f64::from(width) / f64::from(largest.max(1)));
        let frame = [habits.widest_frame];
        self.some("window.receiver", width.map(u64::from), frame);
        self.some("window.segments", segments, frame);
        self.seen("window.shut", side.zero_windows, [habits.shut.frame]);
        self.seen("ack.held", habits.held_acks.count, [habits.held_acks.frame]);
        let hold = habits.hold.map(|hold| hold.0 as f64 / 1e6);
        self.some("ack.hold-ms", hold, [habits.held_acks.frame]);
        self.some("ack.every", habits.ack_every, []);
    }

    fn negotiated(&mut self, smb: &Smb) {
        let (asked, answered) = smb.frames.negotiate;
        let log_on = smb.frames.log_on.0;
        self.seen("dialects", smb.offered.clone(), asked);
        self.some("dialect", smb.dialect.clone(), answered);
        if let Some(frame) = answered {
            // of a dialect that is not among those kept of a cut request nothing is known
            let refused = smb.dialect.is_none() && smb.server_max_buffer.is_none();
            self.seen("negotiate.refused", refused, [frame]);
        }
        self.some(
            "buffer.server",
            smb.server_max_buffer.map(u64::from),
            answered,
        );
        self.some(
            "buffer.client",
            smb.client_max_buffer.map(u64::from),
            log_on,
        );
        self.some("mpx.max", smb.max_mpx.map(u64::from), answered);
        self.set("mpx.used", smb.most_outstanding);
        self.some(
            "raw-read.offered",
            smb.raw_offered.map(|offered| offered.0),
            answered,
        );
        self.some(
            "raw-write.offered",
            smb.raw_offered.map(|offered| offered.1),
            answered,
        );
        self.some("raw.max", smb.max_raw.map(u64::from), answered);
        let has = |bit: u32| smb.capabilities.0.map(|bits| bits & bit != 0);
        self.some("large-read.offered", has(cap::LARGE_READX), answered);
        self.some("large-write.offered", has(cap::LARGE_WRITEX), answered);
        let signing = smb.signing_offered.or(smb.raw_offered.map(|_| false));
        self.some("signing.offered", signing, answered);
        self.set("signed", smb.signed);
    }

    fn used(&mut self, smb: &Smb) {
        let [raw_read, raw_write, ..] = smb.frames.transfers;
        self.seen("raw-read.used", smb.raw_reads.0, raw_read);
        self.set("raw-read.empty", smb.raw_reads.1);
        self.seen("raw-write.used", smb.raw_writes.0, raw_write);
        self.set("raw-write.refused", smb.raw_writes.1);
        self.set("oplock.breaks", smb.oplock_breaks);
        let mut counted = |name: &str, seen: Seen| self.seen(name, seen.count, [seen.frame]);
        counted("notify.pending", smb.with_notify);
        counted("write.through", smb.through);
        let told = smb
            .refusals
            .iter()
            .map(|refusal| format!("{}:{}", refusal.command, refusal.status));
        let frames = smb.refusals.iter().map(|refusal| refusal.seen.frame);
        self.seen("refusals", told.collect::<Vec<_>>(), frames);
        let is_missing = |refusal: &&Refusal| {
            OPENS.contains(&refusal.command.as_str()) && MISSING.contains(&refusal.status.as_str())
        };
        let opens = smb.refusals.iter().filter(is_missing);
        self.set(
            "opens.missing",
            opens.map(|refusal| refusal.seen.count).sum::<u64>(),
        );
    }
}

/// No such file, path, name or device ([MS-CIFS] 2.2.2.4).
const MISSING: [&str; 5] = [
    "ERRDOS/2",
    "ERRDOS/3",
    "0xC0000034",
    "0xC000003A",
    "0xC000000F",
];
const OPENS: [&str; 4] = ["OPEN", "OPEN_ANDX", "NT_CREATE_ANDX", "TRANSACTION2 OPEN2"];

/// Whether a command reads (or writes), and of which kind it is.
fn family(command: &str) -> Option<(bool, &'static str)> {
    Some(match command {
        "READ" | "LOCK_AND_READ" => (true, "core"),
        "READ_ANDX" => (true, "andx"),
        "READ_RAW" => (true, "raw"),
        "READ_MPX" => (true, "mpx"),
        "WRITE" | "WRITE_AND_UNLOCK" | "WRITE_AND_CLOSE" | "WRITE_PRINT_FILE" => (false, "core"),
        "WRITE_ANDX" => (false, "andx"),
        "WRITE_RAW" => (false, "raw"),
        "WRITE_MPX" => (false, "mpx"),
        _ => return None,
    })
}

const KIBIBYTE: f64 = 1024.0;

/// The bytes of such blocks that a message of `buffer` bytes has room for: many programs move whole kibibytes.
fn room_for(block: f64, buffer: f64) -> f64 {
    let whole = ((buffer - MAX_ANDX_HEADER as f64) / KIBIBYTE).floor() * KIBIBYTE;
    let is_whole = block > 0.0 && block % KIBIBYTE == 0.0;
    if is_whole && whole >= block {
        return whole;
    }
    buffer.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::room_for;

    #[test]
    fn a_block_of_whole_kibibytes_fills_a_buffer_that_has_no_room_for_another() {
        assert_eq!(room_for(2048.0, 2920.0), 2048.0);
        assert_eq!(room_for(4096.0, 4356.0), 4096.0);
        assert_eq!(room_for(4096.0, 16_644.0), 15.0 * 1024.0 + 1024.0);
        // not a whole number of them, and a block larger than the message that was agreed on
        assert_eq!(room_for(1436.0, 1500.0), 1500.0);
        assert_eq!(room_for(61_440.0, 16_644.0), 16_644.0);
        assert_eq!(room_for(0.0, 0.0), 1.0);
    }
}
