//! The server's end of the exchange ([MS-NLMP] 3.2.5).

use super::message::MIC;
use super::{
    AvId, AvPairs, ChallengeMessage, Message, Negotiate, NegotiateFlags, NtlmsspError, Role,
    Session, push_av_pair, push_av_text,
};
use crate::primitives::{hmac_md5, rc4k};
use crate::response::Challenge;
use crate::secret::SessionKey;
use crate::text::{OemCodePage, from_utf16le, lower, upper, utf16le};
use crate::verify::{Claim, Verified};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use subtle::ConstantTimeEq;

/// The server's names. For an empty DNS name the server sends the NetBIOS name in lower case, as Windows does outside a
/// domain: impacket does not log on without a DNS name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerNames {
    /// NetBIOS name, upper case.
    pub computer: String,
    /// Workgroup or domain, upper case.
    pub domain: String,
    /// DNS name of the computer.
    pub dns_computer: String,
    /// DNS name of the domain.
    pub dns_domain: String,
}

/// A string of an AUTHENTICATE message, in the negotiated encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NtlmString {
    /// UTF-16LE.
    Unicode(Vec<u8>),
    /// The client's OEM code page.
    Oem(Vec<u8>),
}

impl NtlmString {
    fn new(unicode: bool, bytes: &[u8]) -> Self {
        if unicode {
            Self::Unicode(bytes.to_vec())
        } else {
            Self::Oem(bytes.to_vec())
        }
    }

    /// As text.
    pub fn decode(&self, page: &dyn OemCodePage) -> String {
        match self {
            Self::Unicode(bytes) => from_utf16le(bytes),
            Self::Oem(bytes) => page.decode(bytes),
        }
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Unicode(bytes) | Self::Oem(bytes) => bytes.is_empty(),
        }
    }
}

/// The result of handling a token.
#[derive(Debug)]
pub enum Step {
    /// Send this and wait for the next one.
    Continue(Vec<u8>),
    /// The client has sent its identity and response: verify them, then call [`NtlmsspServer::complete`].
    Authenticate(Box<AuthenticateRequest>),
}

/// The identity that a client claims, and its responses.
#[derive(Clone, PartialEq, Eq)]
pub struct AuthenticateRequest {
    /// The user's name; empty for an anonymous client.
    pub user: NtlmString,
    /// The user's domain according to the client.
    pub domain: NtlmString,
    /// The client's name.
    pub workstation: NtlmString,
    /// The challenge that the client answers.
    pub challenge: Challenge,
    /// LM or LMv2 response, or a client challenge.
    pub lm: Vec<u8>,
    /// NTLM or NTLMv2 response.
    pub nt: Vec<u8>,
    /// The negotiated flags.
    pub flags: NegotiateFlags,
    /// The session key under the key exchange key: 16 bytes, or none.
    pub encrypted_session_key: Vec<u8>,
    /// Whether the client requests an anonymous session ([MS-NLMP] 3.2.5.1.2).
    pub anonymous: bool,
    /// Whether the client's response announces a MIC. An attacker cannot remove the announcement, because the response
    /// covers it.
    mic_promised: bool,
    /// The bytes at the MIC's offset.
    mic: Option<[u8; 16]>,
}

impl core::fmt::Debug for AuthenticateRequest {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("AuthenticateRequest")
            .field("user", &self.user)
            .field("domain", &self.domain)
            .field("workstation", &self.workstation)
            .field("flags", &self.flags)
            .field("anonymous", &self.anonymous)
            .finish_non_exhaustive()
    }
}

impl AuthenticateRequest {
    /// The input for [`crate::verify::verify`]; `user` and `domain` are this request's, decoded.
    pub fn claim<'a>(&'a self, user: &'a str, domain: &'a str) -> Claim<'a> {
        Claim {
            user,
            domain,
            challenge: &self.challenge,
            lm: &self.lm,
            nt: &self.nt,
            extended_session_security: self.flags.has(NegotiateFlags::EXTENDED_SESSIONSECURITY),
        }
    }
}

/// The server's state of one exchange.
pub struct NtlmsspServer {
    names: ServerNames,
    challenge: Challenge,
    filetime: Option<u64>,
    state: State,
}

