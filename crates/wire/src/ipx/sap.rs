//! IPX's service advertising protocol, socket 0452 (*IPX Router Specification* §4). Numbers are big-endian.

use alloc::vec::Vec;

use super::{Address, Network};
use crate::error::{Error, Result};
use crate::ether::Mac;
use crate::io::Reader;

/// Services in a packet.
pub const MAX_SERVICES: usize = 7;
/// Bytes of a service's name with its end.
pub const NAME_LEN: usize = 48;
/// Asks for services of all types.
pub const ANY: u16 = 0xffff;
/// Hops of a service that is gone.
pub const GONE: u16 = 16;
/// The type of Windows NT servers (IANA, *Novell SAP numbers*: 0640 "Windows NT Server-RPC/Services for NetWare").
pub const NT_SERVER: u16 = 0x0640;

/// What a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Which services are there?
    GeneralQuery,
    /// These.
    GeneralResponse,
    /// Which is the nearest service?
    NearestQuery,
    /// This.
    NearestResponse,
}

/// A service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its type.
    pub kind: u16,
    /// Its name, without the end.
    pub name: Vec<u8>,
    /// Where it is.
    pub address: Address,
    /// Routers on the way.
    pub hops: u16,
}

/// A packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// What it is for.
    pub operation: Operation,
    /// The type that a query wants; of no use in a response.
    pub wanted: u16,
    /// The services of a response.
    pub services: Vec<Service>,
}

impl Packet {
    /// Reads a packet. Bytes after the last whole service are ignored.
    ///
    /// # Errors
    /// When it is too short or its operation is not known.
    pub fn parse(data: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(data);
        let operation = match u16::from_be_bytes(reader.array("operation")?) {
            1 => Operation::GeneralQuery,
            2 => Operation::GeneralResponse,
            3 => Operation::NearestQuery,
            4 => Operation::NearestResponse,
            _ => return Err(Error::Value { what: "operation" }),
        };
        let mut packet = Self {
            operation,
            wanted: ANY,
            services: Vec::new(),
        };
        if matches!(operation, Operation::GeneralQuery | Operation::NearestQuery) {
            packet.wanted = u16::from_be_bytes(reader.array("service type")?);
            return Ok(packet);
        }
        while reader.remaining() >= 16usize.saturating_add(NAME_LEN)
            && packet.services.len() < MAX_SERVICES
        {
            packet.services.push(service(&mut reader)?);
        }
        Ok(packet)
    }

    /// Writes it.
    pub fn emit(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let operation: u16 = match self.operation {
            Operation::GeneralQuery => 1,
            Operation::GeneralResponse => 2,
            Operation::NearestQuery => 3,
            Operation::NearestResponse => 4,
        };
        out.extend_from_slice(&operation.to_be_bytes());
        if matches!(
            self.operation,
            Operation::GeneralQuery | Operation::NearestQuery
        ) {
            out.extend_from_slice(&self.wanted.to_be_bytes());
            return out;
        }
        for service in self.services.iter().take(MAX_SERVICES) {
            out.extend_from_slice(&service.kind.to_be_bytes());
            let mut name = service.name.clone();
            name.resize(NAME_LEN, 0);
            if let Some(last) = name.last_mut() {
                *last = 0;
            }
            out.extend_from_slice(&name);
            let address = service.address;
            out.extend_from_slice(&address.host.network.0.to_be_bytes());
            out.extend_from_slice(&address.host.node.0);
            out.extend_from_slice(&address.socket.to_be_bytes());
            out.extend_from_slice(&service.hops.to_be_bytes());
        }
        out
    }
}

fn service(reader: &mut Reader<'_>) -> Result<Service> {
    let kind = u16::from_be_bytes(reader.array("service type")?);
    let name = reader.take(NAME_LEN, "service name")?;
    // The last byte is the end, whatever it is.
    let name = name.split_last().map_or(name, |(_, name)| name);
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(Service {
        kind,
        name: name.to_vec(),
        address: Address::new(
            Network(u32::from_be_bytes(reader.array("network")?)),
            Mac(reader.array("node")?),
            u16::from_be_bytes(reader.array("socket")?),
        ),
        hops: u16::from_be_bytes(reader.array("hops")?),
    })
}
