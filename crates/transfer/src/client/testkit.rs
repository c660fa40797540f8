//! A `coax serve` in this process, for tests of the client.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use coax_catalog::clients;
use std::{path::Path, sync::Arc};

use coax_client::profile::Profile;

use super::{Connection, Error, Location, Options};
use coax_logon::{accounts::User, text::Ascii};

use coax_serve::{Running, report::Reporter};
use coax_smbconf::{
    load::load_text,
    settings::{Listener, Listeners},
};

/// A server at loopback addresses with a share DATA for guests.
pub struct Served {
    running: Option<Running>,
    folder: tempfile::TempDir,
}

impl Served {
    /// Starts it with these parameters in smb.conf's global section, and optionally one user with a password.
    pub fn start(options: &str, user: Option<(&str, &str)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let guests = if user.is_some() { "no" } else { "yes" };
        let conf = format!(
            "[global]\nmap to guest = Bad User\nlanman auth = yes\n{options}\n[DATA]\npath = {}\nguest ok = {guests}\nread only = no\n",
            folder.path().display()
        );
        let mut settings = load_text("test", &conf).settings;
        let loopback = Listener::exactly("127.0.0.1:0".parse().unwrap());
        settings.listen = Listeners {
            nbt: vec![loopback],
            direct: vec![loopback],
            names: None,
            netbeui: Vec::new(),
            ipx: Vec::new(),
        };
        settings.users = user
            .iter()
            .map(|(name, password)| User::with_password(name, password, &Ascii))
            .collect();
        let reporter = Reporter::to(|_| {}).unwrap();
        Self {
            running: Some(Running::start(settings, reporter).unwrap()),
            folder,
        }
    }

    /// The share's folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The location of a path in the share over direct TCP.
    pub fn location(&self, path: &str) -> Location {
        let bound = self.running.as_ref().unwrap().bound();
        format!("smb://{}/DATA/{path}", bound.direct[0])
            .parse()
            .unwrap()
    }

    /// The location of a path in the share over a NetBIOS session.
    pub fn nbt(&self, path: &str) -> Location {
        let bound = self.running.as_ref().unwrap().bound();
        let mut location = self.location(path);
        location.port = Some(bound.nbt[0].port());
        location
    }

    /// Connects as the default redirector.
    ///
    /// # Errors
    /// The error of [`open`](crate::client::open).
    pub fn connect(&self) -> Result<Connection, Error> {
        crate::client::open(&self.location(""), &modern(), &Options::default())
    }

    /// Ends the server.
    pub fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The default profile.
pub fn modern() -> Arc<Profile> {
    clients::by_name(clients::DEFAULT).unwrap()
}

/// Bytes without a short repeating pattern.
pub fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}
