//! Linux's TCP statistics of a connection, read over netlink.
//!
//! There is no safe interface to the socket option `TCP_INFO`. The kernel's socket diagnostics return the same
//! structure as an attribute. They use plain bytes (sock_diag(7), linux/inet_diag.h) and need no privilege. This module
//! encodes requests and decodes replies; the driver sends them.

use core::net::SocketAddr;

/// Length of a request.
pub const DIAG_REQUEST_BYTES: usize = 72;

const HEADER_BYTES: usize = 16;
const MESSAGE_BYTES: usize = 72;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const IPPROTO_TCP: u8 = 6;
const INET_DIAG_INFO: u16 = 2;
const ENOENT: i32 = 2;

/// The TCP state of a connection, reduced to the relevant cases (linux/tcp_states.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpState {
    /// ESTABLISHED: both directions are open.
    Established,
    /// FIN-WAIT-2 or TIME-WAIT: the peer has acknowledged all data and our FIN.
    Flushed,
    /// Any other.
    Other(u8),
}

impl TcpState {
    const fn from_linux(number: u8) -> Self {
        match number {
            1 => Self::Established,
            5 | 6 => Self::Flushed,
            other => Self::Other(other),
        }
    }
}

/// TCP statistics of a connection (`struct tcp_info` of linux/tcp.h; names from RFC 4898 where it defines them). Values
/// that an older kernel does not report are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFigures {
    /// Maximum size of a sent segment, bytes.
    pub mss_bytes: u32,
    /// Smoothed round-trip time, microseconds.
    pub rtt_us: u32,
    /// Mean deviation of the round-trip time, microseconds.
    pub rtt_var_us: u32,
    /// Minimum round-trip time, microseconds.
    pub min_rtt_us: Option<u32>,
    /// The receiver's estimate of the round-trip time, microseconds; 0 if there is none.
    pub receive_rtt_us: u32,
    /// Congestion window, segments.
    pub congestion_window_segments: u32,
    /// Retransmitted segments.
    pub retransmissions: u32,
    /// Data segments sent.
    pub segments_sent: Option<u32>,
    /// Data segments received.
    pub segments_received: Option<u32>,
    /// Segments received out of order.
    pub out_of_order: Option<u32>,
    /// Bytes acknowledged by the peer; SYN and FIN may count as one each.
    pub acknowledged_bytes: Option<u64>,
    /// The peer's last window, bytes.
    pub peer_window_bytes: Option<u32>,
    /// Our last window, bytes.
    pub own_window_bytes: Option<u32>,
    /// Time with data to send, microseconds.
    pub busy_us: Option<u64>,
    /// Part of that time limited by the peer's window, microseconds.
    pub window_limited_us: Option<u64>,
    /// Part of that time limited by our send buffer, microseconds.
    pub buffer_limited_us: Option<u64>,
}

impl TcpFigures {
    /// Decodes the kernel's structure of any length. `None` if it is shorter than in Linux 2.6.
    pub fn from_linux(info: &[u8]) -> Option<Self> {
        let retransmissions = u32_at(info, 100)?;
        Some(Self {
            mss_bytes: u32_at(info, 16)?,
            rtt_us: u32_at(info, 68)?,
            rtt_var_us: u32_at(info, 72)?,
            // the kernel's value for "no measurement yet"
            min_rtt_us: u32_at(info, 148).filter(|us| *us != u32::MAX),
            receive_rtt_us: u32_at(info, 92)?,
            congestion_window_segments: u32_at(info, 80)?,
            retransmissions,
            segments_sent: u32_at(info, 156),
            segments_received: u32_at(info, 152),
            out_of_order: u32_at(info, 224),
            acknowledged_bytes: u64_at(info, 120),
            peer_window_bytes: u32_at(info, 228),
            own_window_bytes: u32_at(info, 232),
            busy_us: u64_at(info, 168),
            window_limited_us: u64_at(info, 176),
            buffer_limited_us: u64_at(info, 184),
        })
    }
}

