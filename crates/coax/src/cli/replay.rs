//! `coax replay`: the client side of a capture against a server.

use std::{
    collections::HashMap,
    fs::File,
    io::BufReader,
    net::{SocketAddr, ToSocketAddrs as _},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use clap::Args;
use serde_json::{Value, json};

use super::{
    files::arguments::LocationParser,
    output::{WrongUsage, print},
};
use coax_explain::capture;
use coax_replay::{Class, Conversation, Difference, Identity, Outcome, Tcp, conversations, play};
use coax_transfer::client::{Location, Via};

/// `coax replay`'s arguments.
#[derive(Args, Clone, Debug)]
#[command(
    arg_required_else_help = true,
    after_help = "Requests that write, rename and delete are sent too: use a copy of the share, with the files that the recorded share had. \
        The recorded log-on fits no other challenge, so coax logs on with the user of the URL, or as a guest.\n\n\
        Exit codes: 0 no differences, 1 differences or a failure, 2 wrong usage. Times, identities, free space and what \
        follows from them are expected to differ; --all shows them. docs/replay.md explains the output."
)]
pub struct ReplayArgs {
    /// A capture file: pcap or pcapng, optionally gzipped
    #[arg(value_name = "CAPTURE")]
    pub capture: PathBuf,
    /// The server, and the share to use instead of the recorded one
    #[arg(value_name = "smb://[USER[:PASSWORD]@]HOST[:PORT]/SHARE", value_parser = LocationParser)]
    pub place: Location,
    /// Only this connection of the capture, counted from 1
    #[arg(long, value_name = "N")]
    pub connection: Option<usize>,
    /// Seconds to wait for an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
    /// Also show what is expected to differ, and requests that were not sent
    #[arg(long)]
    pub all: bool,
    /// Report as one JSON object (docs/replay.md)
    #[arg(long)]
    pub json: bool,
}

/// Does what `coax replay` was told.
///
/// # Errors
/// The arguments do not fit together.
pub fn main(args: &ReplayArgs) -> Result<ExitCode, WrongUsage> {
    let wrong = |message: &str| WrongUsage::new("replay", message);
    if args.place.via != Via::Tcp {
        return Err(wrong("a replay goes over TCP").help("write smb://HOST/SHARE"));
    }
    if args.place.share.is_empty() || !args.place.path.is_empty() {
        return Err(
            wrong("the URL must name a share and no path in it").help("write smb://HOST/SHARE")
        );
    }
    let place =
        super::files::with_known_password(&args.place).map_err(|message| wrong(&message))?;
    let all = match read(args) {
        Ok(all) => all,
        Err(why) => return Ok(failed(&why)),
    };
    let count = all.len();
    let chosen: Vec<(usize, Conversation)> = all
        .into_iter()
        .enumerate()
        .map(|(index, conversation)| (index + 1, conversation))
        .filter(|(number, _)| args.connection.is_none_or(|wanted| wanted == *number))
        .collect();
    if chosen.is_empty() {
        let file = args.capture.display();
        return Ok(failed(&match count {
            0 => format!("{file} contains no SMB1 request"),
            count => format!("{file} has {count} connections: --connection 1 to {count}"),
        }));
    }
    Ok(replay(args, &place, &chosen))
}

fn read(args: &ReplayArgs) -> Result<Vec<Conversation>, String> {
    let name = args.capture.display();
    let file = File::open(&args.capture).map_err(|error| format!("{name}: {error}"))?;
    let mut reader =
        capture::Reader::new(BufReader::new(file)).map_err(|error| format!("{name}: {error}"))?;
    let found = conversations(&mut reader).map_err(|error| format!("{name}: {error}"))?;
    if let Some(damage) = reader.damage() {
        eprintln!(
            "note: {name} is damaged at byte {}: {}; what precedes it is replayed",
            damage.at_byte, damage.what
        );
    }
    Ok(found)
}

