//! From facts to findings: pure functions, one file for each subject.

mod client;
mod clock;
mod config;
mod firewall;
mod listed;
mod names;
mod network;
mod ports;
mod service;
mod shares;

use crate::{
    facts::Facts,
    finding::{Finding, Severity},
};

/// What the facts mean, the worst first.
pub fn findings(facts: &Facts) -> Vec<Finding> {
    let mut all = Vec::new();
    config::judge(facts, &mut all);
    service::judge(facts, &mut all);
    ports::judge(facts, &mut all);
    firewall::judge(facts, &mut all);
    network::judge(facts, &mut all);
    shares::judge(facts, &mut all);
    clock::judge(facts, &mut all);
    names::judge(facts, &mut all);
    client::judge(facts, &mut all);
    all.extend(facts.late.iter().map(|check| late(check)));
    all.sort_by_key(|finding| finding.severity);
    all
}

/// What could not be found out in time.
fn late(what: &str) -> Finding {
    Finding::new(
        Severity::Warning,
        crate::finding::Check::Config,
        format!("{what} did not answer in time and was not checked"),
    )
    .why("a file system or a program of this machine hangs")
    .fix("find it with 'ps -eo pid,stat,wchan,cmd' (state D), then run coax doctor again")
}

#[cfg(test)]
mod tests;
