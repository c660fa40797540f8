//! One day of figures by the minute, for each share and each client, in the database of the state folder.
//!
//! Connections count; the database's thread ([`crate::memory`]) collects their figures each minute and writes them. A client
//! that a thread serves at that moment is counted a minute later.

use std::{
    net::SocketAddr,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use coax_server::act::Moved;
use coax_state::{ClientSample, Minute, ShareSample, Store};

/// What a connection did since the last look at it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    /// The client.
    pub(crate) client: ClientSample,
    /// Bytes by share.
    pub(crate) shares: Vec<(String, Moved)>,
}

/// Figures of a connection that the history has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sampled {
    /// Requests,
    pub(crate) requests: u64,
    /// bytes received,
    pub(crate) received: u64,
    /// and sent,
    pub(crate) sent: u64,
    /// and refused requests.
    pub(crate) refused: u64,
}

/// The history.
#[derive(Debug, Default)]
pub(crate) struct History(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Figures that are not written yet.
    now: Minute,
    /// The database, while it can be used.
    store: Option<Arc<Store>>,
}

impl History {
    /// Adds what a connection did.
    pub(crate) fn add(&self, sample: Sample) {
        let mut state = self.lock();
        if sample.client.requests > 0 {
            state.now.add_client(sample.client);
        }
        for (share, moved) in sample.shares {
            state.now.add_share(ShareSample {
                share,
                read: moved.read,
                written: moved.written,
            });
        }
    }

    /// Adds what the connections did, and returns all that is not written yet; `None` if that is nothing.
    pub(crate) fn collect(&self, samples: Vec<Sample>, minute: u64) -> Option<Minute> {
        samples.into_iter().for_each(|sample| self.add(sample));
        let mut state = self.lock();
        let taken = std::mem::take(&mut state.now);
        let is_empty = taken.shares.is_empty() && taken.clients.is_empty();
        (!is_empty).then_some(Minute { minute, ..taken })
    }

    /// Takes back what could not be written.
    pub(crate) fn give_back(&self, minute: Minute) {
        self.lock().now.add(minute);
    }

    /// The database can be used, or cannot any more.
    pub(crate) fn keep_in(&self, store: Option<Arc<Store>>) {
        self.lock().store = store;
    }

    /// The last day.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn read(&self) -> Result<Vec<Minute>, String> {
        let store = self.lock().store.clone();
        let store = store.ok_or(
            "the server keeps no history: it has no state folder, or cannot use its database; set 'coax:state directory' in smb.conf",
        )?;
        // redb panics on some files that are damaged while they are open
        catch_unwind(AssertUnwindSafe(|| store.history(this_minute())))
            .map_err(|_| "the database is damaged".into())
            .and_then(|read| read.map_err(|error| error.to_string()))
            .map_err(|error| format!("the history cannot be read: {error}"))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Minutes since 1970.
pub(crate) fn this_minute() -> u64 {
    coax_clock::wall_s() / 60
}

/// The machine of a connection: its address without the port.
pub(crate) fn machine(address: &str) -> String {
    match address.parse::<SocketAddr>() {
        Ok(address) => address.ip().to_canonical().to_string(),
        Err(_) => address.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_of_one_machine_are_one_client() {
        assert_eq!(machine("10.0.0.5:1025"), "10.0.0.5");
        assert_eq!(machine("[::ffff:10.0.0.5]:1025"), "10.0.0.5");
        assert_eq!(machine("00:11:22:33:44:55"), "00:11:22:33:44:55");
    }
}
