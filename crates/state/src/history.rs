//! One day of samples, one row a minute.

use redb::{
    Database, ReadableDatabase, ReadableTable, TableDefinition, TableError, WriteTransaction,
};

use crate::error::StoreError;

/// Minute since 1970 → the row's bytes. The name contains the layout's version: another layout gets another name, and rows of
/// an older one are dropped.
const HISTORY: TableDefinition<u64, &[u8]> = TableDefinition::new("history-1");
/// Minutes that are kept.
pub const HISTORY_MINUTES: u64 = 1_440;
/// Shares, and clients, of one minute. What is beyond is added to the last one, [`OTHERS`].
pub const SAMPLES_MAX: usize = 32;
/// The name of the sample that stands for all others.
pub const OTHERS: &str = "(others)";
/// Longest text of a sample, bytes.
const TEXT_MAX: usize = 64;

/// One minute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Minute {
    /// Minutes since 1970.
    pub minute: u64,
    /// Shares that moved data.
    pub shares: Vec<ShareSample>,
    /// Clients that requested something.
    pub clients: Vec<ClientSample>,
}

/// What was done on a share in a minute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShareSample {
    /// Its name.
    pub share: String,
    /// Bytes of files that were read,
    pub read: u64,
    /// and written.
    pub written: u64,
}

/// What a client did in a minute: all connections from one address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientSample {
    /// Its address.
    pub address: String,
    /// Its NetBIOS name, or nothing.
    pub name: String,
    /// Bytes received from it,
    pub received: u64,
    /// and sent to it.
    pub sent: u64,
    /// Its requests,
    pub requests: u64,
    /// and those that were refused.
    pub refused: u64,
    /// Microseconds that it waited,
    pub waited_us: u64,
    /// mostly for this: a cause of coax-cause, or nothing.
    pub cause: String,
}

impl Minute {
    /// Adds the figures of another sample of the same minute.
    pub fn add(&mut self, other: Self) {
        for share in other.shares {
            self.add_share(share);
        }
        for client in other.clients {
            self.add_client(client);
        }
    }

    /// Adds figures to a share's.
    pub fn add_share(&mut self, new: ShareSample) {
        let known = self.shares.iter().position(|old| old.share == new.share);
        let place = known.unwrap_or_else(|| {
            let place = self.shares.len().min(SAMPLES_MAX.saturating_sub(1));
            if place == self.shares.len() {
                let share = named(place, &new.share);
                let none = ShareSample::default();
                self.shares.push(ShareSample { share, ..none });
            }
            place
        });
        if let Some(old) = self.shares.get_mut(place) {
            old.read = old.read.saturating_add(new.read);
            old.written = old.written.saturating_add(new.written);
        }
    }

    /// Adds figures to a client's.
    pub fn add_client(&mut self, new: ClientSample) {
        let known = self
            .clients
            .iter()
            .position(|old| old.address == new.address);
        let place = known.unwrap_or_else(|| {
            let place = self.clients.len().min(SAMPLES_MAX.saturating_sub(1));
            if place == self.clients.len() {
                let address = named(place, &new.address);
                let none = ClientSample::default();
                self.clients.push(ClientSample { address, ..none });
            }
            place
        });
        if let Some(old) = self.clients.get_mut(place) {
            old.add(new);
        }
    }
}

/// The name in a place: the last one is for all others.
fn named(place: usize, name: &str) -> String {
    match place.saturating_add(1) {
        SAMPLES_MAX => OTHERS.into(),
        _ => name.into(),
    }
}

impl ClientSample {
    fn add(&mut self, new: Self) {
        self.received = self.received.saturating_add(new.received);
        self.sent = self.sent.saturating_add(new.sent);
        self.requests = self.requests.saturating_add(new.requests);
        self.refused = self.refused.saturating_add(new.refused);
        // the cause of the connection that waited longest
        if new.waited_us >= self.waited_us {
            self.cause = new.cause;
        }
        self.waited_us = self.waited_us.saturating_add(new.waited_us);
        if self.name.is_empty() && self.address != OTHERS {
            self.name = new.name;
        }
    }
}

