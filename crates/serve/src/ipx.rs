//! Clients on IPX networks: a station on each interface, whose sessions are served like TCP connections.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use coax_ethernet::{IpxStation, Notice, Port, Protocol, Station};
use coax_netbios::{
    StationEvent,
    ipx::{Carriage, IpxConfig, IpxEvent},
    nbf::StationName,
};
use coax_server::config::Signing;
use coax_wire::ipx::{Host as IpxHost, Network};
use tokio::{runtime::Handle, sync::mpsc};

use super::{
    carrier::Carrier,
    guest::{Guest, names, welcome},
    host::Host,
    netbios::is_browsers,
    random,
    stations::{StationBrowsing, name_taken},
};

/// An interface's sockets, and the number of its network if it is configured.
#[derive(Debug)]
pub(super) struct IpxPort {
    pub(super) port: Port,
    pub(super) network: Option<Network>,
}

/// Registers the server's names on an interface and serves the sessions that stations open. Must be called within the
/// runtime.
///
/// # Errors
/// A name is not a valid NetBIOS name, or the system gives no thread.
pub(super) fn start(
    host: &Arc<Host>,
    port: IpxPort,
    numbers: Arc<AtomicU64>,
    alive: &mpsc::Sender<()>,
) -> Result<Station, String> {
    let IpxPort { port, network } = port;
    let interface = port.interface().name().to_owned();
    let names = names(host)?;
    let browsing = StationBrowsing::new(host, format!("{interface} (IPX)"), &names);
    let mut config = config(host, &port, network, names);
    if !config.accepts.contains(&Carriage::Direct) {
        host.reporter.notice(format!(
            "{interface}: no direct hosting over IPX, because it cannot sign and 'server signing = mandatory'; clients need NetBIOS over IPX"
        ));
    }
    let limits = [Carriage::NetBios, Carriage::Direct].map(|carriage| config.max_message(carriage));
    let (browser, mut teller) = match browsing {
        Some(browsing) => {
            config.hears = browsing.hears;
            (Some(browsing.config), Some(browsing.teller))
        }
        None => (None, None),
    };
    let begin = move |now| IpxStation::new(now, config, None, browser);
    let (host, runtime) = (host.clone(), Handle::current());
    // The server waits for its clients, not for its stations.
    let alive = alive.downgrade();
    let notify = move |notice: Notice<(Carriage, IpxHost), StationEvent<IpxEvent>>| match notice {
        Notice::Incoming(incoming) => {
            let Some(alive) = alive.upgrade() else { return };
            let number = numbers.fetch_add(1, Ordering::Relaxed).saturating_add(1);
            let (carriage, peer) = incoming.peer;
            let [netbios, direct] = limits;
            let guest = Guest {
                address: format!("{peer}%{interface}"),
                mac: peer.node,
                stream: incoming.stream,
                carrier: match carriage {
                    Carriage::NetBios => Carrier::Nbipx(netbios),
                    Carriage::Direct => Carrier::DirectIpx(direct),
                },
                what: "an IPX session",
            };
            if let Some(serving) = welcome(&host, guest, number) {
                runtime.spawn(async move {
                    serving.await;
                    drop(alive);
                });
            }
        }
        Notice::Event(StationEvent::Station(event)) => tell(&host, &interface, &event),
        Notice::Event(StationEvent::Browser(news)) => {
            if let Some(teller) = &mut teller {
                teller.tell(news);
            }
        }
        Notice::Event(StationEvent::Names(names)) => {
            if let Some(teller) = &mut teller {
                teller.tell_names(&names);
            }
        }
    };
    Station::start(port, begin, notify).map_err(|error| error.to_string())
}

fn config(
    host: &Host,
    port: &Port,
    network: Option<Network>,
    names: Vec<StationName>,
) -> IpxConfig {
    let server = host.server();
    let mut config = IpxConfig::new(port.interface().mac(), names);
    config.frame = match port.protocol() {
        Protocol::Ipx(frame) => frame,
        Protocol::Netbeui => None,
    };
    config.network = network;
    let limit = host.session().max_message;
    config.circuit.max_message = config.circuit.max_message.min(limit);
    config.advertised = Some(server.config.code_page.encode_lossy(&server.config.name));
    // Numbers of an earlier run are not taken for ours.
    let seed = random::random().map(u16::from_le_bytes);
    config.first_number = seed.unwrap_or(1);
    if server.config.signing == Signing::Required {
        config
            .accepts
            .retain(|carriage| *carriage == Carriage::NetBios);
    }
    config
}

fn tell(host: &Host, interface: &str, event: &IpxEvent) {
    let text = match event {
        // The browser has events of its own for its names.
        IpxEvent::NameRefused { name, .. } if is_browsers(name) => return,
        IpxEvent::NameRefused { name, by } => {
            let at = format!("{interface} (IPX)");
            name_taken(&at, &name.to_string(), &by.to_string())
        }
        IpxEvent::NameDefended { name, claimant } => {
            let text =
                format!("{interface} (IPX): {claimant} claimed our name {name} and was refused");
            return host.reporter.notice_repeated(text);
        }
        IpxEvent::NetworkLearned { network, from } => {
            format!("{interface} (IPX): this is network {network}, says {from}")
        }
        _ => return,
    };
    host.reporter.notice(text);
}
