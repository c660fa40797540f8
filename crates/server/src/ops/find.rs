//! Walks a folder: takes names out of its index in batches, reads the attributes of each from the file system, and
//! filters them as the client requested.
//!
//! The walk holds the tables' lock only while it reads a bounded batch of names, never during file system calls. It
//! delivers a name that exists throughout exactly once, whatever is created and deleted meanwhile.

use super::{
    attributes::{Facts, parent_of},
    locate::Finder,
    print,
};
use crate::vfs::path::join;
use crate::{
    context::Call,
    error::Result,
    names::{
        attributes::DosAttrib,
        index::DirIndex,
        mangle::{Mangler, ShortName},
        wildcard::{Pattern, has_wildcards},
    },
    search::{Mask, Place, Search},
    vfs::{Kind, OpenHow, VfsDir, VfsError, VfsFile},
};
use alloc::{
    borrow::Cow,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use coax_wire::{codepage::CodePage, status::Status, time::Time};

/// Most names examined under one lock of the tables.
const STRETCH: usize = 4_096;

/// Most names in one batch.
const BATCH: usize = 256;

/// A file or folder found.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// Its position in the index.
    pub place: Place,
    /// Its name in the file system.
    pub name: &'a str,
    /// Its 8.3 name.
    pub short: ShortName,
    /// Its attributes.
    pub facts: Facts,
}

/// The result of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walked {
    /// Number of entries delivered.
    pub count: usize,
    /// The walk reached the end.
    pub end: bool,
}

/// A batch of names out of an index.
#[derive(Debug, Default)]
struct Batch {
    text: String,
    names: Vec<(Place, usize, ShortName)>,
    /// The position after the last name read.
    place: Place,
    end: bool,
    generation: u64,
}

impl Batch {
    fn push(&mut self, place: Place, name: &str, short: ShortName) {
        self.text.push_str(name);
        self.names.push((place, self.text.len(), short));
    }

    fn iter(&self) -> impl Iterator<Item = (Place, &str, ShortName)> {
        let starts = core::iter::once(0).chain(self.names.iter().map(|(_, end, _)| *end));
        let names = self.names.iter().zip(starts);
        names.map(|((place, end, short), start)| {
            let name = self.text.get(start..*end).unwrap_or_default();
            (*place, name, *short)
        })
    }
}

/// A walk of one search through its folder.
#[derive(Debug)]
pub struct Walk<'a> {
    finder: Finder<'a>,
    dir: Arc<dyn VfsDir>,
    vetoed: Vec<Pattern>,
    /// On a printer's share, the names to show: the user's own jobs.
    own_jobs: Option<Vec<String>>,
    page: CodePage,
    now: Time,
}

impl<'a> Walk<'a> {
    /// Opens the search's folder for the user of `call`.
    ///
    /// # Errors
    /// `OBJECT_PATH_NOT_FOUND`, also if the path of a continued search now leads to another folder; file system errors.
    pub fn begin(finder: Finder<'a>, search: &mut Search, call: &Call<'_>) -> Result<Self> {
        let dir = finder.vfs.open_dir(&search.folder);
        let dir = dir.map_err(|error| match error {
            VfsError::NotFound | VfsError::NotADirectory => Status::OBJECT_PATH_NOT_FOUND.into(),
            other => crate::Error::from(other),
        })?;
        let id = dir.stat()?.id;
        if *search.folder_id.get_or_insert(id) != id {
            return Err(Status::OBJECT_PATH_NOT_FOUND.into());
        }
        let vetoed = &finder.share.options.veto_files;
        Ok(Self {
            finder,
            dir,
            vetoed: vetoed.iter().map(|text| Pattern::nt(text)).collect(),
            own_jobs: print::own_jobs(call),
            page: finder.server.config.code_page,
            now: call.now,
        })
    }