/// The minutes up to `now`, the oldest first.
pub(crate) fn read(database: &Database, now: u64) -> Result<Vec<Minute>, StoreError> {
    let transaction = database.begin_read()?;
    let table = match transaction.open_table(HISTORY) {
        Ok(table) => table,
        Err(TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let first = now.saturating_sub(HISTORY_MINUTES.saturating_sub(1));
    let mut minutes = Vec::new();
    for row in table.range(first..=now)? {
        let (minute, bytes) = row?;
        minutes.extend(decode(minute.value(), bytes.value()));
    }
    Ok(minutes)
}

/// Adds `minute` to the row of the same minute, and removes rows of other days. A clock that was wrong leaves rows of the future;
/// those of the next day are kept, in case that it is wrong now.
pub(crate) fn write(database: &Database, now: u64, minute: Minute) -> Result<(), StoreError> {
    let transaction = database.begin_write()?;
    {
        let mut table = transaction.open_table(HISTORY)?;
        let kept = now.saturating_sub(HISTORY_MINUTES.saturating_sub(1))
            ..=now.saturating_add(HISTORY_MINUTES);
        table.retain(|minute, _| kept.contains(&minute))?;
        let number = minute.minute;
        let mut sum = table
            .get(number)?
            .and_then(|bytes| decode(number, bytes.value()))
            .unwrap_or_default();
        sum.add(minute);
        table.insert(number, encode(&sum).as_slice())?;
    }
    transaction.commit()?;
    Ok(())
}

/// Rows that are stored.
pub(crate) fn rows(database: &Database) -> Result<usize, StoreError> {
    let transaction = database.begin_read()?;
    match transaction.open_table(HISTORY) {
        Ok(table) => {
            let mut count = 0_usize;
            for row in table.iter()? {
                let _ = row?.1.value().len();
                count = count.saturating_add(1);
            }
            Ok(count)
        }
        Err(TableError::TableDoesNotExist(_)) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn create(transaction: &WriteTransaction) -> Result<(), redb::Error> {
    transaction.open_table(HISTORY)?;
    Ok(())
}

/// A row: the number of shares, each with its text and two numbers; the number of clients, each with three texts and five
/// numbers. Numbers of samples and lengths of texts have one byte, other numbers eight, little-endian.
pub(crate) fn encode(minute: &Minute) -> Vec<u8> {
    let mut out = Vec::new();
    let shares = minute.shares.iter().take(SAMPLES_MAX);
    out.push(shares.len() as u8);
    for share in shares {
        put_text(&mut out, &share.share);
        put_numbers(&mut out, &[share.read, share.written]);
    }
    let clients = minute.clients.iter().take(SAMPLES_MAX);
    out.push(clients.len() as u8);
    for client in clients {
        put_text(&mut out, &client.address);
        put_text(&mut out, &client.name);
        put_text(&mut out, &client.cause);
        let numbers = [
            client.received,
            client.sent,
            client.requests,
            client.refused,
            client.waited_us,
        ];
        put_numbers(&mut out, &numbers);
    }
    out
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    let mut end = text.len().min(TEXT_MAX);
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    let text = text.get(..end).unwrap_or_default();
    out.push(text.len() as u8);
    out.extend_from_slice(text.as_bytes());
}

fn put_numbers(out: &mut Vec<u8>, numbers: &[u64]) {
    for number in numbers {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

/// A row, or nothing if its bytes are none.
pub(crate) fn decode(minute: u64, bytes: &[u8]) -> Option<Minute> {
    let mut bytes = Bytes(bytes);
    let mut decoded = Minute {
        minute,
        ..Minute::default()
    };
    for _ in 0..bytes.count()? {
        decoded.shares.push(ShareSample {
            share: bytes.text()?,
            read: bytes.number()?,
            written: bytes.number()?,
        });
    }
    for _ in 0..bytes.count()? {
        decoded.clients.push(ClientSample {
            address: bytes.text()?,
            name: bytes.text()?,
            cause: bytes.text()?,
            received: bytes.number()?,
            sent: bytes.number()?,
            requests: bytes.number()?,
            refused: bytes.number()?,
            waited_us: bytes.number()?,
        });
    }
    bytes.0.is_empty().then_some(decoded)
}

/// What is left of a row.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<usize> {
        self.take(1)?.first().map(|byte| usize::from(*byte))
    }

    fn count(&mut self) -> Option<usize> {
        self.byte().filter(|count| *count <= SAMPLES_MAX)
    }

    fn text(&mut self) -> Option<String> {
        let len = self.byte().filter(|len| *len <= TEXT_MAX)?;
        let text = std::str::from_utf8(self.take(len)?).ok()?;
        Some(text.into())
    }

    fn number(&mut self) -> Option<u64> {
        let bytes = self.take(8)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    }
}
