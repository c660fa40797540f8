//! What can be done about a slow copy: entries of `data/advice` whose conditions a copy meets.

use std::sync::OnceLock;

pub use coax_catalog::advice::{Place, RuleEdit};
use coax_catalog::advice::{Rule, RuleChange, rules};
use coax_cause::{Account, Cause};
use coax_wire::time::Span;

use super::{condition::Condition, facts::Facts, slow::facts_of, vocabulary::word};
use crate::report::{Capture, Copy, Operation};

/// Packets named with a piece of advice.
const MOST_FRAMES: usize = 8;
/// Remarks made about one capture.
const MOST_REMARKS: usize = 100;

/// Something to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// On which machine.
    pub on: Place,
    /// File, section and key, registry path and value, or menu.
    pub where_: String,
    /// What to change it to.
    pub to: String,
    /// What else is to be known.
    pub note: Option<String>,
    /// The same as lines of configuration files; none if coax edits none of these.
    pub edits: Vec<RuleEdit>,
}

/// A piece of advice about one copy.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Its name in `data/advice`.
    pub id: String,
    /// What to do, in a few words.
    pub title: String,
    /// Of the causes that it is against, the one that took most of this copy.
    pub cause: Cause,
    /// How much of the copy's time these causes took, of 1: no more than this can be gained.
    pub share: f64,
    /// Why, with the figures of this copy.
    pub why: String,
    /// What to change; each is enough by itself unless its note says otherwise.
    pub changes: Vec<Change>,
    /// Where it is written.
    pub source: String,
    /// What to set in a lab's scenario to try it; empty if the lab cannot.
    pub lab: Vec<(String, toml::Value)>,
    /// Values beside them that may be as right, with which the copy takes longer.
    pub lab_slowest: Vec<(String, toml::Value)>,
    /// The same, with which it is faster.
    pub lab_fastest: Vec<(String, toml::Value)>,
    /// Packets to look at.
    pub frames: Vec<u64>,
}

/// An entry of `data/advice`.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub id: String,
    title: String,
    causes: Vec<Cause>,
    /// Causes that it also shortens, which do not count for its place among others.
    also: Vec<Cause>,
    least_share: f64,
    when: Vec<Condition>,
    why: String,
    changes: Vec<Written>,
    source: String,
    lab: Vec<(String, toml::Value)>,
    lab_slowest: Vec<(String, toml::Value)>,
    lab_fastest: Vec<(String, toml::Value)>,
}

/// All entries: the rules of `data/advice`.
///
/// # Panics
/// A rule names what is not known. The tests of this crate take every rule, so no build that passed them panics.
#[allow(clippy::panic)]
pub fn entries() -> &'static [Entry] {
    static ENTRIES: OnceLock<Vec<Entry>> = OnceLock::new();
    let entry = |rule: &Rule| match Entry::new(rule.clone()) {
        Ok(entry) => entry,
        Err(what) => panic!("data/advice: {}: {what}", rule.id),
    };
    ENTRIES.get_or_init(|| rules().iter().map(entry).collect())
}

impl Entry {
    fn new(rule: Rule) -> Result<Self, String> {
        let conditions = rule.when.iter().map(|text| Condition::parse(text));
        for name in blanks(&rule.why) {
            word(name).ok_or_else(|| format!("there is no fact {name:?}"))?;
        }
        let changes = rule.changes.into_iter().map(Written::new);
        Ok(Self {
            causes: rule.causes.iter().map(cause).collect::<Result<_, _>>()?,
            also: rule.also.iter().map(cause).collect::<Result<_, _>>()?,
            when: conditions.collect::<Result<_, _>>()?,
            id: rule.id,
            title: rule.title,
            least_share: rule.least_share,
            why: rule.why,
            changes: changes.collect::<Result<_, _>>()?,
            source: rule.source,
            lab: rule.lab.into_iter().collect(),
            lab_slowest: rule.lab_slowest.into_iter().collect(),
            lab_fastest: rule.lab_fastest.into_iter().collect(),
        })
    }

    /// What to set in a lab's scenario to try it.
    pub fn lab(&self) -> &[(String, toml::Value)] {
        &self.lab
    }

    /// Values beside those of `lab`, with which the copy takes longer.
    pub fn lab_slowest(&self) -> &[(String, toml::Value)] {
        &self.lab_slowest
    }

    /// The same, with which it is faster.
    pub fn lab_fastest(&self) -> &[(String, toml::Value)] {
        &self.lab_fastest
    }

    /// Where it is written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// How many changes it knows.
    pub fn changes(&self) -> usize {
        self.changes.len()
    }

