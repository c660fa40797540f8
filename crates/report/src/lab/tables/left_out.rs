//! What the lab would predict if a cell's figure were not known: the values that were tuned to it come from elsewhere.

use anyhow::{Context as _, Result};
use coax_catalog::tables::{CellSpec, Refit, Table, Unit};

use super::cell::{LeftOut, done, figure};
use crate::lab::data;

/// Steps of a search for one value; each halves the range.
const STEPS: u32 = 24;

/// Runs the cell without what is known from it.
pub(super) fn left_out(
    table: &Table,
    spec: &CellSpec,
    published: Option<f64>,
) -> Result<Option<LeftOut>> {
    let Some(without) = &spec.without else {
        return Ok(None);
    };
    let mut set = without.set.clone();
    if let Some(refit) = &without.refit {
        let value = refitted(table, refit)?;
        for key in &refit.keys {
            set.insert(key.clone(), value.clone().into());
        }
    }
    let model = with(table, spec, &set)?;
    Ok(Some(LeftOut {
        about: without.about.clone(),
        model,
        ratio: published.map(|published| model / published),
    }))
}

/// The value with which the other cell has its published figure, by bisection.
fn refitted(table: &Table, refit: &Refit) -> Result<String> {
    let other = table.cells.iter().find(|cell| cell.id == refit.to);
    let other = other.with_context(|| format!("refit: the table has no cell {}", refit.to))?;
    let path = other.published.as_ref();
    let path = path.with_context(|| format!("refit: {} was not published", refit.to))?;
    let published = data::published(&table.published, path)?;
    let (mut low, mut high) = refit.range;
    for _ in 0..STEPS {
        let middle = low.midpoint(high);
        if middle == low {
            break;
        }
        let mut set = toml::Table::new();
        for key in &refit.keys {
            set.insert(key.clone(), format!("{middle} {}", refit.unit).into());
        }
        let model = with(table, other, &set)?;
        // a larger value makes the copy slower
        let is_slower = match other.unit {
            Unit::Seconds => model > published,
            _ => model < published,
        };
        if is_slower {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(format!("{low} {}", refit.unit))
}

/// A cell's figure with changes, in the cell's unit.
fn with(table: &Table, spec: &CellSpec, set: &toml::Table) -> Result<f64> {
    let changed = |against| -> Result<_> {
        let mut scenario = spec.scenario(&table.sources, against)?;
        // the reference run keeps what it changes itself
        for (key, value) in set {
            if !(against && spec.against.contains_key(key)) {
                scenario.set(key, value.clone())?;
            }
        }
        done(&scenario)
    };
    let run = changed(false)?;
    let other = match spec.unit {
        Unit::Factor => Some(changed(true)?),
        _ => None,
    };
    Ok(figure(spec.unit, &run, other.as_ref()))
}
