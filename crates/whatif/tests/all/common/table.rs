//! What was said of changes beside what they brought, and the tables of it in docs/evidence/whatif.md.

use std::{fmt::Write as _, fs, sync::Mutex};

use coax_whatif::{Range, Why};

use super::file;

/// A change of a copy and what came of it; seconds.
pub struct Row {
    pub what: String,
    pub vantage: String,
    pub measured: f64,
    /// What the model makes of the copy as it was.
    pub baseline: Option<f64>,
    pub said: Result<Range, Why>,
    pub truth: f64,
}

impl Row {
    /// Per cent of the truth.
    pub fn error(&self) -> Option<f64> {
        let said = self.said.as_ref().ok()?;
        Some((said.mid / self.truth - 1.0) * 100.0)
    }

    pub fn is_covered(&self) -> bool {
        let said = self.said.as_ref();
        said.is_ok_and(|said| (said.low..=said.high).contains(&self.truth))
    }

    /// How many times the least of the range the most is.
    pub fn width(&self) -> Option<f64> {
        let said = self.said.as_ref().ok()?;
        Some(said.high / said.low)
    }
}

/// How right some rows are.
pub struct Judged {
    pub rows: usize,
    /// Nothing was said of so many.
    pub declined: usize,
    /// Per cent; of all, what was not said taken as 100.
    pub median: f64,
    /// Nine in ten are no further off.
    pub ninth: f64,
    pub within_10: usize,
    pub covered: usize,
    /// Median of how many times the least of a range its most is.
    pub width: f64,
}

impl Judged {
    pub fn of<'a>(rows: impl Iterator<Item = &'a Row> + Clone) -> Self {
        let errors = rows.clone().map(|row| row.error().map_or(100.0, f64::abs));
        let errors: Vec<f64> = errors.collect();
        Self {
            rows: errors.len(),
            declined: rows.clone().filter(|row| row.said.is_err()).count(),
            median: quantile(errors.clone(), 0.5),
            ninth: quantile(errors.clone(), 0.9),
            within_10: errors.iter().filter(|error| **error <= 10.0).count(),
            covered: rows.clone().filter(|row| row.is_covered()).count(),
            width: quantile(rows.filter_map(Row::width).collect(), 0.5),
        }
    }

    /// Of 100 changes of which something was said, so many are in their ranges.
    pub fn coverage(&self) -> f64 {
        self.covered as f64 * 100.0 / (self.rows - self.declined).max(1) as f64
    }

    pub fn sentence(&self) -> String {
        let declined = match self.declined {
            0 => String::new(),
            some => format!("; of {some} nothing is said (taken as off by 100 %)"),
        };
        format!(
            "{} changes: median error {:.1} %, nine in ten no further off than {:.0} %; {} within 10 %; the truth lies in the \
             range of {}, whose ends are a factor of {:.2} apart in the median{declined}.",
            self.rows, self.median, self.ninth, self.within_10, self.covered, self.width,
        )
    }
}

/// The value that this part of them is no larger than; 0 of none.
pub fn quantile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (values.len() as f64 * part) as usize;
    let last = values.len().saturating_sub(1);
    values.get(place.min(last)).copied().unwrap_or_default()
}

pub fn table<'a>(rows: impl IntoIterator<Item = &'a Row>) -> String {
    let mut out = String::from(
        "| copy: change | captured at | measured | model of it | predicted | truth | error |\n|---|---|--:|--:|--:|--:|--:|\n",
    );
    for row in rows {
        let said = match &row.said {
            Ok(said) => format!("{:.3} ({:.3}–{:.3})", said.mid, said.low, said.high),
            Err(why) => format!("none: {why}"),
        };
        let none = || "–".to_owned();
        let baseline = row.baseline.map_or_else(none, |s| format!("{s:.3}"));
        let error = row
            .error()
            .map_or_else(none, |error| format!("{error:+.1} %"));
        let _ = writeln!(
            out,
            "| {} | {} | {:.3} | {baseline} | {said} | {:.3} | {error} |",
            row.what, row.vantage, row.measured, row.truth
        );
    }
    out
}

/// One part of the page after the other.
static PAGE: Mutex<()> = Mutex::new(());

/// Prints a part of docs/evidence/whatif.md, and writes it there if that is asked for.
pub fn write(name: &str, part: &str) {
    println!("{part}");
    if std::env::var_os("WRITE_DOCS").is_none() {
        return;
    }
    let _page = PAGE.lock().unwrap();
    let page = file("docs/evidence/whatif.md");
    let text = fs::read_to_string(&page).unwrap();
    let (begin, end) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end of {name} -->"),
    );
    let (before, rest) = text.split_once(&begin).unwrap();
    let (_, after) = rest.split_once(&end).unwrap();
    fs::write(page, format!("{before}{begin}{part}{end}{after}")).unwrap();
}
