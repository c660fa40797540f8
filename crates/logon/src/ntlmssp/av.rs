//! AV pairs: the server's description of itself ([MS-NLMP] 2.2.2.1).

use crate::text::utf16le;
use alloc::vec::Vec;

/// `AvId` ([MS-NLMP] 2.2.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AvId(pub u16);

impl AvId {
    /// Ends the list.
    pub const EOL: Self = Self(0);
    /// NetBIOS name of the server.
    pub const NB_COMPUTER_NAME: Self = Self(1);
    /// NetBIOS name of its domain or workgroup.
    pub const NB_DOMAIN_NAME: Self = Self(2);
    /// DNS name of the server.
    pub const DNS_COMPUTER_NAME: Self = Self(3);
    /// DNS name of its domain.
    pub const DNS_DOMAIN_NAME: Self = Self(4);
    /// 32 bits of flags.
    pub const FLAGS: Self = Self(6);
    /// The server's time, a FILETIME.
    pub const TIMESTAMP: Self = Self(7);

    /// In [`Self::FLAGS`]: the AUTHENTICATE message holds a MIC.
    pub const FLAG_MIC_PRESENT: u32 = 2;
}

/// The pairs of a list, up to `MsvAvEOL` or to the first that is cut off.
#[derive(Clone, Debug)]
pub struct AvPairs<'a>(&'a [u8]);

impl<'a> AvPairs<'a> {
    /// Reads a list.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The value of the first pair with this id.
    pub fn value(mut self, id: AvId) -> Option<&'a [u8]> {
        self.find(|(found, _)| *found == id).map(|(_, value)| value)
    }
}

impl<'a> Iterator for AvPairs<'a> {
    type Item = (AvId, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (&[i0, i1, l0, l1], rest) = self.0.split_first_chunk::<4>()?;
        let id = AvId(u16::from_le_bytes([i0, i1]));
        let pair = rest.split_at_checked(usize::from(u16::from_le_bytes([l0, l1])));
        let (value, rest) = pair.filter(|_| id != AvId::EOL).unwrap_or_default();
        self.0 = rest;
        (id != AvId::EOL && pair.is_some()).then_some((id, value))
    }
}

/// Appends a pair. A value of more than 65,535 bytes is left out.
pub fn push_av_pair(list: &mut Vec<u8>, id: AvId, value: &[u8]) {
    if let Ok(length) = u16::try_from(value.len()) {
        list.extend_from_slice(&id.0.to_le_bytes());
        list.extend_from_slice(&length.to_le_bytes());
        list.extend_from_slice(value);
    }
}

/// Appends a pair that holds text, in UTF-16LE.
pub fn push_av_text(list: &mut Vec<u8>, id: AvId, text: &str) {
    push_av_pair(list, id, &utf16le(text));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hex;

    #[test]
    fn the_av_pairs_of_ms_nlmp_4_2_4_are_encoded_exactly() {
        let mut list = Vec::new();
        push_av_text(&mut list, AvId::NB_DOMAIN_NAME, "Domain");
        push_av_text(&mut list, AvId::NB_COMPUTER_NAME, "Server");
        push_av_pair(&mut list, AvId::EOL, &[]);
        assert_eq!(
            list,
            hex("02000c0044006f006d00610069006e00 01000c005300650072007600650072 00 00000000")
        );
    }

    #[test]
    fn reading_stops_at_the_end_mark_and_at_a_cut_off_pair() {
        let ended = hex("06000400 02000000 00000000 07000000");
        let ids: Vec<AvId> = AvPairs::new(&ended).map(|(id, _)| id).collect();
        assert_eq!(ids, [AvId::FLAGS]);
        assert_eq!(
            AvPairs::new(&ended).value(AvId::FLAGS),
            Some([2, 0, 0, 0].as_slice())
        );
        let cut = hex("01000200 4100 02000400 42");
        assert_eq!(AvPairs::new(&cut).count(), 1);
    }
}
