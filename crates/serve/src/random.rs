//! Random numbers.

/// Random bytes from the system, for challenges and the like.
pub(super) fn random<const N: usize>() -> Result<[u8; N], rustix::io::Errno> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty()) {
            Ok(count) => filled = filled.saturating_add(count),
            Err(rustix::io::Errno::INTR) => {}
            Err(other) => return Err(other),
        }
    }
    Ok(bytes)
}
