//! Predicts the effect of the suggested changes: the lab simulates the copy without and with each change.

use std::fmt::Write as _;

use coax_explain::report::{Capture, Copy};
use coax_whatif::{Model, Range};
use coax_wire::time::Span;
use serde_json::{Value, json};

use super::{
    explained::{CopyAdvice, Prediction, Suggestion},
    paper::Paper,
    words,
};

/// A value of a lab scenario, by its key.
type Setting = (String, toml::Value);

/// Maximum number of copies of a capture to simulate; the longest are chosen.
const MAX_COPIES: usize = 3;
/// Maximum number of changes of a copy to simulate.
const MAX_CHANGES: usize = 12;
/// A change that saves less than this part of the time is listed last.
pub(super) const SMALL_GAIN: f64 = 0.05;

/// Simulates the advice about the longest copies and sorts it by effect.
pub(super) fn predict(capture: &Capture, advice: &mut [CopyAdvice]) {
    let mut longest: Vec<_> = capture.copies.iter().zip(advice).collect();
    longest.sort_by_key(|(copy, _)| std::cmp::Reverse(copy.wall));
    longest.truncate(MAX_COPIES);
    for (copy, advice) in longest {
        let suggestions = &mut advice.suggestions;
        if suggestions.iter().any(|one| !one.advice.lab.is_empty()) {
            advice.prediction = Some(of_copy(capture, copy, suggestions));
        }
    }
}

fn of_copy(capture: &Capture, copy: &Copy, suggestions: &mut [Suggestion]) -> Prediction {
    let model = match Model::of(capture, copy) {
        Ok(model) => model,
        Err(why) => {
            return Prediction {
                baseline: Err(why),
                pair: None,
            };
        }
    };
    for one in suggestions.iter_mut().take(MAX_CHANGES) {
        if !one.advice.lab.is_empty() {
            one.predicted = all_of(&model, &[one]);
        }
    }
    let measured = copy.wall.0 as f64 / 1e9;
    suggestions.sort_by(|a, b| rank(a, measured).total_cmp(&rank(b, measured)));
    let predicted = |one: &&Suggestion| one.predicted.is_some();
    let tried: Vec<&Suggestion> = suggestions.iter().filter(predicted).collect();
    let changes: Vec<_> = tried.iter().map(|one| one.advice.lab.clone()).collect();
    let pair = model.best_pair(&changes).and_then(|pair| {
        let [one, other] = pair.which.map(|which| tried.get(which).copied());
        let both = [one?, other?];
        let range = all_of(&model, &both).unwrap_or(pair.range);
        Some((both.map(|one| one.advice.id.clone()), range))
    });
    Prediction {
        baseline: Ok(model.baseline()),
        pair,
    }
}

/// How long the copy takes with these changes. `bounds` have values of some of them that the advice does not know better: they widen
/// the range.
fn range_of(model: &Model, changes: &[Setting], bounds: [&[Setting]; 2]) -> Option<Range> {
    let mut range = model.predict(changes).ok()?;
    for bound in bounds.into_iter().filter(|bound| !bound.is_empty()) {
        let is_other = |key: &String| bound.iter().all(|(bound, _)| bound != key);
        let kept = changes.iter().filter(|(key, _)| is_other(key));
        let changes: Vec<_> = kept.chain(bound).cloned().collect();
        if let Ok(other) = model.predict(&changes) {
            range.low = range.low.min(other.low);
            range.high = range.high.max(other.high);
        }
    }
    Some(range)
}

/// The predicted time of a copy with all of these suggestions; `None` if none of them was simulated. Where two change the same
/// value, the first counts, as in a diff of files.
pub fn together(capture: &Capture, copy: &Copy, suggestions: &[&Suggestion]) -> Option<Range> {
    let simulated = suggestions.iter().copied();
    let simulated: Vec<_> = simulated.filter(|one| one.predicted.is_some()).collect();
    match simulated.as_slice() {
        [] => None,
        [one] => one.predicted,
        several => all_of(&Model::of(capture, copy).ok()?, several),
    }
}

/// The same in this model. Where two change the same value, the first counts.
fn all_of(model: &Model, suggestions: &[&Suggestion]) -> Option<Range> {
    let changes = first_of_each(suggestions.iter().flat_map(|one| &one.advice.lab));
    let slowest = first_of_each(suggestions.iter().flat_map(|one| &one.advice.lab_slowest));
    let fastest = first_of_each(suggestions.iter().flat_map(|one| &one.advice.lab_fastest));
    range_of(model, &changes, [&slowest, &fastest])
}

/// The settings without later values of the same key.
fn first_of_each<'a>(settings: impl Iterator<Item = &'a Setting>) -> Vec<Setting> {
    let mut kept: Vec<Setting> = Vec::new();
    for (path, value) in settings {
        if kept.iter().all(|(known, _)| known != path) {
            kept.push((path.clone(), value.clone()));
        }
    }
    kept
}

/// Sort key: first large effects by size, then changes without a simulation, then small effects.
fn rank(suggestion: &Suggestion, measured: f64) -> f64 {
    match suggestion.predicted {
        Some(range) if range.mid < measured * (1.0 - SMALL_GAIN) => range.mid,
        None => measured,
        Some(range) => measured + range.mid,
    }
}

