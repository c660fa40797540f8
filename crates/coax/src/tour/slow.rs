//! The third part: slow copies in the lab, captured at the client, and explained from the captures alone.

use anyhow::{Context as _, Result};
use coax_lab::Tap;

use super::event::Event;
use coax_report::{
    explain::{self, Explained},
    lab::{data, run},
};

/// A slow copy.
#[derive(Debug)]
pub struct Slow {
    /// The lab's scenario.
    pub scenario: &'static str,
    /// What that is of.
    pub title: String,
    /// What is changed in the scenario: keys and values.
    pub changes: &'static [(&'static str, &'static str)],
    /// What the lab knows to have taken most of the time, and its share of it.
    pub truth: (&'static str, f64),
}

impl Slow {
    /// The command that simulates it.
    pub fn command(&self) -> String {
        let sets = self.changes.iter();
        let sets = sets.map(|(key, value)| format!(" --set \"{key}={value}\""));
        format!("coax lab run {}{}", self.scenario, sets.collect::<String>())
    }
}

/// Scenarios, and what is changed in them: the size, so that the captures stay small, the way, and a path through a switch or
/// two, so that one cause stands out: without it server and path have the same share to a thousandth.
const CASES: [(&str, &[(&str, &str)]); 3] = [
    (
        "dos-dls-5.0-predir",
        &[
            ("size", "4MB"),
            ("direction", "to-client"),
            ("link.delay", "200 us"),
        ],
    ),
    (
        "dos-ms-net-full",
        &[("size", "2MB"), ("direction", "to-server")],
    ),
    ("wan-2000-to-nt", &[("size", "2MB")]),
];

pub(super) fn all(told: &mut dyn FnMut(Event<'_>)) -> Result<(Vec<Slow>, Vec<Explained>)> {
    let folder = tempfile::Builder::new()
        .prefix("coax-tour-")
        .tempdir()
        .context("there is no room for captures")?;
    let cases = CASES.into_iter();
    cases
        .map(|(name, changes)| {
            told(Event::Explaining(name));
            one(name, changes, folder.path()).with_context(|| format!("scenario {name}"))
        })
        .collect()
}

fn one(
    name: &'static str,
    changes: &'static [(&'static str, &'static str)],
    folder: &std::path::Path,
) -> Result<(Slow, Explained)> {
    let mut scenario = data::scenario(name)?;
    for (key, value) in changes {
        scenario.set(key, toml::Value::String((*value).to_owned()))?;
    }
    let (summary, capture, _) = run::run_captured(&scenario, Tap::Client)?;
    let path = folder.join(format!("{name}.pcapng"));
    std::fs::write(&path, capture).context("there is no room for captures")?;
    let mut explained = explain::read(&path, None)?;
    explained.name = format!("{name}.pcapng");
    let slow = Slow {
        scenario: name,
        title: summary.title.clone(),
        changes,
        truth: summary.dominant(),
    };
    Ok((slow, explained))
}
