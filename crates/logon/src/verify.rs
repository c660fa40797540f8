//! The server's verification of a client's responses ([MS-CIFS] 3.3.5.43, [MS-NLMP] 3.3).
//!
//! The lengths of the two password fields determine their kind; where lengths are ambiguous, the server tries each
//! kind. It also tries kinds that the policy forbids, so that the log can distinguish "wrong password" from "right
//! password, forbidden method". A forbidden kind never authenticates a client.

pub use crate::policy::How;

use crate::accounts::User;
use crate::hash::{lm_hash, nt_hash, ntowf_v2};
use crate::policy::{Policy, Refusal};
use crate::primitives::hmac_md5;
use crate::response::{
    Challenge, desl, lm_session_key, nt_session_key, ntlm2_session, ntlm2_session_key,
    v2_session_key,
};
use crate::secret::{Hash, SessionKey};
use crate::text::{OemCodePage, from_utf16le, lower, upper};
use alloc::string::String;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// The authentication data of a client.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The user name, in the client's spelling.
    pub user: &'a str,
    /// The domain, in the client's spelling; NTLMv2 responses cover it.
    pub domain: &'a str,
    /// The server's challenge.
    pub challenge: &'a Challenge,
    /// `CaseInsensitivePassword` (OEMPassword), or NTLMSSP's `LmChallengeResponse`.
    pub lm: &'a [u8],
    /// `CaseSensitivePassword` (UnicodePassword), or NTLMSSP's `NtChallengeResponse`.
    pub nt: &'a [u8],
    /// Whether NTLMSSP negotiated extended session security; false without NTLMSSP.
    pub extended_session_security: bool,
}

/// An authenticated client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The authentication method.
    pub how: How,
    /// The session key both sides now share; `None` without one (plaintext, no password): messages are then not signed.
    /// In NTLMSSP this is the key exchange key.
    pub session_key: Option<SessionKey>,
}

impl Verified {
    fn keyed(how: How, session_key: SessionKey) -> Self {
        Self {
            how,
            session_key: Some(session_key),
        }
    }

    const fn keyless(how: How) -> Self {
        Self {
            how,
            session_key: None,
        }
    }
}

/// Checks a challenge response.
///
/// The caller first decides whether an empty user name means an anonymous log-on, and whether an unknown user becomes a
/// guest.
pub fn verify(claim: &Claim<'_>, user: &User, policy: &Policy) -> Result<Verified, Refusal> {
    if user.disabled {
        return Err(Refusal::AccountDisabled);
    }
    if user.no_password {
        return policy
            .admit(How::NoPassword)
            .map(|()| Verified::keyless(How::NoPassword));
    }
    let fields = Fields::of(claim);
    let mut refusal = None;
    for found in fields.matches(claim, user) {
        match policy.admit(found.how) {
            Ok(()) => return Ok(found),
            // The first match is the strongest, so its setting is the least that would admit this client.
            Err(not_allowed) => refusal = refusal.or(Some(not_allowed)),
        }
    }
    Err(refusal.unwrap_or_else(|| fields.without_a_match(user)))
}

/// What each field may hold, by its length.
struct Fields<'a> {
    /// A 24-byte LM field that is not a placeholder.
    lm: Option<&'a [u8; 24]>,
    /// A 24-byte NT field.
    nt: Option<&'a [u8; 24]>,
    /// A longer NT field: 16 bytes of proof, and the blob it proves.
    nt_v2: Option<(&'a [u8; 16], &'a [u8])>,
    empty: bool,
}

impl<'a> Fields<'a> {
    fn of(claim: &Claim<'a>) -> Self {
        // All zeros in the LM field: the client computes no LM response (the Wii's tinysmb; Windows after a
        // CHALLENGE with a time stamp, [MS-NLMP] 3.1.5.1.2).
        let lm = <&[u8; 24]>::try_from(claim.lm)
            .ok()
            .filter(|lm| lm.iter().any(|&b| b != 0));
        let nt = <&[u8; 24]>::try_from(claim.nt).ok();
        let nt_v2 = if claim.nt.len() > 24 {
            claim.nt.split_first_chunk::<16>()
        } else {
            None
        };
        Self {
            lm,
            nt,
            nt_v2,
            empty: claim.lm.len() <= 1 && claim.nt.is_empty(),
        }
    }

    /// The refusal if no response matches.
    fn without_a_match(&self, user: &User) -> Refusal {
        let nt_sent = self.nt.is_some() || self.nt_v2.is_some();
        match (self.empty, nt_sent, self.lm.is_some()) {
            (true, ..) => Refusal::NoResponse,
            (false, false, false) => Refusal::UnknownResponse,
            (false, true, _) if user.nt_hash.is_none() => Refusal::NoNtHash,
            (false, false, true) if user.lm_hash.is_none() => Refusal::NoLmHash,
            _ => Refusal::WrongPassword,
        }
    }

    /// All readings of the fields under which the password is right, the strongest first.
    fn matches(&self, claim: &Claim<'_>, user: &User) -> impl Iterator<Item = Verified> {
        let nt = user.nt_hash.as_ref();
        [
            nt.and_then(|hash| self.ntlm_v2(claim, hash)),
            nt.and_then(|hash| self.lm_v2(claim, hash)),
            nt.and_then(|hash| self.ntlm2_session(claim, hash)),
            nt.and_then(|hash| self.ntlm_v1(claim, hash)),
            user.lm_hash.as_ref().and_then(|hash| self.lm(claim, hash)),
        ]
        .into_iter()
        .flatten()
    }

