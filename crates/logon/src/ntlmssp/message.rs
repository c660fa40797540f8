//! The three messages ([MS-NLMP] 2.2.1): decoded leniently, encoded as specified.

use super::{NegotiateFlags, NtlmsspError};
use alloc::vec::Vec;

/// The signature at the start of every token.
pub const SIGNATURE: &[u8; 8] = b"NTLMSSP\0";

const NEGOTIATE: u32 = 1;
const CHALLENGE: u32 = 2;
const AUTHENTICATE: u32 = 3;

/// Offset of the MIC in an AUTHENTICATE message ([MS-NLMP] 2.2.1.3).
pub(super) const MIC: core::ops::Range<usize> = 72..88;

/// NEGOTIATE_MESSAGE ([MS-NLMP] 2.2.1.1). Both names are in the OEM code page whatever the flags say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Negotiate<'a> {
    /// The client's capabilities.
    pub flags: NegotiateFlags,
    /// The client's domain, if sent.
    pub domain: &'a [u8],
    /// The client's name, if sent.
    pub workstation: &'a [u8],
    /// Version, zero if absent; written if the flags have VERSION.
    pub version: [u8; 8],
}

/// CHALLENGE_MESSAGE ([MS-NLMP] 2.2.1.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChallengeMessage<'a> {
    /// The flags that the server selected.
    pub flags: NegotiateFlags,
    /// The server's or domain's name, in UTF-16LE or OEM as the flags say.
    pub target_name: &'a [u8],
    /// The challenge.
    pub server_challenge: [u8; 8],
    /// AV pairs; see [`super::AvPairs`].
    pub target_info: &'a [u8],
    /// Version, zero if absent; written if the flags have VERSION.
    pub version: [u8; 8],
}

/// AUTHENTICATE_MESSAGE ([MS-NLMP] 2.2.1.3).
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Authenticate<'a> {
    /// The negotiated flags; `None` in the short form that Windows 9x and NT 3 send.
    pub flags: Option<NegotiateFlags>,
    /// The LM or LMv2 response.
    pub lm: &'a [u8],
    /// The NTLM or NTLMv2 response.
    pub nt: &'a [u8],
    /// The client's domain.
    pub domain: &'a [u8],
    /// The user's name.
    pub user: &'a [u8],
    /// The client's name.
    pub workstation: &'a [u8],
    /// The session key, encrypted with RC4, or nothing.
    pub encrypted_session_key: &'a [u8],
    /// Version, zero if absent; written if the flags have VERSION or there is a MIC.
    pub version: [u8; 8],
    /// The bytes at the MIC's offset. Only AvFlags tells whether they are a MIC.
    pub mic: Option<[u8; 16]>,
}

impl core::fmt::Debug for Authenticate<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Authenticate")
            .field("flags", &self.flags)
            .field("domain", &self.domain)
            .field("user", &self.user)
            .field("workstation", &self.workstation)
            .finish_non_exhaustive()
    }
}

