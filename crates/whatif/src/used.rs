//! What a copy's client, server and TCPs were seen to be and to use, as values of a scenario.

use crate::constants::{
    MAX_BLOCK, MAX_MESSAGE_HEADER, MAX_STEPS, MIN_BULK_SEGMENTS, MIN_ONE_WAY_RATIO,
    MIN_PROGRAM_RATIO, MIN_SHOWN_WAY, SERIAL_ROUND_TRIPS, SPLIT_REQUEST_RATIO, TIMESTAMPS_OPTION,
    USUAL_CLIENT_BUFFER,
};
use std::ops::RangeInclusive;

use coax_cause::Cause;
use coax_explain::report::{Connection, Copy, Direction, Requests, Side, Smb, Transport, Vantage};
use coax_wire::{dialect::Dialect, time::Span};
use toml::Value;

use crate::{Why, windows::Windows};

/// A value of a scenario and its path.
pub(crate) type Set = (String, Value);

/// A command that moves data, as profiles name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Core,
    Andx,
    Raw,
}

impl Method {
    fn of(command: &str) -> Result<Self, Why> {
        match command {
            "READ" | "WRITE" | "LOCK_AND_READ" | "WRITE_AND_UNLOCK" | "WRITE_AND_CLOSE" => {
                Ok(Self::Core)
            }
            "READ_ANDX" | "WRITE_ANDX" => Ok(Self::Andx),
            "READ_RAW" | "WRITE_RAW" => Ok(Self::Raw),
            other => Err(Why::NotModelled(other.to_owned())),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Andx => "andx",
            Self::Raw => "raw",
        }
    }
}

/// What a model needs of a copy beside what is fitted.
#[derive(Clone, Debug)]
pub(crate) struct Used {
    pub(crate) sets: Vec<Set>,
    /// How the client moves data, where its profile does not say so already.
    pub(crate) moving: Vec<Set>,
    /// Bytes that a request moves, mostly.
    pub(crate) block: u64,
    /// Whether each request waited for the answer to the one before.
    pub(crate) is_serial: bool,
    /// Whether both TCPs are of the kind that has window scaling.
    pub(crate) is_modern: bool,
    /// Windows of which the capture does not say how wide they are.
    pub(crate) windows: Windows,
    /// Whether the client announced the server's largest message: its own may be larger.
    pub(crate) repeats_limit: bool,
    /// Whether it is no copy by SMB, but data that goes one way.
    pub(crate) is_bulk: bool,
}

/// The requests that moved most of a copy, and how.
#[derive(Clone, Copy, Debug)]
struct Moving<'a> {
    main: &'a Requests,
    method: Method,
    block: u64,
    at_once: u64,
}

impl<'a> Moving<'a> {
    /// How the file may have been opened before the capture began.
    const fn unseen_open(&self) -> &'static str {
        match self.method {
            Method::Andx => "open-andx",
            Method::Core | Method::Raw => "open",
        }
    }

    fn of(connection: &Connection, copy: &'a Copy) -> Result<Self, Why> {
        let main = copy.requests.first().filter(|row| row.bytes > 0);
        let main = main.ok_or(Why::TooLittle("no request that moved data"))?;
        let mean = main.bytes / main.count.max(1);
        Ok(Self {
            main,
            method: Method::of(&main.command)?,
            block: main.usual_bytes.max(mean).min(MAX_BLOCK),
            at_once: at_once(connection, copy, main),
        })
    }
}

/// Collects it.
pub(crate) fn of(connection: &Connection, copy: &Copy, client: Option<&str>) -> Result<Used, Why> {
    if connection.transport() != Transport::Tcp {
        return Err(Why::Transport(connection.transport().title()));
    }
    let Some(smb) = connection.smb.as_ref() else {
        return bulk(connection, copy);
    };
    let by = Moving::of(connection, copy)?;
    let mut sets = Vec::new();
    text(&mut sets, "client.profile", client.unwrap_or("modern"));
    text(&mut sets, "direction", copy.direction.name());
    carriage(&mut sets, connection, is_cut(connection));
    dialect(&mut sets, connection, smb, client.is_some());
    buffers(&mut sets, smb, by, client.is_some());
    let program = application(copy, by.main, by.block);
    if client.is_none() {
        if let Some(bytes) = program {
            number(&mut sets, APPLICATION, bytes);
        }
        steps(&mut sets, copy, by);
    }
    let windows = Windows::of(connection);
    let is_modern = windows.are_scaled || is_late_modern(connection);
    for (name, own, other) in sides(connection) {
        tcp(connection, is_modern, by.block).stack(&mut sets, name, own, other);
    }
    let mut moving = transfer(copy.direction, by, smb, client.is_some());
    number(&mut moving, APPLICATION, program.unwrap_or(0));
    Ok(Used {
        sets,
        moving,
        block: by.block,
        is_serial: by.at_once == 1,
        is_modern,
        windows,
        repeats_limit: client.is_none() && repeats_limit(smb, copy.direction),
        is_bulk: false,
    })
}

