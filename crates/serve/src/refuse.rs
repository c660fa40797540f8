//! Refuses clients with a reply: a negative session response, or an SMB error.

use std::{io::ErrorKind, net::Shutdown, time::Duration};

use coax_netbios::Transport;
use coax_wire::{
    block::BlockWriter,
    header::{Flags, Flags2, Header},
    io::Writer,
    nbt::session::{Control, Framing, Refusal},
    status::Status,
};
use socket2::SockRef;
use tokio::{net::TcpStream, time::timeout};

/// Time limit for the client's first packet and the refusal.
const PATIENCE: Duration = Duration::from_secs(1);
/// First byte of a session request (RFC 1002 section 4.3.1).
const SESSION_REQUEST: u8 = 0x81;

/// Reads the client's first packet, answers that the server is full, and closes.
pub(super) async fn turn_away(stream: TcpStream, transport: Transport) {
    // A client that sends nothing or does not read is closed without a reply.
    let _ = timeout(PATIENCE, answer_and_close(stream, transport)).await;
}

async fn answer_and_close(stream: TcpStream, transport: Transport) -> std::io::Result<()> {
    let mut first = [0; 1_024];
    let count = read(&stream, &mut first).await?;
    let packet = first.get(..count).unwrap_or_default();
    let Some(answer) = answer(packet, transport.framing()) else {
        return Ok(());
    };
    // The empty send buffer of a new connection has room for these few bytes.
    stream.writable().await?;
    stream.try_write(&answer)?;
    SockRef::from(&stream).shutdown(Shutdown::Write)?;
    // Closing with unread bytes would reset the connection and discard the answer.
    while read(&stream, &mut first).await? > 0 {}
    Ok(())
}

async fn read(stream: &TcpStream, into: &mut [u8]) -> std::io::Result<usize> {
    loop {
        stream.readable().await?;
        match stream.try_read(into) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            outcome => return outcome,
        }
    }
}

/// The answer to the first packet of a connection; `None` if it is neither a session request nor SMB.
fn answer(packet: &[u8], framing: Framing) -> Option<Vec<u8>> {
    if packet.first() == Some(&SESSION_REQUEST) {
        return Some(Control::Negative(Refusal::InsufficientResources).emit());
    }
    let request = Header::parse(packet.get(4..)?).ok()?;
    let nt = request.flags2.has(Flags2::NT_STATUS);
    let mut out = Writer::default();
    Header {
        status: Status::REQUEST_NOT_ACCEPTED.to_wire(nt),
        flags: Flags(Flags::REPLY),
        signature: [0; 8],
        ..request
    }
    .emit(&mut out);
    BlockWriter::begin(&mut out).finish(0);
    let message = out.into_vec();
    let header = framing.header(message.len()).ok()?;
    Some([&header[..], &message].concat())
}
