//! One conversation whose last request must happen completely or not at all.
#![allow(missing_docs)]

use crate::testkit::TestClient;
use alloc::vec::Vec;

pub const CORE: &str = "PC NETWORK PROGRAM 1.0";

pub const LANMAN1: &str = "LANMAN1.0";

pub const LANMAN2: &str = "LANMAN2.1";

pub const NT: &str = "NT LM 0.12";

/// What a failed request may have done all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// Nothing.
    Nothing,
    /// Some of the changes, each complete: patterns and trees.
    Parts,
    /// Some of the bytes: writes.
    Bytes,
}

/// The FIDs after a failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fids {
    /// As before.
    AsBefore,
    /// As after a success: what closes, closes in any case.
    AsAfter,
    /// Either, or the one more that an AndX chain opened before it failed: its client knows it from the reply.
    Either,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    Disk,
    /// A disk whose share keeps streams.
    Streams,
    /// A disk whose changes of names and attributes are synced (`sync always`).
    Synced,
    Printer,
}

/// A conversation. See [`check`].
#[derive(Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    pub dialects: &'static [&'static str],
    pub on: On,
    /// What the client does before; the FIDs it has open then.
    pub prepare: fn(&mut TestClient) -> Vec<u16>,
    /// The request: whether its answer is a success.
    pub act: fn(&mut TestClient, &[u16]) -> bool,
    pub leaves: Leaves,
    /// The same where the disk breaks for good, and nothing can be undone.
    pub leaves_broken: Leaves,
    pub fids: Fids,
    /// It sets or reads extended attributes.
    pub attributes: bool,
    /// It can be done again after it failed.
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
