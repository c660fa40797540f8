//! Challenge responses and the session keys that go with them, as a client computes them ([MS-NLMP] 3.3, 3.4.5.1).

use crate::hash::ntowf_v2;
use crate::primitives::{des, hmac_md5, md4, md5};
use crate::secret::{Hash, SessionKey};
use alloc::vec::Vec;

/// A server's or a client's challenge.
pub type Challenge = [u8; 8];

/// A response and the session key both sides derive from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response<T> {
    /// The response on the wire.
    pub bytes: T,
    /// The key for signing ([MS-NLMP] 3.4.5.1 `KeyExchangeKey`, without `NTLMSSP_NEGOTIATE_LM_KEY`).
    pub session_key: SessionKey,
}

/// DESL: three DES encryptions of the challenge under a hash padded to 21 bytes ([MS-NLMP] 6).
pub fn desl(hash: &Hash, challenge: &Challenge) -> [u8; 24] {
    let mut keys = [[0u8; 7]; 3];
    for (to, from) in keys.as_flattened_mut().iter_mut().zip(hash.as_bytes()) {
        *to = *from;
    }
    let mut out = [0u8; 24];
    for (to, key) in out.as_chunks_mut::<8>().0.iter_mut().zip(&keys) {
        *to = des(key, challenge);
    }
    out
}

/// The LM response; its session key is half the LM hash, then zeros ([MS-NLMP] 3.3.1, 3.4.5.1).
pub fn lm(lm_hash: &Hash, challenge: &Challenge) -> Response<[u8; 24]> {
    Response {
        bytes: desl(lm_hash, challenge),
        session_key: lm_session_key(lm_hash),
    }
}

/// The NTLMv1 response; its session key is MD4 of the NT hash ([MS-NLMP] 3.3.1).
pub fn ntlm_v1(nt_hash: &Hash, challenge: &Challenge) -> Response<[u8; 24]> {
    Response {
        bytes: desl(nt_hash, challenge),
        session_key: nt_session_key(nt_hash),
    }
}

/// The two fields of an NTLM2 session response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ntlm2Session {
    /// The LM field: the client's challenge, then 16 zeros.
    pub lm: [u8; 24],
    /// The NT field.
    pub nt: [u8; 24],
    /// The key for signing.
    pub session_key: SessionKey,
}

/// The NTLM2 session response: NTLMv1 with extended session security ([MS-NLMP] 3.3.1, 3.4.5.1).
pub fn ntlm2_session(
    nt_hash: &Hash,
    challenge: &Challenge,
    client_challenge: &Challenge,
) -> Ntlm2Session {
    let [a, b, c, d, e, f, g, h, ..] = md5(&[challenge, client_challenge]);
    let mut lm = [0u8; 24];
    for (to, from) in lm.iter_mut().zip(client_challenge) {
        *to = *from;
    }
    Ntlm2Session {
        lm,
        nt: desl(nt_hash, &[a, b, c, d, e, f, g, h]),
        session_key: ntlm2_session_key(nt_hash, challenge, client_challenge),
    }
}

/// The inputs of an NTLMv2 or LMv2 response besides the password.
#[derive(Clone, Copy, Debug)]
pub struct V2Inputs<'a> {
    /// User name as typed; it is upper-cased for the computation.
    pub user: &'a str,
    /// Domain as it will be sent.
    pub domain: &'a str,
    /// The server's challenge.
    pub challenge: &'a Challenge,
    /// Eight random bytes of the client.
    pub client_challenge: &'a Challenge,
}

/// The LMv2 response ([MS-NLMP] 3.3.2).
pub fn lm_v2(nt_hash: &Hash, inputs: &V2Inputs<'_>) -> Response<[u8; 24]> {
    let key = ntowf_v2(nt_hash, inputs.user, inputs.domain);
    let proof = hmac_md5(key.as_bytes(), &[inputs.challenge, inputs.client_challenge]);
    let mut bytes = [0u8; 24];
    for (to, from) in bytes
        .iter_mut()
        .zip(proof.iter().chain(inputs.client_challenge))
    {
        *to = *from;
    }
    Response {
        bytes,
        session_key: v2_session_key(&key, &proof),
    }
}

/// The NTLMv2 response ([MS-NLMP] 3.3.2, 2.2.2.7).
///
/// `filetime` is in units of 100 ns since 1601; `target_info` is the AV pairs of the CHALLENGE message and those that
/// the client adds, ended by `MsvAvEOL`; without NTLMSSP a bare `MsvAvEOL` is used.
pub fn ntlm_v2(
    nt_hash: &Hash,
    inputs: &V2Inputs<'_>,
    filetime: u64,
    target_info: &[u8],
) -> Response<Vec<u8>> {
    let key = ntowf_v2(nt_hash, inputs.user, inputs.domain);
    let blob = client_challenge_blob(inputs.client_challenge, filetime, target_info);
    let proof = hmac_md5(key.as_bytes(), &[inputs.challenge, &blob]);
    let mut bytes = proof.to_vec();
    bytes.extend_from_slice(&blob);
    Response {
        bytes,
        session_key: v2_session_key(&key, &proof),
    }
}

