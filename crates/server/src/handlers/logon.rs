//! Whether somebody is let in, as whom, and what would let in who is not.

use crate::{
    config::{MapToGuest, Security},
    conn::Call,
    error::Result,
    event::Event,
};
use alloc::{format, string::String, vec::Vec};
use coax_logon::{
    accounts::User,
    policy::Refusal,
    secret::SessionKey,
    text::OemCodePage,
    verify::{Case, Claim, How, PlaintextPassword, Verified, verify, verify_plaintext},
};
use coax_wire::{codepage::CodePage, status::Status};

/// The server's code page, as log-ons need it.
#[derive(Clone, Copy, Debug)]
pub struct Page(pub CodePage);

impl OemCodePage for Page {
    fn decode(&self, oem: &[u8]) -> String {
        self.0.decode(oem).into_owned()
    }

    fn encode_upper(&self, text: &str) -> Option<Vec<u8>> {
        self.0.encode(&self.0.upper(text)).ok()
    }
}

/// What a client sends to prove who it is.
#[derive(Clone, Copy, Debug)]
pub struct Proof<'a> {
    /// The case-insensitive field.
    pub oem: &'a [u8],
    /// The case-sensitive field.
    pub unicode: &'a [u8],
    /// NTLMSSP negotiated extended session security.
    pub extended: bool,
    /// The challenge it answers, if not the connection's own.
    pub challenge: Option<[u8; 8]>,
}

/// Somebody who was let in.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// User; `None` for a guest.
    pub user: Option<String>,
    /// How, in words.
    pub how: &'static str,
    /// What both sides share now.
    pub session_key: Option<SessionKey>,
    /// The proof itself, for NTLMSSP.
    pub verified: Option<Verified>,
}

/// A guest, and why.
pub fn guest(how: &'static str) -> Admitted {
    Admitted {
        user: None,
        how,
        session_key: None,
        verified: None,
    }
}

/// Lets `user` in, perhaps as a guest.
///
/// # Errors
/// `LOGON_FAILURE`, `ACCOUNT_DISABLED`; the reason and the setting that would help go into an event.
pub fn admit(call: &mut Call<'_>, user: &str, domain: &str, proof: Proof<'_>) -> Result<Admitted> {
    let config = &call.conn.server.config;
    if config.security == Security::Share {
        return Ok(guest("share-level security"));
    }
    if user.is_empty() && is_blank(proof.oem) && is_blank(proof.unicode) {
        return Ok(guest("anonymous"));
    }
    let mapped = config.user_names.as_ref().map(|names| names.account(user));
    let name = mapped.as_deref().unwrap_or(user);
    let Some(account) = call.conn.server.accounts.find(name) else {
        let why = format!("there is no user {user:?}");
        return or_guest(
            call,
            config.map_to_guest >= MapToGuest::BadUser,
            "unknown user",
            user,
            why,
            None,
        );
    };
    match check(call, user, domain, &proof, account) {
        Ok(verified) => Ok(Admitted {
            user: Some(account.name.clone()),
            how: words(verified.how),
            session_key: verified.session_key.clone(),
            verified: Some(verified),
        }),
        Err(refusal) => refused(call, user, refusal),
    }
}

fn check(
    call: &Call<'_>,
    user: &str,
    domain: &str,
    proof: &Proof<'_>,
    account: &User,
) -> core::result::Result<Verified, Refusal> {
    if is_plaintext(call, proof) {
        return plaintext(call, proof, account);
    }
    let challenge = proof.challenge.unwrap_or(call.conn.challenge);
    let claim = Claim {
        user,
        domain,
        challenge: &challenge,
        lm: proof.oem,
        nt: proof.unicode,
        extended_session_security: proof.extended,
    };
    match verify(&claim, account, &call.conn.server.config.policy) {
        // No response at all: a client that ignored the challenge and sent the password.
        Err(Refusal::UnknownResponse) => plaintext(call, proof, account),
        verified => verified,
    }
}

fn refused(call: &mut Call<'_>, user: &str, refusal: Refusal) -> Result<Admitted> {
    let why = format!("{refusal}");
    if matches!(refusal, Refusal::AccountDisabled) {
        return refuse(call, user, Status::ACCOUNT_DISABLED, why, None);
    }
    let wrong = matches!(refusal, Refusal::WrongPassword | Refusal::NoResponse);
    let as_guest = wrong && call.conn.server.config.map_to_guest == MapToGuest::BadPassword;
    or_guest(
        call,
        as_guest,
        "wrong password",
        user,
        why,
        refusal.setting(),
    )
}

/// Blank fields: nothing, or the single zero of anonymous clients.
fn is_blank(field: &[u8]) -> bool {
    field.is_empty() || field == [0]
}

/// Without challenge responses passwords come as they are.
fn is_plaintext(call: &Call<'_>, proof: &Proof<'_>) -> bool {
    !call.conn.server.config.encrypt_passwords && proof.challenge.is_none()
}

fn plaintext(
    call: &Call<'_>,
    proof: &Proof<'_>,
    account: &User,
) -> core::result::Result<Verified, Refusal> {
    let config = &call.conn.server.config;
    let (password, case) = if is_blank(proof.oem) && !proof.unicode.is_empty() {
        (PlaintextPassword::Utf16Le(proof.unicode), Case::Sensitive)
    } else {
        (PlaintextPassword::Oem(proof.oem), Case::Insensitive)
    };
    verify_plaintext(
        password,
        case,
        account,
        &config.policy,
        &Page(config.code_page),
    )
}

fn words(how: How) -> &'static str {
    match how {
        How::Lm => "LM",
        How::NtlmV1 => "NTLMv1",
        How::NtlmV2 => "NTLMv2",
        How::LmV2 => "LMv2",
        How::Ntlm2Session => "NTLM2 session",
        How::Plaintext => "plaintext",
        How::NoPassword => "no password",
    }
}

fn or_guest(
    call: &mut Call<'_>,
    as_guest: bool,
    how: &'static str,
    user: &str,
    why: String,
    setting: Option<&'static str>,
) -> Result<Admitted> {
    if as_guest {
        return Ok(guest(how));
    }
    refuse(call, user, Status::LOGON_FAILURE, why, setting)
}

fn refuse(
    call: &mut Call<'_>,
    user: &str,
    status: Status,
    why: String,
    setting: Option<&'static str>,
) -> Result<Admitted> {
    let what = format!("to log on as {user:?}");
    let setting = setting.map(String::from);
    call.conn.events.push_back(Event::Refused {
        what,
        status,
        why,
        setting,
    });
    Err(status.into())
}
