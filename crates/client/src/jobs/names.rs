//! Delete, rename, create and remove: one request each.

use super::{
    job::{Context, Job, Step},
    reply::Reply,
};
use crate::{calls::Request, error::Error, event::Outcome};
use alloc::string::String;
use coax_wire::{
    command,
    smb::{delete, directory, rename},
};

/// Attributes of files that may be deleted or renamed: hidden, system, folder.
const ANY: u16 = 0x16;

/// One request with a reply that contains only the status.
#[derive(Debug)]
pub(super) struct Simple {
    command: u8,
    path: String,
    to: String,
    asked: bool,
    done: bool,
}

impl Simple {
    fn new(command: u8, path: String) -> Self {
        Self {
            command,
            path,
            to: String::new(),
            asked: false,
            done: false,
        }
    }

    pub fn delete(path: String) -> Self {
        Self::new(command::DELETE, path)
    }

    pub fn make_directory(path: String) -> Self {
        Self::new(command::CREATE_DIRECTORY, path)
    }

    pub fn remove_directory(path: String) -> Self {
        Self::new(command::DELETE_DIRECTORY, path)
    }

    pub fn rename(from: String, to: String) -> Self {
        Self {
            to,
            ..Self::new(command::RENAME, from)
        }
    }

    fn send(&self, cx: &mut Context<'_>) -> Result<(), Error> {
        let path = cx.link.path(&self.path)?;
        let mut request = Request::new(self.command, 0);
        let out = &mut request.out;
        match self.command {
            command::DELETE => delete::Request {
                search_attributes: ANY,
                path: path.as_wire(),
            }
            .emit(out),
            command::RENAME => {
                let to = cx.link.path(&self.to)?;
                rename::Request {
                    search_attributes: ANY,
                    old: path.as_wire(),
                    new: to.as_wire(),
                }
                .emit(out);
            }
            _ => directory::Request {
                path: path.as_wire(),
            }
            .emit(out),
        }
        cx.send(request).map(drop)
    }
}

impl Job for Simple {
    fn advance(&mut self, cx: &mut Context<'_>) -> Result<Step, Error> {
        if self.done {
            return Ok(Step::Done(Outcome::Done));
        }
        if !self.asked {
            self.asked = true;
            self.send(cx)?;
        }
        Ok(Step::Waiting)
    }

    fn reply(&mut self, _: &mut Context<'_>, _: u32, reply: &Reply<'_>) -> Result<(), Error> {
        self.done = true;
        reply.ok().map(drop)
    }
}