    /// The advice for a copy of which these are the facts, if it is any.
    pub fn for_copy(&self, facts: &Facts, copy: &Copy) -> Option<Advice> {
        self.for_account(facts, &copy.account, copy.wall)
    }

    /// The same for a copy that took `wall` and whose time is `account`.
    pub fn for_account(&self, facts: &Facts, account: &Account, wall: Span) -> Option<Advice> {
        if self.causes.is_empty() {
            return None;
        }
        let all = self.causes.iter().chain(&self.also);
        let share = share_of(all.clone(), account, wall);
        if share * 100.0 < self.least_share || !self.holds(facts) {
            return None;
        }
        let cause = all.copied().max_by_key(|cause| account.get(*cause).0);
        self.told(facts, cause.unwrap_or(Cause::Unattributed), share)
    }

    /// The remark about a connection of which these are the facts, if it is any.
    pub fn for_connection(&self, facts: &Facts) -> Option<Advice> {
        let is_remark = self.causes.is_empty() && self.holds(facts);
        is_remark
            .then(|| self.told(facts, Cause::Unattributed, 0.0))
            .flatten()
    }

    /// The advice about a slow operation of which these are the facts, if it is any.
    pub fn for_operation(&self, facts: &Facts) -> Option<Advice> {
        const OF_OPERATION: &str = "operation.";
        let mut conditions = self.when.iter();
        let is_for_operations = conditions.any(|when| when.fact.starts_with(OF_OPERATION));
        is_for_operations
            .then(|| self.for_connection(facts))
            .flatten()
    }

    /// Whether all its conditions hold.
    pub fn holds(&self, facts: &Facts) -> bool {
        self.when.iter().all(|when| when.holds(facts))
    }

    fn told(&self, facts: &Facts, cause: Cause, share: f64) -> Option<Advice> {
        let changes = self.changes.iter().filter(|change| change.is_for(facts));
        let changes: Vec<Change> = changes.map(|change| change.change.clone()).collect();
        if changes.is_empty() {
            return None;
        }
        let mut frames: Vec<u64> = self
            .when
            .iter()
            .flat_map(|when| facts.frames(&when.fact))
            .collect();
        frames.sort_unstable();
        frames.dedup();
        frames.truncate(MOST_FRAMES);
        Some(Advice {
            id: self.id.clone(),
            title: self.title.clone(),
            cause,
            share,
            why: filled(&self.why, facts),
            changes,
            source: self.source.clone(),
            lab: self.lab.clone(),
            lab_slowest: self.lab_slowest.clone(),
            lab_fastest: self.lab_fastest.clone(),
            frames,
        })
    }
}

/// A change and its condition.
#[derive(Clone, Debug)]
struct Written {
    change: Change,
    when: Vec<Condition>,
}

impl Written {
    fn new(rule: RuleChange) -> Result<Self, String> {
        let conditions = rule.when.iter().map(|text| Condition::parse(text));
        let when = conditions.collect::<Result<_, _>>()?;
        let change = Change {
            on: rule.on,
            where_: rule.r#where,
            to: rule.to,
            note: rule.note,
            edits: rule.edits,
        };
        Ok(Self { change, when })
    }

    fn is_for(&self, facts: &Facts) -> bool {
        let may_hold = |when: &Condition| facts.get(&when.fact).is_none() || when.holds(facts);
        self.when.iter().all(may_hold)
    }
}

fn cause(name: &String) -> Result<Cause, String> {
    let known = Cause::ALL.into_iter().find(|cause| cause.name() == name);
    known.ok_or_else(|| format!("there is no cause {name:?}"))
}

/// The names in braces.
fn blanks(text: &str) -> impl Iterator<Item = &str> {
    text.split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}'))
        .map(|(name, _)| name)
}

fn filled(text: &str, facts: &Facts) -> String {
    let mut out = text.to_owned();
    for name in blanks(text) {
        let value = facts.get(name).map_or("?".to_owned(), ToString::to_string);
        out = out.replace(&format!("{{{name}}}"), &value);
    }
    out
}

/// What can be done about a copy: what is against the most of its time first, of equals what asks for more.
pub fn advise(capture: &Capture, copy: &Copy) -> Vec<Advice> {
    advise_account(&Facts::of(capture, copy), &copy.account, copy.wall)
}

/// The part of `wall` that these causes took.
fn share_of<'a>(causes: impl Iterator<Item = &'a Cause>, account: &Account, wall: Span) -> f64 {
    let spent = causes.map(|cause| account.get(*cause).0);
    spent.sum::<u64>() as f64 / wall.0.max(1) as f64
}

