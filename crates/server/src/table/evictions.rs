//! Log-ons that wait until the server has closed other connections of their client.

use super::{ConnId, Ticket};
use alloc::collections::{BTreeMap, BTreeSet};
use coax_wire::time::{Span, Time};

/// The maximum wait of a log-on for the close of its client's other connections. A connection blocked by a hung disk
/// does not delay the log-on longer.
pub(super) const EVICTION: Span = Span::from_secs(5);

/// The minimum interval between two probes of a connection.
pub(super) const PROBES_APART: Span = Span::from_secs(5);

/// Log-ons that wait for the close of other connections.
#[derive(Debug, Default)]
pub(super) struct Evictions(pub(super) BTreeMap<Ticket, Eviction>);

#[derive(Debug)]
pub(super) struct Eviction {
    pub(super) conn: ConnId,
    pub(super) left: BTreeSet<ConnId>,
    pub(super) deadline: Time,
}
