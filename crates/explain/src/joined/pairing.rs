//! Which connection of one file is which of the other. Addresses may be translated between the two; sequence and
//! acknowledgment numbers are not. Sessions without TCP all begin with the same number, so their addresses and data tell them
//! apart; nothing translates those.

use std::collections::HashMap;

use coax_capture::Endpoint;

use super::log::{FileLog, Log, Packet};

/// Packets of a connection whose numbers are looked up.
const MAX_KEYS: usize = 512;
/// Connections of a file that may have a packet in common, as sessions have that copy the same file.
const MAX_PLACES: usize = 16;
/// Packets in common that make two connections one.
const MIN_COMMON: usize = 3;

/// Places of a connection in both files.
pub(super) type Pair = [usize; 2];

/// The pairs, in the order of the first file.
pub(super) fn pairs(files: [&FileLog; 2]) -> Vec<Pair> {
    let mut known: HashMap<Key, Vec<usize>> = HashMap::new();
    for (place, log) in files[1].connections.iter().enumerate() {
        for key in keys(log) {
            let places = known.entry(key).or_default();
            if places.len() < MAX_PLACES && places.last() != Some(&place) {
                places.push(place);
            }
        }
    }
    let mut taken = vec![false; files[1].connections.len()];
    let mut found = Vec::new();
    for (place, log) in files[0].connections.iter().enumerate() {
        let mut votes: HashMap<usize, usize> = HashMap::new();
        for other in keys(log).filter_map(|key| known.get(&key)).flatten() {
            if taken.get(*other).is_some_and(|is_taken| !is_taken) {
                *votes.entry(*other).or_default() += 1;
            }
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

/// What a packet is known by: direction and sequence number, then the acknowledgment number, or the ends and a number of the
/// data of a session without TCP.
type Key = (usize, u32, u32, Option<[Endpoint; 2]>);

fn keys(log: &Log) -> impl Iterator<Item = Key> {
    let ends = (!log.is_tcp()).then_some(log.ends);
    let halves = log.halves.iter().enumerate();
    halves.flat_map(move |(direction, half)| {
        // what has no data is the same in all sessions
        let is_known = move |packet: &&Packet| ends.is_none() || packet.len > 0;
        let packets = half.packets.iter().filter(is_known).take(MAX_KEYS);
        packets.map(move |packet| {
            let number = match ends {
                Some(_) => packet.identification,
                None => packet.ack,
            };
            (direction, packet.seq, number, ends)
        })
    })
}
