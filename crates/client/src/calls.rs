//! Requests: numbers, signs and frames them, and matches replies.

use crate::{error::Error, job_id::JobId, jobs::reply::Reply, profile::Cut};
use alloc::{
    collections::{BTreeMap, VecDeque},
    vec::Vec,
};
use coax_logon::signing::{RequestNumber, ServerSequence, Signer};
use coax_wire::{
    command,
    header::{Flags, Flags2, HEADER_LEN, Header, Mid, Pid, Tid, Uid},
    io::Writer,
    nbt::session::Framing,
    smb::{
        reassembly::Reassembly,
        transaction::{Kind, Response},
    },
    time::{Span, Time},
};

/// Timeout of a reply. Windows clients wait 45 s by default (`SessTimeout`, [MS-CIFS] 3.2.2.1).
pub const PATIENCE: Span = Span::from_secs(45);

/// Maximum number of replies without a matching request before the connection is closed.
const MAX_STRAYS: u32 = 1000;

/// Bytes of a message after its head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Tail {
    /// None.
    #[default]
    None,
    /// From memory.
    Bytes(Vec<u8>),
    /// From a copy's local file, which a driver may let the kernel send. If the file is too short, the driver must
    /// close the connection, because the header already contains the length.
    Local {
        /// The copy's job.
        job: JobId,
        /// Offset in the file.
        offset: u64,
        /// Number of bytes.
        len: usize,
    },
}

impl Tail {
    /// Length in bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Bytes(bytes) => bytes.len(),
            Self::Local { len, .. } => *len,
        }
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The data of one write to the transport: head, then tail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transmit {
    /// First bytes.
    pub head: Vec<u8>,
    /// The rest.
    pub tail: Tail,
}

/// A request and its reply, for the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Command code.
    pub command: u8,
    /// When the request was sent.
    pub sent: Time,
    /// When its last reply arrived.
    pub done: Time,
    /// Bytes of file data in it.
    pub bytes: u32,
}

/// The owner of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Setup,
    Job(JobId),
    /// None: the reply to a clean-up request is ignored.
    Nobody,
}

/// A request to send; `out` starts with space for the header.
#[derive(Debug)]
pub(crate) struct Request {
    pub command: u8,
    /// A value of the owner that is returned with the reply.
    pub part: u32,
    pub out: Writer,
    pub tail: Tail,
    /// Bytes of file data.
    pub payload: u32,
    /// The timeout; `None` for requests that stay open on the server.
    pub patience: Option<Span>,
    /// A final reply follows an interim one.
    pub answered_twice: bool,
    /// Collects the parts of a transaction's reply.
    pub gathered: Option<Reassembly>,
}

impl Request {
    pub fn new(command: u8, part: u32) -> Self {
        let mut out = Writer::with_capacity(96);
        out.zeros(HEADER_LEN);
        Self {
            command,
            part,
            out,
            tail: Tail::None,
            payload: 0,
            patience: Some(PATIENCE),
            answered_twice: false,
            gathered: None,
        }
    }
}

/// A request that waits for its reply.
#[derive(Debug)]
pub(crate) struct Call {
    pub owner: Owner,
    pub part: u32,
    pub command: u8,
    pub sent: Time,
    deadline: Option<Time>,
    number: Option<RequestNumber>,
    payload: u32,
    answered_twice: bool,
    gathered: Option<Reassembly>,
}

/// The sending side of a connection.
#[derive(Debug)]
pub(crate) struct Calls {
    outbox: VecDeque<Transmit>,
    waiting: BTreeMap<u16, Call>,
    next_mid: u16,
    framing: Framing,
    cut: Cut,
    pub flags: Flags,
    pub flags2: Flags2,
    pub uid: Uid,
    pub tid: Tid,
    signing: Option<(Signer, ServerSequence)>,
    /// The raw read whose data is the next message.
    raw: Option<u16>,
    pub exchanges: VecDeque<Exchange>,
    strays: u32,
}

/// Maximum size of an error reply, bytes: a header, an empty block, and some margin.
const MAX_REFUSAL: usize = 64;

/// The process id in headers. Servers require only that it does not change.
const PROCESS: Pid = Pid(0x0000_2a01);

impl Calls {
    pub fn new(framing: Framing, cut: Cut) -> Self {
        Self {
            outbox: VecDeque::new(),
            waiting: BTreeMap::new(),
            next_mid: 0,
            framing,
            cut,
            flags: Flags(0),
            flags2: Flags2(0),
            uid: Uid(0),
            tid: Tid(0),
            signing: None,
            raw: None,
            exchanges: VecDeque::new(),
            strays: 0,
        }
    }

    /// Signs all further messages. The sequence numbers of the log-on are already used.
    pub fn sign_from_now(&mut self, signer: Signer) {
        self.signing = Some((signer, ServerSequence::default()));
    }

