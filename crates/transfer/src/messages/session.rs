//! Messages in a session.

use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use coax_client::{MessageSender, UserMessage};
use coax_clock::Clock;
use coax_wire::nbt::name::{NbName, Scope, ScopedName};

use super::failure::MessageFailure;
use crate::client::Attempt;

/// Timeout of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The shortest wait that a socket accepts.
const SHORTEST: Duration = Duration::from_millis(1);
/// Receive buffer, bytes.
const BUFFER: usize = 4096;

/// Sends a message to the first of `places` that accepts a connection, which is returned. `called` and `calling` are
/// the recipient's and the sender's names.
pub(super) fn send(
    places: &[SocketAddr],
    (called, calling): (NbName, NbName),
    scope: &Scope,
    message: UserMessage,
) -> Result<SocketAddr, MessageFailure> {
    let (stream, place) = connect(places)?;
    let scoped = |name| ScopedName {
        name,
        scope: scope.clone(),
    };
    let clock = Clock::new();
    let mut sender = MessageSender::new(clock.now(), scoped(called), scoped(calling), message);
    run(stream, &clock, &mut sender).map_err(|error| MessageFailure::System {
        what: "the connection failed",
        error,
    })?;
    match sender.result() {
        Some(Err(error)) => Err(MessageFailure::Smb {
            name: called,
            error: error.clone(),
        }),
        _ => Ok(place),
    }
}

fn connect(places: &[SocketAddr]) -> Result<(TcpStream, SocketAddr), MessageFailure> {
    let mut attempts = Vec::new();
    for address in places {
        match TcpStream::connect_timeout(address, CONNECT_TIMEOUT) {
            Ok(stream) => return Ok((stream, *address)),
            Err(error) => attempts.push(Attempt {
                address: *address,
                error,
            }),
        }
    }
    Err(MessageFailure::Unreachable { attempts })
}

fn run(mut stream: TcpStream, clock: &Clock, sender: &mut MessageSender) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = [0; BUFFER];
    loop {
        while let Some(bytes) = sender.poll_transmit() {
            stream.write_all(&bytes)?;
        }
        if sender.result().is_some() {
            return Ok(());
        }
        let due = sender.poll_timeout().map(|due| clock.until(due));
        stream.set_read_timeout(due.map(|due| due.max(SHORTEST)))?;
        match stream.read(&mut buffer) {
            Ok(0) => sender.handle_eof(),
            Ok(count) => {
                let bytes = buffer.get(..count).unwrap_or_default();
                sender.handle_bytes(clock.now(), bytes);
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => sender.handle_eof(),
                _ => return Err(error),
            },
        }
        sender.handle_timeout(clock.now());
    }
}
