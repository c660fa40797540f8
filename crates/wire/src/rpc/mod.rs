//! DCE/RPC over named pipes (C706 chapter 12, [MS-RPCE] 2.2): protocol data units of connections, and the NDR forms of the
//! few calls old clients make.

pub mod client;
pub mod ndr;
pub mod srvsvc;
pub mod wkssvc;

use crate::{
    error::{Error, Result},
    io::{Reader, Writer},
};
use alloc::vec::Vec;

/// Bytes of the common header.
pub const HEADER_LEN: usize = 16;

/// PDU types (C706 12.6.4).
pub mod ptype {
    /// A call.
    pub const REQUEST: u8 = 0;
    /// Its answer.
    pub const RESPONSE: u8 = 2;
    /// Its failure.
    pub const FAULT: u8 = 3;
    /// Asks for interfaces.
    pub const BIND: u8 = 11;
    /// Grants or rejects each.
    pub const BIND_ACK: u8 = 12;
    /// Rejects the connection.
    pub const BIND_NAK: u8 = 13;
    /// Asks for further interfaces.
    pub const ALTER_CONTEXT: u8 = 14;
    /// Grants or rejects each.
    pub const ALTER_CONTEXT_RESP: u8 = 15;
}

/// Bits of the header's flags.
pub mod pfc {
    /// The call's first fragment.
    pub const FIRST: u8 = 0x01;
    /// The call's last fragment.
    pub const LAST: u8 = 0x02;
    /// The call was not executed (flag of a fault).
    pub const DID_NOT_EXECUTE: u8 = 0x20;
    /// A request names an object.
    pub const OBJECT_UUID: u8 = 0x80;
}

/// Fault statuses (C706 appendix E, [MS-RPCE] 3.2.2.5).
pub mod fault {
    /// The interface has no such call.
    pub const OP_RNG_ERROR: u32 = 0x1c01_0002;
    /// The presentation context was never granted.
    pub const CONTEXT_MISMATCH: u32 = 0x1c00_001a;
    /// The arguments do not decode.
    pub const NDR: u32 = 0x0000_06f7;
    /// The call is larger than the server takes.
    pub const REMOTE_NO_MEMORY: u32 = 0x1c00_001d;
    /// The PDUs come in an order they must not.
    pub const PROTO_ERROR: u32 = 0x1c01_000b;
}

/// Reasons of a bind's rejection ([MS-RPCE] 2.2.2.9 and C706 12.6.3.1).
pub mod nak {
    /// None given.
    pub const NOT_SPECIFIED: u16 = 0;
    /// The version of the protocol is not 5.0.
    pub const PROTOCOL_VERSION: u16 = 4;
    /// Authentication of this kind is not supported.
    pub const AUTHENTICATION_TYPE: u16 = 8;
}

/// An interface or transfer syntax: UUID in wire order, and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syntax {
    /// UUID, little-endian form.
    pub uuid: [u8; 16],
    /// Major version in the low 16 bits, minor in the high.
    pub version: u32,
}

/// NDR, the one transfer syntax spoken here: 8a885d04-1ceb-11c9-9fe8-08002b104860 version 2.
pub const NDR: Syntax = Syntax {
    uuid: [
        0x04, 0x5d, 0x88, 0x8a, 0xeb, 0x1c, 0xc9, 0x11, 0x9f, 0xe8, 0x08, 0x00, 0x2b, 0x10, 0x48,
        0x60,
    ],
    version: 2,
};

impl Syntax {
    fn parse(r: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            uuid: r.array("syntax UUID")?,
            version: r.u32("syntax version")?,
        })
    }

    fn emit(self, out: &mut Writer) {
        out.bytes(&self.uuid).u32(self.version);
    }
}

/// The common header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Major version: 5.
    pub version: u8,
    /// Type ([`ptype`]).
    pub ptype: u8,
    /// Flags ([`pfc`]).
    pub flags: u8,
    /// Whether integers are little-endian and characters ASCII.
    pub little_endian: bool,
    /// Bytes of the whole fragment.
    pub fragment_bytes: u16,
    /// Bytes of its authentication value.
    pub auth_bytes: u16,
    /// Which call.
    pub call_id: u32,
}

