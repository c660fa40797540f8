//! A server over TCP.

use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use coax_wire::nbt::{
    name::{NbName, ScopedName},
    session::{Control, Framing, Header, PacketType},
};

use crate::play::Wire;

/// The longest message that is read, bytes. No SMB1 message is longer.
const MAX_MESSAGE: usize = 1 << 20;

/// A connection to the server.
#[derive(Debug)]
pub struct Tcp {
    stream: TcpStream,
    framing: Framing,
}

impl Tcp {
    /// Connects. With `session`, it opens a NetBIOS session first.
    ///
    /// # Errors
    /// The server cannot be reached or refuses the session.
    pub fn connect(address: SocketAddr, session: bool, limit: Duration) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("cannot connect to {address}: {error}");
        let stream = TcpStream::connect_timeout(&address, limit).map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        stream.set_write_timeout(Some(limit)).map_err(failed)?;
        let mut tcp = Self {
            stream,
            framing: if session {
                Framing::Nbt
            } else {
                Framing::Direct
            },
        };
        if session {
            tcp.request_session(limit)?;
        }
        Ok(tcp)
    }

    fn request_session(&mut self, limit: Duration) -> Result<(), String> {
        let name = |text: &str, suffix| {
            let name = NbName::new(text.as_bytes(), suffix).map_err(|error| error.to_string());
            name.map(ScopedName::from)
        };
        let request = Control::Request {
            called: name("*SMBSERVER", 0x20)?,
            calling: name("COAX-REPLAY", 0)?,
        };
        self.stream
            .write_all(&request.emit())
            .map_err(|error| error.to_string())?;
        let (kind, _) = self
            .packet(Instant::now() + limit)?
            .ok_or("no answer to the NetBIOS session request")?;
        match kind {
            PacketType::Positive => Ok(()),
            _ => Err("the server refuses the NetBIOS session for *SMBSERVER".into()),
        }
    }

    /// The next packet; `None` if the time is over.
    fn packet(&mut self, until: Instant) -> Result<Option<(PacketType, Vec<u8>)>, String> {
        let mut header = [0; 4];
        if !self.fill(&mut header, until)? {
            return Ok(None);
        }
        let header = Header(header);
        let len = header.len(self.framing);
        if len > MAX_MESSAGE {
            return Err(format!("the server announces a message of {len} bytes"));
        }
        let mut message = vec![0; len];
        match self.fill(&mut message, until)? {
            true => Ok(Some((header.packet_type(), message))),
            false => Err("the server stopped within a message".into()),
        }
    }

    /// Whether the bytes came in time.
    fn fill(&mut self, space: &mut [u8], until: Instant) -> Result<bool, String> {
        let mut done = 0;
        while done < space.len() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return match done {
                    0 => Ok(false),
                    _ => Err("the server stopped within a message".into()),
                };
            }
            let _ = self.stream.set_read_timeout(Some(left));
            match self.stream.read(space.get_mut(done..).unwrap_or_default()) {
                Ok(0) => return Err("the server closed the connection".into()),
                Ok(count) => done += count,
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                    return Err("the server reset the connection".into());
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(true)
    }
}

impl Wire for Tcp {
    fn send(&mut self, message: &[u8]) -> Result<(), String> {
        let header = self
            .framing
            .header(message.len())
            .map_err(|error| error.to_string())?;
        self.stream
            .write_all(&[&header[..], message].concat())
            .map_err(|error| match error.kind() {
                // a socket whose time is over says the one or the other
                ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                    "the server takes no more data".to_owned()
                }
                _ => format!("cannot send: {error}"),
            })
    }

    fn receive(&mut self, limit: Duration) -> Result<Option<Vec<u8>>, String> {
        let until = Instant::now() + limit;
        while let Some((kind, message)) = self.packet(until)? {
            if kind == PacketType::Message {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// More messages of 64 KiB than the buffers of both sockets hold.
    const MANY: usize = 10_000;

    #[test]
    fn a_server_that_takes_no_data_is_named_as_the_reason() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let limit = Duration::from_millis(50);
        let mut tcp = Tcp::connect(server.local_addr().unwrap(), false, limit).unwrap();
        // it accepts the connection and never reads
        let (_open, _) = server.accept().unwrap();
        let failed = (0..MANY).find_map(|_| tcp.send(&[0; 1 << 16]).err());
        assert_eq!(failed.as_deref(), Some("the server takes no more data"));
    }
}
