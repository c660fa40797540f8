//! Scales from quantities to pixels, and axis ticks.

/// A scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    log: bool,
    from: f64,
    to: f64,
    begin: f64,
    end: f64,
}

/// A tick of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// The quantity.
    pub value: f64,
    /// Its text.
    pub label: String,
}

impl Scale {
    /// A linear scale. `from` and `to` are quantities, `begin` and `end` their pixels.
    pub fn linear((from, to): (f64, f64), (begin, end): (f64, f64)) -> Self {
        let to = if to > from { to } else { from + 1.0 };
        Self {
            log: false,
            from,
            to,
            begin,
            end,
        }
    }

    /// A logarithmic scale for quantities above zero. Its ends are rounded outwards to one, two or five times a power
    /// of ten.
    pub fn log((from, to): (f64, f64), (begin, end): (f64, f64)) -> Self {
        let from = round_number(from.max(f64::MIN_POSITIVE), false);
        let to = round_number(to.max(from), true);
        let to = if to > from { to } else { from * 10.0 };
        Self {
            log: true,
            from,
            to,
            begin,
            end,
        }
    }

    /// The pixel of a quantity, limited to the ends of the scale.
    pub fn at(&self, value: f64) -> f64 {
        self.begin + self.share(value) * (self.end - self.begin)
    }

    /// The position of a quantity on the axis, 0 to 1.
    pub fn share(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(f64::MIN_POSITIVE) / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        };
        share.clamp(0.0, 1.0)
    }

    /// Whether the scale is logarithmic.
    pub const fn is_log(&self) -> bool {
        self.log
    }

    /// An axis's name, which says that its scale is logarithmic.
    pub fn titled(&self, name: &str) -> String {
        match self.is_log() {
            true => format!("{name}, logarithmic scale"),
            false => name.to_owned(),
        }
    }

    /// The smallest quantity.
    pub const fn least(&self) -> f64 {
        self.from
    }

    /// The largest quantity.
    pub const fn greatest(&self) -> f64 {
        self.to
    }

    /// The pixels of both ends.
    pub const fn pixels(&self) -> (f64, f64) {
        (self.begin, self.end)
    }

    /// About `count` ticks at round quantities. A logarithmic axis has ticks at powers of ten, and between them if
    /// there are few.
    pub fn ticks(&self, count: usize) -> Vec<Tick> {
        let count = count.max(2) as f64;
        if !self.log {
            return linear_ticks(self.from, self.to, count);
        }
        let decades = (self.to / self.from).log10();
        if decades < 0.7 {
            return linear_ticks(self.from, self.to, count);
        }
        let factors: &[f64] = match decades {
            few if few * 3.0 <= count => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let step = (decades / count).ceil().max(1.0) as i32;
        let first = self.from.log10().floor() as i32;
        let last = self.to.log10().ceil() as i32;
        let exponents = (first..=last).filter(|exponent| exponent.rem_euclid(step) == 0);
        exponents
            .flat_map(|exponent| {
                factors
                    .iter()
                    .map(move |factor| factor * 10_f64.powi(exponent))
            })
            .filter(|value| *value >= self.from * (1.0 - 1e-9) && *value <= self.to * (1.0 + 1e-9))
            .map(|value| Tick {
                value,
                label: number(value),
            })
            .collect()
    }
}

fn linear_ticks(from: f64, to: f64, count: f64) -> Vec<Tick> {
    let step = round_number((to - from) / count, true);
    let digits = (-step.log10().floor()).max(0.0) as usize;
    // removes the sign of a negative zero
    let first = (from / step - 1e-9).ceil() + 0.0;
    let mut ticks = Vec::new();
    let mut at = first;
    while at * step <= to + step * 1e-6 && ticks.len() < 100 {
        let value = at * step;
        ticks.push(Tick {
            value,
            label: with_commas(&format!("{value:.digits$}")),
        });
        at += 1.0;
    }
    ticks
}

/// The next number of the form 1, 2 or 5 times a power of ten, up or down.
fn round_number(value: f64, up: bool) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let within = value / power;
    let near = |step: f64| (within - step).abs() < 1e-9;
    let steps = [1.0, 2.0, 5.0, 10.0];
    let found = if up {
        steps
            .into_iter()
            .find(|step| within <= *step || near(*step))
    } else {
        let mut down = steps.into_iter().rev();
        down.find(|step| within >= *step || near(*step))
    };
    found.unwrap_or(1.0) * power
}

