//! Network cards and their drivers.

use coax_wire::time::Span;
use serde::Deserialize;

use crate::{
    component::Described,
    files::{self, Files},
    units::span,
};

/// The driver's reaction to a frame when the card's ring is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TxFull {
    /// It waits for room.
    #[default]
    Block,
    /// It drops the frame without an error (KB Q244826).
    Drop,
}

/// A card and its driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NicParams {
    /// Frames that may wait to leave, the one that is leaving included; 0: no limit.
    pub tx_ring: usize,
    /// The reaction to a full ring.
    pub tx_full: TxFull,
    /// The driver waits until each frame has left before it does anything else: cards with one buffer to send from.
    pub tx_wait: bool,
    /// Frames that may wait to be looked at after they arrived; 0: no limit. One more is dropped.
    pub rx_ring: usize,
    /// CPU time for each interrupt, that is, for each frame that arrives.
    #[serde(deserialize_with = "span")]
    pub interrupt: Span,
    /// Arrived frames are looked at only this often; 0: at once.
    #[serde(deserialize_with = "span")]
    pub poll: Span,
}

impl Described for NicParams {
    const KIND: &'static str = "card";
    const BUILT_IN: Files = files::CARDS;
}
