//! The client's end of the exchange ([MS-NLMP] 3.1.5), NTLMv2 with a MIC.

use super::message::MIC;
use super::{
    Authenticate, AvId, AvPairs, ChallengeMessage, Message, Negotiate, NegotiateFlags,
    NtlmsspError, Role, Session, push_av_pair,
};
use crate::primitives::{hmac_md5, rc4k};
use crate::response::{Challenge, V2Inputs, lm_v2, ntlm_v2};
use crate::secret::{Hash, SessionKey};
use crate::text::utf16le;
use alloc::vec;
use alloc::vec::Vec;

/// A client's credentials and random values.
#[derive(Clone, Copy, Debug)]
pub struct Credentials<'a> {
    /// The user's name.
    pub user: &'a str,
    /// The user's domain; may be empty.
    pub domain: &'a str,
    /// The client's own name.
    pub workstation: &'a str,
    /// The NT hash of the password.
    pub nt_hash: &'a Hash,
    /// Eight random bytes.
    pub client_challenge: &'a Challenge,
    /// Sixteen random bytes: the session key to use.
    pub session_key: &'a SessionKey,
    /// The client's time, 100 ns since 1601, for servers that do not send theirs.
    pub filetime: u64,
}

/// The client's state of one exchange.
#[derive(Debug)]
pub struct NtlmsspClient {
    negotiate: Vec<u8>,
}

impl NtlmsspClient {
    /// Starts an exchange; the second value is the NEGOTIATE message to send.
    pub fn start() -> Result<(Self, Vec<u8>), NtlmsspError> {
        let flags = NegotiateFlags::UNICODE
            | NegotiateFlags::OEM
            | NegotiateFlags::REQUEST_TARGET
            | NegotiateFlags::NTLM
            | NegotiateFlags::SIGN
            | NegotiateFlags::ALWAYS_SIGN
            | NegotiateFlags::EXTENDED_SESSIONSECURITY
            | NegotiateFlags::KEY_128
            | NegotiateFlags::KEY_EXCH;
        let negotiate = Negotiate {
            flags,
            ..Negotiate::default()
        }
        .emit()?;
        Ok((
            Self {
                negotiate: negotiate.clone(),
            },
            negotiate,
        ))
    }

    /// Answers the CHALLENGE message: returns the AUTHENTICATE message to send and the resulting session.
    pub fn answer(
        self,
        token: &[u8],
        who: &Credentials<'_>,
    ) -> Result<(Vec<u8>, Session), NtlmsspError> {
        let challenge = match Message::parse(token)? {
            Message::Challenge(challenge) => challenge,
            other => return Err(NtlmsspError::OutOfTurn(other.message_type())),
        };
        let proof = Proof::new(&challenge, who);
        let exchange = challenge.flags.has(NegotiateFlags::KEY_EXCH);
        let encrypted = rc4k(proof.session_key.as_bytes(), who.session_key.as_bytes());
        let exported = if exchange {
            who.session_key.clone()
        } else {
            proof.session_key
        };
        let unicode = challenge.flags.has(NegotiateFlags::UNICODE);
        let message = Authenticate {
            flags: Some(challenge.flags),
            lm: &proof.lm,
            nt: &proof.nt,
            domain: &encode(unicode, who.domain),
            user: &encode(unicode, who.user),
            workstation: &encode(unicode, who.workstation),
            encrypted_session_key: if exchange { &encrypted } else { &[] },
            version: [0; 8],
            mic: Some([0; 16]),
        };
        let mut bytes = message.emit()?;
        let mic = hmac_md5(exported.as_bytes(), &[&self.negotiate, token, &bytes]);
        bytes
            .get_mut(MIC)
            .ok_or(NtlmsspError::Truncated)?
            .copy_from_slice(&mic);
        Ok((bytes, Session::new(Role::Client, challenge.flags, exported)))
    }
}

/// Both responses, and the key exchange key.
struct Proof {
    lm: [u8; 24],
    nt: Vec<u8>,
    session_key: SessionKey,
}

impl Proof {
    fn new(challenge: &ChallengeMessage<'_>, who: &Credentials<'_>) -> Self {
        let inputs = V2Inputs {
            user: who.user,
            domain: who.domain,
            challenge: &challenge.server_challenge,
            client_challenge: who.client_challenge,
        };
        let told = AvPairs::new(challenge.target_info)
            .value(AvId::TIMESTAMP)
            .and_then(<[u8]>::first_chunk);
        let time = told.map_or(who.filetime, |time| u64::from_le_bytes(*time));
        let nt = ntlm_v2(
            who.nt_hash,
            &inputs,
            time,
            &with_mic_flag(challenge.target_info),
        );
        // A server that sends its time does not accept LMv2 ([MS-NLMP] 3.1.5.1.2).
        let lm = if told.is_some() {
            [0; 24]
        } else {
            lm_v2(who.nt_hash, &inputs).bytes
        };
        Self {
            lm,
            nt: nt.bytes,
            session_key: nt.session_key,
        }
    }
}

fn encode(unicode: bool, text: &str) -> Vec<u8> {
    if unicode {
        utf16le(text)
    } else {
        text.as_bytes().to_vec()
    }
}

/// The server's AV pairs and the flag that announces a MIC.
fn with_mic_flag(target_info: &[u8]) -> Vec<u8> {
    let mut list = vec![];
    for (id, value) in AvPairs::new(target_info).filter(|(id, _)| *id != AvId::FLAGS) {
        push_av_pair(&mut list, id, value);
    }
    push_av_pair(
        &mut list,
        AvId::FLAGS,
        &AvId::FLAG_MIC_PRESENT.to_le_bytes(),
    );
    push_av_pair(&mut list, AvId::EOL, &[]);
    list
}