fn failed(why: &str) -> ExitCode {
    eprintln!("error: {why}");
    ExitCode::FAILURE
}

fn replay(args: &ReplayArgs, place: &Location, chosen: &[(usize, Conversation)]) -> ExitCode {
    let identity = identity(place);
    let (mut played, mut failure) = (Vec::new(), None);
    for (number, conversation) in chosen {
        match one(args, place, conversation, &identity) {
            Ok(outcome) => played.push(Played {
                number: *number,
                conversation,
                outcome,
            }),
            Err(why) => {
                failure = Some(why);
                break;
            }
        }
    }
    if failure.is_none() && played.iter().all(|one| one.outcome.compared == 0) {
        failure = Some("no answer was compared: the capture lacks the beginning of the connection, or the server's answers".into());
    }
    let text = match args.json {
        _ if played.is_empty() => String::new(),
        true => format!("{}\n", as_json(&played, &identity)),
        false => played
            .iter()
            .map(|one| one.text(args.all, &identity))
            .collect(),
    };
    let printed = print(&text);
    match failure {
        Some(why) => failed(&why),
        None if played.iter().any(Played::has_differences) => ExitCode::FAILURE,
        None => printed,
    }
}

fn identity(place: &Location) -> Identity {
    let password = place
        .password
        .as_ref()
        .map(|password| String::from_utf8_lossy(password.as_bytes()).into_owned());
    Identity {
        user: place.user.clone(),
        password: password.unwrap_or_default(),
        domain: place.domain.clone(),
        host: place.host.clone(),
        share: place.share.clone(),
    }
}

/// Plays one connection. On a port that is neither 139 nor 445, a NetBIOS session is tried if the server closes without one.
fn one(
    args: &ReplayArgs,
    place: &Location,
    conversation: &Conversation,
    identity: &Identity,
) -> Result<Outcome, String> {
    let limit = Duration::from_secs(args.timeout);
    let ways: &[(u16, bool)] = match place.port {
        None => &[(445, false), (139, true)],
        Some(139) => &[(139, true)],
        Some(445) => &[(445, false)],
        Some(port) => &[(port, false), (port, true)],
    };
    let mut first_failure = None;
    for (port, session) in ways {
        let mut wire =
            match address(&place.host, *port).and_then(|at| Tcp::connect(at, *session, limit)) {
                Ok(wire) => wire,
                Err(why) => {
                    first_failure.get_or_insert(why);
                    continue;
                }
            };
        let outcome = play(conversation, identity, &mut wire, limit);
        match &outcome.stopped {
            Some((_, why)) if outcome.compared == 0 => {
                first_failure.get_or_insert(why.clone());
            }
            _ => return Ok(outcome),
        }
    }
    Err(format!(
        "{}: {}",
        place.host,
        first_failure.unwrap_or_default()
    ))
}

fn address(host: &str, port: u16) -> Result<SocketAddr, String> {
    let found = (host, port).to_socket_addrs();
    let mut found = found.map_err(|error| format!("cannot find {host}: {error}"))?;
    found.next().ok_or_else(|| format!("{host} has no address"))
}

/// A connection that was played.
struct Played<'a> {
    number: usize,
    conversation: &'a Conversation,
    outcome: Outcome,
}

