//! What a station wants, and the numbers of names and groups.

use core::net::Ipv4Addr;

use coax_wire::nbt::name::NbName;
use coax_wire::nbt::ns::{ClaimOp, NameFlags};

/// The most addresses in a reply to a query; 25 is the size of an Internet group (KB Q120642).
pub(crate) const MAX_MEMBERS: usize = 25;

/// The suffix of domain controllers: an Internet group, whose members are told.
pub(super) const SUFFIX_CONTROLLERS: u8 = 0x1c;
/// The suffix of a local master browser. Each network has its own, so WINS does not keep it.
pub(super) const SUFFIX_LOCAL_MASTER: u8 = 0x1d;
/// The suffix of a domain master browser.
pub(super) const SUFFIX_DOMAIN_MASTER: u8 = 0x1b;

/// What a station wants: the parts of its claim that matter until it is answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) id: u16,
    pub(super) op: ClaimOp,
    pub(super) name: NbName,
    pub(super) flags: NameFlags,
    pub(super) address: Ipv4Addr,
    pub(super) ttl_s: u32,
}
