//! Secret bytes: never printed, compared in constant time, wiped when dropped.

use alloc::vec::Vec;
use core::fmt;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// `N` secret bytes: not printed by `Debug`, compared in constant time, overwritten when dropped.
#[derive(Clone)]
pub struct Secret<const N: usize>([u8; N]);

/// An LM or NT hash ([MS-NLMP] 3.3.1: LMOWFv1, NTOWFv1).
pub type Hash = Secret<16>;

/// A session key, 16 bytes ([MS-NLMP] 3.4, [MS-CIFS] 3.1.1.1 `Connection.SigningSessionKey`).
pub type SessionKey = Secret<16>;

impl<const N: usize> Secret<N> {
    /// Wraps the bytes.
    pub const fn new(bytes: [u8; N]) -> Self {
        Self(bytes)
    }

    /// The bytes, for computations.
    pub const fn as_bytes(&self) -> &[u8; N] {
        &self.0
    }
}

impl<const N: usize> From<[u8; N]> for Secret<N> {
    fn from(bytes: [u8; N]) -> Self {
        Self(bytes)
    }
}

impl<const N: usize> PartialEq for Secret<N> {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl<const N: usize> Eq for Secret<N> {}

impl<const N: usize> fmt::Debug for Secret<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}

impl<const N: usize> Zeroize for Secret<N> {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl<const N: usize> ZeroizeOnDrop for Secret<N> {}

impl<const N: usize> Drop for Secret<N> {
    fn drop(&mut self) {
        self.zeroize();
    }
}

/// A secret of any length, such as a password's text in some encoding.
#[derive(Clone)]
pub struct SecretBytes(Vec<u8>);

impl SecretBytes {
    /// Wraps the bytes. The type cannot wipe copies that the vector left in earlier allocations as it grew.
    pub const fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes, for computations.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for SecretBytes {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl PartialEq for SecretBytes {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for SecretBytes {}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}

impl Zeroize for SecretBytes {
    /// Overwrites the whole allocation and leaves no bytes.
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl ZeroizeOnDrop for SecretBytes {}

impl Drop for SecretBytes {
    fn drop(&mut self) {
        self.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, vec};

    #[test]
    fn debug_prints_no_secret() {
        assert_eq!(format!("{:?}", Secret::new([0x41; 4])), "<secret>");
        assert_eq!(format!("{:?}", SecretBytes::from("AAAA")), "<secret>");
    }

    #[test]
    fn wiping_leaves_only_zeros() {
        let mut secret = Secret::new([0xa5; 40]);
        secret.zeroize();
        assert_eq!(secret.as_bytes(), &[0; 40]);
        let mut bytes = SecretBytes::new(vec![0xa5; 40]);
        bytes.zeroize();
        assert_eq!(bytes.as_bytes(), b"");
    }

    #[test]
    fn secrets_compare_by_content() {
        assert_eq!(Secret::new([1, 2]), Secret::new([1, 2]));
        assert_ne!(Secret::new([1, 2]), Secret::new([1, 3]));
        assert_eq!(SecretBytes::from("a"), SecretBytes::from("a"));
        assert_ne!(SecretBytes::from("a"), SecretBytes::from("ab"));
    }
}
