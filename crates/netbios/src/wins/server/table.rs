//! The records with two indexes, so that a flood of registrations costs logarithmic time for each packet.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::net::Ipv4Addr;

use coax_wire::nbt::name::NbName;
use coax_wire::time::{Span, Time};

use super::super::record::{RecordState, WinsRecord};

/// The records. Each change goes through [`update`](Self::update), which keeps the indexes right.
#[derive(Debug, Default)]
pub(super) struct Table {
    records: BTreeMap<NbName, WinsRecord>,
    /// The number of live records of each station.
    live: BTreeMap<Ipv4Addr, usize>,
    /// Records that may be evicted: tombstones first, then released records, the oldest first.
    dead: BTreeSet<(bool, Time, NbName)>,
}

/// What aging changed.
#[derive(Debug, Default)]
pub(super) struct Aged {
    /// Names that were active and are not any more.
    pub(super) gone: Vec<NbName>,
    /// Whether the database has to be written.
    pub(super) changed: bool,
}

impl Table {
    pub(super) fn get(&self, name: &NbName) -> Option<&WinsRecord> {
        self.records.get(name)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&NbName, &WinsRecord)> {
        self.records.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// The live records that a station registered.
    pub(super) fn live_of(&self, station: Ipv4Addr) -> usize {
        self.live.get(&station).copied().unwrap_or_default()
    }

    /// Writes a record in place of an older one, which is returned.
    pub(super) fn insert(&mut self, name: NbName, record: WinsRecord) -> Option<WinsRecord> {
        let old = self.records.remove(&name);
        if let Some(old) = &old {
            self.remove_from_indexes(&name, old);
        }
        self.add_to_indexes(&name, &record);
        self.records.insert(name, record);
        old
    }

    /// Changes a record, if there is one of this name.
    pub(super) fn update<R>(
        &mut self,
        name: &NbName,
        change: impl FnOnce(&mut WinsRecord) -> R,
    ) -> Option<R> {
        let mut record = self.records.remove(name)?;
        self.remove_from_indexes(name, &record);
        let result = change(&mut record);
        self.add_to_indexes(name, &record);
        self.records.insert(*name, record);
        Some(result)
    }

    /// Removes the record that is missed least; `false` if all are live.
    pub(super) fn evict(&mut self) -> bool {
        let Some((_, _, name)) = self.dead.pop_first() else {
            return false;
        };
        self.records.remove(&name);
        true
    }

    /// Active records become released ones, those tombstones, and those go.
    pub(super) fn age(&mut self, now: Time, extinction: Span, tombstone: Span) -> Aged {
        let mut aged = Aged::default();
        self.records.retain(|name, record| {
            let was_active = record.state() == RecordState::Active;
            let keep = record.age(now, extinction, tombstone);
            let is_gone = was_active && record.state() != RecordState::Active;
            if is_gone {
                aged.gone.push(*name);
            }
            aged.changed |= is_gone || !keep;
            keep
        });
        self.index();
        aged
    }

    /// Builds the indexes anew.
    fn index(&mut self) {
        self.live.clear();
        self.dead.clear();
        let records = core::mem::take(&mut self.records);
        for (name, record) in &records {
            self.add_to_indexes(name, record);
        }
        self.records = records;
    }

    fn add_to_indexes(&mut self, name: &NbName, record: &WinsRecord) {
        match dead_key(name, record) {
            Some(key) => {
                self.dead.insert(key);
            }
            None => {
                if let Some(station) = record.charged_to() {
                    let count = self.live.entry(station).or_default();
                    *count = count.saturating_add(1);
                }
            }
        }
    }

    fn remove_from_indexes(&mut self, name: &NbName, record: &WinsRecord) {
        if let Some(key) = dead_key(name, record) {
            self.dead.remove(&key);
            return;
        }
        let Some(station) = record.charged_to() else {
            return;
        };
        if let Some(count) = self.live.get_mut(&station) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.live.remove(&station);
            }
        }
    }
}

/// The place of a record among those that may be evicted; `None` for a live one.
fn dead_key(name: &NbName, record: &WinsRecord) -> Option<(bool, Time, NbName)> {
    let is_released = match record.state() {
        RecordState::Active => return None,
        RecordState::Released => true,
        RecordState::Tombstone => false,
    };
    Some((is_released, record.since(), *name))
}
