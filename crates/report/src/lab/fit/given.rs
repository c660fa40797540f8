//! From arguments to an estimate, for the command line and for Python.

use std::{
    fmt::Write as _,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};
use coax_fit::{Estimate, Input, Kind, Options, Problem, Setting, Unknown, estimate, input};
use coax_lab::scenario::{Scenario, parse_value};
use serde_json::Value;

use super::{json, simulate_while, text};
use crate::lab::{keys, named::named};

/// Most bytes of a file of measurements.
const MOST_BYTES: u64 = 64 << 20;

/// Measurements, and what is known, unknown and to be predicted. docs/fit.md explains the formats.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Files with measured copies.
    pub files: Vec<PathBuf>,
    /// More measurements, in the format of a file: its name in messages and its contents.
    pub texts: Vec<(String, String)>,
    /// The scenario with all known values, a file or a name; `None`: that of the files, or a modern client.
    pub scenario: Option<String>,
    /// Unknown values, `KEY` or `KEY=RANGE`; none: those of the files, or the usual ones.
    pub unknown: Vec<String>,
    /// Known values, `KEY=VALUE`.
    pub set: Vec<String>,
    /// Copies to predict, `KEY=VALUE,KEY=VALUE`.
    pub predict: Vec<String>,
}

/// An estimate, and what of the measurements was not used.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The estimate.
    pub found: Estimate,
    /// What a file contains that was not used, and why.
    pub left_out: Vec<String>,
}

impl Given {
    /// Estimates. Files of more than `cap` bytes are simulated in part ([`coax_fit::seconds`]). `None` if `goes_on` said no after a
    /// simulated copy.
    ///
    /// # Errors
    /// A file cannot be read, or a name, key or value is wrong.
    pub fn estimate(
        &self,
        options: &Options,
        cap: u64,
        goes_on: &(impl Fn() -> bool + Sync),
    ) -> Result<Option<Fit>> {
        let input = self.read()?;
        let left_out = input.left_out.clone();
        let problem = self.problem(input)?;
        // without its copies the estimate fails soon, and nobody waits for it
        let mut simulate = |runs: &[_]| {
            simulate_while(runs, cap, goes_on).unwrap_or_else(|| vec![None; runs.len()])
        };
        let found = estimate(&problem, options, &mut simulate);
        match goes_on() {
            true => Ok(Some(Fit {
                found: found?,
                left_out,
            })),
            false => Ok(None),
        }
    }

    fn read(&self) -> Result<Input> {
        let mut all = Input::default();
        for path in &self.files {
            input::add(&mut all, &path.display().to_string(), &contents(path)?)?;
        }
        for (name, text) in &self.texts {
            input::add(&mut all, name, text)?;
        }
        Ok(all)
    }

    fn problem(&self, input: Input) -> Result<Problem> {
        let mut base = match self.scenario.as_ref().or(input.scenario.as_ref()) {
            Some(name) => named(name)?.scenario,
            None => Scenario::new("command line"),
        };
        base.change(&input.set, &Default::default())?;
        for assignment in &self.set {
            keys::set_text(&mut base, assignment)?;
        }
        let given = self.unknown.iter().map(|text| Unknown::parse(text));
        let unknowns = match (self.unknown.is_empty(), input.unknowns.is_empty()) {
            (false, _) => given.collect::<Result<_>>()?,
            (true, false) => input.unknowns,
            (true, true) => input::usual()?,
        };
        let mut wanted = input.wanted;
        for text in &self.predict {
            wanted.push(prediction(text)?);
        }
        Ok(Problem {
            base,
            unknowns,
            measured: input.measured,
            wanted,
        })
    }
}

impl Fit {
    /// What `coax lab fit --json` prints.
    pub fn json(&self) -> Value {
        json(&self.found, &self.left_out)
    }

    /// What `coax lab fit` prints.
    pub fn text(&self) -> String {
        let mut text = text(&self.found);
        for line in &self.left_out {
            // writing to a string does not fail
            let _ = writeln!(text, "Left out: {line}.");
        }
        text
    }
}

fn contents(path: &Path) -> Result<String> {
    let name = path.display();
    let about = || format!("cannot read {name}");
    let mut bytes = Vec::new();
    let file = fs::File::open(path).with_context(about)?;
    file.take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .with_context(about)?;
    ensure!(
        bytes.len() as u64 <= MOST_BYTES,
        "{name}: a file of measurements has at most 64 MiB"
    );
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// `KEY=VALUE,KEY=VALUE`.
fn prediction(text: &str) -> Result<Setting> {
    let mut changes = toml::Table::new();
    let mut client = None;
    for assignment in text.split(',') {
        let (key, value) = assignment
            .split_once('=')
            .with_context(|| format!("--predict '{text}': write KEY=VALUE,KEY=VALUE, such as direction=to-server,size=42MB"))?;
        match key.trim() {
            "client" => client = Some(value.trim().to_owned()),
            key => input::put(&mut changes, keys::whole(key), parse_value(value)),
        }
    }
    Ok(Setting {
        name: text.to_owned(),
        kind: Kind::Copy,
        client,
        changes,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    const OPTIONS: Options = Options {
        members: 8,
        seed: 1,
        deviation: 0.03,
    };

    fn given() -> Given {
        let copies = "name,seconds,size,direction\nread,2.0,1MB,to-client\n";
        Given {
            texts: vec![("measured".into(), copies.into())],
            scenario: Some("wfw-486".into()),
            unknown: vec!["client.packet".into()],
            predict: vec!["direction=to-server,size=1MB".into()],
            ..Given::default()
        }
    }

    #[test]
    fn an_estimate_that_is_stopped_is_none() {
        let stopped = given().estimate(&OPTIONS, 100_000, &|| false).unwrap();
        assert!(stopped.is_none());
        let fit = given()
            .estimate(&OPTIONS, 100_000, &|| true)
            .unwrap()
            .unwrap();
        assert_eq!(
            fit.json()["predictions"][0]["name"],
            "direction=to-server,size=1MB"
        );
    }

    #[test]
    fn texts_and_files_are_named_in_messages() {
        let mut wrong = given();
        wrong.texts = vec![("measured".into(), "seconds,size\nsoon,1MB\n".into())];
        let error = wrong.estimate(&OPTIONS, 100_000, &|| true).unwrap_err();
        let text = format!("{error:#}");
        assert!(
            text.starts_with("measured: line 2: seconds: 'soon'"),
            "{text}"
        );
        wrong = given();
        wrong.files = vec!["no/where.toml".into()];
        let error = wrong.estimate(&OPTIONS, 100_000, &|| true).unwrap_err();
        assert!(format!("{error:#}").starts_with("cannot read no/where.toml"));
    }
}
