//! An index of a folder's names, by any spelling of case and by 8.3 name, without another read of the folder.
//!
//! Most file systems are case-sensitive and have no 8.3 names. Without an index each look-up would need a listing of
//! the folder. The engine builds a [`DirIndex`] once from the list of names, and updates it when it creates, removes
//! and renames files. If another program has changed the folder, [`DirIndex::refresh`] updates the index.
//!
//! # Which 8.3 name a file has
//!
//! 1. A name that is legal in DOS is its own 8.3 name, and no generated name ever equals the name of a file.
//! 2. Of all others, the first file whose first candidate is free gets that candidate (`AVERYL~1.TEX`). The rest get
//!    later candidates, which depend on the long name alone ([`super::mangle`]). The order is that of the names' bytes
//!    during a build, and order of arrival afterwards.
//!
//! So a file keeps its 8.3 name for the lifetime of the index, independent of other files, with one exception: a new
//! file whose real name equals that 8.3 name takes it. A new index (for instance after a restart) gives the same 8.3
//! names if the folder's names are the same. If files with the same beginning were created or removed meanwhile, the
//! short `~1` form may belong to another of them; the hashed forms do not change. This is the cost of 8.3 names that
//! look familiar to users and need no stored record.
//!
//! Two files whose names differ only in case are both reachable: look-ups prefer the exact name, and one of the two has
//! a generated 8.3 name.

use super::mangle::{Mangler, ShortName};
use alloc::{string::String, vec::Vec};
use coax_wire::codepage::{eq_ignore_case, fold, upper_char};
use core::hash::{BuildHasher, Hasher};
use hashbrown::{DefaultHashBuilder, HashTable};

/// The position of a name in an index: fixed while the name exists; the index later reuses it for another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(u32);

impl NameId {
    /// The position as a number, for resume keys of clients.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The position with this number; it may be unused.
    pub const fn from_number(number: u32) -> Self {
        Self(number)
    }
}

/// The number of candidates before the index makes an unrelated numbered name. Only artificial names need more than a
/// few.
const MAX_CANDIDATES: u32 = 64;

/// The names of one folder.
#[derive(Debug)]
pub struct DirIndex {
    mangler: Mangler,
    /// All names concatenated, with gaps in place of removed names.
    text: String,
    /// Bytes of `text` that no entry uses.
    gaps: usize,
    entries: Vec<Entry>,
    /// Unused entries for reuse.
    free: Vec<u32>,
    /// All names by case-folded form.
    folded: HashTable<u32>,
    /// Names with a generated 8.3 name, by that 8.3 name.
    shorts: HashTable<u32>,
    hasher: DefaultHashBuilder,
    generation: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u32,
    /// 0: the entry is unused.
    len: u16,
    /// Whether `shorts` contains the entry.
    listed: bool,
    short: ShortName,
}

impl DirIndex {
    /// An empty folder's index.
    pub fn new(mangler: Mangler) -> Self {
        Self {
            mangler,
            text: String::new(),
            gaps: 0,
            entries: Vec::new(),
            free: Vec::new(),
            folded: HashTable::new(),
            shorts: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            generation: 0,
        }
    }

    /// Builds the index of a folder with these names. Their order is irrelevant; duplicates count once.
    pub fn build<S: AsRef<str>>(mangler: Mangler, names: &[S]) -> Self {
        let mut index = Self::new(mangler);
        index.entries.reserve(names.len());
        index
            .text
            .reserve(names.iter().map(|n| n.as_ref().len()).sum());
        index.folded.reserve(names.len(), |_| 0);
        index.insert_all(names.iter().map(AsRef::as_ref));
        index
    }

    /// The generation of the index: positions are comparable within one generation only.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Sets the generation.
    pub fn with_generation(self, generation: u64) -> Self {
        Self { generation, ..self }
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.folded.len()
    }

    /// Whether the index is empty.
    pub fn is_empty(&self) -> bool {
        self.folded.is_empty()
    }

