//! The disk and the in-memory file system give the same result for the same operations.

use coax_server::memfs::MemFs;
use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Deed {
    Open(usize, OpenHow),
    Write(usize, u64, usize),
    SetLen(usize, u64),
    Reserve(usize, u64),
    MakeDir(usize),
    RemoveFile(usize),
    RemoveDir(usize),
    Rename(usize, usize, bool),
    HardLink(usize, usize),
    SetAttribute(usize, u8),
    List(usize),
    Close,
}

const PATHS: [&str; 12] = [
    "", "A", "B", "a", "D", "D/A", "D/E", "D/E/A", "D/E/F", "A/B", "E", "E/A",
];

fn deed() -> impl Strategy<Value = Deed> {
    let path = || 0..PATHS.len();
    let how = any::<[bool; 5]>().prop_map(|[read, write, create, exclusive, truncate]| {
        // Truncating a file without write access is left to the system.
        OpenHow {
            read,
            write,
            create,
            exclusive: exclusive && create,
            truncate: truncate && write,
        }
    });
    let offset = prop_oneof![0..20_u64, 0..200_000_u64];
    prop_oneof![
        4 => (path(), how).prop_map(|(p, h)| Deed::Open(p, h)),
        3 => (path(), offset.clone(), 0..10_000_usize).prop_map(|(p, o, n)| Deed::Write(p, o, n)),
        1 => (path(), offset.clone()).prop_map(|(p, n)| Deed::SetLen(p, n)),
        1 => (path(), offset).prop_map(|(p, n)| Deed::Reserve(p, n)),
        4 => path().prop_map(Deed::MakeDir),
        2 => path().prop_map(Deed::RemoveFile),
        2 => path().prop_map(Deed::RemoveDir),
        4 => (path(), path(), any::<bool>()).prop_map(|(a, b, r)| Deed::Rename(a, b, r)),
        2 => (path(), path()).prop_map(|(a, b)| Deed::HardLink(a, b)),
        1 => (path(), any::<u8>()).prop_map(|(p, v)| Deed::SetAttribute(p, v)),
        2 => path().prop_map(Deed::List),
        1 => Just(Deed::Close),
    ]
}

/// One file system and its open files.
struct World<'a> {
    fs: &'a dyn Vfs,
    open: Vec<Arc<dyn VfsFile>>,
}

impl World<'_> {
    /// The outcome as text, equal for equal outcomes.
    fn perform(&mut self, deed: &Deed) -> String {
        match *deed {
            Deed::Open(path, how) => {
                let outcome = self.fs.open(PATHS[path], how);
                let text = format!("{:?}", outcome.as_ref().map(|(_, created)| created));
                self.open.extend(outcome.ok().map(|(file, _)| file));
                text
            }
            Deed::Write(file, offset, len) => {
                self.on(file, |f| f.write_at(offset, &vec![len as u8; len]))
            }
            Deed::SetLen(file, len) => self.on(file, |f| f.set_len(len)),
            Deed::Reserve(file, len) => self.on(file, |f| f.reserve(len)),
            Deed::SetAttribute(file, value) => {
                self.on(file, |f| f.set_attribute("user.a", &[value]))
            }
            Deed::MakeDir(path) => format!("{:?}", self.fs.make_dir(PATHS[path])),
            Deed::RemoveFile(path) => format!("{:?}", self.fs.remove_file(PATHS[path])),
            Deed::RemoveDir(path) => format!("{:?}", self.fs.remove_dir(PATHS[path])),
            Deed::Rename(a, b, replace) => {
                format!("{:?}", self.fs.rename(PATHS[a], PATHS[b], replace))
            }
            Deed::HardLink(a, b) => format!("{:?}", self.fs.hard_link(PATHS[a], PATHS[b])),
            Deed::List(path) => self.list(PATHS[path]),
            Deed::Close => {
                self.open.clear();
                String::new()
            }
        }
    }

    fn on<T: std::fmt::Debug>(&self, file: usize, deed: impl FnOnce(&dyn VfsFile) -> T) -> String {
        let chosen = self
            .open
            .len()
            .checked_sub(1)
            .map(|last| &self.open[file % (last + 1)]);
        format!(
            "{:?}",
            chosen.map(|file| (
                deed(&**file),
                seen(&file.stat().unwrap()),
                contents(&**file)
            ))
        )
    }

    fn list(&self, path: &str) -> String {
        let Ok(dir) = self.fs.open_dir(path) else {
            return format!("{:?}", self.fs.stat(path).map(|stat| seen(&stat)));
        };
        let mut names = dir.names().unwrap();
        names.sort();
        let entries = names.iter().map(|name| {
            let (stat, value) = dir.entry(name, Some("user.a")).unwrap();
            (name, seen(&stat), value)
        });
        format!("{:?}", entries.collect::<Vec<_>>())
    }
}

fn seen(stat: &Stat) -> (Kind, u64, Option<u32>) {
    // File systems count a folder's links differently.
    (
        stat.kind,
        stat.size,
        (stat.kind == Kind::File).then_some(stat.links),
    )
}

/// A checksum is enough to detect different contents.
fn contents(file: &dyn VfsFile) -> VfsResult<(usize, u64)> {
    let mut buf = vec![0xa5; 300_000];
    let read = file.read_at(0, &mut buf)?;
    let sum = buf[..read]
        .iter()
        .fold(0_u64, |sum, b| sum.rotate_left(5).wrapping_add((*b).into()));
    Ok((read, sum))
}

proptest! {
    #![proptest_config(ProptestConfig {  failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn disk_and_memory_agree_on_every_outcome(deeds in proptest::collection::vec(deed(), 1..60)) {
        let ((_alive, disk), memory) = (fresh(), MemFs::new());
        let mut on_disk = World { fs: &disk, open: Vec::new() };
        let mut in_memory = World { fs: &memory, open: Vec::new() };
        for deed in &deeds {
            prop_assert_eq!(on_disk.perform(deed), in_memory.perform(deed), "{:?}", deed);
        }
        for path in PATHS {
            prop_assert_eq!(on_disk.list(path), in_memory.list(path), "{}", path);
        }
    }
}
