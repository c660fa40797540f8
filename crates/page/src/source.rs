//! What the page needs of a server.

use std::{fs::File, io};

use coax_serve::{TotalsStatus, status::Status};
use serde::Serialize;

use crate::history::Day;

/// A server that can be shown. The calls are made on threads that may block, one at a time except [`Self::space`].
pub trait Source: Send + Sync + 'static {
    /// What it does now.
    fn status(&self) -> Status;
    /// What it has counted since its start.
    fn totals(&self) -> TotalsStatus;
    /// Its name and its workgroup.
    fn name(&self) -> (String, String);
    /// Names under which readers may ask for the page, in addition to its addresses.
    fn names(&self) -> Vec<String>;
    /// Its shares.
    fn shares(&self) -> Vec<ShareSetting>;
    /// The parameters that are not at their default, without secrets.
    fn configuration(&self) -> Vec<Setting>;
    /// Free and total bytes of a share's disk. It may wait for the disk for ever.
    fn space(&self, share: &str) -> Option<(u64, u64)>;
    /// The last day, if the server has a database for it; the page itself forgets when the server stops.
    fn day(&self) -> Option<Day>;
    /// Begins to record a client, or all.
    ///
    /// # Errors
    /// Why not.
    fn record(&self, client: Option<u64>, limit: u64) -> Result<Box<dyn Recording>, String>;
    /// The page that explains a capture.
    ///
    /// # Errors
    /// It cannot be explained.
    fn explain(&self, capture: File) -> Result<String, String>;
    /// Writes to the server's log.
    fn notice(&self, text: String);
}

/// A recording that has begun. Dropping it ends it.
pub trait Recording: Send {
    /// Bytes so far.
    fn bytes(&self) -> u64;
    /// Whether it has reached its limit.
    fn is_full(&self) -> bool;
    /// Ends it.
    ///
    /// # Errors
    /// The system's error.
    fn finish(self: Box<Self>) -> io::Result<File>;
}

/// A share, as far as its configuration tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareSetting {
    /// Its name.
    pub name: String,
    /// Whether it is a printer.
    pub printer: bool,
}

/// A parameter with its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// `global`, or the share.
    pub section: String,
    /// Its name in smb.conf.
    pub parameter: String,
    /// The value in force.
    pub value: String,
    /// The default.
    pub default: String,
}
