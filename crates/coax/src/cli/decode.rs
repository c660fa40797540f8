//! `coax decode`: every field of messages, with what is invalid.

use std::{
    fs::File,
    io::{self, BufReader, IsTerminal as _, Read, Write as _},
    path::Path,
    process::ExitCode,
};

use clap::{Args, ValueEnum};

use super::output::WrongUsage;
use coax_decode::{MAX_DIGITS, Message, bytes_of_digits};
use coax_explain::capture;
use coax_report::decode::{Place, Shown, fields, heading, line, profiles, seen, summary};
use coax_wire::time::Time;

/// `coax decode`'s arguments.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "A capture may be pcap or pcapng, optionally gzipped; messages over TCP (any port), UDP 137 and 138, NetBEUI and IPX are \
    found. Digits may have spaces, colons and 0x between them. Examples: coax decode copy.pcap --frames 12; coax decode copy.pcap \
    --problems; echo 85000000 | coax decode -"
)]
pub struct DecodeArgs {
    /// A capture file, hexadecimal digits of one message, or - for either on standard input
    #[arg(value_name = "CAPTURE|HEX", required = true)]
    pub input: Vec<String>,
    /// What the digits are [default: detected]
    #[arg(long, value_name = "KIND")]
    pub kind: Option<Kind>,
    /// Only messages that these frames complete: 12, 3-7, or several, separated by commas
    #[arg(long, value_name = "N[-M],...", value_parser = parse_frames)]
    pub frames: Option<Frames>,
    /// One line for each message
    #[arg(long)]
    pub summary: bool,
    /// Only messages in which something is invalid
    #[arg(long)]
    pub problems: bool,
    /// One JSON object for each message, each on a line
    #[arg(long, conflicts_with = "summary")]
    pub json: bool,
    /// Also show which values real clients and servers send in these fields, from coax's captures and client profiles
    #[arg(long, conflicts_with_all = ["summary", "json"])]
    pub seen: bool,
}

/// The kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// A packet of the session service: four bytes, then an SMB message
    Session,
    /// An SMB message from its first byte, 0xff
    Smb,
    /// A packet of the name service, UDP port 137
    Name,
    /// A datagram, UDP port 138
    Datagram,
    /// A NetBEUI frame from the length of its header
    Netbeui,
    /// An Ethernet frame with NetBEUI or IPX
    Ethernet,
    /// An LLC frame from its destination service access point
    Llc,
    /// An IPX packet from its checksum
    Ipx,
}

/// Ranges of frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frames(Vec<(u64, u64)>);

fn parse_frames(text: &str) -> Result<Frames, String> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first = first.trim().parse().ok()?;
        let last = last.trim().parse().ok()?;
        (first >= 1 && first <= last).then_some((first, last))
    };
    let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
    ranges
        .map(Frames)
        .ok_or_else(|| "expected frame numbers from 1, such as 12, 3-7 or 12,20-30".to_owned())
}

impl Frames {
    fn contain(&self, frame: u64) -> bool {
        self.0
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&frame))
    }
}

impl From<Kind> for coax_decode::Kind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Session => Self::Session,
            Kind::Smb => Self::Smb,
            Kind::Name => Self::Name,
            Kind::Datagram => Self::Datagram,
            Kind::Netbeui => Self::Netbeui,
            Kind::Ethernet => Self::Ethernet,
            Kind::Llc => Self::Llc,
            Kind::Ipx => Self::Ipx,
        }
    }
}

/// Does what the command line says.
///
/// # Errors
/// The input is neither a capture that exists nor hexadecimal digits.
pub fn main(args: &DecodeArgs) -> Result<ExitCode, WrongUsage> {
    let joined = args.input.join(" ");
    if joined == "-" {
        return from_standard_input(args);
    }
    if let [path] = args.input.as_slice()
        && Path::new(path).exists()
    {
        return Ok(match File::open(path).map_err(capture::Error::from) {
            Ok(file) => of_capture(args, path, file),
            Err(error) => failed(path, &error),
        });
    }
    of_digits(args, &joined)
}

fn failed(path: &str, error: &capture::Error) -> ExitCode {
    eprintln!("error: {path}: {error}");
    ExitCode::FAILURE
}

