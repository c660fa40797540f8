//! Seeds of the redirector's targets: whole conversations with the real server, recorded.

use super::{
    conversation::{self, SERVER_LEN},
    plan::{KINDS, PLAN_LEN, TASK_LEN},
    story::kind,
};
use crate::{choices::Choices, mutate::MAX_LEN};
use coax_catalog::clients;
use coax_wire::{
    header::{Flags, HEADER_LEN, Header},
    nbt::session::Framing,
};

/// Methods of reading and writing that a plan can choose: the profile's own, core, AndX, raw.
const METHODS: u8 = 4;
/// An NT dialect of recent redirectors, among the profiles.
const MODERN: &str = "modern";

/// A conversation without tampering: who, with what method, doing what.
#[derive(Clone, Copy, Debug)]
struct Case {
    profile: u8,
    method: u8,
    bits: u8,
    server: [u8; SERVER_LEN],
    kind: u8,
    path: u8,
}

impl Case {
    fn plan(self) -> [u8; PLAN_LEN] {
        [self.profile, self.method, self.bits, 0]
    }

    fn task(self) -> [u8; TASK_LEN] {
        [self.kind, self.path, 0, 0, 0, 1, 0x20, 0]
    }

    /// The conversation's input as far as its choices of what to tamper with.
    fn conversation(self) -> Vec<u8> {
        [&self.plan()[..], &self.server, &[0], &self.task()].concat()
    }

    /// A story's input as far as its records: `as_stream` is 1 for bytes as they are.
    fn story(self, as_stream: u8) -> Vec<u8> {
        [&self.plan()[..], &[as_stream, 0], &self.task()].concat()
    }

    /// What the server says in it.
    fn messages(self) -> Vec<Vec<u8>> {
        let mut messages = Vec::new();
        let input = self.conversation();
        conversation::run(&mut Choices::new(&input), |message| {
            messages.push(message.to_vec());
        });
        messages
    }
}

/// Every redirector reads and writes, and two of them do all there is to do, with every server.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (profile, known) in (0..).zip(clients::all()) {
        let case = Case {
            profile,
            method: 0,
            bits: 0,
            server: [0, 0],
            kind: 0,
            path: 0,
        };
        cases.extend([case, Case { kind: 1, ..case }]);
        if known.name != MODERN {
            continue;
        }
        for generation in 0..6 {
            let server = [0, generation];
            cases.extend((0..KINDS as u8).map(|kind| Case {
                kind,
                path: [0, 3, 6, 0, 0, 3, 5, 0, 0, 0][usize::from(kind) % 10],
                bits: u8::from(kind == 9),
                server,
                ..case
            }));
            cases.extend((1..METHODS).map(|method| Case {
                method,
                server,
                ..case
            }));
        }
    }
    cases
}

/// Users who log on, and messages that are signed.
fn log_ons() -> Vec<Case> {
    const USER: u8 = 2;
    const SIGN: u8 = 8;
    let mut cases = Vec::new();
    for profile in 0..clients::all().len() as u8 {
        for (bits, server) in [(USER, 0), (USER | SIGN, 4), (USER, 12), (0, 2), (0, 16)] {
            cases.push(Case {
                profile,
                method: 0,
                bits,
                server: [server, 0],
                kind: profile % 2,
                path: 0,
            });
        }
    }
    cases
}

/// Seeds of `client`: what the server said, as a stream and as replies.
pub fn stories() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for case in cases() {
        let messages = case.messages();
        seeds.push(streamed(case, &messages));
        seeds.push(told(case, &messages));
    }
    seeds
}

fn streamed(case: Case, messages: &[Vec<u8>]) -> Vec<u8> {
    let mut seed = case.story(1);
    seed.extend([0; 16]);
    if *clients::all()[usize::from(case.profile)].transport.port == coax_client::profile::Port::Nbt
    {
        seed.extend([0x82, 0, 0, 0]);
    }
    for message in messages {
        if let Ok(lead) = Framing::Nbt.header(message.len()) {
            seed.extend(lead);
            seed.extend(message);
        }
    }
    seed.truncate(MAX_LEN);
    seed
}

fn told(case: Case, messages: &[Vec<u8>]) -> Vec<u8> {
    let mut seed = case.story(0);
    for message in messages {
        let header = Header::parse(message).ok();
        let is_reply = header.is_some_and(|header| header.flags.has(Flags::REPLY));
        let mut record = vec![kind::MESSAGE];
        let mut body = message.as_slice();
        if is_reply {
            record = vec![kind::ANSWER, u8::from(message[5..9] != [0; 4])];
            body = &message[HEADER_LEN..];
        }
        record.extend((body.len() as u16).to_le_bytes());
        record.extend(body);
        if seed.len() + record.len() > MAX_LEN {
            break;
        }
        seed.extend(record);
    }
    seed
}

/// Seeds of `client_conversation`: nothing tampered with, and each of the first messages tampered with in one way.
pub fn conversations() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (number, case) in cases().into_iter().chain(log_ons()).enumerate() {
        seeds.push(case.conversation());
        let mut tampered = case.conversation();
        tampered.extend(vec![0; number % 9]);
        tampered.extend([
            [192, 200, 208, 216, 222][number % 5],
            number as u8,
            40,
            0,
            0xff,
        ]);
        seeds.push(tampered);
    }
    seeds
}

#[cfg(test)]
mod tests {
    use super::*;
    use coax_client::Outcome;

    #[test]
    fn every_redirector_copies_both_ways_when_nothing_is_tampered_with() {
        for case in cases().into_iter().filter(|case| case.kind < 2) {
            let subject = conversation::run(&mut Choices::new(&case.conversation()), |_| {});
            let first = subject.ends.values().next().unwrap();
            assert!(
                matches!(first, Ok(Outcome::Copied { bytes, .. }) if *bytes == 5000),
                "{case:?}: {first:?}"
            );
        }
    }

    #[test]
    fn a_told_story_goes_as_far_as_the_conversation_it_was_recorded_from() {
        let case = cases().into_iter().find(|case| case.kind == 2).unwrap();
        let seed = told(case, &case.messages());
        let ends = crate::redirector::story::ends_of(&seed);
        assert!(ends[0].is_ok(), "{ends:?}");
    }
}
