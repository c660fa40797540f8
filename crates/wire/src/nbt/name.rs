//! NetBIOS names: 16 bytes, their encodings, and the scope they live in (RFC 1001 §14, RFC 1002 §4.1).

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use super::Malformed;

/// The characters a name has in front of its suffix byte.
pub const MAX_CHARACTERS: usize = 15;

/// The length of a name on the wire when it has no scope: length byte, 32 letters, end.
pub const ENCODED_LEN: usize = 34;

/// The most bytes an encoded name with its scope may have (RFC 1002 §4.1).
pub const MAX_ENCODED_LEN: usize = 255;

/// A suffix: the workstation service (unique) or the workgroup (group). [MS-BRWS] 1.1, KB Q163409.
pub const SUFFIX_WORKSTATION: u8 = 0x00;
/// A suffix: the messenger service. KB Q163409.
pub const SUFFIX_MESSENGER: u8 = 0x03;
/// A suffix: the file server service. KB Q163409.
pub const SUFFIX_SERVER: u8 = 0x20;

/// A NetBIOS name: 16 bytes; the last one is the type of the name (RFC 1001 §5.2).
///
/// The bytes are in the sender's OEM code page and are compared as they are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NbName(pub [u8; 16]);

impl NbName {
    /// The name `*`, padded with zeros: any node answers to it (RFC 1002 §4.2.17 as practised).
    pub const ANY: Self = Self(*b"*\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");

    /// `*SMBSERVER<20>`: the called name if the client has only the server's address ([MS-SMB] 2.1).
    pub const SMBSERVER: Self = Self(*b"*SMBSERVER      ");

    /// A name of the given characters, upper-cased in ASCII and padded with blanks, and a suffix.
    ///
    /// # Errors
    /// When there are no characters or more than 15 of them, or when one is a control character.
    pub fn new(characters: &[u8], suffix: u8) -> Result<Self, NameError> {
        if characters.is_empty() {
            return Err(NameError::Empty);
        }
        if characters.len() > MAX_CHARACTERS {
            return Err(NameError::TooLong(characters.len()));
        }
        if characters.iter().any(u8::is_ascii_control) {
            return Err(NameError::Control);
        }
        let mut name = [b' '; 16];
        for (slot, character) in name.iter_mut().zip(characters) {
            *slot = character.to_ascii_uppercase();
        }
        Ok(Self(name).with_suffix(suffix))
    }

    /// The same characters with another suffix.
    #[must_use]
    pub const fn with_suffix(mut self, suffix: u8) -> Self {
        let [.., last] = &mut self.0;
        *last = suffix;
        self
    }

    /// The 16th byte.
    pub const fn suffix(&self) -> u8 {
        let [.., last] = self.0;
        last
    }

    /// The characters in front of the suffix, without the padding of blanks or zeros.
    pub fn characters(&self) -> &[u8] {
        let [characters @ .., _] = &self.0;
        let end = characters.iter().rposition(|&b| b != b' ' && b != 0);
        characters
            .get(..end.map_or(0, |last| last.saturating_add(1)))
            .unwrap_or_default()
    }

    /// Whether this is the name `*`, padded with zeros or (as some tools do) blanks.
    pub fn is_any(&self) -> bool {
        self.characters() == b"*"
    }

    /// The 32 letters of the first-level encoding (RFC 1001 §14.1).
    pub fn first_level(&self) -> [u8; 32] {
        let mut letters = [b'A'; 32];
        for (pair, byte) in letters.as_chunks_mut::<2>().0.iter_mut().zip(self.0) {
            *pair = [b'A'.wrapping_add(byte >> 4), b'A'.wrapping_add(byte & 15)];
        }
        letters
    }

    /// The name whose first-level encoding (RFC 1001 §14.1) is `label`.
    ///
    /// # Errors
    /// [`Malformed::BadName`] unless `label` is 32 letters `A` to `P`.
    pub fn from_first_level(label: &[u8]) -> Result<Self, Malformed> {
        let letters: &[u8; 32] = label.try_into().map_err(|_| Malformed::BadName)?;
        if !letters.iter().all(|letter| (b'A'..=b'P').contains(letter)) {
            return Err(Malformed::BadName);
        }
        let mut name = [0; 16];
        for (byte, [high, low]) in name.iter_mut().zip(letters.as_chunks::<2>().0) {
            *byte = (high.wrapping_sub(b'A') << 4) | low.wrapping_sub(b'A');
        }
        Ok(Self(name))
    }
}

