//! A minimal SMB1 server for log-ons: one connection, four commands.

use coax_logon::accounts::User;
use coax_logon::ntlmssp::{NtlmsspServer, ServerNames, Step};
use coax_logon::policy::{Policy, Refusal};
use coax_logon::signing::{FIRST_REPLY, ServerSequence, Signer};
use coax_logon::spnego::{Acceptor, negotiate_blob};
use coax_logon::text::{Ascii, OemCodePage, from_utf16le};
use coax_logon::verify::{Claim, How, verify};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const CHALLENGE: [u8; 8] = *b"\x11\x22\x33\x44\x55\x66\x77\x88";
const PATIENCE: Duration = Duration::from_secs(20);
const FILETIME: u64 = 133_500_000_000_000_000;
const MORE_PROCESSING_REQUIRED: u32 = 0xc000_0016;
const LOGON_FAILURE: u32 = 0xc000_006d;
const BAD_NETWORK_NAME: u32 = 0xc000_00cc;

/// The server's options.
#[derive(Clone, Copy)]
pub struct Offer {
    /// Extended security (SPNEGO).
    pub extended: bool,
    /// Whether the NEGOTIATE reply holds SPNEGO's hint.
    pub hint: bool,
    /// Demands signing.
    pub sign: bool,
    /// Whether the CHALLENGE contains the server's time.
    pub timestamp: bool,
}

/// The result of a connection.
#[derive(Debug, Default)]
pub struct Outcome {
    /// How the client logged on, or why not.
    pub how: Option<Result<How, Refusal>>,
    /// Whether the last security blob of the server held a signature over the mechanisms.
    pub mechanisms_signed: bool,
    /// Whether its TREE_CONNECT_ANDX bore the right signature.
    pub tree_connect_signed: Option<bool>,
}

/// Listens on an ephemeral port of the loopback interface and serves one connection.
pub fn start(offer: Offer) -> (u16, JoinHandle<Outcome>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (
        port,
        std::thread::spawn(move || {
            accept(&listener).map_or_else(Outcome::default, |s| Connection::new(s, offer).run())
        }),
    )
}

