//! A source and a discard port for whoever comes.

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

/// How often a signal is looked for.
const TICK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};

/// What to serve.
#[derive(Clone, Debug)]
pub struct Service {
    /// Where visitors receive from.
    pub source: SocketAddr,
    /// Where visitors send to.
    pub discard: SocketAddr,
    /// What a visitor of the source is given.
    pub limits: Limits,
    /// Maximum concurrent transfers.
    pub visitors: usize,
    /// Whether visitors from public addresses are let in.
    pub allow_public: bool,
}

/// What is told while visitors are served. From several threads.
#[derive(Debug)]
pub enum Visit {
    /// It listens here: source and discard.
    Listening(SocketAddr, SocketAddr),
    /// A visitor has gone: what we did (sent or received) and what was measured.
    Visitor(Role, Box<Measured>),
    /// A visitor was turned away, and why.
    Refused(SocketAddr, &'static str),
    /// A visitor could not be taken.
    Trouble(io::Error),
}

/// Serves until `stop` is set, and then tells what was measured of those who are there.
///
/// # Errors
/// One of the two cannot be listened at.
pub fn serve(
    service: &Service,
    stop: &Stop,
    told: &(dyn Fn(Visit) + Sync),
) -> Result<(), SpeedError> {
    let (source, source_at) = open(service.source)?;
    let (discard, discard_at) = open(service.discard)?;
    told(Visit::Listening(source_at, discard_at));
    let here = AtomicUsize::new(0);
    thread::scope(|scope| {
        let room = Room {
            service,
            stop,
            told,
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
                    told(Visit::Trouble(error.into()));
                    thread::sleep(Duration::from_secs(1));
                }
            }
            room.take(scope, &source, Role::Send);
            room.take(scope, &discard, Role::Receive);
        }
    });
    Ok(())
}

/// A port that visitors may come to, and where it is.
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
    told: &'a (dyn Fn(Visit) + Sync),
    here: &'a AtomicUsize,
}

impl<'a> Room<'a> {
    /// Takes one visitor, if one is there.
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
                (self.told)(Visit::Trouble(error));
                // out of descriptors, most likely: they come back as visitors leave
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
            return (self.told)(Visit::Refused(
                peer,
                "its address is a public one; --allow-public lets it in",
            ));
        }
        if self.here.fetch_add(1, Ordering::Relaxed) >= self.service.visitors {
            self.here.fetch_sub(1, Ordering::Relaxed);
            return (self.told)(Visit::Refused(
                peer,
                "there are too many visitors already; --visitors allows more",
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
            (self.told)(Visit::Visitor(role, Box::new(measured)));
            self.here.fetch_sub(1, Ordering::Relaxed);
        };
        if let Err(error) = thread::Builder::new().spawn_scoped(scope, serve) {
            self.here.fetch_sub(1, Ordering::Relaxed);
            (self.told)(Visit::Trouble(error));
        }
    }
}
