//! Change notification for local programs: the kernel's inotify watches the folders that clients watch.
//!
//! The engine calls [`LocalChanges`] when a client's first watch of a folder begins and when its last one ends, so only
//! those folders are watched, and never their subfolders (as in Samba). inotify also reports what clients do through
//! this server, which the engine has reported already: [`sift`] drops those events.

mod sift;

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::CStr,
    mem::MaybeUninit,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak},
    time::{Duration, Instant},
};

use coax_server::{
    Server,
    share::{Share, ShareKind},
    table::{FolderChange, ShareId, Wake},
    vfs::{OpenHow, Vfs},
};
use rustix::{
    fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd},
    fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags},
    io::Errno,
};
use tokio::io::{Interest, unix::AsyncFd};

use self::sift::{Deed, Seen, Sieve};
use super::{host::Host, report::Reporter, service::Follower};
use coax_disk::{DiskFile, decode_name};

/// Maximum number of watched folders. Each costs the kernel about 1 KB; its default limit per user is at least 8,192.
const WATCHES_MAX: usize = 8192;
/// Delay between the first kernel event and its processing. The engine reports a client's change only after the disk
/// operation, so the delay lets that report arrive first.
const SETTLE: Duration = Duration::from_millis(50);
/// Maximum number of events processed at a time.
const BATCH: usize = 16_384;

/// A folder: its path space, and its path relative to the share's root.
type Folder = (ShareId, String);

/// The inotify watches of this server's folders.
#[derive(Debug)]
pub(super) struct LocalChanges {
    inotify: OwnedFd,
    server: RwLock<Weak<Server>>,
    reporter: Reporter,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    watched: BTreeMap<Folder, i32>,
    /// Shares of nested folders may have one folder.
    folders: BTreeMap<i32, BTreeSet<Folder>>,
    sieve: Sieve,
    /// Whether the failure to watch a folder was reported.
    complained: bool,
}

/// Starts watching, until the server stops, if the system supports it and a share wants it. Does nothing if it runs.
pub(super) fn start(host: &Arc<Host>) {
    let wanted = |share: &Arc<Share>| share.options.kernel_change_notify;
    if host.local.get().is_some() || !host.server().shares.iter().any(wanted) {
        return;
    }
    let inotify = match inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC) {
        Ok(inotify) => inotify,
        Err(error) => {
            return host.reporter.notice(format!(
                "changes by local programs are not reported to clients: inotify: {error}"
            ));
        }
    };
    let changes = LocalChanges::begin(inotify, &host.server(), host.reporter.clone());
    let _ = host.local.set(changes.clone());
    tokio::spawn(follow(changes, host.clone()));
}

/// Forwards the kernel's events.
async fn follow(changes: Arc<LocalChanges>, host: Arc<Host>) {
    let Ok(ready) = register(changes.clone()) else {
        return;
    };
    loop {
        let mut guard = tokio::select! {
            guard = ready.readable() => match guard {
                Ok(guard) => guard,
                Err(_) => return,
            },
            () = host.stopped() => return,
        };
        tokio::time::sleep(SETTLE).await;
        if changes.read() {
            guard.clear_ready();
        }
    }
}

/// Sound for the same reason as in [`super::task`]: the descriptor is owned and never replaced.
#[allow(deprecated)]
fn register(changes: Arc<LocalChanges>) -> std::io::Result<AsyncFd<Arc<LocalChanges>>> {
    AsyncFd::with_interest(changes, Interest::READABLE)
}

impl AsRawFd for LocalChanges {
    fn as_raw_fd(&self) -> RawFd {
        self.inotify.as_raw_fd()
    }
}

impl AsFd for LocalChanges {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}

/// Called when the first watch of a folder begins or the last one ends. The kernel's watch exists before the client's
/// request is answered or parked.
impl Wake for LocalChanges {
    fn wake(&self) {
        let Some(server) = self.server() else {
            return;
        };
        let changed = server.locked(|tables| tables.take_folder_changes());
        for FolderChange {
            share,
            path,
            watched,
        } in changed
        {
            if watched && let Some((vfs, inside)) = watchable(&server, share, &path) {
                // Called without the lock: a hung disk must not block other shares.
                let outcome = self.watch(&*vfs, &inside);
                self.note(&server, (share, path), outcome);
            } else {
                self.note(&server, (share, path), Err(Errno::CANCELED));
            }
        }
    }
}

impl Follower for LocalChanges {
    fn follow(&self, server: &Arc<Server>) {
        let mut followed = self.server.write().unwrap_or_else(PoisonError::into_inner);
        *followed = Arc::downgrade(server);
        drop(followed);
        self.state().move_folders(server);
    }
}

impl LocalChanges {
    /// Registers with the server.
    fn begin(inotify: OwnedFd, server: &Arc<Server>, reporter: Reporter) -> Arc<Self> {
        let changes = Arc::new(Self {
            inotify,
            server: RwLock::new(Arc::downgrade(server)),
            reporter,
            state: Mutex::default(),
        });
        server.locked(|tables| tables.observe(changes.clone()));
        changes
    }

