//! Serves a source and a discard port.

use std::{
    io,
    net::{SocketAddr, TcpListener, TcpStream},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use coax_speed::Role;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

use super::{Limits, Measured, SpeedError, Stop, carry::carry, connect::listen};
use coax_smbconf::hosts::is_public;

/// Interval at which the stop flag is checked.
const TICK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};

/// Parameters of the service.
#[derive(Clone, Debug)]
pub struct Service {
    /// Address from which clients receive.
    pub source: SocketAddr,
    /// Address to which clients send.
    pub discard: SocketAddr,
    /// Limits of the data that a client of the source port receives.
    pub limits: Limits,
    /// Maximum concurrent transfers.
    pub visitors: usize,
    /// Whether clients from public addresses are accepted.
    pub allow_public: bool,
}

/// Events of the service, sent from several threads.
#[derive(Debug)]
pub enum Visit {
    /// Both ports listen: source and discard.
    Listening(SocketAddr, SocketAddr),
    /// A client has finished: the service's role (sent or received) and the measurement.
    Visitor(Role, Box<Measured>),
    /// A client was refused, and the reason.
    Refused(SocketAddr, &'static str),
    /// Accepting a client failed.
    Trouble(io::Error),
}

/// Serves until `stop` is set, then reports the measurements of the running transfers.
///
/// # Errors
/// Listening at one of the two addresses failed.
pub fn serve(
    service: &Service,
    stop: &Stop,
    on_event: &(dyn Fn(Visit) + Sync),
) -> Result<(), SpeedError> {
    let (source, source_at) = open(service.source)?;
    let (discard, discard_at) = open(service.discard)?;
    on_event(Visit::Listening(source_at, discard_at));
    let here = AtomicUsize::new(0);
    thread::scope(|scope| {
        let room = Room {
            service,
            stop,
            on_event,
            here: &here,
        };
        while !stop.is_set() {
            let mut ready = [
                PollFd::new(&source, PollFlags::IN),
                PollFd::new(&discard, PollFlags::IN),
            ];
            match poll(&mut ready, Some(&TICK)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => {
                    on_event(Visit::Trouble(error.into()));
                    thread::sleep(Duration::from_secs(1));
                }
            }
            room.take(scope, &source, Role::Send);
            room.take(scope, &discard, Role::Receive);
        }
    });
    Ok(())
}

/// Opens a listening socket and returns its address.
fn open(address: SocketAddr) -> Result<(TcpListener, SocketAddr), SpeedError> {
    let listener = listen(address)?;
    let bound = listener
        .set_nonblocking(true)
        .and_then(|()| listener.local_addr())
        .map_err(|error| SpeedError::Listen(address, error))?;
    Ok((listener, bound))
}

#[derive(Clone, Copy)]
struct Room<'a> {
    service: &'a Service,
    stop: &'a Stop,
    on_event: &'a (dyn Fn(Visit) + Sync),
    here: &'a AtomicUsize,
}

impl<'a> Room<'a> {
    /// Accepts one waiting client.
    fn take<'scope>(
        self,
        scope: &'scope thread::Scope<'scope, '_>,
        listener: &TcpListener,
        role: Role,
    ) where
        'a: 'scope,
    {
        match listener.accept() {
            Ok((stream, peer)) => self.seat(scope, stream, peer, role),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => {
                (self.on_event)(Visit::Trouble(error));
                // probably out of file descriptors: they become free when clients leave
                thread::sleep(Duration::from_millis(200));
            }
        }
    }

    fn seat<'scope>(
        self,
        scope: &'scope thread::Scope<'scope, '_>,
        stream: TcpStream,
        peer: SocketAddr,
        role: Role,
    ) where
        'a: 'scope,
    {
        if is_public(peer.ip().to_canonical()) && !self.service.allow_public {
            return (self.on_event)(Visit::Refused(
                peer,
                "its address is public; --allow-public accepts it",
            ));
        }
        if self.here.fetch_add(1, Ordering::Relaxed) >= self.service.visitors {
            self.here.fetch_sub(1, Ordering::Relaxed);
            return (self.on_event)(Visit::Refused(
                peer,
                "too many clients are connected; --visitors allows more",
            ));
        }
        let serve = move || {
            let limits = match role {
                Role::Send => self.service.limits,
                Role::Receive => Limits {
                    bytes: None,
                    time: None,
                    ..self.service.limits
                },
            };
            let measured = carry(stream, role, limits, self.stop, &mut |_| {});
            (self.on_event)(Visit::Visitor(role, Box::new(measured)));
            self.here.fetch_sub(1, Ordering::Relaxed);
        };
        if let Err(error) = thread::Builder::new().spawn_scoped(scope, serve) {
            self.here.fetch_sub(1, Ordering::Relaxed);
            (self.on_event)(Visit::Trouble(error));
        }
    }
}
