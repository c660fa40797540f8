//! Ciphers and digests, each an infallible function over fixed-size arrays.

use des::Des;
use des::cipher::{Array, BlockCipherEncrypt, KeyInit as _};
use hmac::{Hmac, Mac as _};
use md4::Md4;
use md5::{Digest, Md5};
use rc4::{Rc4, StreamCipher};

/// MD4 of the bytes (RFC 1320).
pub(crate) fn md4(bytes: &[u8]) -> [u8; 16] {
    Md4::digest(bytes).into()
}

/// MD5 of the parts, one after the other (RFC 1321).
pub(crate) fn md5(parts: &[&[u8]]) -> [u8; 16] {
    let mut digest = Md5::new();
    parts.iter().for_each(|part| digest.update(part));
    digest.finalize().into()
}

/// HMAC-MD5 of the parts, one after the other (RFC 2104). A key is padded with zeros to the block size by definition.
pub(crate) fn hmac_md5(key: &[u8; 16], parts: &[&[u8]]) -> [u8; 16] {
    let mut block = [0u8; 64];
    for (to, from) in block.iter_mut().zip(key) {
        *to = *from;
    }
    let mut mac = Hmac::<Md5>::new(&Array::from(block));
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// DES of one block under 56 key bits ([MS-NLMP] 6, `DES(K, D)`).
pub(crate) fn des(key: &[u8; 7], block: &[u8; 8]) -> [u8; 8] {
    let mut out = Array::from(*block);
    Des::new(&Array::from(with_parity_bits(key))).encrypt_block(&mut out);
    out.into()
}

/// Spreads 56 bits over eight bytes, seven in each; DES ignores the lowest bit, parity.
fn with_parity_bits(key: &[u8; 7]) -> [u8; 8] {
    let bits = key
        .iter()
        .fold(0u64, |bits, &byte| (bits << 8) | u64::from(byte));
    let mut out = [0u8; 8];
    for (i, byte) in out.iter_mut().enumerate() {
        let shift = 49usize.saturating_sub(i.saturating_mul(7));
        *byte = ((bits >> shift) as u8 & 0x7f) << 1;
    }
    out
}

/// An RC4 stream. RC4 takes keys of 1 to 256 bytes; the lengths used here are 5 to 16.
pub(crate) fn rc4(key: &[u8; 16]) -> Rc4 {
    // A key repeats until it fills RC4's state, so 16 bytes twice are the same key as 16 bytes once.
    let mut twice = [0u8; 32];
    for (to, from) in twice.iter_mut().zip(key.iter().cycle()) {
        *to = *from;
    }
    Rc4::new(&Array::from(twice))
}

/// `RC4K(K, D)` of [MS-NLMP] 6 for 16 bytes.
pub(crate) fn rc4k(key: &[u8; 16], data: &[u8; 16]) -> [u8; 16] {
    let mut out = *data;
    rc4(key).apply_keystream(&mut out);
    out
}

/// CRC-32 as ISO 3309 and [MS-NLMP] 6 have it.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |c, _| {
            if c & 1 == 1 {
                (c >> 1) ^ 0xedb8_8320
            } else {
                c >> 1
            }
        })
    };
    !bytes.iter().fold(!0u32, step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{hex, hex_array};

    #[test]
    fn md4_agrees_with_rfc_1320() {
        assert_eq!(
            md4(b"message digest"),
            hex_array("d9130a8164549fe818874806e1c7014b")
        );
    }

    #[test]
    fn md5_agrees_with_rfc_1321_however_it_is_cut() {
        assert_eq!(
            md5(&[b"message digest"]),
            hex_array("f96b697d7cb7938d525a2f31aaf161d0")
        );
        assert_eq!(
            md5(&[b"mess", b"", b"age digest"]),
            hex_array("f96b697d7cb7938d525a2f31aaf161d0")
        );
    }

    #[test]
    fn hmac_md5_agrees_with_rfc_2104() {
        assert_eq!(
            hmac_md5(&[0x0b; 16], &[b"Hi ", b"There"]),
            hex_array("9294727a3638bb1c13f48ef8158bfc9d")
        );
        assert_eq!(
            hmac_md5(&[0xaa; 16], &[&[0xdd; 50]]),
            hex_array("56be34521d144c88dbb8c733f0e8b3f6")
        );
    }

    #[test]
    fn rc4_agrees_with_rfc_6229() {
        // RFC 6229, 128-bit key 0102…10: the stream's first 16 bytes.
        let key = hex_array("0102030405060708090a0b0c0d0e0f10");
        assert_eq!(
            rc4k(&key, &[0; 16]).as_slice(),
            hex("9ac7cc9a609d1ef7b2932899cde41b97")
        );
    }

    #[test]
    fn crc32_of_the_check_string_is_the_known_one() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
