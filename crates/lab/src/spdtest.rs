//! SpdTest: raw TCP between an old machine with mTCP and a fast one, and a cost model of the old machine.
//!
//! The cost of a segment consists of passes of the processor over its bytes, in units of the time to move a word, and
//! of bus time per byte, which depends on the type of card. Parallel port adapters cost port time and processor time.
//! With a card that has one transmit buffer, the driver waits until each frame has left; 3Com's FIFO cards and PCI
//! cards do not require that. At 10 Mbit/s both directions share the medium.
//!
//! The rows are sorted by machine and adapter. Every second row, beginning with the first, is fitted; the others are
//! predicted. This rule was fixed before the fit. The structure was selected from three candidates by the errors of the
//! predicted rows (medians 18, 19 and 10 %), so the reported error of the selected one is optimistic.

use alloc::{format, string::String, vec::Vec};

pub use coax_catalog::published::{SpeedRow as Row, speeds as published};
use coax_catalog::{
    component::{ProfileError, built_in},
    units::Cost,
};
use coax_wire::time::Span;

use crate::{
    apps,
    link::{Duplex, TxFull},
    side::Side,
    tcp::StackParams,
    world::Setup,
};

const SEGMENT: f64 = 1460.0;
/// SpdTest's kilobyte, bytes.
const KILOBYTE: f64 = 1024.0;

/// Direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The old machine sends.
    Send,
    /// The old machine receives.
    Receive,
}

/// What the model needs to know of a row.
trait Modelled {
    fn published(&self, way: Way) -> f64;
    fn is_pci(&self) -> bool;
    fn overlaps(&self) -> bool;
    fn wire_ms(&self, way: Way) -> f64;
}

impl Modelled for Row {
    /// The published rate.
    fn published(&self, way: Way) -> f64 {
        match way {
            Way::Send => self.send,
            Way::Receive => self.receive,
        }
    }

    fn is_pci(&self) -> bool {
        self.family == "pci"
    }

    /// Whether the driver can prepare a frame while the card sends another.
    fn overlaps(&self) -> bool {
        self.is_pci() || self.family == "3c5x9"
    }

    /// Time of a full segment and its share of ACKs on the wire, milliseconds.
    fn wire_ms(&self, way: Way) -> f64 {
        let shared = match way {
            Way::Send => 42.0,
            Way::Receive => 84.0,
        };
        if self.is_pci() {
            1538.0 * 8.0 / 1e5
        } else {
            (1538.0 + shared) * 8.0 / 1e4
        }
    }
}

/// Names of the fitted costs, which are separate for each direction.
const FAMILIES: [&str; 5] = ["shared-memory", "3c5x9", "etherexpress", "ne2000", "3c503"];
const PASSES: usize = 0;
const PORT_US: usize = 1;
const PORT_WORDS: usize = 2;
const FIRST_FAMILY: usize = 3;
const COSTS: usize = FIRST_FAMILY + FAMILIES.len();

/// Families of 16-bit ISA cards.
const ISA_16: [usize; 3] = [1, 2, 3];

/// The fitted costs of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Costs {
    values: [f64; COSTS],
    /// The families that occur in the fitted rows.
    known: [bool; FAMILIES.len()],
}

/// The model: costs for each direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    send: Costs,
    receive: Costs,
}

impl Costs {
    const START: [f64; COSTS] = [5.0, 4.0, 1.0, 0.6, 0.6, 0.6, 0.6, 0.6];

    fn get(&self, index: usize) -> f64 {
        self.values.get(index).copied().unwrap_or_default()
    }

    fn family(&self, index: usize) -> Option<f64> {
        let is_known = self.known.get(index).copied().unwrap_or_default();
        is_known.then(|| self.get(FIRST_FAMILY + index))
    }

    /// Bus and port time per byte, microseconds. Card types without a fit get the mean of the fitted 16-bit ISA cards;
    /// PCI costs nothing.
    fn bus_us(&self, row: &Row) -> f64 {
        if row.is_pci() {
            return 0.0;
        }
        if row.family.starts_with("parallel") {
            return self.get(PORT_US) + self.get(PORT_WORDS) * row.word_us;
        }
        let family = FAMILIES.iter().position(|family| *family == row.family);
        family
            .and_then(|index| self.family(index))
            .unwrap_or_else(|| self.mean_of_isa())
    }

