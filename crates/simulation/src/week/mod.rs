//! A week of a server in virtual time: machines come in the morning, work, and go at night, cleanly or not.
//!
//! The world of [`crate::world`] judges every answer of a short program. This one judges what is left: each hour the shared tables must
//! agree with the connections, each night they must be empty, deadlines must lie ahead, throttles must expire, and every byte must
//! be counted once. A driver with a [`Defect`] shows that such a check notices it.

mod checks;
mod machine;
mod network;
mod office;
mod state;
mod terms;

pub use terms::{Defect, Figures};

use state::Week;
use terms::{BEGIN, DAY, HOUR};

/// The hour of the night in which nobody may be left.
const QUIET_HOUR: u64 = 3;

/// Runs `days` days of a seed.
///
/// # Errors
/// What leaked, drifted or came too late.
pub fn week(seed: u64, days: u64, defect: Option<Defect>) -> Result<Figures, String> {
    let mut week = Week::new(seed, defect);
    let end = BEGIN + days * DAY;
    while week.now < end {
        let hour = (week.now - BEGIN) / HOUR + 1;
        let until = BEGIN + hour * HOUR;
        let at = |what: String| format!("day {}, hour {}: {what}", hour / 24 + 1, hour % 24);
        week.run(until).map_err(at)?;
        checks::hourly(&mut week).map_err(at)?;
        if hour % 24 == QUIET_HOUR {
            checks::nightly(&mut week).map_err(at)?;
        }
    }
    Ok(week.figures)
}
