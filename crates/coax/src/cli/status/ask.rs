//! A question to the server.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::net::UnixStream,
    path::Path,
    time::Duration,
};

use coax_report::explain::words::harmless;
use coax_serve::status::{Answer, Ask};

/// How long the server may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest answer, bytes: 10,000 files with long names.
const ANSWER_MAX: u64 = 64 << 20;

/// Why there is no answer.
#[derive(Debug)]
pub enum AskError {
    /// Nothing answers at the socket.
    Silent(String),
    /// The server refused.
    Refused(String),
    /// The answer makes no sense.
    Senseless,
}

impl std::fmt::Display for AskError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Silent(why) => write!(
                f,
                "no server answers {why}\n  = help: set 'coax:status socket' in the server's smb.conf, or name its socket with --socket; only its user and root may ask"
            ),
            Self::Refused(why) => f.write_str(why),
            Self::Senseless => f.write_str("the server's answer is not understood\n  = help: use the coax of the server's version"),
        }
    }
}

/// Asks the server at `socket`.
///
/// # Errors
/// There is no answer, or the server refuses.
pub fn ask(socket: &Path, ask: Ask) -> Result<Answer, AskError> {
    let silent =
        |error: std::io::Error| AskError::Silent(format!("at {}: {error}", socket.display()));
    let mut stream = UnixStream::connect(socket).map_err(silent)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(silent)?;
    let question = serde_json::to_string(&ask).map_err(|_| AskError::Senseless)?;
    stream
        .write_all(format!("{question}\n").as_bytes())
        .map_err(silent)?;
    let mut line = String::new();
    BufReader::new(stream.take(ANSWER_MAX))
        .read_line(&mut line)
        .map_err(silent)?;
    match serde_json::from_str(&line) {
        Ok(Answer::Refused { why }) => Err(AskError::Refused(harmless(&why).to_string())),
        Ok(answer) => Ok(answer),
        Err(_) => Err(AskError::Senseless),
    }
}
