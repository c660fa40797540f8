//! TCP connections rebuilt: what each side sent, in order, and what its sending waited for.

mod calibration;
mod captured;
mod connection;
mod early;
mod echoes;
mod endpoint_stats;
mod ip_ids;
mod retransmissions;
mod scale;
mod search_hint;
mod send_limits;
mod sender_clock;
mod sent_log;
mod settled;
mod stream_state;

pub(crate) use calibration::{AnalysisContext, TrackedConnection};
pub(crate) use connection::{ends_of, finish::Ended};
