//! clap's errors in coax's format.

use std::{
    ffi::OsString,
    net::AddrParseError,
    num::{IntErrorKind, ParseFloatError, ParseIntError},
};

use clap::{
    Command, Error,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::{super::output::WrongUsage, parted, shown, verb_of};
use crate::cli::nearest;

/// The error is no error: clap prints help or the version.
pub fn shows_text(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

/// A command line that clap refused.
pub fn wrong_usage(error: &Error, command: &Command, arguments: &[OsString]) -> WrongUsage {
    let (verb, command) = verb_of(command, arguments);
    let at = |kind| strings(error, kind).into_iter().next();
    let argument = at(ContextKind::InvalidArg).unwrap_or_default();
    let wrong = |message: String| WrongUsage::new(verb.clone(), message);
    let usage = || format!("write {}", usage(command));
    match error.kind() {
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            let known: Vec<String> = options(command).collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let message = wrong(format!("there is no option '{argument}'"));
            let message = message.at_unknown_option(&argument);
            match nearest::nearest(&argument, &known) {
                Some(meant) => message.help(format!("did you mean '{meant}'?")),
                None => message,
            }
        }
        ErrorKind::UnknownArgument => wrong(format!(
            "'{}' is one argument too many",
            shown(argument.as_ref())
        ))
        .at(&argument)
        .help(usage()),
        ErrorKind::InvalidSubcommand => {
            let word = at(ContextKind::InvalidSubcommand).unwrap_or_default();
            let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
            let known: Vec<&str> = verbs.map(Command::get_name).collect();
            wrong(nearest::unknown("command", &word, &known)).at(&word)
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = strings(error, ContextKind::InvalidArg);
            let names: Vec<String> = missing.iter().map(|name| plain(name)).collect();
            let verb = if names.len() > 1 { "are" } else { "is" };
            let message = wrong(format!("{} {verb} missing", names.join(" and ")));
            if names.iter().all(|name| name.starts_with('-')) {
                let names = names.join(" and ");
                return message.help(format!("add {names} to the command line"));
            }
            message.help(usage())
        }
        ErrorKind::ArgumentConflict => conflict(error, &argument, wrong),
        ErrorKind::InvalidValue => not_one_of(error, &argument, wrong),
        ErrorKind::ValueValidation => refused(error, &argument, wrong),
        _ => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            wrong(line.trim_start_matches("error: ").to_owned()).help(usage())
        }
    }
}

fn conflict(error: &Error, argument: &str, wrong: impl Fn(String) -> WrongUsage) -> WrongUsage {
    let others = strings(error, ContextKind::PriorArg);
    let name = first_word(argument);
    let others: Vec<&str> = others.iter().map(|other| first_word(other)).collect();
    if others.iter().all(|other| *other == name) {
        let message = wrong(format!("{name} is given twice")).at(name);
        return message.help("give it once");
    }
    wrong(format!(
        "{name} and {} exclude each other",
        others.join(", ")
    ))
    .at(name)
    .help("leave one of them out")
}

/// A value that is none of a list, or is missing.
fn not_one_of(error: &Error, argument: &str, wrong: impl Fn(String) -> WrongUsage) -> WrongUsage {
    let value = strings(error, ContextKind::InvalidValue).pop();
    let value = value.unwrap_or_default();
    let name = first_word(argument);
    if value.is_empty() {
        return wrong(format!("{name} needs a value"))
            .at(name)
            .help(format!("write {}", plain(argument)));
    }
    let known = strings(error, ContextKind::ValidValue);
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    wrong(format!("'{value}' is not a value of {}", plain(name)))
        .at(&value)
        .help(nearest::choices(&value, &known))
}

/// A value that its parser refused.
fn refused(error: &Error, argument: &str, wrong: impl Fn(String) -> WrongUsage) -> WrongUsage {
    let value = strings(error, ContextKind::InvalidValue).pop();
    let value = value.unwrap_or_default();
    let shown = shown(value.as_ref());
    let name = plain(first_word(argument));
    let Some(source) = std::error::Error::source(error) else {
        // an error that a parser made itself
        let text = error.to_string();
        let text = text.lines().next().unwrap_or_default();
        return wrong(text.trim_start_matches("error: ").to_owned());
    };
    let reason = reason(source, &shown).replace('`', "'");
    let wrong = |message: String| wrong(message).at(&value);
    if reason.starts_with("write ") {
        let form = plain(argument);
        let form = form.strip_prefix(&name).unwrap_or(&form).trim();
        let form = if form.is_empty() { &name } else { form };
        return wrong(with_option(&name, format!("'{shown}' is not {form}"))).help(reason);
    }
    let (why, advice) = parted(&reason);
    let why = match reason.contains(&shown) {
        true => why.to_owned(),
        false => format!("'{shown}': {why}"),
    };
    let wrong = wrong(with_option(&name, why));
    match advice {
        Some(advice) => wrong.help(advice),
        None => wrong,
    }
}

/// A message with the option before it. Arguments without a name are known by their value.
fn with_option(name: &str, message: String) -> String {
    match name.starts_with('-') {
        true => format!("{name}: {message}"),
        false => message,
    }
}

/// Why a parser refused a value. Those of the standard library name no remedy.
fn reason(error: &(dyn std::error::Error + 'static), value: &str) -> String {
    if let Some(number) = error.downcast_ref::<ParseIntError>() {
        return match number.kind() {
            IntErrorKind::PosOverflow => format!("{value} is too large: write a smaller number"),
            IntErrorKind::NegOverflow => format!("{value} is too small: write a larger number"),
            _ => format!("'{value}' is not a whole number: write digits only"),
        };
    }
    if error.is::<ParseFloatError>() {
        return format!("'{value}' is not a number: write it as 1.5");
    }
    if error.is::<AddrParseError>() {
        return format!("'{value}' is not an IP address: write it as 192.168.1.5");
    }
    let text = error.to_string();
    match text.split_once(" is not in ") {
        Some((value, range)) => format!(
            "'{value}' is out of range: write a number from {}",
            range.replace("..=", " to ")
        ),
        None => text,
    }
}

fn strings(error: &Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

/// `--size <SIZE>` without its value.
fn first_word(argument: &str) -> &str {
    argument.split(' ').next().unwrap_or(argument)
}

/// clap's notation of arguments without its brackets: `<--a <X>|--b <Y>>` is `--a X or --b Y`.
fn plain(argument: &str) -> String {
    argument
        .replace(">|-", "> or -")
        .replace(['<', '>'], "")
        .trim_end_matches("...")
        .to_owned()
}

fn options(command: &Command) -> impl Iterator<Item = String> {
    let names = command
        .get_arguments()
        .filter(|option| !option.is_hide_set());
    names.filter_map(|option| Some(format!("--{}", option.get_long()?)))
}

/// How the verb is used: `coax get [OPTIONS] URL... [LOCAL]`.
fn usage(command: &Command) -> String {
    let text = command.clone().render_usage().to_string();
    text.trim_start_matches("Usage: ").to_owned()
}
