//! Bytes between an engine and a [`Payload`].

use alloc::vec::Vec;

use crate::payload::Payload;

/// Fills an engine's receive space with what came. Bytes of the pattern are made only if `whole`: no engine looks at a
/// file's data, and who copies gigabytes need not make them.
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

    /// Puts the bytes of `payload` at the beginning of `space`.
    pub(super) fn pour(&mut self, payload: &Payload, space: &mut [u8]) {
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

/// One write of head and data.
pub(super) fn joined(head: Vec<u8>, data: Payload) -> Payload {
    let mut payload = Payload::from(head);
    payload.append(data);
    payload
}

/// Whether a message without its session header is a command, and not a raw transfer's data.
pub(super) fn is_command(message: &[u8]) -> bool {
    message.starts_with(b"\xffSMB")
}
