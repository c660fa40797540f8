//! Log-on: tokens, blobs, responses and password files.

use crate::choices::Choices;
use coax_logon::{
    accounts::{Accounts, User},
    ntlmssp::{AvId, AvPairs, Message, NtlmsspServer, ServerNames, Step},
    policy::Policy,
    spnego::{Acceptor, Token},
    text::Ascii,
    verify::{Claim, verify},
};
use std::hint::black_box;

/// An NTLMSSP token of any kind.
pub fn ntlmssp(data: &[u8]) {
    if let Ok(message) = Message::parse(data) {
        black_box(format!("{message:?}"));
        reemit(&message);
    }
    black_box(AvPairs::new(data).value(AvId(7)));
}

/// What is decoded encodes to what decodes the same.
fn reemit(message: &Message<'_>) {
    let bytes = match message {
        Message::Negotiate(message) => message.emit(),
        Message::Challenge(message) => message.emit(),
        Message::Authenticate(message) => message.emit(),
    };
    if let Ok(bytes) = bytes {
        assert!(Message::parse(&bytes).is_ok());
    }
}

/// A SPNEGO token.
pub fn spnego(data: &[u8]) {
    let Ok(token) = Token::parse(data) else {
        return;
    };
    black_box(format!("{token:?}"));
    let again = match &token {
        Token::Init(init) => init.emit(),
        Token::Resp(resp) => resp.emit(),
    };
    assert!(Token::parse(&again).is_ok());
}

fn acceptor() -> Acceptor {
    let names = ServerNames {
        computer: "COAX".into(),
        domain: "WORKGROUP".into(),
        ..ServerNames::default()
    };
    Acceptor::new(NtlmsspServer::new(names, *b"12345678", Some(1)))
}

/// A log-on of up to four blobs, each with its length before it; what it proves is judged.
pub fn log_on(data: &[u8]) {
    let _ = black_box(acceptor().handle(data));
    let mut acceptor = acceptor();
    let mut choices = Choices::new(data);
    let user = User::with_password("ann", "Secret", &Ascii);
    for _ in 0..4 {
        let len = usize::from(choices.u16());
        let step = acceptor.handle(choices.bytes(len));
        let Ok(Step::Authenticate(request)) = step else {
            continue;
        };
        let (name, domain) = (request.user.decode(&Ascii), request.domain.decode(&Ascii));
        let verified = verify(&request.claim(&name, &domain), &user, &Policy::default()).ok();
        let _ = black_box(acceptor.accept(verified.as_ref()));
    }
}

/// Responses of any length to a challenge: none of them is right.
pub fn responses(data: &[u8]) {
    let mut choices = Choices::new(data);
    let (lm, nt) = (choices.counted(), choices.counted());
    let claim = Claim {
        user: "ann",
        domain: "WORKGROUP",
        challenge: b"12345678",
        lm,
        nt,
        extended_session_security: choices.once_in(2),
    };
    let user = User::with_password("ann", "Secret", &Ascii);
    assert!(verify(&claim, &user, &Policy::default()).is_err());
}

/// A password file.
pub fn smbpasswd(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(accounts) = Accounts::from_smbpasswd(&text) {
        for user in accounts.iter() {
            black_box(format!("{user:?}"));
        }
    }
    let _ = black_box(User::from_name_and_password(&text, &Ascii));
}
