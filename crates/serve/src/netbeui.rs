//! Clients without TCP/IP: a NetBIOS station on each interface, whose sessions are served like TCP connections.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use coax_ethernet::{NbfStation, Notice, Port, Station};
use coax_netbios::{
    StationEvent,
    nbf::{NbfConfig, NbfEvent},
};
use tokio::{runtime::Handle, sync::mpsc};

use super::{
    carrier::Carrier,
    guest::{Guest, names, welcome},
    host::Host,
    netbios::is_browsers,
    stations::{StationBrowsing, name_taken},
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
    let names = names(host)?;
    let browsing = StationBrowsing::new(host, format!("{interface} (NetBEUI)"), &names);
    let mut config = NbfConfig::new(port.interface().mac(), names);
    config.max_message = host.session().max_message;
    let (browser, mut teller) = match browsing {
        Some(browsing) => {
            config.hears = browsing.hears;
            (Some(browsing.config), Some(browsing.teller))
        }
        None => (None, None),
    };
    let begin = move |now| NbfStation::new(now, config, browser);
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

fn tell(host: &Host, interface: &str, event: &NbfEvent) {
    let at = format!("{interface} (NetBEUI)");
    let text = match event {
        // The browser has events of its own for its names.
        NbfEvent::NameRefused { name, .. } | NbfEvent::NameConflict { name, .. }
            if is_browsers(name) =>
        {
            return;
        }
        NbfEvent::NameRefused { name, by } => name_taken(&at, &name.to_string(), &by.to_string()),
        NbfEvent::NameConflict { name, by } => format!(
            "{at}: {by} says that two stations use the name {name}; coax gives it up here for a minute. Open sessions go on"
        ),
        NbfEvent::NameDefended { name, claimant } => {
            let text = format!("{at}: {claimant} claimed our name {name} and was refused");
            return host.reporter.notice_repeated(text);
        }
        _ => return,
    };
    host.reporter.notice(text);
}