/// NTLMv2_CLIENT_CHALLENGE ([MS-NLMP] 2.2.2.7), with the four zeros that follow the AV pairs.
fn client_challenge_blob(
    client_challenge: &Challenge,
    filetime: u64,
    target_info: &[u8],
) -> Vec<u8> {
    let mut blob = Vec::with_capacity(target_info.len().saturating_add(36));
    blob.extend_from_slice(&[1, 1, 0, 0, 0, 0, 0, 0]);
    blob.extend_from_slice(&filetime.to_le_bytes());
    blob.extend_from_slice(client_challenge);
    blob.extend_from_slice(&[0; 4]);
    blob.extend_from_slice(if target_info.is_empty() {
        &[0; 4]
    } else {
        target_info
    });
    blob.extend_from_slice(&[0; 4]);
    blob
}

/// The session key of an LM logon: eight bytes of the hash, then zeros.
pub(crate) fn lm_session_key(lm_hash: &Hash) -> SessionKey {
    let mut key = [0u8; 16];
    for (to, from) in key.iter_mut().zip(lm_hash.as_bytes()).take(8) {
        *to = *from;
    }
    SessionKey::new(key)
}

/// `SessionBaseKey` of NTLMv1.
pub(crate) fn nt_session_key(nt_hash: &Hash) -> SessionKey {
    SessionKey::new(md4(nt_hash.as_bytes()))
}

/// `KeyExchangeKey` of NTLMv1 with extended session security.
pub(crate) fn ntlm2_session_key(
    nt_hash: &Hash,
    challenge: &Challenge,
    client_challenge: &Challenge,
) -> SessionKey {
    SessionKey::new(hmac_md5(
        nt_session_key(nt_hash).as_bytes(),
        &[challenge, client_challenge],
    ))
}

/// `SessionBaseKey` of NTLMv2 and LMv2, from the first 16 bytes of the response.
pub(crate) fn v2_session_key(ntowf_v2: &Hash, proof: &[u8; 16]) -> SessionKey {
    SessionKey::new(hmac_md5(ntowf_v2.as_bytes(), &[proof]))
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::hash::{lm_hash, nt_hash};
    use crate::testing::{hex, hex_array};
    use crate::text::Ascii;

    const CHALLENGE: Challenge = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];
    const INPUTS: V2Inputs<'static> = V2Inputs {
        user: "User",
        domain: "Domain",
        challenge: &CHALLENGE,
        client_challenge: &[0xaa; 8],
    };

    #[test]
    fn lm_response_agrees_with_ms_nlmp_4_2_2_2_2() {
        let response = lm(
            &lm_hash("Password", &Ascii).unwrap_or(Hash::new([0; 16])),
            &CHALLENGE,
        );
        assert_eq!(
            response.bytes.as_slice(),
            hex("98def7b87f88aa5dafe2df779688a172def11c7d5ccdef13")
        );
        assert_eq!(
            response.session_key,
            hex_array("e52cac67419a9a220000000000000000").into()
        );
    }

    #[test]
    fn ntlm_v1_response_agrees_with_ms_nlmp_4_2_2() {
        let response = ntlm_v1(&nt_hash("Password"), &CHALLENGE);
        assert_eq!(
            response.bytes.as_slice(),
            hex("67c43011f30298a2ad35ece64f16331c44bdbed927841f94")
        );
        assert_eq!(
            response.session_key,
            hex_array("d87262b0cde4b1cb7499becccdf10784").into()
        );
    }

    #[test]
    fn ntlm2_session_response_agrees_with_ms_nlmp_4_2_3() {
        let response = ntlm2_session(&nt_hash("Password"), &CHALLENGE, &[0xaa; 8]);
        assert_eq!(
            response.lm.as_slice(),
            hex("aaaaaaaaaaaaaaaa00000000000000000000000000000000")
        );
        assert_eq!(
            response.nt.as_slice(),
            hex("7537f803ae367128ca458204bde7caf81e97ed2683267232")
        );
        assert_eq!(
            response.session_key,
            hex_array("eb93429a8bd952f8b89c55b87f475edc").into()
        );
    }

    #[test]
    fn lm_v2_response_agrees_with_ms_nlmp_4_2_4_2_1() {
        let response = lm_v2(&nt_hash("Password"), &INPUTS);
        assert_eq!(
            response.bytes.as_slice(),
            hex("86c35097ac9cec102554764a57cccc19aaaaaaaaaaaaaaaa")
        );
    }

    #[test]
    fn ntlm_v2_response_agrees_with_ms_nlmp_4_2_4_2_2() {
        let info =
            hex("02000c0044006f006d00610069006e00 01000c005300650072007600650072 00 00000000");
        let response = ntlm_v2(&nt_hash("Password"), &INPUTS, 0, &info);
        assert_eq!(
            response.bytes[..16],
            hex("68cd0ab851e51c96aabc927bebef6a1c")
        );
        assert_eq!(response.bytes.len(), 16 + 28 + info.len() + 4);
        assert_eq!(
            response.session_key,
            hex_array("8de40ccadbc14a82f15cb0ad0de95ca3").into()
        );
    }
}
