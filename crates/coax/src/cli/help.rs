//! `coax help`, and what the help of several verbs has in common.

use std::process::ExitCode;

use clap::{Args, Command};

use super::{
    credentials::VARIABLE,
    nearest::unknown,
    output::{WrongUsage, print},
};

/// The widest line of help.
pub const COLUMNS: usize = 80;

/// `coax help`'s arguments.
#[derive(Args, Clone, Debug)]
pub struct HelpArgs {
    /// A command, such as 'lab run', or a topic
    #[arg(value_name = "TOPIC")]
    pub topic: Vec<String>,
}

/// What `coax help` explains besides the verbs.
const TOPICS: &[(&str, &str)] = &[
    ("exit-codes", include_str!("help/exit-codes.txt")),
    ("environment", include_str!("help/environment.txt")),
    ("output", include_str!("help/output.txt")),
    ("sizes", include_str!("help/sizes.txt")),
    ("urls", include_str!("help/urls.txt")),
];

/// Explains.
///
/// # Errors
/// There is no such verb or topic.
pub fn main(args: &HelpArgs, coax: Command) -> Result<ExitCode, WrongUsage> {
    Ok(print(&text(&args.topic, coax)?))
}

fn text(words: &[String], mut command: Command) -> Result<String, WrongUsage> {
    command.build();
    if words.is_empty() {
        let names: Vec<&str> = TOPICS.iter().map(|(name, _)| *name).collect();
        let topics = names.join(", ");
        return Ok(format!(
            "{}\nTopics: {topics}\n",
            command.render_long_help()
        ));
    }
    if let [word] = words
        && let Some((_, text)) = TOPICS.iter().find(|(name, _)| name == word)
    {
        return Ok((*text).into());
    }
    help_of(&mut command, words)
}

fn help_of(command: &mut Command, words: &[String]) -> Result<String, WrongUsage> {
    let Some((word, rest)) = words.split_first() else {
        return Ok(command.render_long_help().to_string());
    };
    let wrong = no_topic(command, word);
    command
        .find_subcommand_mut(word)
        .map_or(Err(wrong), |verb| help_of(verb, rest))
}

fn no_topic(command: &Command, word: &str) -> WrongUsage {
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let mut known: Vec<&str> = verbs.map(Command::get_name).collect();
    if command.get_name() == "coax" {
        known.extend(TOPICS.iter().map(|(name, _)| *name));
    }
    WrongUsage::new("help", unknown("topic", word, &known)).at(word)
}

/// Names the environment variables in the help of each verb that reads them.
pub fn with_environment(command: Command) -> Command {
    command.mut_subcommands(|verb| {
        let asks = |name| {
            verb.get_arguments()
                .any(|option| option.get_long() == Some(name))
        };
        if !asks("allow-weak") && !asks("password-stdin") {
            return verb;
        }
        let before = verb.get_after_help().map(|text| format!("{text}\n\n"));
        let environment = format!(
            "{}Environment: {VARIABLE} is the password if none is given ('coax help environment')",
            before.unwrap_or_default()
        );
        verb.after_help(environment)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::cli::definition;

    fn text(words: &[String]) -> Result<String, WrongUsage> {
        super::text(words, definition())
    }

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(Into::into).collect()
    }

    /// The words of every command, down to the last verb.
    fn paths(command: &Command, before: &str, all: &mut Vec<String>) {
        for verb in command.get_subcommands() {
            let path = format!("{before} {}", verb.get_name());
            paths(verb, &path, all);
            all.push(path);
        }
    }

    #[test]
    fn no_line_of_help_is_wider_than_80_columns() {
        let mut all: Vec<String> = TOPICS.iter().map(|(name, _)| (*name).to_owned()).collect();
        all.push(String::new());
        paths(&definition(), "", &mut all);
        assert!(all.len() > 25, "{all:?}");
        let mut wide = Vec::new();
        for path in &all {
            for line in text(&words(path)).unwrap().lines() {
                if line.chars().count() > COLUMNS && !line.trim_start().starts_with("Usage:") {
                    wide.push(format!("{path}: {line}"));
                }
            }
        }
        assert!(wide.is_empty(), "{wide:#?}");
    }

    #[test]
    fn the_variable_is_named_by_each_verb_that_reads_it() {
        for verb in ["get", "put", "ls", "bench", "serve"] {
            assert!(text(&words(verb)).unwrap().contains(VARIABLE), "{verb}");
        }
        assert!(!text(&words("explain")).unwrap().contains(VARIABLE));
    }

    #[test]
    fn a_verb_a_verb_of_a_verb_and_a_topic_are_explained() {
        assert!(text(&[]).unwrap().contains("Topics: exit-codes"));
        assert!(text(&words("lab run")).unwrap().contains("coax lab run"));
        assert!(text(&words("exit-codes")).unwrap().contains("wrong usage"));
        let wrong = text(&words("lab rum")).unwrap_err().message().to_owned();
        let start = "there is no topic 'rum'; did you mean 'run'? There are run, copy, ";
        assert!(wrong.starts_with(start), "{wrong}");
    }
}