/// A number with three significant digits or all integer digits, without trailing zeros.
pub fn number(value: f64) -> String {
    let size = value.abs();
    let digits = match size {
        _ if size == 0.0 => 0,
        _ if size >= 100.0 => 0,
        _ => (2.0 - size.log10().floor()).clamp(0.0, 9.0) as usize,
    };
    let text = format!("{value:.digits$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    with_commas(text)
}

fn with_commas(text: &str) -> String {
    let (whole, rest) = text.find('.').map_or((text, ""), |at| text.split_at(at));
    let (sign, digits) = match whole.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", whole),
    };
    if digits.len() < 5 {
        return text.to_owned();
    }
    let mut out = String::from(sign);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

/// A unit for a number of bytes: its size in bytes and its name.
pub const fn bytes_unit(most: f64) -> (f64, &'static str) {
    match most {
        most if most >= 2e9 => (1e9, "GB"),
        most if most >= 2e6 => (1e6, "MB"),
        most if most >= 2e4 => (1e3, "kB"),
        _ => (1.0, "bytes"),
    }
}

/// A unit for a time: its length in seconds and its name.
pub const fn seconds_unit(most: f64) -> (f64, &'static str) {
    match most {
        most if most >= 7200.0 => (3600.0, "h"),
        most if most >= 600.0 => (60.0, "min"),
        most if most >= 0.5 => (1.0, "s"),
        most if most >= 5e-4 => (1e-3, "ms"),
        _ => (1e-6, "µs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, count: usize) -> String {
        let ticks = scale.ticks(count);
        let labels: Vec<String> = ticks.into_iter().map(|tick| tick.label).collect();
        labels.join(" ")
    }

    #[test]
    fn marks_are_at_round_numbers() {
        let linear = |from, to, count| labels(Scale::linear((from, to), (0.0, 1.0)), count);
        assert_eq!(linear(0.0, 2911.0, 6), "0 500 1000 1500 2000 2500");
        assert_eq!(linear(0.0, 1.0, 5), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(linear(3.0, 3.02, 4), "3.000 3.005 3.010 3.015 3.020");
        assert_eq!(
            linear(-10.0, 50_000.0, 6),
            "0 10,000 20,000 30,000 40,000 50,000"
        );
        let log = |from, to, count| labels(Scale::log((from, to), (0.0, 1.0)), count);
        assert_eq!(log(3.5, 2923.0, 8), "10 100 1000");
        assert_eq!(log(3.5, 40.0, 8), "2 5 10 20 50");
        assert_eq!(log(0.03, 0.04, 5), "0.02 0.03 0.04 0.05");
        assert_eq!(
            log(1e-6, 1e9, 5),
            "0.000001 0.001 1 1000 1,000,000 1,000,000,000"
        );
    }

    #[test]
    fn ends_are_at_their_pixels_and_what_is_beyond_at_the_ends() {
        let scale = Scale::linear((0.0, 10.0), (100.0, 0.0));
        assert_eq!(
            [-1.0, 0.0, 5.0, 10.0, 11.0].map(|v| scale.at(v)),
            [100.0, 100.0, 50.0, 0.0, 0.0]
        );
        let scale = Scale::log((1.0, 100.0), (0.0, 200.0));
        assert!((scale.at(10.0) - 100.0).abs() < 1e-9);
        assert_eq!(scale.at(0.0), 0.0);
        // equal ends do not divide by zero
        assert_eq!(Scale::linear((5.0, 5.0), (0.0, 10.0)).at(5.0), 0.0);
        assert_eq!(Scale::log((5.0, 5.0), (0.0, 10.0)).at(5.0), 0.0);
    }

    #[test]
    fn numbers_have_three_digits_and_no_idle_zeros() {
        let shown = [
            0.0,
            0.0345,
            4.2,
            19.0,
            185.04,
            2923.0,
            42_000_000.0,
            -12_345.6,
        ]
        .map(number);
        assert_eq!(
            shown.join(" "),
            "0 0.0345 4.2 19 185 2923 42,000,000 -12,346"
        );
    }
}
