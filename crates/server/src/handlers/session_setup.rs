//! SESSION_SETUP_ANDX (0x73) and LOGOFF_ANDX (0x74): [MS-CIFS] 3.3.5.43, 3.3.5.33; extended security [MS-SMB] 3.3.5.3.

use super::logon::{self, Admitted, Proof};
use crate::{
    config::{Security, Signing},
    context::{Call, Flow, Leaving, Outcome, Park},
    error::{Because, Result},
    event::Event,
    reason::{Limit, Reason},
    session::Session,
};
use alloc::{boxed::Box, format, string::String};
use coax_logon::{
    ntlmssp::{AuthenticateRequest, NtlmsspServer, ServerNames, Step},
    signing::{Signer, wants_signing},
    spnego::Acceptor,
};
use coax_wire::{
    block::WireStr,
    header::Uid,
    smb::session_setup_andx::{Credentials, Request, Response},
    status::Status,
};

/// Clients, by native OS or LAN manager, whose caseless flag is reliable.
const FLAG_CASE: [&str; 2] = ["CIFS VFS Client for Linux", "Samba"];

/// Logs on, in one step or in several.
pub fn session_setup(call: &mut Call<'_>) -> Outcome {
    let request = Request::parse(&call.block, call.unicode())?;
    if let Some(park) = end_siblings(call, &request) {
        return Ok(Flow::Park(park));
    }
    // Share-level security does not check passwords here.
    if call.conn.server.config.security == Security::User
        && let Some(park) = logon::wait_for_turn(call)?
    {
        return Ok(Flow::Park(park));
    }
    call.conn.client.max_buffer = request.max_buffer;
    call.conn.client.capabilities = request.capabilities;
    let native = native_names(call, &request);
    call.conn.client.flags_case = FLAG_CASE.iter().any(|name| native.contains(name));
    call.conn.events.push_back(Event::Introduced { native });
    match request.credentials {
        Credentials::Lanman { password } => plain_logon(
            call,
            &request,
            Proof {
                oem: password,
                unicode: &[],
                extended: false,
                challenge: None,
            },
        ),
        Credentials::Nt {
            oem_password,
            unicode_password,
        } => {
            let proof = Proof {
                oem: oem_password,
                unicode: unicode_password,
                extended: false,
                challenge: None,
            };
            plain_logon(call, &request, proof)
        }
        Credentials::Extended { token } => extended_logon(call, &request, token),
    }
}

/// With `reset on zero vc`, the first virtual circuit of a client ([MS-CIFS] 2.2.4.53.1, VcNumber) closes the client's
/// other connections before the reply. As in Samba, this happens before authentication.
fn end_siblings(call: &mut Call<'_>, request: &Request<'_>) -> Option<Park> {
    let begins = call.conn.server.config.reset_on_zero_vc && request.vc_number == 0;
    if !begins || call.ticket.is_some() {
        return None;
    }
    let (now, id) = (call.now, call.conn.id);
    let waits = call
        .conn
        .server
        .locked(|tables| tables.evict_siblings(now, id));
    waits.map(|(ticket, deadline)| Park {
        ticket,
        deadline: Some(deadline),
    })
}

/// Passwords or responses in the request itself.
fn plain_logon(call: &mut Call<'_>, request: &Request<'_>, proof: Proof<'_>) -> Outcome {
    let text = |name: Option<WireStr<'_>>| name.map(|name| call.text(name)).unwrap_or_default();
    let (user, domain) = (text(request.account), text(request.domain));
    let admitted = logon::admit(call, &user, &domain, proof)?;
    if let Some(key) = &admitted.session_key {
        let signer = Signer::for_responses(key, proof.oem, proof.unicode);
        sign_from_here(call, Some(signer))?;
    } else {
        sign_from_here(call, None)?;
    }
    let limit = call.conn.server.config.limits.sessions;
    let uid = call
        .conn
        .sessions
        .add(limit, admitted.user.clone())
        .ok_or_else(|| Status::TOO_MANY_UIDS.because(Reason::Limit(Limit::Sessions)))?;
    welcome(call, request, uid, &admitted, None)
}

/// An SPNEGO or NTLMSSP token.
fn extended_logon(call: &mut Call<'_>, request: &Request<'_>, token: &[u8]) -> Outcome {
    let uid = call.header.uid;
    let known = call.conn.sessions.take_pending(uid);
    let ours = known.is_some() || call.conn.sessions.is_logged_on(uid);
    if uid.0 != 0 && !ours {
        return Err(Status::BAD_UID.into());
    }
    let mut acceptor = known.unwrap_or_else(|| Box::new(Acceptor::new(ntlmssp(call))));
    let step = acceptor
        .handle(token)
        .map_err(|error| refuse_token(call, &format!("{error}")))?;
    let authenticate = match step {
        Step::Continue(answer) => return ask_further(call, ours.then_some(uid), acceptor, &answer),
        Step::Authenticate(authenticate) => authenticate,
    };
    let admitted = admit_ntlmssp(call, &authenticate)?;
    let accepted = acceptor
        .accept(admitted.verified.as_ref())
        .map_err(|error| refuse_token(call, &format!("{error}")))?;
    sign_from_here(
        call,
        accepted
            .session_key
            .as_ref()
            .map(Signer::for_extended_security),
    )?;
    let uid = establish(call, ours.then_some(uid), admitted.user.clone())?;
    welcome(call, request, uid, &admitted, Some(&accepted.token))
}

