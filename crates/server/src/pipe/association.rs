//! A DCE/RPC connection: a bind, then calls, whole or in fragments (C706 chapter 12, [MS-RPCE] 3.3).

use super::services::{Asker, Service};
use crate::error::Result;
use alloc::{collections::VecDeque, vec::Vec};
use coax_wire::{
    io::Writer,
    rpc::{
        self, Bind, BindAck, HEADER_LEN, Header, Request, Verdict, fault, nak, pfc, ptype,
        response_fragments,
    },
    status::Status,
};

/// The maximum fragment in both directions, bytes: the value that every Windows since NT 4 proposes.
const MAX_FRAGMENT: u16 = 4280;
/// The minimum of the negotiated maximum fragment ([MS-RPCE]: MUST_RECV_FRAG_SIZE).
const MIN_FRAGMENT: u16 = 1432;
/// The maximum argument bytes of a call.
const MAX_CALL: usize = 1 << 16;
/// The maximum number of contexts of a connection.
const MAX_CONTEXTS: usize = 64;

/// The state of the connection.
#[derive(Debug)]
pub(super) struct Association {
    service: Service,
    /// The beginning of an incomplete PDU.
    input: Vec<u8>,
    /// Accepted contexts.
    contexts: Vec<u16>,
    /// The maximum fragment of the client.
    max_fragment: u16,
    call: Option<Partial>,
}

/// A call without its last fragment so far.
#[derive(Debug)]
struct Partial {
    id: u32,
    context: u16,
    opnum: u16,
    stub: Vec<u8>,
}

type Messages = VecDeque<Vec<u8>>;

impl Association {
    pub(super) fn new(service: Service) -> Self {
        Self {
            service,
            input: Vec::new(),
            contexts: Vec::new(),
            max_fragment: MAX_FRAGMENT,
            call: None,
        }
    }

    /// The size of incomplete input in bytes.
    pub(super) fn waiting(&self) -> usize {
        let call = self.call.as_ref().map_or(0, |call| call.stub.len());
        self.input.len().saturating_add(call)
    }

    /// Processes bytes, and appends the answers to `out`.
    pub(super) fn take(
        &mut self,
        asker: &Asker<'_>,
        data: &[u8],
        out: &mut Messages,
    ) -> Result<()> {
        self.input.extend_from_slice(data);
        while let Some(header) = Header::parse(&self.input) {
            let len = usize::from(header.fragment_bytes);
            if header.version != 5 || len < HEADER_LEN || !header.little_endian {
                self.input.clear();
                return reject(&header, out);
            }
            if self.input.len() < len {
                break;
            }
            let rest = self.input.split_off(len);
            let fragment = core::mem::replace(&mut self.input, rest);
            self.serve(asker, &header, &fragment, out);
        }
        Ok(())
    }

    fn serve(&mut self, asker: &Asker<'_>, header: &Header, fragment: &[u8], out: &mut Messages) {
        let Ok(body) = rpc::body(header, fragment) else {
            return put_fault(header, 0, fault::PROTO_ERROR, out);
        };
        match header.ptype {
            ptype::BIND | ptype::ALTER_CONTEXT => self.bind(header, body, out),
            ptype::REQUEST => self.request(asker, header, body, out),
            // AUTH3, CANCEL and ORPHANED get no answer.
            _ => {}
        }
    }

    fn bind(&mut self, header: &Header, body: &[u8], out: &mut Messages) {
        if header.auth_bytes != 0 {
            return put_nak(header, nak::AUTHENTICATION_TYPE, out);
        }
        let Ok(bind) = Bind::parse(body) else {
            return put_nak(header, nak::NOT_SPECIFIED, out);
        };
        self.max_fragment = bind.max_receive.clamp(MIN_FRAGMENT, MAX_FRAGMENT);
        let verdicts = bind.contexts.iter().map(|context| self.judge(context));
        let verdicts = verdicts.collect();
        let is_bind = header.ptype == ptype::BIND;
        let address = alloc::format!("\\PIPE\\{}", self.service.name());
        let ack = BindAck {
            ptype: if is_bind {
                ptype::BIND_ACK
            } else {
                ptype::ALTER_CONTEXT_RESP
            },
            max_transmit: self.max_fragment,
            max_receive: bind.max_transmit.clamp(MIN_FRAGMENT, MAX_FRAGMENT),
            group: if bind.group == 0 { 0x53f0 } else { bind.group },
            address: if is_bind { &address } else { "" },
            verdicts,
        };
        let mut message = Writer::default();
        ack.emit(header.call_id, &mut message);
        out.push_back(message.into_vec());
    }