fn from_standard_input(args: &DecodeArgs) -> Result<ExitCode, WrongUsage> {
    let mut input = io::stdin().lock();
    if input.is_terminal() {
        eprintln!("note: reading digits from the terminal until Ctrl+D");
    }
    let mut first = Vec::new();
    let read = input
        .by_ref()
        .take(MAX_DIGITS as u64)
        .read_to_end(&mut first);
    if let Err(error) = read {
        return Ok(failed("standard input", &error.into()));
    }
    // captures of every format have zeros in their first bytes, and digits have none
    match std::str::from_utf8(&first) {
        Ok(text) if !first.contains(&0) => of_digits(args, text),
        _ => Ok(of_capture(
            args,
            "standard input",
            first.as_slice().chain(input),
        )),
    }
}

fn of_digits(args: &DecodeArgs, text: &str) -> Result<ExitCode, WrongUsage> {
    let bytes = bytes_of_digits(text).map_err(|problem| {
        let shown: String = text.trim().chars().take(60).collect();
        let message = format!("'{shown}' is neither a file nor hexadecimal digits: {problem}");
        WrongUsage::new("decode", message)
            .at(args.input.first().map_or("", String::as_str))
            .help("name a capture file, or give the bytes of a message as digits, such as 85 00 00 00")
    })?;
    let kind = args
        .kind
        .map_or_else(|| coax_decode::Kind::of(&bytes), Into::into);
    let decoded = kind.decode(&bytes);
    let shown = Shown {
        place: None,
        bytes: &bytes,
        len: bytes.len(),
        decoded: &decoded,
    };
    Ok(super::output::print(&rendered(args, &shown)))
}

fn rendered(args: &DecodeArgs, shown: &Shown<'_>) -> String {
    match (args.json, args.summary) {
        (true, _) => line(shown),
        (_, true) => summary(shown),
        _ => {
            let values = match args.seen {
                true => seen(shown) + &profiles(shown),
                false => String::new(),
            };
            format!("{}{}{values}\n", heading(shown), fields(shown))
        }
    }
}

fn of_capture(args: &DecodeArgs, name: &str, file: impl Read) -> ExitCode {
    let mut reader = match capture::Reader::new(BufReader::new(file)) {
        Ok(reader) => reader,
        Err(error) => return failed(name, &error),
    };
    let mut printer = Printer {
        args,
        start: None,
        found: 0,
        printed: 0,
        error: None,
    };
    let done = coax_decode::messages(&mut reader, |message| printer.message(message));
    let damage = reader.damage().map(|damage| {
        format!(
            "damaged at byte {}: {}; what precedes it was read",
            damage.at_byte, damage.what
        )
    });
    match (done, printer.error.take()) {
        (_, Some(error)) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        (_, Some(error)) => {
            eprintln!("error: cannot write to standard output: {error}");
            return ExitCode::FAILURE;
        }
        (Err(error), None) => return failed(name, &error),
        (Ok(missing), None) => note_missing(name, missing),
    }
    printer.note_if_empty(name);
    match damage {
        Some(damage) => {
            eprintln!("error: {name}: {damage}");
            ExitCode::FAILURE
        }
        None => ExitCode::SUCCESS,
    }
}

fn note_missing(name: &str, missing: coax_decode::Missing) {
    let coax_decode::Missing {
        bytes, connections, ..
    } = missing;
    let of = match connections {
        1 => "1 connection".to_owned(),
        _ => format!("{connections} connections"),
    };
    if bytes > 0 {
        eprintln!("note: {name} lacks {bytes} bytes of {of}; messages in them are not shown");
    }
}

struct Printer<'a> {
    args: &'a DecodeArgs,
    start: Option<Time>,
    found: u64,
    printed: u64,
    error: Option<io::Error>,
}

impl Printer<'_> {
    fn message(&mut self, message: &Message<'_>) {
        let start = *self.start.get_or_insert(message.at);
        self.found += 1;
        let is_wanted = self
            .args
            .frames
            .as_ref()
            .is_none_or(|frames| frames.contain(message.frame));
        let has_problem = message.decoded.problems().next().is_some();
        if self.error.is_some() || !is_wanted || (self.args.problems && !has_problem) {
            return;
        }
        let shown = Shown {
            place: Some(Place {
                frame: message.frame,
                since_start: Time(message.at.0.saturating_sub(start.0)),
                from: &message.from,
                to: &message.to,
            }),
            bytes: message.bytes,
            len: message.len,
            decoded: &message.decoded,
        };
        self.printed += 1;
        self.error = io::stdout()
            .write_all(rendered(self.args, &shown).as_bytes())
            .err();
    }

    fn note_if_empty(&self, name: &str) {
        if self.found == 0 {
            eprintln!("note: {name} contains no NetBIOS or SMB1 message");
        } else if self.printed == 0 {
            eprintln!(
                "note: none of the {} messages of {name} is chosen by the options",
                self.found
            );
        }
    }
}
