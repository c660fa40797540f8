//! The rows of SpdTest, which the lab compares itself.

use std::collections::BTreeMap;

use anyhow::Result;
use coax_catalog::tables::{Kind, Table};
use coax_lab::spdtest::{Compared, Way, table as compared};

use super::cell::{Cell, LeftOut, TunedValue};

/// The rows as cells.
pub(super) fn cells(table: &Table) -> Result<Vec<Cell>> {
    let rows = compared()?;
    Ok(rows.into_iter().map(|row| cell(table, row)).collect())
}

fn cell(table: &Table, row: Compared) -> Cell {
    let way = match row.way {
        Way::Send => "send",
        Way::Receive => "receive",
    };
    let mut misses = table.misses.iter();
    let miss = misses.find(|(name, _)| row.name.starts_with(name.as_str()));
    let segment = format!("{:.3} ms", row.segment_ms);
    let key = format!("time of the machine for a segment, {way}");
    let tuned = row.fitted.then(|| TunedValue {
        key: key.clone(),
        value: segment.clone(),
        source: "what processor, card and port cost, over all fitted rows at once".to_owned(),
    });
    Cell {
        id: format!("{}/{way}", row.name),
        scenario: "spdtest".to_owned(),
        published: Some(row.published),
        unit: "KB/s",
        model: row.model,
        ratio: Some(row.model / row.published),
        kind: match row.fitted {
            true => Kind::Fitted,
            false => Kind::Predicted,
        },
        mechanism: "passes of the processor over a packet, and the bus's time for a byte"
            .to_owned(),
        tuned: tuned.into_iter().collect(),
        shares: Vec::new(),
        left_out: row.left_out.map(|model| LeftOut {
            about: "a fit to the other rows".to_owned(),
            model,
            ratio: Some(model / row.published),
        }),
        miss: miss.map(|(_, text)| text.clone()),
        waited_for: None,
        equal: None,
        apart: None,
        parameters: BTreeMap::from([(key, segment)]),
    }
}
