//! Who the client and the server of a connection are.

mod client;
mod server;

pub use client::profiles;
use coax_catalog::recognition::text;

use crate::report::Connection;

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

/// `system / LAN manager` as a machine names them, as far as they were kept; `None` if nothing was.
fn native(system: &Option<(String, String)>) -> Option<String> {
    let (os, lan_man) = system.as_ref()?;
    text::native(os, lan_man)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

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
