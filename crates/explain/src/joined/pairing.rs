//! Which connection of one file is which of the other. Addresses may be translated between the two; sequence and
//! acknowledgment numbers are not.

use std::collections::HashMap;

use super::log::{FileLog, Log};

/// Packets of a connection whose numbers are looked up.
const MAX_KEYS: usize = 512;
/// Packets in common that make two connections one.
const MIN_COMMON: usize = 3;

/// Places of a connection in both files.
pub(super) type Pair = [usize; 2];

/// The pairs, in the order of the first file.
pub(super) fn pairs(files: [&FileLog; 2]) -> Vec<Pair> {
    let mut known: HashMap<(usize, u32, u32), usize> = HashMap::new();
    for (place, log) in files[1].connections.iter().enumerate() {
        for key in keys(log) {
            known.entry(key).or_insert(place);
        }
    }
    let mut taken = vec![false; files[1].connections.len()];
    let mut found = Vec::new();
    for (place, log) in files[0].connections.iter().enumerate() {
        let mut votes: HashMap<usize, usize> = HashMap::new();
        for other in keys(log).filter_map(|key| known.get(&key)) {
            *votes.entry(*other).or_default() += 1;
        }
        let best = votes
            .into_iter()
            .max_by_key(|(other, votes)| (*votes, usize::MAX - other));
        let Some((other, _)) = best.filter(|(_, votes)| *votes >= MIN_COMMON) else {
            continue;
        };
        if let Some(is_taken) = taken.get_mut(other).filter(|is_taken| !**is_taken) {
            *is_taken = true;
            found.push([place, other]);
        }
    }
    found
}

/// What packets are known by: direction, sequence number, acknowledgment number.
fn keys(log: &Log) -> impl Iterator<Item = (usize, u32, u32)> {
    log.halves.iter().enumerate().flat_map(|(direction, half)| {
        let packets = half.packets.iter().take(MAX_KEYS);
        packets.map(move |packet| (direction, packet.seq, packet.ack))
    })
}
