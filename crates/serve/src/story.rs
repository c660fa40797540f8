//! Records and reports the events of one client, from its first byte to its last.

mod audited;
mod sampled;

use std::{net::IpAddr, sync::Arc, time::Instant};

use coax_server::{Event, RefusedRequest, Transmit};
use coax_wire::{
    nbt::session::Framing,
    time::{Span, Time},
};

use super::{
    advice::Party,
    audit::Audit,
    carrier::Carrier,
    ci::Inspector,
    guess::{Clues, guess},
    history::Sampled,
    host::Host,
    outcome::End,
    repeats::{Repeats, Report, Windows},
    report::{ClientLine, FaultLine, Line, RefusedLine, Reporter, guest_because},
    status::ClientStatus,
    trace::Trace,
};
use coax_smbconf::macros::MacroValues;

/// Maximum number of refusals that a client's line lists.
const REFUSALS: usize = 8;

/// How long repetitions of a refusal are counted before their number is reported.
const REFUSAL_WINDOWS: Windows = Windows {
    first: Span::from_secs(10),
    longest: Span::from_secs(640),
};

/// The state of one client's report.
#[derive(Debug)]
pub(super) struct Story {
    reporter: Reporter,
    /// The guest account's name.
    guest: String,
    began: Instant,
    framing: Framing,
    line: ClientLine,
    called: Option<String>,
    offered: Vec<String>,
    native: String,
    told: bool,
    uses_a_share: bool,
    fatal: Option<String>,
    repeats: Repeats<RefusedLine>,
    /// Requests that a setting would have allowed, for the status.
    curable: Vec<String>,
    /// Present only if the client's requests are logged.
    trace: Option<Box<Trace>>,
    /// Present only if the server is for continuous integration.
    inspector: Option<Box<Inspector>>,
    requests: u64,
    bytes_in: u64,
    /// When the last message arrived; none has if it is `None`.
    heard: Option<Time>,
    /// The audit log, if there is one, and the client's system for it.
    audit: Option<Arc<Audit>>,
    system: String,
    /// Refused requests, and what the history has of the figures.
    refusals: u64,
    sampled: Sampled,
}

impl Story {
    /// Starts the report of a client that has connected.
    pub(super) fn begin(host: &Host, number: u64, address: String, carrier: Carrier) -> Self {
        let transport_name = carrier.name();
        let reporter = host.reporter.clone();
        reporter.tell(Line::Connected {
            client: number,
            address: address.clone(),
            transport: transport_name,
        });
        let line = ClientLine {
            client: number,
            address,
            transport: transport_name,
            ..ClientLine::default()
        };
        Self {
            reporter,
            guest: host.settings().global.guest_account.clone(),
            began: Instant::now(),
            framing: carrier.transport().framing(),
            line,
            called: None,
            offered: Vec::new(),
            native: String::new(),
            told: false,
            uses_a_share: false,
            fatal: None,
            repeats: Repeats::new(REFUSAL_WINDOWS),
            curable: Vec::new(),
            trace: None,
            inspector: None,
            requests: 0,
            bytes_in: 0,
            heard: None,
            audit: host.audit.clone(),
            system: String::new(),
            refusals: 0,
            sampled: Sampled::default(),
        }
    }

    /// What `coax status` shows of the client.
    pub(super) fn status(&self, now: Time, bytes_out: u64) -> ClientStatus {
        let line = &self.line;
        let seconds = self.began.elapsed().as_secs();
        ClientStatus {
            client: line.client,
            address: line.address.clone(),
            name: line.name.clone(),
            system: self.system(),
            dialect: line.dialect.map(Into::into),
            transport: line.transport.into(),
            user: line.log_on.clone(),
            seconds,
            idle_seconds: self
                .heard
                .map_or(seconds, |heard| (now - heard).as_millis() / 1000),
            requests: self.requests,
            bytes_in: self.bytes_in,
            bytes_out,
            busy: false,
            account: None,
            advice: None,
            refused: [&line.refused[..], &self.curable].concat(),
        }
    }

    /// The recognised system; empty before it has negotiated.
    pub(super) fn system(&self) -> String {
        match self.offered.is_empty() {
            true => String::new(),
            false => guess(&self.clues()).who,
        }
    }

    /// What the client has said of itself; `system` is [`ClientStatus::system`].
    pub(super) fn party<'a>(&'a self, system: &'a str) -> Party<'a> {
        Party {
            offered: &self.offered,
            dialect: self.line.dialect,
            system,
        }
    }

