//! The unit of the packages' service, and what its sandbox keeps from a share.

use std::path::{Path, PathBuf};

/// What matters of a service unit and its drop-ins, systemd.exec(5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// The files, the unit's own first.
    pub files: Vec<PathBuf>,
    /// `User=`.
    pub user: Option<String>,
    /// The last `ExecStart=`.
    pub command: Option<String>,
    /// `ReadWritePaths=`.
    pub writable: Vec<PathBuf>,
    /// `ReadOnlyPaths=`.
    pub read_only: Vec<PathBuf>,
    /// `InaccessiblePaths=`.
    pub hidden: Vec<PathBuf>,
    /// `ProtectSystem=strict`: all but [`Self::writable`] is read-only.
    pub strict: bool,
    /// `ProtectHome=`.
    pub home: Home,
    /// `PrivateTmp=`.
    pub private_tmp: bool,
    /// `AmbientCapabilities=`.
    pub capabilities: Vec<String>,
}

/// `ProtectHome=`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Home {
    /// As on the machine.
    #[default]
    Open,
    /// May be read.
    ReadOnly,
    /// Is empty.
    Hidden,
}

/// Folders that `ProtectHome=` concerns.
const HOMES: [&str; 3] = ["/home", "/root", "/run/user"];
/// Folders that `PrivateTmp=` concerns.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// What the service's sandbox does to a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// `ProtectSystem=strict` or `ReadOnlyPaths=`: the service cannot write there.
    ReadOnly,
    /// `ProtectHome=`: it sees an empty folder.
    Home,
    /// `ProtectHome=read-only`.
    HomeReadOnly,
    /// `PrivateTmp=`: it sees a folder of its own.
    Temporary,
    /// `InaccessiblePaths=`.
    Hidden,
}

impl Unit {
    /// Reads a unit file and its drop-ins, in their order.
    pub fn parse<'a>(files: impl IntoIterator<Item = (PathBuf, &'a str)>) -> Self {
        files
            .into_iter()
            .fold(Self::default(), |unit, (path, text)| unit.with(path, text))
    }

    /// The unit with a further drop-in.
    #[must_use]
    pub fn with(mut self, path: PathBuf, text: &str) -> Self {
        self.files.push(path);
        let mut in_service = false;
        for line in lines(text) {
            if line.starts_with('[') {
                in_service = line == "[Service]";
            } else if let Some((key, value)) = line.split_once('=').filter(|_| in_service) {
                self.set(key.trim(), value.trim());
            }
        }
        self
    }

    /// Whether the service serves this configuration.
    pub fn serves(&self, config: &Path) -> bool {
        let command = self.command.as_deref().unwrap_or_default();
        let mut words = command.split_whitespace();
        words.any(|word| Path::new(word.trim_start_matches("--config=")) == config)
    }

    /// What the sandbox does to a folder.
    pub fn effect_on(&self, folder: &Path) -> Effect {
        let beneath = |all: &[&str]| all.iter().any(|known| folder.starts_with(known));
        let deepest = |all: &[PathBuf]| {
            let above = all.iter().filter(|known| folder.starts_with(known));
            above.map(|known| known.components().count()).max()
        };
        let (writable, read_only) = (deepest(&self.writable), deepest(&self.read_only));
        match self.home {
            _ if deepest(&self.hidden).is_some() => return Effect::Hidden,
            Home::Hidden if beneath(&HOMES) => return Effect::Home,
            Home::ReadOnly if beneath(&HOMES) && writable.is_none() => return Effect::HomeReadOnly,
            _ => {}
        }
        if self.private_tmp && beneath(&TEMPORARY) {
            return Effect::Temporary;
        }
        match writable >= read_only && (writable.is_some() || !self.strict) {
            true => Effect::None,
            false => Effect::ReadOnly,
        }
    }

    /// Whether the service may bind ports below 1024.
    pub fn binds_low_ports(&self) -> bool {
        let has = |name: &String| name == "CAP_NET_BIND_SERVICE";
        self.user.as_deref().is_none_or(|user| user == "root") || self.capabilities.iter().any(has)
    }

    fn set(&mut self, key: &str, value: &str) {
        let yes = matches!(value, "yes" | "true" | "on" | "1" | "disconnected");
        match key {
            "User" => self.user = Some(value.to_owned()).filter(|user| !user.is_empty()),
            "ExecStart" => self.command = Some(value.to_owned()).filter(|line| !line.is_empty()),
            "ReadWritePaths" => paths(&mut self.writable, value),
            "ReadOnlyPaths" => paths(&mut self.read_only, value),
            "InaccessiblePaths" => paths(&mut self.hidden, value),
            "ProtectSystem" => self.strict = value == "strict",
            "PrivateTmp" => self.private_tmp = yes,
            "ProtectHome" => {
                self.home = match value {
                    "read-only" => Home::ReadOnly,
                    "tmpfs" => Home::Hidden,
                    _ if yes => Home::Hidden,
                    _ => Home::Open,
                }
            }
            "AmbientCapabilities" if value.is_empty() => self.capabilities.clear(),
            "AmbientCapabilities" => {
                let names = value.split_whitespace().map(ToOwned::to_owned);
                self.capabilities.extend(names);
            }
            _ => {}
        }
    }
}

