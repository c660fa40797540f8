//! Connection set-up: negotiate, log on, connect the tree.

mod proof;

use crate::{
    calls::{Calls, Owner, Request},
    error::{Error, Unfit},
    jobs::reply::Reply,
    link::{Link, decode, oem},
    profile::Profile,
    target::Target,
};
use alloc::{boxed::Box, format, string::String, sync::Arc, vec::Vec};
use coax_logon::{
    ntlmssp::NtlmsspClient,
    signing::{FIRST_REPLY, Signer},
};
use coax_wire::{
    block::{Block, WireStr, chain},
    command,
    dialect::{Dialect, NegotiateShape},
    header::{Flags, Flags2, HEADER_LEN, Tid, Uid},
    smb::{
        negotiate::{self, cap, raw_mode, security},
        session_setup_andx, tree_connect, tree_connect_andx,
    },
    status::Status,
    time::{Time, ZoneMinutesWest},
};
use proof::Proofs;

/// Maximum raw transfer if the reply does not contain it: the field has 16 bits ([MS-CIFS] 2.2.4.22.1).
const MAX_RAW: u32 = 65_535;

/// Minimum buffer size of a CORE server, used until the tree connect reply contains the real one ([MS-CIFS]
/// 2.2.4.50.2).
const CORE_BUFFER: u32 = 1024;

/// The state of the set-up.
#[derive(Debug)]
pub(crate) enum Stage {
    /// More replies are outstanding.
    Waiting,
    /// The share is connected.
    Connected(Box<Link>),
}

#[derive(Debug)]
enum Next {
    Begin,
    Negotiate,
    LogOn(Option<NtlmsspClient>),
    Tree,
}

#[derive(Debug)]
pub(crate) struct Setup {
    profile: Arc<Profile>,
    target: Target,
    next: Next,
    offered: Vec<String>,
    link: Option<Box<Link>>,
    challenge: Vec<u8>,
    /// Becomes active when the log-on succeeds.
    signer: Option<Signer>,
}

impl Setup {
    pub fn new(profile: Arc<Profile>, mut target: Target) -> Self {
        if *profile.logon.capitals {
            // Convert the names before computing responses: an NTLMv2 response includes the names as sent.
            let (page, who) = (target.code_page, &mut target.credentials);
            who.user = page.upper(&who.user);
            who.domain = page.upper(&who.domain);
        }
        let offered = match target.dialect {
            Some(name) => Vec::from([String::from(name)]),
            None => profile.negotiate.dialects.to_vec(),
        };
        Self {
            profile,
            target,
            next: Next::Begin,
            offered,
            link: None,
            challenge: Vec::new(),
            signer: None,
        }
    }

    /// The session is established: sends the negotiate request once.
    pub fn begin(&mut self, now: Time, calls: &mut Calls) -> Result<(), Error> {
        if !matches!(self.next, Next::Begin) {
            return Ok(());
        }
        self.next = Next::Negotiate;
        let wanted = &self.profile.negotiate;
        let nt = self.offered.iter().any(|name| is_nt(name));
        calls.flags = Flags(*wanted.flags);
        calls.flags2 = Flags2(*wanted.flags2 | self.nt_flags(nt));
        calls.tid = Tid(0);
        let mut request = Request::new(command::NEGOTIATE, 0);
        let offered: Vec<&str> = self.offered.iter().map(String::as_str).collect();
        negotiate::Request::emit(&offered, &mut request.out);
        calls.send(now, Owner::Setup, request).map(drop)
    }

    /// Handles a reply and sends the next request.
    pub fn reply(
        &mut self,
        now: Time,
        calls: &mut Calls,
        reply: &Reply<'_>,
    ) -> Result<Stage, Error> {
        match core::mem::replace(&mut self.next, Next::Begin) {
            Next::Begin => Err(Error::Protocol("an answer before a question")),
            Next::Negotiate => self.negotiated(now, calls, reply),
            Next::LogOn(exchange) => self.logged_on(now, calls, reply, exchange),
            Next::Tree => self.connected(calls, reply.ok()?, reply),
        }
    }

    /// Flags2 bits of NT dialects.
    fn nt_flags(&self, nt: bool) -> u16 {
        let wanted = &self.profile.negotiate;
        let pick = |wanted: bool, bit: u16| if wanted && nt { bit } else { 0 };
        pick(*wanted.unicode, Flags2::UNICODE)
            | pick(*wanted.nt_status, Flags2::NT_STATUS)
            | pick(*wanted.extended_security, Flags2::EXTENDED_SECURITY)
    }

