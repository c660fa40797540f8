//! The table of settings, `data/settings`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

const TEXTS: [&str; 3] = [
    include_str!("../../../data/settings/client.toml"),
    include_str!("../../../data/settings/registry.toml"),
    include_str!("../../../data/settings/server.toml"),
];

/// Files that only servers have, as the table names them.
const SERVER_FILES: [&str; 2] = ["smb.conf", "sysctl"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    setting: Vec<Setting>,
}

/// A setting that has, or is believed to have, an effect on speed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Setting {
    /// The kind of file.
    pub(crate) file: String,
    section: String,
    /// The section of a new line, where `section` is a pattern.
    #[serde(default, rename = "new-section")]
    new_section: Option<String>,
    /// It is set for each share.
    #[serde(default, rename = "per-share")]
    per_share: bool,
    /// Without a line it is as with these values, the best one first.
    #[serde(default, rename = "only-present")]
    only_present: Vec<String>,
    key: String,
    /// `server`: it is a setting of servers, whoever's file it stands in.
    pub(crate) role: Option<String>,
    /// The value of a scenario that it sets, without `client.` or `server.`.
    pub(crate) set: Option<String>,
    /// Another one.
    pub(crate) also: Option<String>,
    /// The unit, if it is a number.
    pub(crate) number: Option<String>,
    pub(crate) least: Option<i64>,
    pub(crate) most: Option<i64>,
    /// Added to the number.
    #[serde(default)]
    pub(crate) offset: i64,
    /// The number is multiplied by this,
    #[serde(default = "one")]
    pub(crate) factor: i64,
    /// and divided by this.
    #[serde(default = "one")]
    pub(crate) divisor: i64,
    /// Which of several numbers counts, from 1.
    #[serde(default)]
    pub(crate) field: usize,
    /// The scenario's value as text, with `{}` for the number.
    pub(crate) text: Option<String>,
    /// Words and the scenario's values for them.
    #[serde(default)]
    pub(crate) map: BTreeMap<String, toml::Value>,
    /// Words and the client profiles that they mean.
    #[serde(default)]
    pub(crate) choose: BTreeMap<String, String>,
    /// Values that `lab advise` tries, as the file has them.
    #[serde(default, rename = "try")]
    pub(crate) candidates: Vec<String>,
    pub(crate) meaning: String,
    pub(crate) advice: Option<String>,
    pub(crate) source: String,
    /// The effect on the scenario is an assumption.
    #[serde(default)]
    pub(crate) assumed: bool,
}

const fn one() -> i64 {
    1
}

impl Setting {
    /// Whether it is this line's.
    pub(crate) fn fits(&self, file: &str, section: &str, key: &str) -> bool {
        self.file == file && self.key == key && matches(&self.section, section)
    }

    /// The section of a line that is missing; `None` if it is not known which.
    pub(crate) fn own_section(&self) -> Option<&str> {
        let own = (!self.section.contains('*')).then_some(self.section.as_str());
        self.new_section.as_deref().or(own)
    }

    /// Whether it is set for each share.
    pub(crate) const fn is_per_share(&self) -> bool {
        self.per_share
    }

    /// Whether a missing line means this value.
    pub(crate) fn is_right_without_line(&self, value: &str) -> bool {
        let mut known = self.only_present.iter();
        known.any(|known| known.eq_ignore_ascii_case(value))
    }

    /// Of an option of `socket options`: its name, in lower case.
    pub(crate) fn option(&self) -> Option<&str> {
        self.key.strip_prefix("socket options: ")
    }

    /// Whether it may stand in this section.
    pub(crate) fn belongs_in(&self, section: &str) -> bool {
        matches(&self.section, section)
    }

    /// Whether the registry keeps it as text.
    pub(crate) fn is_registry_text(&self) -> bool {
        self.section.contains("\\vxd\\") || self.section.contains("\\class\\")
    }

    /// Whose setting it is, as scenarios name the sides.
    fn side(&self) -> &str {
        match &self.role {
            Some(role) => role,
            None if SERVER_FILES.contains(&self.file.as_str()) => "server",
            None => "client",
        }
    }

    /// The name of the line.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// A section that it may stand in, for tests.
    #[cfg(test)]
    pub(crate) fn example_section(&self) -> String {
        self.section.replace('*', "x")
    }
}

/// `pattern` may begin or end with `*`.
fn matches(pattern: &str, text: &str) -> bool {
    let (open, rest) = pattern
        .strip_prefix('*')
        .map_or((false, pattern), |rest| (true, rest));
    let (goes_on, rest) = rest
        .strip_suffix('*')
        .map_or((false, rest), |rest| (true, rest));
    match (open, goes_on) {
        (true, true) => text.contains(rest),
        (true, false) => text.ends_with(rest),
        (false, true) => text.starts_with(rest),
        (false, false) => text == rest,
    }
}

/// All settings. A file that does not parse is an empty one, at which a test fails.
pub(crate) fn settings() -> &'static [Setting] {
    static ALL: OnceLock<Vec<Setting>> = OnceLock::new();
    ALL.get_or_init(|| {
        let tables = TEXTS
            .iter()
            .filter_map(|text| toml::from_str::<Table>(text).ok());
        tables.flat_map(|table| table.setting).collect()
    })
}

/// The key of a scenario that a setting of a client or server sets, if the last part of `key` is the setting's name:
/// `client.profile.buffers.request` for `client.profile.sizworkbuf`.
#[must_use]
pub fn scenario_key(key: &str) -> Option<String> {
    let (side, _) = key.split_once('.')?;
    let (_, name) = key.rsplit_once('.')?;
    let name = name.to_lowercase();
    let is_its = |setting: &&Setting| setting.key == name && setting.side() == side;
    let set = settings()
        .iter()
        .filter(is_its)
        .find_map(|one| one.set.as_ref())?;
    Some(format!("{side}.{set}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn each_file_of_the_table_parses_and_names_its_sources() {
        for text in TEXTS {
            let table: Table = toml::from_str(text).unwrap();
            for setting in table.setting {
                assert!(
                    !setting.source.is_empty() && setting.meaning.ends_with('.'),
                    "{}",
                    setting.key
                );
                let key = setting.key.to_lowercase();
                assert_eq!(setting.key, key, "keys are compared in lower case");
                let is_value = setting.number.is_some() || !setting.map.is_empty();
                assert!(setting.set.is_none() || is_value, "{key} sets a value");
            }
        }
    }

    #[test]
    fn a_setting_by_its_own_name_leads_to_the_key_of_the_scenario() {
        for (key, meant) in [
            (
                "client.profile.sizworkbuf",
                Some("client.profile.buffers.request"),
            ),
            (
                "client.profile.buffers.SizWorkBuf",
                Some("client.profile.buffers.request"),
            ),
            ("client.tcpwindowsize", Some("client.stack.receive_window")),
            ("server.sizworkbuf", None),
            ("client.numworkbuf", None),
            ("size", None),
        ] {
            assert_eq!(scenario_key(key).as_deref(), meant, "{key}");
        }
    }

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, fits) in [
            ("*tcp*", "tcpip", true),
            ("*\\tcpip\\parameters", "hklm\\x\\tcpip\\parameters", true),
            (
                "*\\tcpip\\parameters",
                "hklm\\x\\tcpip\\parameters\\interfaces",
                false,
            ),
            ("network", "network drivers", false),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
        }
    }
}
