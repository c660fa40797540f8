//! Filters the kernel's events: drops those that this server's own changes caused.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use coax_server::{
    ExternalChange,
    table::{NotifyFilter, OwnChange, OwnKind, ShareId},
};
use rustix::fs::inotify::ReadFlags;

/// Maximum delay of the kernel's event for a change by this server.
const ECHO_MAX: Duration = Duration::from_secs(1);

/// One event of the kernel, in a folder that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) share: ShareId,
    /// Relative to the share's root.
    pub(super) path: String,
    pub(super) kind: SeenKind,
    pub(super) is_directory: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SeenKind {
    Created,
    Removed,
    /// Moved from or to this folder. Both halves of a move have the same cookie.
    MovedFrom(u32),
    MovedTo(u32),
    Modified(NotifyFilter),
}

/// A change to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Changed {
        share: ShareId,
        path: String,
        change: ExternalChange,
    },
    Renamed {
        share: ShareId,
        from: String,
        to: String,
        is_directory: bool,
    },
}

/// Recent changes by this server whose kernel events may still arrive.
#[derive(Debug, Default)]
pub(super) struct Sieve {
    own: VecDeque<(Instant, OwnChange)>,
}

impl Seen {
    /// An event for `name` in `folder`; `None` if clients do not receive events of this kind.
    pub(super) fn new(
        (share, folder): &(ShareId, String),
        name: &str,
        flags: ReadFlags,
        cookie: u32,
    ) -> Option<Self> {
        let kind = match () {
            () if flags.contains(ReadFlags::CREATE) => SeenKind::Created,
            () if flags.contains(ReadFlags::DELETE) => SeenKind::Removed,
            () if flags.contains(ReadFlags::MOVED_FROM) => SeenKind::MovedFrom(cookie),
            () if flags.contains(ReadFlags::MOVED_TO) => SeenKind::MovedTo(cookie),
            () if flags.contains(ReadFlags::MODIFY) => {
                SeenKind::Modified(NotifyFilter::SIZE.or(NotifyFilter::LAST_WRITE))
            }
            () if flags.contains(ReadFlags::ATTRIB) => SeenKind::Modified(ATTRIBUTES),
            () => return None,
        };
        let path = match folder.as_str() {
            "" => name.to_owned(),
            folder => format!("{folder}/{name}"),
        };
        Some(Self {
            share: *share,
            path,
            kind,
            is_directory: flags.contains(ReadFlags::ISDIR),
        })
    }
}

/// Changes that IN_ATTRIB covers: times, permissions, extended attributes.
const ATTRIBUTES: NotifyFilter = NotifyFilter::ATTRIBUTES
    .or(NotifyFilter::LAST_WRITE)
    .or(NotifyFilter::LAST_ACCESS)
    .or(NotifyFilter::EA)
    .or(NotifyFilter::SECURITY);

impl Sieve {
    /// Returns the events of `seen` that others caused, in order. `own` lists this server's changes since the last
    /// call. `is_written` tells whether a client has a path open for writing; its changes are then the client's.
    pub(super) fn sift(
        &mut self,
        now: Instant,
        own: Vec<OwnChange>,
        seen: Vec<Seen>,
        is_written: impl Fn(ShareId, &str) -> bool,
    ) -> Vec<Deed> {
        self.own
            .retain(|(since, _)| now.saturating_duration_since(*since) < ECHO_MAX);
        self.own.extend(own.into_iter().map(|change| (now, change)));
        let mut deeds = Vec::new();
        let mut seen = seen.into_iter().peekable();
        while let Some(event) = seen.next() {
            // The kernel queues the halves of a move within watched folders one after the other.
            let other = seen.next_if(|next| is_other_half(&event, next));
            match other {
                Some(to) => deeds.extend(self.moved(event, to)),
                None => deeds.extend(self.single(event, &is_written)),
            }
        }
        deeds
    }

    fn single(&mut self, event: Seen, is_written: &impl Fn(ShareId, &str) -> bool) -> Option<Deed> {
        let is_directory = event.is_directory;
        let change = match event.kind {
            SeenKind::Created | SeenKind::MovedTo(_) => ExternalChange::Created { is_directory },
            SeenKind::Removed | SeenKind::MovedFrom(_) => ExternalChange::Removed { is_directory },
            SeenKind::Modified(what) => ExternalChange::Modified(what),
        };
        let is_echo = match event.kind {
            SeenKind::Created | SeenKind::MovedTo(_) => self.takes(&event, OwnKind::Appeared),
            SeenKind::Removed | SeenKind::MovedFrom(_) => self.takes(&event, OwnKind::Vanished),
            SeenKind::Modified(_) => self.touched(&event) || is_written(event.share, &event.path),
        };
        (!is_echo).then_some(Deed::Changed {
            share: event.share,
            path: event.path,
            change,
        })
    }

