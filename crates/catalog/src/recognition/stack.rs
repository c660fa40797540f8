//! Which TCP an end of a connection runs, from its SYN.

use alloc::{string::String, vec::Vec};

use serde::Deserialize;
use spin::Once;

use super::text::read;
use crate::files::STACKS_GUESS;

/// Features of a SYN.
#[derive(Clone, Copy, Debug)]
pub struct StackFeatures<'a> {
    /// It answers a SYN.
    pub answers: bool,
    /// The options in their order, as the rules write them.
    pub options: &'a str,
    /// The initial TTL.
    pub first_ttl: u8,
    /// The window, unscaled.
    pub window: u16,
    /// The MSS, bytes.
    pub mss: Option<u16>,
}

/// A rule of `data/stacks-guess.toml`; every clue in it must fit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StackRule {
    pub(super) who: String,
    pub(super) ttl: Option<u8>,
    #[serde(default)]
    pub(super) syn: Vec<String>,
    #[serde(default)]
    pub(super) answer: Vec<String>,
    window: Option<Vec<u16>>,
    pub(super) mss: Option<Vec<u16>>,
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "the file must contain this match; it names several rules"
        )
    )]
    pub(super) source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    stack: Vec<StackRule>,
}

/// The rules, in the order of the file.
pub(super) fn rules() -> &'static [StackRule] {
    static RULES: Once<Rules> = Once::new();
    &RULES.call_once(|| read("stacks-guess", STACKS_GUESS)).stack
}

/// Every stack that fits, once.
pub fn stacks(features: &StackFeatures<'_>) -> Vec<&'static str> {
    let mut found: Vec<&str> = Vec::new();
    for rule in rules().iter().filter(|rule| rule.fits(features)) {
        if !found.contains(&rule.who.as_str()) {
            found.push(&rule.who);
        }
    }
    found
}

impl StackRule {
    fn fits(&self, features: &StackFeatures<'_>) -> bool {
        let layouts = if features.answers {
            &self.answer
        } else {
            &self.syn
        };
        let has = |allowed: &Option<Vec<u16>>, value: Option<u16>| {
            let fits = |allowed: &Vec<u16>| value.is_some_and(|value| allowed.contains(&value));
            allowed.as_ref().is_none_or(fits)
        };
        layouts.iter().any(|layout| layout == features.options)
            && self.ttl.is_none_or(|ttl| features.first_ttl == ttl)
            && has(&self.window, Some(features.window))
            && has(&self.mss, features.mss)
    }
}
