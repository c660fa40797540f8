//! The node type, scope and WINS servers that the settings describe.

use std::net::Ipv4Addr;

use coax_netbios::{Network, NodeType};
use coax_smbconf::settings::{NetbiosSettings, NodeTypeSetting};
use coax_wire::nbt::name::Scope;

/// Receive buffer size. RFC 1002 section 4.2 limits datagrams of the name service to 576 bytes.
pub(super) const DATAGRAM: usize = 1500;

pub(super) fn scope(netbios: &NetbiosSettings) -> Result<Scope, String> {
    Scope::new(&netbios.scope).map_err(|error| format!("'netbios scope': {error}"))
}

/// The WINS servers that a node uses: with `wins support` this machine.
pub(super) fn wins_servers(netbios: &NetbiosSettings, network: Network) -> Vec<Ipv4Addr> {
    match netbios.wins_support {
        true => vec![network.address],
        false => netbios.wins_servers.clone(),
    }
}

/// `coax:node type`; by default M with a WINS server, as nmbd, else B.
pub(super) fn node_type(netbios: &NetbiosSettings) -> NodeType {
    let has_wins = netbios.wins_support || !netbios.wins_servers.is_empty();
    match netbios.node {
        Some(_) if !has_wins => NodeType::Broadcast,
        Some(NodeTypeSetting::B) => NodeType::Broadcast,
        Some(NodeTypeSetting::P) => NodeType::PointToPoint,
        Some(NodeTypeSetting::M) => NodeType::Mixed,
        Some(NodeTypeSetting::H) => NodeType::Hybrid,
        None if has_wins => NodeType::Mixed,
        None => NodeType::Broadcast,
    }
}
