//! Every redirector's times as a picture.

use std::time::Duration;

use coax_report::{
    digits::grouped,
    plot::{Anchor, Area, Scale, Side, Svg, axis, grid, number, text_width},
};
use coax_transfer::bench::{Report, figures::Times};

const WIDTH: f64 = 1000.0;
const ROW: f64 = 28.0;
const BAR: f64 = 10.0;
const TOP: f64 = 60.0;
/// Room for figures right of the longest bar.
const FIGURES: f64 = 150.0;
/// Classes of the two ways: those of the colours for what was predicted and what was chosen.
const WAYS: [(&str, &str); 2] = [
    ("predicted", "from the server"),
    ("fitted", "to the server"),
];

/// Two bars a redirector, on a scale of factors.
pub(super) fn bars(report: &Report) -> String {
    let names = report.rows.iter().map(|row| text_width(&row.profile, 11.0));
    let names = names.fold(0.0, f64::max);
    let area = Area {
        x: names + 30.0,
        y: TOP,
        width: WIDTH - names - 30.0 - FIGURES,
        height: report.rows.len() as f64 * ROW,
    };
    let size = grouped(report.size);
    let title = format!("{size} bytes as every redirector");
    let about = "Seconds that each redirector took for the same file from and to the same server on this machine.";
    let mut svg = Svg::new(WIDTH, area.bottom() + 48.0, &title, about);
    svg.text((20.0, 26.0), Anchor::Start, "head", &title);
    legend(&mut svg);
    let all = report
        .rows
        .iter()
        .flat_map(|row| [&row.to_client, &row.to_server]);
    let all = all.filter_map(Times::median).map(|time| time.as_secs_f64());
    let (least, most) = all.fold((f64::INFINITY, 0.0_f64), |(least, most), time| {
        (least.min(time), most.max(time))
    });
    // a bar of the least figure has a length too; with no figure at all any scale will do
    let ends = if most > 0.0 {
        (least / 1.5, most)
    } else {
        (0.1, 1.0)
    };
    let scale = Scale::log(ends, (area.x, area.right()));
    let ticks = scale.ticks(8);
    grid(&mut svg, area, Side::Below, &scale, &ticks);
    for (place, row) in report.rows.iter().enumerate() {
        let y = area.y + place as f64 * ROW;
        let times = [row.to_client.median(), row.to_server.median()];
        one(&mut svg, area, &scale, y, (&row.profile, times));
    }
    axis(&mut svg, area, Side::Below, &scale, &ticks, "seconds");
    svg.finish()
}

fn legend(svg: &mut Svg) {
    let mut x = 20.0;
    for (class, text) in WAYS {
        let mark = Area {
            x,
            y: 38.0,
            width: 12.0,
            height: 12.0,
        };
        svg.rect(mark, class, None);
        svg.text((x + 18.0, 48.0), Anchor::Start, "small", text);
        x += 40.0 + text_width(text, 11.0);
    }
}

/// One redirector.
fn one(svg: &mut Svg, area: Area, scale: &Scale, y: f64, row: (&str, [Option<Duration>; 2])) {
    let (name, times) = row;
    let middle = y + ROW / 2.0 + 4.0;
    svg.text((area.x - 8.0, middle), Anchor::End, "small", name);
    let mut figures = Vec::new();
    for (place, (time, (class, way))) in times.into_iter().zip(WAYS).enumerate() {
        let Some(seconds) = time.map(|time| time.as_secs_f64().max(1e-6)) else {
            figures.push("–".to_owned());
            continue;
        };
        let bar = Area {
            y: y + 3.0 + place as f64 * (BAR + 1.0),
            width: (scale.at(seconds) - area.x).max(1.0),
            height: BAR,
            ..area
        };
        let told = format!("{} s", number(seconds));
        svg.rect(bar, class, Some(&format!("{name}, {way}: {told}")));
        figures.push(told);
    }
    let at = (area.right() + 8.0, middle);
    svg.text(at, Anchor::Start, "small", &figures.join(", "));
}