enum State {
    AwaitNegotiate,
    AwaitAuthenticate {
        negotiate: Vec<u8>,
        challenge: Vec<u8>,
        offered: NegotiateFlags,
    },
    /// Key material of the last message, and the messages without their MIC, for [`NtlmsspServer::complete`].
    Decide {
        request: Box<AuthenticateRequest>,
        transcript: Vec<u8>,
    },
    Done,
}

impl core::fmt::Debug for NtlmsspServer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("NtlmsspServer")
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

impl NtlmsspServer {
    /// A new exchange. `challenge` is random. `filetime` (100 ns since 1601) makes newer clients add a MIC and use
    /// NTLMv2 only; `None` omits the server's time, as Windows XP does.
    pub const fn new(names: ServerNames, challenge: Challenge, filetime: Option<u64>) -> Self {
        Self {
            names,
            challenge,
            filetime,
            state: State::AwaitNegotiate,
        }
    }

    /// Handles the client's next token.
    pub fn handle(&mut self, token: &[u8]) -> Result<Step, NtlmsspError> {
        let message = Message::parse(token)?;
        let due = core::mem::replace(&mut self.state, State::Done);
        match (due, message) {
            (State::AwaitNegotiate, Message::Negotiate(negotiate)) => {
                self.challenge(&negotiate, token)
            }
            (
                State::AwaitAuthenticate {
                    negotiate,
                    challenge,
                    offered,
                },
                Message::Authenticate(message),
            ) => {
                let request = Box::new(self.request(&message, offered)?);
                let transcript = [&negotiate, &challenge, without_mic(token).as_slice()].concat();
                self.state = State::Decide {
                    request: request.clone(),
                    transcript,
                };
                Ok(Step::Authenticate(request))
            }
            (_, message) => Err(NtlmsspError::OutOfTurn(message.message_type())),
        }
    }

    /// Ends an exchange whose client was verified (or is anonymous, or a guest: then `session_key` is `None` and 16
    /// zeros take its place, as [MS-NLMP] 3.2.5.1.2 has it for anonymous ones).
    ///
    /// Fails if one of the three messages was altered in transit, which only NTLMv2 clients make detectable.
    pub fn complete(&mut self, verified: Option<&Verified>) -> Result<Session, NtlmsspError> {
        let State::Decide {
            request,
            transcript,
        } = core::mem::replace(&mut self.state, State::Done)
        else {
            return Err(NtlmsspError::OutOfTurn(3));
        };
        let key = verified.and_then(|verified| verified.session_key.as_ref());
        let exported = exported_session_key(&request, key)?;
        if request.mic_promised && key.is_some() {
            let expected = hmac_md5(exported.as_bytes(), &[&transcript]);
            if !request.mic.is_some_and(|mic| expected.ct_eq(&mic).into()) {
                return Err(NtlmsspError::MicMismatch);
            }
        }
        Ok(Session::new(Role::Server, request.flags, exported))
    }

    fn challenge(&mut self, negotiate: &Negotiate<'_>, token: &[u8]) -> Result<Step, NtlmsspError> {
        let flags = answer(negotiate.flags);
        let name = upper(&self.names.computer);
        let target_name = if flags.has(NegotiateFlags::UNICODE) {
            utf16le(&name)
        } else {
            name.into_bytes()
        };
        let info = self.target_info();
        let message = ChallengeMessage {
            flags,
            target_name: &target_name,
            server_challenge: self.challenge,
            target_info: &info,
            version: VERSION,
        };
        let challenge = message.emit()?;
        self.state = State::AwaitAuthenticate {
            negotiate: token.to_vec(),
            challenge: challenge.clone(),
            offered: flags,
        };
        Ok(Step::Continue(challenge))
    }

    /// The AV pairs, in the order Windows sends them ([MS-NLMP] 3.2.5.1.1).
    fn target_info(&self) -> Vec<u8> {
        let names = &self.names;
        let mut info = Vec::new();
        push_av_text(&mut info, AvId::NB_DOMAIN_NAME, &names.domain);
        push_av_text(&mut info, AvId::NB_COMPUTER_NAME, &names.computer);
        let local = lower(&names.computer);
        for (id, name) in [
            (AvId::DNS_DOMAIN_NAME, &names.dns_domain),
            (AvId::DNS_COMPUTER_NAME, &names.dns_computer),
        ] {
            push_av_text(&mut info, id, if name.is_empty() { &local } else { name });
        }
        if let Some(filetime) = self.filetime {
            push_av_pair(&mut info, AvId::TIMESTAMP, &filetime.to_le_bytes());
        }
        push_av_pair(&mut info, AvId::EOL, &[]);
        info
    }

