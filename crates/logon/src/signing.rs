//! SMB1 message signatures ([MS-CIFS] 3.1.4.1, 3.1.5.1; [MS-SMB] 3.3.5.1).
//!
//! The signature of a message is the first eight bytes of
//! `MD5(session key ‖ challenge response ‖ message)`, where the message has its sequence number (32 bits, then 32 zero
//! bits) in place of the signature.
//!
//! # For a server
//!
//! 1. The first logon that yields a session key (not guest, not anonymous, not plaintext) switches signing on for the
//!    whole connection, if the server demands it, or offers it and the client's request says [`wants_signing`] (pysmb
//!    and impacket sign only what is demanded): make a [`Signer`] and a [`ServerSequence`] then. Later logons on the
//!    same connection change neither.
//! 2. That SESSION_SETUP_ANDX request counts as number 0 and its signature is not checked; sign its reply with number
//!    [`FIRST_REPLY`], which is 1.
//! 3. For each later request call [`ServerSequence::next`] with its command, check it with
//!    [`Signer::verify`] and the number it gives, and sign the reply with [`RequestNumber::reply`], whenever and in
//!    whatever order the replies go out. All replies of one request (the pieces of a TRANSACTION2's answer, an interim
//!    reply, a late NT_TRANSACT_NOTIFY_CHANGE) carry the same number.
//! 4. Requests that are not answered (TRANSACTION_SECONDARY, the LOCKING_ANDX that acknowledges an oplock break,
//!    WRITE_MPX) still take two numbers; NT_CANCEL alone takes one.
//! 5. An oplock break, which the server sends of its own accord, is not signed: leave its signature field zero.
//! 6. Raw reads and writes carry bare data without a header and cannot be signed: do not offer raw mode then.
//!
//! A client counts likewise with [`ServerSequence`] for what it sends, and checks each reply with the request's
//! [`RequestNumber::reply`].

use crate::secret::SessionKey;
use md5::{Digest, Md5};
use subtle::ConstantTimeEq;
use thiserror::Error;

/// The number of the reply to the SESSION_SETUP_ANDX that switched signing on.
pub const FIRST_REPLY: u32 = 1;

/// `SMB_COM_NT_CANCEL`, the one request that takes a single number.
const SMB_COM_NT_CANCEL: u8 = 0xa4;

/// `SMB_FLAGS2_SMB_SECURITY_SIGNATURE` in the low byte of Flags2 ([MS-CIFS] 2.2.3.1).
const SECURITY_SIGNATURE: u8 = 0x04;

/// Where Flags2 and the signature lie in an SMB header ([MS-CIFS] 2.2.3.1).
const FLAGS2: usize = 10;
const SIGNATURE: usize = 14;
const AFTER_SIGNATURE: usize = 22;

/// An error in signing or verifying a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SigningError {
    /// The message is too short for a signature field.
    #[error("a message of {0} bytes has no room for a signature")]
    TooShort(usize),
    /// The signature does not match this key and number.
    #[error("the signature does not match sequence number {0}")]
    Mismatch(u32),
}

/// Whether a message's Flags2 say that it is signed, or, in a SESSION_SETUP_ANDX request, that the client will sign
/// (`SMB_FLAGS2_SMB_SECURITY_SIGNATURE`).
pub fn wants_signing(message: &[u8]) -> bool {
    message
        .get(FLAGS2)
        .is_some_and(|flags| flags & SECURITY_SIGNATURE != 0)
}

/// Signs and checks the messages of one connection.
#[derive(Clone)]
pub struct Signer {
    /// MD5 state after the key, so that the key is hashed once per connection instead of once per message.
    keyed: Md5,
}

impl core::fmt::Debug for Signer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Signer(<secret>)")
    }
}

