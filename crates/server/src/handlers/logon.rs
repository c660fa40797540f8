//! Authentication: whether a user may log on, as whom, and which setting would allow a refused log-on.

use crate::{
    config::{MapToGuest, Security},
    context::{Call, Park, Retry},
    error::{Because, Result},
    event::Event,
    reason::Reason,
    table::Turn,
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

/// The server's code page, for log-ons.
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

/// The client's authentication data.
#[derive(Clone, Copy, Debug)]
pub struct Proof<'a> {
    /// The case-insensitive field.
    pub oem: &'a [u8],
    /// The case-sensitive field.
    pub unicode: &'a [u8],
    /// NTLMSSP negotiated extended session security.
    pub extended: bool,
    /// The challenge that it answers, unless it is the connection's own.
    pub challenge: Option<[u8; 8]>,
}

/// A successful log-on.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// User; `None` for a guest.
    pub user: Option<String>,
    /// The authentication method, in words.
    pub how: &'static str,
    /// The session key.
    pub session_key: Option<SessionKey>,
    /// The user name that a guest tried.
    pub tried: Option<String>,
    /// The proof itself, for NTLMSSP.
    pub verified: Option<Verified>,
}

/// A guest, and the reason.
pub fn guest(how: &'static str) -> Admitted {
    Admitted {
        user: None,
        how,
        session_key: None,
        tried: None,
        verified: None,
    }
}

/// Delays a log-on, or an attempt at a share password, that follows failed ones from the same address too soon. Call
/// this before anything else.
///
/// # Errors
/// `LOGON_FAILURE` if too many wait already, or if the client cancels the request.
pub fn wait_for_turn(call: &Call<'_>) -> Result<Option<Park>> {
    let (server, conn) = (&call.conn.server, call.conn.id);
    if let (Some(Retry::Cancelled), Some(ticket)) = (&call.retry, call.ticket) {
        server.locked(|tables| tables.forget_log_on(conn, ticket));
        return Err(Status::LOGON_FAILURE.because(Reason::LogOnsWaiting));
    }
    let address = call.conn.peer.host();
    match server.locked(|tables| tables.log_on_turn(call.now, conn, address)) {
        Turn::Now => Ok(None),
        Turn::Refused => Err(Status::LOGON_FAILURE.because(Reason::LogOnsWaiting)),
        Turn::Wait { ticket, deadline } => Ok(Some(Park {
            ticket,
            deadline: Some(deadline),
        })),
    }
}

/// Records a wrong password. Returns the consequence in words, if there is one.
pub fn note_failure(call: &Call<'_>, account: Option<&str>) -> Option<String> {
    let address = call.conn.peer.host();
    let server = &call.conn.server;
    let wait = server.locked(|tables| tables.log_on_failed(call.now, address, account));
    let seconds = wait.0 / 1_000_000_000;
    (seconds > 0).then(|| format!("; the next log-on from {address} waits {seconds} s"))
}

/// Records a right password.
pub fn note_success(call: &Call<'_>, account: &str) {
    let address = call.conn.peer.host();
    let server = &call.conn.server;
    server.locked(|tables| tables.log_on_succeeded(address, account));
}

/// Logs `user` on, perhaps as a guest.
///
/// # Errors
/// `LOGON_FAILURE`, `ACCOUNT_DISABLED`; an event carries the reason and the setting that would allow the log-on.
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
        if config.map_to_guest >= MapToGuest::BadUser {
            return Ok(guest_who_tried("unknown user", user));
        }
        let waits = note_failure(call, None).unwrap_or_default();
        let why = format!("there is no user {user:?}{waits}");
        return refuse(call, user, Status::LOGON_FAILURE, why, None);
    };
    match check(call, user, domain, &proof, account) {
        Ok(verified) => {
            note_success(call, &account.name);
            Ok(Admitted {
                user: Some(account.name.clone()),
                how: words(verified.how),
                session_key: verified.session_key.clone(),
                tried: None,
                verified: Some(verified),
            })
        }
        Err(refusal) => {
            let waits = note_failure(call, Some(&account.name));
            refused(call, user, refusal, &waits.unwrap_or_default())
        }
    }
}

/// A guest who sent the name of an existing user.
fn guest_who_tried(how: &'static str, user: &str) -> Admitted {
    Admitted {
        tried: Some(user.into()),
        ..guest(how)
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
        // No response: the client ignored the challenge and sent the password.
        Err(Refusal::UnknownResponse) => plaintext(call, proof, account),
        verified => verified,
    }
}

fn refused(call: &mut Call<'_>, user: &str, refusal: Refusal, waits: &str) -> Result<Admitted> {
    let why = format!("{refusal}{waits}");
    if matches!(refusal, Refusal::AccountDisabled) {
        return refuse(call, user, Status::ACCOUNT_DISABLED, why, None);
    }
    let wrong = matches!(refusal, Refusal::WrongPassword | Refusal::NoResponse);
    if wrong && call.conn.server.config.map_to_guest == MapToGuest::BadPassword {
        return Ok(guest_who_tried("wrong password", user));
    }
    refuse(call, user, Status::LOGON_FAILURE, why, refusal.setting())
}

/// Blank fields: empty, or the single zero byte of anonymous clients.
fn is_blank(field: &[u8]) -> bool {
    field.is_empty() || field == [0]
}

/// Without a challenge, the client sends plaintext passwords.
fn is_plaintext(call: &Call<'_>, proof: &Proof<'_>) -> bool {
    !call.challenges() && proof.challenge.is_none()
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

#[cfg(test)]
#[path = "throttle_tests.rs"]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
mod tests;
