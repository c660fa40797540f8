//! Authenticates the user with the methods that dialect and profile allow.

use crate::{
    error::{Error, Unfit},
    link::Link,
    profile::{Profile, Proof},
    target::Target,
};
use alloc::{string::String, vec::Vec};
use coax_logon::{
    hash,
    ntlmssp::{Credentials, NtlmsspClient},
    response::{Challenge, V2Inputs, lm, lm_v2, ntlm_v1, ntlm_v2},
    secret::{SecretBytes, SessionKey},
    signing::Signer,
    spnego::{NegTokenInit, NegTokenResp, Oid, Token, mech_types_der},
    text::Ascii,
};
use coax_wire::smb::negotiate::security;

/// The two password fields of a session set-up, and the resulting signer.
#[derive(Debug, Default)]
pub(super) struct Proofs {
    /// The "case-insensitive" field; the only one before NT.
    pub oem: Vec<u8>,
    /// The "case-sensitive" field.
    pub unicode: Vec<u8>,
    pub signer: Option<Signer>,
}

impl Proofs {
    /// Responses for a server without extended security.
    pub fn make(
        link: &Link,
        profile: &Profile,
        target: &Target,
        challenge: &[u8],
    ) -> Result<Self, Error> {
        let password = password(target);
        if password.is_empty() {
            return Ok(Self::default());
        }
        if link.security & security::ENCRYPT_PASSWORDS == 0 {
            return Ok(Self {
                oem: plain(link, profile, target)?,
                ..Self::default()
            });
        }
        let challenge: &Challenge = challenge
            .first_chunk()
            .ok_or(Error::Protocol("a challenge that is too short"))?;
        match *profile.logon.proof {
            Proof::Ntlmv2 if link.dialect.is_nt() => Ok(Self::v2(target, password, challenge)),
            Proof::Ntlm if link.dialect.is_nt() => Ok(Self::v1(password, challenge)),
            // A LAN Manager server supports the LM response only.
            _ => Self::lanman(link, profile, target, password, challenge),
        }
    }

    fn lanman(
        link: &Link,
        profile: &Profile,
        target: &Target,
        password: &str,
        challenge: &Challenge,
    ) -> Result<Self, Error> {
        let weak = matches!(*profile.logon.proof, Proof::Lm | Proof::Plaintext);
        if !weak && !target.credentials.allow_weak {
            return Err(Unfit::WeakProof(link.dialect.name).into());
        }
        let upper = link.code_page.upper(password);
        let oem = link.code_page.encode_lossy(&upper);
        let hash = hash::lm_hash_of_oem(&oem).ok_or(Unfit::WeakProof(link.dialect.name))?;
        Ok(Self {
            oem: lm(&hash, challenge).bytes.to_vec(),
            ..Self::default()
        })
    }

    fn v1(password: &str, challenge: &Challenge) -> Self {
        let nt = ntlm_v1(&hash::nt_hash(password), challenge);
        let old =
            hash::lm_hash(password, &Ascii).map_or(nt.bytes, |hash| lm(&hash, challenge).bytes);
        Self {
            signer: Some(Signer::for_responses(&nt.session_key, &old, &nt.bytes)),
            oem: old.to_vec(),
            unicode: nt.bytes.to_vec(),
        }
    }

    fn v2(target: &Target, password: &str, challenge: &Challenge) -> Self {
        let who = &target.credentials;
        let hash = hash::nt_hash(password);
        let inputs = V2Inputs {
            user: &who.user,
            domain: &who.domain,
            challenge,
            client_challenge: &client_challenge(target),
        };
        let nt = ntlm_v2(&hash, &inputs, target.filetime, &[0; 4]);
        let old = lm_v2(&hash, &inputs);
        Self {
            signer: Some(Signer::for_responses(
                &nt.session_key,
                &old.bytes,
                &nt.bytes,
            )),
            oem: old.bytes.to_vec(),
            unicode: nt.bytes,
        }
    }
}

