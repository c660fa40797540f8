//! The facts that a rule of `data/advice` can ask for: names, kinds, and what they are.

use std::sync::LazyLock;

use coax_cause::Cause;

/// A fact's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A name.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// Several names.
    List(Vec<String>),
}

/// What kind of value a fact has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number.
    Number,
    /// A name.
    Text,
    /// Yes or no.
    Flag,
    /// Several names.
    List,
}

/// A fact that can be asked for.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// Its name.
    pub name: &'static str,
    /// What kind of value it has.
    pub kind: Kind,
    /// What it is, and in what unit.
    pub what: &'static str,
}

macro_rules! words {
    ($($kind:ident $name:literal $what:literal;)*) => {
        &[$(Word { name: $name, kind: Kind::$kind, what: $what }),*]
    };
}

/// Facts that can be asked for, without the shares of causes.
const WORDS: &[Word] = words! {
    Text "direction" "to-client or to-server";
    Text "carries" "smb1 or other";
    Text "transport" "tcp, netbeui, nbipx or direct-ipx";
    Number "copy.bytes" "bytes copied";
    Number "copy.seconds" "its time, s";
    Number "copy.rate" "bytes a second";
    Text "dialect" "the dialect agreed on";
    List "dialects" "the dialects offered";
    Flag "negotiate.refused" "the server chose none of the dialects";
    Text "client.profile" "the redirector of data/clients that the client is, most like it, or unknown";
    Text "client.name" "what the client is called";
    Text "client.sure" "sure, likely, like or unknown";
    Text "server.kind" "the server's kind in data/servers-guess.toml, or unknown";
    Text "server.name" "what the server is called";
    Number "round-trip.ms" "the shortest round trip seen, ms";
    Text "block.kind" "core, andx, raw or mpx: the requests that moved most of the copy";
    Number "block.usual" "bytes that most of them moved";
    Number "block.of-buffer" "size of most of them, percent of buffer.server, or of the whole kibibytes that fit if it is such a size";
    Number "block.at-once" "block.usual times mpx.used: bytes that can be asked for at once";
    Number "block.of-limit" "size of most of them, percent of the smaller one of buffer.server and buffer.client";
    Number "block.page-rest" "what is left of that beyond whole pages of 4,096 bytes";
    Number "block.largest" "the most that one of them moved, bytes";
    Number "block.count" "how many moved data, of all kinds";
    Number "block.response-ms" "half of the answers to them took no longer, ms";
    Number "server.answering" "part of the copy in which the server had a whole request to answer, percent: responses less a round trip each";
    Number "read.core.count" "READ and LOCK_AND_READ in the copy";
    Number "read.andx.count" "READ_ANDX in the copy";
    Number "read.raw.count" "READ_RAW in the copy";
    Number "read.mpx.count" "READ_MPX in the copy";
    Number "write.core.count" "WRITE and its kin in the copy";
    Number "write.andx.count" "WRITE_ANDX in the copy";
    Number "write.raw.count" "WRITE_RAW in the copy";
    Number "write.mpx.count" "WRITE_MPX in the copy";
    Number "write.count" "writes of all kinds in the copy";
    Number "write.through" "writes on the connection that asked for the disk";
    Number "flush.count" "FLUSH in the copy";
    Flag "raw-read.offered" "the server offers raw reads";
    Flag "raw-write.offered" "the server offers raw writes";
    Number "raw-read.used" "raw reads on the connection";
    Number "raw-read.empty" "raw reads that came back empty";
    Number "raw-write.used" "raw writes on the connection";
    Number "raw-write.refused" "raw writes refused at once";
    Number "raw.max" "the largest raw transfer, by an NT server's word, bytes";
    Number "buffer.server" "the largest message that the server takes, bytes";
    Number "buffer.client" "the largest message that the client takes, bytes";
    Number "mpx.max" "requests at once that the server allows";
    Number "mpx.used" "the most that were outstanding";
    Flag "large-read.offered" "the server takes READ_ANDX beyond its buffer";
    Flag "large-write.offered" "the server takes WRITE_ANDX beyond its buffer";
    Flag "signed" "messages are signed";
    Flag "signing.offered" "the server offers to sign messages (NT LM 0.12)";
    Number "oplock.breaks" "oplocks that the server took back";
    Number "notify.pending" "reads and writes asked for while a NOTIFY_CHANGE waited";
    List "refusals" "COMMAND:STATUS of all that was refused, such as SESSION_SETUP_ANDX:ERRSRV/2242";
    Number "opens.missing" "opens on the connection of what is not there";
    Number "mss.client" "the MSS that the client announced, bytes";
    Number "mss.server" "the MSS that the server announced, bytes";
    Number "segment.largest" "the longest segment of the copy's sender, bytes";
    Number "window.client" "the widest window that the client offered, bytes";
    Number "window.server" "the widest window that the server offered, bytes";
    Number "window.receiver" "the widest window that the receiver offered during the second half of the data, bytes";
    Number "window.segments" "how many of the longest segments fit into that";
    Number "window.full" "how often the sender filled it";
    Number "window.shut" "how often the receiver shut it";
    Number "window.shut-per-write" "how often the server shut it for each write; 0 if several requests were outstanding";
    Flag "scale.client" "the client offers a window scale";
    Flag "scale.server" "the server offers a window scale";
    Flag "sack.client" "the client permits SACK";
    Flag "sack.server" "the server permits SACK";
    Number "in-flight.max" "the most that the sender had in flight, bytes; at the receiver's end, at least what came in a round trip on average";
    Number "retransmissions" "segments that the sender sent again or that came late";
    Number "retransmissions.percent" "the same, of 100 segments with data";
    Number "spurious" "segments sent again for nothing";
    Number "spurious.percent" "the same, of 100 sent again";
    Number "loss.bursts" "bursts of the sender in which something was lost";
    Number "loss.place" "the place in a burst that was hit most often";
    Number "loss.place-percent" "percent of the losses at that place; 0 if fewer than three were seen";
    Number "ack.held" "acknowledgments that the receiver held back for 25 ms or more";
    Number "ack.hold-ms" "how long it held most of them, ms";
    Number "ack.every" "how many segments it lets come before it acknowledges";
    Number "held.client" "acknowledgments that the client held back for 25 ms or more";
    Number "held.server" "acknowledgments that the server held back for 25 ms or more";
    Number "hold.client-ms" "how long the client held most of them, ms";
    Number "hold.server-ms" "how long the server held most of them, ms";
    Number "stuck.count" "how often one and the same segment was sent again, if none as long ever arrived";
    Number "stuck.bytes" "bytes in that segment";
    Number "frames.again" "without TCP: frames that the sender of the data sent again";
    Number "frames.again-percent" "the same, of 100 frames";
    Number "frames.needless-percent" "of 100 frames sent again, those that had arrived";
    Number "frames.timer-ms" "the shortest silence after which the sender sent a frame again, ms";
    Number "frames.in-flight" "the most frames that the sender had on their way without acknowledgment";
    Number "frames.window" "the widest window that the receiver offered, packets of NBIPX";
    Number "frames.busy" "how often the receiver took no frames: RNR, NO RECEIVE";
    Number "frames.hold-ms" "how long the receiver held most of the acknowledgments that it held for 25 ms or more, ms";
    Text "operation.kind" "log-on, open, listing, lock, print-job, oplock-break or request: a slow operation";
    Text "operation.reason" "what it waited for: oplock-break, sharing-violation, lock-held, or a cause";
    Number "operation.seconds" "its time, s";
    Number "operation.requests" "its requests";
    Number "operation.refused" "those that were refused";
    Number "operation.names" "names that a listing brought";
    Number "operation.names-each" "the same for each request";
    Text "operation.command" "the command of its slowest request, or of another that took 0.5 s or more";
    Number "operation.longest-ms" "how long the answer to this request took, ms";
    Flag "operation.holder" "the capture shows the client that it waited for";
    Flag "operation.given-back" "that client gave its oplock back";
};

/// The share of each cause in a copy's time.
static SHARES: LazyLock<[Word; Cause::COUNT]> = LazyLock::new(|| {
    Cause::ALL.map(|cause| Word {
        name: cause.description().share,
        kind: Kind::Number,
        what: "hundredths of the copy's time",
    })
});

/// All facts that can be asked for; docs/advice.md has the same list.
pub fn vocabulary() -> impl Iterator<Item = &'static Word> {
    WORDS.iter().chain(SHARES.iter())
}

/// The word of this name.
pub(super) fn word(name: &str) -> Option<&'static Word> {
    vocabulary().find(|word| word.name == name)
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) if number.fract() == 0.0 || *number >= 100.0 => {
                f.write_str(&grouped(number.round() as u64))
            }
            Self::Number(number) if *number >= 10.0 => write!(f, "{number:.0}"),
            Self::Number(number) => write!(f, "{number:.1}"),
            Self::Text(text) => f.write_str(text),
            Self::Flag(flag) => f.write_str(if *flag { "yes" } else { "no" }),
            Self::List(list) => f.write_str(&list.join(", ")),
        }
    }
}

/// `61,440`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number as f64)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<String>> for Value {
    fn from(list: Vec<String>) -> Self {
        Self::List(list)
    }
}
