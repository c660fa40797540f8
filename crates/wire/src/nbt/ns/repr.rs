//! The legal forms of name service packets (RFC 1002 §4.2.2 to §4.2.18).

use alloc::vec::Vec;

use super::{
    AddrEntry, CLASS_IN, Flags, HEADER_LEN, NodeName, Packet, RCODE_NAME, Record, Statistics,
    TYPE_NB, TYPE_NBSTAT, TYPE_NULL,
};
use crate::nbt::name::ScopedName;
use crate::nbt::{Malformed, u16_at};

/// Operation 0: NAME QUERY and NODE STATUS.
const OP_QUERY: u8 = 0;
/// Operation 7: WACK.
const OP_WACK: u8 = 7;

/// The most names a node status may count.
const MAX_NODE_NAMES: usize = 255;

/// The most address entries whose length still fits RDLENGTH.
const MAX_ENTRIES: usize = 10_922;

/// A pointer to the name right after the header, as RFC 1002 §4.2.2 demands of a request's record.
const POINTER_TO_SUBJECT: [u8; 2] = [0xc0, 0x0c];

/// A name service packet in its legal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repr {
    /// NAME QUERY REQUEST and NODE STATUS REQUEST.
    Query(Query),
    /// POSITIVE and NEGATIVE NAME QUERY RESPONSE.
    QueryReply(QueryReply),
    /// NODE STATUS RESPONSE.
    NodeStatus(NodeStatus),
    /// NAME REGISTRATION, OVERWRITE, REFRESH and RELEASE, request or demand.
    Claim(Claim),
    /// Responses to a claim, and the NAME CONFLICT DEMAND.
    ClaimReply(ClaimReply),
    /// WAIT FOR ACKNOWLEDGEMENT RESPONSE.
    Wack(Wack),
}

/// The type of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryKind {
    /// The owners of a name (RFC 1002 §4.2.12).
    Addresses,
    /// The names of a node (RFC 1002 §4.2.17).
    NodeStatus,
}

/// NAME QUERY REQUEST (RFC 1002 §4.2.12), NODE STATUS REQUEST (§4.2.17).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// NAME_TRN_ID.
    pub id: u16,
    /// B: it was broadcast.
    pub broadcast: bool,
    /// RD.
    pub recursion_desired: bool,
    /// The type of the query.
    pub kind: QueryKind,
    /// The name asked about.
    pub name: ScopedName,
}

/// POSITIVE NAME QUERY RESPONSE (RFC 1002 §4.2.13), NEGATIVE NAME QUERY RESPONSE (§4.2.14).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryReply {
    /// NAME_TRN_ID of the request.
    pub id: u16,
    /// RD of the request.
    pub recursion_desired: bool,
    /// RA: a name server answers.
    pub recursion_available: bool,
    /// The name asked about.
    pub name: ScopedName,
    /// The owners, or the result code (never 0).
    pub outcome: Result<Owners, u8>,
}

/// The owner of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owners {
    /// TC: not all names fit into the datagram.
    pub truncated: bool,
    /// How long the reply may be cached, seconds; 0 means for ever.
    pub ttl_s: u32,
    /// The owners.
    pub entries: Vec<AddrEntry>,
}

/// NODE STATUS RESPONSE (RFC 1002 §4.2.18).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeStatus {
    /// NAME_TRN_ID of the request.
    pub id: u16,
    /// The name asked about.
    pub name: ScopedName,
    /// The node's names; at most 255 are emitted.
    pub names: Vec<NodeName>,
    /// The unit's identifier and counters.
    pub statistics: Statistics,
}

/// The operation of a claim on its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClaimOp {
    /// 5: registration; without RD it is the overwrite request or demand (RFC 1002 §4.2.2, §4.2.3).
    Register,
    /// 6: release (RFC 1002 §4.2.9).
    Release,
    /// 8: refresh, as the table of operations has it (RFC 1002 §4.2.1.1) and Windows sends it.
    Refresh,
    /// 9: refresh, as the packet's figure has it (RFC 1002 §4.2.4).
    RefreshAlternate,
    /// 15: registration of one of several addresses; Windows' addition (KB Q150737).
    RegisterMultihomed,
}

impl ClaimOp {
    const ALL: [Self; 5] = [
        Self::Register,
        Self::Release,
        Self::Refresh,
        Self::RefreshAlternate,
        Self::RegisterMultihomed,
    ];

