#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]

use std::collections::HashMap;

use super::*;
use crate::explain;
use crate::load::{Outcome, load_text};
use crate::settings::{GlobalSettings, ShareSettings};

/// The parameters of Samba's old performance document, with their older and newer names.
const OLD_TUNABLES: &[(&str, bool)] = &[
    ("oplocks", true),
    ("level2 oplocks", true),
    ("fake oplocks", true),
    ("socket options", true),
    ("read size", false),
    ("max xmit", true),
    ("strict locking", true),
    ("share modes", true),
    ("log level", true),
    ("debug level", true),
    ("wide links", true),
    ("getwd cache", false),
    ("read raw", true),
    ("write raw", true),
    ("read prediction", false),
    ("use mmap", false),
    ("protocol", true),
    ("max protocol", true),
    ("min protocol", true),
    ("server max protocol", true),
    ("server min protocol", true),
    ("password level", false),
];

#[test]
fn every_tunable_of_the_old_performance_document_is_honoured_or_explained() {
    for (name, honoured) in OLD_TUNABLES {
        let parameter = find(name)
            .unwrap_or_else(|| panic!("{name} is unknown"))
            .parameter;
        match parameter.effect {
            Effect::Global(_) | Effect::Share(_) => assert!(honoured, "{name}"),
            Effect::MetOtherwise(how) => assert!(!honoured && how.len() > 30, "{name}: {how}"),
            _ => panic!("{name} is neither honoured nor met"),
        }
    }
}

#[test]
fn no_name_stands_for_two_parameters() {
    let mut seen = HashMap::new();
    for parameter in parameters() {
        let names = std::iter::once(&parameter.name)
            .chain(parameter.synonyms)
            .chain(parameter.opposites);
        for name in names {
            let before = seen.insert(normal_key(name), parameter.name);
            assert_eq!(before, None, "'{name}' is also {}", parameter.name);
        }
    }
}

#[test]
fn names_are_found_by_any_case_and_blanks_and_opposites_are_known_as_such() {
    assert_eq!(find("R e a d O n l y").unwrap().parameter.name, "read only");
    let writeable = find("Write OK").unwrap();
    assert!(writeable.opposite && writeable.parameter.name == "read only");
    assert!(find("reed only").is_none());
}

#[test]
fn every_default_can_be_written_in_a_file_and_reads_back_as_itself() {
    for parameter in parameters() {
        let default = parameter.default_value();
        match parameter.effect {
            Effect::Global(slot) => {
                let mut settings = GlobalSettings::default();
                (slot.set)(&mut settings, &default)
                    .unwrap_or_else(|e| panic!("{}: {e}", parameter.name));
                assert_eq!(settings, GlobalSettings::default(), "{}", parameter.name);
            }
            // No password differs from the empty password, and only the latter can be written.
            Effect::Share(slot) if slot.kind != "password" => {
                let mut settings = ShareSettings::default();
                (slot.set)(&mut settings, &default)
                    .unwrap_or_else(|e| panic!("{}: {e}", parameter.name));
                assert_eq!(settings, ShareSettings::default(), "{}", parameter.name);
            }
            _ => {}
        }
    }
}

/// For each kind: a value other than the default, and its formatted form.
fn other_value(parameter: &Parameter) -> (&'static str, &'static str) {
    let default_is = |text: &str| parameter.default_value() == text;
    match parameter.kind() {
        "yes or no" if default_is("yes") => ("Off", "no"),
        "yes or no" => ("TRUE", "yes"),
        "text" | "path" => ("\"/srv/a b\"", "/srv/a b"),
        "command" => ("lpr \"%s\"; rm %s", "lpr \"%s\"; rm %s"),
        "name of at most 15 characters" => ("attic", "ATTIC"),
        "list of names" => ("a, b", "A B"),
        "list" => ("eth0 10.0.0.0/8", "eth0 10.0.0.0/8"),
        "list of folders" => ("./proc, dev/", "proc dev"),
        "list of users" => ("anna \"Jo B\"", "anna Jo B"),
        "patterns, as /*.tmp/~*/" => ("/*.TMP/", "/*.tmp/"),
        "list of addresses and networks" => {
            ("10.1. EXCEPT 10.1.2.3", "10.1.0.0/16 EXCEPT 10.1.2.3/32")
        }
        "number" => ("0x11", "17"),
        "minutes" => ("-60", "-60"),
        "ADDR:PORT" => ("8139", "127.0.0.1:8139"),
        "octal mode" => ("0640", "0640"),
        "bytes, 1024 to 65535" => ("4K", "4096"),
        "MiB" => ("2047", "2047"),
        "list of ports" => ("139", "139"),
        "code page" => ("cp437", "CP437"),
        "0 to 10, and CLASS:LEVEL" => ("3 auth:5", "3 auth:5"),
        "user" => ("nobody", "nobody"),
        "CORE, COREPLUS, LANMAN1, LANMAN2 or NT1" => ("lanman1", "LANMAN1"),
        "user or share" => ("SHARE", "share"),
        "never, bad user or bad password" => ("Bad  User", "bad user"),
        "ntlmv1-permitted, ntlmv2-only or disabled" => ("no", "ntlmv2-only"),
        "disabled, auto or mandatory" => ("required", "mandatory"),
        "auto, yes or no" => ("1", "yes"),
        "auto, always or no" => ("Off", "no"),
        "lower or upper" => ("UPPER", "upper"),
        "yes, illegal or no" => ("false", "no"),
        "yes, no or permissions" => ("perms", "permissions"),
        "list of options" => ("SO_SNDBUF=9 TCP_NODELAY=0", "SO_SNDBUF=9 TCP_NODELAY=0"),
        "password" => ("hush", "(set)"),
        "list of IPv4 addresses" => ("10.0.0.1, tag:10.0.0.2", "10.0.0.1 10.0.0.2"),
        "list of interfaces, each INTERFACE[:FRAME[:NETWORK]]" => {
            ("eth0, eth1:SNAP:a", "eth0 eth1:snap:0000000A")
        }
        "yes, no or auto" => ("No", "no"),
        "b, p, m or h" => ("H", "h"),
        "labels separated by dots" => ("lab.example", "lab.example"),
        "smbpasswd:FILE" => ("smbpasswd:/etc/x, guest", "smbpasswd:/etc/x"),
        "path, journal, syslog, syslog:FACILITY or no" => ("syslog:LOCAL5", "syslog:local5"),
        "list of events" => (
            "!open, !close",
            "connect rename link copy delete mkdir rmdir refused",
        ),
        kind => panic!("{}: no value of kind '{kind}' is tried", parameter.name),
    }
}

