//! Title and caption of a plot.

use crate::lab::sweep::Swept;

/// Title and caption of a sweep's plot.
pub(super) fn titles(swept: &Swept) -> (String, String) {
    let keys: Vec<&str> = swept.axes.iter().map(|axis| axis.key.as_str()).collect();
    let title = format!("Seconds of the copy by {}", keys.join(", "));
    let about = match swept.title.as_str() {
        "" => format!("scenario {}", swept.scenario),
        title => title.to_owned(),
    };
    (title, about)
}
