//! Slow copies made in the lab, captured, calibrated from the capture alone, and what is then said of a change against
//! the changed copy itself. docs/evidence/whatif.md has the table.

use coax_lab::Tap;
use coax_whatif::Model;
use toml::{Table, Value};

use crate::common::{
    file, in_halves, longest, made, sets,
    table::{Judged, Row, table, write},
};

fn scenario(pair: &Table) -> Vec<(String, Value)> {
    let mut values = Vec::new();
    for key in ["direction", "size", "link"] {
        values.extend(pair.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    for side in ["client", "server"] {
        for (key, name) in pair[side].as_table().unwrap() {
            values.push((format!("{side}.{key}"), name.clone()));
        }
    }
    if let Some(set) = pair.get("set") {
        values.extend(sets(set.as_table().unwrap()));
    }
    values
}

fn row(pair: &Table) -> Row {
    let text = |key: &str| pair[key].as_str().unwrap().to_owned();
    let (what, vantage) = (text("what"), text("vantage"));
    let tap = if vantage == "client" {
        Tap::Client
    } else {
        Tap::Server
    };
    let mut values = scenario(pair);
    let slow = made(&what, &values, tap);
    let change = sets(pair["change"].as_table().unwrap());
    let copy = longest(&slow);
    // a redirector that was given other habits is none that is known
    let is_own = values
        .iter()
        .any(|(path, _)| path.starts_with("client.profile."));
    let model = if is_own {
        Model::calibrate(&slow, copy, None)
    } else {
        Model::of(&slow, copy)
    };
    let said = model.as_ref().map_err(Clone::clone);
    let said = said.and_then(|model| model.predict(&change));
    values.extend(change);
    let changed = made(&what, &values, tap);
    Row {
        what,
        vantage,
        measured: copy.wall.0 as f64 / 1e9,
        baseline: model.ok().map(|model| model.baseline().0 as f64 / 1e9),
        said,
        truth: longest(&changed).wall.0 as f64 / 1e9,
    }
}

fn rows(name: &str) -> Vec<Row> {
    let text = std::fs::read_to_string(file(&format!("crates/whatif/tests/{name}.toml"))).unwrap();
    let table: Table = toml::from_str(&text).unwrap();
    let pairs: Vec<&Table> = table["pair"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| pair.as_table().unwrap())
        .collect();
    in_halves(&pairs, |pair| vec![row(pair)])
}

/// Both files in one test: the page is written once at a time.
#[test]
fn what_is_predicted_of_a_change_is_what_the_change_brings() {
    // pairs, median error at most, and the part of truths in their ranges at least, per cent
    for (name, least, most, ranges) in [("pairs", 20, 5.0, 90.0), ("held-out", 8, 10.0, 90.0)] {
        let rows = rows(name);
        let judged = Judged::of(rows.iter());
        let summary = judged.sentence();
        write(name, &format!("{summary}\n\n{}", table(&rows)));
        assert!(rows.len() >= least);
        assert!(judged.median <= most, "{name}: {summary}");
        assert!(
            judged.covered as f64 * 100.0 >= rows.len() as f64 * ranges,
            "{name}: {summary}"
        );
    }
}
