//! IPX's routing information protocol, socket 0453 (*IPX Router Specification* §3). Numbers are big-endian.

use alloc::vec::Vec;

use super::Network;
use crate::error::{Error, Result};
use crate::io::Reader;

/// Routes in a packet.
pub const MAX_ROUTES: usize = 50;
/// Asks for all routes.
pub const ANY: Network = Network(0xffff_ffff);
/// Hops of a network that cannot be reached any more.
pub const UNREACHABLE: u16 = 16;

/// The way to a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The network.
    pub network: Network,
    /// Routers on the way.
    pub hops: u16,
    /// Time on the way, in eighteenths of a second.
    pub ticks: u16,
}

/// A packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Whether it tells; otherwise it asks.
    pub is_response: bool,
    /// Its routes.
    pub routes: Vec<Route>,
}

impl Packet {
    /// Reads a packet. Bytes after the last whole route are ignored.
    ///
    /// # Errors
    /// When it is too short, or neither request nor response.
    pub fn parse(data: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(data);
        let is_response = match u16::from_be_bytes(reader.array("operation")?) {
            1 => false,
            2 => true,
            _ => return Err(Error::Value { what: "operation" }),
        };
        let mut routes = Vec::new();
        while reader.remaining() >= 8 && routes.len() < MAX_ROUTES {
            routes.push(Route {
                network: Network(u32::from_be_bytes(reader.array("network")?)),
                hops: u16::from_be_bytes(reader.array("hops")?),
                ticks: u16::from_be_bytes(reader.array("ticks")?),
            });
        }
        Ok(Self {
            is_response,
            routes,
        })
    }

    /// Writes it.
    pub fn emit(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let operation: u16 = if self.is_response { 2 } else { 1 };
        out.extend_from_slice(&operation.to_be_bytes());
        for route in self.routes.iter().take(MAX_ROUTES) {
            out.extend_from_slice(&route.network.0.to_be_bytes());
            out.extend_from_slice(&route.hops.to_be_bytes());
            out.extend_from_slice(&route.ticks.to_be_bytes());
        }
        out
    }
}