    /// Delivers up to `max` entries, beginning where `search` stands, until `sink` reports that an entry does not fit.
    /// The next call delivers that entry.
    ///
    /// # Errors
    /// `OBJECT_PATH_NOT_FOUND` if the folder is gone; file system errors for the folder.
    pub fn run(
        &self,
        search: &mut Search,
        max: usize,
        sink: &mut dyn FnMut(&Found<'_>) -> bool,
    ) -> Result<Walked> {
        let mut count = 0;
        while !search.finished {
            let batch = self.batch(search, max.saturating_sub(count).clamp(1, BATCH))?;
            for (place, name, short) in batch.iter() {
                let Some(facts) = self.facts(&search.folder, place, name) else {
                    continue;
                };
                if !search.attributes.admits(facts.attributes) {
                    continue;
                }
                let found = Found {
                    place,
                    name,
                    short,
                    facts,
                };
                if count >= max || !sink(&found) {
                    return Ok(Walked { count, end: false });
                }
                count += 1;
                search.place = place;
                search.last.clear();
                search.last.push_str(name);
            }
            search.place = batch.place.max(search.place);
            search.finished = batch.end || (search.is_of_one() && count > 0);
        }
        Ok(Walked { count, end: true })
    }

    /// Opens an entry if it may have extended attributes; for most files the kept attributes exclude this without an
    /// open.
    pub fn open_for_attributes(&self, folder: &str, found: &Found<'_>) -> Option<Arc<dyn VfsFile>> {
        let options = &self.finder.share.options;
        let path = match found.place {
            Place::SELF => folder.into(),
            Place::PARENT => parent_of(folder).into(),
            _ => join(folder, found.name),
        };
        let is_name = found.place > Place::PARENT;
        let stat = &found.facts.stat;
        let may = !is_name
            || self
                .dir
                .may_have_attributes(found.name, stat, DosAttrib::NAME);
        if !options.ea_support || !may {
            return None;
        }
        let how = OpenHow {
            read: true,
            ..OpenHow::default()
        };
        self.finder.vfs.open(&path, how).ok().map(|(file, _)| file)
    }

    /// The attributes of a name; `None` if it is gone, hidden from the client, or neither file nor folder.
    fn facts(&self, folder: &str, place: Place, name: &str) -> Option<Facts> {
        let share = self.finder.share;
        let above = parent_of(folder);
        let (stat, blob) = match place {
            Place::SELF => (self.dir.stat().ok()?, None),
            Place::PARENT => (self.finder.vfs.stat(above).ok()?, None),
            _ => {
                let wanted = share
                    .options
                    .store_dos_attributes
                    .then_some(DosAttrib::NAME);
                self.dir.entry(name, wanted).ok()?
            }
        };
        (stat.kind != Kind::Special).then(|| {
            Facts::new(share, name, stat, blob.as_deref()).seen(self.finder.server, share, self.now)
        })
    }

    fn batch(&self, search: &mut Search, max: usize) -> Result<Batch> {
        let batch = self
            .finder
            .with_index(&search.folder, |index| self.stretch(index, search, max))?;
        search.generation = batch.generation;
        Ok(batch)
    }

    /// The next names that match the search's pattern.
    fn stretch(&self, index: &DirIndex, search: &Search, max: usize) -> Batch {
        let mut batch = Batch {
            generation: index.generation(),
            place: place_in(index, search),
            ..Batch::default()
        };
        if let Mask::Name(name) = &search.mask {
            self.one(index, name, search, &mut batch);
            return batch;
        }
        self.dots(search, max, &mut batch);
        for _ in 0..STRETCH {
            if batch.names.len() >= max {
                return batch;
            }
            let Some(id) = index.next_after(batch.place.name_id()) else {
                batch.end = true;
                return batch;
            };
            batch.place = Place::of(id);
            if let (Some(name), Some(short)) = (index.name(id), index.short(id))
                && self.fits(search, name, short)
            {
                batch.push(batch.place, name, short);
            }
        }
        batch
    }

    /// The entry of a search for one name.
    fn one(&self, index: &DirIndex, name: &str, search: &Search, batch: &mut Batch) {
        batch.end = true;
        let id = index.lookup(name);
        let Some(id) = id.filter(|id| Place::of(*id) > search.place) else {
            return;
        };
        if let (Some(name), Some(short)) = (index.name(id), index.short(id))
            && self.is_shown(search, name)
        {
            batch.place = Place::of(id);
            batch.push(batch.place, name, short);
        }
    }

    /// `.` and `..` come first, also in the share's root: SMB1 servers have always listed them.
    fn dots(&self, search: &Search, max: usize, batch: &mut Batch) {
        for (place, name) in [(Place::SELF, "."), (Place::PARENT, "..")] {
            if batch.place >= place || batch.names.len() >= max {
                continue;
            }
            batch.place = place;
            let fits = match &search.mask {
                Mask::All => true,
                Mask::Name(_) => false,
                Mask::Pattern(pattern) => pattern.matches(name),
                Mask::Fcb(pattern) => pattern.matches(name),
            };
            if fits {
                batch.push(place, name, ShortName::default());
            }
        }
    }

    fn fits(&self, search: &Search, name: &str, short: ShortName) -> bool {
        let short_fits = |pattern: &dyn Fn(&str) -> bool| {
            self.has_short(name) && pattern(&self.page.decode(short.as_bytes()))
        };
        let found = match &search.mask {
            Mask::All => true,
            Mask::Name(_) => false,
            Mask::Fcb(pattern) => short_fits(&|text| pattern.matches(text)),
            Mask::Pattern(pattern) => {
                (!search.short_names && pattern.matches(name))
                    || short_fits(&|text| pattern.matches(text))
            }
        };
        found && self.is_shown(search, name)
    }

    fn is_shown(&self, search: &Search, name: &str) -> bool {
        let can = !search.short_names || self.has_short(name);
        let may = match &self.own_jobs {
            Some(own) => own.iter().any(|job| job == name),
            None => true,
        };
        can && may && !self.vetoed.iter().any(|pattern| pattern.vetoes(name))
    }

    /// Whether the name has an 8.3 form that clients may see.
    fn has_short(&self, name: &str) -> bool {
        self.finder.share.options.mangled_names || Mangler::new(self.page).is_legal(name)
    }
}

/// The search's position in the current index. If the index was rebuilt, the name at the position identifies it.
fn place_in(index: &DirIndex, search: &Search) -> Place {
    if search.generation == index.generation() || search.last.is_empty() {
        return search.place;
    }
    index.exact(&search.last).map_or(search.place, Place::of)
}

/// The position of the entry that a client calls `name`, in the current index of `folder`.
///
/// # Errors
/// As [`Finder::with_index`].
pub fn place_of(finder: &Finder<'_>, folder: &str, name: &str) -> Result<Option<Place>> {
    match name {
        "." => Ok(Some(Place::SELF)),
        ".." => Ok(Some(Place::PARENT)),
        _ => finder.with_index(folder, |index| index.lookup(name).map(Place::of)),
    }
}

/// Decodes a pattern. Clients of older dialects, and NT clients without Unicode, use DOS wildcards: a DOS program's
/// `*.*` arrives as `????????.???`. An empty pattern matches everything.
pub fn mask(pattern: &str, nt: bool) -> Mask {
    match pattern {
        "" | "*" | "*.*" | "????????.???" => Mask::All,
        name if !has_wildcards(name) && nt => Mask::Name(name.to_string()),
        name if !has_wildcards(name) => Mask::Name(name.trim_end_matches(['.', ' ']).to_string()),
        text if nt => Mask::Pattern(Pattern::nt(text)),
        text => Mask::Pattern(Pattern::dos(text)),
    }
}

/// The 8.3 name as upper-case text; `.` and `..` unchanged.
pub fn short_text<'a>(page: CodePage, found: &'a Found<'_>) -> Cow<'a, str> {
    if found.place <= Place::PARENT {
        return Cow::Borrowed(found.name);
    }
    page.decode(found.short.as_bytes())
}
