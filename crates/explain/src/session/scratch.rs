//! Messages of which only the beginning was kept, given their full length back.

/// The longest message that a session header can tell: 24 bits.
const MOST: usize = (1 << 24) - 1;

/// A message whose tail the capture (or we) did not keep reads as if zeros stood there, so that the codecs, which refuse
/// data that lies outside a message, can be asked all the same. Nobody looks at the data.
#[derive(Debug, Default)]
pub(crate) struct Scratch(Vec<u8>);

impl Scratch {
    /// Shows `head` as a message of `len` bytes to `look`.
    pub(crate) fn with<T>(&mut self, head: &[u8], len: u64, look: impl FnOnce(&[u8]) -> T) -> T {
        let len = usize::try_from(len).unwrap_or(MOST).min(MOST);
        let kept = head.len().min(len);
        if kept == len {
            return look(head.get(..len).unwrap_or(head));
        }
        if self.0.len() < len {
            self.0.resize(len, 0);
        }
        if let (Some(place), Some(from)) = (self.0.get_mut(..kept), head.get(..kept)) {
            place.copy_from_slice(from);
        }
        let seen = look(self.0.get(..len).unwrap_or_default());
        if let Some(place) = self.0.get_mut(..kept) {
            place.fill(0);
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_kept_reads_as_zeros_and_leaves_nothing_behind() {
        let mut scratch = Scratch::default();
        scratch.with(b"abcd", 6, |seen| assert_eq!(seen, b"abcd\0\0"));
        scratch.with(b"x", 5, |seen| assert_eq!(seen, b"x\0\0\0\0"));
        scratch.with(b"whole", 5, |seen| assert_eq!(seen, b"whole"));
        scratch.with(b"x", 1 << 20, |seen| assert_eq!(seen.len(), 1 << 20));
        scratch.with(b"x", u64::MAX, |seen| assert_eq!(seen.len(), MOST));
    }
}
