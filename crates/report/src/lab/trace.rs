//! Compares a published excerpt of a capture with the same packets in the lab's capture.

use anyhow::{Result, anyhow};
use coax_catalog::{published::trace, tables::TraceSpec};
use coax_lab::Tap;
use coax_wire::{block::Block, command, header::Header, smb::write_andx};
use serde::Serialize;

use super::{data, run};

/// A packet in both captures.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Published: seconds from the excerpt's first packet.
    pub published_s: f64,
    /// Published: description of the packet.
    pub published: String,
    /// Lab: seconds from its first packet.
    pub model_s: f64,
    /// Lab: description of the packet.
    pub model: String,
}

/// A message: its time and description, in one or more packets.
#[derive(Clone, Debug, PartialEq)]
struct Message {
    at_ns: u64,
    from_client: bool,
    what: String,
    offset: Option<u32>,
}

/// The rows of the comparison.
///
/// # Errors
/// The published file contains no excerpt, the scenario cannot run, or the run contains no such write.
pub fn rows(published: &str, spec: &TraceSpec) -> Result<Vec<Row>> {
    let excerpt = trace(published)?;
    let mut scenario = data::scenario(&spec.scenario)?;
    for (path, value) in &spec.set {
        scenario.set(path, value.clone())?;
    }
    let (_, capture, _) = run::run_captured(&scenario, Tap::Client)?;
    let seen = describe(&frames(&capture));
    let begin = seen
        .iter()
        .position(|packet| packet.offset == Some(spec.from_offset))
        .ok_or_else(|| {
            anyhow!(
                "no write at offset {} in the lab's capture",
                spec.from_offset
            )
        })?;
    let model = seen.get(begin..).unwrap_or_default();
    let first = excerpt.first().map_or(0.0, |row| row.1);
    let zero = model.first().map_or(0, |packet| packet.at_ns);
    Ok(excerpt
        .iter()
        .zip(model)
        .map(|((_, at, what), packet)| Row {
            published_s: at - first,
            published: what.clone(),
            model_s: (packet.at_ns - zero) as f64 / 1e9,
            model: packet.what.clone(),
        })
        .collect())
}

/// A TCP segment of a capture.
#[derive(Debug)]
struct Frame<'a> {
    at_ns: u64,
    from_client: bool,
    ack: u32,
    window: u16,
    data: &'a [u8],
}

/// The frames of a capture of the lab.
fn frames(capture: &[u8]) -> Vec<Frame<'_>> {
    let mut out = Vec::new();
    let mut rest = capture;
    while let Some((kind, len)) = word(rest, 0).zip(word(rest, 4)) {
        let len = len as usize;
        if kind == 6 {
            out.extend(rest.get(8..len).and_then(packet));
        }
        rest = rest.get(len.max(12)..).unwrap_or_default();
    }
    out
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_le_bytes(four))
}

fn big(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_be_bytes(four))
}

/// Decodes an enhanced packet block: interface, time, lengths, then an Ethernet frame with IPv4 and TCP.
fn packet(body: &[u8]) -> Option<Frame<'_>> {
    let at_ns = u64::from(word(body, 4)?) << 32 | u64::from(word(body, 8)?);
    let frame = body.get(20..20 + word(body, 12)? as usize)?;
    let ip = frame.get(14..)?;
    let ip_len = usize::from(u16::from_be_bytes([*ip.get(2)?, *ip.get(3)?]));
    let tcp = ip.get(20..ip_len)?;
    let header = usize::from(*tcp.get(12)? >> 4) * 4;
    let source = u16::from_be_bytes([*tcp.first()?, *tcp.get(1)?]);
    Some(Frame {
        at_ns,
        from_client: !matches!(source, 139 | 445),
        ack: big(tcp, 8)?,
        window: u16::from_be_bytes([*tcp.get(14)?, *tcp.get(15)?]),
        data: tcp.get(header..)?,
    })
}

/// Describes packets as the excerpt does: a message in several segments is one row, at its first segment.
fn describe(frames: &[Frame<'_>]) -> Vec<Message> {
    let mut out = Vec::new();
    let mut partial: [Option<(u64, Vec<u8>)>; 2] = [None, None];
    for frame in frames {
        if frame.data.is_empty() {
            out.push(Message {
                at_ns: frame.at_ns,
                from_client: frame.from_client,
                what: format!("ACK Ack={} Win={}", frame.ack, frame.window),
                offset: None,
            });
            continue;
        }
        let [server, client] = &mut partial;
        let place = if frame.from_client { client } else { server };
        let (at_ns, mut bytes) = place.take().unwrap_or((frame.at_ns, Vec::new()));
        bytes.extend_from_slice(frame.data);
        match whole(&bytes) {
            Some(message) => {
                let (what, offset) = name(message);
                out.push(Message {
                    at_ns,
                    from_client: frame.from_client,
                    what,
                    offset,
                });
            }
            None => *place = Some((at_ns, bytes)),
        }
    }
    out.sort_by_key(|packet| packet.at_ns);
    out
}

/// The message after its session header, if it is complete.
fn whole(bytes: &[u8]) -> Option<&[u8]> {
    let len = big(bytes, 0)? & 0x00ff_ffff;
    bytes.get(4..4 + len as usize)
}

fn name(message: &[u8]) -> (String, Option<u32>) {
    let parsed = Header::parse(message).ok().zip(Block::first(message).ok());
    let Some((header, block)) = parsed else {
        return ("data".to_owned(), None);
    };
    let name = command::name(header.command).unwrap_or("unknown");
    let reply = header.flags.has(coax_wire::header::Flags::REPLY);
    if header.command != command::WRITE_ANDX {
        return (
            format!("{name} {}", if reply { "response" } else { "request" }),
            None,
        );
    }
    if reply {
        let count = write_andx::Response::parse(&block).map_or(0, |response| response.count);
        return (format!("{name} response, {count} bytes"), None);
    }
    write_andx::Request::parse(&block).map_or((name.to_owned(), None), |request| {
        let offset = request.offset as u32;
        (
            format!(
                "{name} request, {} bytes at offset {offset}",
                request.data.len()
            ),
            Some(offset),
        )
    })
}
