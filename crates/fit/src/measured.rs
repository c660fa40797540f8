//! Copies and transfers, measured or to be predicted.

use anyhow::{Context as _, Result, ensure};
use coax_catalog::tuned::Sources;
use coax_lab::scenario::Scenario;

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A copy by the client and server of the scenario.
    Copy,
    /// Raw TCP in one direction, as mTCP's SPDTEST and `coax speed` measure it.
    Stream,
}

/// A copy or transfer that differs from the scenario in some values.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The name in reports.
    pub name: String,
    /// Copy or raw TCP.
    pub kind: Kind,
    /// The client's profile with its usual stack and machine, if it is not the scenario's.
    pub client: Option<String>,
    /// The other values that differ from the scenario.
    pub changes: toml::Table,
}

impl Setting {
    /// The scenario with these changes.
    ///
    /// # Errors
    /// A key or value is invalid.
    pub fn scenario(&self, base: &Scenario) -> Result<Scenario> {
        let mut scenario = base.clone();
        let about = || self.name.clone();
        if let Some(client) = &self.client {
            scenario.choose_client(client).with_context(about)?;
        }
        scenario
            .change(&self.changes, &Sources::new())
            .with_context(about)?;
        Ok(scenario)
    }
}

/// Times of copies, seconds. Chosen: below, no program measures; above, a day and more, nobody waits.
const TIMES: std::ops::RangeInclusive<f64> = 1e-6..=1e5;

/// A setting with its measured time.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What was measured.
    pub setting: Setting,
    /// Its time in seconds.
    pub seconds: f64,
    /// Standard deviation of the measurement as a part of the time; `None` if unknown.
    pub spread: Option<f64>,
}

impl Measured {
    /// A measurement from one or several times: their mean, and the standard deviation of the mean.
    ///
    /// # Errors
    /// No time, or a time that no copy takes.
    pub fn new(setting: Setting, times: &[f64], spread: Option<f64>) -> Result<Self> {
        let name = setting.name.clone();
        ensure!(!times.is_empty(), "{name}: there is no time");
        for time in times {
            ensure!(
                TIMES.contains(time),
                "{name}: {time:e} s is not a time of a copy; write seconds from {:e} to {:e}",
                TIMES.start(),
                TIMES.end()
            );
        }
        if let Some(spread) = spread {
            ensure!(
                (0.0..1.0).contains(&spread),
                "{name}: a spread of {spread} is not possible; write it as a part of the time, such as 0.05 for 5 %"
            );
        }
        let count = times.len() as f64;
        let mean = times.iter().sum::<f64>() / count;
        let squares: f64 = times.iter().map(|time| (time / mean - 1.0).powi(2)).sum();
        let own = (times.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt());
        Ok(Self {
            setting,
            seconds: mean,
            spread: spread.or(own),
        })
    }
}
