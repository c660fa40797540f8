//! Assesses a capture: how far its report can be trusted.

use crate::{
    constants::{MAX_CLOCK_GRAIN, MAX_DISORDER, MAX_HOLES, MAX_LOST_PART},
    report::{Capture, Grade, Quality},
};

/// Whether a file contains the captures of both ends, judged by how many segments with data it contains once.
pub(crate) fn has_both_ends(quality: &Quality, data_segments: u64) -> bool {
    const FEWEST: u64 = 20;
    quality.captured_later >= FEWEST && quality.captured_later >= data_segments / 2
}

/// Whether so much was sent again that another capture of the same packets may be in the file, too late for [`has_both_ends`].
pub(crate) fn may_have_both_ends(capture: &Capture) -> bool {
    const FEWEST: u64 = 20;
    let sides = capture.connections.iter().flat_map(|it| &it.sides);
    capture.quality.merged_ends
        || sides.into_iter().any(|side| {
            let again = side.retransmissions.saturating_add(side.out_of_order);
            again >= FEWEST && again >= side.data_segments / 4
        })
}

/// Whether acknowledgments precede their data so often that the clocks of the two directions differ.
pub(crate) fn has_two_clocks(quality: &Quality, data_segments: u64) -> bool {
    const FEWEST: u64 = 20;
    quality.acked_before >= FEWEST && quality.acked_before >= data_segments / 10
}

/// The grade of a capture.
pub(crate) fn grade(quality: &Quality) -> Grade {
    let lost = quality.dropped > 0 || quality.holes > 0 || quality.incomplete_fragments > 0;
    let many_lost = quality.holes.saturating_mul(MAX_HOLES) > quality.tcp_segments;
    let coarse = quality.clock_grain >= MAX_CLOCK_GRAIN && quality.tcp_segments > 2;
    if quality.damage.is_some()
        || quality.packets == 0
        || many_lost
        || quality.smb_headers_cut > 0
        || quality.merged_ends
        || quality.clocks_differ
        || quality.skipped_bytes.saturating_mul(MAX_LOST_PART) > quality.wire_bytes
        || quality.unknown_links.saturating_mul(MAX_LOST_PART) > quality.packets
    {
        Grade::Poor
    } else if lost
        || coarse
        || quality.duplicates > 0
        || quality.worst_disorder > MAX_DISORDER
        || quality.clock_steps > 0
        || quality.ignored_offsets > 0
        || quality.coalesced > 0
    {
        Grade::Fair
    } else {
        Grade::Good
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coax_wire::time::Span;

    #[test]
    fn a_capture_is_graded_by_what_it_lacks() {
        let good = Quality {
            packets: 1000,
            tcp_segments: 1000,
            wire_bytes: 1_000_000,
            clock_grain: Span(1000),
            ..Quality::default()
        };
        let with = |change: fn(&mut Quality)| {
            let mut quality = good.clone();
            change(&mut quality);
            grade(&quality)
        };
        let cases = [
            (with(|_| {}), Grade::Good),
            (with(|quality| quality.holes = 1), Grade::Fair),
            (with(|quality| quality.holes = 11), Grade::Poor),
            (with(|quality| quality.dropped = 1), Grade::Fair),
            (with(|quality| quality.duplicates = 1), Grade::Fair),
            (with(|quality| quality.coalesced = 1), Grade::Fair),
            (
                with(|quality| quality.clock_grain = Span::from_millis(1)),
                Grade::Fair,
            ),
            (
                with(|quality| quality.worst_disorder = Span::from_millis(2)),
                Grade::Fair,
            ),
            (with(|quality| quality.clock_steps = 1), Grade::Fair),
            (with(|quality| quality.ignored_offsets = 1), Grade::Fair),
            (with(|quality| quality.skipped_bytes = 60_000), Grade::Poor),
            (with(|quality| quality.smb_headers_cut = 1), Grade::Poor),
            (with(|quality| quality.unknown_links = 60), Grade::Poor),
            (with(|quality| quality.packets = 0), Grade::Poor),
            (
                with(|quality| quality.damage = Some((9, String::new()))),
                Grade::Poor,
            ),
        ];
        for (place, (found, expected)) in cases.into_iter().enumerate() {
            assert_eq!(found, expected, "case {place}");
        }
    }
}
