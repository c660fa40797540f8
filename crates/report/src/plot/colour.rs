//! Colours for light and dark themes.

use coax_cause::Cause;

/// The style sheet of every plot without the causes. The colours of data are the same in both themes. It uses no CSS
/// variables, so that viewers without them show the light theme.
const STYLE: &str = "
.coax-plot{font-family:system-ui,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif;font-size:12px}
.coax-plot text{fill:#24292f}
.coax-plot .paper{fill:#fff}
.coax-plot .faint{fill:#57606a}
.coax-plot .small{font-size:11px}
.coax-plot .tiny{font-size:9.5px}
.coax-plot .head{font-size:15px;font-weight:600}
.coax-plot .strong{font-weight:600}
.coax-plot line.grid{stroke:#d8dee4;stroke-width:1}
.coax-plot line.frame{stroke:#57606a;stroke-width:1}
.coax-plot rect.missing{fill:#eaeef2}
.coax-plot .crisp{shape-rendering:crispEdges;stroke:none}
.coax-plot path{fill:none;stroke-width:1.5}
.coax-plot .mark{stroke-width:2}
.coax-plot path.ack{stroke:#24292f;stroke-width:1}
.coax-plot path.window{stroke:#8250df;stroke-width:1;stroke-dasharray:4 2}
.coax-plot rect.ack{fill:#24292f}
.coax-plot rect.window{fill:#8250df}
.coax-plot .published{fill:#8c959f}
.coax-plot .predicted{fill:#2f81d6}
.coax-plot .chosen{fill:#b8860b}
.coax-plot .fitted{fill:#c2570c}
.coax-plot rect.sent-again{fill:#d1242f}
.coax-plot rect.lost{fill:#d1242f}
.coax-plot path.sent-again,.coax-plot path.lost{stroke:#d1242f;stroke-width:1.5}
.coax-plot path.s0{stroke:#2f81d6}
.coax-plot path.halo{stroke:#fff;stroke-width:5}
.coax-plot path.contour{stroke:#111;stroke-width:2}
";

/// The part of the style sheet for dark themes.
const DARK: &str = "\
@media (prefers-color-scheme:dark){
.coax-plot text{fill:#e6edf3}
.coax-plot .paper{fill:#0d1117}
.coax-plot .faint{fill:#9aa4af}
.coax-plot line.grid{stroke:#2b323b}
.coax-plot line.frame{stroke:#8b949e}
.coax-plot rect.missing{fill:#21262d}
.coax-plot path.ack{stroke:#e6edf3}
.coax-plot path.window{stroke:#bf8bff}
.coax-plot rect.ack{fill:#e6edf3}
.coax-plot rect.window{fill:#bf8bff}
.coax-plot .published{fill:#6e7781}
.coax-plot rect.sent-again,.coax-plot rect.lost{fill:#ff6b6b}
.coax-plot path.sent-again,.coax-plot path.lost{stroke:#ff6b6b}
}
";

/// The style sheet of every plot.
pub(super) fn style() -> String {
    let rules = Cause::ALL.map(|cause| {
        let (class, colour) = (cause_class(cause), cause.description().colour);
        format!(
            ".coax-plot rect.{class}{{fill:{colour}}}.coax-plot path.{class}{{stroke:{colour}}}\n"
        )
    });
    [STYLE, &rules.concat(), DARK].concat()
}

/// The CSS class of a cause for rectangles and paths: the cause's name.
pub const fn cause_class(cause: Cause) -> &'static str {
    cause.name()
}

/// Dark blue over green to yellow: suitable for colour-blind readers and for greyscale (Viridis, CC0).
const HEAT: [[u8; 3]; 9] = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
];

/// The colour of a value from 0 to 1, as `#rrggbb`.
pub fn heat(share: f64) -> String {
    let [red, green, blue] = heat_parts(share);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A text colour with enough contrast on [`heat`] of the same value.
pub fn ink_on(share: f64) -> &'static str {
    let [red, green, blue] = heat_parts(share).map(f64::from);
    if 0.299 * red + 0.587 * green + 0.114 * blue > 125.0 {
        "#111"
    } else {
        "#fff"
    }
}

fn heat_parts(share: f64) -> [u8; 3] {
    let place = share.clamp(0.0, 1.0) * (HEAT.len() - 1) as f64;
    let below = place.floor();
    let colour = |at: f64| HEAT.get(at as usize).copied().unwrap_or([253, 231, 37]);
    let (low, high) = (colour(below), colour(below + 1.0));
    let mut out = low;
    for (part, (low, high)) in out.iter_mut().zip(low.into_iter().zip(high)) {
        let (low, high) = (f64::from(low), f64::from(high));
        *part = (low + (high - low) * (place - below)).round() as u8;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_its_own_rule_for_rectangles_and_paths() {
        let style = style();
        for cause in Cause::ALL {
            let (class, colour) = (cause_class(cause), cause.description().colour);
            for rule in [
                format!("rect.{class}{{fill:{colour}}}"),
                format!("path.{class}{{stroke:{colour}}}"),
            ] {
                assert_eq!(style.matches(&rule).count(), 1, "{rule}");
            }
        }
        assert_eq!(style.matches('{').count(), style.matches('}').count());
    }

    #[test]
    fn heat_goes_from_dark_to_light_and_its_ink_the_other_way() {
        assert_eq!((heat(0.0).as_str(), ink_on(0.0)), ("#440154", "#fff"));
        assert_eq!((heat(1.0).as_str(), ink_on(1.0)), ("#fde725", "#111"));
        assert_eq!(heat(f64::INFINITY), heat(1.0));
    }
}
