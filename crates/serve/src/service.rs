//! What a configuration decides. A reload replaces it as a whole.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use coax_netbios::SessionConfig;
use coax_server::{Server, table::ShareId};
use coax_smbconf::settings::{Settings, ShareSettings};
use coax_wire::{nbt::session::Framing, time::Span};

use super::folder::Folder;

/// One configuration in force.
#[derive(Debug)]
pub(super) struct Service {
    /// The engine's constant half.
    pub(super) server: Arc<Server>,
    /// The settings.
    pub(super) settings: Arc<Settings>,
    /// Configuration of the session layer.
    pub(super) session: SessionConfig,
    /// The folders of the shares.
    pub(super) folders: Vec<Folder>,
    /// The shares' numbers.
    pub(super) numbers: ShareNumbers,
    /// Counts the configurations.
    pub(super) generation: u64,
    /// Servers for connections that keep what they negotiated under an earlier configuration.
    elders: Mutex<BTreeMap<u64, Weak<Server>>>,
}

impl Service {
    /// A configuration.
    pub(super) fn new(
        server: Server,
        settings: Settings,
        folders: Vec<Folder>,
        numbers: ShareNumbers,
        generation: u64,
    ) -> Self {
        join_spaces(&server, &folders);
        Self {
            server: Arc::new(server),
            session: session_config(&settings),
            settings: Arc::new(settings),
            folders,
            numbers,
            generation,
            elders: Mutex::default(),
        }
    }

    /// The server for a connection that negotiated under the configuration `negotiated` and now uses `before`: the
    /// shares and accounts of this configuration with the protocol settings of that one.
    pub(super) fn server_for(&self, negotiated: u64, before: &Server) -> Arc<Server> {
        let mut elders = self.elders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = elders.get(&negotiated).and_then(Weak::upgrade) {
            return server;
        }
        let server = Arc::new(Server {
            config: before.config.clone(),
            shares: self.server.shares.clone(),
            accounts: self.server.accounts.clone(),
            tables: self.server.tables.clone(),
        });
        elders.retain(|_, server| server.strong_count() > 0);
        elders.insert(negotiated, Arc::downgrade(&server));
        server
    }
}

/// Something else that uses the engine's constant half.
pub(super) trait Follower: Send + Sync + Debug {
    /// Another configuration is in force.
    fn follow(&self, server: &Arc<Server>);
}

/// Numbers of shares. A share keeps its number as long as name, folder and type stay the same, also if it is removed
/// and comes back, so that open files recognise it.
#[derive(Clone, Debug, Default)]
pub(super) struct ShareNumbers(BTreeMap<(String, String, bool), u32>);

impl ShareNumbers {
    /// The number of a share with its folder's `path`; 0 is `IPC$`.
    pub(super) fn of(&mut self, share: &ShareSettings, path: &str) -> ShareId {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        let key = (share.name.to_lowercase(), path.into(), share.printable);
        ShareId(*self.0.entry(key).or_insert(next.saturating_add(1)))
    }
}

/// Gives shares of the same folder, and shares whose folders lie in one another, one path space: a change through one of
/// them reaches the open files of all.
fn join_spaces(server: &Server, folders: &[Folder]) {
    let mut from_outside: Vec<&Folder> = folders.iter().collect();
    from_outside.sort_by_key(|folder| folder.depth());
    server.locked(|tables| {
        for folder in from_outside {
            let same = |other: &&Folder| folder.root.is_some() && other.root == folder.root;
            let is_other = |other: &&Folder| !same(other);
            let around = folders.iter().filter(is_other);
            let around = around.filter_map(|outer| Some((outer, folder.path_from(outer)?)));
            let nearest = around.max_by_key(|(outer, _)| outer.depth());
            match nearest {
                Some((outer, path)) => tables.nest_space(folder.id, outer.id, &path),
                None => {
                    let same = folders.iter().filter(same).map(|other| other.id);
                    tables.join_space(folder.id, same);
                }
            }
        }
    });
}

