#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]
use super::*;
use alloc::{borrow::ToOwned, string::ToString, vec};
use proptest::prelude::*;

const ALL: &[u16] = &[
    437, 720, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 866, 869, 874, 932,
    936, 949, 950, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258, 10000, 20127, 20866,
    21866, 28591, 28592, 28595, 28605, 65001,
];

fn page(n: u16) -> CodePage {
    CodePage::from_number(n).unwrap_or_else(|| panic!("{n}"))
}

#[test]
fn names_are_read_as_samba_writes_them() {
    for (name, number) in [
        ("CP850", 850),
        ("437", 437),
        ("cp437", 437),
        ("IBM852", 852),
        ("ISO8859-1", 28591),
        ("ISO-8859-15", 28605),
        ("UTF-8", 65001),
        ("UTF8", 65001),
        ("ASCII", 20127),
        ("WINDOWS-1252", 1252),
        ("CP1251", 1251),
        ("SHIFT_JIS", 932),
        ("CP932", 932),
        ("KOI8-R", 20866),
    ] {
        assert_eq!(name.parse::<CodePage>().unwrap().number(), number, "{name}");
    }
    for name in [
        "",
        "CP",
        "CP99",
        "+850",
        "85O",
        "LATIN",
        "ISO8859-99",
        "999999",
    ] {
        assert_eq!(name.parse::<CodePage>(), Err(UnknownCodePage), "{name}");
    }
}

#[test]
fn every_page_prints_a_name_that_parses_back() {
    for &n in ALL {
        assert_eq!(page(n).to_string().parse::<CodePage>().unwrap(), page(n));
    }
}

#[test]
fn umlauts_differ_between_pages() {
    assert_eq!(
        CodePage::cp850().encode("Größe.TXT").unwrap(),
        b"Gr\x94\xe1e.TXT"
    );
    assert_eq!(CodePage::cp437().decode(b"Gr\x94\xe1e.TXT"), "Größe.TXT");
    assert_eq!(page(1252).decode(b"Gr\xf6\xdfe"), "Größe");
    assert_eq!(page(866).decode(b"\x8f\xe0\xa8\xa2\xa5\xe2"), "Привет");
    assert_eq!(page(858).decode(b"\xd5"), "€");
    assert_eq!(page(850).decode(b"\xd5"), "ı");
}

#[test]
fn every_byte_of_every_single_byte_page_comes_back() {
    for &n in ALL {
        for b in 0..=255u8 {
            let text = page(n).decode(&[b]).into_owned();
            assert_eq!(
                page(n).encode(&text).unwrap(),
                [b],
                "page {n} byte {b:#x} {text:?}"
            );
        }
    }
}

#[test]
fn a_backslash_as_trail_byte_is_part_of_a_character() {
    // ソ is 0x83 0x5C and 表 0x95 0x5C in CP932.
    let cp932 = page(932);
    assert_eq!(cp932.decode(b"\x83\x5c\\\x95\x5c.TXT"), "ソ\\表.TXT");
    assert_eq!(
        cp932.encode("ソ\\表.TXT").unwrap(),
        b"\x83\x5c\\\x95\x5c.TXT"
    );
    assert!(cp932.is_lead_byte(0x83) && !cp932.is_lead_byte(0x5c) && !cp932.is_lead_byte(0xb1));
    assert_eq!(
        cp932.decode(b"\xb1"),
        "ｱ",
        "half-width katakana must be one byte"
    );
    assert_eq!(page(950).decode(b"\xa5\x5c"), "功");
}

#[test]
fn a_broken_double_byte_sequence_keeps_its_bytes() {
    let cp932 = page(932);
    for bytes in [&b"A\x83"[..], b"\x83\x20B", b"\xfd\xfe\xff", b"\x81\xff"] {
        let text = cp932.decode(bytes).into_owned();
        assert_eq!(cp932.encode(&text).unwrap(), bytes, "{text:?}");
    }
    assert_eq!(cp932.decode(b"A\x83"), "A\u{ef83}");
}

#[test]
fn no_page_writes_ascii_for_a_character_that_is_not() {
    for &n in ALL {
        for c in (0x80..0x1_0000).filter_map(char::from_u32) {
            let mut out = vec![];
            if page(n).push(c, &mut out).is_some() {
                assert!(out[0] >= 0x80, "page {n} {c:?} {out:x?}");
            }
        }
    }
}

#[test]
fn unmappable_characters_are_named_or_replaced() {
    assert_eq!(
        CodePage::cp437().encode("aЖ"),
        Err(Unmappable {
            character: 'Ж',
            page: 437
        })
    );
    assert_eq!(CodePage::cp437().encode_lossy("aЖb"), b"a_b");
    assert_eq!(
        page(932).encode_lossy("¥"),
        b"_",
        "the trail byte must not be a backslash"
    );
}

#[test]
fn private_use_characters_never_stand_for_ascii() {
    assert!(CodePage::cp437().encode("\u{ef5c}").is_err());
    assert_eq!(
        CodePage::utf8().encode("\u{ef5c}").unwrap(),
        "\u{ef5c}".as_bytes()
    );
}

