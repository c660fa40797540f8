//! Plot of a table: published figures and the lab's figures.

use super::legend::{self, Entry, How};
use crate::{
    lab::tables::{Cell, Filled, Kind},
    plot::{self, Anchor, Area, Scale, Svg, axis, grid, number, text_width},
};

const WIDTH: f64 = 1000.0;
const ROW: f64 = 28.0;
const BAR: f64 = 10.0;
/// Space for figures right of the longest bar, pixels.
const FIGURES: f64 = 150.0;

/// Draws a table: two bars for each cell on a logarithmic scale, grouped by unit.
pub fn bars(table: &Filled) -> String {
    let mut units: Vec<&str> = Vec::new();
    for cell in &table.cells {
        if !units.contains(&cell.unit) {
            units.push(cell.unit);
        }
    }
    let panels: Vec<Vec<&Cell>> = units
        .iter()
        .map(|unit| {
            table
                .cells
                .iter()
                .filter(|cell| cell.unit == *unit)
                .collect()
        })
        .collect();
    let entries = entries(table);
    let rows = legend::rows(&entries, WIDTH - 40.0) as f64;
    let top = 44.0 + rows * legend::ROW;
    let bodies = panels.iter().map(|panel| panel_height(panel));
    let title = format!("{}: {}", table.name, table.title);
    let about = "Published figures and those of the lab; the numbers at the right are the lab's, the published one, and \
                 the first over the second.";
    let mut svg = Svg::new(WIDTH, top + bodies.sum::<f64>() + 6.0, &title, about);
    svg.text((20.0, 26.0), Anchor::Start, "head", &title);
    legend::draw(&mut svg, (20.0, 36.0), WIDTH - 40.0, &entries);
    let mut y = top;
    for panel in &panels {
        draw(&mut svg, y, panel);
        y += panel_height(panel);
    }
    svg.finish()
}

fn panel_height(panel: &[&Cell]) -> f64 {
    panel.len() as f64 * ROW + 62.0
}

fn entries(table: &Filled) -> Vec<Entry> {
    let mut entries = vec![Entry::new("published", How::Box, "published")];
    for kind in [Kind::Predicted, Kind::Chosen, Kind::Fitted] {
        if table.cells.iter().any(|cell| cell.kind == kind) {
            let text = match kind {
                Kind::Predicted => "the lab: predicted",
                Kind::Chosen => "the lab: a whole number or a structure chosen to meet it",
                Kind::Fitted => "the lab: fitted to this figure",
            };
            entries.push(Entry::new(kind.name(), How::Box, text));
        }
    }
    entries
}

/// Draws the cells of one unit, starting at `top`.
fn draw(svg: &mut Svg, top: f64, cells: &[&Cell]) {
    let widest = cells.iter().map(|cell| text_width(&cell.id, 11.0));
    let names = widest.fold(0.0, f64::max).min(420.0);
    let area = Area {
        x: names + 30.0,
        y: top + 8.0,
        width: WIDTH - names - 30.0 - FIGURES,
        height: cells.len() as f64 * ROW,
    };
    let figures = cells
        .iter()
        .flat_map(|cell| cell.published.into_iter().chain([cell.model]))
        .filter(|figure| *figure > 0.0);
    let (least, most) = figures.fold((f64::INFINITY, 0.0_f64), |(least, most), figure| {
        (least.min(figure), most.max(figure))
    });
    // the shortest bar must be visible
    let scale = Scale::log((least / 1.5, most), (area.x, area.right()));
    let ticks = scale.ticks(((area.width / 60.0) as usize).min(8));
    grid(svg, area, plot::Side::Below, &scale, &ticks);
    for (at, cell) in cells.iter().enumerate() {
        row(svg, area, &scale, area.y + at as f64 * ROW, cell);
    }
    let head = (area.right() + 8.0, area.y - 2.0);
    svg.text(head, Anchor::Start, "tiny faint", "lab : published = ratio");
    let unit = cells.first().map_or("", |cell| cell.unit);
    axis(
        svg,
        area,
        plot::Side::Below,
        &scale,
        &ticks,
        &scale.titled(unit),
    );
}

fn row(svg: &mut Svg, area: Area, scale: &Scale, y: f64, cell: &Cell) {
    let middle = y + ROW / 2.0 + 4.0;
    let name = shortened(&cell.id, area.x - 30.0);
    svg.text((area.x - 8.0, middle), Anchor::End, "small", &name);
    let mut bar = |figure: f64, y: f64, class: &str| {
        let bar = Area {
            y,
            width: (scale.at(figure) - area.x).max(1.0),
            height: BAR,
            ..area
        };
        let tooltip = format!("{}: {} {}", cell.id, number(figure), cell.unit);
        svg.rect(bar, class, Some(&tooltip));
    };
    if let Some(published) = cell.published {
        bar(published, y + 3.0, "published");
    }
    bar(cell.model, y + 4.0 + BAR, cell.kind.name());
    let text = match (cell.published, cell.ratio) {
        (Some(published), Some(ratio)) => {
            let (model, published) = (number(cell.model), number(published));
            format!("{model} : {published} = {ratio:.2}")
        }
        _ => number(cell.model),
    };
    svg.text((area.right() + 8.0, middle), Anchor::Start, "small", &text);
}

fn shortened(text: &str, width: f64) -> String {
    let room = (width / 6.16) as usize;
    if text.chars().count() <= room {
        return text.to_owned();
    }
    // the start and the end of a name distinguish it from others
    let half = room.saturating_sub(1) / 2;
    let begin: String = text.chars().take(half).collect();
    let skipped = text.chars().count().saturating_sub(half);
    let end: String = text.chars().skip(skipped).collect();
    format!("{begin}…{end}")
}
