//! Who logs on, and the requests that depend on it.

use coax_decode::Decoded;
use coax_logon::{
    hash::{lm_hash, nt_hash},
    response::{self, Challenge},
    text::OemCodePage,
};
use coax_wire::{
    block::{Block, NO_ANDX, WireStr, chain},
    codepage::{CodePage, utf16},
    command as code,
    header::{HEADER_LEN, Header},
    io::Writer,
    smb::{
        session_setup_andx::{Credentials, Request as Setup},
        tree_connect, tree_connect_andx,
    },
};

use crate::fields::{bytes, number};

/// CAP_EXTENDED_SECURITY.
const EXTENDED: u32 = 0x8000_0000;

/// Who logs on, and where.
#[derive(Clone, Default)]
pub struct Identity {
    /// The user; `None` is a guest.
    pub user: Option<String>,
    /// The user's password.
    pub password: String,
    /// The user's domain.
    pub domain: String,
    /// The server's name or address.
    pub host: String,
    /// The share that takes the place of the recorded ones; empty: the recorded names.
    pub share: String,
}

/// What the server's NEGOTIATE response says for the log-on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Negotiated {
    challenge: Option<Challenge>,
    session_key: u32,
}

impl Negotiated {
    /// Reads the response.
    pub(crate) fn of(message: &[u8], decoded: &Decoded) -> Self {
        let challenge = decoded
            .field("Challenge")
            .map(|field| bytes(message, field));
        Self {
            challenge: challenge.and_then(|bytes| bytes.try_into().ok()),
            session_key: number(decoded, "SessionKey").unwrap_or(0) as u32,
        }
    }
}

impl Identity {
    /// Rebuilds a chain with a log-on or a tree connect in it; `None` if it cannot be read.
    pub(crate) fn rebuild(&self, recorded: &[u8], negotiated: &Negotiated) -> Option<Vec<u8>> {
        let header = Header::parse(recorded).ok()?;
        let mut out = Writer::with_capacity(recorded.len().saturating_add(128));
        header.emit(&mut out);
        let (mut command, mut at) = (header.command, HEADER_LEN);
        for _ in 0..coax_wire::block::MAX_CHAIN {
            let block = Block::at(recorded, at).ok()?;
            let start = out.len();
            self.block(command, &block, (&header, negotiated), &mut out)?;
            match block
                .andx()
                .filter(|_| coax_wire::command::is_andx(command))
            {
                Some((next, offset)) if next != NO_ANDX && offset > at => {
                    chain(&mut out, start, next);
                    (command, at) = (next, offset);
                }
                _ => break,
            }
        }
        Some(out.into_vec())
    }

    fn block(
        &self,
        command: u8,
        block: &Block<'_>,
        (header, negotiated): (&Header, &Negotiated),
        out: &mut Writer,
    ) -> Option<()> {
        match command {
            code::SESSION_SETUP_ANDX => self.setup(block, (header, negotiated), out),
            code::TREE_CONNECT_ANDX => {
                let mut request =
                    tree_connect_andx::Request::parse(block, header.unicode()).ok()?;
                let path = self.path(request.path);
                request.path = WireStr {
                    raw: &path,
                    ..request.path
                };
                request.password = &[0];
                request.emit(out);
                Some(())
            }
            code::TREE_CONNECT => {
                let mut request = tree_connect::Request::parse(block).ok()?;
                let path = self.path(request.path);
                request.path = WireStr {
                    raw: &path,
                    ..request.path
                };
                let password = CodePage::cp437().encode_lossy(&self.password);
                if !password.is_empty() {
                    request.password = WireStr {
                        raw: &password,
                        unicode: false,
                    };
                }
                request.emit(out);
                Some(())
            }
            _ => {
                let words = block.words().rest().to_vec();
                out.u8(block.word_count())
                    .bytes(&words)
                    .u16(block.bytes.len() as u16)
                    .bytes(block.bytes);
                Some(())
            }
        }
    }

    /// `\\HOST\SHARE`; IPC$ stays IPC$.
    fn path(&self, recorded: WireStr<'_>) -> Vec<u8> {
        let text = coax_wire::smb::summary::decoded(recorded, CodePage::cp437());
        let share = text.rsplit('\\').next().unwrap_or_default();
        let share = match share.eq_ignore_ascii_case("IPC$") || self.share.is_empty() {
            true => share,
            false => &self.share,
        };
        let path = match text.contains('\\') {
            true => format!("\\\\{}\\{share}", self.host).to_uppercase(),
            false => share.to_uppercase(),
        };
        encoded(&path, recorded.unicode)
    }

    fn setup(
        &self,
        block: &Block<'_>,
        (header, negotiated): (&Header, &Negotiated),
        out: &mut Writer,
    ) -> Option<()> {
        let unicode = header.unicode();
        let recorded = Setup::parse(block, unicode).ok()?;
        let (lm, nt) = self.responses(negotiated);
        let account = encoded(self.user.as_deref().unwrap_or("GUEST"), unicode);
        let domain = encoded(&self.domain, unicode);
        let name = |raw| Some(WireStr { raw, unicode });
        let credentials = match recorded.credentials {
            Credentials::Lanman { .. } => Credentials::Lanman { password: &lm },
            Credentials::Nt { .. } | Credentials::Extended { .. } => Credentials::Nt {
                oem_password: &lm,
                unicode_password: &nt,
            },
        };
        let empty = WireStr { raw: &[], unicode };
        Setup {
            session_key: negotiated.session_key,
            capabilities: recorded.capabilities & !EXTENDED,
            credentials,
            account: name(account.as_slice()),
            domain: name(domain.as_slice()),
            native_os: recorded.native_os.or(Some(empty)),
            native_lan_man: recorded.native_lan_man.or(Some(empty)),
            ..recorded
        }
        .emit(out);
        Some(())
    }

    /// Responses to the challenge; none for a guest or without a challenge.
    fn responses(&self, negotiated: &Negotiated) -> (Vec<u8>, Vec<u8>) {
        let Some(challenge) = negotiated.challenge.filter(|_| self.user.is_some()) else {
            return (Vec::new(), Vec::new());
        };
        let lm = lm_hash(&self.password, &Page).map(|hash| response::lm(&hash, &challenge).bytes);
        let nt = response::ntlm_v1(&nt_hash(&self.password), &challenge).bytes;
        (lm.map(Vec::from).unwrap_or_default(), nt.to_vec())
    }
}

/// The code page of old machines, for LM responses.
struct Page;

impl OemCodePage for Page {
    fn decode(&self, oem: &[u8]) -> String {
        CodePage::cp437().decode(oem).into_owned()
    }

    fn encode_upper(&self, text: &str) -> Option<Vec<u8>> {
        CodePage::cp437().encode(&text.to_uppercase()).ok()
    }
}

fn encoded(text: &str, unicode: bool) -> Vec<u8> {
    match unicode {
        true => utf16::encode(text),
        false => CodePage::cp437().encode_lossy(text),
    }
}
