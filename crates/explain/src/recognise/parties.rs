//! Who the client and the server of a connection are.

mod client;
mod server;

use std::sync::OnceLock;

pub use client::profiles;
use serde::Deserialize;

use crate::{report::Connection, smb::CUT};

/// A machine of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Party {
    /// The redirector of `data/clients` that it is or is most like; of a server its kind in `data/servers-guess.toml`.
    pub profile: Option<String>,
    /// What to call it.
    pub name: String,
    /// How sure that is.
    pub sure: Sureness,
    /// What speaks for it.
    pub evidence: Vec<Evidence>,
    /// Other redirectors that fit as well.
    pub also: Vec<String>,
    /// The configuration of `data/servers` that a lab's server is most like it with.
    pub config: Option<String>,
}

impl Party {
    /// A client that is known to be this redirector of `data/clients`; `None` if there is none of that name.
    pub fn told(profile: &str) -> Option<Self> {
        let known = profiles().iter().find(|known| known.name == profile)?;
        Some(Self {
            profile: Some(known.name.to_owned()),
            name: known.title.clone(),
            sure: Sureness::Sure,
            evidence: vec![Evidence {
                what: "you said so".to_owned(),
                frame: None,
            }],
            ..Self::default()
        })
    }
}

/// How sure it is who a machine is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sureness {
    /// Nothing is known.
    #[default]
    Unknown,
    /// Not one of the known; most like this one, or several known ones fit as well.
    Like,
    /// All that was seen fits this one and no other, though it did not say so.
    Likely,
    /// It said so, and all that was seen fits.
    Sure,
}

impl Sureness {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Like => "like",
            Self::Likely => "likely",
            Self::Sure => "sure",
        }
    }
}

/// Something seen, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// What.
    pub what: String,
    /// The packet's number.
    pub frame: Option<u64>,
}

/// Who the client and the server are.
pub(crate) fn recognise(connection: &Connection) -> [Party; 2] {
    let Some(smb) = &connection.smb else {
        return <[Party; 2]>::default();
    };
    [
        client::recognise(connection, smb),
        server::recognise(connection, smb),
    ]
}

/// A file of rules; the first that fits is taken.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    #[serde(default)]
    client: Vec<client::Rule>,
    #[serde(default)]
    server: Vec<server::Rule>,
}

const CLIENTS: &str = include_str!("../../../../data/clients-guess.toml");
const SERVERS: &str = include_str!("../../../../data/servers-guess.toml");

/// The rules of both files. Tests read them all; of a file with errors there are none.
fn rules() -> &'static Rules {
    static RULES: OnceLock<Rules> = OnceLock::new();
    RULES.get_or_init(|| {
        let client = toml::from_str::<Rules>(CLIENTS).map(|rules| rules.client);
        let server = toml::from_str::<Rules>(SERVERS).map(|rules| rules.server);
        Rules {
            client: client.unwrap_or_default(),
            server: server.unwrap_or_default(),
        }
    })
}

/// Whether `part` is in `text`.
fn contains(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

/// Whether `text` was cut where `part` may have stood: so much of it is there that it is hardly anything else.
fn begins(text: &str, part: &str) -> bool {
    const TOLD: usize = 4;
    let (text, part) = (text.to_lowercase(), part.to_lowercase());
    let mut begun = (TOLD..part.len()).filter_map(|len| part.get(..len));
    text.strip_suffix(CUT)
        .is_some_and(|known| begun.any(|begun| known.ends_with(begun)))
}

/// The rule that fits what was said; else the one that alone may, for all that was kept. And whether it fits.
fn fitting<R>(
    rules: &[R],
    fits: impl Fn(&R, fn(&str, &str) -> bool) -> bool,
) -> Option<(&R, bool)> {
    let whole = rules.iter().find(|rule| fits(rule, contains));
    let mut cut = rules.iter().filter(|rule| fits(rule, begins));
    let only = cut.next().filter(|_| cut.next().is_none());
    whole
        .map(|rule| (rule, true))
        .or_else(|| Some((only?, false)))
}

/// Whether `told` is `whole`, or what was kept of it.
fn is_said(told: &str, whole: &str) -> bool {
    let known = told.strip_suffix(CUT);
    known.map_or(told == whole, |known| whole.starts_with(known))
}

/// `system / LAN manager` as a machine names them, as far as they were kept; `None` if nothing was.
fn native(system: &Option<(String, String)>) -> Option<String> {
    let is_told = |name: &&String| !name.is_empty() && **name != CUT.to_string();
    let (os, lan_man) = system.as_ref()?;
    let told: Vec<&str> = [os, lan_man]
        .into_iter()
        .filter(is_told)
        .map(String::as_str)
        .collect();
    (!told.is_empty()).then(|| told.join(" / "))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn both_files_of_rules_are_read() {
        assert!(!toml::from_str::<Rules>(CLIENTS).unwrap().client.is_empty());
        assert!(!toml::from_str::<Rules>(SERVERS).unwrap().server.is_empty());
    }

    #[test]
    fn of_names_that_were_cut_what_is_known_is_said() {
        let told = |os: &str, lan_man: &str| native(&Some((os.to_owned(), lan_man.to_owned())));
        assert_eq!(told("Unix", "Samba").unwrap(), "Unix / Samba");
        assert_eq!(told("Uni…", "").unwrap(), "Uni…");
        assert_eq!(told("Unix", "…").unwrap(), "Unix");
        assert_eq!(told("…", "…"), None);
        assert!(begins("Unix / Samb…", "Samba") && contains("Unix / Samba", "samba"));
        assert!(!begins("Unix / Samb", "Samba") && !begins("Unix / S…", "Samba"));
        assert!(is_said("Uni…", "Unix") && is_said("…", "Unix") && !is_said("Uni", "Unix"));
    }

    #[test]
    fn a_name_that_was_cut_decides_only_where_it_can_be_one_alone() {
        let told = |text: &str, rules: &[&'static str]| {
            let found = fitting(rules, |rule, names| names(text, rule));
            found.map(|(rule, is_whole)| (*rule, is_whole))
        };
        let rules = ["Windows Server 2003", "Windows 5.1"];
        assert_eq!(
            told("Windows 5.1 / Windo…", &rules),
            Some(("Windows 5.1", true))
        );
        assert_eq!(told("Windo…", &rules), None);
        assert_eq!(
            told("Windows Se…", &rules),
            Some(("Windows Server 2003", false))
        );
    }

    #[test]
    fn a_client_can_be_told_by_the_name_of_its_profile_alone() {
        let party = Party::told("nt-4-explorer").unwrap();
        assert_eq!(
            (party.sure, party.profile.as_deref()),
            (Sureness::Sure, Some("nt-4-explorer"))
        );
        assert_eq!(Party::told("nt-5"), None);
    }
}
