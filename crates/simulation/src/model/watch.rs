//! Change notification: every change of a name below a watched folder completes a request, and nothing else does.
//!
//! Changes of contents and attributes are optional where the filter includes them; changes of names are mandatory.

use super::{
    State,
    terms::{Check, Handle, Place, parent, require},
    watched::Watch,
};
use crate::{
    op::{Op, Request, right},
    reply::Reply,
};

/// FILE_ACTION_*.
mod action {
    pub const ADDED: u32 = 1;
    pub const REMOVED: u32 = 2;
    pub const MODIFIED: u32 = 3;
    pub const OLD_NAME: u32 = 4;
    pub const NEW_NAME: u32 = 5;
}

impl State {
    /// Notes that the server keeps a notification request: from now on the folder is watched.
    pub(super) fn watched(&mut self, request: &Request) {
        let Op::Notify {
            fid,
            filter,
            tree,
            room,
        } = request.op
        else {
            return;
        };
        if let Some(open) = self.opens.get_mut(&(request.client, fid)) {
            open.watch.get_or_insert(Watch {
                filter,
                tree,
                room,
                due: Vec::new(),
                unsure: false,
            });
        }
    }

    pub(super) fn notified(&mut self, request: &Request, fid: u16, reply: &Reply) -> Check {
        let Op::Notify { room, .. } = &request.op else {
            return Ok(());
        };
        let handle: Handle = (request.client, fid);
        // The previous answer closed the folder. The server may still report changes from before the close.
        if !self.opens.contains_key(&handle) {
            return Ok(());
        }
        self.own(request, fid, right::READ)?;
        let watch = self
            .opens
            .get_mut(&handle)
            .and_then(|open| open.watch.as_mut());
        let watch = watch.ok_or("a notification that nobody waited for")?;
        if watch.unsure {
            return Ok(());
        }
        if reply.changes.is_empty() {
            watch.unsure = true;
            let bytes: usize = watch
                .due
                .iter()
                .map(|(_, path)| (12 + 2 * path.len()).next_multiple_of(4))
                .sum();
            let may_overflow = watch.filter & !3 != 0 || bytes > watch.room.min(*room) as usize;
            return require(may_overflow, "a notification of no change");
        }
        for (action, path) in &reply.changes {
            if *action == action::MODIFIED {
                require(watch.filter & !3 != 0, "a notification beyond its filter")?;
                continue;
            }
            let change = (*action, path.replace('\\', "/"));
            let at = watch.due.iter().position(|due| *due == change);
            watch.due.remove(
                at.ok_or_else(|| format!("a notification of what did not happen: {change:?}"))?,
            );
        }
        Ok(())
    }

    pub(super) fn nothing_missed(&self, pending: &[Request]) -> Check {
        for request in pending
            .iter()
            .filter(|request| request.delivered && !request.cancelled)
        {
            let Op::Notify { fid, .. } = request.op else {
                continue;
            };
            let watch = self
                .opens
                .get(&(request.client, fid))
                .and_then(|open| open.watch.as_ref());
            let missed = watch.filter(|watch| !watch.unsure && !watch.due.is_empty());
            if let Some(watch) = missed {
                return Err(format!("a waiting notification missed {:?}", watch.due));
            }
        }
        Ok(())
    }

    pub(super) fn appeared(&mut self, there: &Place, folder: bool) {
        self.changed(there, folder, action::ADDED);
    }

    pub(super) fn disappeared(&mut self, there: &Place, folder: bool) {
        self.changed(there, folder, action::REMOVED);
    }

    pub(super) fn moved(&mut self, from: &Place, to: &Place, folder: bool) {
        let stays = parent(&from.1) == parent(&to.1);
        let actions = if stays {
            (action::OLD_NAME, action::NEW_NAME)
        } else {
            (action::REMOVED, action::ADDED)
        };
        self.changed(from, folder, actions.0);
        self.changed(to, folder, actions.1);
    }

    fn changed(&mut self, there: &Place, folder: bool, action: u32) {
        let bit = if folder { 2 } else { 1 };
        for open in self.opens.values_mut() {
            let (Some(watch), Some((share, path))) =
                (&mut open.watch, &self.nodes[open.node].place)
            else {
                continue;
            };
            let inside = match path.as_str() {
                "" => Some(there.1.as_str()),
                path => there
                    .1
                    .strip_prefix(path)
                    .and_then(|rest| rest.strip_prefix('/')),
            };
            let Some(rest) = inside.filter(|_| *share == there.0) else {
                continue;
            };
            if watch.filter & bit != 0 && (watch.tree || !rest.contains('/')) {
                watch.due.push((action, rest.into()));
            }
        }
    }

    /// A change of names on a share failed half-way: the server may or may not have notified the watchers.
    pub(super) fn unsure_watches(&mut self) {
        for watch in self
            .opens
            .values_mut()
            .filter_map(|open| open.watch.as_mut())
        {
            watch.unsure = true;
        }
    }
}
