//! The two machines, what they negotiated, and what they used of it.

use coax_explain::report::{
    Connection, Evidence, Party, Requests, Side, Smb, Stack, Sureness, Transport,
};
use serde_json::{Value, json};

use super::{
    advice::frames,
    paper::Paper,
    words::{harmless, many},
};

/// Maximum number of equally matching profiles to list.
const MAX_ALTERNATIVES: usize = 4;

/// One statement and the packets that show it.
struct Line {
    label: &'static str,
    text: String,
    frames: Vec<u64>,
}

fn line(label: &'static str, text: String, frames: impl IntoIterator<Item = Option<u64>>) -> Line {
    let frames = frames.into_iter().flatten().filter(|frame| *frame > 0);
    Line {
        label,
        text,
        frames: frames.collect(),
    }
}

/// Writes the section as text.
pub(super) fn section(out: &mut Paper, connection: &Connection) -> std::fmt::Result {
    for (label, stack) in ["client's TCP", "server's TCP"]
        .into_iter()
        .zip(&connection.stacks)
    {
        if !stack.evidence.is_empty() {
            whose(out, label, &stack_in_words(stack), &stack.evidence)?;
        }
    }
    if connection.smb.is_some() {
        let labels = ["client is", "server is"].into_iter();
        for (label, party) in labels.zip(&connection.parties) {
            who(out, label, party)?;
        }
    }
    let lines = lines(connection);
    lines.iter().try_for_each(|line| write_line(out, line))
}

/// The same as JSON, without the machines.
pub(super) fn as_json(connection: &Connection) -> Value {
    let row = |line: &Line| json!({"what": line.label, "words": line.text, "frames": line.frames});
    lines(connection).iter().map(row).collect()
}

fn lines(connection: &Connection) -> Vec<Line> {
    let smb = connection.smb.as_ref();
    let mut lines = smb.map_or_else(Vec::new, |smb| agreed(connection, smb));
    lines.extend(tcp(connection));
    lines
}

fn write_line(out: &mut Paper, line: &Line) -> std::fmt::Result {
    let frames = frames(&line.frames).map(|frames| format!(" ({frames})"));
    let words = format!("{}{}", harmless(&line.text), frames.unwrap_or_default());
    out.prose(&format!("  {:<17} ", line.label), &words)
}

fn who(out: &mut Paper, label: &'static str, party: &Party) -> std::fmt::Result {
    whose(out, label, &in_words(party), &party.evidence)
}

fn whose(out: &mut Paper, label: &str, words: &str, evidence: &[Evidence]) -> std::fmt::Result {
    out.prose(&format!("  {label:<17} "), &harmless(words))?;
    for evidence in evidence {
        let frame = evidence.frame.map(|frame| format!(" (frame {frame})"));
        let words = format!("{}{}", harmless(&evidence.what), frame.unwrap_or_default());
        out.prose(&format!("  {:<17} - ", ""), &words)?;
    }
    Ok(())
}

/// For example `Windows 95 or Windows for Workgroups: alike as far as a SYN tells`.
fn stack_in_words(stack: &Stack) -> String {
    match (stack.who.as_slice(), stack.sure) {
        ([], _) => "not among those that are known".to_owned(),
        ([one], Sureness::Likely | Sureness::Sure) => one.clone(),
        ([one], _) => format!("perhaps {one}"),
        (several, _) => format!("{}: alike as far as a SYN tells", several.join(", or ")),
    }
}

/// A TCP stack as JSON.
pub(super) fn stack(stack: &Stack) -> Value {
    json!({
        "words": stack_in_words(stack),
        "who": stack.who,
        "sure": stack.sure.name(),
        "evidence": evidence(&stack.evidence),
    })
}

fn evidence(all: &[Evidence]) -> Value {
    let one = |seen: &Evidence| json!({"what": seen.what, "frame": seen.frame});
    all.iter().map(one).collect()
}

/// For example `Windows NT 4.0, COPY at the command line (nt-4-copy, likely)`.
fn in_words(party: &Party) -> String {
    let profile = party.profile.as_deref();
    match (party.sure, profile) {
        (Sureness::Unknown, _) => party.name.clone(),
        // a rule that matches nearly all profiles identifies none
        (Sureness::Like, Some(profile)) if party.also.len() > MAX_ALTERNATIVES => {
            let others = party.also.len();
            format!("unknown: {profile} and {others} others fit")
        }
        (Sureness::Like, Some(profile)) if party.also.is_empty() => {
            format!("{} (most like {profile})", party.name)
        }
        (Sureness::Like, Some(profile)) => {
            format!(
                "{} ({profile}, or as well {})",
                party.name,
                party.also.join(", ")
            )
        }
        (sure, Some(profile)) => format!("{} ({profile}, {})", party.name, sure.name()),
        (Sureness::Like, None) => format!("perhaps {}", party.name),
        (sure, None) => format!("{} ({})", party.name, sure.name()),
    }
}

