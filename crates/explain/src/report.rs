//! The report of a capture.

mod bounds;
mod breakdown;
mod direction;
mod joined;
mod netbios;
mod operation;
mod party;

use std::{borrow::Cow, sync::Arc};

use coax_capture::Content;
use coax_cause::Account;
use coax_wire::time::{Span, Time};

pub use bounds::Bounds;
pub use breakdown::{
    Breakdown, Detail, Exchange, FrameControl, Graph, LabelKind, MessageLabel, PacketExcerpt,
    PacketRow, Point, RequestSample, Spot, Spots, Stall, Stretches, Waterfall,
};
pub use coax_capture::{Endpoint, Flags, OptionLayout, SynFingerprint, Transport};
pub use direction::Direction;
pub use joined::{Joined, JoinedPath, JoinedWay};
pub use netbios::{Netbios, NetbiosSide};
pub use operation::{Holder, LongestWait, Operation, OperationKind, Reason};
pub use party::{Evidence, Party, Stack, Sureness};

/// Everything about one capture.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// What is wrong with the capture.
    pub quality: Quality,
    /// How far the report can be trusted.
    pub grade: Grade,
    /// When its first and last packets were captured.
    pub span: Option<(Time, Time)>,
    /// TCP connections, in the order of their first packets.
    pub connections: Vec<Connection>,
    /// Copies, in the order in which they ended.
    pub copies: Vec<Copy>,
    /// Number of copies that are not in [`Self::copies`], because there are too many.
    pub copies_left_out: u64,
    /// Number of connections that are not in [`Self::connections`].
    pub connections_left_out: u64,
    /// What a second capture, of the other end, adds.
    pub joined: Option<Joined>,
    /// Operations other than the transfer of data that took long, in the order in which they began.
    pub operations: Vec<Operation>,
    /// Number of operations that are not in [`Self::operations`].
    pub operations_left_out: u64,
}

impl Capture {
    /// The capture point of the connection that carried most bytes.
    pub fn vantage(&self) -> Option<Vantage> {
        let bytes =
            |connection: &&Connection| connection.sides.iter().map(|side| side.bytes).sum::<u64>();
        self.connections.iter().max_by_key(bytes)?.vantage
    }
}

/// The defects of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quality {
    /// Packets read.
    pub packets: u64,
    /// Bytes they had on the wire.
    pub wire_bytes: u64,
    /// TCP segments among them.
    pub tcp_segments: u64,
    /// Packets of which not all was kept.
    pub cut_packets: u64,
    /// The longest that was kept of a packet of which not all was kept, bytes: the snap length.
    pub snap_len: u32,
    /// Packets with a time before that of the packet before.
    pub out_of_order: u64,
    /// The furthest that a packet's time lies before that of one before it.
    pub worst_disorder: Span,
    /// The unit of the clock: all times are multiples of it.
    pub clock_grain: Span,
    /// Times that fit neither the packet before nor the one after, and were replaced.
    pub replaced_times: u64,
    /// How often the clock was set back by more than a second.
    pub clock_steps: u64,
    /// Interfaces whose time offset was ignored, because it moves packets to before 1970 or after 2554.
    pub ignored_offsets: u64,
    /// Packets captured twice.
    pub duplicates: u64,
    /// Of these the ones whose captures lie further apart than at one place.
    pub captured_later: u64,
    /// The file contains captures of both ends: most packets are in it twice, a one-way delay apart.
    pub merged_ends: bool,
    /// Packets that were left out because another end captured them: the file contains captures of both ends, and only the client's
    /// packets count.
    pub other_end: u64,
    /// Segments with data that were captured after their acknowledgments.
    pub acked_before: u64,
    /// The two directions were captured with clocks that differ, so that many segments come after their acknowledgments.
    pub clocks_differ: bool,
    /// Packets that the capturing machine says it dropped.
    pub dropped: u64,
    /// Bytes that were acknowledged and never captured.
    pub missing_bytes: u64,
    /// Holes that they leave.
    pub holes: u64,
    /// Segments longer than the receiver's maximum: several, made one by the capturing machine's card or kernel.
    pub coalesced: u64,
    /// Fragments of which the rest never came.
    pub incomplete_fragments: u64,
    /// Packets of links that are not understood.
    pub unknown_links: u64,
    /// The number of the first such link (tcpdump.org/linktypes.html).
    pub unknown_link: Option<u16>,
    /// Frames of NetBEUI.
    pub netbeui: u64,
    /// Packets of IPX.
    pub ipx: u64,
    /// Frames of NetBEUI and IPX whose headers are damaged or were cut off.
    pub damaged_frames: u64,
    /// Packets cut so short that their headers are missing.
    pub cut_headers: u64,
    /// Connections that began before the capture.
    pub without_start: u64,
    /// Bytes of SMB connections that belong to no message that could be told.
    pub skipped_bytes: u64,
    /// Connections to SMB's ports of which the snap length cut the SMB headers off.
    pub smb_headers_cut: u64,
    /// Where and why the file could not be read to its end.
    pub damage: Option<(u64, String)>,
}

