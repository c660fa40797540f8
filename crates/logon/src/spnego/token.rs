//! The tokens of SPNEGO (RFC 4178 4.2, [MS-SPNG] 2.2.1).

use super::der::{Reader, element};
use super::error::{MECHANISMS_MAX, SpnegoError};
use alloc::vec::Vec;

const SEQUENCE: u8 = 0x30;
const OBJECT_IDENTIFIER: u8 = 0x06;
const OCTET_STRING: u8 = 0x04;
const ENUMERATED: u8 = 0x0a;
const GENERAL_STRING: u8 = 0x1b;
/// `[APPLICATION 0]`, around the first token (RFC 2743 3.1).
const APPLICATION: u8 = 0x60;

/// The context tag `[n]`.
const fn context(n: u8) -> u8 {
    0xa0 | n
}

/// An object identifier's content bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oid<'a>(pub &'a [u8]);

impl Oid<'static> {
    /// 1.3.6.1.5.5.2, SPNEGO itself.
    pub const SPNEGO: Self = Self(&[0x2b, 0x06, 0x01, 0x05, 0x05, 0x02]);
    /// 1.3.6.1.4.1.311.2.2.10, NTLMSSP.
    pub const NTLMSSP: Self = Self(&[0x2b, 0x06, 0x01, 0x04, 0x01, 0x82, 0x37, 0x02, 0x02, 0x0a]);
    /// 1.2.840.113554.1.2.2, Kerberos 5.
    pub const KERBEROS: Self = Self(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02]);
}

/// The first token of either side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NegTokenInit<'a> {
    /// Mechanisms, the preferred one first.
    pub mech_types: Vec<Oid<'a>>,
    /// The encoded mechanisms, which a MIC covers; empty in a token to be encoded.
    pub mech_types_der: &'a [u8],
    /// A first token for the preferred mechanism.
    pub mech_token: Option<&'a [u8]>,
    /// negHints' name, which servers send ([MS-SPNG] 2.2.1).
    pub hint_name: Option<&'a [u8]>,
    /// Signature over the mechanisms.
    pub mech_list_mic: Option<&'a [u8]>,
}

/// `negState` (RFC 4178 4.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NegState {
    /// accept-completed.
    AcceptCompleted,
    /// accept-incomplete: more tokens follow.
    AcceptIncomplete,
    /// reject.
    Reject,
    /// request-mic: a MIC is required.
    RequestMic,
}

/// Every later token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NegTokenResp<'a> {
    /// The negotiation state.
    pub state: Option<NegState>,
    /// The selected mechanism; only in the server's first reply.
    pub supported_mech: Option<Oid<'a>>,
    /// The mechanism's token.
    pub response_token: Option<&'a [u8]>,
    /// Signature over the mechanisms.
    pub mech_list_mic: Option<&'a [u8]>,
}

/// A security blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// A first token.
    Init(NegTokenInit<'a>),
    /// A later one.
    Resp(NegTokenResp<'a>),
}

impl<'a> Token<'a> {
    /// Decodes a blob. A NegTokenInit is accepted with and without the header of RFC 2743.
    pub fn parse(blob: &'a [u8]) -> Result<Self, SpnegoError> {
        let mut outer = Reader::new(blob);
        match outer.tag() {
            Some(APPLICATION) => {
                let mut inner = Reader::new(
                    outer
                        .take(APPLICATION)
                        .ok_or(SpnegoError::Der("first token"))?,
                );
                if inner.take(OBJECT_IDENTIFIER) != Some(Oid::SPNEGO.0) {
                    return Err(SpnegoError::UnknownToken);
                }
                NegTokenInit::read(inner).map(Self::Init)
            }
            Some(tag) if tag == context(0) => NegTokenInit::read(outer).map(Self::Init),
            Some(tag) if tag == context(1) => NegTokenResp::read(outer).map(Self::Resp),
            _ => Err(SpnegoError::UnknownToken),
        }
    }
}

/// The content of `[n] inner`, if it comes next; `Ok(None)` if another field does.
fn optional<'a>(
    reader: &mut Reader<'a>,
    n: u8,
    inner: u8,
) -> Result<Option<&'a [u8]>, SpnegoError> {
    if reader.tag() != Some(context(n)) {
        return Ok(None);
    }
    let malformed = SpnegoError::Der("token's fields");
    let field = reader.take(context(n)).ok_or(malformed)?;
    Reader::new(field).take(inner).map(Some).ok_or(malformed)
}

impl<'a> NegTokenInit<'a> {
    fn read(mut outer: Reader<'a>) -> Result<Self, SpnegoError> {
        let malformed = SpnegoError::Der("NegTokenInit");
        let content = outer
            .take(context(0))
            .and_then(|inner| Reader::new(inner).take(SEQUENCE))
            .ok_or(malformed)?;
        let mut fields = Reader::new(content);
        let mut token = Self::default();
        if fields.tag() == Some(context(0)) {
            let list = fields.take(context(0)).ok_or(malformed)?;
            let (list, whole) = Reader::new(list).take_whole(SEQUENCE).ok_or(malformed)?;
            token.mech_types = mechanisms(list)?;
            token.mech_types_der = whole;
        }
        if fields.tag() == Some(context(1)) && !fields.skip() {
            return Err(malformed);
        }
        token.mech_token = optional(&mut fields, 2, OCTET_STRING)?;
        token.read_hints_and_mic(&mut fields)?;
        Ok(token)
    }

