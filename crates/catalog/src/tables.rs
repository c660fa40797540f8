//! Tables that compare published figures with those of the lab: `data/tables`. Each cell is a scenario: the name of
//! one in `data/scenarios`, changes with their sources, and the published figure to compare with. The files contain no figures of
//! the lab; [`Kind`] follows from the sources of a scenario's values.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

use serde::Deserialize;

pub use crate::tuned::Kind;

use crate::{
    component::ProfileError,
    files::{self, TABLES},
    read,
    scenario::Scenario,
    tuned::Sources,
};

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Unit {
    /// Duration of the copy in seconds.
    #[serde(rename = "s")]
    Seconds,
    /// 10^6 bits of file data per second.
    #[serde(rename = "Mbit/s")]
    Megabits,
    /// 10^3 bytes of file data per second.
    #[serde(rename = "kB/s")]
    Kilobytes,
    /// The rate of the copy divided by the rate of its reference run.
    #[serde(rename = "factor")]
    Factor,
}

impl Unit {
    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Megabits => "Mbit/s",
            Self::Kilobytes => "kB/s",
            Self::Factor => "factor",
        }
    }
}

/// A table as in its file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Table {
    /// Its title.
    pub title: String,
    /// The file of its figures in `data/published`.
    pub published: String,
    /// Introductory text.
    #[serde(default)]
    pub about: String,
    /// Published figures that the lab does not model.
    #[serde(default)]
    pub not_modelled: Vec<String>,
    /// The sources of the cells' values.
    #[serde(default)]
    pub sources: Sources,
    /// The cells.
    #[serde(rename = "cell", default)]
    pub cells: Vec<CellSpec>,
    /// The cells are the rows of SpdTest instead of copies.
    #[serde(default)]
    pub spdtest: bool,
    /// Why rows of SpdTest miss the published figure by more than 15 %, by the beginning of their names.
    #[serde(default)]
    pub misses: BTreeMap<String, String>,
    /// Why cells without a text of their own miss it.
    #[serde(default)]
    pub miss: Option<String>,
    /// A published excerpt of a capture to compare with the lab's capture.
    #[serde(default)]
    pub trace: Option<TraceSpec>,
}

/// A cell as in its file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CellSpec {
    /// Its name.
    pub id: String,
    /// The path in the published file; `None` for a prediction without a measurement.
    #[serde(default)]
    pub published: Option<String>,
    /// The unit of the figure.
    pub unit: Unit,
    /// The scenario.
    pub scenario: String,
    /// Changes to the scenario.
    #[serde(default)]
    pub set: toml::Table,
    /// Further changes for the reference run of a factor.
    #[serde(default)]
    pub against: toml::Table,
    /// The mechanism behind the figure, in one line.
    pub mechanism: String,
    /// Other explanations that fit equally well.
    #[serde(default)]
    pub equal: Option<String>,
    /// What would distinguish them.
    #[serde(default)]
    pub apart: Option<String>,
    /// Why the model misses the published figure by more than 15 %.
    #[serde(default)]
    pub miss: Option<String>,
    /// What would be known without this figure.
    #[serde(default)]
    pub without: Option<Without>,
}

/// A cell that is left out: the values that were tuned to it get other sources.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Without {
    /// Where the values come from then.
    pub about: String,
    /// These values.
    #[serde(default)]
    pub set: toml::Table,
    /// A value that is fitted again, to other cells.
    #[serde(default)]
    pub refit: Option<Refit>,
}

/// One quantity fitted to another cell of the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Refit {
    /// The keys that get the value, all the same one.
    pub keys: Vec<String>,
    /// The other cell.
    pub to: String,
    /// The unit of the value, such as `ns`.
    pub unit: String,
    /// The range of the search. A larger value makes the copy slower.
    pub range: (u32, u32),
}

impl CellSpec {
    /// Its full name, `TABLE/ID`.
    pub fn name(&self, table: &str) -> String {
        alloc::format!("{table}/{}", self.id)
    }

    /// Its scenario; with `against` that of the reference run.
    ///
    /// # Errors
    /// The scenario does not exist, or a change is not allowed.
    pub fn scenario(&self, sources: &Sources, against: bool) -> Result<Scenario, ProfileError> {
        let mut scenario = Scenario::built_in(&self.scenario)?;
        scenario.change(&self.set, sources)?;
        if against {
            scenario.change(&self.against, sources)?;
        }
        Ok(scenario)
    }
}

/// The excerpt and the scenario to compare with.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TraceSpec {
    /// The scenario.
    pub scenario: String,
    /// Changes to the scenario.
    #[serde(default)]
    pub set: toml::Table,
    /// The excerpt starts with the write at this file offset.
    pub from_offset: u32,
}

/// The table with this name.
///
/// # Errors
/// The name is unknown, or the file is invalid.
pub fn table(name: &str) -> Result<Table, ProfileError> {
    let text = files::find(TABLES, name).ok_or_else(|| ProfileError::Unknown {
        kind: "table",
        name: name.to_string(),
        known: files::names(TABLES),
    })?;
    read::text(text).map_err(|reason| ProfileError::Malformed {
        file: alloc::format!("data/tables/{name}.toml"),
        reason,
    })
}

/// The names of the tables.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|(name, _)| *name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{direction::Direction, files::SCENARIOS, profile::BlockSize, published::figure};

    #[test]
    fn every_table_names_scenarios_and_figures_that_exist() {
        for name in names() {
            let table = table(name).unwrap();
            for cell in &table.cells {
                let scenario = files::find(SCENARIOS, &cell.scenario);
                assert!(scenario.is_some(), "{name}: {}", cell.id);
                if let Some(path) = &cell.published {
                    let figure = figure(&table.published, path);
                    assert!(figure.is_ok(), "{name}: {}", cell.id);
                }
            }
        }
    }

    #[test]
    fn the_requests_of_netbench_are_those_of_the_recorded_run_for_the_same_bytes() {
        let table = table("samba-speed").unwrap();
        let sizes = |id: &str, against| {
            let cell = table.cells.iter().find(|cell| cell.id == id).unwrap();
            let scenario = cell.scenario(&table.sources, against).unwrap();
            let client = scenario.resolve().unwrap().client;
            let block = match scenario.direction() {
                Direction::ToClient => &client.read.block,
                Direction::ToServer => &client.write.block,
            };
            let BlockSize::Sizes(sizes) = &**block else {
                return (0, 0);
            };
            (sizes.requests(), sizes.bytes())
        };
        let reads = |against| sizes("oplocks/netbench-reads", against);
        assert_eq!(reads(false), (124_199, 1_472_088_767));
        assert_eq!(reads(true), (331_889, 1_472_093_899));
        let writes = |against| sizes("oplocks/netbench-writes", against);
        assert_eq!(writes(false), (39_502, 1_015_974_170));
        assert_eq!(writes(true), (134_534, 1_015_974_219));
    }

    #[test]
    fn an_unknown_table_is_an_error_that_lists_those_that_exist() {
        let error = table("weather").unwrap_err().to_string();
        assert!(
            error.contains("weather") && error.contains("wan-copy"),
            "{error}"
        );
    }
}
