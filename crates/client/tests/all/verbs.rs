//! List, stat, rename and delete with servers of every generation.

use coax_client::{CopySpec, DiskSpace, Error, FileStat, Operation, Outcome};
use coax_server::config::Config;
use coax_wire::{dialect::Generation, status::Status, time::ZoneMinutesWest};

use crate::pair::{NOW, Pair, noise, profile};

const GENERATIONS: [Generation; 6] = [
    Generation::Core,
    Generation::CorePlus,
    Generation::Lanman1,
    Generation::Lanman2,
    Generation::Lanman21,
    Generation::Nt,
];

fn pairs() -> impl Iterator<Item = (Generation, Pair)> {
    pairs_to("DISK")
}

fn pairs_to(share: &'static str) -> impl Iterator<Item = (Generation, Pair)> {
    let modern = profile("modern");
    GENERATIONS.into_iter().map(move |generation| {
        let config = Config {
            min_generation: Generation::Core,
            max_generation: generation,
            ..Config::default()
        };
        let old = generation == Generation::CorePlus;
        (
            generation,
            Pair::with(modern.clone(), config, |target| {
                target.share = share.into();
                target.dialect = old.then_some("MICROSOFT NETWORKS 1.03");
            }),
        )
    })
}

fn names(pair: &mut Pair, pattern: &str) -> Vec<String> {
    let outcome = pair
        .run(
            Operation::List {
                pattern: pattern.into(),
            },
            &[],
        )
        .unwrap();
    let Outcome::Entries(entries) = outcome else {
        panic!("{outcome:?}")
    };
    let mut names: Vec<String> = entries.into_iter().map(|entry| entry.name).collect();
    names.sort();
    names
}