/// `NAME`, or `NAME<20>` with its suffix in hexadecimal; without one it is `<00>`.
impl FromStr for NbName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        if !text.is_ascii() {
            return Err(NameError::NotAscii);
        }
        match text.strip_suffix('>').and_then(|t| t.rsplit_once('<')) {
            Some((characters, hex)) if hex.len() == 2 => {
                let suffix = u8::from_str_radix(hex, 16).map_err(|_| NameError::Suffix)?;
                Self::new(characters.as_bytes(), suffix)
            }
            Some(_) => Err(NameError::Suffix),
            None => Self::new(text.as_bytes(), SUFFIX_WORKSTATION),
        }
    }
}

/// `NAME<20>`; bytes that are not printable ASCII appear as `\xNN`.
impl fmt::Display for NbName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}<{:02x}>",
            self.characters().escape_ascii(),
            self.suffix()
        )
    }
}

impl fmt::Debug for NbName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why a text is not a valid NetBIOS name or scope. The author of the text erred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It has no characters.
    #[error("a NetBIOS name needs at least one character")]
    Empty,
    /// It has more than 15 characters (or a scope's label more than 63, or all of it more than 221).
    #[error("{0} characters are too many: a NetBIOS name has at most 15")]
    TooLong(usize),
    /// It has a control character.
    #[error("a NetBIOS name cannot hold control characters")]
    Control,
    /// It has characters outside ASCII: encode them in the clients' code page and use [`NbName::new`].
    #[error("this NetBIOS name is not ASCII")]
    NotAscii,
    /// The suffix is not two hexadecimal digits.
    #[error("a NetBIOS suffix is two hexadecimal digits, as in NAME<20>")]
    Suffix,
}

/// A NetBIOS scope: the labels after a name (RFC 1001 §9). Nearly always empty.
///
/// Two scopes are equal when they differ in ASCII case only, as domain names are.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Each label with its length byte, without the end; never more than 221 bytes.
    labels: Vec<u8>,
}

impl Scope {
    /// The scope of all nodes that have none configured.
    pub const EMPTY: Self = Self { labels: Vec::new() };

    /// A scope of labels separated by dots; the empty text is [`Scope::EMPTY`].
    ///
    /// # Errors
    /// When a label is empty or longer than 63 bytes, or the whole is too long for a name on the wire.
    pub fn new(text: &str) -> Result<Self, NameError> {
        let mut scope = Self::EMPTY;
        for label in text.split('.').filter(|_| !text.is_empty()) {
            if label.is_empty() {
                return Err(NameError::Empty);
            }
            scope
                .push(label.as_bytes())
                .map_err(|_| NameError::TooLong(text.len()))?;
        }
        Ok(scope)
    }

    /// Whether the scope is empty.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The labels, first to last.
    pub fn labels(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.labels.as_slice();
        core::iter::from_fn(move || {
            let (&len, after) = rest.split_first()?;
            let (label, after) = after.split_at_checked(usize::from(len))?;
            rest = after;
            Some(label)
        })
    }

    /// Adds a label at the end.
    fn push(&mut self, label: &[u8]) -> Result<(), Malformed> {
        let len = u8::try_from(label.len()).map_err(|_| Malformed::NameTooLong)?;
        let total = self.labels.len().saturating_add(label.len());
        if len > 63 || total.saturating_add(1) > MAX_ENCODED_LEN.saturating_sub(ENCODED_LEN) {
            return Err(Malformed::NameTooLong);
        }
        self.labels.push(len);
        self.labels.extend_from_slice(label);
        Ok(())
    }
}

impl PartialEq for Scope {
    fn eq(&self, other: &Self) -> bool {
        // A length byte is at most 63 and so never a letter.
        self.labels.eq_ignore_ascii_case(&other.labels)
    }
}

impl Eq for Scope {}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, label) in self.labels().enumerate() {
            let dot = if i == 0 { "" } else { "." };
            write!(f, "{dot}{}", label.escape_ascii())?;
        }
        Ok(())
    }
}

/// A name within its scope, as packets carry it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopedName {
    /// The 16 bytes.
    pub name: NbName,
    /// The scope, mostly empty.
    pub scope: Scope,
}