    fn server(&self) -> Option<Arc<Server>> {
        let server = self.server.read().unwrap_or_else(PoisonError::into_inner);
        server.upgrade()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps or ends the watch of a folder, as clients want it now: another thread may have changed that meanwhile.
    fn note(&self, server: &Server, folder: Folder, outcome: Result<i32, Errno>) {
        let mut state = self.state();
        if let Ok(watch) = outcome {
            let folders = state.folders.entry(watch).or_default();
            folders.insert(folder.clone());
            state.watched.insert(folder.clone(), watch);
        }
        if !server.locked(|tables| tables.is_watched(folder.0, &folder.1)) {
            return self.cease(&mut state, &folder);
        }
        match outcome {
            Ok(_) if state.watched.len() <= WATCHES_MAX => {}
            Ok(_) => self.cease(&mut state, &folder),
            Err(Errno::CANCELED) => {}
            Err(error) if !std::mem::replace(&mut state.complained, true) => {
                self.reporter.notice(format!(
                    "changes by local programs in {:?} are not reported to clients: {error} (sysctl \
                     fs.inotify.max_user_watches; not said again for other folders)",
                    folder.1
                ));
            }
            Err(_) => {}
        }
    }

    /// Uses the open folder's descriptor: the path may resolve to another folder by now.
    fn watch(&self, vfs: &dyn Vfs, path: &str) -> Result<i32, Errno> {
        let how = OpenHow {
            read: true,
            ..OpenHow::default()
        };
        let (file, _) = vfs.open(path, how).map_err(|_| Errno::NOENT)?;
        let file = file.as_any().downcast_ref::<DiskFile>();
        let fd = file.ok_or(Errno::OPNOTSUPP)?.fd().as_raw_fd();
        let flags = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::ONLYDIR
            | WatchFlags::EXCL_UNLINK;
        inotify::add_watch(&self.inotify, format!("/proc/self/fd/{fd}"), flags)
    }

    fn cease(&self, state: &mut State, folder: &Folder) {
        let Some(watch) = state.watched.remove(folder) else {
            return;
        };
        let Some(folders) = state.folders.get_mut(&watch) else {
            return;
        };
        folders.remove(folder);
        if folders.is_empty() {
            state.folders.remove(&watch);
            // The kernel drops the watch of a removed folder itself.
            let _ = inotify::remove_watch(&self.inotify, watch);
        }
    }

    /// Reads and forwards pending events; returns whether none are left.
    fn read(&self) -> bool {
        let Some(server) = self.server() else {
            return true;
        };
        let mut state = self.state();
        let (seen, lost, all) = state.collect(&self.inotify);
        if lost {
            let _ = server.locked(|tables| tables.take_own_changes());
            server.locked(|tables| tables.report_lost());
            return all;
        }
        let own = server.locked(|tables| tables.take_own_changes());
        let is_written = |share: ShareId, path: &str| {
            server.locked(|tables| tables.is_open_for_writing(share, path))
        };
        let deeds = state.sieve.sift(Instant::now(), own, seen, is_written);
        drop(state);
        for deed in deeds {
            pass_on(&server, deed);
        }
        all
    }
}

/// The outermost share that has a folder of a path space, and the folder's path there, if local changes in it are to be
/// reported to the clients of one of the space's shares. After a reload no share may have the outermost folder of the space.
fn watchable(server: &Server, space: ShareId, path: &str) -> Option<(Arc<dyn Vfs>, String)> {
    let (space, path) = server.locked(|tables| tables.path_in_space(space, path));
    let mut found: Option<(Arc<dyn Vfs>, String)> = None;
    let mut is_wanted = false;
    for share in server.shares.iter() {
        let (own, folder) = server.locked(|tables| tables.path_in_space(share.id, ""));
        if own != space {
            continue;
        }
        is_wanted |= share.options.kernel_change_notify;
        let Some(inside) = beneath(&folder, &path) else {
            continue;
        };
        if let ShareKind::Disk(vfs) = &share.kind
            && found
                .as_ref()
                .is_none_or(|(_, known)| known.len() < inside.len())
        {
            found = Some((vfs.clone(), inside.to_owned()));
        }
    }
    found.filter(|_| is_wanted)
}

/// The path from `folder`, if `path` is that folder or lies in it.
fn beneath<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(folder)?;
    match folder.is_empty() || rest.is_empty() {
        true => Some(rest),
        false => rest.strip_prefix('/'),
    }
}

fn pass_on(server: &Server, deed: Deed) {
    match deed {
        Deed::Changed {
            share,
            path,
            change,
        } => server.external_change(share, &path, change),
        Deed::Renamed {
            share,
            from,
            to,
            is_directory,
        } => server.external_rename(share, &from, &to, is_directory),
    }
}

impl State {
    /// A reload may have made the path spaces of watched folders part of others.
    fn move_folders(&mut self, server: &Server) {
        let watched = std::mem::take(&mut self.watched);
        self.folders.clear();
        for ((share, path), watch) in watched {
            let folder = server.locked(|tables| tables.path_in_space(share, &path));
            self.folders
                .entry(watch)
                .or_default()
                .insert(folder.clone());
            self.watched.insert(folder, watch);
        }
    }

    /// Returns the pending events, whether the kernel lost some, and whether none are left.
    fn collect(&mut self, inotify: &OwnedFd) -> (Vec<Seen>, bool, bool) {
        let mut buffer = [MaybeUninit::uninit(); 16_384];
        let mut reader = Reader::new(inotify, &mut buffer);
        let (mut seen, mut lost) = (Vec::new(), false);
        while seen.len() < BATCH {
            let Ok(event) = reader.next() else {
                return (seen, lost, true);
            };
            let flags = event.events();
            lost |= flags.contains(ReadFlags::QUEUE_OVERFLOW);
            if flags.contains(ReadFlags::IGNORED) {
                let folders = self.folders.remove(&event.wd()).unwrap_or_default();
                for folder in folders {
                    self.watched.remove(&folder);
                }
            }
            let folders = self.folders.get(&event.wd());
            for folder in folders.into_iter().flatten() {
                let name = event.file_name().map(CStr::to_bytes).map(decode_name);
                seen.extend(name.and_then(|name| Seen::new(folder, &name, flags, event.cookie())));
            }
        }
        (seen, lost, false)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
mod tests;