/// The same of a connection without SMB, whose data goes one way and waits for TCP and the path alone.
fn bulk(connection: &Connection, copy: &Copy) -> Result<Used, Why> {
    let machines = [Cause::ClientThink, Cause::ServerThink];
    let programs: u64 = machines
        .iter()
        .map(|cause| copy.account.get(*cause).0)
        .sum();
    let [client, server] = &connection.sides;
    let (own, other) = match copy.direction {
        Direction::ToServer => (client, server),
        Direction::ToClient => (server, client),
    };
    if own.data_segments < MIN_BULK_SEGMENTS {
        return Err(Why::TooLittle("it has too few segments"));
    }
    let answers = other.bytes.saturating_mul(MIN_ONE_WAY_RATIO);
    if answers > own.bytes || programs > copy.wall.0 / MIN_PROGRAM_RATIO {
        return Err(Why::NotBulk);
    }
    let mut sets = Vec::new();
    text(&mut sets, "direction", copy.direction.name());
    let windows = Windows::of(connection);
    let is_modern = windows.are_scaled || is_late_modern(connection);
    for (name, own, other) in sides(connection) {
        tcp(connection, is_modern, copy.bytes).stack(&mut sets, name, own, other);
    }
    Ok(Used {
        sets,
        moving: Vec::new(),
        block: copy.bytes,
        is_serial: false,
        is_modern,
        windows,
        repeats_limit: false,
        is_bulk: true,
    })
}

/// Whether the TCPs are young though the capture lacks the SYNs of those who scale: their segments have timestamps, which came with window
/// scaling (RFC 7323), or acknowledgments wait as long as Linux has them wait.
fn is_late_modern(connection: &Connection) -> bool {
    let mut holds = connection.habits.iter().filter_map(|habits| habits.hold);
    let is_linuxs = |hold: Span| (39..=46).contains(&(hold.0 / 1_000_000));
    let have_timestamps = connection.sides.iter().all(|side| side.timestamps);
    !connection.has_start && (have_timestamps || holds.any(is_linuxs))
}

const fn tcp(connection: &Connection, is_modern: bool, block: u64) -> Tcp {
    Tcp {
        is_modern,
        has_start: connection.has_start,
        block,
    }
}

