//! The process that takes over.

use std::{
    net::{TcpListener, UdpSocket},
    os::{
        fd::OwnedFd,
        unix::net::{UnixListener, UnixStream},
    },
    path::Path,
    time::Duration,
};

use coax_netbios::Transport;
use nix::unistd::{Uid, geteuid};
use rustix::net::sockopt::socket_peercred;

use super::message::{Message, Purpose, VERSION, receive, send};
use crate::handed::Handed;

/// How long the old process may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A takeover in progress. Dropping it leaves everything to the old process.
#[derive(Debug)]
pub(crate) struct Takeover {
    stream: UnixStream,
    /// The old process's sockets.
    pub(crate) handed: Handed,
    /// The socket for the next takeover.
    pub(crate) control: Option<UnixListener>,
}

impl Takeover {
    /// Asks the server at `path` for its sockets.
    ///
    /// # Errors
    /// No server is there, it runs as another user, it refuses, or it is of another version.
    pub(crate) fn begin(path: &Path) -> Result<Self, String> {
        let at = path.display();
        let stream = UnixStream::connect(path).map_err(|error| {
            format!("cannot take over: no server answers at {at} ({error}); start without --takeover, or check 'coax:takeover socket' of the running server")
        })?;
        let failed =
            |error: std::io::Error| format!("cannot take over from the server at {at}: {error}");
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        let peer = socket_peercred(&stream).map_err(|error| failed(error.into()))?;
        let theirs = Uid::from_raw(peer.uid.as_raw());
        if theirs != geteuid() && !theirs.is_root() {
            return Err(format!(
                "cannot take over: the process that listens at {at} belongs to user {theirs}, this one to user {}; run as the same user",
                geteuid()
            ));
        }
        send(&stream, &Message::Hello { version: VERSION }, &[]).map_err(failed)?;
        let (purposes, sockets) = match receive(&stream).map_err(failed)? {
            Some((Message::Offer { version, sockets }, rights)) if version == VERSION => {
                (sockets, rights)
            }
            Some((Message::Refused { why }, _)) => {
                return Err(format!("the server at {at} keeps its sockets: {why}"));
            }
            _ => {
                return Err(format!(
                    "the server at {at} is of a version that cannot hand over to this one; stop it and start this one"
                ));
            }
        };
        if purposes.len() != sockets.len() {
            return Err(format!(
                "the server at {at} sent {} of {} sockets; it keeps running",
                sockets.len(),
                purposes.len()
            ));
        }
        let mut takeover = Self {
            stream,
            handed: Handed::default(),
            control: None,
        };
        for (purpose, socket) in purposes.into_iter().zip(sockets) {
            takeover.add(purpose, socket);
        }
        Ok(takeover)
    }

    fn add(&mut self, purpose: Purpose, socket: OwnedFd) {
        let handed = &mut self.handed;
        match purpose {
            Purpose::Nbt => handed
                .doors
                .push((Transport::Nbt139, TcpListener::from(socket))),
            Purpose::Direct => handed
                .doors
                .push((Transport::Direct445, TcpListener::from(socket))),
            Purpose::Names => handed.names.push(UdpSocket::from(socket)),
            Purpose::Datagrams => handed.datagrams.push(UdpSocket::from(socket)),
            Purpose::Control => self.control = Some(UnixListener::from(socket)),
        }
    }

    /// Tells the old process that this one can serve, and waits until the old one accepts no more clients.
    ///
    /// # Errors
    /// The old process keeps running.
    pub(crate) fn finish(self) -> Result<(), String> {
        let asked = send(&self.stream, &Message::Ready, &[]);
        match receive(&self.stream) {
            Ok(Some((Message::Yours, _))) => Ok(()),
            // The old process has ended, so nobody else accepts clients.
            Ok(None) => Ok(()),
            Ok(Some((Message::Refused { why }, _))) => {
                Err(format!("the old server keeps running: {why}"))
            }
            Ok(Some(_)) => {
                Err("the old server keeps running: it sent an unexpected message".into())
            }
            Err(error) => {
                let error = asked.err().unwrap_or(error);
                Err(format!(
                    "the old server did not hand over its sockets ({error}); it keeps running"
                ))
            }
        }
    }
}
