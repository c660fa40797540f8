//! Clients without TCP/IP: a NetBIOS station on each interface, whose sessions are served like TCP connections.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use coax_ethernet::{Notice, Port, Station};
use coax_netbios::nbf::{Nbf, NbfConfig, NbfEvent};
use tokio::{runtime::Handle, sync::mpsc};

use super::{
    carrier::Carrier,
    guest::{Guest, names, welcome},
    host::Host,
};

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
    let begin = move |now| Nbf::new(now, config);
    let (host, runtime) = (host.clone(), Handle::current());
    // The server waits for its clients, not for its stations.
    let alive = alive.downgrade();
    let notify = move |notice| match notice {
        Notice::Incoming(incoming) => {
            let Some(alive) = alive.upgrade() else { return };
            let number = numbers.fetch_add(1, Ordering::Relaxed).saturating_add(1);
            let guest = Guest {
                address: format!("{}%{interface}", incoming.peer),
                mac: incoming.peer,
                stream: incoming.stream,
                carrier: Carrier::Netbeui,
                what: "a NetBEUI session",
            };
            if let Some(serving) = welcome(&host, guest, number) {
                runtime.spawn(async move {
                    serving.await;
                    drop(alive);
                });
            }
        }
        Notice::Event(event) => tell(&host, &interface, &event),
    };
    Station::start(port, begin, notify).map_err(|error| error.to_string())
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
