//! Real copies (tests/captures/labelled), each from both ends: what is predicted from one against the other's time.

use coax_cause::Cause;
use coax_explain::report::Copy;
use coax_whatif::Model;
use toml::Value;

use crate::common::{
    in_halves, labelled, longest,
    table::{Judged, Row, table, write},
};

/// From which copy, what is changed, and the copy that was made so; bytes of both, where they differ.
struct Pair {
    from: &'static str,
    to: &'static str,
    what: &'static str,
    /// A line of each: its key and, as TOML, its value.
    changes: &'static str,
}

const PAIRS: &[Pair] = &[
    Pair {
        from: "andx4k",
        to: "raw60k",
        what: "4 KB reads: raw reads of 60 KB",
        changes: "client.profile.read.method = 'raw'\nclient.profile.read.raw-block = 61440",
    },
    Pair {
        from: "raw60k",
        to: "andx4k",
        what: "raw reads of 60 KB: 4 KB reads",
        changes: "client.profile.read.method = 'andx'\nclient.profile.read.block = 4096",
    },
    Pair {
        from: "nagle_lan",
        to: "nagle_lan_nd",
        what: "Nagle on the client: off",
        changes: "client.stack.nagle = 'off'",
    },
    Pair {
        from: "nagle_lan_nd",
        to: "nagle_lan",
        what: "Nagle off on the client: on",
        changes: "client.stack.nagle = 'minshall'",
    },
    Pair {
        from: "rwnd",
        to: "base",
        what: "window of 65,535: 8 MB",
        changes: "client.stack.receive_window = 8345600\nclient.stack.window_scale = 10",
    },
    Pair {
        from: "base",
        to: "rwnd",
        what: "window of 8 MB: 65,535",
        changes: "client.stack.receive_window = 65535",
    },
];

/// A line is a key and its value.
fn changes(text: &str) -> Vec<(String, Value)> {
    let change = |line: &str| {
        let (key, value) = line.split_once(" = ").unwrap();
        (key.to_owned(), value.parse().unwrap())
    };
    text.lines().map(change).collect()
}

fn row(pair: &Pair, vantage: &'static str) -> Row {
    let (from, to) = (labelled(pair.from, vantage), labelled(pair.to, vantage));
    let (slow, other) = (longest(&from), longest(&to));
    let model = Model::of(&from, slow);
    let said = model.as_ref().map_err(Clone::clone);
    let said = said.and_then(|model| model.predict(&changes(pair.changes)));
    Row {
        what: pair.what.to_owned(),
        vantage: vantage.to_owned(),
        baseline: model.ok().map(|model| model.baseline().0 as f64 / 1e9),
        measured: slow.wall.0 as f64 / 1e9,
        said,
        truth: of_size(other, slow.bytes),
    }
}

/// How long a copy takes, seconds, of another size: by the byte, but for what happens once.
fn of_size(copy: &Copy, bytes: u64) -> f64 {
    let once = copy.account.get(Cause::Metadata).0 + copy.account.get(Cause::SlowStart).0;
    let rest = copy.wall.0 - once;
    (once as f64 + rest as f64 * bytes as f64 / copy.bytes as f64) / 1e9
}

#[test]
fn one_real_copy_predicts_the_other() {
    let rows = in_halves(PAIRS, |pair| {
        let at = |vantage| row(pair, vantage);
        vec![at("client"), at("server")]
    });
    let judged = Judged::of(rows.iter());
    write(
        "real",
        &format!("{}\n\n{}", judged.sentence(), table(&rows)),
    );
    for row in &rows {
        let said = row
            .said
            .as_ref()
            .unwrap_or_else(|why| panic!("{}: {why}", row.what));
        let (before, after) = (row.measured, row.truth);
        assert_eq!(said.mid < before, after < before, "{}", row.what);
        assert!(said.low <= said.mid && said.mid <= said.high);
    }
    let worst = rows
        .iter()
        .filter_map(Row::error)
        .map(f64::abs)
        .fold(0.0, f64::max);
    assert!(
        judged.median <= 10.0 && worst <= 30.0,
        "{}",
        judged.sentence()
    );
}