    fn negotiated(
        &mut self,
        now: Time,
        calls: &mut Calls,
        reply: &Reply<'_>,
    ) -> Result<Stage, Error> {
        let block = reply.ok()?;
        let (shape, response) =
            negotiate::Response::parse(&block, reply.unicode).map_err(reply.nonsense())?;
        let name = self.offered.get(usize::from(response.index));
        let refused = || Error::Dialect {
            offered: self.offered.clone(),
        };
        let dialect = name
            .and_then(|name| Dialect::by_name(name.as_bytes()))
            .ok_or_else(refused)?;
        if shape != dialect.shape && !(shape == NegotiateShape::Lanman && dialect.is_nt()) {
            return Err(Error::Protocol(
                "a negotiate answer that is not of its dialect's shape",
            ));
        }
        let link = self.agree(dialect, &response, reply);
        calls.flags2 = Flags2(*self.profile.negotiate.flags2 | flags2_of(&link));
        self.challenge = response.challenge;
        self.link = Some(Box::new(link));
        if dialect.shape == NegotiateShape::Core {
            return self.connect_tree(now, calls);
        }
        self.log_on(now, calls)
    }

    /// Computes the common parameters.
    fn agree(
        &self,
        dialect: &'static Dialect,
        response: &negotiate::Response,
        reply: &Reply<'_>,
    ) -> Link {
        let wanted = &self.profile.negotiate;
        let nt = dialect.is_nt();
        let both = |bit: u32, flag: bool| nt && flag && response.capabilities & bit != 0;
        let nt_raw = nt && response.capabilities & cap::RAW_MODE != 0;
        let lanman_raw = |bit: u16| !nt && dialect.raw && response.raw_mode & bit != 0;
        let domain = WireStr {
            raw: &response.domain,
            unicode: reply.unicode && nt,
        };
        let mut link = Link::new(dialect, self.target.code_page);
        link.domain = decode(link.code_page, domain);
        link.security = response.security_mode;
        link.max_buffer = match dialect.shape {
            NegotiateShape::Core => CORE_BUFFER,
            _ => response.max_buffer,
        };
        link.max_mpx = response.max_mpx.max(1);
        link.raw_read = nt_raw || lanman_raw(raw_mode::READ);
        link.raw_write = nt_raw || lanman_raw(raw_mode::WRITE);
        link.max_raw = match response.max_raw {
            bytes if nt && bytes != 0 => bytes,
            _ => MAX_RAW,
        };
        link.capabilities = if nt { response.capabilities } else { 0 };
        link.session_key = response.session_key;
        link.zone = match dialect.shape {
            NegotiateShape::Core => self.target.zone,
            _ => ZoneMinutesWest(response.time_zone),
        };
        link.unicode = both(cap::UNICODE, *wanted.unicode);
        link.nt_status = both(cap::NT_STATUS, *wanted.nt_status);
        link.extended_security = response.extended.is_some();
        link
    }

    fn log_on(&mut self, now: Time, calls: &mut Calls) -> Result<Stage, Error> {
        let link = self.link()?;
        if link.security & security::SIGNATURES_REQUIRED != 0
            && self.target.credentials.user.is_empty()
        {
            return Err(Unfit::GuestCannotSign.into());
        }
        if link.extended_security {
            return self.begin_spnego(now, calls);
        }
        let nt = link.dialect.is_nt();
        let proofs = self.proofs()?;
        let wants_signing = self.wants_signing();
        self.signer = proofs.signer.clone().filter(|_| wants_signing);
        if self.signer.is_some() {
            calls.flags2 = Flags2(calls.flags2.0 | Flags2::SIGNED);
        }
        let mut request = Request::new(command::SESSION_SETUP_ANDX, 0);
        let credentials = if nt {
            session_setup_andx::Credentials::Nt {
                oem_password: &proofs.oem,
                unicode_password: &proofs.unicode,
            }
        } else {
            session_setup_andx::Credentials::Lanman {
                password: &proofs.oem,
            }
        };
        self.emit_set_up(&mut request, credentials)?;
        if *self.profile.logon.chain_tree_connect {
            chain(&mut request.out, HEADER_LEN, command::TREE_CONNECT_ANDX);
            self.emit_tree(&mut request)?;
        }
        self.next = Next::LogOn(None);
        calls.send(now, Owner::Setup, request)?;
        Ok(Stage::Waiting)
    }

    /// The responses for the user, if the server has user-level security.
    fn proofs(&self) -> Result<Proofs, Error> {
        let link = self.link()?;
        if link.security & security::USER_LEVEL == 0 {
            return Ok(Proofs::default());
        }
        Proofs::make(link, &self.profile, &self.target, &self.challenge)
    }

