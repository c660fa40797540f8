//! What is known of the clients.

use std::net::{IpAddr, Ipv6Addr};

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};

use crate::error::StoreError;

/// Address as IPv6 → (last connection, Unix seconds; receive limit; send limit). A limit of 0 means none.
const CLIENTS: TableDefinition<[u8; 16], (u64, u32, u32)> = TableDefinition::new("clients");
/// Clients that are remembered.
pub const CLIENTS_MAX: usize = 4096;
/// A client that has not connected for this long, seconds, is forgotten: 400 days, longer than a machine that is used once
/// a year.
pub const AGE_MAX_S: u64 = 400 * 86_400;

/// What is known of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its address.
    pub address: IpAddr,
    /// When its last connection ended, Unix seconds.
    pub seen_s: u64,
    /// What may arrive from it at once, segments.
    pub receive: Option<u32>,
    /// What may be sent to it at once, segments.
    pub send: Option<u32>,
}

impl Client {
    fn key(address: IpAddr) -> [u8; 16] {
        match address {
            IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
            IpAddr::V6(address) => address.octets(),
        }
    }

    fn value(&self) -> (u64, u32, u32) {
        let limit = |limit: Option<u32>| limit.unwrap_or(0);
        (self.seen_s, limit(self.receive), limit(self.send))
    }

    fn of(key: [u8; 16], (seen_s, receive, send): (u64, u32, u32)) -> Self {
        let some = |limit: u32| (limit > 0).then_some(limit);
        Self {
            address: Ipv6Addr::from(key).to_canonical(),
            seen_s,
            receive: some(receive),
            send: some(send),
        }
    }
}

/// The rows of clients that connected in the last [`AGE_MAX_S`] seconds, the latest first.
pub(crate) fn latest(database: &Database, now_s: u64) -> Result<Vec<Client>, StoreError> {
    let mut clients = rows(database)?;
    clients.retain(|client| client.seen_s >= now_s.saturating_sub(AGE_MAX_S));
    clients.sort_by_key(|client| std::cmp::Reverse(client.seen_s));
    clients.truncate(CLIENTS_MAX);
    Ok(clients)
}

/// Writes and forgets in one transaction.
pub(crate) fn write(
    database: &Database,
    now_s: u64,
    changed: &[Client],
    gone: &[IpAddr],
) -> Result<(), StoreError> {
    let transaction = database.begin_write()?;
    {
        let mut table = transaction.open_table(CLIENTS)?;
        let oldest = now_s.saturating_sub(AGE_MAX_S);
        table.retain(|_, (seen_s, _, _)| seen_s >= oldest)?;
        for address in gone {
            table.remove(Client::key(*address))?;
        }
        for client in changed {
            table.insert(Client::key(client.address), client.value())?;
        }
    }
    transaction.commit()?;
    Ok(())
}

/// Every row.
pub(crate) fn rows(database: &Database) -> Result<Vec<Client>, StoreError> {
    let transaction = database.begin_read()?;
    let table = transaction.open_table(CLIENTS)?;
    let mut clients = Vec::new();
    for row in table.iter()? {
        let (key, value) = row?;
        clients.push(Client::of(key.value(), value.value()));
    }
    Ok(clients)
}

pub(crate) fn create(transaction: &WriteTransaction) -> Result<(), redb::Error> {
    transaction.open_table(CLIENTS)?;
    Ok(())
}
