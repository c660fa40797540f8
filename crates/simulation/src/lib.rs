//! Deterministic simulation: the server's engine, several clients and faulty disks in virtual time, driven by one seed and
//! checked against a small model.
//!
//! [`run`] makes a random program from the seed ([`program`]) and runs it against the real `coax_server::Connection`
//! ([`world`]). It judges every answer, and the disks after every step ([`model`], the specification). A failing
//! program is minimised ([`shrink`]).
#![deny(missing_docs)]
#![allow(
    clippy::indexing_slicing,
    reason = "a test harness: an index out of range is a failure like any other, and is reported with its seed"
)]

pub mod client;
pub mod disk;
pub mod model;
pub mod op;
pub mod program;
pub mod reply;
pub mod rng;
pub mod rules;
pub mod shrink;
pub mod speak;
pub mod week;
pub mod world;

use rng::Rng;
use std::panic::{AssertUnwindSafe, catch_unwind};
use world::{Figures, World};

/// The number of steps of a program.
pub const STEPS: usize = 150;

/// A failed program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The violated rule.
    pub what: String,
    /// A log, one event a line, if requested.
    pub log: Vec<String>,
}

impl Failure {
    /// The kind of failure: the message without step, names and numbers.
    #[must_use]
    pub fn kind(&self) -> String {
        let what = self
            .what
            .split_once(": ")
            .map_or(self.what.as_str(), |(_, what)| what);
        let end = what.find(['(', '{', '[']).unwrap_or(what.len());
        let is_word = |word: &&str| {
            word.starts_with("0x")
                || !word.contains(|c: char| c.is_ascii_digit() || "./".contains(c))
        };
        let words: Vec<&str> = what[..end].split(' ').filter(is_word).collect();
        words.join(" ")
    }
}

/// Runs all steps of a seed's program, or those in `keep`.
///
/// # Errors
/// The rule that the server violated.
pub fn run(seed: u64, keep: Option<&[usize]>, verbose: bool) -> Result<Figures, Failure> {
    let mut world = World::new(&mut Rng::new(seed, 0), verbose);
    let steps: Vec<usize> = keep.map_or_else(|| (0..STEPS).collect(), <[usize]>::to_vec);
    let result = catch_unwind(AssertUnwindSafe(|| play(&mut world, seed, &steps)));
    let log = world.log.take().unwrap_or_default();
    match result {
        Ok(Ok(figures)) => Ok(figures),
        Ok(Err(what)) => Err(Failure { what, log }),
        Err(_) => Err(Failure {
            what: "a panic".into(),
            log,
        }),
    }
}

fn play(world: &mut World, seed: u64, steps: &[usize]) -> Result<Figures, String> {
    let mut rng = Rng::new(seed, 1);
    for client in 0..world.clients.len() {
        let user = [None, Some("ann"), Some("bob")][rng.below(3)];
        let share = rules::SHARES
            .iter()
            .position(|rule| rule.access(user) == coax_server::share::Access::Write);
        world.connect(client, user, share.unwrap_or_default())?;
    }
    for step in steps {
        let mut rng = Rng::new(seed, *step as u64 + 2);
        program::step(world, &mut rng).map_err(|what| format!("step {step}: {what}"))?;
    }
    world.finish().map_err(|what| format!("at the end: {what}"))
}
