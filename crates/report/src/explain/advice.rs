//! Advice about a copy, as text and as JSON.

use std::fmt::Write as _;

use coax_explain::{
    recognise::{Advice, Change, advise},
    report::{Capture, Copy},
};
use coax_whatif::Range;
use serde_json::{Value, json};

use super::{
    effect::{self, Effect},
    explained::{CopyAdvice, Explained, Suggestion},
    gain,
    paper::Paper,
    verdict,
    words::harmless,
};

/// Indentation of lines that belong to a numbered line.
const INDENT: &str = "     ";

/// Advice about each copy of a capture without predictions, best first.
pub(super) fn about(capture: &Capture) -> Vec<CopyAdvice> {
    let suggestion = |advice| Suggestion {
        advice,
        predicted: None,
    };
    let of_copy = |copy: &Copy| CopyAdvice {
        suggestions: advise(capture, copy).into_iter().map(suggestion).collect(),
        prediction: None,
    };
    capture.copies.iter().map(of_copy).collect()
}

/// Hint if no change is known and the capture lacks the start of the connection.
const LATE: &str = "Capture it from before the connection is made: what the two agreed on decides what can be changed.";

/// One sentence about a copy: the change and its predicted effect. Without one: the problem of its connection, or where
/// to look.
pub(super) fn remedy(
    about: &CopyAdvice,
    capture: &Capture,
    copy: &Copy,
    remarks: &[(usize, Advice)],
) -> Option<String> {
    // the verdict says what to do instead
    if capture.quality.merged_ends || capture.quality.clocks_differ {
        return None;
    }
    let [worth, _] = effect::sorted(copy, about);
    let best = worth.first().map(|best| in_short(best));
    // SMB errors (authentication, a missing file) do not affect the time of a copy
    let is_plain = copy.requests.is_empty();
    let amiss = remarks
        .iter()
        .find(|remark| is_plain && remark.0 == copy.connection);
    best.or_else(|| amiss.map(|remark| format!("{}.", remark.1.title)))
        .or_else(|| verdict::where_to_look(capture, copy).map(str::to_owned))
        .or_else(|| (!is_plain && !copy.seen.0).then(|| LATE.to_owned()))
}

/// The best change and its predicted effect.
fn in_short(suggestion: &Suggestion) -> String {
    let change = suggestion.advice.changes.first();
    let how = change.map(|change| {
        format!(
            ": on the {}, {}: {}",
            change.on.name(),
            change.where_,
            change.to
        )
    });
    let gain = suggestion
        .predicted
        .map(|range| format!(" → {}", about_seconds(&range)));
    format!(
        "{}{}{}.",
        suggestion.advice.title,
        how.unwrap_or_default(),
        gain.unwrap_or_default()
    )
}

/// `about 1.6 s (1.5–1.8)`.
fn about_seconds(range: &Range) -> String {
    format!("about {}", gain::seconds(range))
}

/// The advice section of the report.
pub(super) fn section(out: &mut Paper, copy: &Copy, advice: &CopyAdvice) -> std::fmt::Result {
    let [worth, without] = effect::sorted(copy, advice);
    if !worth.is_empty() {
        writeln!(out, "\nWhat to change, the most promising first:")?;
    }
    for (number, suggestion) in worth.iter().enumerate() {
        let advice = &suggestion.advice;
        let share = advice.share * 100.0;
        let cause = advice.cause.name();
        let title = format!("{} ({})", advice.title, advice.id);
        out.prose(&format!("  {}. ", number + 1), &title)?;
        if let Some(range) = &suggestion.predicted {
            writeln!(out, "     would take {}", about_seconds(range))?;
        }
        what_to_do(out, advice)?;
        let against = format!("affects {share:.0} % of the copy time, mostly {cause}");
        let frames = frames(&advice.frames).map(|frames| format!("; see {frames}"));
        out.prose(INDENT, &format!("{against}{}", frames.unwrap_or_default()))?;
        out.prose(INDENT, &format!("source: {}", advice.source))?;
    }
    no_effect(out, &without)
}