impl Signer {
    /// A signer for a logon with challenge responses in the SESSION_SETUP_ANDX itself. `lm` and `nt` are the two
    /// password fields as the client sent them; the NT one counts if it is there ([MS-CIFS] 3.2.5.3, 3.3.5.43).
    pub fn for_responses(session_key: &SessionKey, lm: &[u8], nt: &[u8]) -> Self {
        Self::new(session_key, if nt.is_empty() { lm } else { nt })
    }

    /// A signer for a logon with extended security, where no response is mixed in ([MS-SMB] 3.3.5.3).
    pub fn for_extended_security(session_key: &SessionKey) -> Self {
        Self::new(session_key, &[])
    }

    fn new(session_key: &SessionKey, response: &[u8]) -> Self {
        Self {
            keyed: Md5::new()
                .chain_update(session_key.as_bytes())
                .chain_update(response),
        }
    }

    /// Signs a message in place and sets the signature flag.
    pub fn sign(&self, number: u32, message: &mut [u8]) -> Result<(), SigningError> {
        self.sign_parts(number, message, &[])
    }

    /// As [`Self::sign`], for a message in pieces: `head` holds at least the SMB header, `rest` follows it on the wire.
    pub fn sign_parts(
        &self,
        number: u32,
        head: &mut [u8],
        rest: &[&[u8]],
    ) -> Result<(), SigningError> {
        let too_short = SigningError::TooShort(head.len());
        *head.get_mut(FLAGS2).ok_or(too_short)? |= SECURITY_SIGNATURE;
        let mac = self.mac(number, head, rest)?;
        head.get_mut(SIGNATURE..AFTER_SIGNATURE)
            .ok_or(too_short)?
            .copy_from_slice(&mac);
        Ok(())
    }

    /// Verifies a received message.
    pub fn verify(&self, number: u32, message: &[u8]) -> Result<(), SigningError> {
        let mac = self.mac(number, message, &[])?;
        let sent = message
            .get(SIGNATURE..AFTER_SIGNATURE)
            .ok_or(SigningError::TooShort(message.len()))?;
        if bool::from(mac.as_slice().ct_eq(sent)) {
            Ok(())
        } else {
            Err(SigningError::Mismatch(number))
        }
    }

    /// The expected signature of a message with this number.
    fn mac(&self, number: u32, head: &[u8], rest: &[&[u8]]) -> Result<[u8; 8], SigningError> {
        let too_short = SigningError::TooShort(head.len());
        let before = head.get(..SIGNATURE).ok_or(too_short)?;
        let after = head.get(AFTER_SIGNATURE..).ok_or(too_short)?;
        let mut digest = self.keyed.clone();
        digest.update(before);
        digest.update(u64::from(number).to_le_bytes());
        digest.update(after);
        rest.iter().for_each(|part| digest.update(part));
        let [a, b, c, d, e, f, g, h, ..] = <[u8; 16]>::from(digest.finalize());
        Ok([a, b, c, d, e, f, g, h])
    }
}

/// The sequence numbers of a request and its replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestNumber(u32);

impl RequestNumber {
    /// The number of the request itself.
    pub const fn request(self) -> u32 {
        self.0
    }

    /// The number of all its replies.
    pub const fn reply(self) -> u32 {
        self.0.wrapping_add(1)
    }
}

/// Counts the requests of a connection once signing is on (`ServerNextReceiveSequenceNumber`, [MS-SMB] 3.3.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerSequence {
    next: u32,
}

impl Default for ServerSequence {
    /// After the logon that switched signing on, which took numbers 0 and 1.
    fn default() -> Self {
        Self {
            next: FIRST_REPLY.wrapping_add(1),
        }
    }
}

