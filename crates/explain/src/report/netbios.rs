//! What sessions without TCP show beyond their streams.

/// A session of NetBEUI or NetBIOS over IPX, or a connection of direct hosting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Netbios {
    /// The names of the client and the server, as `NAME<20>`, if they were told.
    pub names: [Option<String>; 2],
    /// The frame type of IPX.
    pub frame_type: Option<&'static str>,
    /// What the client sent, and what the server sent.
    pub sides: [NetbiosSide; 2],
    /// Answers of direct hosting that only said that the server works on the request.
    pub still_working: u64,
}

/// What one side sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NetbiosSide {
    /// Numbered frames, each counted once: I frames of LLC, packets of NBIPX, messages of direct hosting.
    pub frames: u64,
    /// Such frames that were sent again.
    pub again: u64,
    /// REJ of LLC, or the request of NBIPX to send again.
    pub rejects: u64,
    /// How often it said that it takes no data: RNR of LLC, NO RECEIVE of NBF.
    pub busy: u64,
    /// Polls of their own: an expired timer, a check of the link, a probe of the window.
    pub polls: u64,
    /// Acknowledgments of messages (NBF DATA ACK) in frames of their own.
    pub message_acks: u64,
    /// The most frames on their way without an acknowledgment.
    pub most_unacknowledged: u64,
    /// The longest piece of a message that it takes, by its word, bytes.
    pub receive_bytes: Option<u16>,
    /// The widest window that it offered, packets of NBIPX.
    pub window_frames: Option<u16>,
}