impl ScopedName {
    /// Decodes the name at `at` of `packet`, following label pointers (RFC 1002 §4.1), and returns the position of the
    /// next field. `None` is the null name of a WACK (RFC 1002 §4.2.16): a single zero.
    ///
    /// # Errors
    /// See [`Malformed`]. Every pointer must point before its own position and before every earlier target, so no
    /// packet causes a loop.
    pub fn decode(packet: &[u8], at: usize) -> Result<(Option<Self>, usize), Malformed> {
        let mut labels = Labels::new(packet, at);
        let Some(first) = labels.next_label()? else {
            return Ok((None, labels.end()));
        };
        let name = NbName::from_first_level(first)?;
        let mut scope = Scope::EMPTY;
        while let Some(label) = labels.next_label()? {
            scope.push(label)?;
        }
        Ok((Some(Self { name, scope }), labels.end()))
    }

    /// Appends the name in second-level encoding, without pointers (RFC 1002 §4.1).
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(32);
        out.extend_from_slice(&self.name.first_level());
        out.extend_from_slice(&self.scope.labels);
        out.push(0);
    }
}

impl From<NbName> for ScopedName {
    fn from(name: NbName) -> Self {
        Self {
            name,
            scope: Scope::EMPTY,
        }
    }
}

/// `NAME<20>`, or `NAME<20>.scope`.
impl fmt::Display for ScopedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dot = if self.scope.is_empty() { "" } else { "." };
        write!(f, "{}{dot}{}", self.name, self.scope)
    }
}

/// Position of the field after the name at `at`, for any contents of the labels.
pub(super) fn skip(packet: &[u8], at: usize) -> Result<usize, Malformed> {
    let mut labels = Labels::new(packet, at);
    while labels.next_label()?.is_some() {}
    Ok(labels.end())
}

/// A walk over the labels of one name.
struct Labels<'a> {
    packet: &'a [u8],
    at: usize,
    /// Pointers may only point below this.
    floor: usize,
    /// Position after the name in the packet, set at the first pointer.
    after_pointer: Option<usize>,
    /// Bytes of labels walked so far.
    len: usize,
}

impl<'a> Labels<'a> {
    fn new(packet: &'a [u8], at: usize) -> Self {
        Self {
            packet,
            at,
            floor: at,
            after_pointer: None,
            len: 0,
        }
    }