    fn clues(&self) -> Clues<'_> {
        Clues {
            offered: &self.offered,
            native: &self.native,
            calling: self.line.name.as_deref(),
            called: self.called.as_deref(),
        }
    }

    /// The framing of messages to the client.
    pub(super) fn framing(&self) -> Framing {
        self.framing
    }

    /// Whether the client has connected to a share.
    pub(super) fn uses_a_share(&self) -> bool {
        self.uses_a_share
    }

    /// Whether the client has logged on, or connected to a share without logging on.
    pub(super) fn is_known(&self) -> bool {
        self.uses_a_share || self.line.log_on.is_some()
    }

    /// Whether the server refused a request of the client.
    pub(super) fn was_refused(&self) -> bool {
        !self.line.refused.is_empty()
    }

    /// Records the calling and called NetBIOS names.
    pub(super) fn names(&mut self, calling: Option<&str>, called: Option<&str>) {
        self.line.name = calling.map(Into::into);
        self.called = called.map(Into::into);
    }

    /// Called when the client's names are known. Logs its requests from now on if the settings ask for it, or if the
    /// client is `selected`.
    pub(super) fn trace(&mut self, host: &Host, selected: bool) {
        let page = host.server().config.code_page;
        let who = (self.line.client, &self.reporter, page);
        self.trace = Trace::new(&host.settings(), selected, who).map(Box::new);
        self.inspector = Inspector::begin(host, self.line.client);
    }

    /// Records a message to the client.
    pub(super) fn reply(&mut self, transmit: &Transmit) {
        if let Some(trace) = &mut self.trace {
            trace.reply(transmit);
        }
        if let Some(inspector) = &mut self.inspector {
            inspector.reply(transmit);
        }
    }

    /// Records a message from the client.
    pub(super) fn request(&mut self, now: Time, framing: Framing, message: &[u8]) {
        self.framing = framing;
        if let Some(trace) = &mut self.trace {
            trace.request(message);
        }
        if let Some(inspector) = &mut self.inspector {
            inspector.request(message);
        }
        self.requests = self.requests.saturating_add(1);
        self.heard = Some(now);
        self.bytes_in = self
            .bytes_in
            .saturating_add(message.len() as u64)
            .saturating_add(4);
    }

    /// Reports the explanations of failed requests.
    pub(super) fn explain(&mut self) {
        if let Some(inspector) = &mut self.inspector {
            inspector.report();
        }
    }

    /// Reports a fault that was applied.
    pub(super) fn fault(&self, line: FaultLine) {
        let client = self.line.client;
        self.reporter
            .tell(Line::Fault(Box::new(FaultLine { client, ..line })));
    }

    /// Records an event of the engine.
    pub(super) fn event(&mut self, now: Time, event: Event) {
        match event {
            Event::Negotiated { offered, chosen } => self.negotiated(offered, chosen),
            Event::Introduced { native } => self.native = native,
            Event::LoggedOn {
                user,
                how,
                tried,
                native,
            } => self.logged_on(user, how, tried, native),
            Event::Connected { share } => {
                self.uses_a_share = true;
                self.audit_connect(&share);
                let client = self.line.client;
                self.reporter.tell(Line::Tree { client, share });
                self.tell_who();
            }
            Event::Refused {
                what,
                status,
                why,
                setting,
            } => self.refused(what, status.to_string(), why, setting),
            Event::RequestRefused(refused) => self.request_refused(now, *refused),
            Event::Printed { share, path, .. } => {
                self.note(&format!("printed {path} on {share}"));
            }
            // The driver reports it, with what came in datagrams.
            Event::Message { .. } => {}
            Event::NotDeleted {
                share,
                path,
                status,
            } => self.note(&format!("cannot delete {path} on {share}: {status}")),
            Event::NotPrinted {
                share,
                name,
                status,
            } => self.note(&format!("cannot print {name} on {share}: {status}")),
            Event::SessionEnded { user } => {
                self.note(&format!("session of {user} ended: the user was removed"));
            }
            Event::TreeEnded { share, why } => {
                self.note(&format!("disconnected from {share}: {why}"));
            }
            Event::Fatal { why } => self.fatal = Some(why),
        }
    }

    /// The values of a command's client macros; `addresses` are the client's and the server's.
    pub(super) fn macros(&self, addresses: Option<(IpAddr, IpAddr)>) -> MacroValues<'_> {
        MacroValues {
            client_name: self.line.name.as_deref().unwrap_or_default(),
            addresses,
            called_name: self.called.as_deref().unwrap_or_default(),
            user: self.line.log_on.as_deref().unwrap_or(&self.guest),
            dialect: self.line.dialect.unwrap_or_default(),
            client_kind: &self.native,
            connection: self.line.client,
            ..MacroValues::default()
        }
    }

    /// Reports a server-side problem with this client.
    pub(super) fn note(&self, text: &str) {
        self.reporter
            .notice(format!("[{}] {text}", self.line.client));
    }

    /// Why the engine closes the connection.
    pub(super) fn fatal(&mut self) -> String {
        self.fatal
            .take()
            .unwrap_or_else(|| "the administrator disconnected it".into())
    }

    /// Reports the end of the connection.
    pub(super) fn end(&mut self, end: &End, bytes_out: u64) {
        self.tell_who();
        self.trace.iter_mut().for_each(|trace| trace.end());
        self.inspector
            .iter_mut()
            .for_each(|inspector| inspector.end());
        let rest = self.repeats.finish();
        self.report(rest);
        let why = match end {
            End::Closed => "it closed the connection".into(),
            End::Stopping => "the server is shutting down".into(),
            End::Because(why) => why.clone(),
        };
        self.reporter.tell(Line::Disconnected {
            client: self.line.client,
            why,
            requests: self.requests,
            bytes_in: self.bytes_in,
            bytes_out,
            seconds: self.began.elapsed().as_secs(),
        });
    }

    fn negotiated(&mut self, offered: Vec<String>, dialect: Option<&'static str>) {
        self.offered.clone_from(&offered);
        self.line.dialect = dialect;
        self.reporter.tell(Line::Negotiated {
            client: self.line.client,
            offered,
            dialect,
        });
    }

    /// `user` is `None` for a guest, who may have `tried` another name.
    fn logged_on(
        &mut self,
        user: Option<String>,
        how: &'static str,
        tried: Option<String>,
        native: String,
    ) {
        self.native.clone_from(&native);
        self.line.log_on = Some(user.clone().unwrap_or_else(|| self.guest.clone()));
        self.line.how = Some(how);
        self.line.guest_because = match user {
            Some(_) => None,
            None => Some(guest_because(how, tried.as_deref())),
        };
        self.reporter.tell(Line::LoggedOn {
            client: self.line.client,
            user,
            how,
            tried,
            native,
        });
    }

    fn refused(&mut self, what: String, status: String, why: String, setting: Option<String>) {
        self.audit_refused(&what, &status, &why);
        self.refusals = self.refusals.saturating_add(1);
        if let Some(inspector) = &mut self.inspector {
            inspector.reason(&why, setting.as_deref());
        }
        if self.line.refused.len() < REFUSALS {
            let cure = setting
                .as_ref()
                .map(|s| format!(" ('{s}' would allow it)"))
                .unwrap_or_default();
            self.line.refused.push(format!("{what}: {why}{cure}"));
        }
        self.reporter.tell(Line::Refused {
            client: Some(self.line.client),
            address: self.line.address.clone(),
            what,
            status: Some(status),
            why,
            setting,
        });
    }

    /// Records a request that was refused after log-on.
    fn request_refused(&mut self, now: Time, refused: RefusedRequest) {
        self.audit_request_refused(&refused);
        self.refusals = self.refusals.saturating_add(1);
        if let Some(inspector) = &mut self.inspector {
            inspector.reason(&refused.why, refused.setting.as_deref());
        }
        if let Some(setting) = &refused.setting {
            let place = refused.path.as_ref().or(refused.share.as_ref());
            let (command, why) = (refused.command, &refused.why);
            let place = place.map(|place| format!(" {place}")).unwrap_or_default();
            let text = format!("{command}{place}: {why} ('{setting}' would allow it)");
            if self.curable.len() < REFUSALS && !self.curable.contains(&text) {
                self.curable.push(text);
            }
        }
        let user = refused.user.unwrap_or_else(|| self.guest.clone());
        let line = RefusedLine {
            client: self.line.client,
            address: self.line.address.clone(),
            name: self.line.name.clone(),
            user,
            command: refused.command,
            share: refused.share,
            path: refused.path,
            fields: refused.fields,
            status: refused.status.to_string(),
            why: refused.why,
            setting: refused.setting,
            repeated: 0,
        };
        if let Some(line) = self.repeats.take(now, line) {
            self.reporter.tell(Line::RequestRefused(Box::new(line)));
        }
    }

    /// When [`Self::report_repeats`] must be called.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.repeats.deadline()
    }

    /// Reports the repetitions of refusals.
    pub(super) fn report_repeats(&mut self, now: Time) {
        let due = self.repeats.due(now);
        self.report(due);
    }

    fn report(&self, reports: Vec<Report<RefusedLine>>) {
        for report in reports {
            self.reporter.tell(match report {
                Report::Repeated(line, repeated) => {
                    Line::RequestRefused(Box::new(RefusedLine { repeated, ..line }))
                }
                Report::Others(count) => Line::RefusalsOmitted {
                    client: self.line.client,
                    count,
                },
            });
        }
    }

    fn tell_who(&mut self) {
        if std::mem::replace(&mut self.told, true) {
            return;
        }
        let guess = guess(&self.clues());
        let mut line = self.line.clone();
        (line.guess, line.why) = (guess.who, guess.why);
        self.reporter.tell(Line::Client(Box::new(line)));
    }
}