    /// The name at a position; `None` after its removal.
    pub fn name(&self, id: NameId) -> Option<&str> {
        self.live(id).map(|entry| self.text_of(entry))
    }

    /// The 8.3 name of the name at a position.
    pub fn short(&self, id: NameId) -> Option<ShortName> {
        self.live(id).map(|entry| entry.short)
    }

    /// The 8.3 name at a position, if generated.
    pub fn generated_short(&self, id: NameId) -> Option<ShortName> {
        let short = self.short(id)?;
        let own = self.mangler.legal(self.name(id)?);
        (own != Some(short)).then_some(short)
    }

    /// Finds the file that a client means: by exact name, else by name without case, else by 8.3 name.
    pub fn lookup(&self, name: &str) -> Option<NameId> {
        self.exact(name)
            .or_else(|| self.folded(name))
            .or_else(|| self.by_short(name))
    }

    /// Finds the file with exactly this name.
    pub fn exact(&self, name: &str) -> Option<NameId> {
        self.exact_hashed(name, self.hash(name))
    }

    /// All files whose names equal this one without case, in no particular order.
    pub fn lookup_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = NameId> + 'a {
        let same = self.folded.iter_hash(self.hash(name)).copied();
        same.filter(move |id| eq_ignore_case(self.name_at(*id), name))
            .map(NameId)
    }

    /// The next name after a position, or the first name. An iteration returns a name that exists throughout exactly
    /// once, even if other names are inserted and removed between the calls.
    pub fn next_after(&self, place: Option<NameId>) -> Option<NameId> {
        let start = place.map_or(0, |id| id.0.saturating_add(1));
        let rest = self.entries.get(usize::try_from(start).ok()?..)?;
        let ahead = rest.iter().position(|entry| entry.len > 0)?;
        Some(NameId(start.saturating_add(u32::try_from(ahead).ok()?)))
    }

    /// All names with their positions, in the order of the index.
    pub fn iter(&self) -> impl Iterator<Item = (NameId, &str)> {
        let live = self
            .entries
            .iter()
            .zip(0u32..)
            .filter(|(entry, _)| entry.len > 0);
        live.map(|(entry, id)| (NameId(id), self.text_of(entry)))
    }

    /// The approximate memory use in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.text.capacity()
            + self.entries.capacity() * size_of::<Entry>()
            + (self.free.capacity() + self.folded.capacity() + self.shorts.capacity())
                * size_of::<u32>()
            + (self.folded.capacity() + self.shorts.capacity()) / 4
    }

    /// Adds a name. Returns its position, also if the name already exists.
    pub fn insert(&mut self, name: &str) -> Option<NameId> {
        if let Some(id) = self.exact(name) {
            return Some(id);
        }
        let id = self.add(name, self.hash(name))?;
        self.assign(id);
        Some(NameId(id))
    }

    /// Removes a name. Returns whether exactly this name existed.
    pub fn remove(&mut self, name: &str) -> bool {
        let Some(NameId(id)) = self.exact(name) else {
            return false;
        };
        self.unlist(id);
        let hash = self.hash(name);
        if let Ok(slot) = self.folded.find_entry(hash, |other| *other == id) {
            slot.remove();
        }
        if let Some(entry) = self.entries.get_mut(id as usize) {
            self.gaps += usize::from(entry.len);
            entry.len = 0;
            self.free.push(id);
        }
        if self.gaps > 4096 && self.gaps > self.text.len() / 2 {
            self.close_gaps();
        }
        true
    }

    /// Renames a file, and replaces an existing target.
    pub fn rename(&mut self, from: &str, to: &str) -> Option<NameId> {
        if from != to {
            self.remove(from);
        }
        self.insert(to)
    }

    /// Updates the index to a new list of the folder's names. Remaining files keep position and 8.3 name.
    pub fn refresh<S: AsRef<str>>(&mut self, names: &[S]) {
        let mut stays = alloc::vec![false; self.entries.len()];
        let mut new: Vec<&str> = Vec::new();
        for name in names.iter().map(AsRef::as_ref) {
            match self.exact(name) {
                Some(NameId(id)) => {
                    if let Some(stay) = stays.get_mut(id as usize) {
                        *stay = true;
                    }
                }
                None => new.push(name),
            }
        }
        let gone: Vec<String> = self
            .iter()
            .filter(|(id, _)| stays.get(id.0 as usize) == Some(&false))
            .map(|(_, n)| n.into())
            .collect();
        for name in gone {
            self.remove(&name);
        }
        self.insert_all(new.into_iter());
    }

    /// Adds many names; the result depends only on the names. First it adds all names, then it assigns the 8.3 names of
    /// the legal ones, then those of the others.
    fn insert_all<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        let mut waiting: Vec<(bool, u32)> = Vec::new();
        for name in names {
            let hash = self.hash(name);
            if self.exact_hashed(name, hash).is_some() {
                continue;
            }
            if let Some(id) = self.add(name, hash) {
                waiting.push((self.mangler.is_legal(name), id));
            }
        }
        waiting.sort_unstable_by(|a, b| {
            b.0.cmp(&a.0)
                .then_with(|| self.name_at(a.1).cmp(self.name_at(b.1)))
        });
        for (_, id) in waiting {
            self.assign(id);
        }
    }

    /// Adds a name without an 8.3 name, which follows later. `None` if the name is empty or the index is full (4 GiB of
    /// names).
    fn add(&mut self, name: &str, hash: u64) -> Option<u32> {
        let start = u32::try_from(self.text.len()).ok()?;
        let len = u16::try_from(name.len()).ok().filter(|len| *len > 0)?;
        let entry = Entry {
            start,
            len,
            listed: false,
            short: ShortName::default(),
        };
        let id = match self.free.pop() {
            Some(id) => id,
            None => {
                let id = u32::try_from(self.entries.len()).ok()?;
                self.entries.push(entry);
                id
            }
        };
        *self.entries.get_mut(id as usize)? = entry;
        self.text.push_str(name);
        let Self {
            folded,
            entries,
            text,
            hasher,
            ..
        } = self;
        folded.insert_unique(hash, id, |id| {
            hash_folded(hasher, name_in(entries, text, *id))
        });
        Some(id)
    }

    /// Assigns the 8.3 name of an entry.
    fn assign(&mut self, id: u32) {
        let name = self.name_at(id);
        let Some(own) = self.mangler.legal(name) else {
            return self.set_short(id, self.generate(id), true);
        };
        let text = own.to_text(self.mangler.page());
        let by_folding = eq_ignore_case(&text, name);
        let twin = self
            .lookup_all(name)
            .any(|NameId(other)| other != id && self.owns(other, own));
        let other = self.listed(own);
        if twin || (other.is_some() && !by_folding) || (!by_folding && self.holds(&text)) {
            return self.set_short(id, self.generate(id), true);
        }
        self.set_short(id, own, !by_folding);
        if let Some(other) = other {
            // A file with exactly that name exists now, so the entry that had it as a generated name gets another.
            self.unlist(other);
            self.set_short(other, self.generate(other), true);
        }
    }

    /// The first candidate that is neither a file's name nor a file's 8.3 name.
    fn generate(&self, id: u32) -> ShortName {
        let basis = self.mangler.basis(self.name_at(id));
        let related = (0..MAX_CANDIDATES).map(|rank| basis.candidate(rank));
        // With one more number than there are names, at least one is free.
        let numbered = (0..=self.len() as u32).map(|n| basis.numbered(id.wrapping_add(n)));
        related
            .chain(numbered)
            .find(|short| self.is_free(*short))
            .unwrap_or_default()
    }

    fn is_free(&self, short: ShortName) -> bool {
        self.listed(short).is_none() && !self.holds(&self.mangler.page().decode(short.as_bytes()))
    }

    fn set_short(&mut self, id: u32, short: ShortName, listed: bool) {
        let Some(entry) = self.entries.get_mut(id as usize) else {
            return;
        };
        (entry.short, entry.listed) = (short, listed);
        if listed {
            let hash = self.hasher.hash_one(short);
            let Self {
                shorts,
                entries,
                hasher,
                ..
            } = self;
            shorts.insert_unique(hash, id, |id| hasher.hash_one(short_in(entries, *id)));
        }
    }

    fn unlist(&mut self, id: u32) {
        let Some(entry) = self.entries.get_mut(id as usize).filter(|e| e.listed) else {
            return;
        };
        entry.listed = false;
        if let Ok(slot) = self
            .shorts
            .find_entry(self.hasher.hash_one(entry.short), |other| *other == id)
        {
            slot.remove();
        }
    }

    fn close_gaps(&mut self) {
        let mut text = String::with_capacity(self.text.len() - self.gaps);
        for entry in self.entries.iter_mut().filter(|e| e.len > 0) {
            let start = text.len() as u32;
            text.push_str(slice(&self.text, entry));
            entry.start = start;
        }
        (self.text, self.gaps) = (text, 0);
    }

    /// The first name by bytes that equals this one without case.
    fn folded(&self, name: &str) -> Option<NameId> {
        self.lookup_all(name).min_by_key(|id| self.name_at(id.0))
    }

    fn exact_hashed(&self, name: &str, hash: u64) -> Option<NameId> {
        self.folded
            .find(hash, |id| self.name_at(*id) == name)
            .map(|id| NameId(*id))
    }

    /// Whether a name equals this one without case.
    fn holds(&self, name: &str) -> bool {
        self.folded
            .find(self.hash(name), |id| {
                eq_ignore_case(self.name_at(*id), name)
            })
            .is_some()
    }

    fn by_short(&self, name: &str) -> Option<NameId> {
        self.listed(self.mangler.legal(name)?).map(NameId)
    }

    /// The entry in `shorts` with this 8.3 name.
    fn listed(&self, short: ShortName) -> Option<u32> {
        let hash = self.hasher.hash_one(short);
        self.shorts
            .find(hash, |id| short_in(&self.entries, *id) == short)
            .copied()
    }

    fn owns(&self, id: u32, short: ShortName) -> bool {
        self.entries
            .get(id as usize)
            .is_some_and(|e| !e.listed && e.short == short)
    }

    fn live(&self, id: NameId) -> Option<&Entry> {
        self.entries
            .get(id.0 as usize)
            .filter(|entry| entry.len > 0)
    }

    fn text_of(&self, entry: &Entry) -> &str {
        slice(&self.text, entry)
    }

    fn name_at(&self, id: u32) -> &str {
        name_in(&self.entries, &self.text, id)
    }

    fn hash(&self, name: &str) -> u64 {
        hash_folded(&self.hasher, name)
    }
}

fn slice<'a>(text: &'a str, entry: &Entry) -> &'a str {
    let start = entry.start as usize;
    text.get(start..start + usize::from(entry.len))
        .unwrap_or_default()
}

fn name_in<'a>(entries: &[Entry], text: &'a str, id: u32) -> &'a str {
    entries
        .get(id as usize)
        .map_or("", |entry| slice(text, entry))
}

fn short_in(entries: &[Entry], id: u32) -> ShortName {
    entries
        .get(id as usize)
        .map(|entry| entry.short)
        .unwrap_or_default()
}

/// The hash of a name's folded form.
fn hash_folded(builder: &DefaultHashBuilder, name: &str) -> u64 {
    let mut hasher = builder.build_hasher();
    let mut buffer = [0u8; 64];
    match buffer.get_mut(..name.len()) {
        Some(folded) if name.is_ascii() => {
            folded.copy_from_slice(name.as_bytes());
            folded.make_ascii_uppercase();
            hasher.write(folded);
        }
        _ if name.is_ascii() => hasher.write(fold(name).as_bytes()),
        _ => name
            .chars()
            .for_each(|c| hasher.write_u32(upper_char(c).into())),
    }
    hasher.finish()
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
