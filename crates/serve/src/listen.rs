//! Binding ports and accepting clients.

use std::{
    io::ErrorKind,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, anyhow};
use coax_netbios::{Accept, Session, Transport};
use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::timeout,
};

use super::{
    carrier::Carrier,
    holder,
    host::Host,
    link::Link,
    pacing::{self, Pacing},
    refuse,
    report::Line,
    socket, task,
};
use coax_smbconf::settings::{Listener, SocketOption};

/// Length of the accept queue.
const BACKLOG: i32 = 1024;
/// Interval between unanswered keep-alive probes.
const PROBE_INTERVAL: Duration = Duration::from_secs(15);
/// Unanswered keep-alive probes after which the connection is closed.
const PROBES: u32 = 4;
/// Wait time when the process has no free descriptor for another client.
const OUT_OF_FILES: Duration = Duration::from_millis(200);

/// A listening port.
#[derive(Debug)]
pub(super) struct Door {
    listener: std::net::TcpListener,
    transport: Transport,
    /// Clients begin with a small window, or windows are not to be limited.
    limits_windows: bool,
}

impl Door {
    /// Its local address.
    pub(super) fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Whether the system can limit windows, if it is to.
    pub(super) fn limits_windows(&self) -> bool {
        self.limits_windows
    }

    /// Its socket and protocol.
    pub(super) fn socket(&self) -> (Transport, &std::net::TcpListener) {
        (self.transport, &self.listener)
    }

    /// Whether it is for NetBIOS sessions.
    pub(super) fn is_nbt(&self) -> bool {
        self.transport == Transport::Nbt139
    }
}

/// Listens at `wanted`, or at its fallback port if this process may not bind the first. A port that another program
/// holds is an error: clients would reach that program instead of this server.
///
/// # Errors
/// The address, the reason and the remedy.
pub(super) fn open(
    wanted: Listener,
    transport: Transport,
    options: &[SocketOption],
    paced: bool,
) -> Result<Door> {
    let explain = |address, error: &_| explain((address, transport), error);
    let (listener, limits_windows) =
        match (bind(wanted.address, options, paced), wanted.fallback_port) {
            (Ok(listener), _) => listener,
            (Err(error), Some(port)) if error.kind() == ErrorKind::PermissionDenied => {
                let other = SocketAddr::new(wanted.address.ip(), port);
                bind(other, options, paced).map_err(|second| {
                    explain(other, &second).context(explain(wanted.address, &error))
                })?
            }
            (Err(error), _) => return Err(explain(wanted.address, &error)),
        };
    Ok(Door {
        listener: listener.into(),
        transport,
        limits_windows,
    })
}

/// Listens on a socket that another process has opened.
///
/// # Errors
/// The socket is broken.
pub(super) fn adopt(
    listener: std::net::TcpListener,
    transport: Transport,
    options: &[SocketOption],
    paced: bool,
) -> Result<Door> {
    listener
        .set_nonblocking(true)
        .context("cannot use a listening socket of another process")?;
    let socket = Socket::from(listener);
    for option in options {
        // As for sockets of our own.
        let _ = socket::apply(&SockRef::from(&socket), *option);
    }
    let limits_windows = !paced || pacing::start_small(&socket, options);
    Ok(Door {
        listener: socket.into(),
        transport,
        limits_windows,
    })
}

fn bind(
    address: SocketAddr,
    options: &[SocketOption],
    paced: bool,
) -> std::io::Result<(Socket, bool)> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    // A restarted server must not wait for connections in TIME-WAIT.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    for option in options {
        // Accepted sockets inherit the options; an option that the system refuses keeps its value.
        let _ = socket::apply(&SockRef::from(&socket), *option);
    }
    let limits_windows = !paced || pacing::start_small(&socket, options);
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok((socket, limits_windows))
}

fn explain((address, transport): (SocketAddr, Transport), error: &std::io::Error) -> anyhow::Error {
    let flag = match transport {
        Transport::Nbt139 => "--nbt",
        Transport::Direct445 => "--direct",
    };
    match error.kind() {
        ErrorKind::AddrInUse => {
            let holder = holder::of(address, holder::Kind::Tcp);
            let holder = holder.unwrap_or_else(|| "another program".into());
            anyhow!(
                "cannot listen at {address}: {holder} holds this port; stop it, or choose another address or port with {flag}"
            )
        }
        ErrorKind::PermissionDenied => anyhow!(
            "cannot listen at {address}: ports below 1024 need a permission; give it with 'setcap cap_net_bind_service=+ep' \
             on coax, or choose another port with {flag}"
        ),
        ErrorKind::AddrNotAvailable => {
            anyhow!("cannot listen at {address}: this machine has no such address")
        }
        _ => anyhow!("cannot listen at {address}: {error}"),
    }
}