    fn moved(&mut self, from: Seen, to: Seen) -> Option<Deed> {
        let left = self.takes(&from, OwnKind::Vanished);
        let came = self.takes(&to, OwnKind::Appeared);
        (!left && !came).then_some(Deed::Renamed {
            share: from.share,
            is_directory: from.is_directory,
            from: from.path,
            to: to.path,
        })
    }

    /// Whether this server caused the event: each own change explains one event of a name.
    fn takes(&mut self, event: &Seen, kind: OwnKind) -> bool {
        let is_it = |(_, own): &(Instant, OwnChange)| own.kind == kind && is_of(own, event);
        let found = self.own.iter().position(is_it);
        if let Some(entry) = found.and_then(|at| self.own.get_mut(at)) {
            // The entry still explains attribute changes: the server stores attributes after it creates a file.
            entry.1.kind = OwnKind::Modified;
        }
        found.is_some()
    }

    fn touched(&self, event: &Seen) -> bool {
        self.own.iter().any(|(_, own)| is_of(own, event))
    }
}

fn is_of(own: &OwnChange, event: &Seen) -> bool {
    own.share == event.share && own.path == event.path
}

fn is_other_half(from: &Seen, to: &Seen) -> bool {
    matches!((from.kind, to.kind), (SeenKind::MovedFrom(a), SeenKind::MovedTo(b)) if a == b)
        && from.share == to.share
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARE: ShareId = ShareId(1);

    fn seen(path: &str, kind: SeenKind) -> Seen {
        Seen {
            share: SHARE,
            path: path.into(),
            kind,
            is_directory: false,
        }
    }

    fn own(path: &str, kind: OwnKind) -> OwnChange {
        OwnChange {
            share: SHARE,
            path: path.into(),
            kind,
        }
    }

    fn changed(path: &str, change: ExternalChange) -> Deed {
        Deed::Changed {
            share: SHARE,
            path: path.into(),
            change,
        }
    }

    const CREATED: ExternalChange = ExternalChange::Created {
        is_directory: false,
    };
    const WRITTEN: SeenKind = SeenKind::Modified(NotifyFilter::SIZE);

    #[test]
    fn changes_by_clients_are_dropped_and_changes_by_others_are_reported() {
        let mut sieve = Sieve::default();
        let own = vec![own("a", OwnKind::Appeared), own("b", OwnKind::Vanished)];
        let events = vec![
            seen("a", SeenKind::Created),
            seen("a", WRITTEN),
            seen("b", SeenKind::Removed),
            seen("b", SeenKind::Created),
            seen("c", WRITTEN),
            seen("d", WRITTEN),
        ];
        let deeds = sieve.sift(Instant::now(), own, events, |_, path| path == "d");
        let written = ExternalChange::Modified(NotifyFilter::SIZE);
        assert_eq!(deeds, [changed("b", CREATED), changed("c", written)]);
    }

    #[test]
    fn each_own_change_explains_one_event_of_a_name() {
        let mut sieve = Sieve::default();
        let now = Instant::now();
        let twice = vec![seen("a", SeenKind::Created), seen("a", SeenKind::Created)];
        let deeds = sieve.sift(now, vec![own("a", OwnKind::Appeared)], twice, |_, _| false);
        assert_eq!(deeds, [changed("a", CREATED)]);
    }

    #[test]
    fn the_event_of_an_own_change_may_arrive_later_within_a_limit() {
        let mut sieve = Sieve::default();
        let now = Instant::now();
        let ours = vec![own("a", OwnKind::Appeared), own("b", OwnKind::Appeared)];
        assert_eq!(sieve.sift(now, ours, vec![], |_, _| false), []);
        let mut create = |after, path| {
            let events = vec![seen(path, SeenKind::Created)];
            sieve.sift(now + after, vec![], events, |_, _| false).len()
        };
        assert_eq!(create(ECHO_MAX / 2, "a"), 0);
        assert_eq!(create(ECHO_MAX, "b"), 1);
    }

    #[test]
    fn both_halves_of_a_move_become_a_rename_unless_one_is_elsewhere() {
        let mut sieve = Sieve::default();
        let events = vec![
            seen("a", SeenKind::MovedFrom(7)),
            seen("b", SeenKind::MovedTo(7)),
            seen("gone", SeenKind::MovedFrom(8)),
            seen("came", SeenKind::MovedTo(9)),
        ];
        let deeds = sieve.sift(Instant::now(), vec![], events, |_, _| false);
        let renamed = Deed::Renamed {
            share: SHARE,
            from: "a".into(),
            to: "b".into(),
            is_directory: false,
        };
        let removed = ExternalChange::Removed {
            is_directory: false,
        };
        assert_eq!(
            deeds,
            [renamed, changed("gone", removed), changed("came", CREATED)]
        );
    }
}
