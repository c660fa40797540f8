//! Whether a change is worth making, by its prediction; and the headline.

use coax_explain::report::Copy;

use super::{
    explained::{CopyAdvice, Suggestion},
    gain::SMALL_GAIN,
    words::{seconds, time},
};
use coax_wire::time::Span;

/// What a change is expected to do to a copy's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It gains at least [`SMALL_GAIN`], and more than the prediction may be wrong.
    Expected,
    /// It gains less.
    None,
    /// It was not simulated.
    Unknown,
}

impl Effect {
    /// The effect of a suggestion on a copy. The error of a prediction is how far its range goes above it, and how far the
    /// simulated baseline is off.
    pub(super) fn of(suggestion: &Suggestion, copy: &Copy, advice: &CopyAdvice) -> Self {
        let Some(range) = &suggestion.predicted else {
            return Self::Unknown;
        };
        let measured = seconds(copy.wall);
        let baseline = advice.prediction.as_ref();
        let baseline = baseline.and_then(|prediction| prediction.baseline.as_ref().ok());
        let miss = baseline.map_or(0.0, |baseline| (seconds(*baseline) - measured).abs());
        let gain = measured - range.mid;
        if gain >= measured * SMALL_GAIN && gain > miss.max(range.high - range.mid) {
            Self::Expected
        } else {
            Self::None
        }
    }

    /// Its name in JSON.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Expected => "expected",
            Self::None => "none",
            Self::Unknown => "unknown",
        }
    }
}

/// The suggestions worth making, and those without an effect.
pub fn sorted<'a>(copy: &Copy, advice: &'a CopyAdvice) -> [Vec<&'a Suggestion>; 2] {
    let all = advice.suggestions.iter();
    let (none, rest): (Vec<_>, Vec<_>) =
        all.partition(|one| Effect::of(one, copy, advice) == Effect::None);
    [rest, none]
}

/// `13.4 s → 2.3 s (5.9×): set TCP_NODELAY in the client`; `None` unless a change has an expected effect.
pub(super) fn headline(copy: &Copy, advice: &CopyAdvice) -> Option<String> {
    let expected = |one: &&Suggestion| Effect::of(one, copy, advice) == Effect::Expected;
    let best = advice.suggestions.iter().find(expected)?;
    let after = best.predicted?.mid;
    let times = seconds(copy.wall) / after.max(1e-9);
    let title = in_lower_case(&best.advice.title);
    let after = time(Span((after.max(0.0) * 1e9) as u64));
    Some(format!(
        "{} → {after} ({times:.1}×): {title}",
        time(copy.wall)
    ))
}

/// A title within a line: its first letter small, unless its first word is an abbreviation or a name.
fn in_lower_case(title: &str) -> String {
    let mut letters = title.chars();
    let (first, second) = (letters.next(), letters.next());
    match first {
        Some(first) if second.is_some_and(char::is_lowercase) => {
            first.to_lowercase().chain(title.chars().skip(1)).collect()
        }
        _ => title.to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use std::path::Path;

    use super::{super::read, *};

    #[test]
    fn the_headline_says_before_after_and_what_to_change() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/captures/labelled/andx4k-client.pcapng.gz");
        let explained = read(&path, None).unwrap();
        let (copy, advice) = explained.longest().unwrap();
        let headline = headline(copy, advice).unwrap();
        assert!(headline.starts_with("6.17 s → "), "{headline}");
        assert!(headline.ends_with("×): use raw reads"), "{headline}");
        let text = super::super::text::report(&explained, None);
        assert!(text.starts_with(&headline), "{text}");
        let json = super::super::json::report(&[explained]);
        let copy = &json["captures"][0]["copies"][0];
        assert_eq!(copy["headline"], headline);
        assert_eq!(copy["advice"][0]["effect"], "expected");
    }

    #[test]
    fn a_gain_below_the_error_of_its_prediction_is_no_effect() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/captures/labelled/andx4k-client.pcapng.gz");
        let explained = read(&path, None).unwrap();
        let (copy, advice) = explained.longest().unwrap();
        let wall = seconds(copy.wall);
        let with = |mid: f64, high: f64| {
            let mut one = advice.suggestions[0].clone();
            one.predicted = Some(coax_whatif::Range {
                low: mid,
                mid: mid * wall,
                high: high * wall,
            });
            Effect::of(&one, copy, advice)
        };
        assert_eq!(with(0.5, 0.6), Effect::Expected);
        assert_eq!(with(0.5, 1.2), Effect::None);
        assert_eq!(with(0.97, 0.98), Effect::None);
        assert_eq!(with(1.3, 1.4), Effect::None);
        let untried = Suggestion {
            predicted: None,
            ..advice.suggestions[0].clone()
        };
        assert_eq!(Effect::of(&untried, copy, advice), Effect::Unknown);
    }

    #[test]
    fn names_and_abbreviations_keep_their_first_letter() {
        assert_eq!(
            in_lower_case("Set TCP_NODELAY in the client"),
            "set TCP_NODELAY in the client"
        );
        assert_eq!(in_lower_case("SACK at both ends"), "SACK at both ends");
    }
}
