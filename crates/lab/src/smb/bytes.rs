//! Conversions between engine buffers and [`Payload`].

use alloc::vec::Vec;

use crate::payload::Payload;

/// Copies received data into an engine's receive space. Without `whole` it does not generate pattern bytes, because the
/// engines ignore the contents of files.
#[derive(Debug, Default)]
pub(super) struct ByteAssembler {
    whole: bool,
    scratch: Vec<u8>,
}

impl ByteAssembler {
    pub(super) const fn new(whole: bool) -> Self {
        Self {
            whole,
            scratch: Vec::new(),
        }
    }

    /// Copies `payload` to the start of `space`.
    pub(super) fn copy_to(&mut self, payload: &Payload, space: &mut [u8]) {
        let mut at = 0_usize;
        for chunk in payload.chunks() {
            let end = at.saturating_add(chunk.len() as usize);
            if self.whole || chunk.pattern_offset().is_none() {
                self.scratch.clear();
                chunk.copy_to(&mut self.scratch);
                if let Some(place) = space.get_mut(at..end) {
                    place.copy_from_slice(&self.scratch);
                }
            }
            at = end;
        }
    }
}

/// Joins head and data of one write.
pub(super) fn joined(head: Vec<u8>, data: Payload) -> Payload {
    let mut payload = Payload::from(head);
    payload.append(data);
    payload
}

/// Whether a message without its session header is a command, not the data of a raw transfer.
pub(super) fn is_command(message: &[u8]) -> bool {
    message.starts_with(b"\xffSMB")
}