/// Accepts the first connection, within a time limit.
fn accept(listener: &TcpListener) -> Option<TcpStream> {
    listener.set_nonblocking(true).unwrap();
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Ok((stream, _)) = listener.accept() {
            stream.set_nonblocking(false).unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            return Some(stream);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

struct Connection {
    stream: TcpStream,
    offer: Offer,
    acceptor: Acceptor,
    signing: Option<(Signer, ServerSequence)>,
    outcome: Outcome,
}

impl Connection {
    fn new(stream: TcpStream, offer: Offer) -> Self {
        let names = ServerNames {
            computer: "SERVER".into(),
            domain: "GROUP".into(),
            ..ServerNames::default()
        };
        let ntlmssp = NtlmsspServer::new(names, CHALLENGE, offer.timestamp.then_some(FILETIME));
        Self {
            stream,
            offer,
            acceptor: Acceptor::new(ntlmssp),
            signing: None,
            outcome: Outcome::default(),
        }
    }

    fn run(mut self) -> Outcome {
        while let Some(request) = self.receive() {
            match request[4] {
                0x72 => self.negotiate(&request),
                0x73 if request[32] == 12 => self.session_setup_extended(&request),
                0x73 => self.session_setup(&request),
                0x75 => self.tree_connect(&request),
                0x74 => self.log_off(&request),
                _ => break,
            }
        }
        self.outcome
    }

    fn receive(&mut self) -> Option<Vec<u8>> {
        let mut header = [0u8; 4];
        self.stream.read_exact(&mut header).ok()?;
        let mut message = vec![0; usize::from(u16::from_be_bytes([header[2], header[3]]))];
        self.stream.read_exact(&mut message).ok()?;
        (message.len() > 34).then_some(message)
    }

    /// Sends a reply to `request`, signed under `number` if signing is on.
    fn reply(
        &mut self,
        request: &[u8],
        status: u32,
        words: &[u8],
        bytes: &[u8],
        number: Option<u32>,
    ) {
        let mut message = request[..32].to_vec();
        message[5..9].copy_from_slice(&status.to_le_bytes());
        message[9] |= 0x80;
        message[14..22].fill(0);
        message[28..30].copy_from_slice(&[1, 0]);
        message.push(u8::try_from(words.len() / 2).unwrap());
        message.extend(words);
        message.extend(u16::try_from(bytes.len()).unwrap().to_le_bytes());
        message.extend(bytes);
        if let (Some(number), Some((signer, _))) = (number, &self.signing) {
            signer.sign(number, &mut message).unwrap();
        }
        let mut frame = u32::try_from(message.len()).unwrap().to_be_bytes().to_vec();
        frame.extend(message);
        let _ = self.stream.write_all(&frame);
    }

    fn negotiate(&mut self, request: &[u8]) {
        let dialects = request[35..]
            .split(|&b| b == 0)
            .filter(|name| !name.is_empty());
        let index = dialects
            .take_while(|name| *name != b"\x02NT LM 0.12")
            .count();
        let mut words = u16::try_from(index).unwrap().to_le_bytes().to_vec();
        words.push(if self.offer.sign { 0x0f } else { 0x03 });
        words.extend([50, 0, 1, 0]);
        words.extend(16_644u32.to_le_bytes());
        words.extend(65_536u32.to_le_bytes());
        words.extend([0; 4]);
        let capabilities: u32 = 0x5c | if self.offer.extended { 0x8000_0000 } else { 0 };
        words.extend(capabilities.to_le_bytes());
        words.extend(FILETIME.to_le_bytes());
        words.extend([0, 0]);
        let mut bytes = Vec::new();
        if self.offer.extended {
            words.push(0);
            bytes.extend([0x5a; 16]);
            if self.offer.hint {
                bytes.extend(negotiate_blob());
            }
        } else {
            words.push(8);
            bytes.extend(CHALLENGE);
            bytes.extend(b"G\0R\0O\0U\0P\0\0\0");
        }
        let mut request = request.to_vec();
        if !self.offer.extended {
            request[11] &= !0x08;
        }
        self.reply(&request, 0, &words, &bytes, None);
    }

    fn session_setup_extended(&mut self, request: &[u8]) {
        let length = usize::from(u16::from_le_bytes([request[33 + 14], request[33 + 15]]));
        let blob = &request[59..59 + length];
        match self.acceptor.handle(blob).unwrap() {
            Step::Continue(blob) => self.blob_reply(request, MORE_PROCESSING_REQUIRED, &blob, None),
            Step::Authenticate(who) => {
                let (user, domain) = (who.user.decode(&Ascii), who.domain.decode(&Ascii));
                let verified = verify(
                    &who.claim(&user, &domain),
                    &account(&user),
                    &Policy::default(),
                );
                self.outcome.how = Some(verified.clone().map(|verified| verified.how));
                let Ok(verified) = verified else {
                    return self.reply(request, LOGON_FAILURE, &[], &[], None);
                };
                let accepted = self.acceptor.accept(Some(&verified)).unwrap();
                self.outcome.mechanisms_signed = accepted.token.len() > 16;
                let signer = Signer::for_extended_security(&accepted.session_key.unwrap());
                self.signing = self.offer.sign.then(|| (signer, ServerSequence::default()));
                self.blob_reply(request, 0, &accepted.token, Some(FIRST_REPLY));
            }
        }
    }

    fn blob_reply(&mut self, request: &[u8], status: u32, blob: &[u8], number: Option<u32>) {
        let mut words = vec![0xff, 0, 0, 0, 0, 0];
        words.extend(u16::try_from(blob.len()).unwrap().to_le_bytes());
        let mut bytes = blob.to_vec();
        bytes.extend([0; 7]);
        self.reply(request, status, &words, &bytes, number);
    }

    fn session_setup(&mut self, request: &[u8]) {
        let word =
            |at: usize| usize::from(u16::from_le_bytes([request[33 + at], request[34 + at]]));
        let (lm_end, nt_end) = (61 + word(14), 61 + word(14) + word(16));
        let (user, domain) = strings(request, nt_end);
        let (lm, nt) = (&request[61..lm_end], &request[lm_end..nt_end]);
        let claim = Claim {
            user: &user,
            domain: &domain,
            challenge: &CHALLENGE,
            lm,
            nt,
            extended_session_security: false,
        };
        let verified = verify(&claim, &account(&user), &Policy::anything());
        self.outcome.how = Some(verified.clone().map(|verified| verified.how));
        let Ok(verified) = verified else {
            return self.reply(request, LOGON_FAILURE, &[], &[], None);
        };
        let signer = Signer::for_responses(&verified.session_key.unwrap(), lm, nt);
        self.signing = self.offer.sign.then(|| (signer, ServerSequence::default()));
        self.reply(
            request,
            0,
            &[0xff, 0, 0, 0, 0, 0],
            &[0; 7],
            Some(FIRST_REPLY),
        );
    }

    fn log_off(&mut self, request: &[u8]) {
        let number = self
            .signing
            .as_mut()
            .map(|(_, sequence)| sequence.next(0x74).reply());
        self.reply(request, 0, &[0xff, 0, 0, 0], &[], number);
    }

    fn tree_connect(&mut self, request: &[u8]) {
        let number = self.signing.as_mut().map(|(signer, sequence)| {
            let number = sequence.next(0x75);
            self.outcome.tree_connect_signed =
                Some(signer.verify(number.request(), request).is_ok());
            number.reply()
        });
        self.reply(request, BAD_NETWORK_NAME, &[], &[], number);
    }
}

/// There is one account, `bob` with `Password`.
fn account(user: &str) -> User {
    assert!(user.eq_ignore_ascii_case("bob"), "{user}");
    User::with_password("bob", "Password", &Ascii)
}

/// The user's name and domain, which begin at `at`.
fn strings(request: &[u8], at: usize) -> (String, String) {
    let unicode = request[11] & 0x80 != 0;
    let text = if unicode {
        from_utf16le(&request[at + at % 2..])
    } else {
        Ascii.decode(&request[at..])
    };
    let mut names = text.split('\0').map(String::from);
    (names.next().unwrap(), names.next().unwrap())
}