impl Header {
    /// Decodes the header of the PDU at the start of `bytes`. `None` if the header is incomplete.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut r = Reader::new(bytes.get(..HEADER_LEN)?);
        let (version, _minor) = (r.u8("").ok()?, r.u8("").ok()?);
        let (ptype, flags) = (r.u8("").ok()?, r.u8("").ok()?);
        let representation = r.u32("").ok()?;
        Some(Self {
            version,
            ptype,
            flags,
            little_endian: representation & 0xff == 0x10,
            fragment_bytes: r.u16("").ok()?,
            auth_bytes: r.u16("").ok()?,
            call_id: r.u32("").ok()?,
        })
    }
}

/// An interface asked for in a bind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// By which number calls will name it.
    pub id: u16,
    /// The interface.
    pub interface: Syntax,
    /// Transfer syntaxes the client speaks.
    pub transfers: Vec<Syntax>,
}

/// BIND and ALTER_CONTEXT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bind {
    /// Largest fragment the client sends, bytes.
    pub max_transmit: u16,
    /// Largest fragment the client takes, bytes.
    pub max_receive: u16,
    /// Association group, 0 for a new one.
    pub group: u32,
    /// Interfaces asked for.
    pub contexts: Vec<Context>,
}

impl Bind {
    /// Decodes a PDU's body: what follows its header.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn parse(body: &[u8]) -> Result<Self> {
        let mut r = Reader::new(body);
        let mut bind = Self {
            max_transmit: r.u16("max transmit fragment")?,
            max_receive: r.u16("max receive fragment")?,
            group: r.u32("association group")?,
            contexts: Vec::new(),
        };
        let count = r.u8("context count")?;
        r.take(3, "reserved")?;
        for _ in 0..count {
            let id = r.u16("context")?;
            let transfers = r.u8("transfer syntax count")?;
            r.u8("reserved")?;
            let interface = Syntax::parse(&mut r)?;
            let transfers = (0..transfers)
                .map(|_| Syntax::parse(&mut r))
                .collect::<Result<_>>()?;
            bind.contexts.push(Context {
                id,
                interface,
                transfers,
            });
        }
        Ok(bind)
    }

    /// Appends the PDU.
    pub fn emit(&self, call_id: u32, out: &mut Writer) {
        let start = begin(out, ptype::BIND, pfc::FIRST | pfc::LAST, call_id);
        out.u16(self.max_transmit).u16(self.max_receive);
        out.u32(self.group).u8(self.contexts.len() as u8).zeros(3);
        for context in &self.contexts {
            out.u16(context.id).u8(context.transfers.len() as u8).u8(0);
            context.interface.emit(out);
            context.transfers.iter().for_each(|syntax| syntax.emit(out));
        }
        end(out, start);
    }
}

/// The result of one context of a bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Verdict {
    /// Granted, with NDR.
    Accepted = 0,
    /// Rejected: unknown interface.
    UnknownInterface = 1,
    /// Rejected: no supported transfer syntax.
    UnknownTransfer = 2,
}

/// BIND_ACK and ALTER_CONTEXT_RESP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindAck<'a> {
    /// [`ptype::BIND_ACK`] or [`ptype::ALTER_CONTEXT_RESP`].
    pub ptype: u8,
    /// Largest fragment the server sends, bytes.
    pub max_transmit: u16,
    /// Largest fragment the server takes, bytes.
    pub max_receive: u16,
    /// Association group.
    pub group: u32,
    /// Secondary address: the pipe, as `\PIPE\srvsvc`; empty in ALTER_CONTEXT_RESP.
    pub address: &'a str,
    /// One for each context, in order.
    pub verdicts: Vec<Verdict>,
}

impl BindAck<'_> {
    /// Appends the PDU.
    pub fn emit(&self, call_id: u32, out: &mut Writer) {
        let start = begin(out, self.ptype, pfc::FIRST | pfc::LAST, call_id);
        out.u16(self.max_transmit).u16(self.max_receive);
        out.u32(self.group);
        if self.address.is_empty() {
            out.u16(0);
        } else {
            out.u16(self.address.len() as u16 + 1);
            out.bytes(self.address.as_bytes()).u8(0);
        }
        while !(out.len() - start).is_multiple_of(4) {
            out.u8(0);
        }
        out.u8(self.verdicts.len() as u8).zeros(3);
        for verdict in &self.verdicts {
            match verdict {
                Verdict::Accepted => {
                    out.u32(0);
                    NDR.emit(out);
                }
                // Provider rejection, and why.
                rejected => {
                    out.u16(2).u16(*rejected as u16).zeros(20);
                }
            }
        }
        end(out, start);
    }
}

