//! Copies that nobody chose: clients, servers, ways, speeds, losses, places of capture and changes drawn by chance, among
//! them the first that `coax explain` advises. docs/evidence/whatif.md has what came of them.
//!
//! There are two draws: the model may be looked at beside the first; the second says how right it is.

use std::fmt::Write as _;

use coax_explain::{
    advise,
    report::{Capture, Copy},
};
use coax_lab::Tap;
use coax_whatif::{Model, Why};
use toml::Value;

use crate::common::{
    chance::Chance,
    in_halves, longest,
    table::{Judged, Row, table, write},
    tried,
};

/// Seeds of the draws, and how many copies of each are tried: all where the page is written.
const FIRST: (&str, u64) = ("drawn", 0xc0a);
const AGAIN: (&str, u64) = ("drawn again", 0x1988_0b0e);
const ALL: u64 = 60;
const SOME: u64 = 6;
/// So many changes of a copy are tried: advised ones first, others drawn.
const ADVISED: usize = 3;
const OTHERS: usize = 2;
/// A change that is no further off is not listed.
const FAR: f64 = 30.0;

/// Redirectors with stacks and machines that they are met with.
const CLIENTS: [[&str; 3]; 16] = [
    ["ms-net-3.11-basic", "ms-tcpip-1.0a", "virtual-dos"],
    ["ms-net-3.11-full", "ms-tcpip-1.0a", "virtual-dos"],
    ["ms-net-3.11-full", "wfw-tcpip-32", "dos-386sx16"],
    ["ibm-dls-4.0", "ibm-tcpip-2.1.1", "virtual-dos"],
    ["ibm-dls-5.0-full", "nts-3.18", "virtual-dos"],
    ["ibm-dls-5.0-predir", "nts-3.18", "virtual-dos"],
    ["wfw-3.11", "wfw-tcpip-32", "wfw-486sx33"],
    ["windows-95", "windows-95", "wfw-486sx33"],
    ["windows-98", "windows-98", "fast"],
    ["nt-4-copy", "nt-4", "fast"],
    ["nt-4-explorer", "nt-4", "fast"],
    ["windows-2000", "windows-2000", "fast"],
    ["os2-warp", "bsd-4.4", "fast"],
    ["ps2-opl", "bsd-4.4", "fast"],
    ["smbclient-1999", "linux-2.0", "fast"],
    ["modern", "linux", "fast"],
];
const SERVERS: [[&str; 3]; 4] = [
    ["samba-nas", "linux", "nas"],
    ["samba-1999", "linux-2.0", "samba-dx2-66"],
    ["nt-4", "nt-4", "nt-4-server"],
    ["windows-2000", "windows-2000", "windows-2000-server"],
];

const RATES: [&str; 8] = [
    "512 kbit/s",
    "2 Mbit/s",
    "10 Mbit/s",
    "10 Mbit/s",
    "100 Mbit/s",
    "100 Mbit/s",
    "100 Mbit/s",
    "1 Gbit/s",
];

type Sets = Vec<(String, Value)>;

fn text(value: impl Into<String>) -> Value {
    Value::String(value.into())
}

/// A copy by chance.
struct Drawn {
    what: String,
    values: Sets,
    tap: Tap,
    chance: Chance,
}