impl Played<'_> {
    fn has_differences(&self) -> bool {
        self.outcome.stopped.is_some() || self.outcome.real().next().is_some()
    }

    fn text(&self, all: bool, identity: &Identity) -> String {
        let (first, last) = self.conversation.frames();
        let Conversation { client, server, .. } = self.conversation;
        let mut text = format!(
            "connection {}: {client} to {server}, frames {first} to {last}\n",
            self.number
        );
        text.push_str(&match &identity.user {
            Some(user) => format!("  log-on: {user}, instead of the recorded user\n"),
            None => "  log-on: guest, instead of the recorded user\n".to_owned(),
        });
        text.push_str(&self.differences(all));
        for skipped in self.outcome.skipped.iter().filter(|_| all) {
            text.push_str(&format!(
                "  frame {}: {} not sent: {}\n",
                skipped.frame, skipped.message, skipped.why
            ));
        }
        if let Some((frame, why)) = &self.outcome.stopped {
            text.push_str(&format!("  stopped at frame {frame}: {why}\n"));
        }
        text.push_str(&self.totals());
        text
    }

    /// Each difference at its first answer, with the number of answers that have the same.
    fn differences(&self, all: bool) -> String {
        let key = |found: &Difference| {
            (
                found.field.clone(),
                found.recorded.clone(),
                found.here.clone(),
            )
        };
        let mut times: HashMap<_, usize> = HashMap::new();
        for found in &self.outcome.differences {
            *times.entry(key(found)).or_default() += 1;
        }
        let (mut text, mut last) = (String::new(), None);
        for found in &self.outcome.differences {
            let Some(count) = times.remove(&key(found)) else {
                continue;
            };
            if !all && found.class == Class::Expected {
                continue;
            }
            if last != Some(found.frame) {
                text.push_str(&format!("  frame {}: {}\n", found.frame, found.message));
                last = Some(found.frame);
            }
            text.push_str(&line(found, count - 1));
        }
        text
    }

    fn totals(&self) -> String {
        let Outcome {
            sent,
            compared,
            skipped,
            ..
        } = &self.outcome;
        let real = self.outcome.real().count();
        let expected = self.outcome.differences.len() - real;
        let answers = self.differing_replies();
        format!(
            "  {sent} requests sent, {} not sent; {compared} answers compared, {answers} differ in {real} fields; {expected} expected differences\n",
            skipped.len()
        )
    }

    fn differing_replies(&self) -> usize {
        let mut frames: Vec<u64> = self.outcome.real().map(|found| found.frame).collect();
        frames.dedup();
        frames.len()
    }

    fn json(&self) -> Value {
        let (first, last) = self.conversation.frames();
        let outcome = &self.outcome;
        json!({
            "connection": self.number,
            "client": self.conversation.client,
            "server": self.conversation.server,
            "first_frame": first,
            "last_frame": last,
            "requests": self.conversation.requests(),
            "sent": outcome.sent,
            "answers_compared": outcome.compared,
            "answers_that_differ": self.differing_replies(),
            "same_fields": outcome.same_fields,
            "differences": outcome.differences.iter().map(difference).collect::<Vec<_>>(),
            "not_sent": outcome.skipped.iter().map(|skipped| json!({
                "frame": skipped.frame, "message": skipped.message, "why": skipped.why,
            })).collect::<Vec<_>>(),
            "stopped": outcome.stopped.as_ref().map(|(frame, why)| json!({"frame": frame, "why": why})),
        })
    }
}

fn difference(found: &Difference) -> Value {
    json!({
        "frame": found.frame,
        "message": found.message,
        "field": found.field,
        "recorded": found.recorded,
        "here": found.here,
        "class": class(found.class),
    })
}

const fn class(class: Class) -> &'static str {
    match class {
        Class::Differs => "differs",
        Class::Expected => "expected",
    }
}

fn line(found: &Difference, more: usize) -> String {
    let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "absent".to_owned());
    let expected = match found.class {
        Class::Expected => "  (expected)",
        Class::Differs => "",
    };
    let more = match more {
        0 => String::new(),
        more => format!("  (and in {more} later answers)"),
    };
    let (recorded, here) = (shown(&found.recorded), shown(&found.here));
    format!(
        "    {}: recorded {recorded}, here {here}{expected}{more}\n",
        found.field
    )
}

fn as_json(played: &[Played<'_>], identity: &Identity) -> Value {
    json!({
        "schema": 1,
        "log_on": identity.user,
        "connections": played.iter().map(Played::json).collect::<Vec<_>>(),
        "differs": played.iter().any(Played::has_differences),
    })
}