/// The same for a copy of which these are the facts, that took `wall` and whose time is `account`.
pub fn advise_account(facts: &Facts, account: &Account, wall: Span) -> Vec<Advice> {
    let told = |entry: &Entry| {
        Some(Found {
            share: share_of(entry.causes.iter(), account, wall),
            asked: entry.when.len(),
            advice: entry.for_account(facts, account, wall)?,
        })
    };
    most_promising_first(entries().iter().filter_map(told).collect())
}

/// Advice, the share of its own causes, and how much it asks for.
struct Found {
    share: f64,
    asked: usize,
    advice: Advice,
}

fn most_promising_first(mut found: Vec<Found>) -> Vec<Advice> {
    found.sort_by(|a, b| b.share.total_cmp(&a.share).then(b.asked.cmp(&a.asked)));
    found.into_iter().map(|one| one.advice).collect()
}

/// What can be done about a slow operation, what asks for most first.
pub fn advise_operation(capture: &Capture, operation: &Operation) -> Vec<Advice> {
    let Some(connection) = capture.connections.get(operation.connection) else {
        return Vec::new();
    };
    // a print job may wait for its open and for its close: each can be shortened
    let facts: Vec<Facts> = match operation.waits.is_empty() {
        true => vec![facts_of(connection, operation, None)],
        false => operation
            .waits
            .iter()
            .map(|wait| facts_of(connection, operation, Some(wait)))
            .collect(),
    };
    let told = |entry: &Entry| {
        let advice = facts.iter().find_map(|facts| entry.for_operation(facts))?;
        Some(Found {
            share: advice.share,
            asked: entry.when.len(),
            advice,
        })
    };
    most_promising_first(entries().iter().filter_map(told).collect())
}

/// What else is amiss: of each connection by its place, what an entry without causes says. It took no copy's time, or
/// kept a copy from being made at all.
pub fn remarks(capture: &Capture) -> Vec<(usize, Advice)> {
    let mut found = Vec::new();
    for (place, connection) in capture.connections.iter().enumerate() {
        let facts = Facts::of_connection(connection);
        let told = entries()
            .iter()
            .filter_map(|entry| entry.for_connection(&facts));
        found.extend(told.map(|advice| (place, advice)));
        if found.len() >= MOST_REMARKS {
            break;
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn only(text: &str) -> Entry {
        let rules = coax_catalog::advice::parse("a test", text);
        Entry::new(rules.unwrap().remove(0)).unwrap()
    }

    const ENTRY: &str = r#"
        [[advice]]
        id = "a"
        title = "Do this"
        causes = []
        when = ["block.usual >= 512", "block.largest >= 512", "raw-read.offered == yes"]
        why = "{block.usual} bytes"
        source = "a test"
        case = { facts = {}, not = [] }

        [[advice.change]]
        on = "client"
        where = "everywhere"
        to = "1"

        [[advice.change]]
        on = "server"
        where = "in large files"
        to = "2"
        when = "block.largest >= 4096"
    "#;

    fn facts(largest: Option<u64>) -> Facts {
        let mut facts = Facts::default();
        facts.seen("block.usual", 512_u64, [9, 4]);
        facts.seen("raw-read.offered", true, [4]);
        facts.set("block.largest", largest.unwrap_or(512));
        facts
    }

    #[test]
    fn a_change_that_is_for_others_is_left_out_and_frames_are_told_once_and_in_order() {
        let places = |largest| {
            let told = only(ENTRY).for_connection(&facts(Some(largest))).unwrap();
            assert_eq!((told.why.as_str(), told.frames), ("512 bytes", vec![4, 9]));
            told.changes.into_iter().map(|change| change.to).collect()
        };
        let (small, large): (Vec<_>, Vec<_>) = (places(512), places(4096));
        assert_eq!(small, ["1"]);
        assert_eq!(large, ["1", "2"]);
    }

    #[test]
    fn what_is_against_more_time_comes_first_and_of_equals_what_asks_for_more() {
        let advice = only(ENTRY).for_connection(&facts(None)).unwrap();
        let found = [
            ("low", 9, 0.2),
            ("equal", 1, 0.5),
            ("more", 3, 0.5),
            ("high", 1, 0.9),
        ]
        .map(|(id, asked, share)| {
            let id = id.to_owned();
            let advice = Advice {
                id,
                ..advice.clone()
            };
            Found {
                share,
                asked,
                advice,
            }
        });
        let found = most_promising_first(found.into_iter().collect());
        let order: Vec<_> = found.iter().map(|advice| advice.id.as_str()).collect();
        assert_eq!(order, ["high", "more", "equal", "low"]);
    }
}
