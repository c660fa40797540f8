//! The name service of a node of any type (B, P, M, H): claims its names, defends them, answers for them
//! (RFC 1001 §15, RFC 1002 §5.1).

mod config;
mod entry;
mod proxied;
mod service;
#[cfg(test)]
mod tests;
mod types;
mod wins_state;

pub use config::{
    ConfigError, MAX_ADDRESSES, MAX_NAMES, MAX_WINS_SERVERS, NameKind, NameServiceConfig, NodeType,
    OwnName, Reach,
};
pub use service::NameService;
pub use types::{Counters, Destination, Event, Transmit};
