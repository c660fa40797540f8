//! A WINS server, the NetBIOS name server of RFC 1001 §11.1.2 as Windows and Samba practise it: it registers names by
//! unicast, challenges the old owner of a name that another station wants, and answers queries.

mod database;
mod pending;
mod record;
mod request;
mod server;
#[cfg(test)]
mod tests;

pub use database::{BadLine, parse_database};
pub use record::{RecordKind, RecordState, WinsRecord};
pub use server::{WinsChange, WinsConfig, WinsEvent, WinsServer};