    fn request(
        &self,
        message: &super::Authenticate<'_>,
        offered: NegotiateFlags,
    ) -> Result<AuthenticateRequest, NtlmsspError> {
        // A client may select only flags that the server offered.
        let flags = message.flags.unwrap_or(offered) & offered;
        let unicode = message
            .flags
            .unwrap_or(offered)
            .has(NegotiateFlags::UNICODE);
        if !matches!(message.encrypted_session_key.len(), 0 | 16) {
            return Err(NtlmsspError::BadLength("session key"));
        }
        Ok(AuthenticateRequest {
            user: NtlmString::new(unicode, message.user),
            domain: NtlmString::new(unicode, message.domain),
            workstation: NtlmString::new(unicode, message.workstation),
            challenge: self.challenge,
            lm: message.lm.to_vec(),
            nt: message.nt.to_vec(),
            flags,
            encrypted_session_key: message.encrypted_session_key.to_vec(),
            anonymous: message.user.is_empty()
                && message.nt.is_empty()
                && matches!(message.lm, [] | [0]),
            mic_promised: says_it_has_a_mic(message.nt),
            mic: message.mic,
        })
    }
}

/// The version a CHALLENGE shows: 6.1, no build, NTLMSSP revision 15 ([MS-NLMP] 2.2.2.10). For debugging only.
const VERSION: [u8; 8] = [6, 1, 0, 0, 0, 0, 0, 15];

/// Selects the flags from the client's capabilities. The server never selects LM-hash keys or connectionless use.
fn answer(wanted: NegotiateFlags) -> NegotiateFlags {
    let echoed = NegotiateFlags::SIGN
        | NegotiateFlags::SEAL
        | NegotiateFlags::ALWAYS_SIGN
        | NegotiateFlags::EXTENDED_SESSIONSECURITY
        | NegotiateFlags::KEY_128
        | NegotiateFlags::KEY_56
        | NegotiateFlags::KEY_EXCH
        | NegotiateFlags::VERSION
        | NegotiateFlags::REQUEST_TARGET;
    let text = if wanted.has(NegotiateFlags::UNICODE) {
        NegotiateFlags::UNICODE
    } else {
        NegotiateFlags::OEM
    };
    (wanted & echoed)
        | text
        | NegotiateFlags::NTLM
        | NegotiateFlags::TARGET_TYPE_SERVER
        | NegotiateFlags::TARGET_INFO
}

/// `ExportedSessionKey` ([MS-NLMP] 3.2.5.1.2).
fn exported_session_key(
    request: &AuthenticateRequest,
    key_exchange_key: Option<&SessionKey>,
) -> Result<SessionKey, NtlmsspError> {
    let key = key_exchange_key
        .cloned()
        .unwrap_or_else(|| SessionKey::new([0; 16]));
    if !request.flags.has(NegotiateFlags::KEY_EXCH) || request.encrypted_session_key.is_empty() {
        return Ok(key);
    }
    let sent = request
        .encrypted_session_key
        .first_chunk()
        .ok_or(NtlmsspError::BadLength("session key"))?;
    Ok(SessionKey::new(rc4k(key.as_bytes(), sent)))
}

/// Whether the AV pairs inside an NTLMv2 response have the flag for it ([MS-NLMP] 2.2.2.1, 3.1.5.1.2).
fn says_it_has_a_mic(nt: &[u8]) -> bool {
    const PROOF_AND_CLIENT_CHALLENGE: usize = 16 + 28;
    let pairs = AvPairs::new(nt.get(PROOF_AND_CLIENT_CHALLENGE..).unwrap_or_default());
    let flags = pairs
        .value(AvId::FLAGS)
        .and_then(|value| value.first_chunk::<4>());
    flags.is_some_and(|flags| u32::from_le_bytes(*flags) & AvId::FLAG_MIC_PRESENT != 0)
}

/// An AUTHENTICATE message with zeros for its MIC.
fn without_mic(token: &[u8]) -> Vec<u8> {
    let mut bytes = token.to_vec();
    if let Some(mic) = bytes.get_mut(MIC) {
        mic.fill(0);
    }
    bytes
}
