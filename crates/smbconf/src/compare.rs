//! The differences between two configurations, for a reload.

use std::fmt;

use crate::{
    settings::{GlobalSettings, Settings, ShareSettings},
    table::{Effect, parameters},
};

/// A parameter with another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The section: `global`, or the share.
    pub section: String,
    /// The parameter.
    pub parameter: &'static str,
    /// The value before.
    pub before: String,
    /// The value now.
    pub now: String,
    /// The value now takes effect only when the server starts.
    pub at_start: bool,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            section,
            parameter,
            before,
            now,
            ..
        } = self;
        if before == now {
            // Passwords are not shown.
            return write!(f, "[{section}] {parameter} changed");
        }
        write!(f, "[{section}] {parameter}: '{before}' -> '{now}'")
    }
}

/// The differences between two configurations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Parameters with another value, also of shares that both have.
    pub changes: Vec<Change>,
    /// Shares that only the new one has.
    pub added: Vec<String>,
    /// Shares that only the old one has.
    pub removed: Vec<String>,
}

/// Compares two configurations. A share is recognised by its name without case.
pub fn compare(old: &Settings, new: &Settings) -> Comparison {
    let mut changes = global(&old.global, &new.global);
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for share in &new.shares {
        match named(old, &share.name) {
            Some(before) => changes.extend(of_share(before, share)),
            None => added.push(share.name.clone()),
        }
    }
    for share in &old.shares {
        if named(new, &share.name).is_none() {
            removed.push(share.name.clone());
        }
    }
    Comparison {
        changes,
        added,
        removed,
    }
}

/// Gives every parameter whose change needs a restart its old value, so that the new settings describe what a running
/// server does.
pub fn keep_until_restart(old: &Settings, new: &mut Settings) {
    for parameter in parameters().filter(|parameter| parameter.at_start) {
        if let Effect::Global(slot) = parameter.effect {
            (slot.copy)(&mut new.global, &old.global);
        }
    }
    new.listen.clone_from(&old.listen);
}

fn named<'a>(settings: &'a Settings, name: &str) -> Option<&'a ShareSettings> {
    let mut shares = settings.shares.iter();
    shares.find(|share| share.name.to_lowercase() == name.to_lowercase())
}

fn global(old: &GlobalSettings, new: &GlobalSettings) -> Vec<Change> {
    let changed = parameters().filter_map(|parameter| match parameter.effect {
        Effect::Global(slot) if !(slot.same)(old, new) => Some(Change {
            section: "global".into(),
            parameter: parameter.name,
            before: (slot.show)(old),
            now: (slot.show)(new),
            at_start: parameter.at_start,
        }),
        _ => None,
    });
    let hosts = hosts(old, new);
    changed.chain(hosts).collect()
}

/// `hosts allow` and `hosts deny` of `[global]`, which the table lists as parameters of shares.
fn hosts(old: &GlobalSettings, new: &GlobalSettings) -> Vec<Change> {
    let lists = [
        ("hosts allow", &old.hosts.allow, &new.hosts.allow),
        ("hosts deny", &old.hosts.deny, &new.hosts.deny),
    ];
    let changed = lists.into_iter().filter(|(_, old, new)| old != new);
    changed
        .map(|(parameter, old, new)| Change {
            section: "global".into(),
            parameter,
            before: old.to_string(),
            now: new.to_string(),
            at_start: false,
        })
        .collect()
}

fn of_share(old: &ShareSettings, new: &ShareSettings) -> Vec<Change> {
    let changed = parameters().filter_map(|parameter| match parameter.effect {
        Effect::Share(slot) if !(slot.same)(old, new) => Some(Change {
            section: new.name.clone(),
            parameter: parameter.name,
            before: (slot.show)(old),
            now: (slot.show)(new),
            at_start: parameter.at_start,
        }),
        _ => None,
    });
    changed.collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::load::load_text;

    fn settings(conf: &str) -> Settings {
        load_text("t", conf).settings
    }

    fn lines(old: &str, new: &str) -> Vec<String> {
        let found = compare(&settings(old), &settings(new));
        found.changes.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_changed_parameter_is_reported_with_both_values_and_equal_ones_are_not() {
        let old = "[global]\ndeadtime = 5\n[A]\npath = /a\ncomment = one\n";
        let new = "[global]\ndeadtime = 15\n[A]\ncomment = two\npath = /a\n";
        let expected = [
            "[global] deadtime: '5' -> '15'",
            "[A] comment: 'one' -> 'two'",
        ];
        assert_eq!(lines(old, new), expected);
        assert_eq!(
            compare(&settings(old), &settings(old)),
            Comparison::default()
        );
    }

    #[test]
    fn shares_are_added_and_removed_by_name_without_case() {
        let old = settings("[A]\npath = /a\n[B]\npath = /b\n");
        let new = settings("[a]\npath = /a\n[C]\npath = /c\n");
        let found = compare(&old, &new);
        assert_eq!(
            (&found.added[..], &found.removed[..]),
            (&["C".into()][..], &["B".into()][..])
        );
        assert_eq!(found.changes, []);
    }

    #[test]
    fn a_changed_password_is_reported_without_its_value() {
        let conf = |password: &str| {
            format!("[global]\nsecurity = share\n[A]\npath = /a\ncoax:password = {password}\n")
        };
        let lines = lines(&conf("one"), &conf("two"));
        assert_eq!(lines, ["[A] coax:password changed"]);
    }

    #[test]
    fn hosts_of_the_whole_server_are_compared() {
        let hosts = |list: &str| format!("[global]\nhosts allow = {list}\n");
        let lines = lines(&hosts("10.0.0.0/8"), &hosts("10.1.0.0/16"));
        assert!(
            lines.len() == 1 && lines[0].starts_with("[global] hosts allow: '"),
            "{lines:?}"
        );
    }

    #[test]
    fn what_needs_a_restart_keeps_its_old_value_and_everything_else_the_new_one() {
        let old = settings(
            "[global]\nsmb ports = 445\nnetbios name = OLD\ndeadtime = 1\n[A]\npath = /a\n",
        );
        let mut new = settings(
            "[global]\nsmb ports = 1445\nnetbios name = NEW\ndeadtime = 2\n[A]\npath = /a\n",
        );
        let found = compare(&old, &new);
        let waits: Vec<&str> = found
            .changes
            .iter()
            .filter(|change| change.at_start)
            .map(|change| change.parameter)
            .collect();
        assert_eq!(waits, ["netbios name", "smb ports"]);
        keep_until_restart(&old, &mut new);
        assert_eq!(new.listen, old.listen);
        let left: Vec<&str> = compare(&old, &new)
            .changes
            .iter()
            .map(|change| change.parameter)
            .collect();
        assert_eq!(left, ["deadtime"]);
    }
}