/// Changes that apply, but whose predicted gain is too small.
fn no_effect(out: &mut Paper, all: &[&Suggestion]) -> std::fmt::Result {
    if all.is_empty() {
        return Ok(());
    }
    let one = |one: &&Suggestion| {
        let range = one
            .predicted
            .map(|range| format!(", {}", about_seconds(&range)));
        format!(
            "{} ({}{})",
            one.advice.title,
            one.advice.id,
            range.unwrap_or_default()
        )
    };
    let list: Vec<String> = all.iter().map(one).collect();
    writeln!(out)?;
    out.prose("No effect expected: ", &format!("{}.", list.join("; ")))
}

/// The reason and the change.
fn what_to_do(out: &mut Paper, advice: &Advice) -> std::fmt::Result {
    out.prose(INDENT, &harmless(&advice.why))?;
    let mut changes = advice.changes.iter();
    changes.try_for_each(|change| out.prose("     - ", &one_change(change)))
}

/// Remarks that do not concern a copy's time.
pub(super) fn remarks(out: &mut Paper, explained: &Explained) -> std::fmt::Result {
    const MAX_LISTED: usize = 10;
    if explained.remarks.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nWhat else is amiss:")?;
    for (place, advice) in explained.remarks.iter().take(MAX_LISTED) {
        let connection = explained.capture.connections.get(*place);
        let ends = connection.map(|one| format!(", {} -> {}", one.client, one.server));
        let frames = frames(&advice.frames).map(|frames| format!("; see {frames}"));
        let ends = ends.unwrap_or_default();
        out.prose("  - ", &format!("{} ({}{ends})", advice.title, advice.id))?;
        what_to_do(out, advice)?;
        let source = format!("source: {}{}", advice.source, frames.unwrap_or_default());
        out.prose(INDENT, &source)?;
    }
    let left = explained.remarks.len().saturating_sub(MAX_LISTED);
    if left > 0 {
        writeln!(out, "  … and {left} more (--json lists them)")?;
    }
    Ok(())
}

/// Advice about a slow operation.
pub(super) fn one_remark(out: &mut Paper, advice: &Advice) -> std::fmt::Result {
    const DEEP: &str = "       ";
    out.prose("     * ", &format!("{} ({})", advice.title, advice.id))?;
    out.prose(DEEP, &harmless(&advice.why))?;
    for change in &advice.changes {
        out.prose("       - ", &one_change(change))?;
    }
    out.prose(DEEP, &format!("source: {}", advice.source))
}

/// A remark as JSON: the advice and the index of its connection.
pub(super) fn remark_as_json((place, advice): &(usize, Advice)) -> Value {
    let mut value = plain_as_json(advice);
    if let Some(fields) = value.as_object_mut() {
        fields.insert("connection".to_owned(), json!(place));
    }
    value
}

/// Advice that affects no copy's time, as JSON.
pub(super) fn plain_as_json(advice: &Advice) -> Value {
    let suggestion = Suggestion {
        advice: advice.clone(),
        predicted: None,
    };
    let mut value = one_as_json(&suggestion);
    if let Some(fields) = value.as_object_mut() {
        fields.insert("cause".to_owned(), Value::Null);
        fields.insert("share".to_owned(), Value::Null);
    }
    value
}

fn one_change(change: &Change) -> String {
    let note = change.note.as_ref().map(|note| format!(" ({note})"));
    format!(
        "on the {}: {} → {}{}",
        change.on.name(),
        change.where_,
        change.to,
        note.unwrap_or_default()
    )
}

/// `frame 5`, `frames 5, 17`.
pub(super) fn frames(frames: &[u64]) -> Option<String> {
    let list: Vec<String> = frames.iter().map(u64::to_string).collect();
    match list.as_slice() {
        [] => None,
        [one] => Some(format!("frame {one}")),
        all => Some(format!("frames {}", all.join(", "))),
    }
}

/// The same as JSON.
pub(super) fn as_json(copy: &Copy, about: &CopyAdvice) -> Value {
    let one = |one: &Suggestion| {
        let mut value = one_as_json(one);
        if let Some(fields) = value.as_object_mut() {
            let effect = Effect::of(one, copy, about);
            fields.insert("effect".to_owned(), json!(effect.name()));
        }
        value
    };
    about.suggestions.iter().map(one).collect()
}