    fn mean_of_isa(&self) -> f64 {
        let known: Vec<f64> = ISA_16
            .iter()
            .filter_map(|index| self.family(*index))
            .collect();
        known.iter().sum::<f64>() / known.len().max(1) as f64
    }

    /// Time of the machine for a full segment, milliseconds.
    fn segment_ms(&self, row: &Row) -> f64 {
        (self.get(PASSES) * row.word_us * SEGMENT / 2.0 + SEGMENT * self.bus_us(row)) / 1e3
    }

    /// Sum of the squared relative errors over the rows.
    fn error(&self, rows: &[&Row], way: Way) -> f64 {
        let off = |row: &&Row| {
            let machine = self.segment_ms(row);
            let rate = rate(row, way, machine);
            let relative = rate / row.published(way) - 1.0;
            relative * relative
        };
        rows.iter().map(off).sum()
    }

    /// Fits by coordinate descent with decreasing step size.
    fn fitted(rows: &[&Row], way: Way) -> Self {
        let start = Self {
            values: Self::START,
            known: FAMILIES.map(|family| rows.iter().any(|row| row.family == family)),
        };
        let (mut best, mut step) = (start, 0.3);
        let mut error = best.error(rows, way);
        // the step size falls below the precision of doubles within this number of iterations
        for _ in 0..4000 {
            let mut improved = false;
            for index in 0..COSTS {
                for factor in [1.0 + step, 1.0 / (1.0 + step), 0.0] {
                    let mut tried = best;
                    if let Some(cost) = tried.values.get_mut(index) {
                        *cost = if factor == 0.0 && *cost == 0.0 {
                            0.01
                        } else {
                            *cost * factor
                        };
                    }
                    let trial = tried.error(rows, way);
                    if trial < error - 1e-12 {
                        (best, error, improved) = (tried, trial, true);
                    }
                }
            }
            if !improved {
                step /= 2.0;
            }
            if step < 1e-6 {
                break;
            }
        }
        best
    }
}

/// The rate in KB/s in closed form, from the machine's time per segment.
fn rate(row: &Row, way: Way, machine_ms: f64) -> f64 {
    let wire = row.wire_ms(way);
    let segment = if way == Way::Send && !row.overlaps() {
        wire + machine_ms
    } else {
        wire.max(machine_ms)
    };
    SEGMENT / segment * 1e3 / KILOBYTE
}

impl Model {
    /// Fits every second of the sorted rows, beginning with the first.
    pub fn fitted(rows: &[Row]) -> Self {
        Self::of(&rows.iter().step_by(2).collect::<Vec<_>>())
    }

    /// The same fit without one of its rows.
    pub fn fitted_without(rows: &[Row], left_out: usize) -> Self {
        let kept = rows.iter().enumerate().step_by(2);
        let kept = kept.filter(|(index, _)| *index != left_out);
        Self::of(&kept.map(|(_, row)| row).collect::<Vec<_>>())
    }

    fn of(rows: &[&Row]) -> Self {
        Self {
            send: Costs::fitted(rows, Way::Send),
            receive: Costs::fitted(rows, Way::Receive),
        }
    }

    /// The rate in KB/s in closed form.
    pub fn rate(&self, row: &Row, way: Way) -> f64 {
        rate(row, way, self.segment_ms(row, way))
    }

    /// Time of the machine for a full segment, milliseconds. For a bidirectional parallel port, receiving costs as much
    /// as sending.
    pub fn segment_ms(&self, row: &Row, way: Way) -> f64 {
        let bytes_both_ways = row.family == "parallel-bytes";
        let costs = if way == Way::Send || bytes_both_ways {
            &self.send
        } else {
            &self.receive
        };
        costs.segment_ms(row)
    }

    /// The simulated experiment: the old machine is the client.
    ///
    /// # Errors
    /// A built-in stack is malformed.
    pub fn setup(&self, row: &Row, way: Way) -> Result<Setup, ProfileError> {
        let mut setup = Setup {
            port: 2000,
            ..Setup::default()
        };
        let cost = |way| Cost::fixed(Span((self.segment_ms(row, way) * 1e6) as u64));
        setup.client.machine.tx_data = cost(Way::Send);
        setup.client.machine.rx_data = cost(Way::Receive);
        setup.client.stack = built_in::<StackParams>("mtcp")?.params;
        setup.client.nic.tx_ring = if way == Way::Send { 1 } else { 0 };
        setup.client.nic.tx_full = TxFull::Block;
        setup.client.nic.tx_wait = way == Way::Send && !row.overlaps();
        // the costs are fitted to full segments: a window of 8,192 bytes would be filled with a short one now and then
        setup.server.stack = StackParams {
            sender_sws_avoidance: true,
            ..built_in::<StackParams>("linux")?.params
        };
        setup.link.rate = if row.is_pci() {
            100_000_000
        } else {
            10_000_000
        };
        setup.link.duplex = if row.is_pci() {
            Duplex::Full
        } else {
            Duplex::Half
        };
        Ok(setup)
    }

