//! What was wrong with the names, keys and values that the lab got.

use std::io;

use anyhow::Error;
use coax_catalog::component::ProfileError;

use crate::cli::{nearest, output::WrongUsage};

/// What a parser of numbers expects, in its words and in ours.
const EXPECTED: [(&str, &str); 8] = [
    ("expected u8", "write a whole number from 0 to 255"),
    ("expected u16", "write a whole number from 0 to 65535"),
    ("expected u32", "write a whole number from 0 to 4294967295"),
    ("expected u64", "write a whole number, at least 0"),
    ("expected usize", "write a whole number, at least 0"),
    ("expected i64", "write a whole number"),
    ("expected f64", "write a number"),
    ("expected a boolean", "write true or false"),
];

/// The command line made sense, but a file could not be read or written.
pub(super) fn is_failure(error: &Error) -> bool {
    error.chain().any(|cause| cause.is::<io::Error>())
}

/// A wrong command line, or a wrong scenario that it names.
pub(super) fn usage(verb: &str, error: &Error) -> WrongUsage {
    match error.downcast_ref::<ProfileError>() {
        Some(ProfileError::Unknown { kind, name, known }) => {
            let known: Vec<&str> = known.split(", ").collect();
            WrongUsage::new(verb, nearest::unknown(kind, name, &known)).at(name)
        }
        Some(ProfileError::Value { file, key, reason }) => of_value(verb, file, key, reason),
        _ => {
            let message = format!("{error:#}");
            let file = message.split(": ").next().unwrap_or_default().to_owned();
            match std::env::args().skip(1).any(|word| word == file) {
                true => WrongUsage::new(verb, message).at(&file),
                false => WrongUsage::new(verb, message),
            }
        }
    }
}

/// A wrong key or value: of the command line, or of a scenario's file, which is named then.
fn of_value(verb: &str, file: &str, key: &str, reason: &str) -> WrongUsage {
    let is_named = std::env::args().skip(1).any(|word| word == file);
    let (before, word) = match is_named {
        true => (format!("{file}: "), file),
        false => (String::new(), key),
    };
    if let Some(known) = known_keys(reason) {
        let (of, last) = key.rsplit_once('.').unwrap_or(("", key));
        let is_whole = known.iter().any(|name| name.contains('.'));
        let wrong = if is_whole { key } else { last };
        let of = match of {
            _ if of.is_empty() || wrong == key => String::new(),
            of => format!(" in {of}"),
        };
        let message = format!("{before}there is no key '{wrong}'{of}");
        let setting = coax_settings::scenario_key(key).map(|key| format!("did you mean '{key}'?"));
        let help = setting.or_else(|| with_its_rest(wrong, &known));
        let help = help.unwrap_or_else(|| nearest::choices(wrong, &known));
        return WrongUsage::new(verb, message).at(word).help(help);
    }
    let message = format!("{before}{key}: {}", plain(reason));
    WrongUsage::new(verb, message).at(word)
}

/// For a key whose part before the last dot is mistyped: the whole key that was probably meant.
fn with_its_rest(wrong: &str, known: &[&str]) -> Option<String> {
    let (before, rest) = wrong.rsplit_once('.')?;
    if nearest::nearest(wrong, known).is_some() {
        return None;
    }
    let meant = nearest::nearest(before, known)?;
    Some(format!("did you mean '{meant}.{rest}'?"))
}

/// The keys that there are, if the reason is that there is no such key.
fn known_keys(reason: &str) -> Option<Vec<&str>> {
    let list = match reason.strip_prefix("there is no such key; there are ") {
        Some(list) => list,
        None => {
            let (_, list) = reason.strip_prefix("unknown field `")?.split_once("`, ")?;
            list.trim_start_matches("expected ")
                .trim_start_matches("one of ")
        }
    };
    let names = list.split([',', ' ', '`']);
    let ours = |name: &&str| {
        !matches!(
            *name,
            "" | "and" | "in" | "[set]" | "those" | "beneath" | "or"
        )
    };
    let mut found = Vec::new();
    for name in names.filter(ours) {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    Some(found)
}

/// The reason without types of the program.
fn plain(reason: &str) -> String {
    let reason = reason.lines().next().unwrap_or_default();
    let found = EXPECTED.iter().find_map(|(theirs, ours)| {
        let what = reason.strip_suffix(theirs)?.trim_end_matches([',', ' ']);
        let what = what.split_once(": ").map_or(what, |(_, what)| what);
        let what = ["string ", "integer ", "boolean ", "floating point "]
            .iter()
            .find_map(|kind| what.strip_prefix(kind))
            .unwrap_or(what);
        let what = what.replace(['"', '`'], "");
        Some(format!("'{what}' is not possible: {ours}"))
    });
    found.unwrap_or_else(|| reason.replace('`', "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_keys_are_found_in_both_wordings() {
        let known = known_keys("unknown field `ms`, expected one of `mss`, `ttl`");
        assert_eq!(known, Some(vec!["mss", "ttl"]));
        let known = known_keys("unknown field `b`, expected `rate` or `delay`");
        assert_eq!(known, Some(vec!["rate", "delay"]));
        let known = known_keys(
            "there is no such key; there are size, link, and in [set] those beneath link",
        );
        assert_eq!(known, Some(vec!["size", "link"]));
        assert_eq!(known_keys("must not be zero"), None);
    }

    #[test]
    fn types_of_the_program_are_not_shown() {
        assert_eq!(
            plain("invalid type: string \"banana\", expected u16"),
            "'banana' is not possible: write a whole number from 0 to 65535"
        );
        assert_eq!(
            plain("invalid value: integer `-1`, expected u64"),
            "'-1' is not possible: write a whole number, at least 0"
        );
        assert_eq!(plain("`big` is not a size"), "'big' is not a size");
    }
}
