//! Measurements without assertions: `cargo test --release -p coax speed -- --ignored --nocapture`.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use super::*;

const FILES: usize = 10_000;
const DURATION: Duration = Duration::from_millis(300);
const ATTRIBUTE: &str = "user.DOSATTRIB";

/// Calls per second of this thread's CPU time.
fn rate<T>(mut call: impl FnMut(usize) -> T) -> f64 {
    let (start, used, mut calls) = (Instant::now(), processor_time(), 0);
    while start.elapsed() < DURATION {
        for _ in 0..16 {
            black_box(call(calls));
            calls += 1;
        }
    }
    calls as f64 / (processor_time() - used).as_secs_f64()
}

/// CPU time of this thread, so that other load does not affect the result.
fn processor_time() -> Duration {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(schedstat.split(' ').next().unwrap().parse().unwrap())
}

fn say(kind: &str, what: &str, rate: f64) {
    eprintln!("{kind:6} {what:32} {rate:10.0}/s");
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
    measure_paths(kind, &disk, &paths);
    measure_listings(kind, &disk, root);
}

fn measure_paths(kind: &str, disk: &DiskFs, paths: &[String]) {
    let path = |i: usize| &paths[i.wrapping_mul(7_919) % FILES];
    let say = |what: &str, rate: f64| say(kind, what, rate);
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
}

fn measure_listings(kind: &str, disk: &DiskFs, root: &Path) {
    let say = |what: &str, rate: f64| say(kind, what, rate);
    let dir = disk.open_dir("D").unwrap();
    let names = dir.names().unwrap();
    say("names of a listing", rate(|_| dir.names()) * FILES as f64);
    say("entries", rate(|i| dir.entry(&names[i % FILES], None)));
    std::thread::sleep(Duration::from_secs(3));
    let listing = |disk: &DiskFs| {
        let used = processor_time();
        let dir = disk.open_dir("D").unwrap();
        for name in dir.names().unwrap() {
            black_box(dir.entry(&name, Some(ATTRIBUTE)).unwrap());
        }
        FILES as f64 / (processor_time() - used).as_secs_f64()
    };
    let again = self::disk(root, DiskOptions::default());
    say("entries with attribute, first", listing(&again));
    say("entries with attribute, later", listing(&again));
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