    /// The simulated rate in KB/s, over one megabyte.
    ///
    /// # Errors
    /// A built-in stack is malformed.
    pub fn simulated(&self, row: &Row, way: Way) -> Result<f64, ProfileError> {
        let from = match way {
            Way::Send => Side::Client,
            Way::Receive => Side::Server,
        };
        let result = apps::bulk(
            &self.setup(row, way)?,
            from,
            1 << 20,
            Span::from_secs(10_000),
        );
        Ok(result.rate() / KILOBYTE)
    }
}

/// A row's published and simulated rate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Compared {
    /// Machine and adapter.
    pub name: String,
    /// Direction.
    pub way: Way,
    /// KB/s published.
    pub published: f64,
    /// KB/s simulated.
    pub model: f64,
    /// Whether the row was used for the fit.
    pub fitted: bool,
    /// KB/s in closed form by a fit without this row; `None` if it was not used for the fit.
    pub left_out: Option<f64>,
    /// Time of the machine for a full segment, milliseconds.
    pub segment_ms: f64,
}

impl Compared {
    /// Relative error of the model.
    pub fn error(&self) -> f64 {
        self.model / self.published - 1.0
    }
}

/// Fits half of the rows and simulates all of them.
///
/// # Errors
/// The data is malformed.
pub fn table() -> Result<Vec<Compared>, ProfileError> {
    let rows = published()?;
    let model = Model::fitted(&rows);
    let mut out = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let fitted = index % 2 == 0;
        let without = fitted.then(|| Model::fitted_without(&rows, index));
        for way in [Way::Send, Way::Receive] {
            out.push(Compared {
                name: format!("{}, {}", row.machine, row.adapter),
                way,
                published: row.published(way),
                model: model.simulated(row, way)?,
                fitted,
                left_out: without.map(|without| without.rate(row, way)),
                segment_ms: model.segment_ms(row, way),
            });
        }
    }
    Ok(out)
}

/// Median of the absolute relative errors of the predicted rows.
pub fn median_predicted_error(table: &[Compared]) -> f64 {
    let predicted = table.iter().filter(|compared| !compared.fitted);
    let mut errors: Vec<f64> = predicted.map(|compared| compared.error().abs()).collect();
    errors.sort_by(f64::total_cmp);
    let middle = errors.len() / 2;
    let at = |index: usize| errors.get(index).copied().unwrap_or_default();
    if errors.len() % 2 == 1 {
        at(middle)
    } else {
        (at(middle.saturating_sub(1)) + at(middle)) / 2.0
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_rows_predict_the_other_half_within_15_percent_in_the_median() {
        let table = table().unwrap();
        assert_eq!(
            (table.len(), table.iter().filter(|c| c.fitted).count()),
            (40, 20)
        );
        for compared in &table {
            let kind = if compared.fitted {
                "fitted   "
            } else {
                "predicted"
            };
            let error = compared.error() * 100.0;
            std::println!(
                "{kind} {:7.1} {:7.1} {error:+6.1} % {:?} {}",
                compared.published,
                compared.model,
                compared.way,
                compared.name
            );
        }
        let median = median_predicted_error(&table);
        std::println!("median of the predicted: {:.1} %", median * 100.0);
        assert!(median < 0.15, "{median}");
    }

    #[test]
    fn the_simulation_is_the_closed_form() {
        let rows = published().unwrap();
        let model = Model::fitted(&rows);
        for row in &rows {
            for way in [Way::Send, Way::Receive] {
                let (simulated, closed) =
                    (model.simulated(row, way).unwrap(), model.rate(row, way));
                let off = (simulated / closed - 1.0).abs();
                assert!(
                    off < 0.04,
                    "{} {way:?}: {simulated} against {closed}",
                    row.machine
                );
            }
        }
    }
}
