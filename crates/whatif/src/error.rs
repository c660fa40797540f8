//! Why nothing is predicted.

/// Why a copy cannot be modelled, or a change not be tried.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Why {
    /// The connection carries no SMB, and the change is one of it.
    #[error("the connection carries no SMB1, so changes of SMB do not apply")]
    NoSmb,
    /// The lab's model of a copy has TCP only.
    #[error("predictions are made for copies over TCP, and this one was made over {0}")]
    Transport(&'static str),
    /// The connection carries no SMB, and no data that goes one way as fast as it can.
    #[error(
        "the connection carries no SMB1, and its data waits for programs that the lab does not have"
    )]
    NotBulk,
    /// The copy is too small, too short or too incomplete to be calibrated from.
    #[error("too little of the copy was captured: {0}")]
    TooLittle(&'static str),
    /// It was made in a way that the lab's client does not have.
    #[error("the lab has no client that copies with {0}")]
    NotModelled(String),
    /// The model of the copy as it was does not take as long as it did.
    #[error(
        "the simulation of the copy takes {model_s:.2} s, the copy took {measured_s:.2} s: predictions would be unreliable"
    )]
    Misses {
        /// What the model says, seconds.
        model_s: f64,
        /// What the capture says, seconds.
        measured_s: f64,
    },
    /// The lab would take too long.
    #[error("simulating the copy takes more events than the limit")]
    TooMuch,
    /// The lab cannot run what was asked for.
    #[error("{0}")]
    Lab(String),
}
