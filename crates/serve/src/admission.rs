//! Admission control: limits on connected clients, in total and per address, before and after log-on.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{budgets::Clients, status::LimitStatus};

/// Enforces the client limits.
#[derive(Debug)]
pub(super) struct Admission {
    limits: Clients,
    taken: Mutex<Taken>,
}

/// The clients counted so far.
#[derive(Debug, Default)]
struct Taken {
    all: Count,
    by_address: HashMap<IpAddr, Count>,
}

/// The number of clients, and how many of them have not logged on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    clients: usize,
    pending: usize,
}

/// Why a client is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoPlace {
    /// The total limit is reached.
    #[error("{0} clients are connected, which is as many as may be")]
    All(usize),
    /// The limit per address is reached.
    #[error("{0} clients of its address are connected, which is as many as may be")]
    Address(usize),
    /// Too many clients have not logged on yet.
    #[error("{0} clients are connected and have not logged on, which is the maximum")]
    Pending(usize),
    /// Too many clients of its address have not logged on yet.
    #[error(
        "{0} clients of its address are connected and have not logged on, which is as many as may be"
    )]
    PendingAddress(usize),
}

impl Admission {
    /// Creates the limits without any client.
    pub(super) fn new(limits: Clients) -> Arc<Self> {
        Arc::new(Self {
            limits,
            taken: Mutex::default(),
        })
    }

    /// Admits a client at `address`. The first client of an address is admitted even if clients of other addresses
    /// exhaust the limit for clients that have not logged on.
    ///
    /// # Errors
    /// The limit that is reached.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Result<Seat, NoPlace> {
        let limits = &self.limits;
        let mut taken = self.lock();
        let here = taken.by_address.get(&address).copied().unwrap_or_default();
        if taken.all.clients >= limits.total {
            return Err(NoPlace::All(limits.total));
        }
        if here.clients >= limits.address {
            return Err(NoPlace::Address(limits.address));
        }
        if here.pending >= limits.pending_address {
            return Err(NoPlace::PendingAddress(limits.pending_address));
        }
        if here.clients > 0 && taken.all.pending >= limits.pending {
            return Err(NoPlace::Pending(limits.pending));
        }
        let Taken { all, by_address } = &mut *taken;
        for count in [all, by_address.entry(address).or_default()] {
            count.clients = count.clients.saturating_add(1);
            count.pending = count.pending.saturating_add(1);
        }
        drop(taken);
        Ok(Seat {
            admission: self.clone(),
            address,
            pending: true,
        })
    }

    /// The limits in total, and how much of them is used.
    pub(super) fn usage(&self) -> Vec<LimitStatus> {
        let all = self.lock().all;
        let limit = |what: &str, used: usize, most: usize| LimitStatus {
            what: what.into(),
            used: used as u64,
            most: most as u64,
        };
        vec![
            limit("clients", all.clients, self.limits.total),
            limit(
                "clients that have not logged on",
                all.pending,
                self.limits.pending,
            ),
        ]
    }

    fn change(&self, address: IpAddr, change: impl Fn(&mut Count)) {
        let mut taken = self.lock();
        change(&mut taken.all);
        if let Some(here) = taken.by_address.get_mut(&address) {
            change(here);
            if *here == Count::default() {
                taken.by_address.remove(&address);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An admitted client; dropping it frees its place.
#[derive(Debug)]
pub(super) struct Seat {
    admission: Arc<Admission>,
    address: IpAddr,
    pending: bool,
}

impl Seat {
    /// Records that the client has logged on.
    pub(super) fn settle(&mut self) {
        if std::mem::take(&mut self.pending) {
            self.admission.change(self.address, |count| {
                count.pending = count.pending.saturating_sub(1);
            });
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.settle();
        self.admission.change(self.address, |count| {
            count.clients = count.clients.saturating_sub(1);
        });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn admission() -> Arc<Admission> {
        Admission::new(Clients {
            total: 10,
            address: 6,
            pending: 5,
            pending_address: 3,
        })
    }

    fn at(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    #[test]
    fn clients_of_one_address_that_do_not_log_on_leave_room_for_other_addresses() {
        let admission = admission();
        let _silent: Vec<Seat> = (0..3).map(|_| admission.admit(at(1)).unwrap()).collect();
        assert_eq!(
            admission.admit(at(1)).unwrap_err(),
            NoPlace::PendingAddress(3)
        );
        let _more: Vec<Seat> = (0..2).map(|_| admission.admit(at(2)).unwrap()).collect();
        assert_eq!(admission.admit(at(2)).unwrap_err(), NoPlace::Pending(5));
        let _first = admission.admit(at(3)).unwrap();
    }

    #[test]
    fn a_client_that_logged_on_no_longer_counts_as_pending() {
        let admission = admission();
        let mut seats = Vec::new();
        for _ in 0..6 {
            let mut seat = admission.admit(at(1)).unwrap();
            seat.settle();
            seats.push(seat);
        }
        assert_eq!(admission.admit(at(1)).unwrap_err(), NoPlace::Address(6));
        seats.extend((2..6).map(|last| admission.admit(at(last)).unwrap()));
        assert_eq!(admission.admit(at(9)).unwrap_err(), NoPlace::All(10));
    }

    #[test]
    fn a_seat_is_freed_exactly_once_and_leaves_no_entry_behind() {
        let admission = admission();
        for settles in [false, true] {
            let mut seat = admission.admit(at(1)).unwrap();
            if settles {
                seat.settle();
            }
        }
        let taken = admission.lock();
        assert_eq!(taken.all, Count::default());
        assert!(taken.by_address.is_empty());
    }
}
