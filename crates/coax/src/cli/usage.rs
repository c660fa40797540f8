//! Wrong command lines: one format for clap's errors and ours.
//!
//! ```text
//! error: what is wrong, and why
//!  --> the verb and the argument
//!   = help: what to try
//! ```

mod clap_error;

use std::ffi::{OsStr, OsString};

use clap::Command;

use super::{
    credentials::{USER, without_secrets},
    output::WrongUsage,
};
pub use clap_error::{shows_text, wrong_usage};

/// The half of a message behind one of these says what to do.
const ADVICE: [(&str, &str); 15] = [
    ("; did you mean ", "did you mean "),
    ("; there are ", "there are "),
    (": write ", "write "),
    ("; write ", "write "),
    ("; expected ", "write "),
    (": name ", "name "),
    ("; name ", "name "),
    (": run ", "run "),
    (": give ", "give "),
    (". Give ", "give "),
    ("; give ", "give "),
    (": set ", "set "),
    (": add ", "add "),
    (": get it", "get it"),
    ("; allowed ", "allowed "),
];

/// A message, and what it says to do.
pub fn parted(message: &str) -> (&str, Option<String>) {
    let places = ADVICE.iter().filter_map(|(cut, start)| {
        let (before, after) = message.split_once(cut)?;
        Some((before, format!("{start}{after}")))
    });
    match places.min_by_key(|(before, _)| before.len()) {
        Some((before, advice)) => (before, Some(advice)),
        None => (message, None),
    }
}

/// What is printed of a wrong command line.
pub fn text(wrong: &WrongUsage, arguments: &[OsString]) -> String {
    let verb = match wrong.verb() {
        "" => "coax".to_owned(),
        verb => format!("coax {verb}"),
    };
    // the verb is named already
    let verbs = wrong.verb().split_whitespace();
    let same = verbs
        .zip(arguments.iter().skip(1))
        .take_while(|(verb, word)| verb == word);
    let arguments = arguments.get(same.count()..).unwrap_or_default();
    let argument = match wrong.word() {
        Some(word) if wrong.hides_value() => Some(word.to_owned()),
        Some(word) => argument(arguments, |text| text.contains(word)),
        None => named_in(wrong.message(), arguments),
    };
    let place = [Some(verb), argument].into_iter().flatten();
    let place: Vec<String> = place.collect();
    let (message, advice) = parted(wrong.message());
    let help = wrong.help_text().map(ToOwned::to_owned).or(advice);
    let help = help.unwrap_or_else(|| explained_by(wrong.verb()));
    format!(
        "error: {message}\n --> {}\n  = help: {help}\n",
        place.join(" ")
    )
}

/// Where a verb is explained.
fn explained_by(verb: &str) -> String {
    let command = format!("coax help {verb}");
    format!("'{}' explains the arguments", command.trim_end())
}

/// The argument that a message names: in quotes, or as a word of its own. Options come last, because their values say more.
fn named_in(message: &str, arguments: &[OsString]) -> Option<String> {
    let quoted = message.split('\'').skip(1).step_by(2);
    let words = message.split_whitespace();
    let words = words.map(|word| word.trim_matches([':', ',', ';', '\'', '"']));
    let (options, words): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with('-'));
    let mut names = quoted
        .chain(words)
        .chain(options)
        .filter(|name| !name.is_empty());
    names.find_map(|name| argument(arguments, |text| text == name))
}

/// The last argument that is meant, with its option before it or its value behind it. Passwords are left out.
fn argument(arguments: &[OsString], is_meant: impl Fn(&str) -> bool) -> Option<String> {
    let mut places = arguments.iter().enumerate().skip(1);
    let place = places
        .rposition(|(_, text)| text.to_str().is_some_and(&is_meant))?
        .checked_add(1)?;
    let text = arguments.get(place)?;
    let before = place.checked_sub(1).and_then(|place| arguments.get(place));
    let after = place.checked_add(1).and_then(|place| arguments.get(place));
    let both = match (is_option(text), before, after) {
        (true, _, Some(value)) if !is_option(value) => Some((text, value)),
        (false, Some(option), _) if is_option(option) => Some((option, text)),
        _ => None,
    };
    Some(match both {
        Some((option, user)) if option == USER => format!("{USER} {}", name_of(user)),
        Some((option, value)) => format!("{} {}", quoted(option), quoted(value)),
        None => quoted(text),
    })
}

/// `NAME:PASSWORD` without the password.
fn name_of(user: &OsStr) -> String {
    let user = user.to_string_lossy();
    match user.split_once(':') {
        Some((name, _)) => format!("{}:(hidden)", quoted(name.as_ref())),
        None => quoted(user.as_ref().as_ref()),
    }
}