fn sides(connection: &Connection) -> [(&'static str, &Side, &Side); 2] {
    let [client, server] = &connection.sides;
    [("client", client, server), ("server", server, client)]
}

fn text(sets: &mut Vec<Set>, path: &str, value: &str) {
    sets.push((path.to_owned(), Value::String(value.to_owned())));
}

fn number(sets: &mut Vec<Set>, path: &str, value: u64) {
    let value = i64::try_from(value).unwrap_or(i64::MAX);
    sets.push((path.to_owned(), Value::Integer(value)));
}

fn flag(sets: &mut Vec<Set>, path: &str, value: bool) {
    sets.push((path.to_owned(), Value::Boolean(value)));
}

/// Whether a client sends more segments than its requests need, for example the session header in one of its own. A filled window
/// cuts segments as well; these are not counted.
fn is_cut(connection: &Connection) -> bool {
    let [client, server] = &connection.sides;
    let longest = client.largest_segment.max(server.largest_segment);
    let options = match client.timestamps && server.timestamps {
        true => TIMESTAMPS_OPTION,
        false => 0,
    };
    let allowed = server.mss.map(|mss| u32::from(mss).saturating_sub(options));
    let mss = allowed.unwrap_or(longest).max(1);
    let (mut requests, mut needed) = (0_u64, 0_u64);
    for row in &connection.requests {
        let is_write = row.command.starts_with("WRITE");
        let each = if is_write {
            row.usual_bytes.max(row.bytes / row.count.max(1))
        } else {
            0
        };
        requests = row.count.saturating_add(requests);
        let segments = each
            .saturating_add(MAX_MESSAGE_HEADER)
            .div_ceil(u64::from(mss));
        needed = row.count.saturating_mul(segments).saturating_add(needed);
    }
    let sent = client.data_segments.saturating_sub(client.retransmissions);
    let sent = sent.saturating_sub(client.window_full);
    requests > 4 && sent as f64 >= needed as f64 + (SPLIT_REQUEST_RATIO - 1.0) * requests as f64
}

fn carriage(sets: &mut Vec<Set>, connection: &Connection, is_cut: bool) {
    let port = if connection.server.port == 445 {
        "direct"
    } else {
        "nbt"
    };
    let cut = if is_cut { "session-header" } else { "whole" };
    text(sets, "client.profile.transport.port", port);
    text(sets, "client.profile.transport.cut", cut);
}

/// The dialect, so that both sides of the model agree on it again.
fn dialect(sets: &mut Vec<Set>, connection: &Connection, smb: &Smb, is_known_client: bool) {
    let nt = connection
        .requests
        .iter()
        .any(|row| row.command.starts_with("NT_"));
    let chosen = smb.dialect.as_deref();
    let chosen = chosen.or((nt || smb.capabilities.0.is_some()).then_some("NT LM 0.12"));
    let Some(chosen) = chosen else {
        return;
    };
    let newest = match chosen {
        "PC NETWORK PROGRAM 1.0" | "PCLAN1.0" => "core",
        "MICROSOFT NETWORKS 1.03" => "coreplus",
        "MICROSOFT NETWORKS 3.0" | "LANMAN1.0" => "lanman1",
        "NT LM 0.12" | "NT LANMAN 1.0" => "nt1",
        _ => "lanman2",
    };
    text(sets, "server.config.dialect", newest);
    if !is_known_client {
        let known = |name: &&String| Dialect::by_name(name.as_bytes()).is_some();
        let mut offered: Vec<String> = smb.offered.iter().filter(known).cloned().collect();
        if !offered.iter().any(|name| name == chosen) {
            offered = vec![chosen.to_owned()];
        }
        let offered = Value::Array(offered.into_iter().map(Value::String).collect());
        sets.push(("client.profile.negotiate.dialects".to_owned(), offered));
    }
}

/// Whether a client announces the largest message that the server announced before it, and that is no more than clients usually have. What
/// jcifs 1.3 announces does not limit its reads: they have up to 60,416 bytes (`SmbConstants.java`, `DEFAULT_RCV_BUF_SIZE`).
fn repeats_limit(smb: &Smb, direction: Direction) -> bool {
    let server = smb.server_max_buffer.map(u64::from);
    let is_echo = smb.client_max_buffer == smb.server_max_buffer;
    let usual = |server| match direction {
        Direction::ToServer => server <= USUAL_CLIENT_BUFFER,
        Direction::ToClient => server < USUAL_CLIENT_BUFFER,
    };
    is_echo && server.is_some_and(usual)
}

/// Buffers as they were agreed on, but at least what was used needs. An unknown client that announces what the server
/// announced before it has no limit of its own.
fn buffers(sets: &mut Vec<Set>, smb: &Smb, by: Moving<'_>, is_known_client: bool) {
    let Moving { block, method, .. } = by;
    let whole = u64::from(u16::MAX);
    let fits =
        |known: Option<u32>, unknown: u64| known.map_or(unknown, u64::from).clamp(1024, whole);
    let server = fits(smb.server_max_buffer, 16_644);
    let is_echo = !is_known_client && smb.client_max_buffer == smb.server_max_buffer;
    let client = fits(smb.client_max_buffer.filter(|_| !is_echo), whole);
    let is_large = method == Method::Andx && is_beyond_buffer(smb, block, server.min(client));
    number(sets, "server.config.max_buffer", server);
    number(sets, "client.profile.buffers.announced", client);
    let mpx = smb.max_mpx.map_or(50, u64::from);
    let outstanding = smb.most_outstanding.clamp(1, u64::from(u16::MAX));
    number(sets, "server.config.max_mpx", mpx.max(outstanding));
    // of what was agreed on before the capture began nothing says that it was refused
    let (reads, writes) = smb.raw_offered.unwrap_or((true, true));
    flag(sets, "server.config.read_raw", reads);
    flag(sets, "server.config.write_raw", writes);
    const LARGE: u32 = coax_wire::smb::negotiate::cap::LARGE_READX;
    let is_unseen = smb.dialect.is_none() && smb.frames.negotiate.1.is_none();
    let offers = smb
        .capabilities
        .0
        .map_or(is_unseen, |bits| bits & LARGE != 0);
    flag(sets, "server.config.large_readwrite", is_large || offers);
    flag(sets, "server.config.extended_security", false);
}

/// Whether a block has more bytes than the smaller buffer holds: large reads and writes are in use. A server without them shortens
/// answers to its buffer, whatever the client requested; its capabilities say whether it has them.
fn is_beyond_buffer(smb: &Smb, block: u64, buffer: u64) -> bool {
    let is_known = smb.capabilities.0.is_some();
    let header = if is_known {
        0
    } else {
        coax_explain::MAX_ANDX_HEADER
    };
    smb.server_max_buffer.map(u64::from) != Some(block) && block.saturating_add(header) > buffer
}

/// How the data was moved.
fn transfer(direction: Direction, by: Moving<'_>, smb: &Smb, is_known_client: bool) -> Vec<Set> {
    let mut sets = Vec::new();
    // a redirector that would read raw if it were let may do so when it is
    let (reads, writes) = smb.raw_offered.unwrap_or((true, true));
    let (place, offered) = match direction {
        Direction::ToClient => ("client.profile.read", reads),
        Direction::ToServer => ("client.profile.write", writes),
    };
    let is_raw = by.method == Method::Raw;
    let is_second = is_known_client && !offered && !is_raw;
    let key = if is_second { "otherwise" } else { "method" };
    text(&mut sets, &format!("{place}.{key}"), by.method.name());
    match headroom(smb, by.block) {
        _ if is_raw => number(&mut sets, &format!("{place}.raw-block"), by.block),
        // a request that fills the server's buffer grows with it; Open PS2 Loader, which counts no headers, fills its own
        Some(headroom) => {
            let own = smb.client_max_buffer.filter(|_| headroom == 0);
            let is_rounded = headroom > *HEADERS.end();
            match own {
                Some(own) => number(&mut sets, &format!("{place}.block"), own.into()),
                None if is_rounded => text(&mut sets, &format!("{place}.block"), "kibibytes"),
                None => text(&mut sets, &format!("{place}.block"), "buffer"),
            }
            let headroom = headroom.min(*HEADERS.end());
            number(&mut sets, &format!("{place}.headroom"), headroom);
        }
        None => number(&mut sets, &format!("{place}.block"), by.block),
    }
    number(&mut sets, &format!("{place}.in-flight"), by.at_once);
    if is_raw {
        raw(&mut sets, direction, by.main, smb);
    }
    sets
}

/// What is peculiar to raw transfers.
fn raw(sets: &mut Vec<Set>, direction: Direction, main: &Requests, smb: &Smb) {
    number(sets, "client.profile.raw.read-at-least", 0);
    number(sets, "client.profile.raw.write-at-least", 0);
    if direction == Direction::ToServer {
        flag(sets, "client.profile.write.data-with-raw-request", false);
        // only a write to the disk is answered at its end
        let is_answered = smb.through.count.saturating_mul(2) > main.count;
        flag(sets, "client.profile.write.through", is_answered);
    }
}

/// Requests for data that were outstanding at once. A watch on a folder, or a request before the copy, is none of them:
/// where answers take no more than the copy did, and round trips are seen, one waited for the other.
fn at_once(connection: &Connection, copy: &Copy, main: &Requests) -> u64 {
    let way = connection.client_rtt.map_or(0, |way| way.0);
    let smb = connection.smb.as_ref();
    let least = 1 + u64::from(smb.is_some_and(|smb| asks_ahead(smb, way)));
    let waited = main
        .response_total
        .0
        .saturating_add(main.answered.saturating_mul(way));
    if (waited as f64) < copy.wall.0 as f64 * 1.1 && waits_each_time(connection, copy, main) {
        return least;
    }
    let most = smb.map_or(1, |smb| smb.most_outstanding);
    // where a server answers at once, the request that is on its way behind the last is never outstanding at its end
    let unseen = if connection.vantage == Some(Vantage::Server) {
        2
    } else {
        1
    };
    most.clamp(least.max(unseen), 64)
}

/// Whether the client waited a round trip for each answer. A client that sends the next request while the last one is on its way waits for
/// the window, the path or the server instead.
fn waits_each_time(connection: &Connection, copy: &Copy, main: &Requests) -> bool {
    let [client, server] =
        [connection.client_rtt, connection.server_rtt].map(|way| way.map_or(0, |way| way.0));
    let round = client.saturating_add(server);
    let spent = |cause| copy.account.get(cause).0;
    let travelled = spent(Cause::RoundTrips).saturating_add(spent(Cause::Metadata));
    travelled.saturating_mul(SERIAL_ROUND_TRIPS) >= main.answered.saturating_mul(round)
}

/// Whether the client usually sends the next request for data before it has the answer: it then arrives less than half a round
/// trip after the answer. `way` is the round trip between the place of the capture and the client, ns.
fn asks_ahead(smb: &Smb, way: u64) -> bool {
    let first = i64::try_from(way / 2).unwrap_or(i64::MAX);
    let earliest = if way < MIN_SHOWN_WAY { 0 } else { first };
    smb.ask_gap.is_some_and(|gap| gap < earliest)
}

/// How much the copying program asks for at a time; 0: as much as there is.
const APPLICATION: &str = "client.profile.copy.application-block";

/// The same, where requests are smaller now and then for it.
fn application(copy: &Copy, main: &Requests, block: u64) -> Option<u64> {
    const SIZES: [u64; 9] = [
        61_440, 65_536, 65_024, 65_535, 49_152, 32_768, 16_384, 8192, 4096,
    ];
    let count = |size: u64| {
        let whole = (copy.bytes / size).saturating_mul(size.div_ceil(block.max(1)));
        whole.saturating_add((copy.bytes % size).div_ceil(block.max(1)))
    };
    let off = |size: u64| main.count.abs_diff(count(size));
    let alone = main.count.abs_diff(copy.bytes.div_ceil(block.max(1)));
    let larger = SIZES.into_iter().filter(|size| *size > block);
    let best = larger.min_by_key(|size| off(*size))?;
    (off(best) < alone && alone.saturating_mul(100) > main.count).then_some(best)
}

/// What the headers of a request may take, bytes.
const HEADERS: RangeInclusive<u64> = 32..=128;

/// What a block leaves of the server's buffer, if it is as little as headers take, or a block of whole kilobytes that one
/// more would not fit into.
fn headroom(smb: &Smb, block: u64) -> Option<u64> {
    const KILOBYTE: u64 = 1024;
    let left = u64::from(smb.server_max_buffer?).checked_sub(block)?;
    let is_rounded = block.is_multiple_of(KILOBYTE) && left < KILOBYTE + HEADERS.end();
    let is_whole = left == 0;
    (is_whole || HEADERS.contains(&left) || is_rounded && left >= *HEADERS.start()).then_some(left)
}

/// Steps that open a file.
const OPENS: [&str; 3] = ["open", "open-andx", "nt-create"];

/// The step that makes this request, and whether it comes after the data.
fn step(command: &str) -> Option<(&'static str, bool)> {
    Some(match command {
        "OPEN" | "CREATE" | "CREATE_NEW" => ("open", false),
        "OPEN_ANDX" | "TRANSACTION2 OPEN2" => ("open-andx", false),
        "NT_CREATE_ANDX" => ("nt-create", false),
        "QUERY_INFORMATION2" => ("get-attributes-fid", false),
        "TRANSACTION2 QUERY_FILE_INFORMATION" => ("query-file", false),
        "SET_INFORMATION2" => ("set-times-fid", true),
        "TRANSACTION2 SET_FILE_INFORMATION" => ("set-file-times", true),
        "FLUSH" => ("flush", true),
        _ => return None,
    })
}

/// The requests around the data, as a client does them that nobody knows.
fn steps(sets: &mut Vec<Set>, copy: &Copy, by: Moving<'_>) {
    let fixed = |step: &str| Value::String(step.to_owned());
    let is_open = |step: &Value| OPENS.contains(&step.as_str().unwrap_or_default());
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for row in copy.requests.iter().filter(|row| row.bytes == 0) {
        let Some((step, is_last)) = step(&row.command) else {
            continue;
        };
        let list = if is_last { &mut after } else { &mut before };
        let step = fixed(step);
        let is_open = is_open(&step);
        let times = if is_open { 1 } else { row.count.min(MAX_STEPS) };
        for _ in 0..times {
            let place = if is_open { 0 } else { list.len() };
            list.insert(place, step.clone());
        }
    }
    if before.first().is_none_or(|step| !is_open(step)) {
        before.insert(0, fixed(by.unseen_open()));
    }
    before.push(fixed("transfer"));
    before.append(&mut after);
    before.push(fixed("close"));
    let key = match copy.direction {
        Direction::ToClient => "get",
        Direction::ToServer => "put",
    };
    sets.push((format!("client.profile.copy.{key}"), Value::Array(before)));
}

/// What is known of both TCPs.
#[derive(Clone, Copy, Debug)]
struct Tcp {
    is_modern: bool,
    /// Whether their SYNs were captured.
    has_start: bool,
    /// Bytes that are sent at once.
    block: u64,
}

impl Tcp {
    fn stack(self, sets: &mut Vec<Set>, name: &str, own: &Side, other: &Side) {
        let place = format!("{name}.stack");
        let kind = if self.is_modern {
            "linux"
        } else {
            "windows-98"
        };
        text(sets, &place, kind);
        let options = own.timestamps && other.timestamps;
        let mss = self.segment(own, other, if options { 12 } else { 0 });
        number(sets, &format!("{place}.mss"), u64::from(mss));
        let window = own.settled_window.clamp(64, 1 << 30);
        number(sets, &format!("{place}.receive_window"), u64::from(window));
        let sack = own.sack || !self.has_start && self.is_modern;
        flag(sets, &format!("{place}.sack"), sack);
        flag(sets, &format!("{place}.timestamps"), options);
        // a server that was not asked does not say whether it could
        if name == "server" && other.window_scale.is_none() && self.has_start {
            number(sets, &format!("{place}.window_scale"), 0);
        }
        if let Some(scale) = own.window_scale.filter(|_| self.is_modern) {
            let scale = u64::from(scale.min(14));
            number(sets, &format!("{place}.window_scale"), scale);
        }
    }

    /// The longest segment; whose SYN was not captured takes what either was seen to send.
    fn segment(self, own: &Side, other: &Side, options: u32) -> u32 {
        let longest = own.largest_segment.saturating_add(options);
        let told = |side: &Side, peer: &Side| {
            let sent = if self.has_start {
                peer.largest_segment
            } else {
                peer.largest_segment.max(side.largest_segment)
            };
            side.mss.map_or(sent.saturating_add(options), u32::from)
        };
        let (mss, agreed) = (told(own, other), told(own, other).min(told(other, own)));
        // what sends blocks in segments shorter than was agreed on knows why
        let sends_blocks = own.bytes > other.bytes && self.block > u64::from(longest);
        let is_cut_short = sends_blocks && longest < agreed;
        if is_cut_short { longest } else { mss }.clamp(64, 9000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server of 16,644 bytes.
    fn smb(capabilities: Option<u32>) -> Smb {
        let mut smb = Smb::default();
        smb.server_max_buffer = Some(16_644);
        smb.capabilities.0 = capabilities;
        smb
    }

    #[test]
    fn a_block_that_the_smaller_buffer_has_no_room_for_is_a_large_one() {
        // without its capabilities, a server may have cut the answer to its buffer: headers count
        assert!(is_beyond_buffer(&smb(None), 16_640, 16_644));
        assert!(!is_beyond_buffer(&smb(None), 16_384, 16_644));
        assert!(!is_beyond_buffer(&smb(Some(0)), 16_640, 16_644));
        assert!(is_beyond_buffer(&smb(Some(0)), 61_440, 16_644));
        // Open PS2 Loader asks for as much as the server's buffer has
        assert!(!is_beyond_buffer(&smb(Some(0)), 16_644, 4356));
    }

    #[test]
    fn a_block_that_leaves_only_headers_grows_with_the_buffer() {
        let size = |block| headroom(&smb(None), block);
        assert_eq!(size(16_580), Some(64));
        assert_eq!(size(16_384), Some(260));
        assert_eq!(size(16_644), Some(0));
        // neither as little as headers, nor whole kibibytes that one more would not fit into
        assert_eq!(size(16_400), None);
        assert_eq!(size(8192), None);
    }
}
