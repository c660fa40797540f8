//! What a SYN tells of the TCP that sent it, beside what is negotiated.

use std::fmt;

use super::Segment;

/// Options told apart; no header has room for more (RFC 9293 3.1: 40 bytes).
const MOST: usize = 40;

/// What a SYN tells of the TCP that sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// IP's time to live where it was captured.
    pub ttl: u8,
    /// The window as it stands in the header, which is not scaled in a SYN.
    pub window: u16,
    /// Its options.
    pub layout: Layout,
}

/// The kinds of a segment's options in their order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    kinds: [u8; MOST],
    len: u8,
    whole: bool,
}

impl Greeting {
    pub(crate) fn of(segment: &Segment<'_>) -> Self {
        Self {
            ttl: segment.ttl,
            window: segment.window,
            layout: Layout::of(segment),
        }
    }

    /// What the time to live began with: systems begin with one of these, and no path is as long as they are apart.
    pub fn first_ttl(&self) -> u8 {
        let known = [32, 64, 128].into_iter().find(|first| self.ttl <= *first);
        known.unwrap_or(255)
    }
}

impl Layout {
    fn of(segment: &Segment<'_>) -> Self {
        let mut layout = Self {
            kinds: [0; MOST],
            len: 0,
            whole: segment.has_all_options,
        };
        let mut rest = segment.options;
        while let Some((kind, after)) = rest.split_first() {
            layout.push(*kind);
            rest = match kind {
                // what follows the end of the list pads it
                0 => return layout,
                1 => after,
                _ => match after
                    .first()
                    .and_then(|len| rest.get(usize::from(*len).max(2)..))
                {
                    Some(next) => next,
                    None => {
                        layout.whole = false;
                        return layout;
                    }
                },
            };
        }
        layout
    }

    fn push(&mut self, kind: u8) {
        if let Some(place) = self.kinds.get_mut(usize::from(self.len)) {
            *place = kind;
            self.len += 1;
        }
    }

    fn kinds(&self) -> &[u8] {
        self.kinds.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// Options that say something, of different kinds or not.
    pub fn len(&self) -> usize {
        self.kinds().iter().filter(|kind| **kind > 1).count()
    }

    /// There are none of those.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the capture kept all of them.
    pub const fn is_whole(&self) -> bool {
        self.whole
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, kind) in self.kinds().iter().enumerate() {
            let space = if place > 0 { " " } else { "" };
            let name = match kind {
                0 => "end",
                1 => "nop",
                2 => "mss",
                3 => "scale",
                4 => "sack",
                8 => "timestamps",
                other => {
                    write!(f, "{space}{other}")?;
                    continue;
                }
            };
            write!(f, "{space}{name}")?;
        }
        if self.whole {
            Ok(())
        } else {
            f.write_str(" …")
        }
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
