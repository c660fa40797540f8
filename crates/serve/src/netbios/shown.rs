//! The names of a network as `coax status` shows them.

use coax_netbios::{NameService, Network, Role};

use super::browsing::Browsing;
use crate::status::{NameStatus, NetworkStatus};

/// What is known of one network.
pub(super) fn network(
    service: &NameService,
    browsing: Option<&Browsing>,
    network: Network,
) -> NetworkStatus {
    let names = service.names().map(|(name, registered)| NameStatus {
        name: name.to_string(),
        registered,
    });
    NetworkStatus {
        address: network.address.to_string(),
        names: names.collect(),
        role: browsing.map(|browsing| role(browsing.role()).into()),
        master: browsing.and_then(Browsing::master),
    }
}

pub(in super::super) fn role(role: Role) -> &'static str {
    match role {
        Role::Master => "master",
        Role::Backup => "backup",
        Role::Potential => "potential",
        Role::Server => "server",
    }
}