impl Quality {
    /// Counts what a packet carries.
    pub(crate) fn note(&mut self, carried: &Content<'_>) {
        let count = match carried {
            Content::Tcp(_) => &mut self.tcp_segments,
            Content::UnknownLink(number) => {
                self.unknown_link.get_or_insert(*number);
                &mut self.unknown_links
            }
            Content::Truncated => &mut self.cut_headers,
            Content::NetBeui(_) => &mut self.netbeui,
            Content::Ipx(_) => &mut self.ipx,
            Content::DamagedFrame(transport) => {
                self.damaged_frames += 1;
                match transport {
                    Transport::NetBeui => &mut self.netbeui,
                    _ => &mut self.ipx,
                }
            }
            _ => return,
        };
        *count += 1;
    }
}

/// The grade of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Nothing that matters is missing.
    #[default]
    Good,
    /// The numbers may be off by the defects listed.
    Fair,
    /// So much is missing that totals and causes are rough.
    Poor,
}

impl Grade {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Poor => "poor",
        }
    }
}

/// Where a capture was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vantage {
    /// At the client, or next to it.
    Client,
    /// At the server, or next to it.
    Server,
    /// Somewhere between.
    Between,
}

impl Vantage {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Between => "between",
        }
    }
}

/// What a connection carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// SMB1 in NetBIOS session packets.
    Smb1,
    /// SMB2 or SMB3, of which nothing but TCP is analysed.
    Smb2 {
        /// The dialect that the server chose ([MS-SMB2] 2.2.4), if it was captured: 0x0302 is 3.0.2.
        dialect: Option<u16>,
    },
    /// Anything else.
    Other,
}

impl Protocol {
    /// Its name in reports: `SMB1`, `SMB 3.0.2`, `SMB2 or SMB3`.
    pub fn label(self) -> Option<String> {
        match self {
            Self::Smb1 => Some("SMB1".to_owned()),
            Self::Smb2 { dialect: None } => Some("SMB2 or SMB3".to_owned()),
            Self::Smb2 {
                dialect: Some(dialect),
            } => {
                let digit = |shift: u16| dialect >> shift & 15;
                Some(format!("SMB {}.{}.{}", digit(8), digit(4), digit(0)).replace("2.1.0", "2.1"))
            }
            Self::Other => None,
        }
    }
}

