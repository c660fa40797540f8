//! Messages between users: SEND_SINGLE_BLOCK and SEND_START, TEXT and END_MULTI_BLOCK (core protocol, section 6).
//!
//! They need neither a dialect nor a log-on. A client sends them on a session of their own.

use crate::{
    context::{Call, Flow, Outcome},
    error::Result,
    event::Event,
    message::Draft,
};
use coax_wire::{
    block::WireStr,
    smb::message::{MAX_BLOCK_LEN, Single, Start, Text, emit_group, parse_group},
    status::Status,
};

/// The longest name in a log line, characters.
const MAX_NAME_LEN: usize = 64;

/// SEND_SINGLE_BLOCK.
pub fn send_single_block(call: &mut Call<'_>) -> Outcome {
    must_receive(call)?;
    let request = Single::parse(&call.block)?;
    let text = request.text.get(..MAX_BLOCK_LEN).unwrap_or(request.text);
    let draft = Draft {
        from: name(call, request.start.originator),
        to: name(call, request.start.destination),
        text: text.to_vec(),
    };
    deliver(call, &draft)?;
    call.done_empty()
}

/// SEND_START_MULTI_BLOCK.
pub fn send_start(call: &mut Call<'_>) -> Outcome {
    must_receive(call)?;
    let request = Start::parse(&call.block)?;
    let from = name(call, request.originator);
    let to = name(call, request.destination);
    let group = call.conn.message.begin(from, to);
    emit_group(group, call.out());
    Ok(Flow::Done)
}

/// SEND_TEXT_MULTI_BLOCK. An unknown identifier is an invalid name (ERRinvnid).
pub fn send_text(call: &mut Call<'_>) -> Outcome {
    must_receive(call)?;
    let request = Text::parse(&call.block)?;
    match call.conn.message.add(request.group, request.text) {
        true => call.done_empty(),
        false => Err(Status::BAD_TID.into()),
    }
}

/// SEND_END_MULTI_BLOCK.
pub fn send_end(call: &mut Call<'_>) -> Outcome {
    must_receive(call)?;
    let group = parse_group(&call.block)?;
    let draft = call.conn.message.end(group).ok_or(Status::BAD_TID)?;
    deliver(call, &draft)?;
    call.done_empty()
}

/// ERRmsgoff, unless the server receives messages.
fn must_receive(call: &Call<'_>) -> Result<()> {
    match call.conn.server.config.messages {
        true => Ok(()),
        false => Err(Status::MESSAGES_OFF.into()),
    }
}

fn name(call: &Call<'_>, name: WireStr<'_>) -> alloc::string::String {
    let name = call.text(name);
    name.trim().chars().take(MAX_NAME_LEN).collect()
}

/// Reports the message to the driver, or refuses it because too many came (ERRpaused).
fn deliver(call: &mut Call<'_>, draft: &Draft) -> Result<()> {
    let now = call.now;
    let host = call.conn.peer.host();
    let admitted = call
        .conn
        .server
        .locked(|tables| tables.admit_message(now, host));
    if !admitted {
        return Err(Status::SERVER_PAUSED.into());
    }
    let text = call.text(WireStr {
        raw: &draft.text,
        unicode: false,
    });
    call.conn.events.push_back(Event::Message {
        from: draft.from.clone(),
        to: draft.to.clone(),
        text: crate::message::lines(&text),
    });
    Ok(())
}

#[cfg(test)]
#[path = "message_tests.rs"]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests;
