//! Clients without TCP/IP: a station's sessions are admitted and served like TCP connections.

use std::{
    net::{IpAddr, Ipv6Addr},
    os::unix::net::UnixStream,
    sync::Arc,
};

use coax_netbios::{Accept, Session, nbf::StationName};
use coax_wire::{
    ether::Mac,
    nbt::name::{NbName, SUFFIX_MESSENGER, SUFFIX_SERVER, SUFFIX_WORKSTATION},
};

use super::{carrier::Carrier, host::Host, link::Link, report::Line, socket::Socket, task};

/// The server's names, for a station.
///
/// # Errors
/// A name is not a valid NetBIOS name.
pub(super) fn names(host: &Host) -> Result<Vec<StationName>, String> {
    let config = &host.server().config;
    let name = |text: &str, suffix| {
        let bytes = config.code_page.encode_lossy(&text.to_uppercase());
        NbName::new(&bytes, suffix).map_err(|error| format!("{text}: {error}"))
    };
    let own = |name, group, listens| StationName {
        name,
        group,
        listens,
    };
    let mut names = vec![
        own(name(&config.name, SUFFIX_SERVER)?, false, true),
        own(name(&config.name, SUFFIX_WORKSTATION)?, false, false),
        own(name(&config.workgroup, SUFFIX_WORKSTATION)?, true, false),
    ];
    if config.messages {
        let users = &host.settings().global.netbios.message_names;
        for user in [&config.name].into_iter().chain(users) {
            let user = own(name(user, SUFFIX_MESSENGER)?, false, true);
            if !names.contains(&user) {
                names.push(user);
            }
        }
    }
    for alias in &config.aliases {
        let alias = own(name(alias, SUFFIX_SERVER)?, false, true);
        if !names.contains(&alias) {
            names.push(alias);
        }
    }
    Ok(names)
}

/// A client of a station.
pub(super) struct Guest {
    /// Its address in reports.
    pub(super) address: String,
    /// Its station.
    pub(super) mac: Mac,
    /// Its session.
    pub(super) stream: UnixStream,
    /// What carries it.
    pub(super) carrier: Carrier,
    /// What it asks for, in a refusal.
    pub(super) what: &'static str,
}

/// Admits a client, as [`super::listen`] does for TCP.
pub(super) fn welcome(
    host: &Arc<Host>,
    guest: Guest,
    number: u64,
) -> Option<impl Future<Output = ()> + Send + use<>> {
    let refused = |why: String, setting: &str| {
        host.reporter.tell(Line::Refused {
            client: None,
            address: guest.address.clone(),
            what: guest.what.into(),
            status: None,
            why,
            setting: Some(setting.into()),
        });
    };
    let seat = match host.admission.admit(place(guest.mac)) {
        Ok(seat) => seat,
        Err(why) => {
            refused(why.to_string(), "max smbd processes");
            return None;
        }
    };
    let socket = match Socket::local(guest.stream) {
        Ok(socket) => socket,
        Err(error) => {
            refused(error.to_string(), "ulimit -n");
            return None;
        }
    };
    let session = Session::server(
        host.clock.now(),
        guest.carrier.transport(),
        Accept::Any,
        host.session(),
    );
    let (carrier, address) = (guest.carrier, guest.address);
    let link = Arc::new(Link::new(host.clone(), socket, carrier, address, number));
    link.list();
    Some(task::attend(link, session, seat))
}

/// Clients are counted by address: a station counts as the link-local IPv6 address that its own address makes
/// (RFC 4291 appendix A).
fn place(mac: Mac) -> IpAddr {
    let [a, b, c, d, e, f] = mac.0;
    let word = |high: u8, low: u8| u16::from_be_bytes([high, low]);
    let (first, second, third, fourth) = (word(a ^ 2, b), word(c, 0xff), word(0xfe, d), word(e, f));
    Ipv6Addr::new(0xfe80, 0, 0, 0, first, second, third, fourth).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_station_counts_as_its_link_local_address() {
        let mac = Mac([0x00, 0x0c, 0x29, 0xd4, 0x79, 0xb2]);
        assert_eq!(place(mac).to_string(), "fe80::20c:29ff:fed4:79b2");
    }
}
