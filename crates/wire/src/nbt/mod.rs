//! NetBIOS over TCP/UDP (RFC 1001, RFC 1002): names, the session, name and datagram services.

pub mod dgm;
pub mod name;
pub mod ns;
pub mod session;

/// An error in a received NetBIOS packet. The peer that sent it erred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The packet ends inside the named field.
    #[error("the packet ends inside {0}")]
    Truncated(&'static str),
    /// The first label is not 32 letters `A` to `P` (RFC 1001 §14.1).
    #[error("a name is not in first-level encoding")]
    BadName,
    /// A label has a length byte of `01xxxxxx` or `10xxxxxx` (RFC 1002 §4.1).
    #[error("a name has a reserved label type")]
    BadLabel,
    /// A label pointer points at itself or forward (RFC 1002 §4.1, RFC 883).
    #[error("a name's label pointer does not point backward")]
    BadPointer,
    /// A name is longer than 255 bytes (RFC 1002 §4.1).
    #[error("a name is longer than 255 bytes")]
    NameTooLong,
    /// The packet is of no kind that has a strict form here.
    #[error("the packet is of an unsupported kind")]
    Unsupported,
}

/// The two bytes at `at`, as a big-endian number.
fn u16_at(bytes: &[u8], at: usize, what: &'static str) -> Result<u16, Malformed> {
    array_at(bytes, at, what).map(u16::from_be_bytes)
}

/// The `N` bytes at `at`.
fn array_at<const N: usize>(
    bytes: &[u8],
    at: usize,
    what: &'static str,
) -> Result<[u8; N], Malformed> {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk::<N>())
        .copied()
        .ok_or(Malformed::Truncated(what))
}
