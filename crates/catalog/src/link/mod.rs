//! Links between client and server.

mod loss;

pub use loss::{LossParams, LossRule};

use alloc::string::{String, ToString};

use coax_wire::time::Span;
use serde::Deserialize;

use crate::{
    component::{Described, broken},
    files::{self, Files},
    units::{rate, some_rate, span},
};

/// Whether both directions may be busy at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Duplex {
    /// They may.
    #[default]
    Full,
    /// They share the medium and take turns, without collisions.
    Half,
    /// They share the medium with other stations by CSMA/CD (IEEE 802.3): a hub or a coaxial cable.
    Shared,
    /// They share a Token Ring (IEEE 802.5) with other stations.
    Ring,
}

impl Duplex {
    /// Whether all stations wait for one medium.
    pub const fn is_one_medium(self) -> bool {
        matches!(self, Self::Shared | Self::Ring)
    }

    /// Bytes of the largest frame: IEEE 802.3, and that of a 4 Mbit/s ring (RFC 1191, section 7.1, with 8 bytes of LLC and SNAP).
    const fn largest_frame(self) -> u64 {
        match self {
            Self::Ring => 4472,
            _ => 1518,
        }
    }
}

/// Delays single frames so that later ones overtake them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// Probability of it for each frame.
    pub probability: f64,
    /// For how long.
    #[serde(deserialize_with = "span")]
    pub delay: Span,
}

/// Stations on a shared medium beside client and server, and what they send in total.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Others {
    /// How many.
    pub stations: u32,
    /// Bytes of each of their frames, from address to checksum.
    pub frame_bytes: u64,
    /// What all of them offer, as a part of the rate; 1 and more is an overload.
    pub load: f64,
}

impl Default for Others {
    /// None.
    fn default() -> Self {
        Self {
            stations: 0,
            frame_bytes: 1518,
            load: 0.1,
        }
    }
}

/// A link between client and server.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkParams {
    /// Bits a second, Ethernet's framing included.
    #[serde(deserialize_with = "rate")]
    pub rate: u64,
    /// Bits a second of the network that each card is on, where the link is not it.
    #[serde(deserialize_with = "some_rate")]
    pub access_rate: Option<u64>,
    /// One-way propagation.
    #[serde(deserialize_with = "span")]
    pub delay: Span,
    /// Bytes that wait before the link at most, where there is an access rate; 0: no limit.
    pub queue_bytes: u64,
    /// Whether both directions may be busy at once.
    pub duplex: Duplex,
    /// Other stations, if the medium is shared.
    pub others: Others,
    /// Loss on the way to the server.
    pub loss_to_server: LossParams,
    /// Loss on the way to the client.
    pub loss_to_client: LossParams,
    /// Reordering in both directions.
    pub reorder: Reorder,
}

impl Default for LinkParams {
    /// 100 Mbit/s Ethernet with 60 µs each way and nothing wrong.
    fn default() -> Self {
        Self {
            rate: 100_000_000,
            access_rate: None,
            delay: Span(60_000),
            queue_bytes: 0,
            duplex: Duplex::Full,
            others: Others::default(),
            loss_to_server: LossParams::default(),
            loss_to_client: LossParams::default(),
            reorder: Reorder::default(),
        }
    }
}

impl LinkParams {
    /// Transmission time of `bytes` at the slowest link.
    pub const fn serialisation(&self, bytes: u64) -> Span {
        serialisation(self.rate, bytes)
    }
}

const fn serialisation(rate: u64, bytes: u64) -> Span {
    Span(bytes.saturating_mul(8_000_000_000) / if rate == 0 { 1 } else { rate })
}

/// Bits of a slot time (IEEE 802.3): a station must notice a collision while it sends the smallest frame.
const SLOT_BITS: u64 = 512;

impl Described for LinkParams {
    const KIND: &'static str = "link";
    const BUILT_IN: Files = files::LINKS;

    fn check(&self) -> Result<(), (&'static str, String)> {
        let rules = [
            (
                "rate",
                (1000..=100_000_000_000).contains(&self.rate),
                "1 kbit/s to 100 Gbit/s",
            ),
            (
                "access_rate",
                self.access_rate.is_none_or(|access| access >= self.rate),
                "at least the link's rate",
            ),
            (
                "reorder",
                (0.0..=1.0).contains(&self.reorder.probability),
                "a probability of 0 to 1",
            ),
            (
                "others",
                self.others.stations <= 1000
                    && (64..=self.duplex.largest_frame()).contains(&self.others.frame_bytes)
                    && (0.0..=10.0).contains(&self.others.load),
                "up to 1000 stations, frames of 64 to 1518 bytes (4472 on a ring), and a load of 0 to 10",
            ),
            (
                "others",
                self.others.stations == 0 || self.duplex.is_one_medium(),
                "others only with duplex = \"shared\" or \"ring\"",
            ),
            (
                "duplex",
                self.duplex != Duplex::Shared
                    || (self.access_rate.is_none()
                        && self.delay.0 <= SLOT_BITS * 500_000_000 / self.rate.max(1)),
                "shared without access_rate, and with a delay of half a slot at most (25.6 us at 10 Mbit/s)",
            ),
            (
                "duplex",
                self.duplex != Duplex::Ring || self.access_rate.is_none(),
                "ring without access_rate",
            ),
        ];
        broken(&rules)?;
        for (key, loss) in [
            ("loss_to_server", &self.loss_to_server),
            ("loss_to_client", &self.loss_to_client),
        ] {
            if !loss.rule.is_possible() {
                return Err((
                    key,
                    "probabilities are 0 to 1, and something must get through".to_string(),
                ));
            }
        }
        Ok(())
    }
}
