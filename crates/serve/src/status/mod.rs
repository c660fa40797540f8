//! What the server does now, for `coax status`: a Unix socket answers one question for each connection.

mod account;
mod history;
mod registry;
mod shape;
mod socket;

pub(super) use account::direction;
pub use account::{AccountStatus, AdviceStatus, CopyStatus, SharesStatus};
pub use history::{ClientMinute, HistoryStatus, MinuteStatus, ShareMinute};
pub(super) use registry::{Registry, Shown};
pub use shape::{
    Answer, Ask, AuditStatus, ClientStatus, FileStatus, LimitStatus, NameStatus, NetworkStatus,
    SCHEMA, Status, WinsStatus,
};
pub(crate) use socket::day;
pub use socket::socket_path;
pub(super) use socket::{bind, look, serve};
