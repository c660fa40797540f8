//! Binding ports and accepting clients.

use std::{
    io::ErrorKind,
    net::{SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, anyhow};
use coax_netbios::{Accept, Session, Transport};
use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};
use tokio::{net::TcpListener, sync::mpsc};

use super::{
    host::{Host, Seat},
    link::Link,
    report::Line,
    socket, task,
};
use crate::config::settings::{Listener, SocketOption};

/// Connections that the system holds for us until we accept them.
const BACKLOG: i32 = 1024;
/// How long to wait when the system has no descriptor for another client.
const OUT_OF_FILES: Duration = Duration::from_millis(200);

/// A port that is listened at.
#[derive(Debug)]
pub(super) struct Door {
    listener: TcpListener,
    transport: Transport,
}

impl Door {
    /// Where it is.
    pub(super) fn address(&self) -> Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }

    /// Whether it is for NetBIOS sessions.
    pub(super) fn is_nbt(&self) -> bool {
        self.transport == Transport::Nbt139
    }
}

/// Listens at `wanted`, or at its fallback port. Must be called within the runtime.
///
/// # Errors
/// Says which address, why not, and what to do.
pub(super) fn open(
    wanted: Listener,
    transport: Transport,
    options: &[SocketOption],
) -> Result<Door> {
    let listener = match (bind(wanted.address, options), wanted.fallback_port) {
        (Ok(listener), _) => listener,
        (Err(error), None) => return Err(explain(wanted.address, &error)),
        (Err(error), Some(port)) => {
            let other = SocketAddr::new(wanted.address.ip(), port);
            bind(other, options).map_err(|second| {
                explain(other, &second).context(explain(wanted.address, &error))
            })?
        }
    };
    Ok(Door {
        listener: TcpListener::from_std(listener.into())?,
        transport,
    })
}

fn bind(address: SocketAddr, options: &[SocketOption]) -> std::io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    // A restarted server must not wait until the connections of the last one are forgotten.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    for option in options {
        // What clients' sockets inherit; an option that the system refuses is left as it was.
        let _ = socket::apply(&SockRef::from(&socket), *option);
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}

fn explain(address: SocketAddr, error: &std::io::Error) -> anyhow::Error {
    let flag = if address.port() % 1000 == 139 {
        "--nbt"
    } else {
        "--direct"
    };
    match error.kind() {
        ErrorKind::AddrInUse => anyhow!(
            "cannot listen at {address}: another program does (Samba, perhaps); stop it, or choose another address or port \
             with {flag}"
        ),
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
    loop {
        let accepted = tokio::select! {
            accepted = door.listener.accept() => accepted,
            () = host.stopped() => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                said = false;
                let number = numbers.fetch_add(1, Ordering::Relaxed).saturating_add(1);
                if let Err(error) = stream.into_std().map_err(Into::into).and_then(|stream| {
                    welcome(&host, stream, peer, door.transport, number, alive.clone())
                }) {
                    host.reporter.notice(format!("{peer}: {error:#}"));
                }
            }
            Err(error) if is_the_peers(&error) => {}
            Err(error) => {
                if !std::mem::replace(&mut said, true) {
                    host.reporter
                        .notice(format!("cannot accept clients at the moment: {error}"));
                }
                tokio::time::sleep(OUT_OF_FILES).await;
            }
        }
    }
}

/// Whether accepting failed because that one client went away.
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
    number: u64,
    alive: mpsc::Sender<()>,
) -> Result<()> {
    let Some(seat) = admitted(host, peer) else {
        return Ok(());
    };
    keep_alive(host, &stream).context("cannot set up its connection")?;
    let socket = socket::Socket::new(stream, &host.settings.global.socket_options)
        .context("cannot set up its connection")?;
    let now = host.clock.now();
    let session = Session::server(now, transport, Accept::Any, host.session);
    let link = Arc::new(Link::new(
        host.clone(),
        socket,
        transport,
        peer.to_string(),
        number,
    ));
    tokio::spawn(async move {
        task::attend(link, session, seat).await;
        drop(alive);
    });
    Ok(())
}

/// Whether this client may connect; if not, that is told.
fn admitted(host: &Arc<Host>, peer: SocketAddr) -> Option<Seat> {
    let refuse = |why: String, setting: String| {
        host.reporter.tell(Line::Refused {
            client: None,
            address: peer.to_string(),
            what: "a connection".into(),
            status: None,
            why,
            setting: Some(setting),
        });
    };
    if let Err(why) = host.settings.global.hosts.check_server(peer.ip()) {
        refuse(
            why.to_string(),
            format!("hosts allow = {}", peer.ip().to_canonical()),
        );
        return None;
    }
    let seat = host.admit();
    if seat.is_none() {
        refuse(
            "as many clients are connected as may be".into(),
            "max smbd processes".into(),
        );
    }
    seat
}

/// Has the system notice clients that are gone without a word, within a few minutes.
fn keep_alive(host: &Host, stream: &TcpStream) -> std::io::Result<()> {
    let seconds = match host.settings.global.keepalive_seconds {
        0 => return Ok(()),
        seconds => Duration::from_secs(u64::from(seconds)),
    };
    let probes = TcpKeepalive::new()
        .with_time(seconds)
        .with_interval(Duration::from_secs(15))
        .with_retries(4);
    SockRef::from(stream).set_tcp_keepalive(&probes)
}