fn agreed(connection: &Connection, smb: &Smb) -> Vec<Line> {
    let (asked, answered) = smb.frames.negotiate;
    let log_on = smb.frames.log_on.0;
    let dialect = smb.dialect.as_deref().unwrap_or("not seen");
    let offered = match smb.offered.len() {
        0 => String::new(),
        offered => format!(", of {offered} offered"),
    };
    let mut lines = vec![line(
        "dialect",
        format!("{dialect}{offered}"),
        [asked, answered],
    )];
    lines.push(line(
        "buffers",
        buffers(smb, &connection.requests),
        [answered, log_on],
    ));
    let allowed = match smb.max_mpx {
        Some(most) => format!("of {most} allowed"),
        None => "at most; how many are allowed was not seen".to_owned(),
    };
    lines.push(line(
        "requests at once",
        format!("{} {allowed}", smb.most_outstanding),
        [answered],
    ));
    lines.extend(raw(smb));
    if smb.with_notify.count > 0 {
        let count = many(smb.with_notify.count, "transfer");
        let text = format!("{count} asked for while it waited to be told of changes in a folder");
        lines.push(line("NOTIFY_CHANGE", text, [Some(smb.with_notify.frame)]));
    }
    lines
}

/// The buffer sizes of both sides and the sizes of the transfers.
fn buffers(smb: &Smb, rows: &[Requests]) -> String {
    let number =
        |number: Option<u32>| number.map_or("not seen".to_owned(), |number| number.to_string());
    format!(
        "server {}, client {}; {}",
        number(smb.server_max_buffer),
        number(smb.client_max_buffer),
        largest(rows)
    )
}

/// The largest transfer of each kind.
fn largest(rows: &[Requests]) -> String {
    let moving = rows.iter().filter(|row| row.bytes > 0);
    let largest: Vec<String> = moving
        .map(|row| format!("{} of up to {}", row.command, row.largest_bytes))
        .collect();
    if largest.is_empty() {
        "no file data moved".to_owned()
    } else {
        largest.join(", ")
    }
}

fn raw(smb: &Smb) -> [Line; 2] {
    let [read, write, ..] = smb.frames.transfers;
    let answered = smb.frames.negotiate.1;
    let one = |offered: Option<bool>, used: u64, failed: (u64, &str)| {
        let offered_at_all = offered == Some(true);
        let offered = match offered {
            Some(true) if used == 0 => "offered, but none used".to_owned(),
            Some(true) => format!("offered, {used} used"),
            Some(false) if used == 0 => "not offered".to_owned(),
            Some(false) => format!("not offered, {used} used all the same"),
            None => format!("{used} used; what was offered was not seen"),
        };
        let failed = (failed.0 > 0).then(|| format!(", {} of them {}", failed.0, failed.1));
        let most = smb
            .max_raw
            .filter(|_| offered_at_all)
            .map(|most| format!("; up to {most} bytes each"));
        format!(
            "{offered}{}{}",
            failed.unwrap_or_default(),
            most.unwrap_or_default()
        )
    };
    let offered = smb.raw_offered;
    let reads = one(
        offered.map(|offered| offered.0),
        smb.raw_reads.0,
        (smb.raw_reads.1, "empty"),
    );
    let writes = one(
        offered.map(|offered| offered.1),
        smb.raw_writes.0,
        (smb.raw_writes.1, "refused"),
    );
    [
        line("raw reads", reads, [answered, read]),
        line("raw writes", writes, [answered, write]),
    ]
}

fn tcp(connection: &Connection) -> Vec<Line> {
    let [client, server] = &connection.sides;
    let [of_client, of_server] = &connection.habits;
    let syns = [of_client.syn, of_server.syn];
    if syns == [None, None] || connection.transport() != Transport::Tcp {
        return Vec::new();
    }
    let by = |client: bool, server: bool| {
        let words = match (of_client.syn, of_server.syn) {
            (Some(_), None) if client => "by the client; the server's SYN was not captured",
            (Some(_), None) => "not by the client",
            (None, _) if server => "by the server; the client's SYN was not captured",
            (None, _) => "not by the server",
            _ => match (client, server) {
                (true, true) => "by both",
                (true, false) => "by the client only, so not used",
                (false, true) => "by the server only, so not used",
                (false, false) => "by neither",
            },
        };
        words.to_owned()
    };
    let scale = by(client.window_scale.is_some(), server.window_scale.is_some());
    let mut lines = vec![
        line("window scale", scale, syns),
        line("SACK", by(client.sack, server.sack), syns),
    ];
    if client.data_segments + server.data_segments > 0 {
        let words = format!(
            "from the client {}, from the server {}",
            longest(client, server, "server"),
            longest(server, client, "client")
        );
        let frames = [Some(of_client.largest_frame), Some(of_server.largest_frame)];
        lines.insert(0, line("longest segments", words, frames));
    }
    lines
}

/// The longest segment that a side sent, and the MSS that the other side announced.
fn longest(side: &Side, other: &Side, whose: &str) -> String {
    let mss = other.mss.map(|mss| format!(" (the {whose}'s MSS: {mss})"));
    match side.largest_segment {
        0 => "none".to_owned(),
        most => format!("{most}{}", mss.unwrap_or_default()),
    }
}

/// A machine as JSON.
pub(super) fn party(party: &Party) -> Value {
    json!({
        "name": party.name,
        "words": in_words(party),
        "profile": party.profile,
        "sure": party.sure.name(),
        "also": party.also,
        "evidence": evidence(&party.evidence),
    })
}
