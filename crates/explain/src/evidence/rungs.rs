//! The latest packets of a connection, as ladders show them.

use std::collections::VecDeque;

use coax_wire::time::Time;

use super::told::{Ladder, Rung, Said, SaidKind};

/// Packets remembered.
const MOST: usize = 64;
/// Packets of a ladder: at its beginning, and at its end.
const TOP: usize = 5;
const BOTTOM: usize = 7;

/// What a message is, for ladders.
pub(crate) type Label = (u8, Option<u16>, SaidKind);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Rungs(VecDeque<Rung>);

impl Rungs {
    pub(super) fn push(&mut self, rung: Rung) {
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back(rung);
    }

    /// Says what the latest packet brought; what it brought first counts.
    pub(super) fn label(&mut self, (command, function, kind): Label) {
        if let Some(last) = self.0.back_mut() {
            last.said.get_or_insert(Said {
                command,
                function,
                kind,
            });
        }
    }

    pub(super) fn last(&self) -> Option<&Rung> {
        self.0.back()
    }

    /// The latest `count`.
    pub(super) fn latest(&self, count: usize) -> Vec<Rung> {
        let skip = self.0.len().saturating_sub(count);
        self.0.iter().skip(skip).copied().collect()
    }

    /// Those since `begin`, without the middle if they are many.
    pub(super) fn since(&self, begin: Time) -> Ladder {
        let first = self.0.partition_point(|rung| rung.at < begin);
        let count = self.0.len() - first;
        let all = self.0.range(first..);
        if count <= TOP + BOTTOM + 1 {
            return Ladder {
                rungs: all.copied().collect(),
                gap: None,
            };
        }
        let top = all.clone().take(TOP);
        let bottom = all.skip(count - BOTTOM);
        Ladder {
            rungs: top.chain(bottom).copied().collect(),
            gap: Some((TOP, (count - TOP - BOTTOM) as u64)),
        }
    }
}