impl ServerSequence {
    /// The numbers of the next request, whose command code is `command`.
    ///
    /// Call it for every request that arrives, and only once. If the signature is wrong, refuse the request with
    /// STATUS_ACCESS_DENIED, signed with the same reply number; the sequence advances nevertheless.
    pub const fn next(&mut self, command: u8) -> RequestNumber {
        let number = self.next;
        self.next = number.wrapping_add(if command == SMB_COM_NT_CANCEL { 1 } else { 2 });
        RequestNumber(number)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::testing::{hex, hex_array};
    use alloc::{format, vec};

    const KEY: SessionKey = SessionKey::new([0x11; 16]);

    fn echo() -> alloc::vec::Vec<u8> {
        hex(
            "ff534d422b 00000000 18 0128 0000 a5a5a5a5a5a5a5a5 0000 0000 fffe 0000 0100 01 0100 0300 616263",
        )
    }

    #[test]
    fn the_signature_is_the_head_of_md5_over_key_response_and_numbered_message() {
        let signer = Signer::for_responses(&KEY, &[1; 24], &[0x22; 24]);
        let mut message = echo();
        signer.sign(3, &mut message).unwrap();
        let mut hashed = vec![0x11; 16];
        hashed.extend([0x22; 24]);
        let mut numbered = message.clone();
        numbered[14..22].copy_from_slice(&[3, 0, 0, 0, 0, 0, 0, 0]);
        hashed.extend(&numbered);
        assert_eq!(message[14..22], crate::primitives::md5(&[&hashed])[..8]);
        assert_eq!(message[10], 0x01 | 0x04);
        assert!(wants_signing(&message) && !wants_signing(&echo()) && !wants_signing(&[]));
    }

    #[test]
    fn signatures_agree_with_an_independent_implementation() {
        let mut message = echo();
        Signer::for_extended_security(&KEY)
            .sign(2, &mut message)
            .unwrap();
        assert_eq!(message[14..22], hex_array::<8>("dc10257e2970237c"));
        Signer::for_responses(&KEY, &[0x33; 24], &[])
            .sign(7, &mut message)
            .unwrap();
        assert_eq!(message[14..22], hex_array::<8>("02b2d1f0d4a945d5"));
    }

    #[test]
    fn pieces_are_signed_as_the_whole_is() {
        let signer = Signer::for_extended_security(&KEY);
        let mut whole = echo();
        signer.sign(9, &mut whole).unwrap();
        let mut head = echo()[..33].to_vec();
        let tail = echo()[33..].to_vec();
        signer
            .sign_parts(9, &mut head, &[&tail[..2], &tail[2..]])
            .unwrap();
        assert_eq!(head[14..22], whole[14..22]);
    }

    #[test]
    fn a_changed_bit_or_number_is_detected() {
        let signer = Signer::for_extended_security(&KEY);
        let mut message = echo();
        signer.sign(2, &mut message).unwrap();
        assert_eq!(signer.verify(2, &message), Ok(()));
        assert_eq!(signer.verify(4, &message), Err(SigningError::Mismatch(4)));
        for bit in 0..message.len() * 8 {
            let mut changed = message.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(signer.verify(2, &changed), Err(SigningError::Mismatch(2)));
        }
    }

    #[test]
    fn a_message_too_short_for_a_signature_is_an_error() {
        let signer = Signer::for_extended_security(&KEY);
        for length in 0..22 {
            assert_eq!(
                signer.sign(1, &mut vec![0; length]),
                Err(SigningError::TooShort(length))
            );
            assert_eq!(
                signer.verify(1, &vec![0; length]),
                Err(SigningError::TooShort(length))
            );
        }
    }

    #[test]
    fn requests_take_two_numbers_and_a_cancel_takes_one() {
        let mut sequence = ServerSequence::default();
        let first = sequence.next(0x75);
        assert_eq!((first.request(), first.reply()), (2, 3));
        assert_eq!(sequence.next(SMB_COM_NT_CANCEL).request(), 4);
        assert_eq!(sequence.next(0x33).request(), 5);
        assert_eq!(sequence.next(0x2b).request(), 7);
    }

    #[test]
    fn debug_prints_no_key() {
        assert_eq!(
            format!("{:?}", Signer::for_extended_security(&KEY)),
            "Signer(<secret>)"
        );
    }
}
