//! The open database.

use std::{net::IpAddr, path::Path};

use redb::Database;

use crate::{
    clients::{self, Client},
    error::{OpenError, SetAside, StoreError},
    file::{self, FILE},
    history::{self, Minute},
};

/// The open database.
#[derive(Debug)]
pub struct Store(pub(crate) Database);

/// A database that could be opened.
#[derive(Debug)]
pub struct Opened {
    /// The database.
    pub store: Store,
    /// The earlier file, if it could not be used.
    pub set_aside: Option<SetAside>,
}

impl Store {
    /// Opens the database in `folder`, or creates it. A damaged file, or one of a newer version, is renamed first.
    ///
    /// # Errors
    /// Another process uses it, or the folder does not permit it.
    pub fn open(folder: &Path) -> Result<Opened, OpenError> {
        let (database, set_aside) = file::open(&folder.join(FILE))?;
        Ok(Opened {
            store: Self(database),
            set_aside,
        })
    }

    /// The clients that connected in the last [`crate::AGE_MAX_S`] seconds before `now_s` (Unix), the latest first, at most
    /// [`crate::CLIENTS_MAX`].
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn clients(&self, now_s: u64) -> Result<Vec<Client>, StoreError> {
        clients::latest(&self.0, now_s)
    }

    /// Writes `changed` and forgets `gone` and whoever has not connected for [`crate::AGE_MAX_S`] before `now_s` (Unix),
    /// all or nothing. The changes are on disk when this returns.
    ///
    /// # Errors
    /// The file cannot be written; it is as before.
    pub fn write_clients(
        &self,
        now_s: u64,
        changed: &[Client],
        gone: &[IpAddr],
    ) -> Result<(), StoreError> {
        clients::write(&self.0, now_s, changed, gone)
    }

    /// The minutes of the last day up to `now` (minutes since 1970), the oldest first; minutes without any activity are missing.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn history(&self, now: u64) -> Result<Vec<Minute>, StoreError> {
        history::read(&self.0, now)
    }

    /// Adds `minute` to what is known of the same minute and removes what is older than a day before `now` (minutes since 1970),
    /// all or nothing. It is on disk when this returns.
    ///
    /// # Errors
    /// The file cannot be written; it is as before.
    pub fn write_minute(&self, now: u64, minute: Minute) -> Result<(), StoreError> {
        history::write(&self.0, now, minute)
    }
}
