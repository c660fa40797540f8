//! The latest packets of a connection, as ladders show them.

use std::collections::VecDeque;

use coax_wire::time::Time;

use crate::latest::Latest;
use crate::report::{LabelKind, MessageLabel, PacketExcerpt, PacketRow};

/// Packets remembered.
const MOST: usize = 64;
/// Requests remembered beyond that: those whose answers may be long.
const MOST_ASKED: usize = 64;
/// Packets of a ladder: at its beginning, and at its end.
const TOP: usize = 5;
const BOTTOM: usize = 7;

/// What a message is, for ladders.
pub(crate) type Label = (u8, Option<u16>, LabelKind);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Rungs {
    latest: Latest<PacketRow, MOST>,
    /// How many came.
    count: u64,
    /// The latest requests, and how many packets had come with each.
    asked: VecDeque<(u64, PacketRow)>,
}

impl Rungs {
    #[inline]
    pub(super) fn push(&mut self, rung: PacketRow) {
        self.latest.push(rung);
        self.count += 1;
    }

    /// Says what the latest packet brought; what it brought first counts.
    pub(super) fn label(&mut self, (command, function, kind): Label) {
        let Some(last) = self.latest.back_mut().filter(|last| last.said.is_none()) else {
            return;
        };
        last.said = Some(MessageLabel {
            command,
            function,
            kind,
        });
        if kind == LabelKind::Request {
            if self.asked.len() >= MOST_ASKED {
                self.asked.pop_front();
            }
            self.asked.push_back((self.count, *last));
        }
    }

    pub(super) fn last(&self) -> Option<&PacketRow> {
        self.latest.back()
    }

    /// The one after which `newer` came.
    pub(super) fn back(&self, newer: usize) -> Option<&PacketRow> {
        let place = self.latest.len().checked_sub(newer + 1)?;
        self.latest.get(place)
    }

    /// What there was before the latest `newer` came.
    pub(super) fn without(&self, newer: usize) -> Self {
        let count = self.latest.len().saturating_sub(newer);
        Self {
            latest: self.latest.iter().take(count).copied().collect(),
            count: self.count.saturating_sub(newer as u64),
            asked: VecDeque::new(),
        }
    }

    /// The latest `count`.
    pub(super) fn latest(&self, count: usize) -> Vec<PacketRow> {
        let skip = self.latest.len().saturating_sub(count);
        self.latest.iter().skip(skip).copied().collect()
    }

    /// Those since `begin`, without the middle if they are many.
    pub(super) fn since(&self, begin: Time) -> PacketExcerpt {
        let first = self.latest.partition_point(|rung| rung.at < begin);
        let count = self.latest.len() - first;
        let all = self.latest.iter().skip(first);
        let asked = self.asked.iter().find(|(_, asked)| asked.at == begin);
        if let (0, Some((number, asked))) = (first, asked)
            && number.saturating_add(count as u64) < self.count + 1
        {
            let bottom = self.latest(TOP + BOTTOM - 1);
            let left_out = self.count - number - bottom.len() as u64;
            return PacketExcerpt {
                rungs: std::iter::once(*asked).chain(bottom).collect(),
                gap: Some((1, left_out)),
            };
        }
        if count <= TOP + BOTTOM + 1 {
            return PacketExcerpt {
                rungs: all.copied().collect(),
                gap: None,
            };
        }
        let top = all.clone().take(TOP);
        let bottom = all.skip(count - BOTTOM);
        PacketExcerpt {
            rungs: top.chain(bottom).copied().collect(),
            gap: Some((TOP, (count - TOP - BOTTOM) as u64)),
        }
    }
}