    /// The next label, or `None` at the end of the name.
    fn next_label(&mut self) -> Result<Option<&'a [u8]>, Malformed> {
        loop {
            let head = self.byte()?;
            match head >> 6 {
                0 if head == 0 => return Ok(None),
                0 => return self.take(usize::from(head)).map(Some),
                3 => {
                    let low = self.byte()?;
                    self.follow(usize::from(u16::from_be_bytes([head & 0x3f, low])))?;
                }
                _ => return Err(Malformed::BadLabel),
            }
        }
    }

    /// Position of the field after the name, at the end of the walk.
    fn end(&self) -> usize {
        self.after_pointer.unwrap_or(self.at)
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        let byte = self.packet.get(self.at).copied();
        self.at = self.at.saturating_add(1);
        byte.ok_or(Malformed::Truncated("a name"))
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        self.len = self.len.saturating_add(len).saturating_add(1);
        if self.len >= MAX_ENCODED_LEN {
            return Err(Malformed::NameTooLong);
        }
        let end = self.at.saturating_add(len);
        let label = self.packet.get(self.at..end);
        self.at = end;
        label.ok_or(Malformed::Truncated("a name"))
    }

    fn follow(&mut self, target: usize) -> Result<(), Malformed> {
        if target >= self.floor {
            return Err(Malformed::BadPointer);
        }
        self.after_pointer.get_or_insert(self.at);
        self.floor = target;
        self.at = target;
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    #[test]
    fn smbserver_encodes_as_every_client_sends_it() {
        assert_eq!(
            &NbName::SMBSERVER.first_level(),
            b"CKFDENECFDEFFCFGEFFCCACACACACACA"
        );
        assert_eq!(
            NbName::ANY.first_level()[..],
            b"CKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"[..]
        );
    }

    #[test]
    fn a_text_is_upper_cased_padded_and_given_its_suffix() {
        assert_eq!("tower".parse(), Ok(NbName(*b"TOWER          \0")));
        assert_eq!("tower<20>".parse(), Ok(NbName(*b"TOWER           ")));
        assert_eq!("to#1d".parse(), Ok(NbName(*b"TO#1D          \0")));
        assert_eq!("".parse::<NbName>(), Err(NameError::Empty));
        assert_eq!("tower<2>".parse::<NbName>(), Err(NameError::Suffix));
        assert_eq!("tür".parse::<NbName>(), Err(NameError::NotAscii));
        assert_eq!("a\tb".parse::<NbName>(), Err(NameError::Control));
        assert!("exactlyfifteen1".parse::<NbName>().is_ok());
        assert_eq!(
            "sixteencharacter".parse::<NbName>(),
            Err(NameError::TooLong(16))
        );
    }

    #[test]
    fn a_name_prints_readably() {
        let browse = NbName(*b"\x01\x02__MSBROWSE__\x02\x01");
        assert_eq!(browse.to_string(), "\\x01\\x02__MSBROWSE__\\x02<01>");
        assert_eq!(NbName::ANY.to_string(), "*<00>");
        assert!(NbName::ANY.is_any());
        assert!(NbName(*b"*               ").is_any());
        assert!(!NbName::SMBSERVER.is_any());
        let scoped = ScopedName {
            name: NbName::SMBSERVER,
            scope: Scope::new("NETBIOS.COM").unwrap(),
        };
        assert_eq!(scoped.to_string(), "*SMBSERVER<20>.NETBIOS.COM");
        assert_eq!(Scope::new("a.b"), Scope::new("A.B"));
        assert_ne!(Scope::new("a.b"), Scope::new("ab"));
    }

    #[test]
    fn a_pointer_is_followed_backward_only() {
        let mut packet = Vec::from(&b"pad"[..]);
        ScopedName::from(NbName::SMBSERVER).encode(&mut packet);
        let pointer_at = packet.len();
        packet.extend([0xc0, 3, 0x99]);
        assert_eq!(
            ScopedName::decode(&packet, pointer_at),
            Ok((Some(NbName::SMBSERVER.into()), pointer_at + 2))
        );
        assert_eq!(
            ScopedName::decode(&[0xc0, 0x00], 0),
            Err(Malformed::BadPointer)
        );
        assert_eq!(
            ScopedName::decode(&[0xc0, 0x02, 0xc0, 0x00], 0),
            Err(Malformed::BadPointer)
        );
    }

    #[test]
    fn two_pointers_at_each_other_end_as_an_error() {
        let packet = [1, b'a', 0xc0, 4, 1, b'b', 0xc0, 0];
        assert_eq!(skip(&packet, 4), Err(Malformed::BadPointer));
    }

    #[test]
    fn a_null_name_differs_from_a_malformed_one() {
        assert_eq!(ScopedName::decode(&[0, 7], 0), Ok((None, 1)));
        assert_eq!(
            ScopedName::decode(&[], 0),
            Err(Malformed::Truncated("a name"))
        );
        assert_eq!(
            ScopedName::decode(&[1, b'A', 0], 0),
            Err(Malformed::BadName)
        );
        assert_eq!(ScopedName::decode(&[0x40, 0], 0), Err(Malformed::BadLabel));
    }

    prop_compose! {
        fn scoped_name()(name: [u8; 16], labels in prop::collection::vec("[a-z]{1,30}", 0..5)) -> ScopedName {
            ScopedName { name: NbName(name), scope: Scope::new(&labels.join(".")).unwrap() }
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(packet: Vec<u8>, at in 0usize..80) {
            let _ = ScopedName::decode(&packet, at);
            let _ = skip(&packet, at);
        }

        #[test]
        fn a_name_survives_encoding(name in scoped_name(), lead in 0usize..9) {
            let mut packet = alloc::vec![0xa5; lead];
            name.encode(&mut packet);
            prop_assert_eq!(ScopedName::decode(&packet, lead), Ok((Some(name), packet.len())));
        }

        #[test]
        fn from_str_undoes_display(characters in "[A-Z0-9]{1,15}", suffix: u8) {
            let name = NbName::new(characters.as_bytes(), suffix).unwrap();
            prop_assert_eq!(name.to_string().parse(), Ok(name));
        }
    }
}
