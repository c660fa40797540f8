//! The client's side of DCE/RPC: bind replies, and replies reassembled from their fragments (C706 12.6.4).

use super::{Bind, Context, HEADER_LEN, Header, NDR, Syntax, body, pfc, ptype};
use crate::{
    error::{Error, Result},
    io::{Reader, Writer},
};
use alloc::{vec, vec::Vec};

/// Longest fragment that clients of the time take, bytes.
const MAX_FRAGMENT: u16 = 4280;

/// A BIND for one interface, under the context number 0.
pub fn bind(interface: Syntax, call_id: u32) -> Vec<u8> {
    let mut out = Writer::default();
    let bind = Bind {
        max_transmit: MAX_FRAGMENT,
        max_receive: MAX_FRAGMENT,
        group: 0,
        contexts: vec![Context {
            id: 0,
            interface,
            transfers: vec![NDR],
        }],
    };
    bind.emit(call_id, &mut out);
    out.into_vec()
}

/// The parameters that a BIND_ACK grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// Largest fragment the server takes, bytes.
    pub max_receive: u16,
    /// Association group.
    pub group: u32,
}

impl Granted {
    /// Decodes the PDU that answers a bind of one interface.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Outside`]; [`Error::Value`] if the bind or the interface was refused.
    pub fn parse(pdu: &Pdu<'_>) -> Result<Self> {
        if !matches!(
            pdu.header.ptype,
            ptype::BIND_ACK | ptype::ALTER_CONTEXT_RESP
        ) {
            return Err(Error::Value {
                what: "answer to the bind",
            });
        }
        let mut r = Reader::new(pdu.body);
        r.u16("max transmit fragment")?;
        let granted = Self {
            max_receive: r.u16("max receive fragment")?,
            group: r.u32("association group")?,
        };
        let address = usize::from(r.u16("secondary address length")?);
        r.take(address, "secondary address")?;
        // The header's 16 bytes keep the alignment of the body's beginning.
        r.align(4);
        let count = r.u8("result count")?;
        r.take(3, "reserved")?;
        match (count, r.u16("result")?) {
            (1.., 0) => Ok(granted),
            _ => Err(Error::Value {
                what: "interface granted",
            }),
        }
    }
}

/// A PDU: header and body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pdu<'a> {
    /// Header.
    pub header: Header,
    /// Body, without authentication.
    pub body: &'a [u8],
}

impl<'a> Pdu<'a> {
    /// The PDU at the start of `bytes`, and the bytes after it; `None` if it is incomplete.
    ///
    /// # Errors
    /// [`Error::Value`] for another version, another representation of numbers than little-endian, or a length below a
    /// header's; [`Error::Outside`].
    pub fn first(bytes: &'a [u8]) -> Result<Option<(Self, &'a [u8])>> {
        let Some(header) = Header::parse(bytes) else {
            return Ok(None);
        };
        let len = usize::from(header.fragment_bytes);
        if header.version != 5 || !header.little_endian || len < HEADER_LEN {
            return Err(Error::Value { what: "PDU header" });
        }
        let Some((fragment, rest)) = bytes.split_at_checked(len) else {
            return Ok(None);
        };
        let body = body(&header, fragment)?;
        Ok(Some((Self { header, body }, rest)))
    }
}

/// Progress of a call's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Further fragments follow.
    More,
    /// The results are whole.
    Results(Vec<u8>),
    /// The call failed with this status ([`super::fault`], or a Win32 code).
    Fault(u32),
}

/// A reply while its fragments arrive.
#[derive(Clone, Debug)]
pub struct Assembly {
    call_id: u32,
    limit: usize,
    stub: Vec<u8>,
}

impl Assembly {
    /// Waits for the reply to the call of this number, of at most `limit` bytes.
    pub const fn new(call_id: u32, limit: usize) -> Self {
        Self {
            call_id,
            limit,
            stub: Vec::new(),
        }
    }

