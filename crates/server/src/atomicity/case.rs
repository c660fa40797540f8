//! One conversation whose last request must be atomic.
#![allow(missing_docs)]

use crate::testkit::TestClient;
use alloc::vec::Vec;

pub const CORE: &str = "PC NETWORK PROGRAM 1.0";

pub const LANMAN1: &str = "LANMAN1.0";

pub const LANMAN2: &str = "LANMAN2.1";

pub const NT: &str = "NT LM 0.12";

/// The permitted effects of a failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// Nothing.
    Nothing,
    /// Some of the changes, each complete: patterns and trees.
    Parts,
    /// Some of the bytes: writes.
    Bytes,
}

/// The permitted FIDs after a failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fids {
    /// As before.
    AsBefore,
    /// As after a success: a close always closes.
    AsAfter,
    /// Either, or one more that an AndX chain opened before it failed: the client gets that FID in the reply.
    Either,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    Disk,
    /// A disk of a share with streams.
    Streams,
    /// A disk with synced changes of names and attributes (`sync always`).
    Synced,
    Printer,
}

/// A conversation. See `check`.
#[derive(Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    pub dialects: &'static [&'static str],
    pub on: On,
    /// The preparation by the client; returns the open FIDs.
    pub prepare: fn(&mut TestClient) -> Vec<u16>,
    /// Sends the request; returns whether it succeeded.
    pub act: fn(&mut TestClient, &[u16]) -> bool,
    pub leaves: Leaves,
    /// The permitted effects on a permanently failed disk, where nothing can be undone.
    pub leaves_broken: Leaves,
    pub fids: Fids,
    /// The request sets or reads extended attributes.
    pub attributes: bool,
    /// The request can be repeated after a failure.
    pub repeatable: bool,
}

impl Case {
    pub(super) const fn on(self, on: On) -> Self {
        let attributes = self.attributes || matches!(on, On::Streams);
        Self {
            on,
            attributes,
            ..self
        }
    }

    pub(super) const fn leaves(self, leaves: Leaves) -> Self {
        Self {
            leaves,
            leaves_broken: leaves,
            ..self
        }
    }

    pub(super) const fn leaves_if_broken(self, leaves_broken: Leaves) -> Self {
        Self {
            leaves_broken,
            ..self
        }
    }

    pub(super) const fn closes(self) -> Self {
        Self {
            fids: Fids::AsAfter,
            repeatable: false,
            ..self
        }
    }

    pub(super) const fn gets_so_far(self) -> Self {
        Self {
            fids: Fids::Either,
            repeatable: false,
            ..self
        }
    }

    pub(super) const fn with_attributes(self) -> Self {
        Self {
            attributes: true,
            ..self
        }
    }

    pub(super) const fn once(self) -> Self {
        Self {
            repeatable: false,
            ..self
        }
    }
}