fn establish(call: &mut Call<'_>, uid: Option<Uid>, user: Option<String>) -> Result<Uid> {
    if let Some(uid) = uid {
        end_other_user(call, uid, user.as_deref());
        call.conn.establish_session(uid, user);
        return Ok(uid);
    }
    let limit = call.conn.server.config.limits.sessions;
    call.conn
        .sessions
        .add(limit, user)
        .ok_or_else(|| Status::TOO_MANY_UIDS.because(Reason::Limit(Limit::Sessions)))
}

/// If `uid` passes to another user, ends what the earlier user has open, as at a log-off: rights were checked for that
/// user. A repeated log-on of the same user keeps it.
fn end_other_user(call: &mut Call<'_>, uid: Uid, user: Option<&str>) {
    let passes = |before: &Session| before.user.as_deref() != user;
    if call.conn.sessions.find(uid).is_some_and(passes) {
        leave(call, uid);
    }
}

/// Closes the open files and searches of a session.
fn leave(call: &mut Call<'_>, uid: Uid) {
    let now = call.now;
    crate::ops::close::leave(call.conn, now, Leaving::User(uid));
    call.conn.searches.close_where(|search| search.uid == uid);
}

fn ntlmssp(call: &Call<'_>) -> NtlmsspServer {
    let config = &call.conn.server.config;
    let names = ServerNames {
        computer: config.name.clone(),
        domain: config.workgroup.clone(),
        dns_computer: config.name.to_lowercase(),
        dns_domain: config.workgroup.to_lowercase(),
    };
    NtlmsspServer::new(names, call.conn.challenge, None)
}

fn ask_further(
    call: &mut Call<'_>,
    uid: Option<Uid>,
    acceptor: Box<Acceptor>,
    token: &[u8],
) -> Outcome {
    let limit = call.conn.server.config.limits.sessions;
    call.header.uid = call
        .conn
        .sessions
        .suspend(limit, uid, acceptor)
        .ok_or_else(|| Status::TOO_MANY_UIDS.because(Reason::Limit(Limit::Sessions)))?;
    put_response(call, 0, Some(token));
    Ok(Flow::DoneWith(Status::MORE_PROCESSING_REQUIRED))
}

fn admit_ntlmssp(call: &mut Call<'_>, request: &AuthenticateRequest) -> Result<Admitted> {
    let page = logon::Page(call.conn.server.config.code_page);
    let (user, domain) = (request.user.decode(&page), request.domain.decode(&page));
    if request.anonymous {
        return Ok(logon::guest("anonymous"));
    }
    let extended = request.claim(&user, &domain).extended_session_security;
    let proof = Proof {
        oem: &request.lm,
        unicode: &request.nt,
        extended,
        challenge: Some(request.challenge),
    };
    logon::admit(call, &user, &domain, proof)
}

fn refuse_token(call: &mut Call<'_>, why: &str) -> Status {
    let status = Status::LOGON_FAILURE;
    let what = String::from("to log on with extended security");
    call.conn.events.push_back(Event::Refused {
        what,
        status,
        why: String::from(why),
        setting: None,
    });
    status
}

/// Signs from this reply on, if configuration and client ask for it.
///
/// # Errors
/// `ACCESS_DENIED` if signing is required and this log-on yields no key.
fn sign_from_here(call: &mut Call<'_>, signer: Option<Signer>) -> Result<()> {
    let required = call.conn.server.config.signing == Signing::Required;
    let can_sign = call.conn.peer.carriage.can_sign();
    let offered = call.conn.server.config.signing != Signing::Off && can_sign;
    match signer {
        Some(signer)
            if can_sign && (required || (offered && wants_signing(call.block.message))) =>
        {
            call.conn.signing.activate(signer);
        }
        _ if required && !call.conn.signing.is_active() => {
            let status = Status::ACCESS_DENIED;
            let why = String::from("guests and plaintext passwords cannot sign");
            let setting = Some(String::from("server signing = auto"));
            call.conn.events.push_back(Event::Refused {
                what: String::from("to log on"),
                status,
                why,
                setting,
            });
            return Err(status.into());
        }
        _ => {}
    }
    Ok(())
}

fn welcome(
    call: &mut Call<'_>,
    request: &Request<'_>,
    uid: Uid,
    admitted: &Admitted,
    token: Option<&[u8]>,
) -> Outcome {
    const GUEST: u16 = 1;
    call.header.uid = uid;
    let event = Event::LoggedOn {
        user: admitted.user.clone(),
        how: admitted.how,
        tried: admitted.tried.clone(),
        native: native_names(call, request),
    };
    call.conn.events.push_back(event);
    put_response(call, if admitted.user.is_none() { GUEST } else { 0 }, token);
    Ok(Flow::Done)
}

/// The client's native operating system and LAN manager.
fn native_names(call: &Call<'_>, request: &Request<'_>) -> String {
    let text = |name: Option<WireStr<'_>>| name.map(|name| call.text(name)).unwrap_or_default();
    let (os, lan_man) = (text(request.native_os), text(request.native_lan_man));
    String::from(format!("{os} {lan_man}").trim())
}

fn put_response(call: &mut Call<'_>, action: u16, token: Option<&[u8]>) {
    let config = &call.conn.server.config;
    let [os, lan_man] = config.native.each_ref().map(String::as_str);
    let names = [os, lan_man, config.workgroup.as_str()].map(|name| call.encode(name));
    let [native_os, native_lan_man, domain] = &names;
    let unicode = call.unicode();
    Response {
        action,
        token,
        native_os,
        native_lan_man,
        domain,
        unicode,
    }
    .emit(call.out());
}

/// Logs off: closes the user's open files.
pub fn logoff(call: &mut Call<'_>) -> Outcome {
    let uid = call.header.uid;
    leave(call, uid);
    call.conn.end_session(uid);
    call.done_andx()
}

#[cfg(test)]
#[path = "session_setup_tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]
mod tests;
