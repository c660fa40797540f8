//! Which figures a value was tuned to, and what follows for the figures of the lab.
//!
//! A source is a text, or a table that also names the cells (`TABLE/ID` in `data/tables`) because of which the value was set:
//!
//! ```toml
//! [sources]
//! manual = "which one, where"
//! read = { text = "fitted to the published 490 kB/s", fitted = ["samba-speed/wfw-486/read"] }
//! ```

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

/// How a cell's model figure depends on its published figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Every value has another source.
    Predicted,
    /// This figure suggested an integer or a structural choice.
    Chosen,
    /// A value was tuned to this figure, or selected because of it.
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

/// The cells because of which a value was set, as `TABLE/ID`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tuned {
    /// The value was tuned to these figures, or selected because of them.
    pub fitted: Vec<String>,
    /// These figures suggested the value, an integer or a structural choice.
    pub chosen: Vec<String>,
}

impl Tuned {
    /// What the value is to a cell.
    pub fn kind(&self, cell: &str) -> Kind {
        let names = |cells: &[String]| cells.iter().any(|known| known == cell);
        if names(&self.fitted) {
            Kind::Fitted
        } else if names(&self.chosen) {
            Kind::Chosen
        } else {
            Kind::Predicted
        }
    }

    /// All cells.
    pub fn cells(&self) -> impl Iterator<Item = &str> {
        self.fitted.iter().chain(&self.chosen).map(String::as_str)
    }
}

/// A source as in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Written")]
pub struct Source {
    /// The source in words.
    pub text: String,
    /// The cells behind it.
    pub tuned: Tuned,
}

/// Sources by name.
pub type Sources = BTreeMap<String, Source>;

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Tuned(WithCells),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WithCells {
    text: String,
    #[serde(default)]
    fitted: Vec<String>,
    #[serde(default)]
    chosen: Vec<String>,
}

impl From<Written> for Source {
    fn from(written: Written) -> Self {
        match written {
            Written::Text(text) => Self {
                text,
                tuned: Tuned::default(),
            },
            Written::Tuned(WithCells {
                text,
                fitted,
                chosen,
            }) => Self {
                text,
                tuned: Tuned { fitted, chosen },
            },
        }
    }
}

/// A value of a table `[set]`: the value alone, or with its source.
pub(crate) fn sourced(value: &toml::Value) -> Option<(&toml::Value, &str)> {
    let table = value.as_table().filter(|table| table.len() == 2)?;
    Some((table.get("value")?, table.get("source")?.as_str()?))
}

/// The sources of a file's table `[sources]`.
pub(crate) fn sources(value: &toml::Value) -> Result<Sources, String> {
    crate::read::value(value.clone())
}