    pub fn signed(&self) -> bool {
        self.signing.is_some()
    }

    /// Number of outstanding requests, including a folder watch.
    pub fn outstanding(&self) -> usize {
        self.waiting.len()
    }

    /// The command that has been outstanding for the longest time.
    pub fn oldest(&self) -> Option<u8> {
        let timed = self.waiting.values().filter(|call| call.deadline.is_some());
        timed.min_by_key(|call| call.sent).map(|call| call.command)
    }

    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.outbox.pop_front()
    }

    pub fn deadline(&self) -> Option<Time> {
        self.waiting.values().filter_map(|call| call.deadline).min()
    }

    /// The error of the first request whose timeout has passed.
    pub fn overdue(&self, now: Time) -> Option<Error> {
        let is_due = |call: &&Call| call.deadline.is_some_and(|due| due <= now);
        self.waiting
            .values()
            .find(is_due)
            .map(|call| Error::Silent {
                command: call.command,
                after: Span(now.0.saturating_sub(call.sent.0)),
            })
    }

    /// Queues a request with a reply.
    pub fn send(&mut self, now: Time, owner: Owner, request: Request) -> Result<Mid, Error> {
        let mid = self.free_mid();
        let Request {
            command,
            part,
            out,
            tail,
            payload,
            patience,
            answered_twice,
            gathered,
        } = request;
        let number = self.post(mid, command, out, tail)?;
        let call = Call {
            owner,
            part,
            command,
            sent: now,
            deadline: patience.map(|span| now + span),
            number,
            payload,
            answered_twice,
            gathered,
        };
        if command == command::READ_RAW {
            self.raw = Some(mid.0);
        }
        self.waiting.insert(mid.0, call);
        Ok(mid)
    }

    /// Queues a request without a reply: NT_CANCEL of `mid`, or the response to an oplock break.
    pub fn send_unanswered(&mut self, mid: Mid, request: Request) -> Result<(), Error> {
        let Request {
            command, out, tail, ..
        } = request;
        self.post(mid, command, out, tail).map(drop)
    }

    /// Queues the data of a raw write, which has no header; it belongs to request `mid`.
    pub fn send_bare(&mut self, data: Tail) -> Result<(), Error> {
        self.frame(Vec::new(), data)
    }

    /// Matches a message with its request. `None` if further parts follow, or if no request matches.
    pub fn answer<'m>(
        &mut self,
        now: Time,
        message: &'m [u8],
    ) -> Result<Option<(Owner, u32, Reply<'m>)>, Error> {
        if let Some(mid) = self.raw.take() {
            return Ok(self.raw_answer(now, mid, message));
        }
        let header =
            Header::parse(message).map_err(|_| Error::Protocol("a message without SMB header"))?;
        let Some(mut call) = self.waiting.remove(&header.mid.0) else {
            return self.stray(&header).map(|()| None);
        };
        self.check(&call, &header, message)?;
        let mut reply = Reply::parse(header, message, call.command)?;
        if !gather(&mut call, &mut reply)? {
            self.waiting.insert(header.mid.0, call);
            return Ok(None);
        }
        let (owner, part) = (call.owner, call.part);
        if call.answered_twice && reply.is_interim() {
            call.answered_twice = false;
            self.waiting.insert(header.mid.0, call);
        } else {
            self.record(now, &call, reply.moved());
        }
        Ok(Some((owner, part, reply)))
    }

    /// A raw read's data, or the error reply that some servers send instead.
    fn raw_answer<'m>(
        &mut self,
        now: Time,
        mid: u16,
        message: &'m [u8],
    ) -> Option<(Owner, u32, Reply<'m>)> {
        let call = self.waiting.remove(&mid)?;
        let refusal = Header::parse(message).ok().filter(|header| {
            let ours = header.command == command::READ_RAW && header.mid.0 == mid;
            ours && header.flags.has(Flags::REPLY)
                && header.status != 0
                && message.len() < MAX_REFUSAL
        });
        let parsed = refusal.and_then(|header| Reply::parse(header, message, call.command).ok());
        let reply = parsed.unwrap_or_else(|| Reply::raw(message));
        let moved = if reply.is_bare() {
            message.len() as u32
        } else {
            0
        };
        self.record(now, &call, moved);
        Some((call.owner, call.part, reply))
    }

    fn stray(&mut self, header: &Header) -> Result<(), Error> {
        // A failed write-behind causes a final reply that no request waits for.
        self.strays = self.strays.saturating_add(1);
        if self.strays > MAX_STRAYS || !header.flags.has(Flags::REPLY) {
            return Err(Error::Protocol("answers to requests that were not made"));
        }
        Ok(())
    }

    fn check(&self, call: &Call, header: &Header, message: &[u8]) -> Result<(), Error> {
        if !is_marked(call, header) || !is_fitting(call, header) {
            return Err(Error::Protocol(
                "an answer of another command than was asked",
            ));
        }
        let Some(((signer, _), number)) = self.signing.as_ref().zip(call.number) else {
            return Ok(());
        };
        signer
            .verify(number.reply(), message)
            .map_err(|_| Error::Signature {
                command: call.command,
            })
    }

    fn record(&mut self, now: Time, call: &Call, moved: u32) {
        self.exchanges.push_back(Exchange {
            command: call.command,
            sent: call.sent,
            done: now,
            bytes: call.payload.max(moved),
        });
    }

    fn free_mid(&mut self) -> Mid {
        loop {
            self.next_mid = self.next_mid.wrapping_add(1);
            // 0xFFFF is for the server's oplock breaks; 0 is never used by clients.
            let taken = self.waiting.contains_key(&self.next_mid);
            if !taken && !matches!(self.next_mid, 0 | 0xffff) {
                return Mid(self.next_mid);
            }
        }
    }

    /// Adds the header, signs and queues a message.
    fn post(
        &mut self,
        mid: Mid,
        command: u8,
        mut out: Writer,
        tail: Tail,
    ) -> Result<Option<RequestNumber>, Error> {
        let header = Header {
            command,
            flags: self.flags,
            flags2: self.flags2,
            tid: self.tid,
            pid: PROCESS,
            uid: self.uid,
            mid,
            ..Header::default()
        };
        let mut head = Writer::with_capacity(HEADER_LEN);
        header.emit(&mut head);
        out.patch(0, head.as_slice());
        let number = self.sign(command, &mut out, &tail);
        self.frame(out.into_vec(), tail)?;
        Ok(number)
    }

    fn sign(&mut self, command: u8, out: &mut Writer, tail: &Tail) -> Option<RequestNumber> {
        let (signer, sequence) = self.signing.as_mut()?;
        let number = sequence.next(command);
        let rest: &[u8] = match tail {
            Tail::Bytes(bytes) => bytes,
            Tail::None | Tail::Local { .. } => &[],
        };
        // A message always contains its header, so there is space for the signature.
        let _ = signer.sign_parts(number.request(), out.as_mut_slice(), &[rest]);
        Some(number)
    }

    /// Prepends the session header to a message and splits it as the redirector does.
    fn frame(&mut self, message: Vec<u8>, tail: Tail) -> Result<(), Error> {
        let len = message.len().saturating_add(tail.len());
        let lead = self
            .framing
            .header(len)
            .map_err(|_| Error::Protocol("a message longer than the transport can carry"))?;
        let mut head = Vec::with_capacity(message.len().saturating_add(lead.len()));
        head.extend_from_slice(&lead);
        if self.cut == Cut::SessionHeader {
            self.outbox.push_back(Transmit {
                head: core::mem::take(&mut head),
                tail: Tail::None,
            });
        }
        head.extend_from_slice(&message);
        if self.cut == Cut::Data && !tail.is_empty() {
            self.outbox.push_back(Transmit {
                head: core::mem::take(&mut head),
                tail: Tail::None,
            });
        }
        self.outbox.push_back(Transmit { head, tail });
        Ok(())
    }
}

