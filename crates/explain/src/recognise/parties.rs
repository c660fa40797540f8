//! Who the client and the server of a connection are.

mod client;
mod native;
mod server;

pub use client::profiles;

use crate::report::{Connection, Evidence, Party, Stack, Sureness};

/// A client that the user names: the redirector of `data/clients`; `None` if there is none of that name.
pub fn named_client(profile: &str) -> Option<Party> {
    let known = profiles().iter().find(|known| known.name == profile)?;
    Some(Party {
        profile: Some(known.name.to_owned()),
        name: known.title.clone(),
        sure: Sureness::Sure,
        evidence: vec![Evidence {
            what: "you said so".to_owned(),
            frame: None,
        }],
        ..Party::default()
    })
}

/// Who the client and the server are; the TCP of the server is a clue.
pub(crate) fn recognise(connection: &Connection, [_, server_tcp]: &[Stack; 2]) -> [Party; 2] {
    let Some(smb) = &connection.smb else {
        return <[Party; 2]>::default();
    };
    [
        client::recognise(connection, smb),
        server::recognise(connection, smb, server_tcp),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_profile_identifies_a_client() {
        let party = named_client("nt-4-explorer").unwrap();
        assert_eq!(
            (party.sure, party.profile.as_deref()),
            (Sureness::Sure, Some("nt-4-explorer"))
        );
        assert_eq!(named_client("nt-5"), None);
    }
}