    /// Takes the next PDU. One of another call is passed over.
    ///
    /// # Errors
    /// [`Error::Short`]; [`Error::Value`] for a PDU that is no reply; [`Error::Outside`] beyond the limit.
    pub fn push(&mut self, pdu: &Pdu<'_>) -> Result<Progress> {
        if pdu.header.call_id != self.call_id {
            return Ok(Progress::More);
        }
        let mut r = Reader::new(pdu.body);
        r.take(8, "allocation hint and context")?;
        match pdu.header.ptype {
            ptype::RESPONSE => {}
            ptype::FAULT => return r.u32("fault status").map(Progress::Fault),
            _ => return Err(Error::Value { what: "PDU type" }),
        }
        if self.stub.len().saturating_add(r.remaining()) > self.limit {
            return Err(Error::Outside { what: "results" });
        }
        self.stub.extend_from_slice(r.rest());
        if pdu.header.flags & pfc::LAST == 0 {
            return Ok(Progress::More);
        }
        Ok(Progress::Results(core::mem::take(&mut self.stub)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::rpc::{BindAck, Verdict, emit_bind_nak, emit_fault, response_fragments, srvsvc};
    use proptest::prelude::*;

    fn ack(verdict: Verdict, address: &str) -> Vec<u8> {
        let mut out = Writer::default();
        let ack = BindAck {
            ptype: ptype::BIND_ACK,
            max_transmit: 4280,
            max_receive: 2048,
            group: 7,
            address,
            verdicts: vec![verdict],
        };
        ack.emit(1, &mut out);
        out.into_vec()
    }

    fn granted(bytes: &[u8]) -> Result<Granted> {
        Granted::parse(&Pdu::first(bytes)?.unwrap().0)
    }

    #[test]
    fn a_bind_is_understood_and_its_answer_comes_back() {
        let sent = bind(srvsvc::INTERFACE, 1);
        let (pdu, rest) = Pdu::first(&sent).unwrap().unwrap();
        assert!(rest.is_empty() && pdu.header.ptype == ptype::BIND);
        let asked = Bind::parse(pdu.body).unwrap();
        assert_eq!(asked.contexts[0].interface, srvsvc::INTERFACE);
        for address in ["", "\\PIPE\\srvsvc", "\\PIPE\\a"] {
            let want = Granted {
                max_receive: 2048,
                group: 7,
            };
            assert_eq!(granted(&ack(Verdict::Accepted, address)), Ok(want));
        }
    }

    #[test]
    fn refused_binds_are_errors() {
        assert!(granted(&ack(Verdict::UnknownInterface, "\\PIPE\\x")).is_err());
        let mut out = Writer::default();
        emit_bind_nak(0, 1, &mut out);
        assert!(granted(out.as_slice()).is_err());
    }

    #[test]
    fn fragments_make_the_results_and_other_calls_are_passed_over() {
        let stub: Vec<u8> = (0..=255).collect();
        let fragments = response_fragments(0, 5, &stub, 64);
        let mut reply = Assembly::new(5, 256);
        let stranger = response_fragments(0, 4, b"other", 64).remove(0);
        let (stranger, _) = Pdu::first(&stranger).unwrap().unwrap();
        assert_eq!(reply.push(&stranger), Ok(Progress::More));
        let stream = fragments.concat();
        let mut rest = &stream[..];
        let mut last = Progress::More;
        while let Some((pdu, after)) = Pdu::first(rest).unwrap() {
            assert_eq!(last, Progress::More);
            last = reply.push(&pdu).unwrap();
            rest = after;
        }
        assert_eq!(last, Progress::Results(stub));
        let mut small = Assembly::new(5, 20);
        let (pdu, _) = Pdu::first(&stream).unwrap().unwrap();
        assert_eq!(small.push(&pdu), Err(Error::Outside { what: "results" }));
    }

    #[test]
    fn a_fault_returns_its_status() {
        let mut out = Writer::default();
        emit_fault(0, super::super::fault::OP_RNG_ERROR, 5, &mut out);
        let (pdu, _) = Pdu::first(out.as_slice()).unwrap().unwrap();
        assert_eq!(
            Assembly::new(5, 0).push(&pdu),
            Ok(Progress::Fault(super::super::fault::OP_RNG_ERROR))
        );
    }

    #[test]
    fn reassembly_waits_for_missing_fragments() {
        let sent = ack(Verdict::Accepted, "\\PIPE\\srvsvc");
        for len in 0..sent.len() {
            assert_eq!(Pdu::first(&sent[..len]), Ok(None));
        }
        assert!(Pdu::first(&[0; 16]).is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_pdus_are_refused_or_decode(
            kind in 0u8..20,
            flags in any::<u8>(),
            tail in proptest::collection::vec(any::<u8>(), 0..80),
        ) {
            let mut bytes = vec![5, 0, kind, flags, 0x10, 0, 0, 0];
            bytes.extend(((16 + tail.len()) as u16).to_le_bytes());
            bytes.extend([0, 0, 1, 0, 0, 0]);
            bytes.extend(&tail);
            let (pdu, _) = Pdu::first(&bytes).unwrap().unwrap();
            let _ = Granted::parse(&pdu);
            if let Ok(Progress::Results(stub)) = Assembly::new(1, 30).push(&pdu) {
                prop_assert!(stub.len() <= 30);
            }
        }
    }
}
