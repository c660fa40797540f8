//! Protocol numbers of Ethernet, and the labels of MPLS (RFC 3032) that some of them announce.

use super::bytes::u32_at;

pub(super) const IPV4: u16 = 0x0800;
pub(super) const IPV6: u16 = 0x86dd;
/// Novell IPX.
pub(super) const IPX: u16 = 0x8137;
/// RFC 3032 §5.
pub(super) const MPLS: u16 = 0x8847;
pub(super) const MPLS_MULTICAST: u16 = 0x8848;

/// Where the MPLS label stack (RFC 3032) at `at` ends.
pub(super) fn labels_end(bytes: &[u8], at: usize) -> Option<usize> {
    const MAX_LABELS: usize = 16;
    const BOTTOM_OF_STACK: u32 = 0x100;
    let labels = (0..MAX_LABELS).map(|place| at + place * 4);
    labels
        .map(|at| (at, u32_at(bytes, at)))
        .find(|(_, label)| label.is_none_or(|label| label & BOTTOM_OF_STACK != 0))
        .and_then(|(at, label)| label.map(|_| at + 4))
}
