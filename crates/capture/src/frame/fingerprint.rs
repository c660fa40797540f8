//! The fields of a SYN that identify the TCP stack that sent it.

use core::fmt;

use super::Segment;

/// Most options in a header (RFC 9293 §3.1: 40 bytes).
const MAX_OPTIONS: usize = 40;

/// The fields of a SYN that identify a TCP stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SynFingerprint {
    /// IP's time to live where it was captured.
    pub ttl: u8,
    /// The window of the header; a SYN's window is not scaled.
    pub window: u16,
    /// The order of its options.
    pub layout: OptionLayout,
}

/// The option kinds of a segment in their order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OptionLayout {
    kinds: [u8; MAX_OPTIONS],
    len: u8,
    whole: bool,
}

impl SynFingerprint {
    /// The fingerprint of a SYN.
    pub fn of(segment: &Segment<'_>) -> Self {
        Self {
            ttl: segment.ttl,
            window: segment.window,
            layout: OptionLayout::of(segment),
        }
    }

    /// The sender's initial time to live: the next of the values that systems use.
    pub fn initial_ttl(&self) -> u8 {
        let known = [32, 64, 128].into_iter().find(|first| self.ttl <= *first);
        known.unwrap_or(255)
    }
}

impl OptionLayout {
    /// Whether these kinds (IANA's numbers) and no others are there, in this order.
    pub fn is(&self, kinds: &[u8]) -> bool {
        self.whole && self.kinds.get(..usize::from(self.len)) == Some(kinds)
    }

    fn of(segment: &Segment<'_>) -> Self {
        let mut layout = Self {
            kinds: [0; MAX_OPTIONS],
            len: 0,
            whole: segment.has_all_options,
        };
        let mut rest = segment.options;
        while let Some((kind, after)) = rest.split_first() {
            layout.push(*kind);
            rest = match kind {
                // padding follows the end of the list
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

    /// Number of options without padding.
    pub fn len(&self) -> usize {
        self.kinds().iter().filter(|kind| **kind > 1).count()
    }

    /// Whether there are no options but padding.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the capture has all of them.
    pub const fn is_whole(&self) -> bool {
        self.whole
    }
}

impl fmt::Display for OptionLayout {
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

impl fmt::Debug for OptionLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
