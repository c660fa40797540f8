//! Opens named streams ([MS-FSA] 2.1.5.1.1, 2.1.5.1.2).

use super::{Action, Asked, Held, IfExists, Opener, Opening, Subject, Wanted};
use crate::{
    error::{Because, Result},
    ops::{
        attributes::{self, Facts},
        journal::atomically,
        locate::Located,
        streams::{self, StreamFile},
    },
    reason::Reason,
    table::OpenRequest,
    vfs::{Kind, Stat, VfsError, VfsFile},
};
use alloc::{string::String, sync::Arc};
use coax_wire::status::Status;

/// A stream about to be opened.
struct Stream<'a> {
    path: &'a str,
    base: Arc<dyn VfsFile>,
    /// Its name: the stored name, or the client's for a new stream.
    name: &'a str,
    access: u32,
    action: Action,
}

impl Opener<'_, '_> {
    /// Opens the stream `name` of the file or folder at a path. Creates missing ones if the request allows it.
    pub(super) fn open_stream(self, located: &Located, name: &str) -> Result<Opening> {
        if self.spec.wanted == Wanted::Directory {
            return Err(Status::NOT_A_DIRECTORY.into());
        }
        match located.stat {
            Some(stat) => self.open_stream_of(&located.path, stat, name),
            None if self.spec.create => self.create(located, Some(name)),
            None => Err(Status::OBJECT_NAME_NOT_FOUND.into()),
        }
    }

    fn open_stream_of(mut self, path: &str, stat: Stat, name: &str) -> Result<Opening> {
        if stat.kind == Kind::Special {
            return Err(Status::ACCESS_DENIED.because(Reason::SpecialFile));
        }
        let facts = attributes::facts_at(self.vfs, self.share, path, stat)?;
        let base = streams::open_base(self.vfs, path)?;
        let known = streams::find(&base, name)?;
        let access = self.access_to(path, &facts)?;
        let action = self.action_on(known.as_ref())?;
        if action == Action::Created {
            self.call.must_write()?;
        }
        self.check_read_only(&facts, access)?;
        let name = known.as_ref().map_or(name, StreamFile::name);
        let stream = Stream {
            path,
            base,
            name,
            access,
            action,
        };
        let asked = self.ask_tables(&self.stream_request(&stream, &facts))?;
        let row = match asked {
            Asked::Granted(row) => row,
            Asked::Park(park) => return Ok(Opening::Park(park)),
        };
        let held = self.hold_stream(&stream);
        self.install(held, row)
    }

    fn action_on(&self, known: Option<&StreamFile>) -> Result<Action> {
        match (known, self.spec.if_exists) {
            (None, _) if self.spec.create => Ok(Action::Created),
            (None, _) => Err(Status::OBJECT_NAME_NOT_FOUND.into()),
            (Some(_), IfExists::Fail) => Err(Status::OBJECT_NAME_COLLISION.into()),
            (Some(_), IfExists::Open) => Ok(Action::Opened),
            (Some(_), IfExists::Overwrite) => Ok(Action::Overwritten),
            (Some(_), IfExists::Supersede) => Ok(Action::Superseded),
        }
    }

    fn stream_request(&self, stream: &Stream<'_>, facts: &Facts) -> OpenRequest {
        let subject = Subject {
            path: stream.path,
            id: streams::id_of(facts.stat.id.object(), stream.name),
            is_directory: false,
        };
        OpenRequest {
            stream: Some(stream.name.into()),
            ..self.request(subject, stream.access)
        }
    }

    /// Opens, truncates or creates the stream as requested; on failure the file is unchanged.
    fn hold_stream(&self, stream: &Stream<'_>) -> Result<Held> {
        // Another client may have created it while this request waited for the tables.
        if stream.action == Action::Created && streams::find(&stream.base, stream.name)?.is_some() {
            return Err(VfsError::Exists.into());
        }
        let file = StreamFile::new(stream.base.clone(), stream.name);
        let facts = atomically(&stream.base, |journal| {
            if stream.action == Action::Created {
                self.make_stream(journal.clone(), stream.name)?;
            } else if stream.action != Action::Opened {
                let emptied = StreamFile::new(journal.clone(), stream.name);
                emptied.set_len(0)?;
                if self.spec.length > 0 {
                    emptied.set_len(self.spec.length)?;
                }
            }
            if stream.action != Action::Opened {
                self.give(&**journal)?;
            }
            attributes::facts_of(&file, self.share, stream.path)
        })?;
        Ok(Held {
            file: Arc::new(file),
            path: String::from(stream.path),
            action: stream.action,
            access: stream.access,
            facts,
            reserved: false,
        })
    }
}
