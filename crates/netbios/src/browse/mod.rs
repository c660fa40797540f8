//! The browser service of one network ([MS-BRWS]): it announces this server, takes part in elections, and keeps the list
//! of servers and workgroups.
//!
//! It sees datagrams only, so it runs over every transport: `A` is a station's address there. [`BrowsedStation`] joins it to a
//! station of NetBEUI or IPX.

mod browsed;
mod domain;
mod list;
mod service;
mod state;
mod station;
#[cfg(test)]
mod tests;
mod types;

pub use browsed::{BrowsedStation, StationEvent};
pub use list::{BrowseList, Fetched, ListedServer, ListedWorkgroup};
pub use service::Browser;
pub use state::{Criterion, ElectionReason, Role};
pub use station::{BrowserNews, BrowserStation, Heard, Meaning, StationBrowser, overheard};
pub use types::{BrowserConfig, BrowserEvent, LmAnnounce, MSBROWSE, SYNC_INTERVAL};
