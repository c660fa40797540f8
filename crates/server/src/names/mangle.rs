//! 8.3 names for files whose names are illegal in DOS.
//!
//! They look like those of Windows: `A very long file name.text` becomes `AVERYL~1.TEX`. Which candidate a file gets
//! depends on its neighbours, see [`super::index::DirIndex`]. This module defines which names are legal, and the
//! ordered candidates of a name. The first candidate is the one that users expect; names with the same beginning share
//! it. The others contain a hash of the long name (`AV3CFB~1.TEX`). So a file that could not get the first candidate
//! has the same second one at all times and places. Windows counts `~2`, `~3` in the order of creation instead. A
//! server without stored records cannot know that order after a restart.

use alloc::{string::String, vec::Vec};
use coax_wire::codepage::{CodePage, UNDEFINED_BASE};
use core::fmt;

/// An 8.3 name: upper-case bytes of a code page, at most 8, a period, at most 3.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShortName {
    bytes: [u8; 12],
    len: u8,
}

impl ShortName {
    /// The name's bytes in its code page, period included.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// The name as text.
    pub fn to_text(&self, page: CodePage) -> String {
        page.decode(self.as_bytes()).into_owned()
    }

    fn join(base: &[u8], extension: &[u8]) -> Self {
        let mut short = Self {
            bytes: [0; 12],
            len: 0,
        };
        let dot: &[u8] = if extension.is_empty() { b"" } else { b"." };
        for (slot, byte) in short
            .bytes
            .iter_mut()
            .zip(base.iter().chain(dot).chain(extension))
        {
            *slot = *byte;
            short.len += 1;
        }
        short
    }
}

impl fmt::Debug for ShortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_bytes().escape_ascii())
    }
}

/// Generates 8.3 names for clients of one code page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mangler {
    page: CodePage,
}

impl Mangler {
    /// A generator for clients with this code page.
    pub const fn new(page: CodePage) -> Self {
        Self { page }
    }

    /// The code page.
    pub const fn page(self) -> CodePage {
        self.page
    }

    /// Whether the name is legal in DOS, except for case: 1 to 8 bytes, optionally a period and 1 to 3 bytes. It must
    /// have no spaces, no characters that DOS reserves or the code page lacks ([MS-CIFS] 2.2.1.1.1), and must not be a
    /// device name.
    pub fn is_legal(self, name: &str) -> bool {
        self.legal(name).is_some()
    }