    /// OPCODE on the wire.
    pub const fn opcode(self) -> u8 {
        match self {
            Self::Register => 5,
            Self::Release => 6,
            Self::Refresh => 8,
            Self::RefreshAlternate => 9,
            Self::RegisterMultihomed => 15,
        }
    }

    /// The claim that an OPCODE makes, if it makes one.
    pub fn from_opcode(opcode: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.opcode() == opcode)
    }
}

/// A request or demand about a name's ownership (RFC 1002 §4.2.2, §4.2.3, §4.2.4, §4.2.9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// NAME_TRN_ID.
    pub id: u16,
    /// The operation on the name.
    pub op: ClaimOp,
    /// B: it was broadcast.
    pub broadcast: bool,
    /// RD: set in a registration request, clear in an overwrite, a refresh and a release.
    pub recursion_desired: bool,
    /// The name claimed.
    pub name: ScopedName,
    /// Validity of the claim, seconds; 0 means for ever.
    pub ttl_s: u32,
    /// The claimant and its addresses; mostly one.
    pub entries: Vec<AddrEntry>,
}

/// A response to a claim (RFC 1002 §4.2.5 to §4.2.7, §4.2.10, §4.2.11); with
/// [`RCODE_CONFLICT`](super::RCODE_CONFLICT) and [`ClaimOp::Register`] the NAME CONFLICT DEMAND (§4.2.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimReply {
    /// NAME_TRN_ID of the claim.
    pub id: u16,
    /// The claim it answers.
    pub op: ClaimOp,
    /// RD.
    pub recursion_desired: bool,
    /// RA.
    pub recursion_available: bool,
    /// 0 when the claim is granted.
    pub rcode: u8,
    /// The name claimed.
    pub name: ScopedName,
    /// Granted validity of the claim, seconds.
    pub ttl_s: u32,
    /// The owner.
    pub entries: Vec<AddrEntry>,
}

/// WAIT FOR ACKNOWLEDGEMENT RESPONSE (RFC 1002 §4.2.16).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wack {
    /// NAME_TRN_ID of the request.
    pub id: u16,
    /// The name of the request; `None` is the null name.
    pub name: Option<ScopedName>,
    /// Time to wait, seconds; 0 if unknown.
    pub ttl_s: u32,
    /// OPCODE and NM_FLAGS of the request.
    pub request: Flags,
}

impl Repr {
    /// Decodes a datagram.
    ///
    /// # Errors
    /// See [`Malformed`]; [`Malformed::Unsupported`] for operations and questions without a form here.
    pub fn parse(datagram: &[u8]) -> Result<Self, Malformed> {
        let packet = Packet::new(datagram)?;
        let flags = packet.flags();
        let op = ClaimOp::from_opcode(flags.opcode());
        match (flags.has(Flags::RESPONSE), flags.opcode(), op) {
            (false, OP_QUERY, _) => Query::parse(packet).map(Self::Query),
            (true, OP_QUERY, _) => parse_query_reply(packet),
            (false, _, Some(op)) => Claim::parse(packet, op).map(Self::Claim),
            (true, _, Some(op)) => ClaimReply::parse(packet, op).map(Self::ClaimReply),
            (true, OP_WACK, _) => Wack::parse(packet).map(Self::Wack),
            _ => Err(Malformed::Unsupported),
        }
    }

    /// The datagram.
    pub fn emit(&self) -> Vec<u8> {
        match self {
            Self::Query(query) => query.emit(),
            Self::QueryReply(reply) => reply.emit(),
            Self::NodeStatus(status) => status.emit(),
            Self::Claim(claim) => claim.emit(),
            Self::ClaimReply(reply) => reply.emit(),
            Self::Wack(wack) => wack.emit(),
        }
    }
}

impl Query {
    fn parse(packet: Packet<'_>) -> Result<Self, Malformed> {
        let question = packet
            .questions()
            .next()
            .ok_or(Malformed::Truncated("the questions"))??;
        let kind = match question.question_type {
            TYPE_NB => QueryKind::Addresses,
            TYPE_NBSTAT => QueryKind::NodeStatus,
            _ => return Err(Malformed::Unsupported),
        };
        Ok(Self {
            id: packet.id(),
            broadcast: packet.flags().has(Flags::BROADCAST),
            recursion_desired: packet.flags().has(Flags::RECURSION_DESIRED),
            kind,
            name: question.name()?.ok_or(Malformed::BadName)?,
        })
    }

