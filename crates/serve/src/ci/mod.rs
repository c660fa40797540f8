//! A server for the continuous integration of a client: it explains every request that fails, and ends with a summary.

mod end;
mod inspector;
mod remedies;

pub(super) use end::Watch;
pub use end::{EndWatch, Ended};
pub(super) use inspector::Inspector;

use std::sync::atomic::{AtomicU64, Ordering};

use coax_fault::Plan;

use super::{
    bound::Bound,
    report::{CiLine, FaultCount, SummaryLine},
};

/// What is special about a server for continuous integration.
#[derive(Debug)]
pub struct CiStart {
    /// When it ends by itself.
    pub watch: EndWatch,
    /// The share for the client.
    pub share: String,
    /// The share's folder.
    pub folder: String,
}

impl CiStart {
    pub(super) fn line(&self, bound: &Bound, faults: Vec<String>) -> CiLine {
        let (direct, nbt) = (bound.direct.first(), bound.nbt.first());
        let address = direct.or(nbt);
        CiLine {
            url: address.map_or_else(String::new, |at| format!("smb://{at}/{}", self.share)),
            host: address.map_or_else(String::new, |at| at.ip().to_string()),
            direct_port: direct.map(std::net::SocketAddr::port),
            nbt_port: nbt.map(std::net::SocketAddr::port),
            share: self.share.clone(),
            folder: self.folder.clone(),
            faults,
        }
    }
}

/// What it has counted.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) clients: AtomicU64,
    pub(super) requests: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) invalid: AtomicU64,
}

impl Counts {
    /// Adds one.
    pub(super) fn add(count: &AtomicU64) {
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// The last line, and why a test that used the server has not passed.
    pub(super) fn summary(&self, plan: Option<&Plan>, ended: Ended, seconds: u64) -> SummaryLine {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let faults: Vec<FaultCount> = plan
            .iter()
            .flat_map(|plan| plan.applied())
            .map(|(fault, applied)| FaultCount {
                fault: fault.to_string(),
                applied,
            })
            .collect();
        let mut problems = Vec::new();
        match of(&self.invalid) {
            0 => {}
            1 => problems.push("one request was invalid: see 'invalid' of its event".into()),
            count => problems.push(format!(
                "{count} requests were invalid: see 'invalid' of their events"
            )),
        }
        let idle = faults.iter().filter(|fault| fault.applied == 0);
        problems.extend(idle.map(|fault| {
            format!(
                "the fault {} was never applied: the client sent no such request",
                fault.fault
            )
        }));
        if ended == Ended::TimeLimit {
            problems.push("the time limit came before the end of the test".into());
        }
        SummaryLine {
            clients: of(&self.clients),
            requests: of(&self.requests),
            refused_requests: of(&self.refused),
            invalid_requests: of(&self.invalid),
            injected: faults,
            ended: ended.words(),
            seconds,
            exit_code: u8::from(!problems.is_empty()),
            problems,
        }
    }
}