fn stat(pair: &mut Pair, path: &str) -> Result<FileStat, Error> {
    match pair.run(Operation::Stat { path: path.into() }, &[])? {
        Outcome::Stat(stat) => Ok(stat),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_folder_of_a_thousand_files_is_listed_whole_in_every_generation() {
    for (generation, mut pair) in pairs() {
        let mut expected: Vec<String> = (0..1000).map(|n| format!("FILE{n:04}.TXT")).collect();
        for name in &expected {
            pair.fs.add_file(&format!("MANY/{name}"), b"x").unwrap();
        }
        pair.fs.add_dir("MANY/SUB").unwrap();
        expected.push("SUB".into());
        assert_eq!(names(&mut pair, "MANY/*"), expected, "{generation:?}");
        assert_eq!(
            names(&mut pair, "MANY/FILE001?.TXT").len(),
            10,
            "{generation:?}"
        );
        assert!(names(&mut pair, "MANY/NO*.X").is_empty(), "{generation:?}");
    }
}

#[test]
fn stat_rename_and_delete_work_in_every_generation() {
    for (generation, mut pair) in pairs() {
        pair.fs.add_file("A.TXT", b"hello").unwrap();
        let output = stat(&mut pair, "A.TXT").unwrap();
        assert_eq!(
            (output.size, output.is_directory()),
            (5, false),
            "{generation:?}"
        );
        assert!(output.modified.is_some(), "{generation:?}");
        let rename = Operation::Rename {
            from: "A.TXT".into(),
            to: "B.TXT".into(),
        };
        pair.run(rename, &[]).unwrap();
        assert_eq!(names(&mut pair, "*"), ["B.TXT"]);
        pair.run(
            Operation::Delete {
                path: "B.TXT".into(),
            },
            &[],
        )
        .unwrap();
        let gone = stat(&mut pair, "B.TXT").unwrap_err();
        let missing = [Status::OBJECT_NAME_NOT_FOUND, Status::NO_SUCH_FILE];
        assert!(
            missing.contains(&gone.status().unwrap()),
            "{generation:?}: {gone}"
        );
    }
}

#[test]
fn folders_and_disk_space_work_in_every_generation() {
    for (generation, mut pair) in pairs() {
        pair.run(
            Operation::MakeDirectory {
                path: "GAMES".into(),
            },
            &[],
        )
        .unwrap();
        assert!(
            stat(&mut pair, "GAMES").unwrap().is_directory(),
            "{generation:?}"
        );
        pair.run(
            Operation::RemoveDirectory {
                path: "GAMES".into(),
            },
            &[],
        )
        .unwrap();
        assert!(names(&mut pair, "*").is_empty(), "{generation:?}");
        let outcome = pair.run(Operation::DiskSpace, &[]).unwrap();
        let Outcome::DiskSpace(DiskSpace { total, free }) = outcome else {
            panic!("{outcome:?}")
        };
        assert!(total > 0 && free <= total, "{generation:?}");
    }
}

#[test]
fn times_and_attributes_are_set_to_the_dialects_grain() {
    const THEN: i64 = 1_000_000_002_000_000_000;
    for (generation, mut pair) in pairs() {
        pair.fs.add_file("A.TXT", b"hello").unwrap();
        let set = Operation::SetStat {
            path: "A.TXT".into(),
            modified: Some(THEN),
            attributes: Some(0x21),
        };
        pair.run(set, &[]).unwrap();
        let output = stat(&mut pair, "A.TXT").unwrap();
        assert_eq!(
            (output.modified, output.attributes & 0x27),
            (Some(THEN), 0x21),
            "{generation:?}"
        );
    }
}

#[test]
fn a_broken_copy_goes_on_where_it_ended() {
    let data = noise(200_000);
    for (generation, mut pair) in pairs() {
        pair.fs.add_file("F.BIN", &data).unwrap();
        let get = CopySpec {
            from: 70_000,
            ..CopySpec::get("F.BIN")
        };
        let mut local = data[..70_000].to_vec();
        local.resize(70_000, 0);
        pair.run(Operation::Copy(get), &local).unwrap();
        assert!(pair.local() == data, "{generation:?}");
        pair.fs.add_file("G.BIN", &data[..70_000]).unwrap();
        let put = CopySpec {
            from: 70_000,
            existing: coax_client::Existing::Resume,
            ..CopySpec::put("G.BIN", data.len() as u64)
        };
        pair.run(Operation::Copy(put), &data).unwrap();
        assert!(pair.fs.contents("G.BIN").unwrap() == data, "{generation:?}");
    }
}

#[test]
fn a_full_local_disk_ends_the_copy_and_leaves_the_connection_useful() {
    let data = noise(500_000);
    for (generation, mut pair) in pairs() {
        pair.fs.add_file("F.BIN", &data).unwrap();
        pair.files.full_at = Some(100_000);
        let error = pair
            .run(Operation::Copy(CopySpec::get("F.BIN")), &[])
            .unwrap_err();
        assert!(
            matches!(&error, Error::Local(local) if local.disk_full),
            "{generation:?}: {error}"
        );
        pair.files.full_at = None;
        assert_eq!(names(&mut pair, "*"), ["F.BIN"], "{generation:?}");
        pair.run(
            Operation::Delete {
                path: "F.BIN".into(),
            },
            &[],
        )
        .unwrap();
    }
}

#[test]
fn the_shares_are_listed_in_every_generation() {
    for (generation, mut pair) in pairs_to("IPC$") {
        let outcome = pair.run(Operation::Shares, &[]);
        let Ok(Outcome::Shares(mut shares)) = outcome else {
            panic!("{generation:?}: {outcome:?}")
        };
        shares.sort();
        let names: Vec<&str> = shares.iter().map(|share| share.0.as_str()).collect();
        assert_eq!(names, ["DISK", "IPC$"], "{generation:?}");
    }
}

#[test]
fn dates_are_in_the_servers_zone_and_in_core_in_this_machines() {
    const NEW_YORK: i16 = 300;
    for (generation, own) in [(Generation::Core, NEW_YORK), (Generation::Lanman1, 0)] {
        let config = Config {
            max_generation: generation,
            time_zone_minutes: NEW_YORK,
            ..Config::default()
        };
        let mut pair = Pair::with(profile("modern"), config, |target| {
            target.zone = ZoneMinutesWest(own);
        });
        // The server's own date shows the zone of replies, and with it a date that was set the zone of requests.
        for (modified, expected) in [
            (None, NOW.0 as i64),
            (Some(1_000_000_000_000_000_000), 1_000_000_000_000_000_000),
        ] {
            let put = CopySpec {
                modified,
                ..CopySpec::put("F.BIN", 3)
            };
            pair.run(Operation::Copy(put), &noise(3)).unwrap();
            let found = stat(&mut pair, "F.BIN").unwrap().modified;
            assert_eq!(found, Some(expected), "{generation:?}");
        }
    }
}
