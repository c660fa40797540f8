//! Advice made in files, and what `patch` makes of the diffs.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::expect_used
)]

use std::{fs, process::Command};

use proptest::prelude::*;

use crate::{
    Changes, File, Import, Outcome, Role, WantedChange, WantedLine,
    draft::{Done, Draft},
    table,
};

fn import(files: &[(&str, &[u8])]) -> Import {
    let mut import = Import::default();
    for (name, bytes) in files {
        import.add_as(&File::parse(name, bytes).unwrap(), None);
    }
    import
}

fn change(role: Role, lines: &[(&str, &str, Option<&str>)]) -> WantedChange {
    let line = |(file, key, value): &(&str, &str, Option<&str>)| WantedLine {
        file: (*file).into(),
        key: (*key).into(),
        value: value.map(str::to_owned),
    };
    WantedChange {
        role: Some(role),
        lines: lines.iter().map(line).collect(),
        words: format!("on the {}", role.name()),
    }
}

fn window(value: &str) -> WantedChange {
    change(
        Role::Client,
        &[("protocol.ini", "tcpwindowsize", Some(value))],
    )
}

/// The bytes of a file after `patch` applied the diff.
fn patched(name: &str, bytes: &[u8], diff: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    fs::write(&file, bytes).unwrap();
    fs::write(folder.path().join("diff"), diff).unwrap();
    let mut patch = Command::new("patch");
    patch.args(["-p0", "--fuzz=0", "-i", "diff"]);
    let done = patch.current_dir(folder.path()).output();
    let done = done.expect("the program patch (package patch) is needed");
    assert!(done.status.success(), "{done:?}\n{diff}");
    fs::read(&file).unwrap()
}

/// An edit of a file: the key of a setting, and its new value; `None` removes it.
type Edit = (&'static str, Option<&'static str>);

/// `patch` makes the edited file from a file and the diff of the edits.
fn assert_patched(name: &str, before: &[u8], edits: &[Edit], after: &[u8]) {
    let file = File::parse(name, before).unwrap();
    let mut draft = Draft::of(&file);
    let settings = table::settings();
    for (key, value) in edits {
        let setting = settings
            .iter()
            .find(|one| one.file == file.kind.name() && one.key() == *key)
            .unwrap();
        let done = match value {
            Some(value) => draft.set(setting, value, None),
            None => draft.remove(setting),
        };
        assert_eq!(done, Done::Changed, "{name} {key}");
    }
    let got = patched(name, before, &draft.diff());
    assert_eq!(
        String::from_utf8_lossy(&got),
        String::from_utf8_lossy(after),
        "{}",
        draft.diff()
    );
}

#[test]
fn an_edited_ini_file_keeps_its_line_ends_and_its_end_mark() {
    assert_patched(
        "protocol.ini",
        b"[TCPIP]\r\nTCPWindowSize=1450 ; bytes\r\nTCPSegmentSize=536\r\n[x]\r\ny=1\r\n\x1a",
        &[
            ("tcpwindowsize", Some("5800")),
            ("tcpsegmentsize", Some("1450")),
        ],
        b"[TCPIP]\r\nTCPWindowSize=5800 ; bytes\r\nTCPSegmentSize=1450\r\n[x]\r\ny=1\r\n\x1a",
    );
    assert_patched(
        "system.ini",
        b"[boot]\r\nshell=progman.exe\r\n\x1a",
        &[("defaultrcvwindow", Some("16384"))],
        b"[boot]\r\nshell=progman.exe\r\n[mstcp]\r\ndefaultrcvwindow=16384\r\n\x1a",
    );
}

