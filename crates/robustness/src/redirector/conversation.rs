//! The `client_conversation` target: the redirector's engine joined to the server's, whose messages are tampered with.

use super::{
    plan::{Plan, Task},
    subject::{Subject, fill},
};
use crate::{
    choices::Choices,
    engine::{
        flag::Flag,
        world::{Options, START, World},
    },
};
use coax_client::{Direction, Existing, JobId, Outcome, Tail, Transmit};
use coax_netbios::{Accept, Session, SessionConfig};
use coax_server::{Connection, Peer, memfs::MemFs};
use coax_wire::{
    dialect::Generation,
    time::{Span, Time},
};
use std::{collections::BTreeSet, sync::Arc};

/// Bytes that the server's options take.
pub const SERVER_LEN: usize = 2;
/// Operations of one conversation.
const MOST_TASKS: usize = 3;
/// Rounds of carrying there and back.
const MOST_ROUNDS: usize = 4000;
/// How long the network takes, nanoseconds.
const TRIP: Span = Span::from_millis(1);

const GENERATIONS: &[Generation] = &[
    Generation::Nt,
    Generation::Core,
    Generation::CorePlus,
    Generation::Lanman1,
    Generation::Lanman2,
    Generation::Lanman21,
];

/// Runs one input.
pub fn play(data: &[u8]) {
    run(&mut Choices::new(data), |_| {});
}

/// Runs one input, shows every message of the server's as it arrives, and tells how the operations ended.
pub fn run(choices: &mut Choices<'_>, show: impl FnMut(&[u8])) -> Subject {
    let mut conversation = Conversation::new(choices);
    for _ in 0..=choices.below(MOST_TASKS) {
        let task = Task::from_choices(choices, true);
        conversation.subject.submit(task);
    }
    conversation.talk(choices, show);
    conversation.end()
}

/// Both ends, and what lies between.
struct Conversation {
    subject: Subject,
    fs: Arc<MemFs>,
    server: Connection,
    session: Session,
    woken: Arc<Flag>,
    /// A message that was held back.
    held: Option<Vec<u8>>,
    /// An earlier message.
    earlier: Vec<u8>,
    tampered: bool,
    /// Something was tampered with before messages were signed.
    tampered_unsigned: bool,
    checked: BTreeSet<JobId>,
}

impl Conversation {
    fn new(choices: &mut Choices<'_>) -> Self {
        let plan = Plan::from_choices(choices);
        let mut options = Options::from_choices(choices);
        options.config.max_generation = *choices.one_of(GENERATIONS);
        let world = World::new(options);
        let woken = Arc::new(Flag::default());
        let config = SessionConfig {
            max_message: 1 << 20,
            ..SessionConfig::default()
        };
        Self {
            fs: world.fs.clone(),
            server: Connection::new(
                world.server.clone(),
                woken.clone(),
                Peer::default(),
                *b"12345678",
            ),
            session: Session::server(START, plan.target.transport, Accept::Any, config),
            subject: Subject::new(START, &plan),
            woken,
            held: None,
            earlier: Vec::new(),
            tampered: false,
            tampered_unsigned: false,
            checked: BTreeSet::new(),
        }
    }

    /// Carries messages until all is done, or nothing moves any more.
    fn talk(&mut self, choices: &mut Choices<'_>, mut show: impl FnMut(&[u8])) {
        let sent = self.subject.settle(0);
        self.carry(sent);
        for _ in 0..MOST_ROUNDS {
            if self.subject.is_done() || self.subject.client.is_closed() {
                return;
            }
            let moved = self.fetch(choices, &mut show);
            if !moved && !self.wait() {
                return;
            }
        }
        assert!(self.tampered, "the operations do not end");
    }

    /// Jumps to what is due next; whether there was anything.
    fn wait(&mut self) -> bool {
        let dues = [
            self.subject.client.poll_timeout(),
            self.server.poll_timeout(),
        ];
        let Some(due) = dues.into_iter().flatten().min() else {
            return false;
        };
        let now = self.subject.now;
        let sent = self.subject.pass(Span(due.0.saturating_sub(now.0).max(1)));
        self.carry(sent);
        let now = self.subject.now;
        if self.server.poll_timeout().is_some_and(|due| due <= now) {
            self.server.handle_timeout(now);
        }
        true
    }

    /// What the client sends reaches the server.
    fn carry(&mut self, sent: Vec<Transmit>) {
        self.check_ends();
        for transmit in sent {
            let mut bytes = transmit.head;
            match transmit.tail {
                Tail::None => {}
                Tail::Bytes(tail) => bytes.extend(tail),
                Tail::Local { job, offset, len } => {
                    assert!(offset + len as u64 <= self.subject.local_len(job));
                    let head = bytes.len();
                    bytes.resize(head + len, 0);
                    fill(offset, &mut bytes[head..]);
                }
            }
            self.reach_server(&bytes);
        }
    }

