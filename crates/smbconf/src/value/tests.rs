#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]

use super::*;
use crate::settings::{Protocol, Security};

/// Checks that the values of a kind are parsed as expected, and that invalid ones are refused with a message that
/// contains them.
fn check<T: PartialEq + std::fmt::Debug>(codec: &Codec<T>, right: &[(&str, T)], wrong: &[&str]) {
    for (text, value) in right {
        assert_eq!((codec.read)(text).as_ref(), Ok(value), "{text}");
        let shown = (codec.show)(value);
        assert_eq!(
            (codec.read)(&shown).as_ref(),
            Ok(value),
            "{text} must be shown as {shown}"
        );
    }
    for text in wrong {
        let error = (codec.read)(text).unwrap_err();
        assert!(error.contains(text.trim_matches('"')), "{text}: {error}");
    }
}

#[test]
fn yes_and_no_have_four_spellings_each_and_there_is_no_maybe() {
    let right = [
        ("Yes", true),
        ("TRUE", true),
        ("on", true),
        ("1", true),
        ("no", false),
        ("False", false),
        ("OFF", false),
        ("0", false),
    ];
    check(&BOOL, &right, &["maybe", "2", "y", ""]);
    check(&INVERSE, &[("yes", false), ("no", true)], &["maybe"]);
}

#[test]
fn numbers_are_decimal_or_hexadecimal_and_bounded() {
    check(
        &COUNT,
        &[("0", 0), ("4294967295", u32::MAX), ("0x10", 16)],
        &["-1", "4294967296", "ten", "", "1.5", "0x"],
    );
    check(&COUNT16, &[("1", 1), ("65535", 65_535)], &["0", "65536"]);
    check(
        &MINUTES,
        &[("-60", -60), ("0", 0), ("1440", 1_440)],
        &["1441", "-1441", "h"],
    );
}

#[test]
fn message_sizes_take_units_and_stay_between_the_bounds() {
    check(
        &MESSAGE_SIZE,
        &[
            ("1024", 1_024),
            ("4k", 4_096),
            ("16 K", 16_384),
            ("65535", 65_535),
        ],
        &["1023", "64K", "4KB", "K", "999999999999T"],
    );
    check(
        &MEBIBYTES,
        &[("2047", 2_047 << 20), ("0", 0)],
        &["-1", "99999999999999"],
    );
}

#[test]
fn modes_are_octal() {
    check(
        &MODE,
        &[("0744", 0o744), ("755", 0o755), ("0", 0)],
        &["9", "0x7", "10000"],
    );
}

#[test]
fn quotes_around_a_whole_text_go_and_others_stay() {
    assert_eq!(unquoted("\"a b\""), "a b");
    assert_eq!(unquoted("\"a\" and \"b\""), "\"a\" and \"b\"");
    assert_eq!(unquoted("\""), "\"");
    assert_eq!((COMMAND.read)("\"a\"").unwrap(), "\"a\"");
}

#[test]
fn protocol_levels_are_samba_s_and_newer_ones_mean_the_newest_we_have() {
    check(
        &MAX_PROTOCOL,
        &[
            ("CORE", Protocol::Core),
            ("coreplus", Protocol::CorePlus),
            ("LANMAN1", Protocol::Lanman1),
            ("lanman2", Protocol::Lanman2),
            ("NT1", Protocol::Nt1),
            ("SMB2", Protocol::Nt1),
            ("SMB3_11", Protocol::Nt1),
        ],
        &["SMB9", "lanman3"],
    );
    check(
        &MIN_PROTOCOL,
        &[("core", Protocol::Core), ("NT1", Protocol::Nt1)],
        &["SMB2_02", "SMB3"],
    );
}

#[test]
fn security_that_would_ask_another_server_is_refused() {
    check(
        &SECURITY,
        &[("User", Security::User), ("share", Security::Share)],
        &["domain", "ads", "server"],
    );
}

#[test]
fn netbios_names_are_short_upper_case_and_free_of_what_protocols_use() {
    check(
        &NETBIOS_NAME,
        &[("attic", "ATTIC".into()), ("A-1_$", "A-1_$".into())],
        &["ABCDEFGHIJKLMNOP", "A.B", "A/B", "A:B"],
    );
    assert!((NETBIOS_NAME.read)("").is_err());
}

#[test]
fn groups_are_refused_as_there_are_none() {
    for text in ["@staff", "anna +staff", "&nis"] {
        assert!((NAMES.read)(text).unwrap_err().contains("group"), "{text}");
    }
}

#[test]
fn code_pages_are_numbers_with_or_without_letters() {
    check(
        &CODE_PAGE,
        &[
            ("CP850", 850),
            ("437", 437),
            ("ibm866", 866),
            ("ASCII", 437),
        ],
        &["UTF-8", "latin", "CP"],
    );
}

#[test]
fn patterns_and_folders_and_files_lose_their_wrapping_only() {
    assert_eq!(
        (PATTERNS.read)("/.DS_Store/")
            .unwrap()
            .iter()
            .collect::<Vec<_>>(),
        [".ds_store"]
    );
    assert_eq!((FILE.read)("").unwrap(), None);
    assert_eq!((FILE.read)("\"/a b\"").unwrap(), Some("/a b".into()));
}

#[test]
fn a_password_is_never_shown() {
    let password = (PASSWORD.read)("hush").unwrap();
    assert_eq!((PASSWORD.show)(&password), "(set)");
    assert!(!format!("{password:?}").contains("hush"));
}

#[test]
fn socket_options_need_what_they_need() {
    use crate::settings::SocketOption::{KeepIdle, NoDelay, ReceiveBuffer, TypeOfService};
    let read = crate::sockopt::SOCKET_OPTIONS.read;
    assert_eq!(
        read("TCP_NODELAY so_rcvbuf=8192 IPTOS_LOWDELAY TCP_KEEPIDLE=60 TCP_NODELAY=0"),
        Ok(vec![
            NoDelay(true),
            ReceiveBuffer(8_192),
            TypeOfService(0x10),
            KeepIdle(60),
            NoDelay(false)
        ])
    );
    for wrong in ["SO_SNDBUF", "SO_SNDBUF=many", "TCP_NODELAY=2", "SO_LINGER"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}
