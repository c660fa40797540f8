//! The runner on the stable compiler: mutated seeds through a target for a while.

use crate::{
    mutate::{Random, mutated},
    targets::Target,
};
use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// How long one input may take before it counts as a hang.
const HANG: Duration = Duration::from_secs(20);

/// What a run found.
#[derive(Debug)]
pub struct Outcome {
    /// Inputs run.
    pub executions: u64,
    /// Where the input that made the target panic lies.
    pub finding: Option<PathBuf>,
}

struct Current<'a> {
    input: Mutex<Option<(Instant, Vec<u8>)>>,
    done: AtomicBool,
    keep: &'a Path,
    name: &'a str,
}

/// Runs the seeds and then mutations of them until `span` is over or the target panics. An input that hangs ends the
/// process, as nothing else can; input and name are kept in `keep` first.
pub fn run(target: &Target, span: Duration, seed: u64, keep: &Path) -> Outcome {
    let current = Current {
        input: Mutex::new(None),
        done: AtomicBool::new(false),
        keep,
        name: target.name,
    };
    std::thread::scope(|scope| {
        scope.spawn(|| watch(&current));
        let outcome = feed(target, span, seed, &current);
        current.done.store(true, Ordering::SeqCst);
        outcome
    })
}

fn feed(target: &Target, span: Duration, seed: u64, current: &Current<'_>) -> Outcome {
    let mut random = Random(seed);
    let mut seeds = (target.seeds)();
    seeds.push(Vec::new());
    let end = Instant::now() + span;
    let mut executions = 0;
    while executions < seeds.len() as u64 || Instant::now() < end {
        let input = match seeds.get(executions as usize) {
            Some(seed) => seed.clone(),
            None => mutated(&seeds, &mut random),
        };
        *current.input.lock().unwrap() = Some((Instant::now(), input.clone()));
        executions += 1;
        if catch_unwind(AssertUnwindSafe(|| (target.feed)(&input))).is_err() {
            let finding = Some(keep(current, "panic", &input));
            return Outcome {
                executions,
                finding,
            };
        }
    }
    Outcome {
        executions,
        finding: None,
    }
}

fn watch(current: &Current<'_>) {
    while !current.done.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(50));
        let slow = current.input.lock().unwrap().clone();
        if let Some((_, input)) = slow.filter(|(since, _)| since.elapsed() > HANG) {
            let path = keep(current, "hang", &input);
            eprintln!("{} hangs on {}", current.name, path.display());
            std::process::exit(1);
        }
    }
}

fn keep(current: &Current<'_>, what: &str, input: &[u8]) -> PathBuf {
    let sum = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let path = current
        .keep
        .join(format!("{}-{what}-{sum:016x}", current.name));
    let _ = fs::create_dir_all(current.keep);
    if let Err(error) = fs::write(&path, input) {
        eprintln!("{}: {error}; the input is {input:02x?}", path.display());
    }
    path
}
