//! The clients that are connected.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use coax_server::table::OpenId;

use super::shape::ClientStatus;
use crate::history::Sample;

/// A client that can be shown and disconnected.
pub(crate) trait Shown: Send + Sync {
    /// What it does now.
    fn show(&self) -> ClientStatus;
    /// What it did since the last look; nothing if a thread serves it all the time.
    fn sample(&self) -> Option<Sample>;
    /// Closes an open if it is this client's.
    fn close(&self, open: OpenId);
    /// Frees what only a client at work needs.
    fn tidy(&self);
    /// The recording has ended.
    fn end_recording(&self);
    /// Ends its connection, as if the client had closed it.
    fn disconnect(&self);
}

/// All of them, by number.
#[derive(Default)]
pub(crate) struct Registry(Mutex<BTreeMap<u64, Weak<dyn Shown>>>);

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Registry")
    }
}

impl Registry {
    /// Adds one.
    pub(crate) fn enter(&self, number: u64, client: Weak<dyn Shown>) {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clients.insert(number, client);
    }

    /// Removes one.
    pub(crate) fn leave(&self, number: u64) {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clients.remove(&number);
    }

    /// What they do now. No lock is held while a client is asked.
    pub(crate) fn show(&self) -> Vec<ClientStatus> {
        self.all().iter().map(|client| client.show()).collect()
    }

    /// What they did since the last look.
    pub(crate) fn samples(&self) -> Vec<Sample> {
        let all = self.all();
        all.iter().filter_map(|client| client.sample()).collect()
    }

    /// Has an open closed, whosever it is.
    pub(crate) fn close(&self, open: OpenId) {
        self.all().iter().for_each(|client| client.close(open));
    }

    /// Frees what only clients at work need.
    pub(crate) fn tidy(&self) {
        self.all().iter().for_each(|client| client.tidy());
    }

    /// The recording has ended.
    pub(crate) fn end_recording(&self) {
        self.all().iter().for_each(|client| client.end_recording());
    }

    fn all(&self) -> Vec<Arc<dyn Shown>> {
        let clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clients.values().filter_map(Weak::upgrade).collect()
    }

    /// Ends the connection of one; false if there is none of this number.
    pub(crate) fn disconnect(&self, number: u64) -> bool {
        let client = {
            let clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            clients.get(&number).and_then(Weak::upgrade)
        };
        client
            .as_ref()
            .inspect(|client| client.disconnect())
            .is_some()
    }
}