#[test]
fn every_honoured_parameter_changes_its_field_and_no_other() {
    for parameter in parameters() {
        let (written, shown) = match parameter.effect {
            Effect::Global(_) | Effect::Share(_) => other_value(parameter),
            _ => continue,
        };
        match parameter.effect {
            Effect::Global(slot) => {
                let mut settings = GlobalSettings::default();
                (slot.set)(&mut settings, written)
                    .unwrap_or_else(|e| panic!("{}: {e}", parameter.name));
                assert_eq!((slot.show)(&settings), shown, "{}", parameter.name);
                assert_others_unchanged(parameter, |other| match other.effect {
                    Effect::Global(slot) => Some(((slot.show)(&settings), other.default_value())),
                    _ => None,
                });
            }
            Effect::Share(slot) => {
                let mut settings = ShareSettings::default();
                (slot.set)(&mut settings, written)
                    .unwrap_or_else(|e| panic!("{}: {e}", parameter.name));
                assert_eq!((slot.show)(&settings), shown, "{}", parameter.name);
                assert_others_unchanged(parameter, |other| match other.effect {
                    Effect::Share(slot) => Some(((slot.show)(&settings), other.default_value())),
                    _ => None,
                });
            }
            _ => {}
        }
    }
}

fn assert_others_unchanged(
    changed: &Parameter,
    now: impl Fn(&Parameter) -> Option<(String, String)>,
) {
    for other in parameters().filter(|o| o.name != changed.name) {
        if let Some((shown, default)) = now(other) {
            assert_eq!(
                shown, default,
                "'{}' changed '{}'",
                changed.name, other.name
            );
        }
    }
}

#[test]
fn every_parameter_without_effect_is_reported_with_a_reason() {
    for parameter in parameters() {
        let (Effect::MetOtherwise(why) | Effect::NotHonoured(why)) = parameter.effect else {
            continue;
        };
        let loaded = load_text(
            "t",
            &format!("[global]\n{} = 1\n{} = 1\n", parameter.name, parameter.name),
        );
        let message: Vec<_> = loaded
            .diagnostics
            .iter()
            .filter(|d| d.help.as_deref() == Some(why))
            .collect();
        assert_eq!(
            message.len(),
            1,
            "{}: {:?}",
            parameter.name,
            loaded.diagnostics
        );
        assert_eq!(message[0].at.as_ref().unwrap().line, 2);
        assert!(!matches!(
            loaded.lines[0].outcome,
            Outcome::Set(_) | Outcome::Wrong(_)
        ));
    }
}

#[test]
fn documentation_is_one_sentence_without_a_pipe() {
    for parameter in parameters() {
        assert!(
            parameter.doc.ends_with(['.', '…']) && parameter.doc.len() > 12,
            "{}: {}",
            parameter.name,
            parameter.doc
        );
        assert!(!parameter.doc.contains('|'), "{}", parameter.name);
        if let Effect::MetOtherwise(why) | Effect::NotHonoured(why) = parameter.effect {
            assert!(
                !why.ends_with('.') && !why.is_empty() && !why.contains('|'),
                "{}: {why}",
                parameter.name
            );
        }
    }
}

/// Run with COAX_BLESS=1 to write the page.
#[test]
fn docs_smb_conf_is_in_step_with_the_table() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/smb-conf.md");
    let made = explain::markdown();
    if std::env::var_os("COAX_BLESS").is_some() {
        std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).unwrap();
        std::fs::write(page, &made).unwrap();
    }
    let kept = std::fs::read_to_string(page).unwrap_or_default();
    assert!(
        kept == made,
        "docs/smb-conf.md is out of date: run COAX_BLESS=1 cargo test -p coax-smbconf docs_smb_conf"
    );
}