    fn judge(&mut self, context: &rpc::Context) -> Verdict {
        let served = self.service.interface();
        let same_major = context.interface.version & 0xffff == served.version & 0xffff;
        if context.interface.uuid != served.uuid || !same_major {
            return Verdict::UnknownInterface;
        }
        if !context.transfers.contains(&rpc::NDR) || self.contexts.len() >= MAX_CONTEXTS {
            return Verdict::UnknownTransfer;
        }
        if !self.contexts.contains(&context.id) {
            self.contexts.push(context.id);
        }
        Verdict::Accepted
    }

    fn request(&mut self, asker: &Asker<'_>, header: &Header, body: &[u8], out: &mut Messages) {
        let Ok(request) = Request::parse(header.flags, body) else {
            self.call = None;
            return put_fault(header, 0, fault::PROTO_ERROR, out);
        };
        match self.assemble(header, &request) {
            Ok(None) => {}
            Ok(Some(call)) => self.execute(asker, header, &call, out),
            Err(status) => {
                self.call = None;
                put_fault(header, request.context, status, out);
            }
        }
    }

    /// Adds a fragment; returns the call after its last fragment.
    fn assemble(
        &mut self,
        header: &Header,
        request: &Request<'_>,
    ) -> core::result::Result<Option<Partial>, u32> {
        if header.flags & pfc::FIRST != 0 {
            self.call = Some(Partial {
                id: header.call_id,
                context: request.context,
                opnum: request.opnum,
                stub: Vec::new(),
            });
        }
        let call = self.call.as_mut().ok_or(fault::PROTO_ERROR)?;
        if call.id != header.call_id {
            return Err(fault::PROTO_ERROR);
        }
        if call.stub.len().saturating_add(request.stub.len()) > MAX_CALL {
            return Err(fault::REMOTE_NO_MEMORY);
        }
        call.stub.extend_from_slice(request.stub);
        Ok(if header.flags & pfc::LAST == 0 {
            None
        } else {
            self.call.take()
        })
    }

    fn execute(&self, asker: &Asker<'_>, header: &Header, call: &Partial, out: &mut Messages) {
        if !self.contexts.contains(&call.context) {
            return put_fault(header, call.context, fault::CONTEXT_MISMATCH, out);
        }
        match self.service.execute(asker, call.opnum, &call.stub) {
            Err(status) => put_fault(header, call.context, status, out),
            Ok(results) => out.extend(response_fragments(
                call.context,
                call.id,
                &results,
                usize::from(self.max_fragment),
            )),
        }
    }
}

/// Rejects a PDU with an unsupported protocol version or data representation. Breaks the pipe unless it is a bind.
fn reject(header: &Header, out: &mut Messages) -> Result<()> {
    if header.ptype != ptype::BIND {
        return Err(Status::PIPE_BROKEN.into());
    }
    put_nak(header, nak::PROTOCOL_VERSION, out);
    Ok(())
}

fn put_nak(header: &Header, reason: u16, out: &mut Messages) {
    let mut message = Writer::default();
    rpc::emit_bind_nak(reason, header.call_id, &mut message);
    out.push_back(message.into_vec());
}

fn put_fault(header: &Header, context: u16, status: u32, out: &mut Messages) {
    let mut message = Writer::default();
    rpc::emit_fault(context, status, header.call_id, &mut message);
    out.push_back(message.into_vec());
}
