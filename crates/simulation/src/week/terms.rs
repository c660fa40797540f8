//! Times, numbers, and what a week reports.

/// A second, ns.
pub(crate) const SECOND: u64 = 1_000_000_000;
/// A minute, ns.
pub(crate) const MINUTE: u64 = 60 * SECOND;
/// An hour, ns.
pub(crate) const HOUR: u64 = 60 * MINUTE;
/// A day, ns.
pub(crate) const DAY: u64 = 24 * HOUR;
/// Midnight of 2026-11-21, ns.
pub(crate) const BEGIN: u64 = 1_795_219_200 * SECOND;
/// The driver disconnects a client without open files after this time without a request (`deadtime = 30`).
pub(crate) const DEADTIME: u64 = 30 * MINUTE;
/// Machines.
pub(crate) const MACHINES: usize = 24;
/// A defect of the driver, which the checks must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Some lost connections are forgotten without closing their files.
    ForgottenConnection,
    /// Waits never time out.
    MissedTimer,
    /// What a client moved is not counted when its connection is lost.
    UncountedBytes,
    /// Finished print jobs are not removed.
    KeptJobs,
}

/// What happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Connections that ended.
    pub connections: u64,
    /// Requests.
    pub requests: u64,
    /// Log-ons with a wrong password, and log-ons that had to wait for it.
    pub wrong_passwords: u64,
    /// Requests that waited.
    pub waited: u64,
    /// Connections that `deadtime` ended.
    pub idle: u64,
    /// Print jobs.
    pub printed: u64,
    /// Searches that were left open.
    pub searches: u64,
    /// Datagrams of browsers.
    pub datagrams: u64,
    /// Instants at which something happened.
    pub instants: u64,
    /// The most connections, opens and parked requests at an hour.
    pub most: (usize, usize, usize),
    /// A hash of all bytes that the server sent, and of their times.
    pub trace: u64,
}