    /// `[3]` is the MIC in RFC 4178, and the hints in [MS-SPNG], where the MIC is `[4]`.
    fn read_hints_and_mic(&mut self, fields: &mut Reader<'a>) -> Result<(), SpnegoError> {
        let malformed = SpnegoError::Der("NegTokenInit");
        if fields.tag() == Some(context(3)) {
            let mut field = Reader::new(fields.take(context(3)).ok_or(malformed)?);
            if field.tag() == Some(SEQUENCE) {
                let mut hints = Reader::new(field.take(SEQUENCE).ok_or(malformed)?);
                self.hint_name = optional(&mut hints, 0, GENERAL_STRING)?;
            } else {
                self.mech_list_mic = Some(field.take(OCTET_STRING).ok_or(malformed)?);
            }
        }
        if let Some(mic) = optional(fields, 4, OCTET_STRING)? {
            self.mech_list_mic = Some(mic);
        }
        Ok(())
    }

    /// Writes the token with its header. `mech_types_der` is not used.
    pub fn emit(&self) -> Vec<u8> {
        let types = element(context(0), &[&mech_types_der(&self.mech_types)]);
        let token = octets(2, self.mech_token);
        let hints = self.hint_name.map_or_else(Vec::new, |name| {
            let name = element(context(0), &[&element(GENERAL_STRING, &[name])]);
            element(context(3), &[&element(SEQUENCE, &[&name])])
        });
        let mic = octets(
            if self.hint_name.is_some() { 4 } else { 3 },
            self.mech_list_mic,
        );
        let fields = element(SEQUENCE, &[&types, &token, &hints, &mic]);
        let oid = element(OBJECT_IDENTIFIER, &[Oid::SPNEGO.0]);
        element(APPLICATION, &[&oid, &element(context(0), &[&fields])])
    }
}

/// The DER encoding of a list of mechanisms, which a MIC covers (RFC 4178, 5).
pub fn mech_types_der(types: &[Oid<'_>]) -> Vec<u8> {
    let list: Vec<u8> = types
        .iter()
        .flat_map(|oid| element(OBJECT_IDENTIFIER, &[oid.0]))
        .collect();
    element(SEQUENCE, &[&list])
}

fn mechanisms(list: &[u8]) -> Result<Vec<Oid<'_>>, SpnegoError> {
    let mut reader = Reader::new(list);
    let mut types = Vec::new();
    while reader.tag().is_some() {
        if types.len() >= MECHANISMS_MAX {
            return Err(SpnegoError::TooManyMechanisms);
        }
        types.push(Oid(reader
            .take(OBJECT_IDENTIFIER)
            .ok_or(SpnegoError::Der("list of mechanisms"))?));
    }
    Ok(types)
}

/// An octet string under `[n]`, or nothing.
fn octets(n: u8, bytes: Option<&[u8]>) -> Vec<u8> {
    bytes.map_or_else(Vec::new, |bytes| {
        element(context(n), &[&element(OCTET_STRING, &[bytes])])
    })
}

impl NegState {
    const fn code(self) -> u8 {
        match self {
            Self::AcceptCompleted => 0,
            Self::AcceptIncomplete => 1,
            Self::Reject => 2,
            Self::RequestMic => 3,
        }
    }

    fn read(content: &[u8]) -> Result<Self, SpnegoError> {
        match content {
            [0] => Ok(Self::AcceptCompleted),
            [1] => Ok(Self::AcceptIncomplete),
            [2] => Ok(Self::Reject),
            [3] => Ok(Self::RequestMic),
            _ => Err(SpnegoError::Der("negState")),
        }
    }
}

impl<'a> NegTokenResp<'a> {
    fn read(mut outer: Reader<'a>) -> Result<Self, SpnegoError> {
        let content = outer
            .take(context(1))
            .and_then(|inner| Reader::new(inner).take(SEQUENCE))
            .ok_or(SpnegoError::Der("NegTokenResp"))?;
        let mut fields = Reader::new(content);
        Ok(Self {
            state: optional(&mut fields, 0, ENUMERATED)?
                .map(NegState::read)
                .transpose()?,
            supported_mech: optional(&mut fields, 1, OBJECT_IDENTIFIER)?.map(Oid),
            response_token: optional(&mut fields, 2, OCTET_STRING)?,
            mech_list_mic: optional(&mut fields, 3, OCTET_STRING)?,
        })
    }

    /// Writes the token.
    pub fn emit(&self) -> Vec<u8> {
        let state = self.state.map_or_else(Vec::new, |state| {
            element(context(0), &[&element(ENUMERATED, &[&[state.code()]])])
        });
        let mech = self.supported_mech.map_or_else(Vec::new, |oid| {
            element(context(1), &[&element(OBJECT_IDENTIFIER, &[oid.0])])
        });
        let token = octets(2, self.response_token);
        let mic = octets(3, self.mech_list_mic);
        element(
            context(1),
            &[&element(SEQUENCE, &[&state, &mech, &token, &mic])],
        )
    }
}

/// The security blob of a NEGOTIATE reply, which offers NTLMSSP ([MS-SPNG] 3.2.5.2, [MS-SMB] 2.2.4.5.2.1).
pub fn negotiate_blob() -> Vec<u8> {
    NegTokenInit {
        mech_types: [Oid::NTLMSSP].to_vec(),
        hint_name: Some(b"not_defined_in_RFC4178@please_ignore"),
        ..NegTokenInit::default()
    }
    .emit()
}
