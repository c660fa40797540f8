//! How sessions end.

/// Why a session is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionClose {
    /// This side closed it.
    #[error("closed")]
    Local,
    /// The peer closed it.
    #[error("the peer closed the session")]
    Peer,
    /// The peer does not answer.
    #[error("the peer does not answer")]
    NoAnswer,
    /// The peer does not know the session any more.
    #[error("the peer does not know the session")]
    Unknown,
    /// The peer sent a message longer than allowed, or pieces that make none.
    #[error("the peer sent a message that is too long or damaged")]
    BadMessage,
    /// A message of this side does not fit.
    #[error("a message is too long for this network")]
    TooLong,
    /// A direct client was silent for too long.
    #[error("the client was silent for too long")]
    Idle,
    /// The station opened the session anew.
    #[error("the station opened the session anew")]
    Replaced,
}
