//! What the browser is told, and what it tells.

use alloc::vec::Vec;

use coax_wire::nbt::name::NbName;
use coax_wire::time::Span;

use super::state::{ElectionReason, Role};
use crate::names::{OwnName, Reach};

/// The name of all master browsers, a group: `01 02 __MSBROWSE__ 02 01`.
pub const MSBROWSE: NbName = NbName(*b"\x01\x02__MSBROWSE__\x02\x01");

/// Suffix of the domain master browser.
pub(crate) const SUFFIX_DOMAIN_MASTER: u8 = 0x1b;
/// Suffix of the local master browser.
pub(crate) const SUFFIX_MASTER: u8 = 0x1d;
/// Suffix of the group of potential browsers.
pub(crate) const SUFFIX_ELECTION: u8 = 0x1e;

/// The time between two exchanges of lists that is used by default: two of them, from a local master to the domain master and
/// from there to another local master, take less than the 12 minutes between announcements.
pub const SYNC_INTERVAL: Span = Span::from_secs(5 * 60);

/// `lm announce`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LmAnnounce {
    /// Never.
    No,
    /// When another machine's LAN Manager announcement was heard.
    #[default]
    Auto,
    /// Always.
    Yes,
}

/// What a [`Browser`](super::Browser) is told.
#[derive(Clone, Debug)]
pub struct BrowserConfig {
    /// This server's name.
    pub computer: NbName,
    /// Its workgroup.
    pub workgroup: NbName,
    /// Its comment, in the code page of old clients.
    pub comment: Vec<u8>,
    /// The version it announces.
    pub version: (u8, u8),
    /// Its type without the bits of browsers ([`server_type`](coax_wire::browser::server_type)).
    pub server_type: u32,
    /// `os level`: the highest byte of the election criteria.
    pub os_level: u8,
    /// `local master`: take part in elections.
    pub local_master: bool,
    /// `preferred master`: call an election at the start, and say so.
    pub preferred_master: bool,
    /// `domain master`: collect the lists of other networks' masters. The driver registers the name `<1B>` in WINS.
    pub domain_master: bool,
    /// The server uses WINS.
    pub wins: bool,
    /// Answers to requests for the list come from the name that was asked, `<1D>`. Windows 9x expects it over NetBEUI and
    /// IPX, and calls an election otherwise, say notes of the project *ClassicStack* (docs/ipx.md).
    pub answers_as_master: bool,
    /// `lm announce`.
    pub lm_announce: LmAnnounce,
    /// `lm interval`, seconds; 0: never.
    pub lm_interval_s: u32,
    /// `coax:browse sync interval`: between two exchanges of lists with the browsers of other networks.
    pub sync_interval: Span,
    /// The seed of random waits.
    pub seed: u64,
}

/// What the driver has to do or to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserEvent {
    /// Register this name; tell the outcome with [`Browser::handle_name`](super::Browser::handle_name).
    Register(OwnName),
    /// Release this name.
    Release(NbName),
    /// The role changed.
    Role {
        /// The new role.
        role: Role,
        /// Why.
        reason: ElectionReason,
    },
    /// The master browser of the network, as far as it is known.
    Master(NbName),
    /// Find the owner of the workgroup's name `<1B>` in WINS and its computer name, and tell them with
    /// [`Browser::handle_domain_master`](super::Browser::handle_domain_master).
    FindDomainMaster,
    /// The domain master browser changed; `None`: no machine is it.
    DomainMaster(Option<NbName>),
    /// Fetch the lists of a browser at [`Browser::address_of`](super::Browser::address_of) with NetServerEnum2, and tell
    /// them with [`Browser::handle_lists`](super::Browser::handle_lists).
    Fetch {
        /// The browser.
        from: NbName,
        /// Everything that it knows, or what it hears on its own network (SV_TYPE_LOCAL_LIST_ONLY).
        whole: bool,
    },
}

/// Names that a master browser has on its network.
pub(super) fn master_names(workgroup: NbName) -> [OwnName; 2] {
    [
        OwnName::unique(workgroup.with_suffix(SUFFIX_MASTER)).with_reach(Reach::Network),
        OwnName::group(MSBROWSE).with_reach(Reach::Network),
    ]
}