/// Any of the three messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// From the client.
    Negotiate(Negotiate<'a>),
    /// From the server.
    Challenge(ChallengeMessage<'a>),
    /// From the client.
    Authenticate(Authenticate<'a>),
}

impl<'a> Message<'a> {
    /// Decodes a token.
    pub fn parse(token: &'a [u8]) -> Result<Self, NtlmsspError> {
        if token.first_chunk() != Some(SIGNATURE) {
            return Err(NtlmsspError::NoSignature);
        }
        let token = Token(token);
        match token.u32(8)? {
            NEGOTIATE => Negotiate::read(token).map(Self::Negotiate),
            CHALLENGE => ChallengeMessage::read(token).map(Self::Challenge),
            AUTHENTICATE => Authenticate::read(token).map(Self::Authenticate),
            other => Err(NtlmsspError::UnknownType(other)),
        }
    }

    /// The message type: 1, 2 or 3.
    pub const fn message_type(&self) -> u32 {
        match self {
            Self::Negotiate(_) => NEGOTIATE,
            Self::Challenge(_) => CHALLENGE,
            Self::Authenticate(_) => AUTHENTICATE,
        }
    }
}

impl<'a> Negotiate<'a> {
    /// The decoder uses the names only if their flags are set: some clients leave rubbish there. The shortest message
    /// seen has no name fields.
    fn read(token: Token<'a>) -> Result<Self, NtlmsspError> {
        let flags = NegotiateFlags(token.u32(12)?);
        let named = |flag, at, name| match token.field(at, name) {
            Ok(field) if flags.has(flag) => Ok((field.bytes, field)),
            Ok(unflagged) => Ok((Default::default(), unflagged)),
            Err(_) if !flags.has(flag) => Ok(Default::default()),
            Err(error) => Err(error),
        };
        let (domain, domain_at) = named(NegotiateFlags::OEM_DOMAIN_SUPPLIED, 16, "domain")?;
        let (workstation, workstation_at) =
            named(NegotiateFlags::OEM_WORKSTATION_SUPPLIED, 24, "workstation")?;
        let version = token.version(flags, 32, &[domain_at, workstation_at]);
        Ok(Self {
            flags,
            domain,
            workstation,
            version,
        })
    }

    /// Encodes the message; sets the two name flags according to the names present.
    pub fn emit(&self) -> Result<Vec<u8>, NtlmsspError> {
        let supplied = [
            (NegotiateFlags::OEM_DOMAIN_SUPPLIED, self.domain),
            (NegotiateFlags::OEM_WORKSTATION_SUPPLIED, self.workstation),
        ];
        let flags = supplied.iter().fold(self.flags.0, |flags, (flag, name)| {
            if name.is_empty() {
                flags & !flag.0
            } else {
                flags | flag.0
            }
        });
        let version = self.flags.has(NegotiateFlags::VERSION);
        let mut writer = Writer::new(NEGOTIATE, if version { 40 } else { 32 });
        writer.fixed(&flags.to_le_bytes());
        writer.field("domain", self.domain)?;
        writer.field("workstation", self.workstation)?;
        if version {
            writer.fixed(&self.version);
        }
        Ok(writer.finish())
    }
}

impl<'a> ChallengeMessage<'a> {
    fn read(token: Token<'a>) -> Result<Self, NtlmsspError> {
        let target_name = token.field(12, "target name")?;
        let flags = NegotiateFlags(token.u32(20)?);
        let target_info = if flags.has(NegotiateFlags::TARGET_INFO) {
            token.field(40, "target info")?
        } else {
            Field::default()
        };
        let version = token.version(flags, 48, &[target_name, target_info]);
        Ok(Self {
            flags,
            target_name: target_name.bytes,
            server_challenge: token.array(24)?,
            target_info: target_info.bytes,
            version,
        })
    }

    /// Encodes the message; sets TARGET_INFO if AV pairs are present.
    pub fn emit(&self) -> Result<Vec<u8>, NtlmsspError> {
        let info = NegotiateFlags::TARGET_INFO.0;
        let flags = if self.target_info.is_empty() {
            self.flags.0 & !info
        } else {
            self.flags.0 | info
        };
        let version = self.flags.has(NegotiateFlags::VERSION);
        let mut writer = Writer::new(CHALLENGE, if version { 56 } else { 48 });
        writer.field("target name", self.target_name)?;
        writer.fixed(&flags.to_le_bytes());
        writer.fixed(&self.server_challenge);
        writer.fixed(&[0; 8]);
        writer.field("target info", self.target_info)?;
        if version {
            writer.fixed(&self.version);
        }
        Ok(writer.finish())
    }
}

impl<'a> Authenticate<'a> {
    fn read(token: Token<'a>) -> Result<Self, NtlmsspError> {
        let lm = token.field(12, "LM response")?;
        let nt = token.field(20, "NT response")?;
        let domain = token.field(28, "domain")?;
        let user = token.field(36, "user")?;
        let workstation = token.field(44, "workstation")?;
        let fields = [lm, nt, domain, user, workstation];
        let long = token.has_room(64, &fields);
        let key = if long {
            token.field(52, "session key")?
        } else {
            Field::default()
        };
        let fields = [lm, nt, domain, user, workstation, key];
        let flags = if long {
            Some(NegotiateFlags(token.u32(60)?))
        } else {
            None
        };
        Ok(Self {
            flags,
            lm: lm.bytes,
            nt: nt.bytes,
            domain: domain.bytes,
            user: user.bytes,
            workstation: workstation.bytes,
            encrypted_session_key: key.bytes,
            version: token.version(flags.unwrap_or_default(), 64, &fields),
            mic: if long && token.has_room(MIC.end, &fields) {
                Some(token.array(MIC.start)?)
            } else {
                None
            },
        })
    }

    /// Encodes the message, in the short form without flags. Only the long form has a MIC.
    pub fn emit(&self) -> Result<Vec<u8>, NtlmsspError> {
        let version = self
            .flags
            .is_some_and(|flags| flags.has(NegotiateFlags::VERSION));
        let fixed = match (self.flags, self.mic, version) {
            (None, ..) => 52,
            (_, Some(_), _) => MIC.end,
            (_, None, true) => MIC.start,
            (_, None, false) => 64,
        };
        let mut writer = Writer::new(AUTHENTICATE, fixed);
        writer.field("LM response", self.lm)?;
        writer.field("NT response", self.nt)?;
        writer.field("domain", self.domain)?;
        writer.field("user", self.user)?;
        writer.field("workstation", self.workstation)?;
        if let Some(flags) = self.flags {
            writer.field("session key", self.encrypted_session_key)?;
            writer.fixed(&flags.0.to_le_bytes());
            if version || self.mic.is_some() {
                writer.fixed(&self.version);
            }
            writer.fixed(self.mic.as_ref().map_or(&[], <[u8; 16]>::as_slice));
        }
        Ok(writer.finish())
    }
}

/// A token to be read.
#[derive(Clone, Copy)]
struct Token<'a>(&'a [u8]);

/// The field at a length and offset, and its start.
#[derive(Clone, Copy, Default)]
struct Field<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Token<'a> {
    fn array<const N: usize>(&self, at: usize) -> Result<[u8; N], NtlmsspError> {
        self.0
            .get(at..)
            .and_then(|rest| rest.first_chunk::<N>())
            .copied()
            .ok_or(NtlmsspError::Truncated)
    }

    fn u32(&self, at: usize) -> Result<u32, NtlmsspError> {
        self.array(at).map(u32::from_le_bytes)
    }

    /// The field whose length and offset are at `at`. The offset of an empty field is ignored: it is often zero.
    fn field(&self, at: usize, name: &'static str) -> Result<Field<'a>, NtlmsspError> {
        let [l0, l1, _, _, o0, o1, o2, o3] = self.array(at)?;
        let length = usize::from(u16::from_le_bytes([l0, l1]));
        if length == 0 {
            return Ok(Field::default());
        }
        let outside = NtlmsspError::OutOfBounds(name);
        let offset = usize::try_from(u32::from_le_bytes([o0, o1, o2, o3])).map_err(|_| outside)?;
        let bytes = self
            .0
            .get(offset..)
            .and_then(|rest| rest.get(..length))
            .ok_or(outside)?;
        Ok(Field { bytes, offset })
    }

    /// Whether the fixed part reaches `end`: the token is long enough, and no field starts before `end`.
    fn has_room(&self, end: usize, fields: &[Field<'_>]) -> bool {
        self.0.len() >= end
            && fields
                .iter()
                .all(|field| field.bytes.is_empty() || field.offset >= end)
    }

    fn version(&self, flags: NegotiateFlags, at: usize, fields: &[Field<'_>]) -> [u8; 8] {
        let there =
            flags.has(NegotiateFlags::VERSION) && self.has_room(at.saturating_add(8), fields);
        if there {
            self.array(at).unwrap_or_default()
        } else {
            [0; 8]
        }
    }
}

/// A token being written: the fixed part, and the payload that follows it.
struct Writer {
    fixed: Vec<u8>,
    fixed_length: usize,
    payload: Vec<u8>,
}

impl Writer {
    fn new(message_type: u32, fixed_length: usize) -> Self {
        let mut fixed = SIGNATURE.to_vec();
        fixed.extend_from_slice(&message_type.to_le_bytes());
        Self {
            fixed,
            fixed_length,
            payload: Vec::new(),
        }
    }

    fn fixed(&mut self, bytes: &[u8]) {
        self.fixed.extend_from_slice(bytes);
    }

    fn field(&mut self, name: &'static str, bytes: &[u8]) -> Result<(), NtlmsspError> {
        let length = u16::try_from(bytes.len()).map_err(|_| NtlmsspError::TooLong(name))?;
        let offset = self.fixed_length.saturating_add(self.payload.len());
        let offset = u32::try_from(offset).map_err(|_| NtlmsspError::TooLong(name))?;
        self.fixed(&length.to_le_bytes());
        self.fixed(&length.to_le_bytes());
        self.fixed(&offset.to_le_bytes());
        self.payload.extend_from_slice(bytes);
        Ok(())
    }

    fn finish(mut self) -> Vec<u8> {
        self.fixed.append(&mut self.payload);
        self.fixed
    }
}
