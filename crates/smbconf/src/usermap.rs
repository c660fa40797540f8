//! `username map`: maps names that clients send to local user names.
//!
//! A line is `name = alias alias …`: a client that sends one of the aliases becomes that user. `*` matches every name.
//! A `!` before a matching line ends the search. Quotes enclose an alias with spaces.

use std::io::Read;
use std::path::Path;

use super::diagnostic::{Diagnostic, Position};
use super::list::{Names, words};
use super::settings::GlobalSettings;

/// Maximum file size, bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A user name map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsernameMap {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    user: String,
    aliases: Names,
    last: bool,
}

impl UsernameMap {
    /// Reads the map named in the settings; empty without one.
    ///
    /// # Errors
    /// The file cannot be read or contains errors.
    pub fn load(global: &GlobalSettings) -> Result<Self, Vec<Diagnostic>> {
        let Some(path) = &global.username_map else {
            return Ok(Self::default());
        };
        let mut text = String::new();
        let read =
            std::fs::File::open(path).and_then(|f| f.take(MAX_BYTES).read_to_string(&mut text));
        match read {
            Ok(_) => Self::parse(path, &text),
            Err(error) => Err(vec![Diagnostic::error(format!(
                "cannot read 'username map' {}: {error}",
                path.display()
            ))]),
        }
    }

    /// Reads the text of a map.
    ///
    /// # Errors
    /// Every invalid line.
    pub fn parse(path: &Path, text: &str) -> Result<Self, Vec<Diagnostic>> {
        let (mut rules, mut wrong) = (Vec::new(), Vec::new());
        for (number, line) in (1u32..).zip(text.lines()) {
            let rule = line.trim();
            if rule.is_empty() || rule.starts_with(['#', ';']) {
                continue;
            }
            match Rule::parse(rule) {
                Ok(rule) => rules.push(rule),
                Err(why) => {
                    let at = Position {
                        file: path.display().to_string().into(),
                        line: number,
                        text: line.into(),
                    };
                    wrong.push(Diagnostic::error(why).at(&at));
                }
            }
        }
        if wrong.is_empty() {
            Ok(Self { rules })
        } else {
            Err(wrong)
        }
    }

    /// The user name for a client that sends `name`. As in Samba, a later line applies to the result of an earlier one.
    pub fn user(&self, name: &str) -> String {
        let mut user = name.to_string();
        for rule in &self.rules {
            if rule.aliases.contains(&user) || rule.aliases.contains("*") {
                user.clone_from(&rule.user);
                if rule.last {
                    break;
                }
            }
        }
        user
    }
}

impl Rule {
    fn parse(line: &str) -> Result<Self, String> {
        let (last, line) = line
            .strip_prefix('!')
            .map_or((false, line), |rest| (true, rest));
        let (user, aliases) = line.split_once('=').ok_or("write 'name = alias alias …'")?;
        let aliases = words(aliases);
        if let Some(group) = aliases.iter().find(|a| a.starts_with(['@', '+', '&'])) {
            return Err(format!(
                "'{group}' is a group; coax has users only, so name each"
            ));
        }
        if user.trim().is_empty() {
            return Err("nothing stands before the '='".into());
        }
        Ok(Self {
            user: user.trim().into(),
            aliases: Names::new(aliases),
            last,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::expect_used,
        clippy::panic
    )]
    use super::*;

    fn map(text: &str) -> UsernameMap {
        UsernameMap::parse(Path::new("users.map"), text).unwrap()
    }

    #[test]
    fn an_alias_in_any_case_is_the_user_and_others_stay_who_they_are() {
        let map = map("# who is who\n\nroot = admin \"Jo Ann\"\n");
        assert_eq!(map.user("ADMIN"), "root");
        assert_eq!(map.user("jo ann"), "root");
        assert_eq!(map.user("eve"), "eve");
    }

    #[test]
    fn an_exclamation_mark_ends_the_search_and_a_star_takes_everybody() {
        let map = map("!anna = ann\nguest = *\n");
        assert_eq!(map.user("ann"), "anna");
        assert_eq!(map.user("anna"), "guest");
        assert_eq!(map.user("whoever"), "guest");
    }

    #[test]
    fn invalid_lines_are_reported_with_their_number() {
        let wrong =
            UsernameMap::parse(Path::new("users.map"), "a = b\nnonsense\nx = @staff\n= y\n")
                .unwrap_err();
        assert_eq!(
            wrong
                .iter()
                .map(|d| d.at.as_ref().unwrap().line)
                .collect::<Vec<_>>(),
            [2, 3, 4]
        );
    }
}