impl Drawn {
    fn new(seed: u64, is_bulk: bool) -> Self {
        let mut chance = Chance(seed);
        for _ in 0..8 {
            chance.next();
        }
        let (client, server) = (chance.of(&CLIENTS), chance.of(&SERVERS));
        let direction = chance.of(&["to-client", "to-server"]);
        let rate = chance.of(&RATES);
        let delay_us = match chance.below(2) {
            0 => chance.between(20.0, 300.0),
            _ => chance.between(300.0, 40_000.0),
        };
        let mut values = hosts(client, server, is_bulk);
        let is_slow = rate.ends_with("kbit/s") || client[2] != "fast" || delay_us > 10_000.0;
        let (least, most) = if is_slow {
            (100e3, 600e3)
        } else {
            (400e3, 2e6)
        };
        values.extend([
            ("direction".into(), text(direction)),
            ("link.rate".into(), text(rate)),
            ("link.delay".into(), text(format!("{delay_us:.0} us"))),
            ("seed".into(), Value::Integer(chance.below(1000) as i64)),
            (
                "size".into(),
                Value::Integer(chance.between(least, most) as i64),
            ),
        ]);
        let loss = spoil(&mut chance, &mut values, direction);
        let tap = chance.of(&[Tap::Client, Tap::Server]);
        let (sent, name) = if is_bulk { ("no SMB, ", 1) } else { ("", 0) };
        let (who, whom, way_ms) = (client[name], server[name], delay_us * 2e-3);
        Self {
            what: format!("{sent}{who} {direction}, {whom}, {rate}, {way_ms:.1} ms{loss}"),
            values,
            tap,
            chance,
        }
    }

    fn value(&self, key: &str) -> &str {
        let found = self.values.iter().find(|(known, _)| known == key);
        found.and_then(|(_, value)| value.as_str()).unwrap_or("")
    }

    /// What is advised about it, to lose nothing more, and others.
    fn changes(&mut self, slow: &Capture, copy: &Copy) -> Vec<Sets> {
        let advised = advise(slow, copy).into_iter().map(|one| one.lab);
        let mut changes: Vec<Sets> = advised
            .filter(|lab| !lab.is_empty())
            .take(ADVISED)
            .collect();
        if self.what.contains("losing") {
            let path = self.values.last().unwrap().0.clone();
            let none: toml::Table = toml::from_str("rule = { kind = \"none\" }").unwrap();
            changes.push(vec![(path, Value::Table(none))]);
        }
        changes.extend((0..OTHERS).map(|_| self.other()));
        changes.sort_by_key(|change| told(change));
        changes.dedup();
        changes
    }

    /// A change that nobody advised.
    fn other(&mut self) -> Sets {
        let (receiver, sender, way) = match self.value("direction") {
            "to-client" => ("client", "server", "read"),
            _ => ("server", "client", "write"),
        };
        let number = |key: String, value: i64| (key, Value::Integer(value));
        let is_bulk = self.value("client.profile").is_empty();
        let one = match self.chance.below(if is_bulk { 7 } else { 10 }) {
            0 => ("link.rate".into(), text("100 Mbit/s")),
            1 => ("link.delay".into(), text("100 us")),
            2 => number(format!("{receiver}.stack.receive_window"), 65_535),
            3 => number(format!("{receiver}.stack.receive_window"), 2920),
            4 => (format!("{sender}.stack.nagle"), text("off")),
            5 => (format!("{receiver}.stack.delayed_ack"), text("0 ms")),
            6 => number("client.stack.mss".into(), self.chance.of(&[536, 1460])),
            7 => number(format!("client.profile.{way}.block"), 16_384),
            8 => number(format!("client.profile.{way}.block"), 2048),
            _ => {
                let raw = (format!("client.profile.{way}.method"), text("raw"));
                return vec![raw];
            }
        };
        vec![one]
    }
}

/// Who copies from whom; without SMB, stacks and machines alone.
fn hosts(client: [&str; 3], server: [&str; 3], is_bulk: bool) -> Sets {
    let mut values = Vec::new();
    for (side, own, [what, stack, machine]) in
        [("client", "profile", client), ("server", "config", server)]
    {
        values.push((format!("{side}.stack"), text(stack)));
        values.push((format!("{side}.machine"), text(machine)));
        if !is_bulk {
            values.push((format!("{side}.{own}"), text(what)));
        }
    }
    values
}

