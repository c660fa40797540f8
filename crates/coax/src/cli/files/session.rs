//! A verb's connection, and what is said when something fails.

use coax_catalog::clients;
use std::sync::Arc;

use coax_client::{Error as SmbError, profile::Profile};
use zeroize::Zeroizing;

use super::{
    arguments::Common,
    outcome::{Failure, Stop},
};
use crate::cli::{credentials::VARIABLE, nearest::unknown, prompt};
use coax_report::client::{self as advice, waiting::Waiting};
use coax_transfer::client::{
    Connection, Error, Location, Options,
    copy::{CopyError, Fault},
};

/// A connected share, and how it was reached.
pub struct Session {
    /// The connection.
    pub connection: Connection,
    /// Server, share and user.
    pub location: Location,
}

impl Session {
    /// Connects to the location's share; asks for the password if there is a user without one.
    pub fn open(location: &Location, common: &Common) -> Result<Self, Stop> {
        if location.share.is_empty() {
            let list = location.with_share("");
            return Err(Stop::Usage(format!(
                "the share is missing: write {list}SHARE; 'coax shares {list}' lists what there is"
            )));
        }
        Self::open_any(location, common, "?????")
    }

    /// The same, to a share of this kind.
    pub fn open_any(
        location: &Location,
        common: &Common,
        service: &'static str,
    ) -> Result<Self, Stop> {
        let profile = profile(&common.profile)?;
        let options = Options {
            code_page: common.code_page,
            dialect: common.dialect,
            called: common.called.clone(),
            resolver: common.names.resolver(),
            transport: common.transport,
            allow_weak: common.allow_weak,
            sign: common.sign,
            record: false,
            service,
        };
        let location = with_password(location)?;
        let server = location.with_share("").to_string();
        let waiting = Waiting::begin(move |seconds| {
            let server = server.trim_end_matches('/');
            eprintln!(
                "note: {server} has not answered for {seconds} s; coax waits longer, because some servers are slow"
            );
        });
        let opened = coax_transfer::client::open(&location, &profile, &options);
        drop(waiting);
        match opened {
            Ok(connection) => {
                for note in connection.notes() {
                    eprintln!("note: {note}");
                }
                Ok(Self {
                    connection,
                    location,
                })
            }
            Err(error) => {
                let hints = advice::connecting(&error, &location, &profile, &options);
                let place = location.with_path("").to_string();
                Err(failure(place.trim_end_matches('/'), &error, hints).into())
            }
        }
    }

    /// What an operation's error means for a path.
    pub fn failure(&mut self, path: &str, error: &Error) -> Failure {
        let place = self.location.with_path(path);
        let hints = advice::working(error, &place, &mut self.connection);
        failure(&place.to_string(), error, hints)
    }

    /// What a copy's error means.
    pub fn copy_failure(&mut self, path: &str, subject: &str, error: &CopyError) -> Failure {
        let mut failure = match &error.fault {
            Fault::Client(client) => Failure {
                subject: subject.into(),
                ..self.failure(path, client)
            },
            fault => Failure::new(subject, fault.to_string()),
        };
        match &error.fault {
            Fault::Changed => failure
                .hints
                .push("nothing was replaced; repeat the copy when nobody writes to the file".into()),
            Fault::Differs { .. } => failure.hints.push(
                "nothing was replaced; something between the two disks alters data: try again, and another cable, card or driver"
                    .into(),
            ),
            _ => {}
        }
        failure.hints.extend(advice::kept(error));
        failure
    }

    /// Whether nothing more can be done over this connection.
    pub fn is_over(&self) -> bool {
        self.connection.is_over()
    }
}

/// The profile of this name.
pub fn profile(name: &str) -> Result<Arc<Profile>, Stop> {
    clients::by_name(name).ok_or_else(|| {
        let names: Vec<&str> = clients::all().iter().map(|p| p.name.as_str()).collect();
        Stop::Usage(unknown("profile", name, &names))
    })
}

fn failure(subject: &str, error: &Error, hints: Vec<String>) -> Failure {
    let status = match error.smb() {
        Some(SmbError::Refused { status, .. }) => Some(status.name()),
        _ => None,
    };
    Failure {
        subject: subject.into(),
        why: advice::in_words(error),
        status,
        hints,
    }
}

/// The location with its user's password: from the URL, `COAX_PASSWORD`, or the person at the terminal.
pub fn with_password(location: &Location) -> Result<Location, Stop> {
    let mut location = location.clone();
    let Some(user) = location
        .user
        .clone()
        .filter(|_| location.password.is_none())
    else {
        return Ok(location);
    };
    if let Ok(password) = std::env::var(VARIABLE).map(Zeroizing::new) {
        location.password = Some(password.as_str().into());
        return Ok(location);
    }
    match prompt::password(&format!("Password of {user} at {}: ", location.host)) {
        Some(password) => {
            location.password = Some(password.as_str().into());
            Ok(location)
        }
        None => Err(Stop::Usage(format!(
            "the password of {user} is missing: set COAX_PASSWORD, or write {user}:@ in the URL if it is empty"
        ))),
    }
}
