//! Whose TCP an end of a connection runs, as far as its SYN tells, and what else was seen of it.

use std::sync::OnceLock;

use serde::Deserialize;

use super::{Evidence, Sureness};
use crate::report::{Connection, Habits, Side};
use coax_capture::SynFingerprint;

const RULES: &str = include_str!("../../../../data/stacks-guess.toml");
/// Options of a SYN that many stacks send are these at most: an MSS, or nothing.
const COMMON: usize = 1;

/// The TCP of one end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stack {
    /// What fits: entries of `data/stacks-guess.toml`, alike as far as can be told. Empty if none does.
    pub who: Vec<String>,
    /// How sure that is; never more than [`Sureness::Likely`].
    pub sure: Sureness,
    /// What was seen.
    pub evidence: Vec<Evidence>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    stack: Vec<Rule>,
}

/// A rule of `data/stacks-guess.toml`; every clue that it has must fit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    who: String,
    ttl: Option<u8>,
    #[serde(default)]
    syn: Vec<String>,
    #[serde(default)]
    answer: Vec<String>,
    window: Option<Vec<u16>>,
    mss: Option<Vec<u16>>,
    /// Where the clue was seen: for readers of the table.
    #[allow(dead_code)]
    source: String,
}

/// The rules. A test reads them; of a file with errors there are none.
fn rules() -> &'static [Rule] {
    static READ: OnceLock<Vec<Rule>> = OnceLock::new();
    READ.get_or_init(|| toml::from_str::<File>(RULES).map_or_else(|_| Vec::new(), |it| it.stack))
}

/// The TCP of the client and of the server.
pub(crate) fn recognise(connection: &Connection) -> [Stack; 2] {
    let one = |end: usize| -> Option<Stack> {
        let (side, habits) = (connection.sides.get(end)?, connection.habits.get(end)?);
        Some(of(side, habits, end == 1))
    };
    [0, 1].map(|end| one(end).unwrap_or_default())
}

fn of(side: &Side, habits: &Habits, answers: bool) -> Stack {
    let mut who: Vec<String> = Vec::new();
    if let Some(greeting) = &habits.greeting {
        let fitting = rules()
            .iter()
            .filter(|rule| rule.fits(greeting, side, answers));
        for rule in fitting {
            if !who.contains(&rule.who) {
                who.push(rule.who.clone());
            }
        }
    }
    let is_telling = habits.greeting.is_some_and(|it| it.layout.len() > COMMON);
    let sure = match who.len() {
        0 => Sureness::Unknown,
        1 if is_telling => Sureness::Likely,
        _ => Sureness::Like,
    };
    Stack {
        who,
        sure,
        evidence: seen(side, habits),
    }
}

impl Rule {
    fn fits(&self, greeting: &SynFingerprint, side: &Side, answers: bool) -> bool {
        let layouts = if answers { &self.answer } else { &self.syn };
        let layout = greeting.layout.to_string();
        let has = |allowed: &Option<Vec<u16>>, value: Option<u16>| {
            let fits = |allowed: &Vec<u16>| value.is_some_and(|value| allowed.contains(&value));
            allowed.as_ref().is_none_or(fits)
        };
        greeting.layout.is_whole()
            && layouts.contains(&layout)
            && self.ttl.is_none_or(|ttl| greeting.initial_ttl() == ttl)
            && has(&self.window, Some(greeting.window))
            && has(&self.mss, side.mss)
    }
}

fn seen(side: &Side, habits: &Habits) -> Vec<Evidence> {
    let mut all = Vec::new();
    let mut add = |what: String, frame: u64| {
        let frame = Some(frame).filter(|frame| *frame > 0);
        all.push(Evidence { what, frame });
    };
    if let Some(greeting) = &habits.greeting {
        add(greeted(greeting, side), habits.syn.unwrap_or_default());
    }
    if let (Some(every), true) = (habits.ack_every, side.segments > side.data_segments) {
        let every = match every {
            1 => "every segment".to_owned(),
            more => format!("every {more} segments"),
        };
        add(format!("acknowledges {every}, mostly"), 0);
    }
    if let Some(hold) = habits.hold {
        let times = match habits.held_acks.count {
            1 => "once".to_owned(),
            count => format!("{count} times"),
        };
        let ms = hold.0 / 1_000_000;
        let what = format!("held acknowledgments back for about {ms} ms, {times}");
        add(what, habits.held_acks.frame);
    }
    if let Some((wait, frame)) = habits.shortest_timer {
        let ms = wait.0 / 1_000_000;
        add(
            format!("its timer sent again after {ms} ms at the shortest"),
            frame,
        );
    }
    all
}

/// What its SYN says.
fn greeted(greeting: &SynFingerprint, side: &Side) -> String {
    let first = greeting.initial_ttl();
    let hops = match first.saturating_sub(greeting.ttl) {
        0 => String::new(),
        1 => " (1 hop away)".to_owned(),
        hops => format!(" ({hops} hops away)"),
    };
    let segments = side.mss.filter(|mss| *mss > 0).and_then(|mss| {
        let is_whole = greeting.window > 0 && greeting.window.is_multiple_of(mss);
        is_whole.then(|| format!(" ({} segments)", greeting.window / mss))
    });
    let options = match greeting.layout.to_string() {
        none if none.is_empty() => "none".to_owned(),
        some => some,
    };
    let scale = side.window_scale.map(|scale| format!(", scale {scale}"));
    format!(
        "TTL {first}{hops}, window {}{} in its SYN, options {options}{}{}",
        greeting.window,
        segments.unwrap_or_default(),
        side.mss.map_or(String::new(), |mss| format!(", MSS {mss}")),
        scale.unwrap_or_default()
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_read_and_has_a_clue_and_a_source() {
        let rules = toml::from_str::<File>(RULES).unwrap().stack;
        assert!(rules.len() >= 10);
        for rule in rules {
            let clues = rule.syn.len() + rule.answer.len();
            assert!(clues > 0 && !rule.source.is_empty(), "{}", rule.who);
            let beside = rule.ttl.is_some() || rule.mss.is_some();
            assert!(beside, "{}: options alone are many stacks'", rule.who);
        }
    }
}
