//! Limits the number of threads in one share's disk.
//!
//! A hung disk blocks every thread that calls it. Each share therefore has a lane with a limited number of passes. Work that
//! may touch the share's disk takes a pass; without one it waits as a task, which costs no thread. Work that may touch
//! several disks uses a separate lane, so that one hung disk cannot use up the passes of another.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, PoisonError, RwLock},
    task::Poll,
};

use coax_server::{Reach, table::ShareId};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// The lanes of all shares.
#[derive(Debug)]
pub(super) struct Lanes {
    /// Shares that a reload removes keep their lane: they may come back.
    shares: RwLock<Vec<(ShareId, Arc<Semaphore>)>>,
    several: Arc<Semaphore>,
    /// Passes of each lane.
    most: usize,
}

/// Permission to access a disk; dropping it returns the permission.
#[derive(Debug)]
pub(super) struct Pass {
    reach: Reach,
    /// `None` for work that accesses no disk.
    _permit: Option<OwnedSemaphorePermit>,
}

impl Pass {
    fn new(reach: Reach, permit: Option<OwnedSemaphorePermit>) -> Self {
        Self {
            reach,
            _permit: permit,
        }
    }

    /// The disks that the pass covers.
    pub(super) fn reach(&self) -> Reach {
        self.reach
    }
}

impl Lanes {
    /// Lanes with `passes` passes each.
    pub(super) fn new(shares: impl Iterator<Item = ShareId>, passes: usize) -> Self {
        let lane = || Arc::new(Semaphore::new(passes.max(1)));
        Self {
            shares: RwLock::new(shares.map(|share| (share, lane())).collect()),
            several: lane(),
            most: passes.max(1),
        }
    }

    /// Adds lanes for shares that have none.
    pub(super) fn add(&self, shares: impl Iterator<Item = ShareId>) {
        let mut lanes = self.shares.write().unwrap_or_else(PoisonError::into_inner);
        for share in shares {
            if !lanes.iter().any(|(id, _)| *id == share) {
                lanes.push((share, Arc::new(Semaphore::new(self.most))));
            }
        }
    }

    /// How many passes are free in all lanes.
    #[cfg(test)]
    pub(super) fn passes(&self) -> usize {
        self.sum(Semaphore::available_permits)
    }

    /// The number of passes in use. It looks at every lane; a count of its own would cost each request more.
    pub(super) fn inside(&self) -> usize {
        self.sum(|lane| self.in_use(lane))
    }

    /// The number of passes in use in a share's lane.
    pub(super) fn load(&self, share: ShareId) -> usize {
        let lane = self.lane(Reach::Share(share));
        lane.map_or(0, |lane| self.in_use(&lane))
    }

    /// A pass, if one is free.
    pub(super) fn try_pass(&self, reach: Reach) -> Option<Pass> {
        let permit = match self.lane(reach) {
            None => None,
            Some(lane) => Some(lane.try_acquire_owned().ok()?),
        };
        Some(Pass::new(reach, permit))
    }

    /// Waits for a pass: first come, first served.
    pub(super) async fn pass_for(&self, reach: Reach) -> Pass {
        let permit = match self.lane(reach) {
            None => None,
            // The lanes are never closed.
            Some(lane) => lane.acquire_owned().await.ok(),
        };
        Pass::new(reach, permit)
    }

    /// Waits for the first free pass of any lane of `shares`.
    pub(super) async fn first_of(&self, shares: &[ShareId]) -> Pass {
        type Waiting =
            Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>;
        let lanes = shares.iter().map(|share| Reach::Share(*share));
        let mut waiting: Vec<(Reach, Waiting)> = Vec::new();
        for reach in lanes {
            match self.lane(reach) {
                None => return Pass::new(reach, None),
                Some(lane) => waiting.push((reach, Box::pin(lane.acquire_owned()))),
            }
        }
        let first = std::future::poll_fn(|context| {
            for (reach, future) in &mut waiting {
                if let Poll::Ready(permit) = future.as_mut().poll(context) {
                    return Poll::Ready((*reach, permit.ok()));
                }
            }
            Poll::Pending
        });
        let (reach, permit) = first.await;
        Pass::new(reach, permit)
    }

    fn in_use(&self, lane: &Semaphore) -> usize {
        self.most.saturating_sub(lane.available_permits())
    }

    fn sum(&self, of: impl Fn(&Semaphore) -> usize) -> usize {
        let shares = self.shares.read().unwrap_or_else(PoisonError::into_inner);
        let lanes = shares.iter().map(|(_, lane)| lane);
        lanes.chain([&self.several]).map(|lane| of(lane)).sum()
    }

    fn lane(&self, reach: Reach) -> Option<Arc<Semaphore>> {
        match reach {
            Reach::Nothing => None,
            Reach::Several => Some(self.several.clone()),
            Reach::Share(share) => {
                let shares = self.shares.read().unwrap_or_else(PoisonError::into_inner);
                let mut lanes = shares.iter();
                let lane = lanes.find(|(id, _)| *id == share);
                lane.map(|(_, lane)| lane.clone())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test]
    async fn a_full_lane_does_not_block_another_lane() {
        let lanes = Lanes::new([1, 2].map(ShareId).into_iter(), 2);
        let (hung, other) = (Reach::Share(ShareId(1)), Reach::Share(ShareId(2)));
        let held = [lanes.try_pass(hung).unwrap(), lanes.try_pass(hung).unwrap()];
        assert!(lanes.try_pass(hung).is_none());
        assert!(lanes.try_pass(other).is_some() && lanes.try_pass(Reach::Several).is_some());
        assert!(lanes.try_pass(Reach::Nothing).is_some());
        assert_eq!(lanes.inside(), 2);
        let first = lanes.first_of(&[ShareId(1), ShareId(2)]).await;
        assert_eq!(first.reach(), other);
        drop((held, first));
        assert_eq!((lanes.inside(), lanes.passes()), (0, 6));
    }
}