#[test]
fn an_edited_registry_file_has_new_values_below_their_keys() {
    assert_patched(
        "x.reg",
        b"REGEDIT4\r\n\r\n[HKEY_LOCAL_MACHINE\\System\\CurrentControlSet\\Services\\VxD\\MSTCP]\r\n\"DefaultRcvWindow\"=dword:00002000\r\n",
        &[("defaultrcvwindow", Some("16384")), ("sackopts", Some("1")), ("sizreqbuf", Some("65535"))],
        b"REGEDIT4\r\n\r\n[HKEY_LOCAL_MACHINE\\System\\CurrentControlSet\\Services\\VxD\\MSTCP]\r\n\"sackopts\"=\"1\"\r\n\"DefaultRcvWindow\"=dword:00004000\r\n\r\n\
          [HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\LanmanServer\\Parameters]\r\n\"sizreqbuf\"=dword:0000ffff\r\n",
    );
}

#[test]
fn an_edited_smb_conf_has_socket_options_one_by_one() {
    assert_patched(
        "smb.conf",
        b"[global]\n\tsocket options = TCP_NODELAY SO_RCVBUF=8192 \\\n\t   SO_SNDBUF=8192\n  read raw = no",
        &[
            ("socket options: so_rcvbuf", None),
            ("socket options: so_sndbuf", None),
            ("read raw", Some("yes")),
            ("max xmit", Some("65535")),
        ],
        b"[global]\n\tmax xmit = 65535\n\tsocket options = TCP_NODELAY \\\n\n  read raw = yes",
    );
    assert_patched(
        "smb.conf",
        b"[global]\nsocket options = SO_RCVBUF=8192\nread raw = no\n",
        &[("socket options: so_rcvbuf", None)],
        b"[global]\nread raw = no\n",
    );
    assert_patched(
        "smb.conf",
        b"[global]\nsocket options = SO_RCVBUF=8192\n",
        &[("socket options: tcp_nodelay", Some("1"))],
        b"[global]\nsocket options = SO_RCVBUF=8192 TCP_NODELAY=1\n",
    );
}

#[test]
fn an_edited_sysctl_conf_has_the_new_value_and_ends_with_a_line_end() {
    assert_patched(
        "sysctl.conf",
        b"net.ipv4.tcp_sack = 0",
        &[("net.ipv4.tcp_mtu_probing", Some("1"))],
        b"net.ipv4.tcp_sack = 0\nnet.ipv4.tcp_mtu_probing = 1\n",
    );
    assert_patched(
        "sysctl.conf",
        b"a=1\nnet.ipv4.tcp_slow_start_after_idle=1\n",
        &[("net.ipv4.tcp_slow_start_after_idle", Some("0"))],
        b"a=1\nnet.ipv4.tcp_slow_start_after_idle=0\n",
    );
}

#[test]
fn a_new_line_is_indented_as_the_lines_of_its_section() {
    for (before, after) in [
        (
            "[global]\n  read raw = no\n",
            "[global]\n  write raw = no\n  read raw = no\n",
        ),
        (
            "[global]\n# raw\n\n\tread raw = no\n",
            "[global]\n\twrite raw = no\n# raw\n\n\tread raw = no\n",
        ),
        (
            "[global]\nread raw = no\n[x]\n  path = /x\n",
            "[global]\nwrite raw = no\nread raw = no\n[x]\n  path = /x\n",
        ),
        (
            "[global]\n[x]\n  path = /x\n",
            "[global]\n  write raw = no\n[x]\n  path = /x\n",
        ),
    ] {
        let file = File::parse("smb.conf", before.as_bytes()).unwrap();
        let mut draft = Draft::of(&file);
        let settings = table::settings();
        let mut settings = settings.iter();
        let setting = settings.find(|one| one.key() == "write raw").unwrap();
        assert_eq!(draft.set(setting, "no", None), Done::Changed, "{before}");
        let got = patched("smb.conf", before.as_bytes(), &draft.diff());
        assert_eq!(String::from_utf8_lossy(&got), after);
    }
}