fn one_as_json(suggestion: &Suggestion) -> Value {
    let advice = &suggestion.advice;
    let change = |change: &Change| json!({"on": change.on.name(), "where": change.where_, "to": change.to, "note": change.note});
    let words: Vec<String> = advice.changes.iter().map(one_change).collect();
    json!({
        "id": advice.id,
        "title": advice.title,
        "why": advice.why,
        "cause": advice.cause.name(),
        "share": advice.share,
        "change": words.join("; or "),
        "changes": advice.changes.iter().map(change).collect::<Vec<_>>(),
        "source": advice.source,
        "frames": advice.frames,
        "predicted_s": suggestion.predicted.map(|range| [range.low, range.mid, range.high]),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use coax_explain::{Cause, recognise::Place};

    use super::*;

    fn suggestion() -> Suggestion {
        Suggestion {
            advice: Advice {
                id: "raw".to_owned(),
                title: "Use raw reads".to_owned(),
                cause: Cause::RoundTrips,
                share: 0.914,
                why: "489 reads of 4,096 bytes went one after another.".to_owned(),
                changes: vec![Change {
                    on: Place::Server,
                    where_: "smb.conf, [global], read raw".to_owned(),
                    to: "yes".to_owned(),
                    note: None,
                    edits: Vec::new(),
                }],
                source: "smb.conf(5)".to_owned(),
                lab: Vec::new(),
                lab_slowest: Vec::new(),
                lab_fastest: Vec::new(),
                frames: vec![5, 17],
            },
            predicted: None,
        }
    }

    #[test]
    fn the_verdict_ends_with_what_to_change_and_what_it_brings() {
        let mut suggestion = suggestion();
        let plain = "Use raw reads: on the server, smb.conf, [global], read raw: yes";
        assert_eq!(in_short(&suggestion), format!("{plain}."));
        suggestion.predicted = Some(Range {
            low: 1.5,
            mid: 1.6,
            high: 1.84,
        });
        assert_eq!(
            in_short(&suggestion),
            format!("{plain} → about 1.6 s (1.5–1.8).")
        );
    }

    #[test]
    fn json_has_no_prediction_until_there_is_one() {
        let mut suggestion = suggestion();
        assert_eq!(one_as_json(&suggestion)["predicted_s"], Value::Null);
        suggestion.predicted = Some(Range {
            low: 1.0,
            mid: 2.0,
            high: 3.0,
        });
        assert_eq!(
            one_as_json(&suggestion)["predicted_s"],
            json!([1.0, 2.0, 3.0])
        );
        assert_eq!(
            one_as_json(&suggestion)["change"],
            "on the server: smb.conf, [global], read raw → yes"
        );
    }

    #[test]
    fn a_copy_without_its_start_explains_what_is_missing() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/captures/labelled/andx4k-client.pcapng.gz"
        );
        let explained = super::super::read(path.as_ref(), None).unwrap();
        let mut copy = explained.capture.copies[0].clone();
        let none = CopyAdvice::default();
        let capture = &explained.capture;
        assert_eq!(remedy(&none, capture, &copy, &[]), None);
        copy.seen.0 = false;
        assert_eq!(remedy(&none, capture, &copy, &[]).as_deref(), Some(LATE));
    }

    #[test]
    fn the_advice_section_contains_place_reason_and_source() {
        let mut out = Paper::default();
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/captures/labelled/andx4k-client.pcapng.gz"
        );
        let explained = super::super::read(path.as_ref(), None).unwrap();
        let about = CopyAdvice {
            suggestions: vec![suggestion()],
            prediction: None,
        };
        section(&mut out, &explained.capture.copies[0], &about).unwrap();
        let out = out.into_text();
        for part in [
            "1. Use raw reads (raw)",
            "489 reads",
            "read raw → yes",
            "91 %",
            "frames 5, 17",
            "smb.conf(5)",
        ] {
            assert!(out.contains(part), "{part}: {out}");
        }
    }
}
