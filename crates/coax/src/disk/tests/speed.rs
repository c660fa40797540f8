//! Figures, not verdicts: `cargo test --release -p coax speed -- --ignored --nocapture`.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use super::*;

const FILES: usize = 10_000;
const DURATION: Duration = Duration::from_millis(300);
const ATTRIBUTE: &str = "user.DOSATTRIB";

/// How often a second, over `DURATION`.
fn rate<T>(mut call: impl FnMut(usize) -> T) -> f64 {
    let (start, mut calls) = (Instant::now(), 0);
    while start.elapsed() < DURATION {
        for _ in 0..16 {
            black_box(call(calls));
            calls += 1;
        }
    }
    calls as f64 / start.elapsed().as_secs_f64()
}

fn measure(kind: &str, root: &Path) {
    let disk = disk(root, DiskOptions::default());
    disk.make_dir("D").unwrap();
    let paths: Vec<String> = (0..FILES).map(|i| format!("D/FILE{i:05}.TXT")).collect();
    for path in &paths {
        let (file, _) = disk.open(path, CREATE).unwrap();
        file.set_attribute(ATTRIBUTE, b"0x20").unwrap();
    }
    disk.open("TOP", CREATE).unwrap();
    let path = |i: usize| &paths[i.wrapping_mul(7_919) % FILES];
    let say = |what: &str, rate: f64| eprintln!("{kind:6} {what:32} {rate:10.0}/s");
    say("stat, at the root", rate(|_| disk.stat("TOP")));
    say("stat, one folder down", rate(|i| disk.stat(path(i))));
    say("stat, missing", rate(|_| disk.stat("D/MISSING")));
    say("open and close", rate(|i| disk.open(path(i), READ)));
    say(
        "attribute by path",
        rate(|i| disk.attribute(path(i), ATTRIBUTE)),
    );
    say(
        "create and remove",
        rate(|_| {
            disk.open("D/NEW", CREATE).unwrap();
            disk.remove_file("D/NEW").unwrap();
        }),
    );
    say(
        "rename there and back",
        rate(|_| {
            disk.rename("D/FILE00000.TXT", "D/RENAMED", false).unwrap();
            disk.rename("D/RENAMED", "D/FILE00000.TXT", false).unwrap();
        }),
    );
    let dir = disk.open_dir("D").unwrap();
    let names = dir.names().unwrap();
    say("names of a listing", rate(|_| dir.names()) * FILES as f64);
    say("entries", rate(|i| dir.entry(&names[i % FILES], None)));
    say(
        "entries with attribute",
        rate(|i| dir.entry(&names[i % FILES], Some(ATTRIBUTE))),
    );
    let whole = rate(|_| {
        let dir = disk.open_dir("D").unwrap();
        let names = dir.names().unwrap();
        names
            .iter()
            .map(|name| dir.entry(name, Some(ATTRIBUTE)).unwrap().0.size)
            .sum::<u64>()
    });
    say("entries of a whole listing", whole * FILES as f64);
    std::thread::sleep(Duration::from_secs(3));
    let first = Instant::now();
    for name in &names {
        dir.entry(name, Some(ATTRIBUTE)).unwrap();
    }
    let first = FILES as f64 / first.elapsed().as_secs_f64();
    say("entries of the first listing", first);
    let again = rate(|i| dir.entry(&names[i % FILES], Some(ATTRIBUTE)));
    say("entries of a later listing", again);
}

#[test]
#[ignore = "prints figures"]
fn speed_of_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    measure("tmpdir", folder.path());
    if let Some(mounted) = Mounted::new("tmpfs", "size=256m") {
        measure("tmpfs", mounted.0.path());
    }
}
