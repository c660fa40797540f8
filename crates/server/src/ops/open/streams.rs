//! Opening named streams ([MS-FSA] 2.1.5.1.1, 2.1.5.1.2).

use super::{Action, Asked, Held, IfExists, Opener, Opening, Wanted};
use crate::{
    error::Result,
    ops::{
        attributes::{self, Facts},
        locate::Located,
        streams::{self, StreamFile},
    },
    table::OpenRequest,
    vfs::{Kind, Stat, VfsFile},
};
use alloc::sync::Arc;
use coax_wire::status::Status;

/// A stream about to be opened.
struct Stream<'a> {
    path: &'a str,
    /// What the object is that it belongs to.
    facts: &'a Facts,
    base: Arc<dyn VfsFile>,
    /// Its name: as it is kept, or as the client has it if it is to be made.
    name: &'a str,
    access: u32,
    action: Action,
}

impl Opener<'_, '_> {
    /// Opens the stream `name` of what is at a path. Both are made if they are missing and the client says so.
    pub(super) fn open_stream(mut self, located: &Located, name: &str) -> Result<Opening> {
        if self.spec.wanted == Wanted::Directory {
            return Err(Status::NOT_A_DIRECTORY.into());
        }
        let (path, facts) = match located.stat {
            Some(stat) => (
                located.path.clone(),
                self.facts_of_base(&located.path, stat)?,
            ),
            None if self.spec.create => self.make_base(located)?,
            None => return Err(Status::OBJECT_NAME_NOT_FOUND.into()),
        };
        let base = streams::open_base(self.vfs, &path)?;
        let known = streams::find(&base, name)?;
        let access = self.access_to(&path, &facts)?;
        let action = self.action_on(known.as_ref())?;
        if action == Action::Created {
            self.call.must_write()?;
        }
        self.check_read_only(&facts, access)?;
        let name = known.as_ref().map_or(name, StreamFile::name);
        self.grant_stream(Stream {
            path: &path,
            facts: &facts,
            base,
            name,
            access,
            action,
        })
    }

    fn facts_of_base(&self, path: &str, stat: Stat) -> Result<Facts> {
        if stat.kind == Kind::Special {
            return Err(Status::ACCESS_DENIED.into());
        }
        attributes::facts_at(self.vfs, self.share, path, stat)
    }

    fn make_base(&self, located: &Located) -> Result<(alloc::string::String, Facts)> {
        self.call.must_write()?;
        let new = self.make(located, false)?;
        new.dressed?;
        let share = self.share.id;
        self.call
            .conn
            .server
            .locked(|tables| tables.report_created(share, &new.path, false));
        Ok((new.path, new.facts))
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

    fn grant_stream(&mut self, stream: Stream<'_>) -> Result<Opening> {
        let request = OpenRequest {
            file: streams::id_of(stream.facts.stat.id.object(), stream.name),
            stream: Some(stream.name.into()),
            is_directory: false,
            ..self.request(stream.path, stream.facts, stream.access)
        };
        let (open, oplock) = match self.ask_tables(&request)? {
            Asked::Granted(open, oplock) => (open, oplock),
            Asked::Park(park) => return Ok(Opening::Park(park)),
        };
        let held = self.had_stream(&stream).map(|file| Held {
            file,
            open,
            oplock,
            path: stream.path.into(),
            action: stream.action,
            access: stream.access,
        });
        self.install(held, open)
    }

    fn had_stream(&self, stream: &Stream<'_>) -> Result<Arc<dyn VfsFile>> {
        let base = stream.base.clone();
        let file = match stream.action {
            Action::Created => StreamFile::create(base, stream.name)?,
            _ => StreamFile::new(base, stream.name),
        };
        if stream.action != Action::Opened {
            file.set_len(self.spec.length)?;
        }
        Ok(Arc::new(file))
    }
}
