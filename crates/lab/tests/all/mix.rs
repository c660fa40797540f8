//! The lab's redirectors send exactly the same requests as the same engine connected directly to the server's engine.

use std::{collections::BTreeMap, sync::Arc};

use coax_client::{CopySpec, Direction, Operation, profile::Profile};
use coax_lab::{
    Setup,
    smb::{CopySetup, ServerParams, copy},
};
use coax_wire::{command, time::Span};

use crate::pair::{Pair, noise, profiles};

const LEN: usize = 1_000_000;
const FILE: &str = "FILE.BIN";

/// Requests of each command: number, and maximum number of data bytes.
type Mix = BTreeMap<u8, (u64, u32)>;

fn in_the_lab(profile: &Arc<Profile>, direction: Direction) -> Mix {
    let result = copy(&CopySetup {
        world: Setup::default(),
        client: profile.clone(),
        more: Vec::new(),
        protocol: Default::default(),
        server: ServerParams::default(),
        direction,
        size: LEN as u64,
        files: 1,
        limit: Span::from_secs(1000),
        whole: false,
        taps: Vec::new(),
    });
    assert_eq!(result.copied, Ok(LEN as u64), "{}", profile.name);
    let entries = result.mix.iter();
    entries
        .map(|(code, _, entry)| (code, (entry.requests, entry.largest)))
        .collect()
}

fn directly(pair: &mut Pair, spec: CopySpec, data: &[u8]) -> Mix {
    // completes pending replies of an earlier copy, such as the end of a change notification
    (0..4).for_each(|_| pair.turn());
    pair.exchanges.clear();
    pair.run(Operation::Copy(spec), data).unwrap();
    let mut mix = Mix::new();
    for exchange in &pair.exchanges {
        let entry = mix.entry(exchange.command).or_default();
        entry.0 += 1;
        entry.1 = entry.1.max(exchange.bytes);
    }
    for set_up in [
        command::NEGOTIATE,
        command::SESSION_SETUP_ANDX,
        command::TREE_CONNECT,
        command::TREE_CONNECT_ANDX,
    ] {
        mix.remove(&set_up);
    }
    mix
}

#[test]
fn every_redirector_makes_the_same_requests_in_the_lab_as_directly() {
    let data = noise(LEN);
    for profile in profiles() {
        let mut pair = Pair::new(profile.clone());
        let put = directly(&mut pair, CopySpec::put(FILE, LEN as u64), &data);
        let get = directly(&mut pair, CopySpec::get(FILE), &[]);
        let name = &profile.name;
        assert!(!put.is_empty() && !get.is_empty(), "{name}");
        assert_eq!(in_the_lab(&profile, Direction::ToServer), put, "{name}");
        assert_eq!(in_the_lab(&profile, Direction::ToClient), get, "{name}");
    }
}
