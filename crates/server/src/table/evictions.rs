//! Log-ons that wait for other connections of their client to be closed.

use super::{ConnId, Ticket};
use alloc::collections::{BTreeMap, BTreeSet};
use coax_wire::time::{Span, Time};

/// How long a log-on waits until its client's other connections are closed: one that waits for a hung disk is not waited
/// for any longer.
pub(super) const EVICTION: Span = Span::from_secs(5);

/// A connection is probed no more often than this.
pub(super) const PROBES_APART: Span = Span::from_secs(5);

/// Log-ons that wait for other connections to be closed.
#[derive(Debug, Default)]
pub(super) struct Evictions(pub(super) BTreeMap<Ticket, Eviction>);

#[derive(Debug)]
pub(super) struct Eviction {
    pub(super) conn: ConnId,
    pub(super) left: BTreeSet<ConnId>,
    pub(super) deadline: Time,
}
