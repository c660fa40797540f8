//! The server's end: security blobs in, security blobs out.

use super::SpnegoError;
use super::token::{NegState, NegTokenInit, NegTokenResp, Oid, Token};
use crate::ntlmssp::{NtlmsspServer, SIGNATURE, Session, Step};
use crate::secret::SessionKey;
use crate::verify::Verified;
use alloc::vec::Vec;

/// One logon with extended security, in as many SESSION_SETUP_ANDX requests as it takes ([MS-SMB] 3.3.5.3).
///
/// Hand each request's security blob to [`Self::handle`]. `Step::Continue` goes out with
/// STATUS_MORE_PROCESSING_REQUIRED; after `Step::Authenticate`, decide and call [`Self::accept`], whose token goes out
/// with success. After an error or a refusal drop it; an error reply carries no token.
#[derive(Debug)]
pub struct Acceptor {
    ntlmssp: NtlmsspServer,
    wrapping: Wrapping,
    /// The client's list of mechanisms as it was encoded, and its signature once it came.
    mech_types_der: Vec<u8>,
    mech_list_mic: Option<[u8; 16]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrapping {
    /// No token received yet.
    Unknown,
    /// Bare NTLMSSP.
    None,
    /// SPNEGO; whether the server has sent the selected mechanism.
    Spnego { mech_told: bool },
}

/// A logon that succeeded.
#[derive(Debug)]
pub struct Accepted {
    /// The security blob of the last reply; may be empty.
    pub token: Vec<u8>,
    /// The key that signs SMB messages from now on; `None` for guests and anonymous clients, whose messages are not
    /// signed.
    pub session_key: Option<SessionKey>,
}

impl Acceptor {
    /// Creates a logon in its initial state.
    pub const fn new(ntlmssp: NtlmsspServer) -> Self {
        Self {
            ntlmssp,
            wrapping: Wrapping::Unknown,
            mech_types_der: Vec::new(),
            mech_list_mic: None,
        }
    }

    /// Takes the security blob of a SESSION_SETUP_ANDX request.
    pub fn handle(&mut self, blob: &[u8]) -> Result<Step, SpnegoError> {
        if blob.starts_with(SIGNATURE) {
            if self.wrapping == Wrapping::Unknown {
                self.wrapping = Wrapping::None;
            }
            return self.feed(blob);
        }
        match (Token::parse(blob)?, self.wrapping) {
            (Token::Init(init), Wrapping::Unknown) => self.begin(&init),
            (Token::Resp(resp), Wrapping::Spnego { .. }) => {
                // Windows 2000 repeats the token in the signature field; that is not a signature.
                self.mech_list_mic = resp.mech_list_mic.and_then(|mic| mic.try_into().ok());
                self.feed(resp.response_token.ok_or(SpnegoError::NoToken)?)
            }
            _ => Err(SpnegoError::OutOfTurn),
        }
    }

    /// Completes an accepted logon: `verified` is `None` for an anonymous client or a guest.
    pub fn accept(&mut self, verified: Option<&Verified>) -> Result<Accepted, SpnegoError> {
        let mut session = self.ntlmssp.complete(verified)?;
        let keyed = verified.is_some_and(|verified| verified.session_key.is_some());
        let token = match self.wrapping {
            Wrapping::Spnego { .. } => {
                let mic = if keyed {
                    self.exchange_mics(&mut session)?
                } else {
                    None
                };
                let mic = mic.as_ref().map(<[u8; 16]>::as_slice);
                NegTokenResp {
                    state: Some(NegState::AcceptCompleted),
                    mech_list_mic: mic,
                    ..NegTokenResp::default()
                }
                .emit()
            }
            Wrapping::Unknown | Wrapping::None => Vec::new(),
        };
        Ok(Accepted {
            token,
            session_key: keyed.then(|| session.session_key().clone()),
        })
    }

    /// Checks the client's signature over its mechanisms, if it sent one, and makes ours (RFC 4178 5). NTLMSSP is the
    /// only mechanism, so a client without a signature cannot have been downgraded to a weaker one.
    fn exchange_mics(&self, session: &mut Session) -> Result<Option<[u8; 16]>, SpnegoError> {
        match &self.mech_list_mic {
            None => Ok(None),
            Some(mic) if session.verify(&self.mech_types_der, mic) => {
                Ok(Some(session.sign(&self.mech_types_der)))
            }
            Some(_) => Err(SpnegoError::MicMismatch),
        }
    }

    fn begin(&mut self, init: &NegTokenInit<'_>) -> Result<Step, SpnegoError> {
        if !init.mech_types.contains(&Oid::NTLMSSP) {
            return Err(SpnegoError::NoCommonMechanism);
        }
        self.wrapping = Wrapping::Spnego { mech_told: false };
        self.mech_types_der = init.mech_types_der.to_vec();
        let preferred = init.mech_types.first() == Some(&Oid::NTLMSSP);
        match init
            .mech_token
            .filter(|token| preferred && !token.is_empty())
        {
            Some(token) => self.feed(token),
            None => Ok(Step::Continue(self.wrap(None))),
        }
    }

    /// Passes an NTLMSSP token on and wraps the answer.
    fn feed(&mut self, token: &[u8]) -> Result<Step, SpnegoError> {
        match (self.ntlmssp.handle(token)?, self.wrapping) {
            (Step::Continue(answer), Wrapping::Spnego { .. }) => {
                Ok(Step::Continue(self.wrap(Some(&answer))))
            }
            (step, _) => Ok(step),
        }
    }

    fn wrap(&mut self, token: Option<&[u8]>) -> Vec<u8> {
        let told = self.wrapping == Wrapping::Spnego { mech_told: true };
        self.wrapping = Wrapping::Spnego { mech_told: true };
        NegTokenResp {
            state: Some(NegState::AcceptIncomplete),
            supported_mech: (!told).then_some(Oid::NTLMSSP),
            response_token: token,
            mech_list_mic: None,
        }
        .emit()
    }
}
