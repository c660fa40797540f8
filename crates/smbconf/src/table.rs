//! The table of all smb.conf parameters: names, scope, type and effect.
//!
//! The reader, `--explain-config`, docs/smb-conf.md and the tests all use [`parameters`]. A parameter is honoured if
//! and only if it has a [`Slot`], that is, a field of the settings. Its default is that field's default.

pub mod families;
mod globals;
mod netbios;
mod others;
mod parameter;
mod shares;

use super::parse::normal_key;
pub use parameter::{Effect, Parameter, Scope, Slot};

/// A parameter found by one of its names.
#[derive(Clone, Copy)]
pub struct Found {
    /// The parameter.
    pub parameter: &'static Parameter,
    /// The name has the opposite meaning.
    pub opposite: bool,
}

/// All parameters in the order of the documentation.
pub fn parameters() -> impl Iterator<Item = &'static Parameter> {
    groups().flat_map(|(_, list)| list)
}

/// The groups of the documentation.
pub fn groups() -> impl Iterator<Item = (&'static str, &'static [Parameter])> {
    [
        ("Names and addresses", globals::NAMES),
        ("NetBIOS names and WINS", netbios::NETBIOS),
        ("Log-on", globals::LOG_ON),
        ("Protocol", globals::PROTOCOL),
        ("Connections and logging", globals::CONNECTIONS),
        ("A share", shares::SHARE),
        ("Who may use a share", shares::ACCESS),
        ("File names", shares::NAMES),
        ("Attributes and times", shares::ATTRIBUTES),
        ("Locks and oplocks", shares::LOCKS),
        ("Data on disk", shares::DATA),
        ("Reading the file", others::READING),
        ("Not needed", others::MET),
        ("Not honoured", others::NOT_HONOURED),
    ]
    .into_iter()
}

/// Finds a parameter by name, synonym or opposite; case and blanks are ignored.
pub fn find(key: &str) -> Option<Found> {
    let key = normal_key(key);
    let is = |name: &&'static str| normal_key(name) == key;
    parameters().find_map(|parameter| {
        if is(&parameter.name) || parameter.synonyms.iter().any(is) {
            return Some(Found {
                parameter,
                opposite: false,
            });
        }
        parameter.opposites.iter().any(is).then_some(Found {
            parameter,
            opposite: true,
        })
    })
}

/// Every name that [`find`] accepts.
pub fn all_names() -> impl Iterator<Item = &'static str> {
    parameters().flat_map(|p| {
        std::iter::once(p.name)
            .chain(p.synonyms.iter().copied())
            .chain(p.opposites.iter().copied())
    })
}

#[cfg(test)]
mod tests;
