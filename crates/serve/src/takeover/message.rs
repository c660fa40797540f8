//! The messages, one JSON object a line.

use std::{
    io::{IoSlice, IoSliceMut, Read, Write},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

/// Version of the protocol: it grows when old and new processes could not understand each other.
pub(super) const VERSION: u32 = 1;
/// The longest message, bytes.
const LONGEST: usize = 64 * 1024;
/// The most sockets in a message; the kernel allows 253 (SCM_MAX_FD).
pub(super) const MOST: usize = 128;

/// A message of either process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Message {
    /// The new process asks for the sockets.
    Hello {
        /// Its version.
        version: u32,
    },
    /// The old process's sockets, in the order in which they are attached.
    Offer {
        /// Its version.
        version: u32,
        /// What each socket is for.
        sockets: Vec<Purpose>,
    },
    /// The new process can serve.
    Ready,
    /// The old process accepts no more clients.
    Yours,
    /// Nothing is handed over.
    Refused {
        /// The reason.
        why: String,
    },
}

/// What a socket is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Purpose {
    /// NetBIOS sessions.
    Nbt,
    /// SMB directly over TCP.
    Direct,
    /// The name service.
    Names,
    /// NetBIOS datagrams.
    Datagrams,
    /// The next takeover.
    Control,
}

/// Sends a message with sockets.
pub(super) fn send(
    mut stream: &UnixStream,
    message: &Message,
    sockets: &[BorrowedFd<'_>],
) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut attached = SendAncillaryBuffer::new(&mut space);
    if !sockets.is_empty() && !attached.push(SendAncillaryMessage::ScmRights(sockets)) {
        return Err(std::io::Error::other("too many sockets to hand over"));
    }
    let sent = sendmsg(
        stream.as_fd(),
        &[IoSlice::new(&line)],
        &mut attached,
        SendFlags::NOSIGNAL,
    )?;
    stream.write_all(line.get(sent..).unwrap_or_default())
}

/// Receives a message and the sockets that came with it. `None`: the other process has closed the connection.
pub(super) fn receive(mut stream: &UnixStream) -> std::io::Result<Option<(Message, Vec<OwnedFd>)>> {
    let mut bytes = vec![0; LONGEST];
    let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut attached = RecvAncillaryBuffer::new(&mut space);
    let mut len = recvmsg(
        stream.as_fd(),
        &mut [IoSliceMut::new(&mut bytes)],
        &mut attached,
        RecvFlags::CMSG_CLOEXEC,
    )?
    .bytes;
    let mut sockets = Vec::new();
    for message in attached.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            sockets.extend(rights);
        }
    }
    if len == 0 {
        return Ok(None);
    }
    while bytes.get(..len).is_some_and(|got| !got.ends_with(b"\n")) {
        let space = bytes.get_mut(len..).unwrap_or_default();
        match stream.read(space)? {
            0 => {
                return Err(std::io::Error::other(
                    "a message that is too long or cut off",
                ));
            }
            more => len = len.saturating_add(more),
        }
    }
    let message = serde_json::from_slice(bytes.get(..len).unwrap_or_default())?;
    Ok(Some((message, sockets)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn sockets_arrive_with_their_message_and_junk_is_an_error() {
        let (one, other) = UnixStream::pair().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let offer = Message::Offer {
            version: 1,
            sockets: vec![Purpose::Direct],
        };
        send(&one, &offer, &[listener.as_fd()]).unwrap();
        let (got, mut sockets) = receive(&other).unwrap().unwrap();
        assert_eq!((got, sockets.len()), (offer, 1));
        let copy = std::net::TcpListener::from(sockets.remove(0));
        assert_eq!(copy.local_addr().unwrap(), listener.local_addr().unwrap());
        (&one).write_all(b"junk\n").unwrap();
        assert!(receive(&other).is_err());
        (&one).write_all(b"{\"hello\":").unwrap();
        drop(one);
        assert!(receive(&other).is_err());
        assert!(receive(&other).unwrap().is_none());
    }
}