    /// A legal name in DOS's form, upper case. `None` if the name is not legal.
    pub fn legal(self, name: &str) -> Option<ShortName> {
        if name.len() > 36 || is_device(name) {
            return None; // 12 characters of at most 3 bytes
        }
        let (base, extension) = match name.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (name, ""),
        };
        let (mut left, mut right) = ([0; 8], [0; 3]);
        let left = self
            .fill_legal(base, &mut left)
            .filter(|bytes| !bytes.is_empty())?;
        let right = self.fill_legal(extension, &mut right)?;
        Some(ShortName::join(left, right))
    }

    /// The 8.3 name of a file without neighbours: its own name if legal, else its first candidate.
    pub fn short(self, name: &str) -> ShortName {
        self.legal(name)
            .unwrap_or_else(|| self.basis(name).candidate(0))
    }

    /// The common parts of all 8.3 names generated for this name.
    pub fn basis(self, name: &str) -> Basis {
        let trimmed = name.trim_start_matches(['.', ' ']);
        let (base, extension) = trimmed.rsplit_once('.').unwrap_or((trimmed, ""));
        let mut basis = Basis {
            base: [0; 6],
            base_len: 0,
            kept: 0,
            extension: [0; 3],
            extension_len: 0,
            hash: hash(name),
        };
        (basis.base_len, basis.kept) = self.squeeze(base, &mut basis.base);
        (basis.extension_len, _) = self.squeeze(extension, &mut basis.extension);
        if basis.base_len == 0 {
            (basis.base[0], basis.base_len, basis.kept) = (b'_', 1, 1);
        }
        basis
    }

    /// Writes a part in upper case, if it is legal and fits.
    fn fill_legal<'a>(self, part: &str, out: &'a mut [u8]) -> Option<&'a [u8]> {
        let mut len = 0;
        for c in part.chars() {
            if c == '.' || c == ' ' || is_reserved(c) {
                return None;
            }
            len += self.put_upper(c, out.get_mut(len..)?).filter(|n| *n > 0)?;
        }
        out.get(..len)
    }

    /// Writes the capital of a character and returns its length, or 0 if it does not fit. `None` if the page lacks it,
    /// or if it stands for a byte that is another character in the page.
    fn put_upper(self, c: char, out: &mut [u8]) -> Option<usize> {
        let upper = self.page.upper_char(c);
        if upper.is_ascii() {
            return Some(out.first_mut().map_or(0, |slot| {
                *slot = upper as u8;
                1
            }));
        }
        let mut bytes = Vec::with_capacity(4);
        self.page.push(upper, &mut bytes)?;
        if is_stray(upper) && !self.page.decode(&bytes).chars().eq([upper]) {
            return None; // the byte is a letter in this page, maybe lower case: no client could request it
        }
        Some(out.get_mut(..bytes.len()).map_or(0, |slots| {
            slots.copy_from_slice(&bytes);
            bytes.len()
        }))
    }

    /// Fills `out` with as much of a part as fits: upper case, without spaces and periods, `_` for illegal characters.
    /// Returns its length, and how much of that lies within the first two bytes without splitting a character.
    fn squeeze(self, part: &str, out: &mut [u8]) -> (u8, u8) {
        let (mut len, mut kept) = (0, 0);
        for c in part.chars().filter(|c| !matches!(c, ' ' | '.')) {
            let c = if is_reserved(c) { '_' } else { c };
            let rest = out.get_mut(len..).unwrap_or_default();
            match self
                .put_upper(c, rest)
                .or_else(|| self.put_upper('_', rest))
            {
                None | Some(0) => break,
                Some(n) => len += n,
            }
            if len <= 2 {
                kept = len;
            }
        }
        (len as u8, kept as u8)
    }
}

/// The common parts of the 8.3 names generated for one long name.
#[derive(Clone, Copy, Debug)]
pub struct Basis {
    base: [u8; 6],
    base_len: u8,
    /// The number of bytes of the base before a hash.
    kept: u8,
    extension: [u8; 3],
    extension_len: u8,
    hash: u64,
}

impl Basis {
    /// The candidate of this rank. Rank 0 is `AVERYL~1.TEX`. Further candidates have two characters, four digits of a
    /// hash of the long name and the rank, `~` and a digit: `AV3CFB~1.TEX`. The same name always has the same
    /// candidates.
    pub fn candidate(&self, rank: u32) -> ShortName {
        let keep = usize::from(if rank == 0 { self.base_len } else { self.kept });
        let base = self.base.get(..keep).unwrap_or_default();
        let mixed = mix(self.hash, rank);
        let digit = |i: u32| hex_digit(mixed >> (i * 4));
        let count = b'1' + (rank.wrapping_sub(1) % 9) as u8;
        let hashed = [digit(0), digit(1), digit(2), digit(3), b'~', count];
        let tail: &[u8] = if rank == 0 { b"~1" } else { &hashed };
        let (mut stem, mut len) = ([0; 8], 0);
        for (slot, byte) in stem.iter_mut().zip(base.iter().chain(tail)) {
            *slot = *byte;
            len += 1;
        }
        ShortName::join(stem.get(..len).unwrap_or_default(), self.extension())
    }

    /// A name independent of the long name, for use when all candidates are taken: `~` and 7 digits.
    pub(super) fn numbered(&self, number: u32) -> ShortName {
        let mut stem = [b'~'; 8];
        for (i, digit) in stem.iter_mut().skip(1).enumerate() {
            *digit = hex_digit(u64::from(number) >> ((6 - i) * 4));
        }
        ShortName::join(&stem, self.extension())
    }

    fn extension(&self) -> &[u8] {
        self.extension
            .get(..usize::from(self.extension_len))
            .unwrap_or_default()
    }
}

