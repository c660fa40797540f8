//! Any capture, played against a server that answers with the capture's own bytes, ends.

use std::time::Duration;

use coax_capture::Reader;
use coax_replay::{Identity, Wire, conversations, play};

/// Answers that are sent for each request.
const ANSWERS: usize = 2;

/// A server that sends what is left, cut anyhow.
struct Parrot {
    answers: Vec<Vec<u8>>,
    next: usize,
    owed: usize,
}

impl Wire for Parrot {
    fn send(&mut self, message: &[u8]) -> Result<(), String> {
        self.owed += ANSWERS;
        // so that some answers fit their request
        if let (Some(answer), Some(ids)) = (self.answers.get_mut(self.next), message.get(24..32))
            && let Some(place) = answer.get_mut(24..32)
        {
            place.copy_from_slice(ids);
        }
        Ok(())
    }

    fn receive(&mut self, _: Duration) -> Result<Option<Vec<u8>>, String> {
        if self.owed == 0 {
            return Ok(None);
        }
        self.owed -= 1;
        let answer = self.answers.get(self.next).cloned();
        self.next += 1;
        answer.map(Some).ok_or_else(|| "the end".into())
    }
}

/// A capture file.
pub fn replay(data: &[u8]) {
    let Ok(mut reader) = Reader::new(data) else {
        return;
    };
    for conversation in conversations(&mut reader).into_iter().flatten() {
        let of_server = conversation
            .packets
            .iter()
            .filter(|packet| !packet.from_client);
        let mut wire = Parrot {
            answers: of_server.map(|packet| packet.bytes.clone()).collect(),
            next: 0,
            owed: 0,
        };
        let outcome = play(
            &conversation,
            &Identity::default(),
            &mut wire,
            Duration::ZERO,
        );
        assert!(outcome.sent <= conversation.requests());
    }
}
