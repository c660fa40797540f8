//! An estimate as JSON; docs/fit.md explains each field.

use coax_fit::{Estimate, Parameter};
use serde_json::{Value, json};

/// The whole report.
pub fn json(found: &Estimate, left_out: &[String]) -> Value {
    json!({
        "parameters": found.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "together": found.together.iter().map(|pair| json!({
            "names": pair.names, "correlation": pair.correlation,
        })).collect::<Vec<_>>(),
        "fitted": found.fitted.iter().map(|one| json!({
            "name": one.name, "measured_s": one.seconds, "fitted_s": one.model,
        })).collect::<Vec<_>>(),
        "predictions": found.predictions.iter().map(|one| json!({
            "name": one.name, "seconds": one.seconds, "low_s": number(one.low), "high_s": number(one.high), "fails": one.fails,
        })).collect::<Vec<_>>(),
        "deviation": found.deviation,
        "runs": found.runs,
        "left_out": left_out,
        "scenario": found.scenario.as_file(),
    })
}

fn parameter(one: &Parameter) -> Value {
    json!({
        "name": one.unknown.name,
        "unit": one.unknown.unit.name(),
        "estimate": one.value,
        "low": one.low,
        "high": one.high,
        "chosen": one.chosen,
        "possible": [one.unknown.low, one.unknown.high],
        "knowledge": one.knowledge.name(),
    })
}

/// Not-a-number is null.
fn number(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
