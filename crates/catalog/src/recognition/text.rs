//! Names off the wire, of which a capture may have kept the beginning only.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

/// Ends a name of which the capture kept the beginning only.
pub const TRUNCATED: char = '…';
/// The number of characters that identify a truncated name.
const MIN_IDENTIFYING: usize = 4;

/// Compares a rule's text with the name that a machine reports.
pub(super) type Comparison = fn(&str, &str) -> bool;

/// Whether `part` is in `text`, in any case.
pub fn contains(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

/// Whether `text` is truncated within `part`, after enough of it to identify it.
pub fn ends_within(text: &str, part: &str) -> bool {
    let (text, part) = (text.to_lowercase(), part.to_lowercase());
    let mut beginnings = (MIN_IDENTIFYING..part.len()).filter_map(|len| part.get(..len));
    text.strip_suffix(TRUNCATED)
        .is_some_and(|kept| beginnings.any(|beginning| kept.ends_with(beginning)))
}

/// Whether `text` is `whole`, or a truncated `whole`.
pub fn is_or_begins(text: &str, whole: &str) -> bool {
    let kept = text.strip_suffix(TRUNCATED);
    kept.map_or(text == whole, |kept| whole.starts_with(kept))
}

/// `system / LAN manager` as a machine names them, as far as they were kept; `None` if nothing was.
pub fn native(os: &str, lan_man: &str) -> Option<String> {
    let truncated = TRUNCATED.to_string();
    let is_kept = |name: &&str| !name.is_empty() && **name != truncated;
    let names: Vec<&str> = [os, lan_man].into_iter().filter(is_kept).collect();
    (!names.is_empty()).then(|| names.join(" / "))
}

/// The first rule that matches the whole names. If there is none: the only rule that matches truncated names. And
/// whether the names were whole.
pub(super) fn first_match<R>(
    rules: &[R],
    matches: impl Fn(&R, Comparison) -> bool,
) -> Option<(&R, bool)> {
    let whole = rules.iter().find(|rule| matches(rule, contains));
    let mut truncated = rules.iter().filter(|rule| matches(rule, ends_within));
    let only = truncated.next().filter(|_| truncated.next().is_none());
    whole
        .map(|rule| (rule, true))
        .or_else(|| Some((only?, false)))
}

/// The rules of an embedded file.
///
/// # Panics
/// The file does not parse. The tests of this crate read every file, so no build that passed them panics.
#[allow(clippy::panic)]
pub(super) fn read<T: serde::de::DeserializeOwned>(file: &str, text: &str) -> T {
    match crate::read::text(text) {
        Ok(rules) => rules,
        Err(error) => panic!("data/{file}.toml: {error}"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn truncated_names_are_compared_as_far_as_they_were_kept() {
        assert_eq!(native("Unix", "Samba").unwrap(), "Unix / Samba");
        assert_eq!(native("Uni…", "").unwrap(), "Uni…");
        assert_eq!(native("Unix", "…").unwrap(), "Unix");
        assert_eq!(native("…", "…"), None);
        assert!(ends_within("Unix / Samb…", "Samba") && contains("Unix / Samba", "samba"));
        assert!(!ends_within("Unix / Samb", "Samba") && !ends_within("Unix / S…", "Samba"));
        assert!(is_or_begins("Uni…", "Unix") && is_or_begins("…", "Unix"));
        assert!(!is_or_begins("Uni", "Unix"));
    }

    #[test]
    fn a_truncated_name_matches_only_if_one_rule_fits_it() {
        let matched = |text: &str, rules: &[&'static str]| {
            let found = first_match(rules, |rule, compare| compare(text, rule));
            found.map(|(rule, is_whole)| (*rule, is_whole))
        };
        let rules = ["Windows Server 2003", "Windows 5.1"];
        assert_eq!(
            matched("Windows 5.1 / Windo…", &rules),
            Some(("Windows 5.1", true))
        );
        assert_eq!(matched("Windo…", &rules), None);
        assert_eq!(
            matched("Windows Se…", &rules),
            Some(("Windows Server 2003", false))
        );
    }
}