/// The sources that count as users of a field: the server's driver, the disk, and the functions of this crate that they
/// call.
fn sources_that_honour() -> String {
    let home = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let src = home.join("src");
    let mut text = String::new();
    let mut folders = vec![home.join("../serve/src"), home.join("../disk/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                text.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    // The parser derives the listeners from these fields.
    text.push_str(&std::fs::read_to_string(src.join("load/finish.rs")).unwrap());
    for (call, file) in [
        (".access(", "settings/share.rs"),
        ("UsernameMap::", "usermap.rs"),
        (".password_file(", "settings/global.rs"),
    ] {
        if text.contains(call) {
            text.push_str(&std::fs::read_to_string(src.join(file)).unwrap());
        }
    }
    text
}

#[test]
fn every_honoured_parameter_is_read_by_the_server() {
    let text = sources_that_honour();
    let read = |field: &str| {
        let at = format!(".{field}");
        text.match_indices(&at).any(|(i, _)| {
            !text[i + at.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
        })
    };
    let unread: Vec<&str> = parameters()
        .filter(|p| match p.effect {
            Effect::Global(slot) => !read(slot.field),
            Effect::Share(slot) => !read(slot.field),
            _ => false,
        })
        .map(|p| p.name)
        .collect();
    assert!(
        unread.is_empty(),
        "no code uses {unread:?}: use each in serve/, or move it to NOT_HONOURED with the reason"
    );
}

#[test]
fn families_do_not_cover_known_parameters_and_have_a_reason() {
    for family in families::FAMILIES {
        assert!(!family.why.ends_with('.') && !family.why.is_empty());
        for begin in family.begin {
            assert_eq!(normal_key(begin), *begin);
            let honoured =
                parameters().find(|p| p.is_honoured() && normal_key(p.name).starts_with(begin));
            assert!(
                honoured.is_none(),
                "'{begin}' would also match a misspelt '{}'",
                honoured.unwrap().name
            );
        }
    }
    let loaded = load_text("t", "winbind separator = +\n");
    assert_eq!(
        loaded.diagnostics[0].help.as_deref(),
        Some("coax is a standalone server and asks no domain")
    );
}

/// Kinds of numeric values, which Samba limits to the range of their types.
const NUMBERS: &[&str] = &[
    "number",
    "minutes",
    "bytes, 1024 to 65535",
    "MiB",
    "0 to 10",
    "octal mode",
];

#[test]
fn every_number_out_of_bounds_is_moved_into_them_with_a_warning_that_names_the_line() {
    let numbers = parameters().filter(|p| NUMBERS.contains(&p.kind()));
    let mut tried = 0;
    for parameter in numbers {
        for written in ["77777777777777777777777", "7, or so"] {
            let text = format!("[global]\n\n{} = {written}\n", parameter.name);
            let loaded = load_text("old.conf", &text);
            assert!(
                !loaded.has_errors(),
                "{}: {:?}",
                parameter.name,
                loaded.diagnostics
            );
            let [line] = loaded.lines.as_slice() else {
                panic!("one line")
            };
            assert!(
                matches!(line.outcome, Outcome::Adjusted(..)),
                "{}: {:?}",
                parameter.name,
                line.outcome
            );
            let at = loaded.diagnostics[0].at.as_ref().unwrap();
            assert_eq!((&*at.file, at.line), ("old.conf", 3));
            tried += 1;
        }
    }
    assert!(tried >= 2 * 15, "{tried}");
}

#[test]
fn values_of_old_files_that_samba_starts_with_cost_a_warning() {
    for (line, shown) in [
        ("max xmit = 65536", "65535"),
        ("max xmit = 512", "1024"),
        ("debug level = 100", "10"),
        ("max mux = 0", "1"),
        ("deadtime = -1", "0"),
        ("max log size = 50 KB", "50"),
        ("create mask = 0100644", "0644"),
        ("workgroup = THE-OLD-WORKGROUP-UPSTAIRS", "THE-OLD-WORKGRO"),
        (
            "socket options = TCP_NODELAY SO_RCVLOWAT=1 SO_SNDBUF=8192",
            "TCP_NODELAY=1 SO_SNDBUF=8192",
        ),
    ] {
        let loaded = load_text("t", &format!("[global]\n{line}\n"));
        let value = match &loaded.lines[0].outcome {
            Outcome::Adjusted(value, _) => value.as_str(),
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(value, shown, "{line}");
        let warning = loaded.diagnostics[0].to_string();
        assert!(
            warning.starts_with("warning: ") && warning.contains("t:2"),
            "{warning}"
        );
    }
}

#[test]
fn values_that_mean_nothing_stay_errors() {
    for line in [
        "max xmit = big",
        "read raw = maybe",
        "smb ports = 0",
        "server signing = perhaps",
        "workgroup = A/B",
    ] {
        assert!(
            load_text("t", &format!("[global]\n{line}\n")).has_errors(),
            "{line}"
        );
    }
}
