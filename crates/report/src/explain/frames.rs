//! Sessions without TCP: NetBEUI, NetBIOS over IPX and direct hosting.

use coax_explain::{
    Cause,
    report::{Capture, Connection, Copy, Netbios, NetbiosSide, Side, Transport},
};
use serde_json::{Value, json};

use super::{
    explained::Explained,
    paper::Paper,
    words::{harmless, many, size},
};

/// The label of a cause on a connection: where its usual label names TCP, that of the transport.
pub(super) fn label(transport: Transport, cause: Cause) -> &'static str {
    if transport == Transport::Tcp {
        return cause.label();
    }
    match cause {
        Cause::ReceiveWindow => "waiting for the receiver to take more frames",
        Cause::ZeroWindow => {
            "waiting for a receiver that takes nothing (RNR, NO RECEIVE, closed window)"
        }
        Cause::SlowStart => "a send window that still grows",
        Cause::Pacing => "spreading of frames by the sender",
        Cause::SendWindow => "too few frames in flight (the sender's window)",
        Cause::NagleDelayedAck => "waiting for delayed acknowledgments",
        Cause::FastRecovery => "sending again what the receiver rejected",
        Cause::Timeout => "waiting for the sender's timer after a loss",
        other => other.label(),
    }
}

/// The same for a copy.
pub(super) fn label_of(capture: &Capture, copy: &Copy, cause: Cause) -> &'static str {
    label(transport_of(capture, copy), cause)
}

/// What carried a copy.
pub(super) fn transport_of(capture: &Capture, copy: &Copy) -> Transport {
    let connection = capture.connections.get(copy.connection);
    connection.map_or(Transport::Tcp, Connection::transport)
}

/// The transport whose words the legend of a page uses: that of its copies, if all have the same one.
pub(super) fn common_transport(all: &[Explained]) -> Transport {
    let mut transports = all.iter().flat_map(|explained| {
        let capture = &explained.capture;
        let copies = capture.copies.iter();
        copies.map(|copy| transport_of(capture, copy))
    });
    let first = transports.next().unwrap_or_default();
    match transports.all(|other| other == first) {
        true => first,
        false => Transport::Tcp,
    }
}

/// For example `SMB1 over NetBEUI`.
pub(super) fn carried(connection: &Connection) -> String {
    let carries = connection.protocol.label();
    let carries = carries.unwrap_or_else(|| "no SMB1".to_owned());
    match connection.transport() {
        Transport::Tcp => carries,
        transport => format!("{carries} over {}", transport.title()),
    }
}

/// Writes what both sides sent.
pub(super) fn sides(out: &mut Paper, connection: &Connection) -> std::fmt::Result {
    let Some(netbios) = connection.netbios.as_deref() else {
        return Ok(());
    };
    if let [Some(client), Some(server)] = &netbios.names {
        let words = format!("{} calls {}", harmless(client), harmless(server));
        out.prose("  names             ", &words)?;
    }
    if let Some(frame_type) = netbios.frame_type {
        out.prose("  frame type        ", frame_type)?;
    }
    let both = connection.sides.iter().zip(&netbios.sides);
    for (who, (side, frames)) in ["client", "server"].into_iter().zip(both) {
        out.prose(&format!("  {who:<17} "), &sent(side, frames))?;
        let notes = notes(side, frames);
        if !notes.is_empty() {
            out.prose(&format!("  {:<17} ", ""), &notes.join(", "))?;
        }
    }
    if netbios.still_working > 0 {
        let times = many(netbios.still_working, "time");
        out.prose(
            "  still working     ",
            &format!("the server said so {times}"),
        )?;
    }
    Ok(())
}

fn sent(side: &Side, frames: &NetbiosSide) -> String {
    let sent = match side.data_segments {
        0 => "sent no data".to_owned(),
        count => format!(
            "sent {} in {} of at most {}",
            size(side.bytes),
            many(count, "frame"),
            many(u64::from(side.largest_segment), "byte")
        ),
    };
    let takes = frames.receive_bytes.map(|bytes| {
        let bytes = many(u64::from(bytes), "byte");
        format!("; takes pieces of up to {bytes}")
    });
    let window = frames.window_frames.map(|count| {
        let frames = many(u64::from(count), "frame");
        format!("; offers a window of {frames}")
    });
    format!(
        "{sent}{}{}",
        takes.unwrap_or_default(),
        window.unwrap_or_default()
    )
}

fn notes(side: &Side, frames: &NetbiosSide) -> Vec<String> {
    let again = &side.again;
    let kinds = [
        (again.fast, "after REJ"),
        (again.timer.saturating_add(again.probe), "by its timer"),
        (again.after_timer, "after that"),
    ];
    let kinds = kinds.iter().filter(|kind| kind.0 > 0);
    let kinds: Vec<String> = kinds.map(|(count, why)| format!("{count} {why}")).collect();
    let why = match kinds.is_empty() {
        true => String::new(),
        false => format!(" (with data: {})", kinds.join(", ")),
    };
    let counts = [
        (frames.again, "frame", format!("sent again{why}")),
        (frames.rejects, "time", "rejected (REJ)".to_owned()),
        (frames.busy, "time", "busy (RNR or NO RECEIVE)".to_owned()),
        (frames.polls, "poll", "of its own".to_owned()),
        (
            frames.message_acks,
            "acknowledgment",
            "of messages (DATA ACK)".to_owned(),
        ),
    ];
    let counts = counts.into_iter().filter(|count| count.0 > 0);
    let most = (frames.most_unacknowledged > 0).then(|| {
        let frames = many(frames.most_unacknowledged, "frame");
        format!("at most {frames} without acknowledgment")
    });
    let counts = counts.map(|(count, one, what)| format!("{} {what}", many(count, one)));
    most.into_iter().chain(counts).collect()
}

/// The same as JSON.
pub(super) fn as_json(netbios: &Netbios) -> Value {
    let [client, server] = &netbios.names;
    let [from_client, from_server] = &netbios.sides;
    json!({
        "client_name": client,
        "server_name": server,
        "frame_type": netbios.frame_type,
        "from_client": side_as_json(from_client),
        "from_server": side_as_json(from_server),
        "still_working": netbios.still_working,
    })
}

fn side_as_json(side: &NetbiosSide) -> Value {
    json!({
        "frames": side.frames,
        "again": side.again,
        "rejects": side.rejects,
        "busy": side.busy,
        "polls": side.polls,
        "message_acks": side.message_acks,
        "most_unacknowledged": side.most_unacknowledged,
        "receive_bytes": side.receive_bytes,
        "window_frames": side.window_frames,
    })
}
