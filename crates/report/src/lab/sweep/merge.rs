//! Sensitivity indices of a sweep whose parts were run separately, from the parts' tables.

use anyhow::{Context as _, Result, bail, ensure};

use super::{
    Sweep,
    grid::Axis,
    quantity::{self, Quantity, shown},
    sensitivity::{Indices, indices},
    spread::Spread,
};

/// Collects the times of all runs.
#[derive(Debug)]
pub struct Merge<'a> {
    sweep: &'a Sweep,
    /// Of each run in order, seconds; not a number until it is known.
    seconds: Vec<f64>,
    /// How many replicates of each point are known.
    known: Vec<u32>,
}

/// The indices of a whole sweep.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The scenario's name.
    pub scenario: String,
    /// The varied keys.
    pub keys: Vec<String>,
    /// Points of all parts.
    pub points: usize,
    /// Runs of each point.
    pub replicates: usize,
    /// The indices of each key.
    pub indices: Vec<Indices>,
}

/// Where a table has what is needed.
struct Places<'a> {
    point: usize,
    seconds: usize,
    axes: Vec<(usize, &'a Axis)>,
}

impl<'a> Merge<'a> {
    /// Of a sweep with the arguments of its parts, whichever part it is.
    ///
    /// # Errors
    /// Its points do not give indices.
    pub fn new(sweep: &'a Sweep) -> Result<Self> {
        let is_for_indices = sweep
            .sample
            .is_some_and(|sample| sample.name() == "saltelli");
        ensure!(
            is_for_indices,
            "--merge computes sensitivity indices, which need the points of --sample saltelli:N; the tables of other parts in their order \
             are the table of the whole sweep"
        );
        let all = sweep.layout.all;
        Ok(Self {
            seconds: vec![f64::NAN; all.saturating_mul(sweep.layout.replicates())],
            known: vec![0; all],
            sweep,
        })
    }

    /// Adds the table of a part, as `--csv` writes it; `name` is for errors.
    ///
    /// # Errors
    /// It is not the table of a part of this sweep, a run failed, or a point is there twice.
    pub fn add(&mut self, name: &str, text: &str) -> Result<()> {
        let mut records = Records { rest: text };
        let heads = records.next().with_context(|| format!("{name} is empty"))?;
        let places = self.places(&heads).with_context(|| name.to_owned())?;
        for (number, record) in records.enumerate() {
            self.run(&places, &record)
                .with_context(|| format!("{name}, row {}", number + 2))?;
        }
        Ok(())
    }

    /// The indices.
    ///
    /// # Errors
    /// A point is missing, or nothing has an effect.
    pub fn finish(self) -> Result<Merged> {
        let replicates = self.sweep.layout.replicates();
        let missing = self
            .known
            .iter()
            .filter(|known| **known as usize != replicates);
        let missing = missing.count();
        ensure!(
            missing == 0,
            "{missing} of {} points are missing: name the tables of all parts, each once",
            self.known.len()
        );
        let means = self.seconds.chunks(replicates.max(1));
        let means = means.filter_map(|runs| Some(Spread::of(runs)?.mean));
        let means: Vec<f64> = means.collect();
        let axes = self.sweep.axes();
        let found = indices(&means, axes.len())
            .context("the copy takes the same time everywhere: nothing has an effect")?;
        Ok(Merged {
            scenario: self.sweep.base.name.clone(),
            keys: axes.iter().map(|axis| axis.key.clone()).collect(),
            points: means.len(),
            replicates,
            indices: found,
        })
    }

    fn places(&self, heads: &[String]) -> Result<Places<'a>> {
        let place = |wanted: &str| {
            let place = heads.iter().position(|head| head == wanted);
            place.with_context(|| {
                format!("there is no column {wanted}: it is not a table of a part of this sweep")
            })
        };
        let axes = self.sweep.axes().iter().map(|axis| {
            let column = quantity::column_name(&axis.key, axis.unit().unwrap_or_default());
            Ok((place(&column)?, axis))
        });
        Ok(Places {
            point: place("point")?,
            seconds: place("seconds")?,
            axes: axes.collect::<Result<_>>()?,
        })
    }

    fn run(&mut self, places: &Places<'_>, record: &[String]) -> Result<()> {
        let cell = |place: usize| record.get(place).map_or("", String::as_str);
        let point: usize = cell(places.point)
            .parse()
            .with_context(|| format!("'{}' is not a point", cell(places.point)))?;
        let Some(known) = self.known.get_mut(point) else {
            bail!("the sweep has no point {point}: these are tables of another sweep");
        };
        self.sweep.check_values(point, places, record)?;
        let replicates = self.sweep.layout.replicates();
        ensure!(
            (*known as usize) < replicates,
            "point {point} is there twice"
        );
        let seconds: f64 = cell(places.seconds).parse().ok().with_context(|| {
            format!("the run of point {point} failed, and sensitivity indices need all runs")
        })?;
        if let Some(place) = self.seconds.get_mut(point * replicates + *known as usize) {
            *place = seconds;
        }
        *known += 1;
        Ok(())
    }
}

