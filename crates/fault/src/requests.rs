//! What is known of the requests that wait for a reply.

use alloc::{collections::VecDeque, vec::Vec};

use coax_wire::{
    block::{Block, each_in_chain},
    command as code,
    header::{Header, Mid, Pid},
    smb::{
        summary::{self, Value},
        transaction::{self, Kind},
    },
};

use crate::target::Target;

/// Requests that are remembered. A client that sends more without waiting gets the replies of the oldest unchanged.
const MAX_REQUESTS: usize = 256;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) header: Header,
    commands: Vec<u8>,
    function: Option<u16>,
    /// The file it is about.
    pub(crate) fid: Option<u16>,
    /// Numbers of the faults that are for it.
    pub(crate) faults: Vec<usize>,
}

impl Asked {
    /// Reads a message; `None` if it is no request.
    pub(crate) fn parse(message: &[u8]) -> Option<Self> {
        let header = Header::parse(message).ok()?;
        let mut asked = Self {
            header,
            commands: Vec::new(),
            function: None,
            fid: None,
            faults: Vec::new(),
        };
        each_in_chain(header.command, message, |command, block| {
            asked.block(command, block);
        });
        if asked.commands.is_empty() {
            asked.commands.push(header.command);
        }
        Some(asked)
    }

    fn block(&mut self, command: u8, block: &Block<'_>) {
        self.commands.push(command);
        let unicode = self.header.unicode();
        if let Some(kind) = Kind::of(command) {
            let request = transaction::Request::parse(kind, block, unicode).ok();
            self.function = request.map(|request| request.function);
        }
        let fields = summary::request(command, block, unicode).unwrap_or_default();
        let fid = fields.iter().find_map(|(_, value)| match value {
            Value::Fid(fid) => Some(*fid),
            _ => None,
        });
        self.fid = self.fid.or(fid);
    }

    pub(crate) fn is_for(&self, target: Target) -> bool {
        match target {
            Target::Any => true,
            Target::Command(command) => self.commands.contains(&command),
            Target::Function(command, function) => {
                self.header.command == command && self.function == Some(function)
            }
        }
    }
}

/// The requests of a connection whose replies a fault may be for.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    waiting: VecDeque<Asked>,
    /// READ_RAW's reply has no header: it is the next message that is not an oplock break.
    raw_reads: VecDeque<Asked>,
}

impl Requests {
    pub(crate) fn note(&mut self, asked: Asked) {
        if asked.header.command == code::READ_RAW {
            push(&mut self.raw_reads, asked);
            return;
        }
        let key = key(&asked.header);
        self.waiting.retain(|other| self::key(&other.header) != key);
        if !asked.faults.is_empty() {
            push(&mut self.waiting, asked);
        }
    }

    /// The request that a message to the client answers, and the message's header.
    pub(crate) fn answered(&mut self, head: &[u8]) -> Option<(Asked, Option<Header>)> {
        let header = Header::parse(head).ok();
        if let Some(header) = &header
            && header.flags.0 & coax_wire::header::Flags::REPLY == 0
        {
            return None;
        }
        if let Some(asked) = self.raw_reads.pop_front() {
            return Some((asked, None));
        }
        let header = header?;
        let found = self
            .waiting
            .iter()
            .find(|asked| key(&asked.header) == key(&header));
        found.map(|asked| (asked.clone(), Some(header)))
    }
}

fn key(header: &Header) -> (Pid, Mid) {
    (header.pid, header.mid)
}

fn push(queue: &mut VecDeque<Asked>, asked: Asked) {
    if queue.len() >= MAX_REQUESTS {
        queue.pop_front();
    }
    queue.push_back(asked);
}
