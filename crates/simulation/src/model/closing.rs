//! Ends of opens, trees, sessions and connections.

use super::{Check, Handle, Moment, Open, State, terms::Effect};
use crate::op::{Oplock, Request};

impl State {
    /// Closes an open. If it was the last one of an object marked for deletion, the object is removed. After an
    /// unreported disk error (`failed`) the object may remain.
    pub(super) fn close(&mut self, handle: Handle, failed: Option<()>) {
        let Some(open) = self.opens.remove(&handle) else {
            return;
        };
        self.locks.retain(|lock| lock.owner != handle);
        let node = open.node;
        self.nodes[node].doomed |= open.delete_on_close;
        self.nodes[node].sync_failed &= self.is_open(node);
        let perhaps = std::mem::take(&mut self.nodes[node].perhaps_doomed);
        if perhaps && !self.nodes[node].doomed && !self.is_open(node) {
            self.unsure_watches();
            self.possible.push(Effect::Gone { node });
        } else {
            self.nodes[node].perhaps_doomed = perhaps;
        }
        if self.nodes[node].doomed && !self.is_open(node) {
            if !self.is_empty(node) {
                // Marked when it was opened: entries in the folder prevent the deletion, unless the same step deletes
                // them.
                self.nodes[node].doomed = false;
                self.perhaps_gone.push(node);
                return;
            }
            match failed {
                None => self.unlink(node),
                Some(()) => {
                    self.nodes[node].doomed = false;
                    self.unsure_watches();
                    self.possible.push(Effect::Gone { node });
                }
            }
        }
    }

    /// Begins to close all opens that `which` selects, in the order of their FIDs.
    fn close_where(&mut self, which: impl Fn(&Handle, &Open) -> bool) {
        let picked = self
            .opens
            .iter()
            .filter(|(handle, open)| which(handle, open))
            .map(|(handle, _)| *handle);
        self.closing.extend(picked);
    }

    /// Closes the next of several opens. The client gets no report of a failed deletion. Returns whether there was one.
    pub(super) fn close_next(&mut self, at: Moment<'_>) -> bool {
        let next = self.closing.pop_front();
        if let Some(handle) = next {
            self.close(handle, (at.faults > 0).then_some(()));
        }
        next.is_some()
    }

    pub(super) fn logged_off(&mut self, request: &Request) -> Check {
        self.user(request)?;
        let (client, uid) = (request.client, request.uid);
        self.sessions.remove(&(client, uid));
        self.close_where(|handle, open| (handle.0, open.uid) == (client, uid));
        Ok(())
    }

    pub(super) fn disconnected_tree(&mut self, request: &Request) -> Check {
        let (client, tid) = (request.client, request.tid);
        self.trees
            .remove(&(client, tid))
            .ok_or("a TID that is not connected was disconnected")?;
        self.close_where(|handle, open| (handle.0, open.tid) == (client, tid));
        Ok(())
    }

    pub(super) fn exited(&mut self, request: &Request) -> Check {
        self.user(request)?;
        let (client, uid, pid) = (request.client, request.uid, request.pid);
        self.close_where(|handle, open| (handle.0, open.uid, open.pid) == (client, uid, pid));
        Ok(())
    }

    /// Removes a connection, and begins to close everything that it held.
    pub(super) fn disconnected(&mut self, client: usize) {
        self.close_where(|handle, _| handle.0 == client);
        self.sessions.retain(|(of, _), _| *of != client);
        self.trees.retain(|(of, _), _| *of != client);
    }

    /// Whether the client may use its cache of an open: it has the oplock as far as it knows.
    #[must_use]
    pub(super) fn may_cache(&self, handle: Handle) -> bool {
        self.opens
            .get(&handle)
            .is_some_and(|open| open.oplock != Oplock::None && open.breaking.is_none())
    }
}
