//! What the server remembers across restarts: the limits that pacing has learned of each client, and one day of figures by the
//! minute.
//!
//! One file, `coax.redb`, in the state folder. It is an embedded database (redb) because a crash at any instant must leave
//! the last complete state, and redb needs no C compiler. The server works without it: whatever prevents its
//! use is an [`OpenError`], and a damaged file or one of a newer version is renamed, never deleted.

mod clients;
mod error;
mod file;
mod history;
mod store;

#[cfg(test)]
mod tests;

pub use clients::{AGE_MAX_S, CLIENTS_MAX, Client};
pub use error::{OpenError, SetAside, StoreError};
pub use file::{FILE, FORMAT};
pub use history::{ClientSample, HISTORY_MINUTES, Minute, OTHERS, SAMPLES_MAX, ShareSample};
pub use store::{Opened, Store};
