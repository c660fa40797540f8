//! Any line is a fault that can be written again or an error; any messages of both sides go through faults.

use std::sync::Arc;

use coax_fault::{Connection, Fault, Plan};
use coax_wire::{nbt::session::Framing, time::Time};

/// Faults that act on every message.
const ALWAYS: [&str; 6] = [
    "*#every 2=split 7",
    "*#every 3=mid 3",
    "*=oplock-break",
    "*#every 5=truncate 5",
    "*#every 7=error ACCESS_DENIED",
    "WRITE_RAW:interim=duplicate",
];

/// A line of text, a zero, then messages with a length of one byte before each: those with an odd length are replies.
pub fn fault(data: &[u8]) {
    let (line, messages) = data.split_at(
        data.iter()
            .position(|byte| *byte == 0)
            .unwrap_or(data.len()),
    );
    let mut faults: Vec<Fault> = ALWAYS.iter().filter_map(|text| text.parse().ok()).collect();
    if let Ok(fault) = String::from_utf8_lossy(line).parse::<Fault>() {
        assert_eq!(fault.to_string().parse(), Ok(fault.clone()), "{fault}");
        faults.push(fault);
    }
    let mut connection: Connection<Vec<u8>> =
        Connection::new(Arc::new(Plan::new(faults)), Framing::Nbt);
    let mut rest = messages;
    let mut now = Time(0);
    while let Some((len, after)) = rest.split_first() {
        let (message, next) = after.split_at(usize::from(*len).min(after.len()));
        rest = next;
        match len % 2 {
            0 => drop(connection.request(now, message)),
            _ => connection.reply(now, message.to_vec(), message, |bytes| bytes),
        }
        now = Time(now.0 + 1_000_000);
        let mut sent = 0;
        while connection.poll(now).is_some() {
            sent += 1;
            assert!(sent < 100_000, "it sends without end");
        }
    }
}

/// Lines, each with a request and its reply.
pub fn faults() -> Vec<Vec<u8>> {
    let lines = [
        "READ_ANDX#3=disconnect",
        "WRITE_RAW:interim=delay 2s",
        "*#every 10=error ERRDOS/5",
        "FIND_FIRST2#2..=split 1 3ms",
    ];
    let mut request = b"\xffSMB\x2b\0\0\0\0\x18\x01\0".to_vec();
    request.resize(32, 0);
    request.extend([1, 1, 0, 1, 0, b'x']);
    let mut reply = request.clone();
    reply[9] = 0x98;
    reply.push(0);
    let pair = [
        &[request.len() as u8],
        &request[..],
        &[reply.len() as u8],
        &reply,
    ]
    .concat();
    lines
        .map(|line| [line.as_bytes(), b"\0", &pair].concat())
        .to_vec()
}
