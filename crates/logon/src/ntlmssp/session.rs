//! Signatures made with a negotiated session key ([MS-NLMP] 3.4).

use super::NegotiateFlags;
use crate::primitives::{crc32, hmac_md5, md5, rc4};
use crate::secret::{Secret, SessionKey};
use rc4::{Rc4, StreamCipher};
use subtle::ConstantTimeEq;

/// The role in the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The side that sent NEGOTIATE.
    Client,
    /// The side that sent CHALLENGE.
    Server,
}

/// A completed exchange: its key, and signatures in both directions.
pub struct Session {
    session_key: SessionKey,
    flags: NegotiateFlags,
    sending: Direction,
    receiving: Direction,
}

impl core::fmt::Debug for Session {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Session")
            .field("flags", &self.flags)
            .finish_non_exhaustive()
    }
}

impl Session {
    /// A session with this exported session key.
    pub fn new(role: Role, flags: NegotiateFlags, session_key: SessionKey) -> Self {
        let client = Direction::new(flags, &session_key, Role::Client);
        let server = Direction::new(flags, &session_key, Role::Server);
        let (sending, receiving) = match role {
            Role::Client => (client, server),
            Role::Server => (server, client),
        };
        Self {
            session_key,
            flags,
            sending,
            receiving,
        }
    }

    /// `ExportedSessionKey`, which signs SMB messages.
    pub const fn session_key(&self) -> &SessionKey {
        &self.session_key
    }

    /// The negotiated flags.
    pub const fn flags(&self) -> NegotiateFlags {
        self.flags
    }

    /// Signs the next message that is sent ([MS-NLMP] 3.4.4).
    pub fn sign(&mut self, message: &[u8]) -> [u8; 16] {
        self.sending.mac(message)
    }

    /// Verifies the signature of the next received message. Without extended session security the pad may have any
    /// value.
    pub fn verify(&mut self, message: &[u8], signature: &[u8]) -> bool {
        let Ok(mut sent) = <[u8; 16]>::try_from(signature) else {
            return false;
        };
        if self.receiving.sign_key.is_none() {
            sent.iter_mut().skip(4).take(4).for_each(|pad| *pad = 0);
        }
        self.receiving.mac(message).ct_eq(&sent).into()
    }
}

/// The keys and the count of one direction.
struct Direction {
    /// `None` without extended session security, where a CRC-32 replaces a keyed digest.
    sign_key: Option<Secret<16>>,
    sealing: Rc4,
    key_exchange: bool,
    sequence: u32,
}

impl Direction {
    fn new(flags: NegotiateFlags, key: &SessionKey, sender: Role) -> Self {
        let key_exchange = flags.has(NegotiateFlags::KEY_EXCH);
        if !flags.has(NegotiateFlags::EXTENDED_SESSIONSECURITY) {
            return Self {
                sign_key: None,
                sealing: rc4(key.as_bytes()),
                key_exchange,
                sequence: 0,
            };
        }
        let (sign, seal): (&[u8], &[u8]) = match sender {
            Role::Client => (
                b"session key to client-to-server signing key magic constant\0",
                b"session key to client-to-server sealing key magic constant\0",
            ),
            Role::Server => (
                b"session key to server-to-client signing key magic constant\0",
                b"session key to server-to-client sealing key magic constant\0",
            ),
        };
        let strength = strength_bytes(flags);
        let weakened = key.as_bytes().get(..strength).unwrap_or_default();
        Self {
            sign_key: Some(Secret::new(md5(&[key.as_bytes(), sign]))),
            sealing: rc4(&md5(&[weakened, seal])),
            key_exchange,
            sequence: 0,
        }
    }

    /// MAC() of [MS-NLMP] 3.4.4.1 and 3.4.4.2.
    fn mac(&mut self, message: &[u8]) -> [u8; 16] {
        let number = self.sequence;
        self.sequence = number.wrapping_add(1);
        let mut out = [0u8; 16];
        let [version, checksum, sequence] = match &self.sign_key {
            None => self.mac_without_key(number, message),
            Some(key) => {
                let digest = hmac_md5(key.as_bytes(), &[&number.to_le_bytes(), message]);
                let [a, b, c, d, e, f, g, h, ..] = digest;
                let mut checksum = [a, b, c, d, e, f, g, h];
                if self.key_exchange {
                    self.sealing.apply_keystream(&mut checksum);
                }
                [1, u64::from_le_bytes(checksum), u64::from(number)]
            }
        };
        let bytes = version
            .to_le_bytes()
            .into_iter()
            .take(4)
            .chain(checksum.to_le_bytes());
        for (to, from) in out.iter_mut().zip(bytes.chain(sequence.to_le_bytes())) {
            *to = from;
        }
        out
    }

