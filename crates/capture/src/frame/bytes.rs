//! Big-endian numbers in bytes that may be too short.

#[inline]
pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let word = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_be_bytes(*word))
}

#[inline]
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_be_bytes(*word))
}