/// What is wrong with it: machines that take their time, Nagle, small segments, losses.
fn spoil(chance: &mut Chance, values: &mut Sets, direction: &str) -> &'static str {
    for side in ["client", "server"] {
        if chance.below(3) == 0 {
            let us = chance.between(50.0, 3000.0);
            values.push((
                format!("{side}.machine.request.fixed"),
                text(format!("{us:.0} us")),
            ));
        }
        if chance.below(4) == 0 {
            values.push((
                format!("{side}.stack.nagle"),
                text(chance.of(&["standard", "off"])),
            ));
        }
    }
    if chance.below(8) == 0 {
        values.push(("client.stack.mss".into(), Value::Integer(536)));
    }
    if chance.below(4) > 0 {
        return "";
    }
    lose(chance, values, direction)
}

fn lose(chance: &mut Chance, values: &mut Sets, direction: &str) -> &'static str {
    let way = direction.replace('-', "_");
    let mut rule = toml::Table::new();
    let told = if chance.below(3) == 0 {
        rule.insert("kind".into(), text("periodic"));
        let every = Value::Integer(chance.between(30.0, 400.0) as i64);
        rule.insert("every".into(), every);
        ", losing one in so many"
    } else {
        rule.insert("kind".into(), text("random"));
        let probability = Value::Float(chance.between(0.002, 0.02));
        rule.insert("probability".into(), probability);
        ", losing by chance"
    };
    let mut loss = toml::Table::new();
    loss.insert("rule".into(), Value::Table(rule));
    loss.insert("data_only".into(), Value::Boolean(true));
    values.push((format!("link.loss_{way}"), Value::Table(loss)));
    told
}

/// What is changed, in a word.
fn kind(changes: &[(String, Value)]) -> &'static str {
    let (path, _) = &changes[0];
    let last = path.rsplit('.').next().unwrap();
    match last {
        "receive_window" | "window_scale" | "send_buffer" | "sack" | "idle_restart" => {
            "TCP: windows"
        }
        "nagle" | "delayed_ack" => "TCP: Nagle, delayed acknowledgments",
        "mss" => "TCP: segment size",
        "rate" | "delay" => "the path",
        _ if path.starts_with("link.loss") => "no losses",
        _ => "the redirector: commands, blocks, buffers",
    }
}

fn told(changes: &[(String, Value)]) -> String {
    let all = changes
        .iter()
        .map(|(path, value)| format!("{path} = {value}"));
    all.collect::<Vec<_>>().join(", ")
}

/// The rows of the copy of this seed, each with the kind of its change.
fn rows((seed, is_bulk): (u64, bool)) -> Vec<(&'static str, Row)> {
    let mut drawn = Drawn::new(seed, is_bulk);
    let Some(slow) = tried(&drawn.what, &drawn.values, drawn.tap) else {
        return Vec::new();
    };
    let copy = longest(&slow);
    let changes = drawn.changes(&slow, copy);
    let model = Model::of(&slow, copy);
    let one = |change: Sets| {
        let mut values = drawn.values.clone();
        values.extend(change.iter().cloned());
        let changed = tried(&drawn.what, &values, drawn.tap)?;
        // a value that this redirector does not ask about is no change
        let is_none = longest(&changed).wall == copy.wall;
        if is_none && change[0].0.starts_with("client.profile.") {
            return None;
        }
        let said = model.as_ref().map_err(Clone::clone);
        let row = Row {
            what: format!("{}: {}", drawn.what, told(&change)),
            vantage: format!("{:?}", drawn.tap).to_lowercase(),
            measured: copy.wall.0 as f64 / 1e9,
            baseline: model
                .as_ref()
                .ok()
                .map(|model| model.baseline().0 as f64 / 1e9),
            said: said.and_then(|model| model.predict(&change)),
            truth: longest(&changed).wall.0 as f64 / 1e9,
        };
        let kind = if is_bulk {
            "without SMB: all changes"
        } else {
            kind(&change)
        };
        Some((kind, row))
    };
    changes.into_iter().filter_map(one).collect()
}

