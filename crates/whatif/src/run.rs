//! One run in the lab, seen as a capture taken where the real one was.

use crate::constants::{DISCARD_PORT, MAX_EVENTS, MAX_RUN_EVENTS};
use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use coax_client::Direction;
use coax_explain::report::Vantage;
use coax_lab::{
    Setup, Side, Tap, World,
    apps::bulk_in,
    scenario::{Scenario, parts},
    smb::{CopySetup, copy_within},
};
use toml::Value;

use crate::{Why, observation::Observation, used::Set};

/// Where and how runs are made.
#[derive(Clone, Debug)]
pub(crate) struct Bench {
    pub(crate) tap: Tap,
    /// Bytes that are copied; what happens beyond is more of the same.
    pub(crate) bytes: u64,
    /// Whether it is data that goes one way, without SMB.
    pub(crate) is_bulk: bool,
    /// The lab's events of all runs until now.
    pub(crate) spent: Arc<AtomicU64>,
    /// What was run already, by the values that make it what it is: the same values give the same run.
    pub(crate) known: Known,
}

/// See [`Bench::known`].
#[derive(Clone, Default)]
pub(crate) struct Known(Arc<Mutex<HashMap<String, Result<Observation, Why>>>>);

impl Known {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Result<Observation, Why>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} runs", self.lock().len())
    }
}

impl Bench {
    /// Runs what these values describe, the later before the earlier.
    pub(crate) fn run(&self, sets: &[Set], changes: &[Set], seed: u64) -> Result<Observation, Why> {
        const OF_SMB: [&str; 2] = ["client.profile", "server.config"];
        let is_of_smb = |(path, _): &Set| OF_SMB.iter().any(|part| path.starts_with(part));
        if self.is_bulk && changes.iter().any(is_of_smb) {
            return Err(Why::NoSmb);
        }
        let mut scenario = Scenario::new("the model of the copy");
        let size = i64::try_from(self.bytes).unwrap_or(i64::MAX);
        let own = [
            ("size".to_owned(), Value::Integer(size)),
            ("seed".to_owned(), Value::Integer(seed as i64)),
        ];
        let kept = sets.iter().filter(|(path, _)| !is_replaced(path, changes));
        for (path, value) in kept.chain(changes).chain(&own) {
            scenario.set(path, value.clone()).map_err(lab)?;
        }
        let values = scenario.parameters().into_iter();
        let values: String = values
            .map(|(key, value)| key + "=" + &value + "\n")
            .collect();
        if let Some(seen) = self.known.lock().get(&values) {
            return seen.clone();
        }
        let seen = self.made(&scenario);
        self.known.lock().insert(values, seen.clone());
        seen
    }

    fn made(&self, scenario: &Scenario) -> Result<Observation, Why> {
        let mut setup = CopySetup::of(scenario).map_err(lab)?;
        setup.taps = vec![self.tap];
        let spent = self.spent.load(Ordering::Relaxed);
        let left = MAX_EVENTS.saturating_sub(spent);
        if left == 0 {
            return Err(Why::TooMuch);
        }
        let most = left.min(MAX_RUN_EVENTS);
        let (seen, events) = if self.is_bulk {
            sent(&setup, most)
        } else {
            seen(&setup, most)
        };
        self.spent.fetch_add(events, Ordering::Relaxed);
        seen
    }
}

fn lab(error: impl std::fmt::Display) -> Why {
    Why::Lab(error.to_string())
}

/// Whether another part was chosen in place of the one that `path` lies in.
fn is_replaced(path: &str, changes: &[Set]) -> bool {
    let chosen = parts().filter(|part| changes.iter().any(|(path, _)| path == part));
    let mut within = chosen.filter_map(|part| path.strip_prefix(part));
    within.any(|rest| rest.starts_with('.'))
}

/// What a capture of it shows, and how many events it took.
fn seen(setup: &CopySetup, most: u64) -> (Result<Observation, Why>, u64) {
    let mut result = copy_within(setup, most);
    let events = result.world.events();
    if let Err(why) = result.copied {
        let why = if events > most {
            Why::TooMuch
        } else {
            Why::Lab(why)
        };
        return (Err(why), events);
    }
    let capture = result.world.captures().pop().unwrap_or_default();
    (read(&capture), events)
}

/// The same of as many bytes sent one way without SMB.
fn sent(setup: &CopySetup, most: u64) -> (Result<Observation, Why>, u64) {
    let mut world = World::new(&Setup {
        port: DISCARD_PORT,
        ..setup.world.clone()
    });
    world.record(&setup.taps);
    world.allow(most);
    let from = match setup.direction {
        Direction::ToServer => Side::Client,
        Direction::ToClient => Side::Server,
    };
    let mut result = bulk_in(&mut world, from, setup.size, setup.limit).finish(world);
    let events = result.world.events();
    if result.bytes < setup.size {
        let why = if events > most {
            Why::TooMuch
        } else {
            Why::Lab("the data does not arrive".to_owned())
        };
        return (Err(why), events);
    }
    let capture = result.world.captures().pop().unwrap_or_default();
    (read(&capture), events)
}

fn read(capture: &[u8]) -> Result<Observation, Why> {
    let capture = coax_explain::explain(capture).map_err(lab)?;
    let copy = capture.copies.iter().max_by_key(|copy| copy.bytes);
    copy.and_then(|copy| Observation::of(&capture, copy))
        .ok_or(Why::TooLittle("the model's own copy is not in its capture"))
}

/// Where the model's captures are taken.
pub(crate) const fn tap(vantage: Option<Vantage>) -> Tap {
    match vantage {
        Some(Vantage::Server) => Tap::Server,
        Some(Vantage::Client) => Tap::Client,
        Some(Vantage::Between) | None => Tap::Wire,
    }
}
