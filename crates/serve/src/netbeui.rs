//! Clients without TCP/IP: a NetBIOS station on each interface, whose sessions are served like TCP connections.

use std::{
    net::{IpAddr, Ipv6Addr},
    os::unix::net::UnixStream,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use coax_ethernet::{Incoming, Notice, Port, Station};
use coax_netbios::{
    Accept, Session,
    nbf::{NbfConfig, NbfEvent, StationName},
};
use coax_wire::{
    ether::Mac,
    nbt::name::{NbName, SUFFIX_MESSENGER, SUFFIX_SERVER, SUFFIX_WORKSTATION},
};
use tokio::{runtime::Handle, sync::mpsc};

use super::{carrier::Carrier, host::Host, link::Link, report::Line, socket::Socket, task};

/// Registers the server's names on an interface and serves the sessions that stations open. Must be called within the
/// runtime.
///
/// # Errors
/// A name is not a valid NetBIOS name, or the system gives no thread.
pub(super) fn start(
    host: &Arc<Host>,
    port: Port,
    numbers: Arc<AtomicU64>,
    alive: &mpsc::Sender<()>,
) -> Result<Station, String> {
    let interface = port.interface().name().to_owned();
    let mut config = NbfConfig::new(port.interface().mac(), names(host)?);
    config.max_message = host.session().max_message;
    let (host, runtime) = (host.clone(), Handle::current());
    // The server waits for its clients, not for its stations.
    let alive = alive.downgrade();
    let notify = move |notice| match notice {
        Notice::Incoming(incoming) => {
            let Some(alive) = alive.upgrade() else { return };
            let number = numbers.fetch_add(1, Ordering::Relaxed).saturating_add(1);
            if let Some(serving) = welcome(&host, &interface, incoming, number) {
                runtime.spawn(async move {
                    serving.await;
                    drop(alive);
                });
            }
        }
        Notice::Event(event) => tell(&host, &interface, &event),
    };
    Station::start(port, config, notify).map_err(|error| error.to_string())
}

fn names(host: &Host) -> Result<Vec<StationName>, String> {
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

/// Admits a client, as [`super::listen`] does for TCP.
fn welcome(
    host: &Arc<Host>,
    interface: &str,
    incoming: Incoming,
    number: u64,
) -> Option<impl Future<Output = ()> + Send + use<>> {
    let address = format!("{}%{interface}", incoming.peer);
    let refused = |why: String, setting: &str| {
        host.reporter.tell(Line::Refused {
            client: None,
            address: address.clone(),
            what: "a NetBEUI session".into(),
            status: None,
            why,
            setting: Some(setting.into()),
        });
    };
    let seat = match host.admission.admit(place(incoming.peer)) {
        Ok(seat) => seat,
        Err(why) => {
            refused(why.to_string(), "max smbd processes");
            return None;
        }
    };
    let socket = match local(incoming.stream) {
        Ok(socket) => socket,
        Err(error) => {
            refused(error.to_string(), "ulimit -n");
            return None;
        }
    };
    let carrier = Carrier::Netbeui;
    let session = Session::server(
        host.clock.now(),
        carrier.transport(),
        Accept::Any,
        host.session(),
    );
    let link = Arc::new(Link::new(host.clone(), socket, carrier, address, number));
    link.list();
    Some(task::attend(link, session, seat))
}

fn local(stream: UnixStream) -> std::io::Result<Socket> {
    Socket::local(stream)
}

/// Clients are counted by address: a station counts as the link-local IPv6 address that its own address makes
/// (RFC 4291 appendix A).
fn place(mac: Mac) -> IpAddr {
    let [a, b, c, d, e, f] = mac.0;
    let word = |high: u8, low: u8| u16::from_be_bytes([high, low]);
    let (first, second, third, fourth) = (word(a ^ 2, b), word(c, 0xff), word(0xfe, d), word(e, f));
    Ipv6Addr::new(0xfe80, 0, 0, 0, first, second, third, fourth).into()
}

fn tell(host: &Host, interface: &str, event: &NbfEvent) {
    let text = match event {
        NbfEvent::NameRefused { name, by } => format!(
            "{interface}: the name {name} belongs to {by}; choose another with --name. coax tries again in a minute"
        ),
        NbfEvent::NameConflict { name, by } => format!(
            "{interface}: {by} says that the name {name} is used twice; coax gives it up for a minute"
        ),
        NbfEvent::NameDefended { name, claimant } => {
            format!("{interface}: {claimant} claimed our name {name} and was refused")
        }
        _ => return,
    };
    host.reporter.notice(text);
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