#[test]
fn upper_casing_is_one_to_one() {
    assert_eq!(fold("straße.txt"), "STRAßE.TXT");
    assert_eq!(fold("àéîõüÿžяωａ"), "ÀÉÎÕÜŸŽЯΩＡ");
    assert_eq!(fold("ıſµŉǰა𐐨"), "ıſµŉǰა𐐨");
    assert_eq!(fold("ᾳᾀς"), "ᾼᾈΣ");
    assert!(
        eq_ignore_case("Ａb", "ａB") && !eq_ignore_case("a", "ａ") && !eq_ignore_case("a", "ab")
    );
}

#[test]
fn composed_and_decomposed_letters_are_two_names() {
    assert!(!eq_ignore_case("a\u{308}", "ä"));
}

#[test]
fn dos_upper_casing_stays_within_the_page() {
    assert_eq!(
        CodePage::cp437().upper("fête à Zürich, ÿ"),
        "FETE A ZÜRICH, Y"
    );
    assert_eq!(CodePage::cp850().upper("fête à Zürich"), "FÊTE À ZÜRICH");
    assert_eq!(page(866).upper("привет"), "ПРИВЕТ");
    for &n in ALL {
        for b in 0..=255u8 {
            let c = page(n).decode(&[b]).chars().next().unwrap();
            let upper = page(n).upper_char(c);
            assert!(page(n).maps(upper), "{n} {b:#x}");
            assert_eq!(page(n).upper_char(upper), upper, "{n} {b:#x}");
        }
    }
}

#[test]
fn lone_surrogates_come_back() {
    let lone = [0x61, 0xd800, 0xdc00, 0xdc00, 0x62, 0xd8ff];
    let text = utf16::from_units(lone);
    assert_eq!(text, "a\u{10000}\u{10dc00}b\u{10d8ff}");
    assert_eq!(utf16::to_units(&text).collect::<Vec<_>>(), lone);
    let pair = [0xdbf6, 0xdc00];
    assert_eq!(
        utf16::to_units(&utf16::from_units(pair)).collect::<Vec<_>>(),
        pair
    );
}

#[test]
fn utf16_is_little_endian_and_drops_half_a_unit() {
    assert_eq!(utf16::decode(&[0x41, 0, 0xe4, 0, 0x42]), "Aä");
    assert_eq!(utf16::encode("Aä"), [0x41, 0, 0xe4, 0]);
    assert_eq!(utf16::len("Aä\u{1F600}\u{10d800}"), 5);
}

#[test]
fn a_twin_after_an_undefined_byte_is_undefined_too_and_alone_it_is_itself() {
    // Of Big5's two codes of one character the usual one would make a pair with the byte before it.
    let page = page(950);
    let bytes = [0xa1, 0x9b, 0x76];
    let text = page.decode(&bytes).into_owned();
    assert_eq!(text, "\u{efa1}\u{ef9b}v");
    assert_eq!(page.encode(&text).unwrap(), bytes);
    let alone = page.decode(&bytes[1..]).into_owned();
    assert_eq!(alone.chars().count(), 1);
    assert_ne!(page.encode(&alone).unwrap(), &bytes[1..]);
}

proptest! {
    #[test]
    fn any_units_survive(units in prop::collection::vec(prop_oneof![any::<u16>(), 0xd700u16..=0xe000, 0xdbf0u16..=0xdc10], 0..20)) {
        let text = utf16::from_units(units.iter().copied());
        prop_assert_eq!(utf16::to_units(&text).collect::<Vec<_>>(), units.clone());
        prop_assert_eq!(utf16::len(&text), units.len());
    }

    #[test]
    fn any_bytes_survive_in_single_byte_pages_and_utf8(bytes in prop::collection::vec(any::<u8>(), 0..20), which in 0..ALL.len()) {
        let page = page(ALL[which]);
        if !page.is_lead_byte(0x81) {
            prop_assert_eq!(page.encode(&page.decode(&bytes)).unwrap(), bytes);
        }
    }

    #[test]
    fn an_undefined_byte_before_a_character_that_the_page_holds_twice_stays_apart_from_it(
        first in 0x80u8.., lead in 0x80u8.., trail in any::<u8>(), which in 0usize..4,
    ) {
        let page = page([932, 936, 949, 950][which]);
        let text = page.decode(&[first, lead, trail]).into_owned();
        let again = page.encode(&text).unwrap();
        prop_assert_eq!(page.decode(&again).into_owned(), text);
    }

    #[test]
    fn any_bytes_reach_a_fixed_point_in_double_byte_pages(bytes in prop::collection::vec(any::<u8>(), 0..20), which in 0usize..4) {
        let page = page([932, 936, 949, 950][which]);
        // If a page contains a character twice, only the text is preserved.
        let text = page.decode(&bytes).into_owned();
        let again = page.encode(&text).unwrap();
        prop_assert_eq!(again.len(), bytes.len());
        prop_assert_eq!(page.decode(&again).into_owned(), text);
    }

    #[test]
    fn real_private_use_utf8_survives(text in "[\u{ef00}-\u{efff}a-z]{0,8}") {
        let utf8 = CodePage::utf8();
        let bytes = text.as_bytes().to_owned();
        prop_assert_eq!(utf8.encode(&utf8.decode(&bytes)).unwrap(), bytes);
    }

    #[test]
    fn folding_twice_is_folding_once(text in any::<String>()) {
        prop_assert_eq!(fold(&fold(&text)), fold(&text));
        prop_assert!(eq_ignore_case(&text, &fold(&text)));
        prop_assert_eq!(fold(&text).chars().count(), text.chars().count());
    }
}
