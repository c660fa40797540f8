//! How a connection comes about: we connect, or wait for one visitor.

use std::{
    io,
    net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs},
    time::Duration,
};

use socket2::{Domain, Protocol, Socket, Type};
use thiserror::Error;

/// How long to try each address of a target; SPDTEST tries as long.
const CONNECT: Duration = Duration::from_secs(10);
/// Addresses of one name that are tried.
const ADDRESSES: usize = 4;

/// Who connects to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// We connect to `HOST:PORT`, from a port of ours if one is named.
    Target(String, Option<u16>),
    /// We listen there for one visitor; port 0 picks one.
    Listen(SocketAddr),
}

/// Why no connection came about.
#[derive(Debug, Error)]
pub enum SpeedError {
    /// The target's name leads nowhere.
    #[error("cannot find {0}: {1}")]
    Unknown(String, io::Error),
    /// The target does not answer, or refuses.
    #[error("cannot connect to {0}: {1}")]
    Connect(String, io::Error),
    /// Nobody can be awaited there.
    #[error("cannot listen at {0}: {1}")]
    Listen(SocketAddr, io::Error),
    /// Waiting for a visitor failed.
    #[error("cannot take a visitor: {0}")]
    Accept(io::Error),
}

impl SpeedError {
    /// The system's error.
    pub const fn kind(&self) -> &io::Error {
        match self {
            Self::Unknown(_, error) | Self::Connect(_, error) => error,
            Self::Listen(_, error) | Self::Accept(error) => error,
        }
    }
}

/// Makes the connection; `listening` hears where we wait, if we do.
///
/// # Errors
/// There is none.
pub fn open(way: &Way, listening: &mut dyn FnMut(SocketAddr)) -> Result<TcpStream, SpeedError> {
    match way {
        Way::Target(target, from) => connect(target, *from),
        Way::Listen(address) => {
            let listener = listen(*address)?;
            let bound = listener
                .local_addr()
                .map_err(|e| SpeedError::Listen(*address, e))?;
            listening(bound);
            // the listener closes with the first visitor, as SPDTEST's and netcat's do
            listener
                .accept()
                .map(|(stream, _)| stream)
                .map_err(SpeedError::Accept)
        }
    }
}

/// Connects to `HOST:PORT`.
///
/// # Errors
/// The name is not known, or none of its addresses takes the connection.
pub fn connect(target: &str, from: Option<u16>) -> Result<TcpStream, SpeedError> {
    let addresses = target
        .to_socket_addrs()
        .map_err(|e| SpeedError::Unknown(target.into(), e))?;
    let mut last = io::Error::new(io::ErrorKind::NotFound, "it has no address");
    for address in addresses.take(ADDRESSES) {
        match connect_to(address, from) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(SpeedError::Connect(target.into(), last))
}

/// Listens.
///
/// # Errors
/// The address is taken, not ours or not allowed.
pub fn listen(address: SocketAddr) -> Result<TcpListener, SpeedError> {
    TcpListener::bind(address).map_err(|error| SpeedError::Listen(address, error))
}

fn connect_to(address: SocketAddr, from: Option<u16>) -> io::Result<TcpStream> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    if let Some(port) = from {
        let any = match address {
            SocketAddr::V4(_) => SocketAddr::from(([0, 0, 0, 0], port)),
            SocketAddr::V6(_) => SocketAddr::from(([0u16; 8], port)),
        };
        socket.set_reuse_address(true)?;
        socket.bind(&any.into())?;
    }
    socket.connect_timeout(&address.into(), CONNECT)?;
    Ok(socket.into())
}