/// The lines that mean something; `\` at the end of a line joins it with the next.
fn lines(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with(['#', ';']) || line.is_empty() {
            continue;
        }
        let (part, more) = match line.strip_suffix('\\') {
            Some(part) => (part, true),
            None => (line, false),
        };
        match all.last_mut().filter(|_| goes_on) {
            Some(last) => last.push_str(part),
            None => all.push(part.to_owned()),
        }
        goes_on = more;
    }
    all
}

/// A list of paths adds to the one before; an empty one starts again. `-` and `+` before a path do not change it, and
/// quotes keep its blanks.
fn paths(list: &mut Vec<PathBuf>, value: &str) {
    if value.is_empty() {
        return list.clear();
    }
    let words = value.split('"').enumerate();
    for (number, part) in words {
        let quoted = number % 2 == 1;
        let whole = [part];
        let bare = part.split_whitespace().filter(|_| !quoted);
        for word in bare.chain(whole.into_iter().filter(|_| quoted)) {
            let path = word.trim_start_matches(['-', '+']).replace("%%", "%");
            if !path.is_empty() {
                list.push(path.into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packaged(drop_in: &str) -> Unit {
        let unit = include_str!("../../../packaging/coax.service");
        Unit::parse([("a".into(), unit), ("b".into(), drop_in)])
    }

    #[test]
    fn the_packaged_unit_serves_below_srv_and_nowhere_else() {
        let unit = packaged("");
        assert_eq!(unit.user.as_deref(), Some("coax"));
        assert!(unit.binds_low_ports());
        for (folder, effect) in [
            ("/srv/coax", Effect::None),
            ("/data", Effect::ReadOnly),
            ("/home/anna/old", Effect::Home),
            ("/tmp/x", Effect::Temporary),
        ] {
            assert_eq!(unit.effect_on(Path::new(folder)), effect, "{folder}");
        }
    }

    #[test]
    fn a_drop_in_adds_paths_and_resets_what_it_leaves_empty() {
        let unit =
            packaged("[Service]\nReadWritePaths=/data \"/my files\"\nProtectHome=no\nUser=\n");
        for folder in ["/data/x", "/my files", "/srv"] {
            assert_eq!(unit.effect_on(Path::new(folder)), Effect::None, "{folder}");
        }
        assert_eq!(unit.effect_on(Path::new("/home/a")), Effect::ReadOnly);
        assert_eq!(unit.user, None);
        let none = packaged("[Service]\nReadWritePaths=\n[Unit]\nReadWritePaths=/x\n");
        assert_eq!(none.effect_on(Path::new("/srv")), Effect::ReadOnly);
        assert_eq!(none.effect_on(Path::new("/x")), Effect::ReadOnly);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_unit(text: String, path: String) {
            let _ = Unit::parse([("a".into(), text.as_str())]).effect_on(Path::new(&path));
        }
    }
}