/// The password field for a share: plaintext, or the one response that a tree connect has space for ([MS-CIFS]
/// 3.2.4.2.4). There is no second NTLM field for shares.
pub(super) fn for_share(
    link: &Link,
    profile: &Profile,
    target: &Target,
    challenge: &[u8],
) -> Result<Vec<u8>, Error> {
    let secret = password(target);
    if secret.is_empty() || link.security & security::ENCRYPT_PASSWORDS == 0 {
        return plain(link, profile, target);
    }
    let challenge: &Challenge = challenge
        .first_chunk()
        .ok_or(Error::Protocol("a challenge that is too short"))?;
    // Windows 9x negotiates NT LM 0.12 without NT's commands and supports the LM response only, like LAN Manager.
    let is_nt = link.dialect.is_nt() && link.nt_smbs();
    let strict = *profile.logon.proof == Proof::Ntlmv2 && !target.credentials.allow_weak;
    if is_nt && !strict {
        let response = ntlm_v1(&hash::nt_hash(secret), challenge);
        return Ok(response.bytes.to_vec());
    }
    Proofs::lanman(link, profile, target, secret, challenge).map(|proofs| proofs.oem)
}

/// The plaintext password, if the options allow it.
pub(super) fn plain(link: &Link, profile: &Profile, target: &Target) -> Result<Vec<u8>, Error> {
    let password = password(target);
    let allowed = target.credentials.allow_weak || *profile.logon.proof == Proof::Plaintext;
    if !password.is_empty() && !allowed {
        return Err(Unfit::Plaintext.into());
    }
    let text = if *profile.logon.capitals {
        link.code_page.upper(password)
    } else {
        String::from(password)
    };
    let mut bytes = link.code_page.encode_lossy(&text);
    if link.dialect.shape != coax_wire::dialect::NegotiateShape::Core && !bytes.is_empty() {
        bytes.push(0);
    }
    Ok(bytes)
}

/// The first token of extended security: NTLMSSP in SPNEGO.
pub(super) fn first_token(ntlmssp: &[u8]) -> Vec<u8> {
    NegTokenInit {
        mech_types: Vec::from([Oid::NTLMSSP]),
        mech_token: Some(ntlmssp),
        ..NegTokenInit::default()
    }
    .emit()
}

/// The response to a challenge, and the resulting signer.
pub(super) struct Answer {
    pub token: Vec<u8>,
    pub signer: Option<Signer>,
}

/// Computes the response to the server's challenge.
pub(super) fn answer(
    exchange: NtlmsspClient,
    token: Option<&[u8]>,
    target: &Target,
) -> Result<Answer, Error> {
    const BAD: Error = Error::Protocol("a log-on token that does not decode");
    let blob = token.ok_or(BAD)?;
    let challenge = match Token::parse(blob) {
        Ok(Token::Resp(resp)) => resp.response_token.ok_or(BAD)?,
        // A server may use NTLMSSP without SPNEGO.
        _ => blob,
    };
    let who = &target.credentials;
    let hash = hash::nt_hash(password(target));
    let credentials = Credentials {
        user: &who.user,
        domain: &who.domain,
        workstation: "",
        nt_hash: &hash,
        client_challenge: &client_challenge(target),
        session_key: &session_key(target),
        filetime: target.filetime,
    };
    let (token, mut session) = exchange.answer(challenge, &credentials).map_err(|_| BAD)?;
    let signer =
        (!who.user.is_empty()).then(|| Signer::for_extended_security(session.session_key()));
    // A server that receives NTLMSSP's MIC requires the one over the mechanism list as well (RFC 4178, 5; Samba 4.17).
    let mic = session.sign(&mech_types_der(&[Oid::NTLMSSP]));
    let wrapped = NegTokenResp {
        response_token: Some(&token),
        mech_list_mic: signer.is_some().then_some(mic.as_slice()),
        ..NegTokenResp::default()
    };
    Ok(Answer {
        token: wrapped.emit(),
        signer,
    })
}

fn password(target: &Target) -> &str {
    let secret: &SecretBytes = &target.credentials.password;
    core::str::from_utf8(secret.as_bytes()).unwrap_or_default()
}

fn client_challenge(target: &Target) -> Challenge {
    let mut bytes = Challenge::default();
    bytes
        .iter_mut()
        .zip(target.entropy.as_bytes())
        .for_each(|(to, from)| *to = *from);
    bytes
}

fn session_key(target: &Target) -> SessionKey {
    let mut bytes = [0; 16];
    let rest = target.entropy.as_bytes().iter().skip(8);
    bytes
        .iter_mut()
        .zip(rest)
        .for_each(|(to, from)| *to = *from);
    SessionKey::new(bytes)
}
