//! A connection changes over to the shares and accounts of a new configuration. What it negotiated stays.

use super::Connection;
use crate::{
    context::{Context, Leaving, Reach},
    event::Event,
    ops::close,
    server::Server,
    session::Session,
    share::Share,
};
use alloc::{string::String, sync::Arc, vec::Vec};
use coax_wire::{
    header::{Tid, Uid},
    time::Time,
};

impl Connection {
    /// The shares that [`Self::change_over`] may touch.
    pub fn change_over_reach(&self) -> Reach {
        let context = &self.context;
        context.reach_of_files().and(context.wake_reach())
    }

    /// The server that the connection uses.
    pub fn server(&self) -> &Arc<Server> {
        &self.context.server
    }

    /// Serves the shares and accounts of `server` from now on; it has the same tables as before. Shares are recognised
    /// by their identifier. Sessions of users who have no account any more end as if they had logged off; trees of
    /// shares that are gone, or that no session may use any more, are disconnected. Everything else stays open.
    pub fn change_over(&mut self, now: Time, server: Arc<Server>) {
        let context = &mut self.context;
        context.server = server;
        end_sessions(context, now);
        for (tid, before) in context.trees.shares() {
            let mut shares = context.server.shares.iter();
            match shares.find(|share| share.id == before.id).cloned() {
                Some(share) => keep_tree(context, now, tid, &share),
                None => end_tree(context, now, tid, &before, "the share was removed"),
            }
        }
    }
}

fn end_sessions(context: &mut Context, now: Time) {
    let accounts = &context.server.accounts;
    let may_stay = |user: &str| accounts.find(user).is_some_and(|user| !user.disabled);
    let users = context.sessions.users();
    let gone: Vec<(Uid, String)> = users
        .filter(|(_, user)| !may_stay(user))
        .map(|(uid, user)| (uid, user.into()))
        .collect();
    for (uid, user) in gone {
        close::leave(context, now, Leaving::User(uid));
        context.searches.close_where(|search| search.uid == uid);
        context.end_session(uid);
        context.events.push_back(Event::SessionEnded { user });
    }
}

/// Gives the tree and its opens the share's new definition, and closes what its users may not use any more.
fn keep_tree(context: &mut Context, now: Time, tid: Tid, share: &Arc<Share>) {
    context.trees.redefine(tid, share);
    context.files.redefine(tid, share);
    let (allowed, refused): (Vec<(Uid, Session)>, Vec<_>) = context
        .sessions
        .all()
        .partition(|(_, session)| context.trees.authorize(tid, session).is_ok());
    if allowed.is_empty() && !refused.is_empty() {
        return end_tree(context, now, tid, share, "no user may use it any more");
    }
    for (uid, _) in refused {
        let fids = context
            .files
            .fids_where(|file| file.tid == tid && file.uid == uid);
        if !fids.is_empty() {
            close::close_unasked(context, fids, now);
            context.cancel_where(now, |header| header.tid == tid && header.uid == uid);
        }
    }
}

fn end_tree(context: &mut Context, now: Time, tid: Tid, share: &Share, why: &'static str) {
    close::leave_tree(context, now, tid);
    context.events.push_back(Event::TreeEnded {
        share: share.name.clone(),
        why,
    });
}