/// A TCP connection, or a session of NetBEUI or IPX.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Who opened it, as far as can be told.
    pub client: Endpoint,
    /// To whom.
    pub server: Endpoint,
    /// What it carries.
    pub protocol: Protocol,
    /// Its port is one of SMB's, but the snap length cut the headers of its messages off.
    pub headers_cut: bool,
    /// First and last packet.
    pub span: (Time, Time),
    /// Numbers of the first and last packet.
    pub frames: (u64, u64),
    /// What the client sent, and what the server sent.
    pub sides: [Side; 2],
    /// From the client's SYN or data to the server's answer to it, as seen here: the round trip on the server's side.
    pub server_rtt: Option<Span>,
    /// The same on the client's side.
    pub client_rtt: Option<Span>,
    /// By how much nine of ten round trips to the client, and to the server, were longer than the shortest at most, as
    /// acknowledgments show; `None` if there are too few.
    pub late: [Option<Span>; 2],
    /// Where it was captured.
    pub vantage: Option<Vantage>,
    /// Whether its SYN was captured.
    pub has_start: bool,
    /// What SMB agreed on.
    pub smb: Option<Smb>,
    /// SMB requests by kind.
    pub requests: Vec<Requests>,
    /// All of them, those of copies too: how many, and the time from each to its answer.
    pub asked: (u64, Span),
    /// What surrounds its copies.
    pub around: Around,
    /// What both ends' captures show of the path.
    pub joined: Option<JoinedPath>,
    /// How TCP behaved on the client's side, and on the server's.
    pub habits: [Habits; 2],
    /// Who the client and the server are.
    pub parties: [Party; 2],
    /// Whose TCP theirs is.
    pub stacks: [Stack; 2],
    /// What frames of NetBEUI and IPX show beyond that.
    pub netbios: Option<Box<Netbios>>,
}

impl Connection {
    /// What carries it.
    pub fn transport(&self) -> Transport {
        self.client.transport()
    }

    /// Whether the widths of the client's (0) or server's (1) windows are known. Both SYNs tell by which power of two they are
    /// to be multiplied (RFC 7323 2.2). Without them, windows that were overrun are multiplied by at least the factor that the data in flight requires, and scales
    /// are such that a segment or two overrun those that have one.
    pub fn knows_windows_of(&self, side: usize) -> bool {
        self.has_start
            || self
                .sides
                .get(side)
                .is_some_and(|side| side.least_scale == 0)
    }

    /// Bytes of a copy in a round trip on average. The sender had at least as many in flight; a capture at the receiver's end
    /// does not show how many.
    pub fn bytes_in_round_trip(&self, copy: &Copy) -> u64 {
        let ways = [self.client_rtt, self.server_rtt];
        let ways = ways.into_iter().flatten();
        let whole = ways.fold(0_u64, |sum, way| sum.saturating_add(way.0));
        let bytes = u128::from(copy.bytes) * u128::from(whole) / u128::from(copy.wall.0.max(1));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// What goes on around copies: logging on, searches, checks of paths, opens that failed or that moved nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Around {
    /// Requests that belong to no copy, by kind.
    pub requests: Vec<Requests>,
    /// All of them, and the time from each to its answer. In that time is nothing that waits for a change or a lock, and no
    /// reading and writing of pipes.
    pub asked: (u64, Span),
    /// The time from each request that moved no data to its answer, of copies too.
    pub metadata: Span,
    /// The time of the connection, from its first packet to its last, in which no copy was under way.
    pub time: Span,
}

/// How often something was seen, and in which packet first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// How often.
    pub count: u64,
    /// The number of the first packet; 0 if there is none.
    pub frame: u64,
}

impl Seen {
    /// Counts once more.
    pub(crate) fn note(&mut self, frame: u64) {
        if self.count == 0 {
            self.frame = frame;
        }
        self.count = self.count.saturating_add(1);
    }
}

/// How one side's TCP behaved, beyond what [`Side`] counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Habits {
    /// Its SYN.
    pub syn: Option<u64>,
    /// What that tells of it.
    pub greeting: Option<SynFingerprint>,
    /// The shortest silence after which it sent something again, and the packet that did.
    pub shortest_timer: Option<(Span, u64)>,
    /// The first packet with its longest segment.
    pub largest_frame: u64,
    /// The first packet with its widest window.
    pub widest_frame: u64,
    /// Windows that it shut.
    pub shut: Seen,
    /// Data that it sent again, or that came late.
    pub again: Seen,
    /// Losses that began in a burst, and of those the ones that hit the place that was hit most often.
    pub burst_losses: (u64, u64),
    /// That place: the how-manieth segment in a row.
    pub burst_place: Option<u64>,
    /// It sent small segments while others were not acknowledged: it does without Nagle's algorithm.
    pub no_delay: bool,
    /// Acknowledgments that it held back on purpose.
    pub held_acks: Seen,
    /// How long it held most of them.
    pub hold: Option<Span>,
    /// How many segments it lets come before it acknowledges, mostly.
    pub ack_every: Option<u64>,
    /// The segment that it sent again most often, if none as long ever arrived.
    pub stuck: Seen,
    /// Bytes in that one.
    pub stuck_bytes: u32,
}