/// Accepts clients until the server stops. `alive` is held by every client's task.
pub(super) async fn accept(
    host: Arc<Host>,
    door: Door,
    numbers: Arc<AtomicU64>,
    alive: mpsc::Sender<()>,
) {
    let mut said = false;
    let transport = door.transport;
    let listener = match TcpListener::from_std(door.listener) {
        Ok(listener) => listener,
        Err(error) => {
            return host
                .reporter
                .notice(format!("no clients can connect: {error}"));
        }
    };
    let mut spare = spare_descriptor();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = host.drained() => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                said = false;
                let number = || numbers.fetch_add(1, Ordering::Relaxed).saturating_add(1);
                if let Err(error) = welcome(&host, stream, peer, transport, (&number, &alive)) {
                    host.reporter.notice(format!("{peer}: {error:#}"));
                }
            }
            Err(error) if is_the_peers(&error) => {}
            Err(error) => {
                if !std::mem::replace(&mut said, true) {
                    host.reporter
                        .notice(format!("cannot accept clients at the moment: {error}"));
                }
                // Accepts and closes the waiting client so that it does not wait in vain.
                drop(spare.take());
                let accepted = timeout(OUT_OF_FILES, listener.accept()).await;
                if let Ok(Ok((stream, peer))) = accepted {
                    refused(
                        &host,
                        peer,
                        "the server has no descriptor left",
                        "ulimit -n",
                    );
                    drop(stream);
                }
                spare = spare_descriptor();
            }
        }
    }
}

/// A spare descriptor. The server frees it when no other is left, to accept and close the next client.
fn spare_descriptor() -> Option<std::fs::File> {
    std::fs::File::open("/dev/null").ok()
}

/// Whether accept failed because the client disconnected.
fn is_the_peers(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::Interrupted
    )
}

fn welcome(
    host: &Arc<Host>,
    stream: TcpStream,
    peer: SocketAddr,
    transport: Transport,
    (number, alive): (&dyn Fn() -> u64, &mpsc::Sender<()>),
) -> Result<()> {
    let service = host.service();
    let global = &service.settings.global;
    if let Err(why) = global.hosts.check_server(peer.ip()) {
        let setting = format!("hosts allow = {}", peer.ip().to_canonical());
        refused(host, peer, &why.to_string(), &setting);
        return Ok(());
    }
    let seat = match host.admission.admit(peer.ip().to_canonical()) {
        Ok(seat) => seat,
        Err(why) => {
            refused(host, peer, &why.to_string(), "max smbd processes");
            turn_away(host, stream, transport);
            return Ok(());
        }
    };
    let stream = stream.into_std()?;
    keep_alive(host, &stream).context("cannot set up its connection")?;
    let options = &global.socket_options;
    let mut socket =
        socket::Socket::new(stream, options).context("cannot set up its connection")?;
    let now = host.clock.now();
    let shared = (&host.clock, &host.limits);
    socket.pace(Pacing::begin(
        global,
        shared,
        &socket,
        peer.ip().to_canonical(),
    ));
    let session = Session::server(now, transport, Accept::Any, service.session);
    let link = Arc::new(Link::new(
        host.clone(),
        socket,
        Carrier::Tcp(transport),
        peer.to_string(),
        number(),
    ));
    link.list();
    let alive = alive.clone();
    tokio::spawn(async move {
        task::attend(link, session, seat).await;
        drop(alive);
    });
    Ok(())
}

/// Reports that a client was refused.
fn refused(host: &Host, peer: SocketAddr, why: &str, setting: &str) {
    host.reporter.tell(Line::Refused {
        client: None,
        address: peer.to_string(),
        what: "a connection".into(),
        status: None,
        why: why.into(),
        setting: Some(setting.into()),
    });
}

/// Sends a client a refusal, unless too many refusals are in progress.
fn turn_away(host: &Arc<Host>, stream: TcpStream, transport: Transport) {
    if let Ok(place) = host.refusals.clone().try_acquire_owned() {
        tokio::spawn(async move {
            refuse::turn_away(stream, transport).await;
            drop(place);
        });
    }
}

/// Makes the system detect dead clients: by keep-alive probes when no data is in flight, otherwise by unacknowledged
/// data. TCP alone would retransmit that data for a quarter of an hour.
fn keep_alive(host: &Host, stream: &std::net::TcpStream) -> std::io::Result<()> {
    let seconds = match host.settings().global.keepalive_seconds {
        0 => return Ok(()),
        seconds => Duration::from_secs(u64::from(seconds)),
    };
    let probes = TcpKeepalive::new()
        .with_time(seconds)
        .with_interval(PROBE_INTERVAL)
        .with_retries(PROBES);
    let socket = SockRef::from(stream);
    socket.set_tcp_keepalive(&probes)?;
    let last = seconds.saturating_add(PROBE_INTERVAL.saturating_mul(PROBES));
    socket.set_tcp_user_timeout(Some(last))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_port_that_another_program_holds_is_an_error_without_a_fallback() {
        let held = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let fallback_port = Some(free.local_addr().unwrap().port());
        drop(free);
        let wanted = Listener {
            address: held.local_addr().unwrap(),
            fallback_port,
        };
        let error = open(wanted, Transport::Nbt139, &[], true)
            .unwrap_err()
            .to_string();
        let us = format!("(process {}) holds this port", std::process::id());
        assert!(error.contains(&us) && !error.contains("setcap"), "{error}");
        // the option is that of the transport, whatever the port
        assert!(error.contains("--nbt"), "{error}");
    }

    #[test]
    fn a_port_that_is_free_again_is_taken_and_not_the_fallback() {
        let is_taken = |_| {
            let held = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let wanted = Listener {
                address: held.local_addr().unwrap(),
                fallback_port: Some(0),
            };
            drop(held);
            let door = open(wanted, Transport::Nbt139, &[], true);
            door.is_ok_and(|door| door.address().unwrap() == wanted.address)
        };
        // another program may take a port before this does
        assert!((0..20).any(is_taken));
    }
}
