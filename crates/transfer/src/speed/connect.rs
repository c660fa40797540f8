//! Connects to a peer, or waits for one peer to connect.

use std::{
    io,
    net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs},
    time::Duration,
};

use socket2::{Domain, Protocol, Socket, Type};
use thiserror::Error;

/// Timeout of each connection attempt; SPDTEST uses the same.
const CONNECT: Duration = Duration::from_secs(10);
/// Maximum number of addresses of one name to try.
const ADDRESSES: usize = 4;

/// Who connects to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// Connect to `HOST:PORT`, optionally from a fixed local port.
    Target(String, Option<u16>),
    /// Listen there for one peer; port 0 selects a free port.
    Listen(SocketAddr),
}

/// Why no connection was made.
#[derive(Debug, Error)]
pub enum SpeedError {
    /// The target's name cannot be resolved.
    #[error("cannot find {0}: {1}")]
    Unknown(String, io::Error),
    /// The target does not answer or refuses the connection.
    #[error("cannot connect to {0}: {1}")]
    Connect(String, io::Error),
    /// Listening at the address failed.
    #[error("cannot listen at {0}: {1}")]
    Listen(SocketAddr, io::Error),
    /// Accepting a connection failed.
    #[error("cannot accept a connection: {0}")]
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

/// Makes the connection. When it listens, it calls `listening` with the local address.
///
/// # Errors
/// No connection was made.
pub fn open(way: &Way, listening: &mut dyn FnMut(SocketAddr)) -> Result<TcpStream, SpeedError> {
    match way {
        Way::Target(target, from) => connect(target, *from),
        Way::Listen(address) => {
            let listener = listen(*address)?;
            let bound = listener
                .local_addr()
                .map_err(|e| SpeedError::Listen(*address, e))?;
            listening(bound);
            // the listener closes after the first connection, as SPDTEST and netcat do
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
/// The name cannot be resolved, or no address accepts the connection.
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

/// Opens a listening socket.
///
/// # Errors
/// The address is in use, not local or not permitted.
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
