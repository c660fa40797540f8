//! Budgets: limits of one connection, of one address and of all clients together.
//!
//! Each connection has an [`Account`]. The engine reserves a resource there before it acts, at all three levels or at
//! none. It returns the reservation exactly once: explicitly, or by dropping the [`Lease`]. The last eighth of the
//! budgets of an address and of the server is for connections with low usage, so that a late client can still work.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicUsize, Ordering};

/// A budgeted resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Open files and folders, each with a descriptor, and print jobs.
    Opens,
    /// Byte-range locks granted.
    Locks,
    /// Bytes of buffered data: incomplete transactions, parked requests, searches, pipes, collected change
    /// notifications, and replies that the client has not yet received.
    Memory,
}

/// The level whose limit is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exceeded {
    /// The connection.
    #[error("this connection holds as much as one may")]
    Connection,
    /// All connections of the client's address.
    #[error("the connections of this address hold as much as one address may")]
    Address,
    /// All clients.
    #[error("all clients together hold as much as the server has")]
    Total,
}

/// The limits of one resource, at each level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// One connection.
    pub connection: usize,
    /// All connections of one address.
    pub address: usize,
    /// All connections.
    pub total: usize,
    /// A connection that uses no more than this may use the last eighth of the budgets of its address and of the
    /// server.
    pub small: usize,
}

impl Caps {
    /// `total` for all connections; one connection and one address may each have half.
    pub const fn of_total(total: usize, small: usize) -> Self {
        Self {
            connection: total / 2,
            address: total / 2,
            total,
            small,
        }
    }
}

/// The limits of every resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budgets {
    /// Opens. [`crate::config::Limits::opens`] also limits one connection.
    pub opens: Caps,
    /// Locks. [`crate::table::Limits::locks`] also limits one connection.
    pub locks: Caps,
    /// Bytes of memory.
    pub memory: Caps,
}

impl Budgets {
    fn of(&self, resource: Resource) -> &Caps {
        match resource {
            Resource::Opens => &self.opens,
            Resource::Locks => &self.locks,
            Resource::Memory => &self.memory,
        }
    }
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            opens: Caps::of_total(1 << 17, 16),
            locks: Caps::of_total(1 << 20, 64),
            memory: Caps {
                connection: 8 << 20,
                ..Caps::of_total(512 << 20, 64 << 10)
            },
        }
    }
}

/// The usage of each resource.
#[derive(Debug, Default)]
pub struct Usage([AtomicUsize; 3]);

impl Usage {
    /// The usage of `resource`.
    pub fn get(&self, resource: Resource) -> usize {
        self.count(resource).load(Ordering::Relaxed)
    }

    fn count(&self, resource: Resource) -> &AtomicUsize {
        let [opens, locks, memory] = &self.0;
        match resource {
            Resource::Opens => opens,
            Resource::Locks => locks,
            Resource::Memory => memory,
        }
    }

    fn add(&self, resource: Resource, amount: usize) {
        self.count(resource).fetch_add(amount, Ordering::Relaxed);
    }

    fn take(&self, resource: Resource, amount: usize, most: usize) -> bool {
        let grown = |held: usize| held.checked_add(amount).filter(|sum| *sum <= most);
        self.count(resource)
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown)
            .is_ok()
    }

    fn give(&self, resource: Resource, amount: usize) {
        let before = self.count(resource).fetch_sub(amount, Ordering::Relaxed);
        debug_assert!(before >= amount, "more was given back than taken");
    }
}

/// The usage of one connection, and the counters of its address and of the server.
#[derive(Debug, Default)]
pub struct Account {
    budgets: Budgets,
    own: Usage,
    address: Arc<Usage>,
    total: Arc<Usage>,
}

impl Account {
    /// An account for a connection; `address` counts the usage of its address.
    pub fn new(budgets: Budgets, address: Arc<Usage>, total: Arc<Usage>) -> Self {
        Self {
            budgets,
            own: Usage::default(),
            address,
            total,
        }
    }

    /// The connection's usage of `resource`.
    pub fn held(&self, resource: Resource) -> usize {
        self.own.get(resource)
    }

    /// Reserves `amount` of `resource` until [`Self::give`].
    ///
    /// # Errors
    /// The level whose limit is exceeded. Then nothing is reserved.
    pub fn take(&self, resource: Resource, amount: usize) -> Result<(), Exceeded> {
        let caps = self.budgets.of(resource);
        if !self.own.take(resource, amount, caps.connection) {
            return Err(Exceeded::Connection);
        }
        let holds_little = self.own.get(resource) <= caps.small;
        let most = |all: usize| if holds_little { all } else { all - all / 8 };
        if !self.address.take(resource, amount, most(caps.address)) {
            self.own.give(resource, amount);
            return Err(Exceeded::Address);
        }
        if !self.total.take(resource, amount, most(caps.total)) {
            self.address.give(resource, amount);
            self.own.give(resource, amount);
            return Err(Exceeded::Total);
        }
        Ok(())
    }