#[test]
fn of_alternatives_the_first_that_a_file_holds_is_made() {
    let import = import(&[("smb.conf", b"[global]\nread raw = no\n")]);
    let mut changes = Changes::of(&import, None);
    let nt = change(Role::Client, &[("registry", "userawread", Some("1"))]);
    let samba = change(Role::Server, &[("smb.conf", "read raw", Some("yes"))]);
    let outcome = changes.add(&[nt, samba]);
    let Outcome::Changed { lines, notes } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(lines, ["smb.conf: read raw = yes"]);
    assert!(
        notes.is_empty(),
        "the usual advice is the line itself: {notes:?}"
    );
    assert!(
        changes
            .diff()
            .ends_with("-read raw = no\n+read raw = yes\n")
    );
}

#[test]
fn advice_that_no_file_holds_names_the_file_that_would() {
    let import = import(&[("PROTOCOL.INI", b"[netbeui]\nsessions=6\n")]);
    let mut changes = Changes::of(&import, None);
    let cable = WantedChange {
        role: None,
        lines: Vec::new(),
        words: "on the network, the cable".into(),
    };
    let samba = change(Role::Server, &[("smb.conf", "read raw", Some("yes"))]);
    // the file is the client's
    let server = change(
        Role::Server,
        &[("protocol.ini", "tcpwindowsize", Some("5800"))],
    );
    let Outcome::NotHeld(why) = changes.add(&[cable, samba, window("5800"), server]) else {
        panic!();
    };
    assert_eq!(
        why,
        [
            "on the network, the cable: no line of a file that coax edits",
            "on the server: no smb.conf of the server is given",
            "on the client: PROTOCOL.INI: the file has no section that it belongs in",
            "on the server: no PROTOCOL.INI of the server is given",
        ]
    );
    assert_eq!(changes.diff(), "");
}

#[test]
fn a_value_that_the_file_has_already_is_named_with_its_line() {
    let import = import(&[
        ("PROTOCOL.INI", b"[tcpip]\nTCPWindowSize = 5800\n"),
        ("smb.conf", b"[global]\nread raw = True\n[x]\npath = /x\n"),
    ]);
    let mut changes = Changes::of(&import, Some("X"));
    assert_eq!(
        changes.add(&[window("5800")]),
        Outcome::Already(vec!["PROTOCOL.INI:2: tcpwindowsize = 5800".into()])
    );
    let yes = change(Role::Server, &[("smb.conf", "read raw", Some("yes"))]);
    assert_eq!(
        changes.add(&[yes]),
        Outcome::Already(vec!["smb.conf:2: read raw = yes".into()])
    );
    let sync = change(Role::Server, &[("smb.conf", "sync always", Some("no"))]);
    assert_eq!(
        changes.add(&[sync]),
        Outcome::Already(vec!["smb.conf: sync always is no by default".into()])
    );
    let gone = change(
        Role::Server,
        &[("smb.conf", "socket options: so_rcvbuf", None)],
    );
    assert_eq!(
        changes.add(&[gone]),
        Outcome::Already(vec!["smb.conf: socket options without SO_RCVBUF".into()])
    );
    assert_eq!(
        (changes.diff(), changes.notes()),
        (String::new(), Vec::new())
    );
}

#[test]
fn better_advice_keeps_its_value() {
    let import = import(&[("PROTOCOL.INI", b"[tcpip]\ntcpwindowsize=1450\n")]);
    let mut changes = Changes::of(&import, None);
    assert!(matches!(
        changes.add(&[window("5800")]),
        Outcome::Changed { .. }
    ));
    assert_eq!(
        changes.add(&[window("2900")]),
        Outcome::Superseded("PROTOCOL.INI: tcpwindowsize = 5800".into())
    );
    assert_eq!(changes.add(&[window("5800")]), Outcome::Included);
    assert!(changes.diff().ends_with("+tcpwindowsize=5800\n"));
}

