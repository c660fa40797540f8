//! One-way functions of a password ([MS-NLMP] 3.3).

use crate::primitives::{des, hmac_md5, md4};
use crate::secret::Hash;
use crate::text::{OemCodePage, upper, utf16le};
use zeroize::Zeroizing;

/// The constant that LMOWFv1 encrypts ([MS-NLMP] 3.3.1).
const LM_MAGIC: &[u8; 8] = b"KGS!@#$%";

/// Maximum length of a password with an LM hash, OEM bytes.
pub const LM_PASSWORD_MAX: usize = 14;

/// LMOWFv1: the LM hash of a password that is already upper-cased and in the OEM code page ([MS-NLMP] 3.3.1).
///
/// `None` if it is longer than 14 bytes: such a password has no LM hash, and Windows stores none for it.
pub fn lm_hash_of_oem(upper_oem: &[u8]) -> Option<Hash> {
    if upper_oem.len() > LM_PASSWORD_MAX {
        return None;
    }
    let mut keys = Zeroizing::new([[0u8; 7]; 2]);
    for (to, from) in keys.as_flattened_mut().iter_mut().zip(upper_oem) {
        *to = *from;
    }
    let [left, right] = &*keys;
    Some(Hash::new(join(des(left, LM_MAGIC), des(right, LM_MAGIC))))
}

/// The LM hash of a password; `None` if it is too long or not of this code page.
pub fn lm_hash(password: &str, page: &dyn OemCodePage) -> Option<Hash> {
    lm_hash_of_oem(&Zeroizing::new(page.encode_upper(password)?))
}

/// NTOWFv1: the NT hash, MD4 of the password in UTF-16LE ([MS-NLMP] 3.3.1).
pub fn nt_hash_of_utf16le(password_utf16le: &[u8]) -> Hash {
    Hash::new(md4(password_utf16le))
}

/// The NT hash of a password.
pub fn nt_hash(password: &str) -> Hash {
    nt_hash_of_utf16le(&Zeroizing::new(utf16le(password)))
}

/// NTOWFv2 (and LMOWFv2, which is the same): the key of NTLMv2 responses ([MS-NLMP] 3.3.2).
///
/// The user name is upper-cased here; the domain is taken as it is.
pub fn ntowf_v2(nt_hash: &Hash, user: &str, domain: &str) -> Hash {
    Hash::new(hmac_md5(
        nt_hash.as_bytes(),
        &[&utf16le(&upper(user)), &utf16le(domain)],
    ))
}

fn join(left: [u8; 8], right: [u8; 8]) -> [u8; 16] {
    let mut out = [[0u8; 8]; 2];
    out[0] = left;
    out[1] = right;
    let mut flat = [0u8; 16];
    flat.copy_from_slice(out.as_flattened());
    flat
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hex_array;
    use crate::text::Ascii;

    #[test]
    fn lm_hash_agrees_with_ms_nlmp_4_2_2_1_1() {
        let expected = hex_array("e52cac67419a9a224a3b108f3fa6cb6d").into();
        assert_eq!(lm_hash("Password", &Ascii), Some(expected));
    }

    #[test]
    fn the_lm_hash_of_the_empty_password_is_the_known_constant() {
        assert_eq!(
            lm_hash("", &Ascii),
            Some(hex_array("aad3b435b51404eeaad3b435b51404ee").into())
        );
    }

    #[test]
    fn lm_hash_exists_up_to_fourteen_bytes() {
        assert!(lm_hash_of_oem(b"ABCDEFGHIJKLMN").is_some());
        assert_eq!(lm_hash_of_oem(b"ABCDEFGHIJKLMNO"), None);
        assert_eq!(lm_hash("pässword", &Ascii), None);
    }

    #[test]
    fn lm_hash_takes_code_page_437_bytes_as_they_are() {
        // "ÄPFEL" in code page 437; the digest was computed with an independent implementation (PyCryptodome).
        let expected = hex_array("4b0be4b13f196af9aad3b435b51404ee").into();
        assert_eq!(
            lm_hash_of_oem(&[0x8e, b'P', b'F', b'E', b'L']),
            Some(expected)
        );
    }

    #[test]
    fn nt_hash_agrees_with_ms_nlmp_4_2_2_1_2() {
        assert_eq!(
            nt_hash("Password"),
            hex_array("a4f49c406510bdcab6824ee7c30fd852").into()
        );
    }

    #[test]
    fn ntowf_v2_agrees_with_ms_nlmp_4_2_4_1_1() {
        let expected = hex_array("0c868a403bfd7a93a3001ef22ef02e3f").into();
        assert_eq!(ntowf_v2(&nt_hash("Password"), "User", "Domain"), expected);
        assert_eq!(ntowf_v2(&nt_hash("Password"), "uSER", "Domain"), expected);
        assert_ne!(ntowf_v2(&nt_hash("Password"), "User", "DOMAIN"), expected);
    }
}