    fn wants_signing(&self) -> bool {
        let bits = self.link.as_ref().map_or(0, |link| link.security);
        bits & security::SIGNATURES_REQUIRED != 0
            || (self.target.sign && bits & security::SIGNATURES_ENABLED != 0)
    }

    fn begin_spnego(&mut self, now: Time, calls: &mut Calls) -> Result<Stage, Error> {
        let (exchange, first) = NtlmsspClient::start()
            .map_err(|_| Error::Protocol("no NTLMSSP message could be made"))?;
        self.next = Next::LogOn(Some(exchange));
        if self.wants_signing() {
            calls.flags2 = Flags2(calls.flags2.0 | Flags2::SIGNED);
        }
        self.send_token(now, calls, &proof::first_token(&first))
    }

    fn send_token(&mut self, now: Time, calls: &mut Calls, token: &[u8]) -> Result<Stage, Error> {
        let mut request = Request::new(command::SESSION_SETUP_ANDX, 0);
        let credentials = session_setup_andx::Credentials::Extended { token };
        self.emit_set_up(&mut request, credentials)?;
        calls.send(now, Owner::Setup, request)?;
        Ok(Stage::Waiting)
    }

    fn emit_set_up(
        &self,
        request: &mut Request,
        credentials: session_setup_andx::Credentials<'_>,
    ) -> Result<(), Error> {
        let link = self.link()?;
        let who = &self.target.credentials;
        let logon = &self.profile.logon;
        let extended = matches!(
            credentials,
            session_setup_andx::Credentials::Extended { .. }
        );
        let (account, domain) = (link.text(&who.user)?, link.text(&who.domain)?);
        let (os, lan_man) = (
            link.text(&logon.native_os)?,
            link.text(&logon.native_lan_man)?,
        );
        session_setup_andx::Request {
            max_buffer: *self.profile.buffers.announced,
            max_mpx: (*self.profile.buffers.max_mpx).min(link.max_mpx),
            vc_number: 1,
            session_key: link.session_key,
            capabilities: *self.profile.negotiate.capabilities & link.capabilities,
            credentials,
            account: (!extended).then(|| account.as_wire()),
            domain: (!extended).then(|| domain.as_wire()),
            native_os: Some(os.as_wire()),
            native_lan_man: Some(lan_man.as_wire()),
        }
        .emit(&mut request.out);
        Ok(())
    }

    fn logged_on(
        &mut self,
        now: Time,
        calls: &mut Calls,
        reply: &Reply<'_>,
        exchange: Option<NtlmsspClient>,
    ) -> Result<Stage, Error> {
        let more = reply.status == Status::MORE_PROCESSING_REQUIRED;
        let block = if more { reply.any()? } else { reply.ok()? };
        let response =
            session_setup_andx::Response::parse(&block, reply.unicode).map_err(reply.nonsense())?;
        calls.uid = reply.header().uid;
        if more {
            let exchange = exchange.ok_or(Error::Protocol("a log-on without end"))?;
            let answer = proof::answer(exchange, response.token, &self.target)?;
            self.signer = answer.signer.filter(|_| self.wants_signing());
            self.next = Next::LogOn(None);
            return self.send_token(now, calls, &answer.token);
        }
        self.note_server(&response, reply.header().uid)?;
        if response.action & session_setup_andx::Response::GUEST == 0 {
            self.begin_signing(calls, reply)?;
        } else if self.link()?.security & security::SIGNATURES_REQUIRED != 0 {
            return Err(Unfit::GuestCannotSign.into());
        }
        match block.andx() {
            Some((command::TREE_CONNECT_ANDX, offset)) => {
                let tree = Block::at(reply.message, offset).map_err(reply.nonsense())?;
                self.connected(calls, tree, reply)
            }
            _ => self.connect_tree(now, calls),
        }
    }

    /// The log-on produced a key: signing starts with its own reply.
    fn begin_signing(&mut self, calls: &mut Calls, reply: &Reply<'_>) -> Result<(), Error> {
        let Some((signer, link)) = self.signer.take().zip(self.link.as_mut()) else {
            return Ok(());
        };
        let verified = signer.verify(FIRST_REPLY, reply.message);
        verified.map_err(|_| Error::Signature {
            command: reply.command,
        })?;
        calls.sign_from_now(signer);
        link.signed = true;
        Ok(())
    }