impl Sweep {
    /// Whether the values of a table's row are those of the point.
    fn check_values(&self, point: usize, places: &Places<'_>, record: &[String]) -> Result<()> {
        let values = self.layout.at(point);
        for ((axis, value), (place, _)) in values.iter().zip(&places.axes) {
            let text = shown(value);
            let expected = match axis.unit() {
                Some(_) => {
                    Quantity::of(&axis.key, &text).map(|quantity| quantity.value.to_string())
                }
                None => Some(text),
            };
            let found = record.get(*place).map_or("", String::as_str);
            ensure!(
                expected.as_deref().unwrap_or_default() == found,
                "{} of point {point} is {found}, and {} in this sweep: write the arguments with which the parts were run",
                axis.key,
                expected.unwrap_or_default()
            );
        }
        Ok(())
    }
}

/// The records of comma-separated values (RFC 4180).
struct Records<'a> {
    rest: &'a str,
}

impl Iterator for Records<'_> {
    type Item = Vec<String>;

    fn next(&mut self) -> Option<Vec<String>> {
        if self.rest.is_empty() {
            return None;
        }
        let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
        let mut chars = self.rest.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' if quoted && chars.next_if(|(_, next)| *next == '"').is_some() => {
                    cell.push('"')
                }
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(std::mem::take(&mut cell)),
                '\n' if !quoted => {
                    self.rest = self.rest.get(at + 1..).unwrap_or_default();
                    cells.push(cell.trim_end_matches('\r').to_owned());
                    return Some(cells);
                }
                c => cell.push(c),
            }
        }
        self.rest = "";
        cells.push(cell);
        Some(cells)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::lab::{
        data,
        sweep::{Swept, output, plan::Plan},
    };

    fn planned(part: Option<(u32, u32)>, replicates: usize) -> Sweep {
        let plan = Plan {
            set: vec![
                "size=20kB".to_owned(),
                r#"link.loss_to_client.rule={kind="random",probability=0.01}"#.to_owned(),
            ],
            ranges: vec![
                "link.delay=0..20 ms".to_owned(),
                "client=wfw-3.11,windows-98".to_owned(),
            ],
            sample: Some("saltelli:8".parse().unwrap()),
            replicates,
            part,
            ..Plan::default()
        };
        Sweep::planned(data::scenario("dos-dls-5.0-full").unwrap(), plan).unwrap()
    }

    fn swept(part: Option<(u32, u32)>, replicates: usize) -> Swept {
        planned(part, replicates).run(2, |_| ())
    }

    fn tables(replicates: usize) -> Vec<String> {
        let parts = (1..=3).map(|index| output::csv(&swept(Some((index, 3)), replicates)));
        parts.collect()
    }

    #[test]
    fn the_indices_of_parts_are_those_of_one_run() {
        for replicates in [1, 2] {
            let whole = swept(None, replicates).sensitivity().unwrap().unwrap();
            let sweep = planned(Some((1, u32::MAX)), replicates);
            let mut merge = Merge::new(&sweep).unwrap();
            for table in tables(replicates).iter().rev() {
                merge.add("part", table).unwrap();
            }
            let merged = merge.finish().unwrap();
            assert_eq!(merged.indices, whole);
            assert_eq!((merged.points, merged.keys.len()), (32, 2));
        }
    }

    fn refused(tables: &[&str]) -> String {
        let sweep = planned(Some((1, u32::MAX)), 1);
        let mut merge = Merge::new(&sweep).unwrap();
        let added = tables
            .iter()
            .try_for_each(|table| merge.add("p.csv", table));
        let outcome = added.and_then(|()| merge.finish().map(|_| ()));
        format!("{:#}", outcome.unwrap_err())
    }

    #[test]
    fn parts_that_are_missing_doubled_or_of_another_sweep_are_told() {
        let parts = tables(1);
        let [one, two, three] = [0, 1, 2].map(|at: usize| parts.get(at).unwrap().as_str());
        assert!(refused(&[one, three]).contains(" of 32 points are missing"));
        assert!(refused(&[one, two, one]).starts_with("p.csv, row 2: point 0 is there twice"));
        assert_eq!(refused(&[""]), "p.csv is empty");
        assert!(refused(&["a,b\n1,2\n"]).starts_with("p.csv: there is no column point"));
        let failed = one.replacen("\n0,", "\n99,", 1);
        assert!(refused(&[&failed]).contains("the sweep has no point 99"));
        let rows: Vec<&str> = one.lines().collect();
        let row = *rows.get(1).unwrap();
        let changed = match row.contains("windows-98") {
            true => row.replace("windows-98", "wfw-3.11"),
            false => row.replace("wfw-3.11", "windows-98"),
        };
        let refused = refused(&[&format!("{}\n{changed}\n", rows.first().unwrap())]);
        assert!(refused.contains("client of point 0 is"), "{refused}");
    }

    #[test]
    fn records_have_quoted_cells() {
        let text = "a,\"b,\"\"c\"\"\"\r\n\n\"x\ny\",";
        let found: Vec<Vec<String>> = Records { rest: text }.collect();
        assert_eq!(
            found,
            [
                vec!["a".to_owned(), "b,\"c\"".to_owned()],
                vec![String::new()],
                vec!["x\ny".to_owned(), String::new()]
            ]
        );
    }
}
