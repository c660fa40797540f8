//! Selects the files of a path that may end in a pattern.

use super::place::{Place, knows_long_names};
use crate::{
    context::Call,
    error::Result,
    names::{
        attributes::{DosAttrib, SearchAttributes},
        index::DirIndex,
        path::{ClientPath, PathError, PathRules, SearchPath, Wildcards},
        wildcard::{Pattern, has_wildcards},
    },
    ops::attributes::Facts,
    vfs::{Kind, VfsError},
};
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use coax_wire::{codepage::eq_ignore_case, dialect::Generation, status::Status};

/// The selection of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// One file or folder.
    One(ClientPath),
    /// All matches of a pattern in a folder.
    Many(SearchPath),
}

impl Selection {
    /// Parses a path whose last component may be a pattern.
    ///
    /// # Errors
    /// Path errors.
    pub fn parse(text: &str, rules: PathRules) -> core::result::Result<Self, PathError> {
        let last = text.rsplit(['\\', '/']).next().unwrap_or_default();
        if has_wildcards(last) {
            return SearchPath::parse(text, rules).map(Self::Many);
        }
        ClientPath::parse(text, rules, Wildcards::Refuse).map(Self::One)
    }
}

/// A pattern and the names that it is compared with.
#[derive(Clone, Debug)]
pub struct NamePattern {
    pattern: Pattern,
    short: bool,
}

impl NamePattern {
    /// A pattern for this client: it matches 8.3 names only, unless the client knows long ones ([MS-CIFS] 2.2.4.7.1).
    pub fn new(call: &Call<'_>, text: &str) -> Self {
        let short = !knows_long_names(call);
        let text = match text {
            // `*.*` in the form of file control blocks, which DOS redirectors send in every dialect.
            "????????.???" => "*".to_string(),
            // A missing part matches anything (*SMB Core Protocol* 5.10).
            _ if short && text.starts_with('.') => format!("*{text}"),
            _ => text.to_string(),
        };
        let pattern = if call.generation() == Generation::Nt {
            Pattern::nt(&text)
        } else {
            Pattern::dos(&text)
        };
        Self { pattern, short }
    }
}

/// A file or folder that matches a pattern.
#[derive(Clone, Debug)]
pub struct Match {
    /// Its path.
    pub path: String,
    /// Its name as the client sees it: the 8.3 name if it knows no other.
    pub shown: String,
    /// Its attributes.
    pub facts: Facts,
}

/// The matches of a pattern in a folder, in the order of the folder's index.
///
/// # Errors
/// File system errors. Names that vanish meanwhile are skipped.
pub fn matches(
    call: &Call<'_>,
    place: &Place,
    folder: &str,
    pattern: &NamePattern,
    search: SearchAttributes,
) -> Result<Vec<Match>> {
    let finder = place.finder(call);
    let share = &place.share;
    let names = fitting(call, place, folder, pattern)?;
    let dir = place.vfs.open_dir(folder)?;
    let attribute = share
        .options
        .store_dos_attributes
        .then_some(DosAttrib::NAME);
    let mut found = Vec::with_capacity(names.len());
    for (name, shown) in names {
        let (stat, blob) = match dir.entry(&name, attribute) {
            Ok(entry) => entry,
            Err(VfsError::NotFound) => continue,
            Err(error) => return Err(error.into()),
        };
        let facts = Facts::new(share, &name, stat, blob.as_deref());
        let hidden = stat.kind == Kind::Special || finder.is_vetoed(&name);
        if !hidden && search.admits(facts.attributes) {
            let path = crate::vfs::path::join(folder, &name);
            found.push(Match { path, shown, facts });
        }
    }
    Ok(found)
}

/// A folder's names that match a pattern, each with the name that the client sees.
fn fitting(
    call: &Call<'_>,
    place: &Place,
    folder: &str,
    pattern: &NamePattern,
) -> Result<Vec<(String, String)>> {
    let mangles = place.share.options.mangled_names;
    let page = call.conn.server.config.code_page;
    place.finder(call).with_index(folder, |index: &DirIndex| {
        let visible = index.iter().filter_map(|(id, name)| {
            let shown = if pattern.short {
                let short = index.short(id)?.to_text(page);
                (mangles || eq_ignore_case(&short, name)).then_some(short)?
            } else {
                name.to_string()
            };
            let found = pattern.pattern.matches(&shown);
            found.then(|| (name.to_string(), shown))
        });
        visible.collect()
    })
}

/// The folder of a pattern.
///
/// # Errors
/// `OBJECT_PATH_NOT_FOUND`.
pub(super) fn folder_of(call: &Call<'_>, place: &Place, search: &SearchPath) -> Result<String> {
    match place.finder(call).locate_folder(&search.folder) {
        Err(error) if error.status() == Status::NOT_A_DIRECTORY => {
            Err(Status::OBJECT_PATH_NOT_FOUND.into())
        }
        other => other,
    }
}