/// It is an option whose value, if it has one, is the next argument.
fn is_option(text: &OsStr) -> bool {
    text.to_str()
        .is_some_and(|text| text.starts_with('-') && text != "-" && !text.contains('='))
}

/// A value as it may be shown: URLs without what may be a password.
pub fn shown(text: &OsStr) -> String {
    let lower = text.to_string_lossy().to_lowercase();
    if let Some(user) = lower.strip_prefix("--user=") {
        return format!("{USER}={}", name_of(user.as_ref()));
    }
    if lower.starts_with("smb:") || lower.contains('@') {
        without_secrets(text)
    } else {
        text.to_string_lossy().into_owned()
    }
}

/// An argument as a shell takes it.
fn quoted(text: &OsStr) -> String {
    let text: String = shown(text).chars().flat_map(char::escape_debug).collect();
    let text = text.replace("\\'", "'").replace("\\\"", "\"");
    if text.is_empty() || text.contains([' ', ';', '*', '?', '"', '<', '>', '|', '&', '$']) {
        format!("'{text}'")
    } else {
        text
    }
}

/// The verbs that a command line begins with, as far as they exist.
pub fn verb_of<'a>(command: &'a Command, arguments: &[OsString]) -> (String, &'a Command) {
    let (mut verb, mut command) = (Vec::new(), command);
    for word in arguments.iter().skip(1) {
        let Some(next) = command.find_subcommand(word) else {
            break;
        };
        verb.push(next.get_name());
        command = next;
    }
    (verb.join(" "), command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn what_to_do_is_parted_from_what_is_wrong() {
        let parts = |message| {
            let (message, advice) = parted(message);
            (message.to_owned(), advice.unwrap_or_default())
        };
        assert_eq!(
            parts("there is no topic 'x'; there are a: write, b"),
            (
                "there is no topic 'x'".into(),
                "there are a: write, b".into()
            )
        );
        assert_eq!(parts("no advice"), ("no advice".into(), String::new()));
    }

    #[test]
    fn the_argument_is_shown_with_its_option_and_without_passwords() {
        let of =
            |text, word| argument(&words(text), |text| text.contains(word)).unwrap_or_default();
        assert_eq!(
            of("coax lab run a --set link.rat=1", "link.rat"),
            "--set link.rat=1"
        );
        assert_eq!(
            of("coax get smb://ann:hush@nas:0/a x", "nas"),
            "smb://ann:(hidden)@nas:0/a"
        );
        assert_eq!(of("coax serve --gest ro", "--gest"), "--gest ro");
        assert_eq!(of("coax serve --gest --json", "--gest"), "--gest");
        assert_eq!(
            of("coax serve --nbt 127.0.0.1:x", "127"),
            "--nbt 127.0.0.1:x"
        );
        assert_eq!(of("coax serve --gest=ro x", "x"), "x");
        assert_eq!(of("coax serve x", "coax"), "");
    }

    #[test]
    fn a_message_names_its_argument() {
        let of = |text, message| named_in(message, &words(text)).unwrap_or_default();
        assert_eq!(
            of("coax lab run nosuch", "there is no scenario 'nosuch'"),
            "nosuch"
        );
        assert_eq!(
            of("coax serve x --user ann", "the password of ann is missing"),
            "--user ann"
        );
        assert_eq!(
            of("coax sweep a --grid foo", "--grid foo: expected KEY"),
            "--grid foo"
        );
        assert_eq!(of("coax serve x", "nothing to share"), "");
    }

    #[test]
    fn a_password_behind_a_user_is_not_shown() {
        for text in [
            "coax serve . --user ann:hush",
            "coax serve . --user=ann:hush",
        ] {
            let said = argument(&words(text), |text| text.contains("ann")).unwrap_or_default();
            assert!(
                said.contains("--user") && said.contains("(hidden)"),
                "{said}"
            );
            assert!(!said.contains("hush"), "{said}");
        }
        let wrong =
            WrongUsage::new("serve", "there is no option '--usr'").at_unknown_option("--usr");
        for line in ["coax serve --usr ann:hush", "coax serve --usr=ann:hush"] {
            let said = text(&wrong, &words(line));
            assert!(
                !said.contains("hush") && said.contains("coax serve --usr\n"),
                "{said}"
            );
        }
    }

    #[test]
    fn control_characters_are_not_shown_as_such() {
        assert_eq!(quoted(OsStr::new("a\u{1b}[31m")), "a\\u{1b}[31m");
        assert_eq!(quoted(OsStr::new("O'Neil")), "O'Neil");
    }
}