/// The report's table of changes with the time before and after.
pub(super) fn section(out: &mut Paper, copy: &Copy, advice: &CopyAdvice) -> std::fmt::Result {
    let Some(prediction) = &advice.prediction else {
        return Ok(());
    };
    let baseline = match &prediction.baseline {
        Ok(baseline) => baseline,
        Err(why) => {
            let message = format!("The lab cannot predict the changes: {why}.");
            return writeln!(out).and_then(|()| out.prose("", &message));
        }
    };
    let before = copy.wall.0 as f64 / 1e9;
    let took = [copy.wall, *baseline].map(words::time);
    let head = format!(
        "Predicted effect (the copy took {}; simulated baseline: {}):",
        took[0], took[1]
    );
    writeln!(out).and_then(|()| out.prose("", &head))?;
    for one in &advice.suggestions {
        let Some(range) = &one.predicted else {
            continue;
        };
        row(out, &one.advice.id, before, range)?;
    }
    if let Some(([one, other], range)) = &prediction.pair {
        row(out, &format!("{one} and {other}"), before, range)?;
    }
    Ok(())
}

fn row(out: &mut Paper, what: &str, before: f64, range: &Range) -> std::fmt::Result {
    let times = before / range.mid.max(1e-9);
    let brings = if times >= 1.0 / (1.0 - SMALL_GAIN) {
        format!("{times:.1} times as fast")
    } else if times > 1.0 - SMALL_GAIN {
        "hardly any effect".to_owned()
    } else {
        "slower".to_owned()
    };
    let times = format!(
        "  {:>9} -> {:<24} {brings:<20}",
        words::time(Span((before * 1e9) as u64)),
        seconds(range)
    );
    if times.chars().count() + 1 + what.chars().count() <= out.columns() {
        return writeln!(out, "{times} {what}");
    }
    writeln!(out, "{}", times.trim_end())?;
    out.prose("      ", what)
}

/// `1.6 s (1.5–1.8)`.
pub(super) fn seconds(range: &Range) -> String {
    let digits = match range.mid {
        mid if mid < 1.0 => 2,
        mid if mid < 10.0 => 1,
        _ => 0,
    };
    let Range { low, mid, high } = range;
    format!("{mid:.digits$} s ({low:.digits$}–{high:.digits$})")
}

/// Adds the prediction to the JSON of the copy.
pub(super) fn as_json(prediction: Option<&Prediction>, copy: &mut Value) {
    let pair = prediction
        .and_then(|prediction| prediction.pair.as_ref())
        .map(|(ids, range)| json!({"ids": ids, "predicted_s": [range.low, range.mid, range.high]}));
    copy["best_pair"] = pair.unwrap_or_default();
    let baseline = prediction.map(|prediction| prediction.baseline.as_ref());
    let lab_s = baseline.and_then(|baseline| Some(baseline.ok()?.0 as f64 / 1e9));
    copy["lab_s"] = lab_s.into();
    let why = baseline.and_then(|baseline| Some(baseline.err()?.to_string()));
    copy["not_predicted"] = why.into();
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use std::path::Path;

    use super::{super::read, *};

    #[test]
    fn advice_about_a_slow_copy_is_simulated_and_reported() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/captures/labelled/andx4k-client.pcapng.gz");
        let explained = read(&path, None).unwrap();
        let best = &explained.advice[0].suggestions[0];
        let range = best.predicted.unwrap();
        assert!(range.low <= range.mid && range.mid <= range.high);
        assert!(range.high < 3.0, "the copy took 6.2 s: {range:?}");
        let text = super::super::text::report(&explained, None);
        let row = format!("6.17 s -> {}", seconds(&range));
        assert!(text.contains(&row), "{text}");
        let json = super::super::json::report(&[explained]);
        let copy = &json["captures"][0]["copies"][0];
        assert_eq!(copy["advice"][0]["predicted_s"][1], range.mid);
        assert!(copy["lab_s"].as_f64().unwrap() > 5.0);
        assert!(copy["not_predicted"].is_null());
    }

    #[test]
    fn a_window_that_is_not_clamped_any_more_brings_what_it_brought() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/labelled");
        let explain = |name: &str| read(&folder.join(name), None).unwrap();
        // the same copy without the clamp
        let cured = explain("base-client.pcapng.gz").capture.copies[0].wall.0 as f64 / 1e9;
        for end in ["client", "server"] {
            let clamped = explain(&format!("rwnd-{end}.pcapng.gz"));
            let best = &clamped.advice[0].suggestions[0];
            let range = best.predicted.unwrap();
            assert_eq!(best.advice.id, "fixed-receive-buffer");
            assert!(
                range.low <= cured && cured <= range.high,
                "{cured}: {range:?}"
            );
        }
    }

    #[test]
    fn figures_have_as_many_digits_as_they_deserve() {
        let range = |mid: f64| Range {
            low: mid * 0.9,
            mid,
            high: mid * 1.1,
        };
        assert_eq!(seconds(&range(0.5)), "0.50 s (0.45–0.55)");
        assert_eq!(seconds(&range(1.6)), "1.6 s (1.4–1.8)");
        assert_eq!(seconds(&range(2900.0)), "2900 s (2610–3190)");
    }
}