/// Whether the header has the reply flag. Samba 4.17 does not set it in the interim response to a raw write.
fn is_marked(call: &Call, header: &Header) -> bool {
    header.flags.has(Flags::REPLY) || call.command == command::WRITE_RAW
}

/// Whether the reply's command matches the request. JFileServer 1.4 answers a cancelled watch with the command of the
/// cancel.
fn is_fitting(call: &Call, header: &Header) -> bool {
    match header.command {
        command::WRITE_COMPLETE => {
            matches!(call.command, command::WRITE_RAW | command::WRITE_COMPLETE)
        }
        command::NT_CANCEL => call.command == command::NT_TRANSACT && header.status != 0,
        code => code == call.command,
    }
}

/// Adds a part of a transaction's reply. Returns whether the reply is complete.
fn gather(call: &mut Call, reply: &mut Reply<'_>) -> Result<bool, Error> {
    let kind = Kind::of(call.command).filter(|_| reply.is_whole_or_part());
    let Some((kind, gathered)) = kind.zip(call.gathered.as_mut()) else {
        return Ok(true);
    };
    let nonsense = reply.nonsense();
    let piece = Response::parse(kind, &reply.any()?).map_err(&nonsense)?;
    let Some(piece) = piece else {
        return Ok(false);
    };
    match gathered.push(&piece).map_err(&nonsense)? {
        Some(whole) => {
            reply.gathered = whole;
            Ok(true)
        }
        None => Ok(false),
    }
}