    fn ntlm_v2(&self, claim: &Claim<'_>, nt_hash: &Hash) -> Option<Verified> {
        let (proof, blob) = self.nt_v2?;
        v2_key(claim, nt_hash, proof, blob).map(|key| Verified::keyed(How::NtlmV2, key))
    }

    fn lm_v2(&self, claim: &Claim<'_>, nt_hash: &Hash) -> Option<Verified> {
        let (proof, client_challenge) = self.lm?.split_first_chunk::<16>()?;
        v2_key(claim, nt_hash, proof, client_challenge).map(|key| Verified::keyed(How::LmV2, key))
    }

    fn ntlm2_session(&self, claim: &Claim<'_>, nt_hash: &Hash) -> Option<Verified> {
        let client_challenge = claim
            .lm
            .first_chunk::<8>()
            .filter(|_| claim.extended_session_security)?;
        let expected = ntlm2_session(nt_hash, claim.challenge, client_challenge).nt;
        bool::from(expected.ct_eq(self.nt?)).then(|| {
            Verified::keyed(
                How::Ntlm2Session,
                ntlm2_session_key(nt_hash, claim.challenge, client_challenge),
            )
        })
    }

    /// NTLMv1, which some clients put in both fields and some in the LM field alone.
    fn ntlm_v1(&self, claim: &Claim<'_>, nt_hash: &Hash) -> Option<Verified> {
        let expected = desl(nt_hash, claim.challenge);
        let found = [self.nt, self.lm]
            .into_iter()
            .flatten()
            .any(|sent| expected.ct_eq(sent).into());
        found.then(|| Verified::keyed(How::NtlmV1, nt_session_key(nt_hash)))
    }

    fn lm(&self, claim: &Claim<'_>, lm_hash: &Hash) -> Option<Verified> {
        let expected = desl(lm_hash, claim.challenge);
        bool::from(expected.ct_eq(self.lm?))
            .then(|| Verified::keyed(How::Lm, lm_session_key(lm_hash)))
    }
}

/// The session key of a v2 response under whichever spelling of the domain makes it right: as sent, upper-cased, or
/// none (clients that leave it out of the computation though they send it).
fn v2_key(claim: &Claim<'_>, nt_hash: &Hash, proof: &[u8; 16], blob: &[u8]) -> Option<SessionKey> {
    [
        String::from(claim.domain),
        upper(claim.domain),
        String::new(),
    ]
    .iter()
    .find_map(|domain| {
        let key = ntowf_v2(nt_hash, claim.user, domain);
        let expected = hmac_md5(key.as_bytes(), &[claim.challenge, blob]);
        bool::from(expected.ct_eq(proof)).then(|| v2_session_key(&key, proof))
    })
}

/// A plaintext password as received. Bytes after a NUL are padding.
#[derive(Clone, Copy)]
pub enum PlaintextPassword<'a> {
    /// In the client's code page.
    Oem(&'a [u8]),
    /// In UTF-16LE.
    Utf16Le(&'a [u8]),
}

impl core::fmt::Debug for PlaintextPassword<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("<secret>")
    }
}

impl PlaintextPassword<'_> {
    fn decode(&self, page: &dyn OemCodePage) -> String {
        let text = Zeroizing::new(match self {
            Self::Oem(bytes) => page.decode(bytes.split(|&b| b == 0).next().unwrap_or_default()),
            Self::Utf16Le(bytes) => from_utf16le(bytes),
        });
        text.split('\0').next().unwrap_or_default().into()
    }
}

/// Whether a plaintext password is case-sensitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// NT LM 0.12.
    Sensitive,
    /// Every older dialect: those clients upper-case the password.
    Insensitive,
}

/// Verifies a plaintext password ([MS-CIFS] 3.2.4.2.4: plaintext authentication).
pub fn verify_plaintext(
    password: PlaintextPassword<'_>,
    case: Case,
    user: &User,
    policy: &Policy,
    page: &dyn OemCodePage,
) -> Result<Verified, Refusal> {
    if user.disabled {
        return Err(Refusal::AccountDisabled);
    }
    if user.no_password {
        return policy
            .admit(How::NoPassword)
            .map(|()| Verified::keyless(How::NoPassword));
    }
    policy.admit(How::Plaintext)?;
    let given = Zeroizing::new(password.decode(page));
    let right = match case {
        Case::Sensitive => {
            is_exactly(&given, user)
                || (user.nt_hash.is_none() && is_but_for_case(&given, user, page))
        }
        Case::Insensitive => is_exactly(&given, user) || is_but_for_case(&given, user, page),
    };
    right
        .then_some(Verified::keyless(How::Plaintext))
        .ok_or(Refusal::WrongPassword)
}

fn is_exactly(given: &str, user: &User) -> bool {
    user.nt_hash
        .as_ref()
        .is_some_and(|stored| nt_hash(given) == *stored)
}

/// Compares by the LM hash, which ignores case. Without one it uses the hash of the upper-cased password, or else the
/// spellings that a case-changing client would send.
fn is_but_for_case(given: &str, user: &User, page: &dyn OemCodePage) -> bool {
    if let Some(stored) = &user.lm_hash {
        return lm_hash(given, page).is_some_and(|hash| hash == *stored);
    }
    let in_upper_case = Zeroizing::new(upper(given));
    if let Some(stored) = &user.upper_nt_hash {
        return nt_hash(&in_upper_case) == *stored;
    }
    is_exactly(&Zeroizing::new(lower(given)), user) || is_exactly(&in_upper_case, user)
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
