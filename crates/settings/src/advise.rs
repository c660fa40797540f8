//! Which settings of these files would make a copy faster.
//!
//! A coarse grid first: every setting is given each of its candidate values alone. The best change is kept, and the others are
//! tried beside it, until no further one gains [`LEAST_GAIN`]. Numbers that were chosen are then varied between their neighbours.

use coax_catalog::scenario::Scenario;

use crate::{
    draft::{Done, Draft},
    file::File,
    import::{Effect, Import, Role, effect},
    table::{Setting, settings},
};

/// A change that gains less than this part of the time is not worth a restart.
const LEAST_GAIN: f64 = 0.02;
/// At most this many changes.
const MOST_STEPS: usize = 6;

/// A change.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The file.
    pub file: String,
    /// The line, as `KEY = VALUE`.
    pub line: String,
    /// Seconds of the copy with the changes before this one,
    pub before_s: f64,
    /// and with it.
    pub after_s: f64,
    /// What else it costs or needs, where it is known.
    pub note: Option<&'static str>,
    /// The source of the setting.
    pub source: &'static str,
}

/// What the search has found.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Seconds of the copy as the files are.
    pub now_s: f64,
    /// Changes, the most useful first.
    pub steps: Vec<Step>,
    /// The changed lines, a unified diff of the files.
    pub diff: String,
    /// Simulated copies.
    pub runs: usize,
}

/// A setting that may be changed, and where.
#[derive(Clone, Copy)]
struct Knob<'a> {
    file: &'a File,
    role: Role,
    setting: &'static Setting,
}

struct Choice<'a> {
    knob: Knob<'a>,
    value: String,
    seconds: f64,
}

/// Searches. `run` returns the seconds of each scenario, `None` for those that fail.
///
/// # Errors
/// The copy cannot be simulated as the files are.
pub fn advise(
    import: &Import,
    base: &Scenario,
    run: &mut dyn FnMut(&[Scenario]) -> Vec<Option<f64>>,
) -> Result<Advice, String> {
    let mut runs = 1;
    let now_s = run(std::slice::from_ref(base)).first().copied().flatten();
    let now_s =
        now_s.ok_or("the copy does not finish in the simulation with the settings as they are")?;
    let mut knobs: Vec<Knob<'_>> = knobs(import);
    let (mut scenario, mut seconds) = (base.clone(), now_s);
    let mut chosen: Vec<(Choice<'_>, f64)> = Vec::new();
    while chosen.len() < MOST_STEPS {
        let trials = trials(&knobs, &scenario);
        runs += trials.len();
        let Some(mut best) =
            fastest(&trials, run).filter(|best| best.seconds <= seconds * (1.0 - LEAST_GAIN))
        else {
            break;
        };
        runs += refine(&mut best, &scenario, run);
        scenario = with(&scenario, best.knob, &best.value).unwrap_or(scenario);
        knobs.retain(|knob| !std::ptr::eq(knob.setting, best.knob.setting));
        let before = std::mem::replace(&mut seconds, best.seconds);
        chosen.push((best, before));
    }
    Ok(Advice {
        now_s,
        diff: diffs(import, &chosen),
        steps: chosen.iter().map(step).collect(),
        runs,
    })
}

fn step((choice, before_s): &(Choice<'_>, f64)) -> Step {
    Step {
        file: choice.knob.file.name.clone(),
        line: format!("{} = {}", choice.knob.setting.key(), choice.value),
        before_s: *before_s,
        after_s: choice.seconds,
        note: choice.knob.setting.advice.as_deref(),
        source: &choice.knob.setting.source,
    }
}

/// The settings that belong into these files and have candidates.
fn knobs(import: &Import) -> Vec<Knob<'_>> {
    let mut knobs = Vec::new();
    for (file, role) in import.files() {
        for setting in settings() {
            let can = setting.set.is_some() && setting.file == file.kind.name();
            let first = setting.candidates.first();
            let has_place = |value: &String| {
                !matches!(Draft::of(file).set(setting, value, None), Done::NoPlace(_))
            };
            if can && first.is_some_and(has_place) {
                knobs.push(Knob {
                    file,
                    role: *role,
                    setting,
                });
            }
        }
    }
    knobs
}

fn with(scenario: &Scenario, knob: Knob<'_>, value: &str) -> Option<Scenario> {
    let Effect::Sets { values, .. } = effect(knob.setting, value, knob.role) else {
        return None;
    };
    let mut changed = scenario.clone();
    for (path, value) in values {
        changed.set(&path, value).ok()?;
    }
    changed.resolve().ok().map(|_| changed)
}

type Trial<'a> = (Knob<'a>, String, Scenario);

fn trials<'a>(knobs: &[Knob<'a>], scenario: &Scenario) -> Vec<Trial<'a>> {
    let mut trials = Vec::new();
    for knob in knobs {
        for value in &knob.setting.candidates {
            if let Some(changed) = with(scenario, *knob, value) {
                trials.push((*knob, value.clone(), changed));
            }
        }
    }
    trials
}

fn fastest<'a>(
    trials: &[Trial<'a>],
    run: &mut dyn FnMut(&[Scenario]) -> Vec<Option<f64>>,
) -> Option<Choice<'a>> {
    let scenarios: Vec<Scenario> = trials
        .iter()
        .map(|(.., scenario)| scenario.clone())
        .collect();
    let times = run(&scenarios);
    let done = trials
        .iter()
        .zip(times)
        .filter_map(|((knob, value, _), time)| {
            Some(Choice {
                knob: *knob,
                value: value.clone(),
                seconds: time?,
            })
        });
    done.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
}

/// Looks between the chosen number and the candidates beside it. Returns the number of runs.
fn refine(
    best: &mut Choice<'_>,
    scenario: &Scenario,
    run: &mut dyn FnMut(&[Scenario]) -> Vec<Option<f64>>,
) -> usize {
    let number = |text: &String| text.parse::<i64>().ok();
    let Some(chosen) = number(&best.value).filter(|_| best.knob.setting.map.is_empty()) else {
        return 0;
    };
    let known: Vec<i64> = best
        .knob
        .setting
        .candidates
        .iter()
        .filter_map(number)
        .collect();
    let between = known
        .iter()
        .filter(|other| **other != chosen)
        .map(|other| chosen.midpoint(*other));
    let trials: Vec<Trial<'_>> = between
        .filter_map(|value| {
            Some((
                best.knob,
                value.to_string(),
                with(scenario, best.knob, &value.to_string())?,
            ))
        })
        .collect();
    if let Some(finer) =
        fastest(&trials, run).filter(|finer| finer.seconds <= best.seconds * (1.0 - LEAST_GAIN))
    {
        *best = finer;
    }
    trials.len()
}

fn diffs(import: &Import, chosen: &[(Choice<'_>, f64)]) -> String {
    let mut text = String::new();
    for (file, _) in import.files() {
        let mut draft = Draft::of(file);
        let own = chosen
            .iter()
            .filter(|(choice, _)| std::ptr::eq(choice.knob.file, file));
        for (choice, _) in own {
            draft.set(choice.knob.setting, &choice.value, None);
        }
        text.push_str(&draft.diff());
    }
    text
}