    /// The datagram.
    pub fn emit(&self) -> Vec<u8> {
        let flags = Flags::new(OP_QUERY, 0)
            .with(Flags::BROADCAST, self.broadcast)
            .with(Flags::RECURSION_DESIRED, self.recursion_desired);
        let question_type = match self.kind {
            QueryKind::Addresses => TYPE_NB,
            QueryKind::NodeStatus => TYPE_NBSTAT,
        };
        let mut out = header(self.id, flags, [1, 0, 0, 0]);
        put_question(&mut out, &self.name, question_type);
        out
    }
}

/// The record of a response to operation 0 determines its kind: node status, owners, or (with a result code) none.
fn parse_query_reply(packet: Packet<'_>) -> Result<Repr, Malformed> {
    let (id, flags) = (packet.id(), packet.flags());
    let name = packet.subject()?.ok_or(Malformed::BadName)?;
    let outcome = match flags.rcode() {
        0 => {
            let record = first_record(packet)?;
            match record.record_type {
                TYPE_NBSTAT => {
                    return Ok(Repr::NodeStatus(NodeStatus {
                        id,
                        name,
                        names: record.node_names().collect(),
                        statistics: record.statistics(),
                    }));
                }
                TYPE_NB => Ok(Owners {
                    truncated: flags.has(Flags::TRUNCATED),
                    ttl_s: record.ttl_s,
                    entries: record.entries().collect(),
                }),
                _ => return Err(Malformed::Unsupported),
            }
        }
        // Whether its record counts as an answer (RFC 1002 §4.2.14's figure) varies, and it contains no information.
        rcode => Err(rcode),
    };
    Ok(Repr::QueryReply(QueryReply {
        id,
        recursion_desired: flags.has(Flags::RECURSION_DESIRED),
        recursion_available: flags.has(Flags::RECURSION_AVAILABLE),
        name,
        outcome,
    }))
}

impl QueryReply {
    /// The datagram.
    pub fn emit(&self) -> Vec<u8> {
        let flags = Flags::new(OP_QUERY, Flags::RESPONSE | Flags::AUTHORITATIVE)
            .with(Flags::RECURSION_DESIRED, self.recursion_desired)
            .with(Flags::RECURSION_AVAILABLE, self.recursion_available);
        match &self.outcome {
            Ok(owners) => {
                let flags = flags.with(Flags::TRUNCATED, owners.truncated);
                let mut out = header(self.id, flags, [0, 1, 0, 0]);
                self.name.encode(&mut out);
                put_owners(&mut out, owners.ttl_s, &owners.entries);
                out
            }
            Err(rcode) => {
                let rcode = if rcode & 15 == 0 { RCODE_NAME } else { *rcode };
                // The figure counts no answer though one follows; Windows and Samba count it.
                let mut out = header(self.id, flags.with_rcode(rcode), [0, 1, 0, 0]);
                self.name.encode(&mut out);
                put_record(&mut out, TYPE_NULL, 0, &[]);
                out
            }
        }
    }
}

impl NodeStatus {
    /// The datagram.
    pub fn emit(&self) -> Vec<u8> {
        let flags = Flags::new(OP_QUERY, Flags::RESPONSE | Flags::AUTHORITATIVE);
        let mut out = header(self.id, flags, [0, 1, 0, 0]);
        self.name.encode(&mut out);
        let count = self.names.len().min(MAX_NODE_NAMES);
        let mut data = Vec::from([u8::try_from(count).unwrap_or(u8::MAX)]);
        for node_name in self.names.iter().take(count) {
            data.extend_from_slice(&node_name.name.0);
            data.extend_from_slice(&node_name.flags.0.to_be_bytes());
        }
        data.extend_from_slice(&self.statistics.0);
        put_record(&mut out, TYPE_NBSTAT, 0, &data);
        out
    }
}

impl Claim {
    fn parse(packet: Packet<'_>, op: ClaimOp) -> Result<Self, Malformed> {
        let record = first_record(packet)?;
        Ok(Self {
            id: packet.id(),
            op,
            broadcast: packet.flags().has(Flags::BROADCAST),
            recursion_desired: packet.flags().has(Flags::RECURSION_DESIRED),
            name: packet.subject()?.ok_or(Malformed::BadName)?,
            ttl_s: record.ttl_s,
            entries: record.entries().collect(),
        })
    }