/// Appends a BIND_NAK that names the one protocol version spoken.
pub fn emit_bind_nak(reason: u16, call_id: u32, out: &mut Writer) {
    let start = begin(out, ptype::BIND_NAK, pfc::FIRST | pfc::LAST, call_id);
    out.u16(reason).u8(1).u8(5).u8(0);
    while !(out.len() - start).is_multiple_of(4) {
        out.u8(0);
    }
    end(out, start);
}

/// A fragment of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Presentation context.
    pub context: u16,
    /// Operation number.
    pub opnum: u16,
    /// Arguments, or a piece of them.
    pub stub: &'a [u8],
}

impl<'a> Request<'a> {
    /// Decodes a PDU's body.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn parse(flags: u8, body: &'a [u8]) -> Result<Self> {
        let mut r = Reader::new(body);
        r.u32("allocation hint")?;
        let context = r.u16("context")?;
        let opnum = r.u16("operation")?;
        if flags & pfc::OBJECT_UUID != 0 {
            r.take(16, "object UUID")?;
        }
        Ok(Self {
            context,
            opnum,
            stub: r.rest(),
        })
    }

    /// Appends a PDU with these `flags`.
    pub fn emit(&self, flags: u8, call_id: u32, out: &mut Writer) {
        let start = begin(out, ptype::REQUEST, flags, call_id);
        out.u32(self.stub.len() as u32);
        out.u16(self.context).u16(self.opnum).bytes(self.stub);
        end(out, start);
    }
}

/// The answer to a call, cut into fragments of at most `max_fragment` bytes.
pub fn response_fragments(
    context: u16,
    call_id: u32,
    stub: &[u8],
    max_fragment: usize,
) -> Vec<Vec<u8>> {
    const FIXED: usize = HEADER_LEN + 8;
    let room = max_fragment.saturating_sub(FIXED).max(8) & !7;
    let mut fragments = Vec::new();
    let mut rest = stub;
    loop {
        let (piece, after) = rest.split_at_checked(room).unwrap_or((rest, &[]));
        let mut flags = if fragments.is_empty() { pfc::FIRST } else { 0 };
        if after.is_empty() {
            flags |= pfc::LAST;
        }
        let mut out = Writer::with_capacity(FIXED + piece.len());
        let start = begin(&mut out, ptype::RESPONSE, flags, call_id);
        out.u32(rest.len() as u32).u16(context).u16(0).bytes(piece);
        end(&mut out, start);
        fragments.push(out.into_vec());
        if after.is_empty() {
            return fragments;
        }
        rest = after;
    }
}

/// Appends a FAULT.
pub fn emit_fault(context: u16, status: u32, call_id: u32, out: &mut Writer) {
    let flags = pfc::FIRST | pfc::LAST | pfc::DID_NOT_EXECUTE;
    let start = begin(out, ptype::FAULT, flags, call_id);
    out.u32(32).u16(context).u16(0).u32(status).u32(0);
    end(out, start);
}

fn begin(out: &mut Writer, ptype: u8, flags: u8, call_id: u32) -> usize {
    let start = out.len();
    out.u8(5).u8(0).u8(ptype).u8(flags);
    out.u32(0x10).u16(0).u16(0).u32(call_id);
    start
}

fn end(out: &mut Writer, start: usize) {
    let len = out.len() - start;
    out.patch_u16(start + 8, len as u16);
}

/// The body of a PDU without its authentication trailer, which nothing here uses.
///
/// # Errors
/// [`Error::Outside`] if the lengths do not fit the fragment.
pub fn body<'a>(header: &Header, fragment: &'a [u8]) -> Result<&'a [u8]> {
    const TRAILER: usize = 8;
    const WRONG: Error = Error::Outside {
        what: "authentication length",
    };
    let trailer = match usize::from(header.auth_bytes) {
        0 => 0,
        auth => auth + TRAILER,
    };
    let end = fragment.len().checked_sub(trailer).ok_or(WRONG)?;
    fragment.get(HEADER_LEN..end).ok_or(WRONG)
}

#[cfg(test)]
#[path = "tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;
