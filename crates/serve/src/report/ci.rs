//! Events of a server for continuous integration.

use serde::Serialize;

/// What a script needs to know of the server. Follows `listening`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CiLine {
    /// The address of the share for `coax`, smbclient and scripts.
    pub url: String,
    /// The server's address without a port.
    pub host: String,
    /// The port of SMB directly over TCP.
    pub direct_port: Option<u16>,
    /// The port of the NetBIOS session service.
    pub nbt_port: Option<u16>,
    /// The share.
    pub share: String,
    /// Its folder.
    pub folder: String,
    /// The faults that will be injected.
    pub faults: Vec<String>,
}

impl std::fmt::Display for CiLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ready for tests: {} is {}", self.url, self.folder)?;
        match self.faults.as_slice() {
            [] => Ok(()),
            faults => write!(f, "; faults: {}", faults.join("; ")),
        }
    }
}

/// A request that is invalid or failed, explained for the client's author.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExplainedLine {
    /// The client's number.
    pub client: u64,
    /// Every command of the chain with its fields as `name=value`.
    pub request: String,
    /// MID of the request; `None` if it has none.
    pub mid: Option<u16>,
    /// The reply's status.
    pub result: String,
    /// The reason.
    pub why: String,
    /// What the client should send instead.
    pub instead: Option<String>,
    /// The smb.conf line or option that would allow the request.
    pub setting: Option<String>,
    /// What is invalid in the request: field, offset, value.
    pub invalid: Vec<String>,
}

impl std::fmt::Display for ExplainedLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "[{}] {}: {}; {}",
            self.client, self.request, self.result, self.why
        )?;
        for invalid in &self.invalid {
            write!(f, "; invalid: {invalid}")?;
        }
        if let Some(instead) = &self.instead {
            write!(f, "; send {instead}")?;
        }
        match &self.setting {
            Some(setting) => write!(f, "; or set {setting}"),
            None => Ok(()),
        }
    }
}

/// A fault was applied to a request or its reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FaultLine {
    /// The client's number.
    pub client: u64,
    /// The fault.
    pub fault: String,
    /// The request's command.
    pub command: &'static str,
    /// The request's MID.
    pub mid: u16,
}

impl std::fmt::Display for FaultLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            client,
            fault,
            command,
            mid,
        } = self;
        write!(
            f,
            "[{client}] fault {fault}: applied to {command} (mid={mid:#06x})"
        )
    }
}

/// A fault, and how often it was applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FaultCount {
    /// The fault.
    pub fault: String,
    /// How often it was applied.
    pub applied: u64,
}

/// The last event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SummaryLine {
    /// Clients that sent a request.
    pub clients: u64,
    /// Their requests.
    pub requests: u64,
    /// Requests that were refused.
    pub refused_requests: u64,
    /// Requests that were invalid.
    pub invalid_requests: u64,
    /// Every fault.
    pub injected: Vec<FaultCount>,
    /// What ended the server: `signal`, `parent` or `time limit`.
    pub ended: &'static str,
    /// How long it ran.
    pub seconds: u64,
    /// What is wrong with the client or the test.
    pub problems: Vec<String>,
    /// 1 if there are problems, else 0.
    pub exit_code: u8,
}

impl std::fmt::Display for SummaryLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "ended by {} after {} s: {} clients, {} requests, {} refused, {} invalid",
            self.ended,
            self.seconds,
            self.clients,
            self.requests,
            self.refused_requests,
            self.invalid_requests
        )?;
        let faults = self.injected.iter();
        faults.into_iter().try_for_each(|fault| {
            write!(f, "; fault {} applied {} times", fault.fault, fault.applied)
        })?;
        let problems = self.problems.iter();
        problems
            .into_iter()
            .try_for_each(|problem| write!(f, "; problem: {problem}"))
    }
}
