//! What can be wrong with a capture file.

/// Why a capture could not be read at all. What is merely damaged is read up to there and noted in
/// [`crate::report::Quality`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read the capture: {0}")]
    Io(#[from] std::io::Error),
    /// Its first bytes are those of no format known here.
    #[error(
        "this is no capture in pcap or pcapng form (it begins with {0:02x?}); save it as pcap or pcapng with Wireshark or editcap"
    )]
    NotACapture([u8; 4]),
    /// It ends within its first header.
    #[error("the file is too short to be a capture")]
    Empty,
}