    fn note_server(
        &mut self,
        response: &session_setup_andx::Response<'_>,
        uid: Uid,
    ) -> Result<(), Error> {
        let page = self.target.code_page;
        let text = |raw| {
            decode(
                page,
                WireStr {
                    raw,
                    unicode: response.unicode,
                },
            )
        };
        let (os, lan_man, domain) = (
            text(response.native_os),
            text(response.native_lan_man),
            text(response.domain),
        );
        let link = self
            .link
            .as_mut()
            .ok_or(Error::Protocol("a log-on before the negotiation"))?;
        link.native_os = os;
        link.native_lan_man = lan_man;
        if !domain.is_empty() {
            link.domain = domain;
        }
        link.guest = response.action & session_setup_andx::Response::GUEST != 0;
        link.uid = uid;
        Ok(())
    }

    fn connect_tree(&mut self, now: Time, calls: &mut Calls) -> Result<Stage, Error> {
        let core = self.link()?.dialect.shape == NegotiateShape::Core;
        let mut request = if core {
            Request::new(command::TREE_CONNECT, 0)
        } else {
            Request::new(command::TREE_CONNECT_ANDX, 0)
        };
        if core {
            self.emit_core_tree(&mut request)?;
        } else {
            self.emit_tree(&mut request)?;
        }
        self.next = Next::Tree;
        calls.send(now, Owner::Setup, request)?;
        Ok(Stage::Waiting)
    }

    fn share_path(&self) -> String {
        format!(
            "\\\\{}\\{}",
            self.target.server.to_uppercase(),
            self.target.share
        )
    }

    fn emit_core_tree(&self, request: &mut Request) -> Result<(), Error> {
        let link = self.link()?;
        let path = oem(link.code_page, &self.share_path().to_uppercase())?;
        let password = proof::plain(link, &self.profile, &self.target)?;
        tree_connect::Request {
            path: path.as_wire(),
            password: WireStr {
                raw: &password,
                unicode: false,
            },
            service: WireStr {
                raw: self.target.service.as_bytes(),
                unicode: false,
            },
        }
        .emit(&mut request.out);
        Ok(())
    }

    fn emit_tree(&self, request: &mut Request) -> Result<(), Error> {
        let link = self.link()?;
        let path = link.text(&self.share_path())?;
        let mut password = match link.security & security::USER_LEVEL {
            0 => proof::for_share(link, &self.profile, &self.target, &self.challenge)?,
            _ => Vec::new(),
        };
        if password.is_empty() {
            // Without a password, real clients send one zero byte ([MS-CIFS] 2.2.4.55.1).
            password.push(0);
        }
        tree_connect_andx::Request {
            flags: 0,
            password: &password,
            path: path.as_wire(),
            service: WireStr {
                raw: self.target.service.as_bytes(),
                unicode: false,
            },
        }
        .emit(&mut request.out);
        Ok(())
    }

    fn connected(
        &mut self,
        calls: &mut Calls,
        block: Block<'_>,
        reply: &Reply<'_>,
    ) -> Result<Stage, Error> {
        let mut link = self
            .link
            .take()
            .ok_or(Error::Protocol("a tree before the negotiation"))?;
        link.tid = reply.header().tid;
        if link.dialect.shape == NegotiateShape::Core {
            let response = tree_connect::Response::parse(&block).map_err(reply.nonsense())?;
            link.tid = response.tid;
            link.max_buffer = u32::from(response.max_buffer);
            link.service = String::from(self.target.service);
        } else {
            let response = tree_connect_andx::Response::parse(&block, reply.unicode)
                .map_err(reply.nonsense())?;
            link.service = decode(
                link.code_page,
                WireStr {
                    raw: response.service,
                    unicode: false,
                },
            );
        }
        if link.signed {
            // Raw data has no header for a signature ([MS-CIFS] 3.2.4.14.1).
            link.raw_read = false;
            link.raw_write = false;
        }
        calls.tid = link.tid;
        Ok(Stage::Connected(link))
    }

    fn link(&self) -> Result<&Link, Error> {
        self.link
            .as_deref()
            .ok_or(Error::Protocol("an answer before the negotiation"))
    }
}

fn is_nt(name: &str) -> bool {
    Dialect::by_name(name.as_bytes()).is_some_and(Dialect::is_nt)
}

fn flags2_of(link: &Link) -> u16 {
    let pick = |on: bool, bit: u16| if on { bit } else { 0 };
    pick(link.unicode, Flags2::UNICODE)
        | pick(link.nt_status, Flags2::NT_STATUS)
        | pick(link.extended_security, Flags2::EXTENDED_SECURITY)
}
