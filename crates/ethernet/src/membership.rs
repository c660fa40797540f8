//! Reception of the group address of all NetBIOS stations.

use coax_wire::ether::Mac;

/// `struct packet_mreq` (packet(7)).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Membership {
    index: libc::c_int,
    kind: libc::c_ushort,
    len: libc::c_ushort,
    address: [libc::c_uchar; 8],
}

impl Membership {
    /// Frames to `group` on the interface of this number.
    pub(crate) fn of(index: usize, group: Mac) -> Self {
        let [a, b, c, d, e, f] = group.0;
        Self {
            index: libc::c_int::try_from(index).unwrap_or_default(),
            kind: libc::PACKET_MR_MULTICAST as libc::c_ushort,
            len: 6,
            address: [a, b, c, d, e, f, 0, 0],
        }
    }
}

/// The socket option PACKET_ADD_MEMBERSHIP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddMembership;

nix::setsockopt_impl!(
    AddMembership,
    libc::SOL_PACKET,
    libc::PACKET_ADD_MEMBERSHIP,
    Membership,
    nix::sys::socket::sockopt::SetStruct<Membership>
);