    /// Counts `amount` of `resource` without a check, for a use that can no longer be refused.
    pub fn force(&self, resource: Resource, amount: usize) {
        for usage in [&self.own, &self.address, &self.total] {
            usage.add(resource, amount);
        }
    }

    /// Releases what [`Self::take`] or [`Self::force`] counted.
    pub fn give(&self, resource: Resource, amount: usize) {
        for usage in [&self.own, &self.address, &self.total] {
            usage.give(resource, amount);
        }
    }

    /// Reserves `amount` of `resource` until the lease is dropped.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub fn lease(self: &Arc<Self>, resource: Resource, amount: usize) -> Result<Lease, Exceeded> {
        self.take(resource, amount)?;
        Ok(Lease {
            account: self.clone(),
            resource,
            amount,
        })
    }
}

/// A reservation that ends when it is dropped.
#[derive(Debug)]
pub struct Lease {
    account: Arc<Account>,
    resource: Resource,
    amount: usize,
}

impl Lease {
    /// Changes the reservation to `amount`.
    ///
    /// # Errors
    /// As [`Account::take`]; the lease does not change.
    pub fn resize(&mut self, amount: usize) -> Result<(), Exceeded> {
        match amount.checked_sub(self.amount) {
            Some(0) => {}
            Some(more) => self.account.take(self.resource, more)?,
            None => self
                .account
                .give(self.resource, self.amount.saturating_sub(amount)),
        }
        self.amount = amount;
        Ok(())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.account.give(self.resource, self.amount);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    const CAPS: Caps = Caps {
        connection: 40,
        address: 60,
        total: 80,
        small: 4,
    };

    fn accounts(addresses: &[usize]) -> (std::vec::Vec<Arc<Account>>, Arc<Usage>) {
        let budgets = Budgets {
            opens: CAPS,
            ..Budgets::default()
        };
        let total = Arc::new(Usage::default());
        let of_address: std::vec::Vec<Arc<Usage>> = (0..4).map(|_| Arc::default()).collect();
        let account = |address: &usize| {
            let usage = of_address.get(*address).unwrap().clone();
            Arc::new(Account::new(budgets, usage, total.clone()))
        };
        (addresses.iter().map(account).collect(), total)
    }

    #[test]
    fn each_level_refuses_on_its_own_and_a_refusal_reserves_nothing() {
        let (accounts, total) = accounts(&[0, 0, 1]);
        let [a, b, c] = accounts.as_slice() else {
            unreachable!()
        };
        assert_eq!(a.take(Resource::Opens, 41), Err(Exceeded::Connection));
        a.take(Resource::Opens, 40).unwrap();
        // An address may have 60, the last 7 of them only for connections with low usage.
        assert_eq!(b.take(Resource::Opens, 14), Err(Exceeded::Address));
        b.take(Resource::Opens, 13).unwrap();
        assert_eq!(c.take(Resource::Opens, 18), Err(Exceeded::Total));
        c.take(Resource::Opens, 17).unwrap();
        assert_eq!(total.get(Resource::Opens), 70);
        assert_eq!(c.held(Resource::Opens), 17);
    }

    #[test]
    fn the_last_eighth_is_for_connections_with_low_usage() {
        let (accounts, _) = accounts(&[0, 1, 2]);
        let [a, b, late] = accounts.as_slice() else {
            unreachable!()
        };
        a.take(Resource::Opens, 40).unwrap();
        b.take(Resource::Opens, 30).unwrap();
        assert_eq!(b.take(Resource::Opens, 1), Err(Exceeded::Total));
        for _ in 0..4 {
            late.take(Resource::Opens, 1).unwrap();
        }
        assert_eq!(late.take(Resource::Opens, 1), Err(Exceeded::Total));
    }

    proptest! {
        /// For every sequence of leases, resizes and drops: no level exceeds its limit, and nothing remains.
        #[test]
        fn leases_are_counted_exactly_and_leave_nothing_behind(
            steps in prop::collection::vec((0usize..4, 0usize..30, 0usize..40), 0..100),
        ) {
            let (accounts, total) = accounts(&[0, 0, 1, 2]);
            let mut leases = std::vec::Vec::new();
            for (who, amount, at) in steps {
                if at < leases.len() && amount % 3 == 0 {
                    drop(leases.swap_remove(at));
                } else if let Some(lease) = leases.get_mut(at) {
                    let _ = Lease::resize(lease, amount);
                } else if let Ok(lease) = accounts.get(who).unwrap().lease(Resource::Opens, amount) {
                    leases.push(lease);
                }
                let held: usize = leases.iter().map(|lease: &Lease| lease.amount).sum();
                prop_assert_eq!(total.get(Resource::Opens), held);
                prop_assert!(held <= CAPS.total);
            }
            drop(leases);
            prop_assert_eq!(total.get(Resource::Opens), 0);
            for account in accounts {
                prop_assert_eq!(account.held(Resource::Opens), 0);
                prop_assert_eq!(account.address.get(Resource::Opens), 0);
            }
        }
    }
}