#[test]
fn a_setting_of_shares_is_changed_for_the_share_of_the_copy_only() {
    let conf = b"[global]\nstrict sync = yes\n[Games]\npath=/g\n[Work]\npath=/w\nstrict sync=yes\n";
    let import = import(&[("smb.conf", conf)]);
    let sync = change(Role::Server, &[("smb.conf", "strict sync", Some("no"))]);
    for (share, hunk) in [
        (Some("GAMES"), "@@ -3,0 +4 @@\n+strict sync = no\n"),
        (
            Some("work"),
            "@@ -7 +7 @@\n-strict sync=yes\n+strict sync=no\n",
        ),
    ] {
        let mut changes = Changes::of(&import, share);
        assert!(matches!(
            changes.add(std::slice::from_ref(&sync)),
            Outcome::Changed { .. }
        ));
        assert_eq!(
            changes.diff(),
            format!("--- smb.conf\n+++ smb.conf\n{hunk}")
        );
    }
    for (share, why) in [
        (Some("other"), "the file has no section [other]"),
        (None, "it is unknown which share the copy was from"),
    ] {
        let outcome = Changes::of(&import, share).add(std::slice::from_ref(&sync));
        let expected = format!("on the server: smb.conf: {why}");
        assert_eq!(outcome, Outcome::NotHeld(vec![expected]));
    }
}

#[test]
fn a_file_that_patch_cannot_change_is_named() {
    let text = "Windows Registry Editor Version 5.00\r\n\r\n[HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters]\r\n\
        \"TcpWindowSize\"=dword:00002238\r\n";
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(text.encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let import = import(&[("nt.reg", &utf16)]);
    let mut changes = Changes::of(&import, None);
    let line = change(
        Role::Client,
        &[("registry", "tcpwindowsize", Some("64240"))],
    );
    changes.add(&[line]);
    assert!(changes.diff().contains("+\"TcpWindowSize\"=dword:0000faf0"));
    assert!(changes.notes()[0].contains("nt.reg is UTF-16"));
}

#[test]
fn each_line_that_advice_edits_is_one_line_of_the_table() {
    let mut count = 0;
    for rule in coax_catalog::advice::rules() {
        for edit in rule.changes.iter().flat_map(|change| &change.edits) {
            let fits = |one: &&table::Setting| one.file == edit.file && one.key() == edit.key;
            let known = table::settings().iter().filter(fits).count();
            assert_eq!(known, 1, "{}: {} {}", rule.id, edit.file, edit.key);
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn any_file_with_any_edits_gives_a_diff_that_makes_it_the_edited_one(
        name in prop::sample::select(vec!["protocol.ini", "system.ini", "x.reg", "smb.conf", "sysctl.conf"]),
        lines in prop::collection::vec(prop::sample::select(vec![
            "[global]", "[tcpip]", "[mstcp]", "[x\\VxD\\MSTCP]", "socket options = SO_RCVBUF=1 \\", "SO_SNDBUF=2", "tcpwindowsize=1450",
            "socket options = so_sndbuf=8192", "read raw = no", "\"DefaultRcvWindow\"=\"8192\"", "; x", "", "net.ipv4.tcp_sack = 0", "\u{1a}",
        ]), 1..12),
        end in prop::sample::select(vec!["\n", "\r\n"]),
        is_ended in any::<bool>(),
        picks in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 1..6),
    ) {
        let mut text = lines.join(end);
        text.push_str(if is_ended { end } else { "" });
        let Ok(file) = File::parse(name, text.as_bytes()) else { return Ok(()) };
        let mut draft = Draft::of(&file);
        for (pick, is_removed) in picks {
            let setting = pick.get(table::settings());
            if setting.file != file.kind.name() { continue }
            match (is_removed, setting.candidates.last()) {
                (false, Some(value)) => { draft.set(setting, value, None); }
                _ => { draft.remove(setting); }
            }
        }
        let diff = draft.diff();
        if !diff.is_empty() {
            let got = patched(name, text.as_bytes(), &diff);
            prop_assert_eq!(String::from_utf8(got).unwrap(), draft.text());
        }
    }
}
