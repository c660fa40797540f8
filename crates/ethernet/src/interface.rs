//! Ethernet interfaces of this machine.

use coax_wire::ether::Mac;
use nix::{
    ifaddrs::getifaddrs,
    net::if_::InterfaceFlags,
    sys::socket::{LinkAddr, SockaddrLike},
};

/// The type of Ethernet interfaces (ARPHRD_ETHER).
const ETHERNET: u16 = 1;

/// An Ethernet interface.
#[derive(Clone, Debug)]
pub struct Interface {
    name: String,
    mac: Mac,
    is_up: bool,
    /// Its address for packet sockets: index, and no protocol.
    pub(crate) link: LinkAddr,
}

/// Why an interface cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InterfaceError {
    /// There is none of this name.
    #[error(
        "there is no Ethernet interface {wanted}; there are: {}; 'ip link' lists all",
        or_none(known)
    )]
    Unknown {
        /// The name.
        wanted: String,
        /// The Ethernet interfaces that there are.
        known: Vec<String>,
    },
    /// It is switched off.
    #[error("the interface {0} is down; switch it on with 'ip link set {0} up'")]
    Down(String),
    /// No name was given, and there is not exactly one interface.
    #[error(
        "name the interface, as in nbf://SERVER:eth0/SHARE or ipx://SERVER:eth0/SHARE; Ethernet interfaces that are up: {}",
        or_none(.0)
    )]
    Ambiguous(Vec<String>),
    /// The system does not list them.
    #[error("the system does not list its interfaces: {0}")]
    System(String),
}

impl Interface {
    /// The interface of this name.
    ///
    /// # Errors
    /// When there is none, or when it is down.
    pub fn find(name: &str) -> Result<Self, InterfaceError> {
        let all = ethernet_interfaces()?;
        let known = all.iter().map(|interface| interface.name.clone()).collect();
        let found = all.into_iter().find(|interface| interface.name == name);
        let interface = found.ok_or_else(|| InterfaceError::Unknown {
            wanted: name.into(),
            known,
        })?;
        match interface.is_up {
            true => Ok(interface),
            false => Err(InterfaceError::Down(interface.name)),
        }
    }

    /// The only interface that is up.
    ///
    /// # Errors
    /// When there is none or more than one.
    pub fn only() -> Result<Self, InterfaceError> {
        let mut up = ethernet_interfaces()?;
        up.retain(|interface| interface.is_up);
        let names = up.iter().map(|interface| interface.name.clone()).collect();
        match (up.pop(), up.is_empty()) {
            (Some(interface), true) => Ok(interface),
            _ => Err(InterfaceError::Ambiguous(names)),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its address.
    pub fn mac(&self) -> Mac {
        self.mac
    }

    /// Its number.
    pub fn index(&self) -> usize {
        self.link.ifindex()
    }
}

/// Every Ethernet interface of this machine, the loopback interface not among them.
///
/// # Errors
/// The system does not list them.
pub fn ethernet_interfaces() -> Result<Vec<Interface>, InterfaceError> {
    let all = getifaddrs().map_err(|error| InterfaceError::System(error.to_string()))?;
    let mut found: Vec<Interface> = Vec::new();
    for entry in all {
        let Some(link) = entry
            .address
            .as_ref()
            .and_then(|a| a.as_link_addr().copied())
        else {
            continue;
        };
        let Some(mac) = link
            .addr()
            .filter(|_| link.hatype() == ETHERNET && link.len() > 0)
        else {
            continue;
        };
        found.push(Interface {
            name: entry.interface_name,
            mac: Mac(mac),
            is_up: entry.flags.contains(InterfaceFlags::IFF_UP),
            link,
        });
    }
    Ok(found)
}

fn or_none(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        names => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_interface_is_reported_with_those_that_there_are() {
        let error = Interface::find("none-such0").map(drop);
        let text = error.map_err(|e| e.to_string()).err().unwrap_or_default();
        assert!(
            text.starts_with("there is no Ethernet interface none-such0; there are: "),
            "{text}"
        );
        assert!(Interface::find("lo").is_err(), "loopback is no Ethernet");
    }
}