/// Whether clients with long names accept this name: no characters that NT reserves, no period or space at its end,
/// which Windows strips, and not a device name ([MS-FSCC] 2.1.5.2). The server can show other files under their 8.3
/// names, as Samba does.
pub fn is_legal_long(name: &str) -> bool {
    !name.is_empty()
        && !name.ends_with(['.', ' '])
        && !is_device(name)
        && !name.contains(|c| {
            matches!(
                c,
                '\0'..='\x1f' | '"' | '*' | '/' | ':' | '<' | '>' | '?' | '\\' | '|'
            )
        })
}

/// Whether DOS and Windows treat this name as a device, with any extension.
fn is_device(name: &str) -> bool {
    const DEVICES: [&str; 5] = ["AUX", "CON", "NUL", "PRN", "CLOCK$"];
    let base = name.split('.').next().unwrap_or(name).trim_end();
    let is_port = || {
        let (port, number) = base.split_at_checked(3).unwrap_or((base, ""));
        let is_number = matches!(number.as_bytes(), [b'1'..=b'9']);
        is_number
            && ["COM", "LPT"]
                .iter()
                .any(|name| name.eq_ignore_ascii_case(port))
    };
    DEVICES.iter().any(|name| name.eq_ignore_ascii_case(base)) || is_port()
}

/// Characters with a special meaning in DOS ([MS-CIFS] 2.2.1.1.1), including control characters.
fn is_reserved(c: char) -> bool {
    matches!(
        c,
        '\0'..='\x1f'
            | '\x7f'
            | '"'
            | '*'
            | '+'
            | ','
            | '/'
            | ':'
            | ';'
            | '<'
            | '='
            | '>'
            | '?'
            | '['
            | '\\'
            | ']'
            | '|'
    )
}

/// Whether a character stands for a byte that was invalid in its original encoding.
fn is_stray(c: char) -> bool {
    (UNDEFINED_BASE..=UNDEFINED_BASE + 0xff).contains(&u32::from(c))
}

fn hex_digit(nibble: u64) -> u8 {
    let n = (nibble & 15) as u8;
    if n < 10 { b'0' + n } else { b'A' + n - 10 }
}

