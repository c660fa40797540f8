//! The end of a server for continuous integration.

use std::time::Duration;

use rustix::{
    fd::OwnedFd,
    io::Errno,
    process::{Pid, PidfdFlags, getppid, pidfd_open},
};
use tokio::{
    io::{Interest, unix::AsyncFd},
    time::Instant,
};

/// Why the server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// A signal.
    Signal,
    /// The process that it belongs to has ended.
    Parent,
    /// Its time limit.
    TimeLimit,
}

impl Ended {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Signal => "signal",
            Self::Parent => "parent",
            Self::TimeLimit => "time limit",
        }
    }
}

/// What ends the server besides signals.
#[derive(Debug, Default)]
pub struct EndWatch {
    /// The process whose end is the server's.
    parent: Option<OwnedFd>,
    limit: Option<Duration>,
}

impl EndWatch {
    /// A watch over a process: the parent, or the one with this number. It must be made before the sandbox.
    ///
    /// # Errors
    /// There is no such process, or the system cannot watch it.
    pub fn of(process: Option<i32>, limit: Option<Duration>) -> Result<Self, String> {
        let parent = match process {
            Some(number) => Some(open(
                Pid::from_raw(number).ok_or_else(|| format!("{number} is not a process"))?,
            )?),
            // The parent is in another namespace of processes.
            None => getppid().map(open).transpose()?,
        };
        Ok(Self { parent, limit })
    }

    /// A watch over no process.
    pub const fn without_parent(limit: Option<Duration>) -> Self {
        Self {
            parent: None,
            limit,
        }
    }
}

fn open(pid: Pid) -> Result<OwnedFd, String> {
    pidfd_open(pid, PidfdFlags::NONBLOCK).map_err(|error| match error {
        Errno::SRCH => format!("there is no process {}", pid.as_raw_nonzero()),
        other => format!("cannot watch process {}: {other}", pid.as_raw_nonzero()),
    })
}

/// The same, within the runtime.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    parent: Option<AsyncFd<OwnedFd>>,
    until: Option<Instant>,
}

impl Watch {
    /// Begins to watch. Must be called within the runtime.
    ///
    /// # Errors
    /// The system cannot watch the process.
    pub(crate) fn begin(watch: EndWatch) -> std::io::Result<Self> {
        Ok(Self {
            parent: watch.parent.map(register).transpose()?,
            until: watch.limit.map(|limit| Instant::now() + limit),
        })
    }

    /// Waits until the server must end.
    pub(crate) async fn ended(&self) -> Ended {
        tokio::select! {
            () = gone(self.parent.as_ref()) => Ended::Parent,
            () = passed(self.until) => Ended::TimeLimit,
        }
    }
}

/// Registers the process with the runtime. Deprecated because a type could close its descriptor while it is watched; an
/// [`OwnedFd`] that nobody else has does not.
#[allow(deprecated)]
fn register(process: OwnedFd) -> std::io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(process, Interest::READABLE)
}

async fn gone(parent: Option<&AsyncFd<OwnedFd>>) {
    match parent {
        // A process that has ended can be read; an error means that it cannot be watched any more.
        Some(parent) => drop(parent.readable().await),
        None => std::future::pending().await,
    }
}

async fn passed(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}
