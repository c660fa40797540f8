#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod browse;
#[cfg(test)]
mod cable;
mod datagram;
pub mod ipx;
mod limit;
pub mod llc;
mod lmhosts;
mod logons;
mod lookup;
mod messenger;
mod names;
pub mod nbf;
mod network;
mod quoted;
mod session;
mod waits;
mod wins;

pub use browse::{
    BrowseList, BrowsedStation, Browser, BrowserConfig, BrowserEvent, BrowserNews, BrowserStation,
    Criterion, ElectionReason, Fetched, Heard, ListedServer, ListedWorkgroup, LmAnnounce, MSBROWSE,
    Meaning, Role, SYNC_INTERVAL, StationBrowser, StationEvent, overheard,
};
pub use datagram::{Incoming, NbtDatagrams, NbtDatagramsConfig, Outgoing, Route};
pub use limit::{Rate, RateLimiter};
pub use lmhosts::{Lmhosts, LmhostsEntry, LmhostsProblem};
pub use logons::{LogonConfig, LogonEvent, LogonServer, logon_names};
pub use lookup::{Lookup, LookupAnswer, LookupConfig, LookupStep};
pub use messenger::{Messenger, ReceivedMessage, message_datagram};
pub use names::{
    ConfigError, Counters, Destination, Event, MAX_ADDRESSES, MAX_NAMES, MAX_WINS_SERVERS,
    NameKind, NameService, NameServiceConfig, NodeType, OwnName, Reach, Transmit,
};
pub use network::Network;
pub use session::{Accept, Session, SessionConfig, SessionError, Transport};
pub use waits::{Blocked, Deadlines};
pub use wins::{
    BadLine, RecordKind, RecordState, WinsChange, WinsConfig, WinsEvent, WinsRecord, WinsServer,
    parse_database,
};
