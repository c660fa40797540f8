//! An SVG canvas.

use std::fmt::Write as _;

use super::colour::style;

/// A rectangle, pixels from the upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Area {
    /// Right edge.
    pub fn right(&self) -> f64 {
        self.x + self.width
    }

    /// Lower edge.
    pub fn bottom(&self) -> f64 {
        self.y + self.height
    }
}

/// Alignment of a text at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

impl Anchor {
    const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// An SVG picture under construction. The style sheet has the classes `ink`, `faint`, `grid`, `frame`,
/// `paper`, `small`, `head`, `published`, `predicted`, `chosen`, `fitted`, `sent-again`, `lost`, `ack`, `window` and those
/// of [`cause_class`](super::cause_class).
#[derive(Clone, Debug)]
pub struct Svg {
    width: f64,
    height: f64,
    title: String,
    about: String,
    body: String,
}

impl Svg {
    /// An empty picture of this size in pixels. Screen readers read `title` and `about`.
    pub fn new(width: f64, height: f64, title: &str, about: &str) -> Self {
        Self {
            width,
            height,
            title: title.to_owned(),
            about: about.to_owned(),
            body: String::new(),
        }
    }

    /// A filled rectangle; browsers show `tip` as a tooltip.
    pub fn rect(&mut self, area: Area, class: &str, tip: Option<&str>) {
        self.shape(area, &format!(r#"class="{class}""#), tip);
    }

    /// A rectangle in any colour, such as one of [`heat`](super::heat).
    pub fn coloured(&mut self, area: Area, colour: &str, tip: Option<&str>) {
        self.shape(area, &format!(r#"fill="{colour}""#), tip);
    }

    /// A straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let _ = writeln!(
            self.body,
            r#"<line class="{class}" x1="{}" y1="{}" x2="{}" y2="{}"/>"#,
            px(from.0),
            px(from.1),
            px(to.0),
            px(to.1)
        );
    }

    /// A path; `data` as in SVG's attribute `d`.
    pub fn path(&mut self, data: &str, class: &str) {
        if !data.is_empty() {
            let _ = writeln!(self.body, r#"<path class="{class}" d="{data}"/>"#);
        }
    }

    /// A text with its baseline at `at`.
    pub fn text(&mut self, at: (f64, f64), anchor: Anchor, class: &str, text: &str) {
        self.placed(at, anchor, &format!(r#"class="{class}""#), text);
    }

    /// A text in any colour, such as one of [`ink_on`](super::ink_on).
    pub fn coloured_text(&mut self, at: (f64, f64), class: &str, colour: &str, text: &str) {
        let how = format!(r#"class="{class}" style="fill:{colour}""#);
        self.placed(at, Anchor::Middle, &how, text);
    }

    /// A text rotated to read upwards.
    pub fn turned(&mut self, at: (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let (x, y) = (px(at.0), px(at.1));
        let how = format!(r#"class="{class}" transform="rotate(-90 {x} {y})""#);
        self.placed(at, anchor, &how, text);
    }

    /// The complete picture with its style sheet. It is valid as a file and inside a page.
    pub fn finish(&self) -> String {
        let (width, height) = (px(self.width), px(self.height));
        let title = escaped(&self.title);
        let mut out = format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="coax-plot" role="img" aria-label="{title}" viewBox="0 0 {width} {height}" width="{width}" height="{height}">"#
        );
        let _ = writeln!(
            out,
            "\n<title>{title}</title>\n<desc>{}</desc>\n<style>{}</style>\n<rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>",
            escaped(&self.about),
            style()
        );
        out.push_str(&self.body);
        out.push_str("</svg>\n");
        out
    }

    fn shape(&mut self, area: Area, how: &str, tip: Option<&str>) {
        let _ = write!(
            self.body,
            r#"<rect {how} x="{}" y="{}" width="{}" height="{}""#,
            px(area.x),
            px(area.y),
            px(area.width),
            px(area.height)
        );
        let _ = match tip {
            None => writeln!(self.body, "/>"),
            Some(tip) => writeln!(self.body, "><title>{}</title></rect>", escaped(tip)),
        };
    }

    fn placed(&mut self, at: (f64, f64), anchor: Anchor, how: &str, text: &str) {
        let _ = writeln!(
            self.body,
            r#"<text {how} x="{}" y="{}" text-anchor="{}">{}</text>"#,
            px(at.0),
            px(at.1),
            anchor.name(),
            escaped(text)
        );
    }
}

/// Approximate width of a text in pixels; fonts differ, so leave space.
pub fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.6
}

/// A coordinate with one decimal.
pub(super) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML cannot represent other control characters
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_holds_cannot_end_its_element() {
        let mut svg = Svg::new(10.0, 20.0, "a \"title\"", "<about>");
        svg.text((1.0, 2.25), Anchor::End, "ink", "</text><script>&\u{1}");
        let out = svg.finish();
        assert!(out.contains(r#"aria-label="a &quot;title&quot;""#));
        assert!(out.contains("<desc>&lt;about&gt;</desc>"));
        assert!(out.contains(
            r#"<text class="ink" x="1" y="2.2" text-anchor="end">&lt;/text&gt;&lt;script&gt;&amp; </text>"#
        ));
    }

    #[test]
    fn coordinates_have_at_most_one_decimal() {
        assert_eq!(
            [1.0, 1.04, 1.06, -0.5].map(px),
            ["1", "1", "1.1", "-0.5"].map(String::from)
        );
    }
}
