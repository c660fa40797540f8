//! The tour as JSON: the objects of `coax bench`, `coax lab tables` and `coax explain` in one.

use serde_json::{Value, json};

use super::Tour;
use coax_report::{bench, explain};

/// All of it.
pub fn report(tour: &Tour) -> Value {
    let slow = tour.slow.iter().zip(&tour.explained);
    let slow = slow.map(|(slow, capture)| {
        json!({
            "scenario": slow.scenario,
            "title": slow.title,
            "command": slow.command(),
            "truth": {"cause": slow.truth.0, "share": slow.truth.1},
            "capture": explain::json::capture(capture),
        })
    });
    json!({
        "copies": bench::json::report(&tour.copies),
        "tables": tour.tables,
        "slow": slow.collect::<Vec<_>>(),
        "seconds": tour.took.map(|took| took.as_secs_f64()),
    })
}