/// A connection as the kernel reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Socket {
    /// Its state.
    pub state: TcpState,
    /// The statistics; `None` in TIME-WAIT.
    pub figures: Option<TcpFigures>,
}

/// Why there are no statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiagError {
    /// The connection does not exist (any more).
    Gone,
    /// The kernel refused with this errno.
    Refused(i32),
    /// The answer cannot be decoded.
    Malformed,
}

impl Socket {
    /// Decodes the answer to [`diag_request`].
    ///
    /// # Errors
    /// The kernel refused, or the answer cannot be decoded.
    pub fn from_diag_reply(reply: &[u8]) -> Result<Self, DiagError> {
        let length = u32_at(reply, 0).ok_or(DiagError::Malformed)?;
        let length = usize::try_from(length).map_err(|_| DiagError::Malformed)?;
        let reply = reply.get(..length).ok_or(DiagError::Malformed)?;
        let body = reply.get(HEADER_BYTES..).ok_or(DiagError::Malformed)?;
        match u16_at(reply, 4) {
            Some(SOCK_DIAG_BY_FAMILY) => {}
            Some(NLMSG_ERROR) => {
                let errno = u32_at(body, 0).ok_or(DiagError::Malformed)?;
                let errno = errno.cast_signed().wrapping_neg();
                return Err(if errno == ENOENT {
                    DiagError::Gone
                } else {
                    DiagError::Refused(errno)
                });
            }
            _ => return Err(DiagError::Malformed),
        }
        let state = body.get(1).copied().ok_or(DiagError::Malformed)?;
        let attributes = body.get(MESSAGE_BYTES..).ok_or(DiagError::Malformed)?;
        Ok(Self {
            state: TcpState::from_linux(state),
            figures: attribute(attributes, INET_DIAG_INFO).and_then(TcpFigures::from_linux),
        })
    }
}