/// A line a kind of change.
fn by_kind(rows: &[(&'static str, Row)]) -> String {
    let mut out = String::from(
        "| change | changes | median error | nine in ten within | within 10 % | in the range | of nothing said |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut kinds: Vec<&str> = rows.iter().map(|(kind, _)| *kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for kind in kinds {
        let of = rows.iter().filter(|(known, _)| *known == kind);
        let judged = Judged::of(of.map(|(_, row)| row));
        let _ = writeln!(
            out,
            "| {kind} | {} | {:.1} % | {:.0} % | {} | {} | {} |",
            judged.rows,
            judged.median,
            judged.ninth,
            judged.within_10,
            judged.covered,
            judged.declined
        );
    }
    out
}

fn judge((name, seed): (&str, u64)) {
    let is_whole = std::env::var_os("WRITE_DOCS").is_some();
    let many = if is_whole { ALL } else { SOME };
    let place = |place: u64| place << 20 | place;
    let copies = (1..=many).map(|copy| (copy, false));
    let bulk = (1..=many.div_ceil(4)).map(|copy| (1000 + copy, true));
    let seeds: Vec<(u64, bool)> = copies
        .chain(bulk)
        .map(|(copy, is_bulk)| {
            (
                seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ place(copy),
                is_bulk,
            )
        })
        .collect();
    let rows = in_halves(&seeds, |seed| rows(*seed));
    let judged = Judged::of(rows.iter().map(|(_, row)| row));
    let is_far = |row: &Row| row.error().is_none_or(|error| error.abs() > FAR);
    let far = rows.iter().map(|(_, row)| row);
    let far = far.filter(|row| is_far(row) || !row.is_covered());
    let sentence = judged.sentence();
    write(
        name,
        &format!("{sentence}\n\n{}\n{}", by_kind(&rows), table(far)),
    );
    assert!(judged.rows as u64 > many, "{sentence}");
    for said in rows.iter().filter_map(|(_, row)| row.said.as_ref().ok()) {
        let is_range = 0.0 <= said.low && said.low <= said.mid && said.mid <= said.high;
        assert!(is_range, "{said:?}");
    }
    assert!(judged.median <= 10.0, "{sentence}");
    assert!(judged.coverage() >= 80.0, "{sentence}");
}

#[test]
fn what_is_predicted_of_copies_that_nobody_chose_comes_true() {
    judge(FIRST);
}

#[test]
fn what_is_predicted_of_copies_that_nobody_looked_at_comes_true() {
    judge(AGAIN);
}

#[test]
fn of_data_without_smb_tcp_can_be_changed_and_a_redirector_cannot() {
    let window = |bytes| {
        (
            "client.stack.receive_window".to_owned(),
            Value::Integer(bytes),
        )
    };
    let mut values: Sets = vec![
        ("client.stack".into(), text("nt-4")),
        ("server.stack".into(), text("windows-2000")),
        ("direction".into(), text("to-client")),
        ("link.delay".into(), text("10 ms")),
        ("size".into(), Value::Integer(1_000_000)),
        window(8760),
    ];
    let slow = tried("bulk", &values, Tap::Client).unwrap();
    let model = Model::of(&slow, longest(&slow)).unwrap();
    let said = model.predict(&[window(65_535)]).unwrap();
    values.push(window(65_535));
    let changed = tried("bulk", &values, Tap::Client).unwrap();
    let truth = longest(&changed).wall.0 as f64 / 1e9;
    assert!((said.mid / truth - 1.0).abs() < 0.1, "{said:?} {truth}");
    let raw = ("client.profile.read.method".to_owned(), text("raw"));
    assert_eq!(model.predict(&[raw]), Err(Why::NoSmb));
}

#[test]
fn of_data_that_goes_both_ways_nothing_is_said() {
    let values: Sets = vec![
        ("direction".into(), text("to-client")),
        ("size".into(), Value::Integer(200_000)),
    ];
    let mut capture = tried("bulk", &values, Tap::Client).unwrap();
    let copy = longest(&capture).clone();
    assert!(Model::of(&capture, &copy).is_ok());
    capture.connections[copy.connection].sides[0].bytes = 20_000;
    let model = Model::of(&capture, &copy);
    assert_eq!(model.map(|_| ()).unwrap_err(), Why::NotBulk);
}