/// What one side sent again, by what made it: see `tcp/retransmissions.rs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentAgain {
    /// Acknowledgments told of a loss.
    pub fast: u64,
    /// Tail loss probes (RFC 8985 §7).
    pub probe: u64,
    /// The retransmission timer.
    pub timer: u64,
    /// In the wake of a timer, as acknowledgments came.
    pub after_timer: u64,
    /// Of all of these, the ones that were not needed: the first had arrived.
    pub needless: u64,
}

/// What one side of a connection sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Side {
    /// Segments.
    pub segments: u64,
    /// Segments with data.
    pub data_segments: u64,
    /// Bytes of data, each counted once.
    pub bytes: u64,
    /// Segments that brought nothing new: sent again.
    pub retransmissions: u64,
    /// Bytes in them.
    pub retransmitted_bytes: u64,
    /// Of what was sent again, the segments that were not needed: the first had arrived.
    pub spurious: u64,
    /// What it sent again, by what made it. Where a loss lies before the capture, what filled its hole is among it.
    pub again: SentAgain,
    /// Segments that filled a hole: late, or lost before they could be captured and sent again.
    pub out_of_order: u64,
    /// Acknowledgments that said nothing new.
    pub duplicate_acks: u64,
    /// The maximum segment size it announced.
    pub mss: Option<u16>,
    /// Its window scale, if it offered one.
    pub window_scale: Option<u8>,
    /// The scale that its windows were taken to have where its SYN was not captured: it may be more.
    pub least_scale: u8,
    /// Whether it permitted SACK.
    pub sack: bool,
    /// Whether it offered timestamps.
    pub timestamps: bool,
    /// The largest window it offered, bytes.
    pub max_window: u32,
    /// The largest window while this side received the second half of its data, bytes. It is smaller than `max_window` if a
    /// program set SO_RCVBUF after its connection was established.
    pub settled_window: u32,
    /// The smallest, after its SYN.
    pub min_window: Option<u32>,
    /// How often the window was shut.
    pub zero_windows: u64,
    /// How often what it sent filled the other side's window.
    pub window_full: u64,
    /// Most bytes on their way and not acknowledged.
    pub max_in_flight: u64,
    /// The longest segment's data.
    pub largest_segment: u32,
    /// How long the path takes for a byte of what it sent, headers and framing included, picoseconds, by the distances
    /// at which packets come; `None` if too few followed each other closely.
    pub path_ps_per_byte: Option<u64>,
}

