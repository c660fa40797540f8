//! Advice rules: what to change about a slow copy, when that helps, and where it is written. docs/advice.md has the form of the
//! files.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Deserializer};
use spin::Once;

use crate::{component::ProfileError, files::ADVICE, read};

/// Which machine something is to be changed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// The client.
    Client,
    /// The server.
    Server,
    /// Something between the two.
    Network,
}

impl Place {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Network => "network",
        }
    }
}

/// A rule, as its file has it. Causes, facts and conditions are names: the analyser knows them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Rule {
    /// Its name in reports and JSON.
    pub id: String,
    /// What to do, in a few words.
    pub title: String,
    /// The causes that it reduces; none: it is about a connection and not about a copy.
    pub causes: Vec<String>,
    /// Causes that it also shortens; they count for the minimum share, and not for its place among others.
    #[serde(default)]
    pub also: Vec<String>,
    /// Minimum share of these causes in a copy's time, per cent.
    #[serde(default = "default_share")]
    pub least_share: f64,
    /// Conditions; all must hold.
    pub when: Vec<String>,
    /// The reason; `{FACT}` stands for a value of the copy.
    pub why: String,
    /// What to change.
    #[serde(rename = "change")]
    pub changes: Vec<RuleChange>,
    /// A KB number, a document or an address.
    pub source: String,
    /// Values of a lab's scenario that try the change.
    #[serde(default)]
    pub lab: toml::Table,
    /// Values beside them that may be as right, with which the copy takes longer: the predicted range includes it.
    #[serde(default)]
    pub lab_slowest: toml::Table,
    /// The same, with which the copy is faster.
    #[serde(default)]
    pub lab_fastest: toml::Table,
    /// A copy that the rule is for.
    pub case: Case,
}

/// A change of a rule.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RuleChange {
    /// On which machine.
    pub on: Place,
    /// File, section and key, registry path and value, or menu.
    pub r#where: String,
    /// What to change it to.
    pub to: String,
    /// What else is to be known.
    pub note: Option<String>,
    /// Only if this condition (or each of these) holds too, or its fact is not known.
    #[serde(default, deserialize_with = "one_or_more")]
    pub when: Vec<String>,
    /// The same as lines of configuration files; none if it is none of those that coax edits.
    #[serde(default, rename = "edit")]
    pub edits: Vec<RuleEdit>,
}

/// A line of a configuration file, by its names in `data/settings`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RuleEdit {
    /// The kind of file.
    pub file: String,
    /// The key, in lower case.
    pub key: String,
    /// Its value; without one the line is to go.
    pub value: Option<String>,
}

/// A copy that a rule is for. The tests of the analyser check that the rule applies to it, and not to its variants.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Case {
    /// Facts by name.
    pub facts: toml::Table,
    /// Per cent of the time by cause.
    #[serde(default)]
    pub shares: BTreeMap<String, u32>,
    /// Facts that each end it.
    pub not: Vec<toml::Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    advice: Vec<Rule>,
}

fn one_or_more<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Conditions {
        One(String),
        More(Vec<String>),
    }
    Ok(match Conditions::deserialize(from)? {
        Conditions::One(one) => Vec::from([one]),
        Conditions::More(more) => more,
    })
}

/// Per cent. A smaller share is not worth a change.
const fn default_share() -> f64 {
    5.0
}

/// Reads a file of rules. `name` is the file's, for messages.
///
/// # Errors
/// What is malformed and where.
pub fn parse(name: &str, text: &str) -> Result<Vec<Rule>, ProfileError> {
    let file: File = read::text(text).map_err(|reason| ProfileError::Malformed {
        file: name.to_string(),
        reason,
    })?;
    Ok(file.advice)
}

/// Every rule, in the order of the files and within them.
///
/// # Panics
/// A file does not parse. The tests of this crate read every file, so no build that passed them panics.
#[allow(clippy::panic)]
pub fn rules() -> &'static [Rule] {
    static RULES: Once<Vec<Rule>> = Once::new();
    let read = |(name, text): &(&str, &str)| match parse(name, text) {
        Ok(rules) => rules,
        Err(error) => panic!("{error}"),
    };
    RULES.call_once(|| ADVICE.iter().flat_map(read).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_own_name_a_source_a_change_and_a_case_that_can_end() {
        let all = rules();
        assert!(all.len() > 40);
        for rule in all {
            let id = &rule.id;
            assert_eq!(all.iter().filter(|other| other.id == *id).count(), 1);
            assert!(!rule.source.is_empty() && !rule.changes.is_empty(), "{id}");
            assert!(
                !rule.case.facts.is_empty() && !rule.case.not.is_empty(),
                "{id}"
            );
        }
    }

    #[test]
    fn a_rule_without_a_case_and_one_with_an_unknown_key_are_refused() {
        let rule = "[[advice]]\nid = \"a\"\ntitle = \"\"\ncauses = []\nwhen = []\nwhy = \"\"\nsource = \"\"\nchange = []\n";
        let case = "case = { facts = {}, not = [] }\n";
        let read = |more: &[&str]| parse("a test", &[&[rule], more].concat().concat());
        assert!(read(&[case]).is_ok());
        let error = read(&[]).map(|_| ()).map_err(|error| error.to_string());
        assert!(error.is_err_and(|error| error.contains("missing field `case`")));
        let error = read(&[case, "cure = 1\n"])
            .map(|_| ())
            .map_err(|error| error.to_string());
        assert!(error.is_err_and(|error| error.contains("unknown field `cure`")));
    }
}