/// The request for one connection, identified by both addresses.
pub fn diag_request(local: SocketAddr, peer: SocketAddr) -> [u8; DIAG_REQUEST_BYTES] {
    let mut out = [0; DIAG_REQUEST_BYTES];
    let mut at = 0;
    let mut put = |bytes: &[u8]| {
        for (to, from) in out.iter_mut().skip(at).zip(bytes) {
            *to = *from;
        }
        at = at.saturating_add(bytes.len());
    };
    put(&72u32.to_ne_bytes());
    put(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    put(&NLM_F_REQUEST.to_ne_bytes());
    put(&[0; 8]); // sequence number, port
    let family = if local.is_ipv4() { 2 } else { 10 };
    put(&[family, IPPROTO_TCP, 1 << (INET_DIAG_INFO - 1), 0]);
    put(&u32::MAX.to_ne_bytes()); // in any state
    put(&local.port().to_be_bytes());
    put(&peer.port().to_be_bytes());
    put(&octets(local));
    put(&octets(peer));
    put(&[0; 4]); // on any interface
    put(&[0xff; 8]); // no cookie
    out
}

fn octets(address: SocketAddr) -> [u8; 16] {
    match address {
        SocketAddr::V4(v4) => {
            let [a, b, c, d] = v4.ip().octets();
            [a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        }
        SocketAddr::V6(v6) => v6.ip().octets(),
    }
}

/// The contents of the first attribute of that kind.
fn attribute(mut rest: &[u8], kind: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16_at(rest, 0)?);
        let contents = rest.get(4..length)?;
        if u16_at(rest, 2)? == kind {
            return Some(contents);
        }
        rest = rest.get(length.checked_next_multiple_of(4)?..)?;
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let part = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_ne_bytes(*part))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let part = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_ne_bytes(*part))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let part = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_ne_bytes(*part))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};
    use proptest::prelude::*;

    fn info(length: usize) -> Vec<u8> {
        let mut bytes = vec![0xa5; length];
        for (at, value) in [
            (16, 1460u32),
            (68, 250),
            (72, 40),
            (80, 10),
            (92, 0),
            (100, 3),
            (148, 200),
            (228, 8192),
        ] {
            if length >= at + 4 {
                bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
            }
        }
        bytes
    }

    fn reply(kind: u16, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(HEADER_BYTES + body.len()).unwrap();
        let mut bytes = length.to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 10]);
        bytes.extend(body);
        bytes
    }

    fn attribute_bytes(kind: u16, contents: &[u8]) -> Vec<u8> {
        let mut bytes = u16::try_from(4 + contents.len())
            .unwrap()
            .to_ne_bytes()
            .to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(contents);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn a_request_names_both_ends_in_network_order() {
        let request = diag_request(
            "10.0.0.1:2000".parse().unwrap(),
            "10.0.0.9:1025".parse().unwrap(),
        );
        assert_eq!(request[16..20], [2, 6, 2, 0]);
        assert_eq!(request[24..28], [0x07, 0xd0, 0x04, 0x01]);
        assert_eq!(request[28..32], [10, 0, 0, 1]);
        assert_eq!(request[44..48], [10, 0, 0, 9]);
        assert_eq!(request[64..], [0xff; 8]);
        let six = diag_request("[::1]:1".parse().unwrap(), "[::2]:2".parse().unwrap());
        assert_eq!((six[16], six[43], six[59]), (10, 1, 2));
    }

    #[test]
    fn the_figures_are_found_behind_other_attributes() {
        let mut body = vec![2, 1];
        body.resize(MESSAGE_BYTES, 0);
        body.extend(attribute_bytes(8, &[0]));
        body.extend(attribute_bytes(INET_DIAG_INFO, &info(248)));
        let socket = Socket::from_diag_reply(&reply(SOCK_DIAG_BY_FAMILY, &body)).unwrap();
        let figures = socket.figures.unwrap();
        assert_eq!(socket.state, TcpState::Established);
        assert_eq!(
            (figures.mss_bytes, figures.rtt_us, figures.retransmissions),
            (1460, 250, 3)
        );
        assert_eq!(
            (figures.min_rtt_us, figures.peer_window_bytes),
            (Some(200), Some(8192))
        );
    }

    #[test]
    fn values_missing_in_an_old_kernel_are_none_not_zero() {
        let figures = TcpFigures::from_linux(&info(104)).unwrap();
        assert_eq!(figures.retransmissions, 3);
        assert_eq!(
            (
                figures.min_rtt_us,
                figures.peer_window_bytes,
                figures.busy_us
            ),
            (None, None, None)
        );
        assert_eq!(TcpFigures::from_linux(&info(103)), None);
    }

    #[test]
    fn a_closed_connection_and_a_refusal_are_different_errors() {
        let error =
            |errno: i32| Socket::from_diag_reply(&reply(NLMSG_ERROR, &(-errno).to_ne_bytes()));
        assert_eq!(error(2), Err(DiagError::Gone));
        assert_eq!(error(1), Err(DiagError::Refused(1)));
    }

    #[test]
    fn a_connection_in_time_wait_is_flushed_without_statistics() {
        let mut body = vec![2, 6];
        body.resize(MESSAGE_BYTES, 0);
        let socket = Socket::from_diag_reply(&reply(SOCK_DIAG_BY_FAMILY, &body)).unwrap();
        assert_eq!((socket.state, socket.figures), (TcpState::Flushed, None));
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic_or_loop(mut bytes in proptest::collection::vec(any::<u8>(), 0..400), plausible in any::<bool>()) {
            if plausible && bytes.len() >= 6 {
                let length = u32::try_from(bytes.len()).unwrap();
                bytes[..4].copy_from_slice(&length.to_ne_bytes());
                bytes[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
            }
            let _ = Socket::from_diag_reply(&bytes);
        }
    }
}