fn session_config(settings: &Settings) -> SessionConfig {
    let keep_alive = match settings.global.keepalive_seconds {
        0 => None,
        seconds => Some(Span::from_secs(u64::from(seconds))),
    };
    SessionConfig {
        keep_alive,
        max_message: Framing::Nbt.max_len(),
        ..SessionConfig::default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::build::{self, Built};
    use coax_server::table::Tables;
    use coax_smbconf::load::load_text;

    #[test]
    fn a_share_keeps_its_number_until_its_folder_or_type_changes() {
        let mut numbers = ShareNumbers::default();
        let named = |name: &str| ShareSettings {
            name: name.into(),
            ..ShareSettings::default()
        };
        let first = numbers.of(&named("A"), "/a");
        assert_eq!(first, ShareId(1));
        assert_eq!(numbers.of(&named("B"), "/b"), ShareId(2));
        assert_eq!(numbers.of(&named("a"), "/a"), first);
        assert_eq!(numbers.of(&named("A"), "/other"), ShareId(3));
        let printer = ShareSettings {
            printable: true,
            ..named("A")
        };
        assert_eq!(numbers.of(&printer, "/a"), ShareId(4));
        assert_eq!(numbers.of(&named("A"), "/a"), first);
    }
    #[test]
    fn shares_of_one_folder_have_one_path_space() {
        let parent = tempfile::tempdir().unwrap();
        let path = |name: &str| parent.path().join(name).display().to_string();
        for folder in ["one", "two"] {
            std::fs::create_dir(path(folder)).unwrap();
        }
        std::os::unix::fs::symlink("one", path("again")).unwrap();
        let section = |name: &str| format!("[{name}]\npath = {}\n", path(name));
        let conf = ["one", "two", "again"].map(section).concat();
        let settings = load_text("t", &conf).settings;
        let built = build::server(&settings, &mut Vec::new()).unwrap();
        let Built {
            server,
            folders,
            numbers,
        } = built;
        let ids: Vec<ShareId> = folders.iter().map(|folder| folder.id).collect();
        let service = Service::new(server, settings, folders, numbers, 0);
        let spaces = |tables: &mut Tables| ids.iter().map(|id| tables.space(*id).0).collect();
        let spaces: Vec<ShareId> = service.server.locked(spaces);
        assert_eq!(spaces, [ids[0], ids[1], ids[0]]);
    }

    #[test]
    fn a_share_in_another_has_its_path_space() {
        let parent = tempfile::tempdir().unwrap();
        let path = |name: &str| parent.path().join(name).display().to_string();
        for folder in ["all/games/old", "aside", "all-else"] {
            std::fs::create_dir_all(path(folder)).unwrap();
        }
        std::os::unix::fs::symlink("all/games", path("link")).unwrap();
        // Inner ones are named before the outermost one, and by a symbolic link.
        let folders = [
            "all/games/old",
            "link",
            "all",
            "all-else",
            "aside",
            "all/games",
        ];
        let section = |(n, folder): (usize, &str)| format!("[s{n}]\npath = {}\n", path(folder));
        let conf: String = folders.into_iter().enumerate().map(section).collect();
        let settings = load_text("t", &conf).settings;
        let Built {
            server,
            folders,
            numbers,
        } = build::server(&settings, &mut Vec::new()).unwrap();
        let ids: Vec<ShareId> = folders.iter().map(|folder| folder.id).collect();
        let service = Service::new(server, settings, folders, numbers, 0);
        let space = |id: &ShareId| {
            service.server.locked(|tables| {
                let (space, folder) = tables.space(*id);
                (space, folder.to_owned())
            })
        };
        let spaces: Vec<(ShareId, String)> = ids.iter().map(space).collect();
        let all = |folder: &str| (ids[2], folder.to_owned());
        let alone = |n: usize| (ids[n], String::new());
        assert_eq!(
            spaces,
            [
                all("games/old"),
                all("games"),
                all(""),
                alone(3),
                alone(4),
                all("games")
            ]
        );
    }
}