    /// The datagram.
    pub fn emit(&self) -> Vec<u8> {
        let flags = Flags::new(self.op.opcode(), 0)
            .with(Flags::BROADCAST, self.broadcast)
            .with(Flags::RECURSION_DESIRED, self.recursion_desired);
        let mut out = header(self.id, flags, [1, 0, 0, 1]);
        put_question(&mut out, &self.name, TYPE_NB);
        out.extend_from_slice(&POINTER_TO_SUBJECT);
        put_owners(&mut out, self.ttl_s, &self.entries);
        out
    }
}

impl ClaimReply {
    fn parse(packet: Packet<'_>, op: ClaimOp) -> Result<Self, Malformed> {
        let flags = packet.flags();
        let record = first_record(packet)?;
        Ok(Self {
            id: packet.id(),
            op,
            recursion_desired: flags.has(Flags::RECURSION_DESIRED),
            recursion_available: flags.has(Flags::RECURSION_AVAILABLE),
            rcode: flags.rcode(),
            name: packet.subject()?.ok_or(Malformed::BadName)?,
            ttl_s: record.ttl_s,
            entries: record.entries().collect(),
        })
    }

    /// The datagram.
    pub fn emit(&self) -> Vec<u8> {
        let flags = Flags::new(self.op.opcode(), Flags::RESPONSE | Flags::AUTHORITATIVE)
            .with(Flags::RECURSION_DESIRED, self.recursion_desired)
            .with(Flags::RECURSION_AVAILABLE, self.recursion_available)
            .with_rcode(self.rcode);
        let mut out = header(self.id, flags, [0, 1, 0, 0]);
        self.name.encode(&mut out);
        put_owners(&mut out, self.ttl_s, &self.entries);
        out
    }
}

impl Wack {
    fn parse(packet: Packet<'_>) -> Result<Self, Malformed> {
        let record = first_record(packet)?;
        Ok(Self {
            id: packet.id(),
            name: record.name()?,
            ttl_s: record.ttl_s,
            request: Flags(u16_at(record.data, 0, "the request's flags")?),
        })
    }

    /// The datagram.
    pub fn emit(&self) -> Vec<u8> {
        let flags = Flags::new(OP_WACK, Flags::RESPONSE | Flags::AUTHORITATIVE);
        let mut out = header(self.id, flags, [0, 1, 0, 0]);
        match &self.name {
            Some(name) => name.encode(&mut out),
            None => out.push(0),
        }
        put_record(&mut out, TYPE_NB, self.ttl_s, &self.request.0.to_be_bytes());
        out
    }
}

fn first_record(packet: Packet<'_>) -> Result<Record<'_>, Malformed> {
    packet
        .records()
        .next()
        .ok_or(Malformed::Truncated("the records"))?
}

fn header(id: u16, flags: Flags, counts: [u16; 4]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER_LEN.saturating_mul(8));
    for word in [id, flags.0].into_iter().chain(counts) {
        out.extend_from_slice(&word.to_be_bytes());
    }
    out
}

fn put_question(out: &mut Vec<u8>, name: &ScopedName, question_type: u16) {
    name.encode(out);
    out.extend_from_slice(&question_type.to_be_bytes());
    out.extend_from_slice(&CLASS_IN.to_be_bytes());
}

fn put_owners(out: &mut Vec<u8>, ttl_s: u32, entries: &[AddrEntry]) {
    let mut data = Vec::new();
    for entry in entries.iter().take(MAX_ENTRIES) {
        data.extend_from_slice(&entry.flags.0.to_be_bytes());
        data.extend_from_slice(&entry.address.octets());
    }
    put_record(out, TYPE_NB, ttl_s, &data);
}

/// A record from its type on; callers bound `data`, whose length is cut to 16 bits.
fn put_record(out: &mut Vec<u8>, record_type: u16, ttl_s: u32, data: &[u8]) {
    let len = u16::try_from(data.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&record_type.to_be_bytes());
    out.extend_from_slice(&CLASS_IN.to_be_bytes());
    out.extend_from_slice(&ttl_s.to_be_bytes());
    out.extend_from_slice(&len.to_be_bytes());
    out.extend(data.iter().take(usize::from(len)));
}