/// FNV-1a. Names depend on it, so it must never change.
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The finaliser of SplitMix64: mixes the hash differently for every rank.
fn mix(hash: u64, rank: u32) -> u64 {
    let mut z = hash.wrapping_add(u64::from(rank).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::expect_used,
        clippy::panic
    )]
    use super::*;
    use proptest::prelude::*;

    fn m() -> Mangler {
        Mangler::new(CodePage::cp850())
    }

    #[test]
    fn a_stray_byte_that_is_a_letter_of_the_page_is_none_in_an_8_3_name() {
        // Byte 0xec is the small letter ý in code page 850, which is not a capital.
        assert_eq!(m().legal("OFIF\u{efec}"), None);
        let generated = m().short("ofiF\u{efec}\u{fffd}.\u{fffd}..");
        assert_eq!(generated.as_bytes(), b"OFIF__~1");
        let page = CodePage::from_number(932).unwrap();
        let stray = Mangler::new(page).legal("F\u{efa0}");
        assert_eq!(
            stray.map(|name| name.as_bytes().to_vec()),
            Some(b"F\xa0".to_vec())
        );
    }

    fn short(name: &str) -> String {
        m().short(name).to_text(m().page())
    }

    #[test]
    fn names_are_legal_if_dos_accepts_them() {
        for name in [
            "A",
            "README",
            "readme.txt",
            "AUTOEXEC.BAT",
            "12345678.123",
            "größe.txt",
            "FOO~1.TXT",
            "A-B_C!.$$$",
            "é",
        ] {
            assert!(m().is_legal(name), "{name}");
        }
        for name in [
            "",
            ".",
            "..",
            ".profile",
            "A.",
            "A.B.C",
            "123456789",
            "A.1234",
            "A B.TXT",
            "A+B",
            "a;b",
            "[x]",
            "日本",
            "a\u{7f}",
            "A.T T",
        ] {
            assert!(!m().is_legal(name), "{name}");
        }
    }

    #[test]
    fn names_of_devices_and_names_that_windows_cuts_off_are_shown_by_an_8_3_name() {
        for (name, short) in [
            ("aux.txt", "AUX~1.TXT"),
            ("con", "CON~1"),
            ("Lpt1.a.b", "LPT1A~1.B"),
            ("foo.", "FOO~1"),
            ("trailing ", "TRAILI~1"),
        ] {
            assert!(!is_legal_long(name) && !m().is_legal(name), "{name}");
            assert_eq!(m().short(name).as_bytes(), short.as_bytes());
        }
        for name in [
            "auxiliary",
            "com0",
            "com10",
            "lpt",
            "console.txt",
            "é",
            "a.con",
        ] {
            assert!(is_legal_long(name), "{name}");
        }
    }

    #[test]
    fn long_names_may_contain_all_characters_that_nt_does_not_reserve() {
        assert!(is_legal_long("A long, [odd] name; with .. = and +") && is_legal_long("ä日😀"));
        assert!(
            ["", "a:b", "a\\b", "what?", "a\u{1}"]
                .iter()
                .all(|name| !is_legal_long(name))
        );
    }

    #[test]
    fn first_candidates_look_like_windows() {
        for (long, want) in [
            ("A very long file name.text", "AVERYL~1.TEX"),
            ("Program Files", "PROGRA~1"),
            ("Microsoft Office.lnk", "MICROS~1.LNK"),
            (".profile", "PROFIL~1"),
            ("a.b.c.html", "ABC~1.HTM"),
            ("A B.TXT", "AB~1.TXT"),
            ("x+y=z.c", "X_Y_Z~1.C"),
            ("...", "_~1"),
            ("name.", "NAME~1"),
            ("日本語.txt", "___~1.TXT"),
            ("Größe der Welt.txt", "GRÖßED~1.TXT"),
            ("Readme.markdown", "README~1.MAR"),
        ] {
            assert_eq!(short(long), want, "{long}");
        }
    }

    #[test]
    fn legal_names_keep_themselves_in_upper_case() {
        assert_eq!(short("readme.txt"), "README.TXT");
        assert_eq!(short("äöü.éàò"), "ÄÖÜ.ÉÀÒ");
    }

    #[test]
    fn later_candidates_carry_a_hash_of_the_long_name() {
        let basis = m().basis("A very long file name.text");
        assert_eq!(basis.candidate(1).to_text(m().page()), "AV3CFB~1.TEX");
        assert_ne!(
            basis.candidate(1),
            m().basis("A very long file name 2.text").candidate(1)
        );
        assert_eq!(basis.candidate(2).as_bytes()[6..], *b"~2.TEX");
        assert_eq!(basis.numbered(0xabc).as_bytes(), b"~0000ABC.TEX");
    }

    #[test]
    fn double_byte_characters_are_never_split() {
        let japan = Mangler::new(CodePage::from_number(932).unwrap());
        let page = japan.page();
        assert_eq!(
            japan.short("a日本語のファイル.text").to_text(page),
            "A日本~1.TEX"
        );
        assert_eq!(japan.short("日本語.あ").to_text(page), "日本語.あ");
        assert_eq!(
            japan.short("長い日本語の名前.あい").to_text(page),
            "長い日~1.あ"
        );
        let hashed = japan.basis("a日本語のファイル.text").candidate(1);
        assert_eq!(
            hashed.as_bytes().len(),
            11,
            "only the A must remain before the hash: {hashed:?}"
        );
        assert!(
            japan.is_legal("ソ"),
            "its second byte 0x5C must not be taken for a backslash"
        );
    }

    proptest! {
        #[test]
        fn every_candidate_is_legal_and_upper_case(name in any::<String>(), rank in any::<u32>(), which in 0usize..5) {
            let m = Mangler::new(CodePage::from_number([437, 850, 866, 932, 1252][which]).unwrap());
            for short in [m.short(&name), m.basis(&name).candidate(rank), m.basis(&name).numbered(rank)] {
                let text = short.to_text(m.page());
                prop_assert_eq!(m.legal(&text), Some(short), "{} -> {}", name, text);
            }
        }

        #[test]
        fn a_legal_name_is_its_own_short_name(name in "[a-zA-Z0-9äÖ]{1,8}(\\.[a-z]{1,3})?") {
            prop_assert_eq!(short(&name), coax_wire::codepage::fold(&name));
        }
    }
}