    fn reach_server(&mut self, bytes: &[u8]) {
        let now = self.now();
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = self.session.handle_bytes(now, rest);
            rest = &rest[taken..];
            while let Some(message) = self.session.poll_message() {
                let message = message.expect("the redirector violates the transport's rules");
                self.server.handle_message(now, message);
                self.session.consume();
            }
        }
    }

    fn now(&self) -> Time {
        self.subject.now
    }

    /// What the server sends is tampered with and reaches the client; whether there was anything.
    fn fetch(&mut self, choices: &mut Choices<'_>, show: &mut impl FnMut(&[u8])) -> bool {
        let sent = self.subject.pass(TRIP);
        let mut moved = !sent.is_empty();
        self.carry(sent);
        while let Some(bytes) = self.session.poll_transmit() {
            let sent = self.subject.feed(&bytes, true);
            self.carry(sent);
            moved = true;
        }
        if self.woken.take() {
            self.server.handle_wake(self.now());
        }
        while let Some(transmit) = self.server.poll_transmit() {
            let mut message = transmit.head;
            message.extend(transmit.tail.into_bytes());
            for arriving in self.tamper(choices, message) {
                show(&arriving);
                self.reach_client(&arriving);
            }
            moved = true;
        }
        while self.server.poll_event().is_some() {}
        moved
    }

    fn reach_client(&mut self, message: &[u8]) {
        let Ok(lead) = self.session.header_for(message.len()) else {
            return;
        };
        let sent = self.subject.feed(&[&lead[..], message].concat(), true);
        self.carry(sent);
    }

    /// What arrives in a message's place.
    fn tamper(&mut self, choices: &mut Choices<'_>, message: Vec<u8>) -> Vec<Vec<u8>> {
        let original = message.clone();
        let mut arriving = match choices.u8() {
            ..192 => vec![message],
            192..200 => Vec::new(),
            200..208 => vec![message.clone(), message],
            208..216 => {
                self.held = Some(message);
                return self.note_tampering(Vec::new());
            }
            216..222 => vec![self.earlier.clone(), message],
            _ => vec![altered(choices, message)],
        };
        arriving.extend(self.held.take());
        if arriving.len() != 1 || arriving[0] != original {
            self.note_tampering(Vec::new());
        }
        self.earlier = original;
        arriving
    }

    fn note_tampering(&mut self, arriving: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        self.tampered = true;
        self.tampered_unsigned |= self.subject.client.link().is_none_or(|link| !link.signed);
        arriving
    }

    /// A copy that ended well is whole: always if nothing was tampered with, and whatever was if messages are signed.
    fn check_ends(&mut self) {
        if self.tampered_unsigned {
            return;
        }
        let ended: Vec<JobId> = self.subject.ends.keys().copied().collect();
        for job in ended {
            if self.checked.insert(job)
                && matches!(self.subject.ends[&job], Ok(Outcome::Copied { .. }))
            {
                self.check_copy(job);
            }
        }
    }

    fn check_copy(&self, job: JobId) {
        if let Some(spec) = self.subject.copy(job, Direction::ToClient) {
            let theirs = self.contents(&spec.path);
            let ours = self.subject.files.brought.get(&job);
            let ours = ours.map_or(&[][..], Vec::as_slice);
            assert!(theirs == ours, "the results of {} differ", spec.path);
        }
        if let Some(spec) = self.subject.copy(job, Direction::ToServer) {
            let mut ours = vec![0; self.subject.local_len(job) as usize];
            fill(0, &mut ours);
            let mut theirs = self.contents(&spec.path);
            if spec.existing == Existing::Resume {
                theirs.truncate(ours.len());
            }
            assert!(theirs == ours, "the received data of {} differs", spec.path);
        }
    }

    /// What the server's file holds, whatever the case of its name.
    fn contents(&self, path: &str) -> Vec<u8> {
        let upper = path.to_uppercase();
        let found = self.fs.contents(path).or_else(|_| self.fs.contents(&upper));
        found.unwrap_or_else(|error| panic!("{path:?}: {error}"))
    }

    fn end(mut self) -> Subject {
        self.check_ends();
        self.server.handle_disconnect(self.subject.now);
        self.subject.end()
    }
}

/// A message with something wrong in it.
fn altered(choices: &mut Choices<'_>, mut message: Vec<u8>) -> Vec<u8> {
    let how = choices.below(6);
    let len = message.len().max(1);
    let at = usize::from(choices.u16()) % len;
    // Most of what matters stands at the front.
    let at = if how.is_multiple_of(2) {
        at % 100 % len
    } else {
        at
    };
    match how {
        0 | 1 => overwrite(&mut message, at, &[choices.u8()]),
        2 => overwrite(&mut message, at, &choices.u16().to_le_bytes()),
        3 => message.truncate(at),
        4 => overwrite(&mut message, at, &choices.u32().to_le_bytes()),
        _ => message.extend(std::iter::repeat_n(
            choices.u8(),
            usize::from(choices.u16()),
        )),
    }
    message
}

fn overwrite(message: &mut [u8], at: usize, with: &[u8]) {
    for (place, byte) in message.iter_mut().skip(at).zip(with) {
        *place = *byte;
    }
}