/// What SMB agreed on, and what it used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Smb {
    /// Dialects offered, in order.
    pub offered: Vec<String>,
    /// The one chosen.
    pub dialect: Option<String>,
    /// Largest message that the server takes, bytes.
    pub server_max_buffer: Option<u32>,
    /// Largest message that the client takes, bytes.
    pub client_max_buffer: Option<u32>,
    /// Requests outstanding at once, by the server's word.
    pub max_mpx: Option<u16>,
    /// Most requests that were outstanding at once.
    pub most_outstanding: u64,
    /// The median time from an answer to the first byte of the next request for data, ns; negative if the request began
    /// first. `None` if there were fewer than four.
    pub ask_gap: Option<i64>,
    /// Raw reads and raw writes, as offered by the server.
    pub raw_offered: Option<(bool, bool)>,
    /// Whether an NT server offered to sign messages.
    pub signing_offered: Option<bool>,
    /// Largest raw transfer, by an NT server's word.
    pub max_raw: Option<u32>,
    /// Capabilities of NT LM 0.12, server's and client's.
    pub capabilities: (Option<u32>, Option<u32>),
    /// Raw reads, those that came back empty, and raw writes and those refused.
    pub raw_reads: (u64, u64),
    /// Raw writes, and those refused.
    pub raw_writes: (u64, u64),
    /// What client and server say they are: operating system, LAN manager.
    pub client_system: Option<(String, String)>,
    /// The same of the server.
    pub server_system: Option<(String, String)>,
    /// Whether messages are signed.
    pub signed: bool,
    /// Oplock breaks sent by the server.
    pub oplock_breaks: u64,
    /// Flags and Flags2 of the client's NEGOTIATE.
    pub client_flags: Option<(u8, u16)>,
    /// Requests outstanding at once, by the client's word.
    pub client_mpx: Option<u16>,
    /// Where the packets are that tell all this.
    pub frames: Frames,
    /// Reads and writes asked for while a NOTIFY_CHANGE waited.
    pub with_notify: Seen,
    /// Writes that asked for the disk.
    pub through: Seen,
    /// Requests that were refused, by command and status; the first 64 kinds.
    pub refusals: Vec<Refusal>,
}

/// In which packets it was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    /// NEGOTIATE and its answer.
    pub negotiate: (Option<u64>, Option<u64>),
    /// SESSION_SETUP_ANDX and its last answer.
    pub log_on: (Option<u64>, Option<u64>),
    /// The first raw read, raw write, other read, other write.
    pub transfers: [Option<u64>; 4],
}

/// A kind of request that was refused for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The command.
    pub command: String,
    /// The status: `ERRSRV/2242` or `0xC0000034`.
    pub status: String,
    /// How often.
    pub seen: Seen,
}

/// Requests of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requests {
    /// The command, and a transaction's function.
    pub command: Cow<'static, str>,
    /// Its answer comes when something happens: a change in a folder, a lock given up.
    pub waits: bool,
    /// How many.
    pub count: u64,
    /// Bytes of files that they moved.
    pub bytes: u64,
    /// How many were answered with an error.
    pub refused: u64,
    /// How many had no answer in the capture.
    pub unanswered: u64,
    /// The size that most of them moved.
    pub usual_bytes: u64,
    /// The most that one of them moved.
    pub largest_bytes: u64,
    /// How many have a response time.
    pub answered: u64,
    /// Response times, from the last byte of the request to the last of the answer; they overlap where requests do.
    pub response_total: Span,
    /// Half of them took no longer.
    pub response_median: Option<Span>,
    /// 95 of 100 took no longer.
    pub response_p95: Option<Span>,
}

/// A file copied, or the data of a connection that carries no SMB.
#[derive(Clone, Debug)]
pub struct Copy {
    /// The connection, by its place in [`Capture::connections`].
    pub connection: usize,
    /// The file's name, as the client gave it; `None` of other connections and of files opened before the capture.
    pub name: Option<String>,
    /// The share.
    pub share: Option<Arc<str>>,
    /// Which way most bytes went.
    pub direction: Direction,
    /// Bytes that went that way, each counted once.
    pub bytes: u64,
    /// Bytes that went that way, those moved again counted again.
    pub moved: u64,
    /// When it began: the open's first byte.
    pub start: Time,
    /// Until the close's answer, or the last that was seen of it.
    pub wall: Span,
    /// Numbers of the first and last packet.
    pub frames: (u64, u64),
    /// Whether its open and its close were seen.
    pub seen: (bool, bool),
    /// The file's size, if the open told.
    pub file_size: Option<u64>,
    /// Ranges of the file between the first and last byte moved that were not moved: how many, and their bytes.
    pub holes: (u64, u64),
    /// Requests by kind.
    pub requests: Vec<Requests>,
    /// What the wall clock was spent on. It adds up to [`Self::wall`].
    pub account: Account,
    /// What bears that out.
    pub breakdown: Breakdown,
}
