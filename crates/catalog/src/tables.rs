//! Tables that compare published figures with those of the lab: `data/tables`. Each cell names a scenario, changes to it, the
//! published figure to compare with, and the kind of the prediction. The files contain no figures of the lab.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use crate::{
    component::ProfileError,
    files::{self, TABLES},
};

/// How a cell's model figure depends on its published figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// No parameter was set for this figure.
    Predicted,
    /// An integer or a structural choice was made so that the model meets this figure.
    Chosen,
    /// A parameter was fitted to this figure.
    Fitted,
}

impl Kind {
    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Predicted => "predicted",
            Self::Chosen => "chosen",
            Self::Fitted => "fitted",
        }
    }
}

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
    /// The cells.
    #[serde(rename = "cell", default)]
    pub cells: Vec<CellSpec>,
    /// The cells are the rows of SpdTest instead of copies.
    #[serde(default)]
    pub spdtest: bool,
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
    /// The kind of the prediction.
    pub kind: Kind,
    /// The parameters that were chosen or fitted for it.
    #[serde(default)]
    pub tuned: Vec<String>,
    /// The mechanism behind the figure, in one line.
    pub mechanism: String,
    /// Other explanations that fit equally well.
    #[serde(default)]
    pub equal: Option<String>,
    /// What would distinguish them.
    #[serde(default)]
    pub apart: Option<String>,
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
    toml::from_str(text).map_err(|error| ProfileError::Malformed {
        file: alloc::format!("data/tables/{name}.toml"),
        reason: error.to_string(),
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
    use crate::{files::SCENARIOS, published::figure};

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
    fn an_unknown_table_is_an_error_that_lists_those_that_exist() {
        let error = table("weather").unwrap_err().to_string();
        assert!(
            error.contains("weather") && error.contains("wan-copy"),
            "{error}"
        );
    }
}