    /// Without extended session security: the random pad, zero, the CRC and the number, each encrypted; the pad is then
    /// left zero.
    fn mac_without_key(&mut self, number: u32, message: &[u8]) -> [u64; 3] {
        let mut sealed = |word: u32| {
            let mut bytes = word.to_le_bytes();
            self.sealing.apply_keystream(&mut bytes);
            u32::from_le_bytes(bytes)
        };
        let _pad = sealed(0);
        let checksum = sealed(crc32(message));
        let sequence = sealed(number);
        [1, u64::from(checksum) << 32, u64::from(sequence)]
    }
}

/// Bytes of the key that sealing uses ([MS-NLMP] 3.4.5.3).
const fn strength_bytes(flags: NegotiateFlags) -> usize {
    if flags.has(NegotiateFlags::KEY_128) {
        16
    } else if flags.has(NegotiateFlags::KEY_56) {
        7
    } else {
        5
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{hex, hex_array};

    const PLAINTEXT: [u8; 18] = *b"P\0l\0a\0i\0n\0t\0e\0x\0t\0";

    /// Seals as the examples of [MS-NLMP] 4.2 do: the message first, then the MAC with the same RC4 stream.
    fn seal(flags: NegotiateFlags, key: [u8; 16]) -> ([u8; 18], [u8; 16]) {
        let mut direction = Direction::new(flags, &SessionKey::new(key), Role::Client);
        let mut data = PLAINTEXT;
        direction.sealing.apply_keystream(&mut data);
        (data, direction.mac(&PLAINTEXT))
    }

    #[test]
    fn the_signature_agrees_with_ms_nlmp_4_2_4_4() {
        let (data, mac) = seal(NegotiateFlags(0xe28a_8233), [0x55; 16]);
        assert_eq!(data.as_slice(), hex("54e50165bf1936dc996020c1811b0f06fb5f"));
        assert_eq!(mac.as_slice(), hex("01000000 7fb38ec5c55d4976 00000000"));
    }

    #[test]
    fn the_signature_with_56_bits_and_no_key_exchange_agrees_with_ms_nlmp_4_2_3_4() {
        let key = hex_array("eb93429a8bd952f8b89c55b87f475edc");
        let (data, mac) = seal(NegotiateFlags(0x820a_8233), key);
        assert_eq!(data.as_slice(), hex("a02372f6530273f3aa1eb90190ce5200c99d"));
        assert_eq!(mac.as_slice(), hex("01000000 ff2aeb52f681793a 00000000"));
    }

    #[test]
    fn the_signature_without_extended_security_agrees_with_ms_nlmp_4_2_2_4_but_for_the_pad() {
        let (data, mac) = seal(NegotiateFlags(0xe202_8233), [0x55; 16]);
        assert_eq!(data.as_slice(), hex("56fe04d861f9319af0d7238a2e3b4d457fb8"));
        // The example keeps the encrypted pad; the algorithm of 3.4.4.1 sets it to zero at the end.
        assert_eq!(mac.as_slice(), hex("01000000 00000000 09dcd1df 2e459d36"));
    }

    #[test]
    fn signatures_of_one_end_verify_at_the_other_only_in_order() {
        for flags in [0xe28a_8233, 0x820a_8233, 0xe202_8233, 0x020a_8233] {
            let key = || SessionKey::new([7; 16]);
            let mut client = Session::new(Role::Client, NegotiateFlags(flags), key());
            let mut server = Session::new(Role::Server, NegotiateFlags(flags), key());
            let first = client.sign(b"one");
            let second = client.sign(b"two");
            assert!(server.verify(b"one", &first));
            assert!(server.verify(b"two", &second));
            let reply = server.sign(b"three");
            assert!(client.verify(b"three", &reply));
            assert!(!server.verify(b"two", &second));
        }
    }
}
