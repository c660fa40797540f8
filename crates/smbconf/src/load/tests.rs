#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]

use std::net::IpAddr;

use super::*;
use crate::diagnostic::Severity;
use crate::settings::{Access, CaseMode, Secret};

fn read(text: &str) -> Loaded {
    let loaded = load_text("t", text);
    assert!(!loaded.has_errors(), "{:?}", loaded.diagnostics);
    loaded
}

fn share<'a>(loaded: &'a Loaded, name: &str) -> &'a ShareSettings {
    loaded
        .settings
        .shares
        .iter()
        .find(|s| s.name == name)
        .unwrap()
}

/// Severity, line and text of the diagnostics.
fn diagnostics(text: &str) -> Vec<(Severity, u32, String)> {
    let output = load_text("t", text).diagnostics.into_iter();
    output
        .map(|d| (d.severity, d.at.map_or(0, |a| a.line), d.message))
        .collect()
}

#[test]
fn lines_before_any_section_are_global() {
    assert_eq!(
        read("workgroup = attic\n[x]\npath = /\n")
            .settings
            .global
            .workgroup,
        "ATTIC"
    );
}

#[test]
fn share_parameters_in_global_are_the_default_of_the_shares_below_alone() {
    let loaded = read(
        "[a]\npath = /\n[global]\nread only = no\n[b]\npath = /\n[c]\npath = /\nread only = yes\n",
    );
    assert!(
        share(&loaded, "a").read_only
            && !share(&loaded, "b").read_only
            && share(&loaded, "c").read_only
    );
}

#[test]
fn names_that_mean_the_opposite_do() {
    let loaded = read(
        "[a]\npath = /\nWriteable = Yes\n[b]\npath = /\nwrite ok = no\n[c]\npath=/\nwritable = 1\n",
    );
    assert!(
        !share(&loaded, "a").read_only
            && share(&loaded, "b").read_only
            && !share(&loaded, "c").read_only
    );
}

#[test]
fn a_section_that_comes_twice_is_one_share_whatever_its_case() {
    let loaded = read("[data]\npath = /\n[x]\npath = /\n[DATA]\ncomment = late\n");
    assert_eq!(loaded.settings.shares.len(), 2);
    assert_eq!(share(&loaded, "data").comment, "late");
}

#[test]
fn copy_does_not_override_parameters_of_the_section() {
    let loaded = read(
        "[a]\npath = /\ncomment = A\nwriteable = yes\n[b]\ncomment = B\ncopy = A\ncase sensitive = yes\n[c]\ncopy = b\n",
    );
    let c = share(&loaded, "c");
    assert_eq!(
        (
            c.comment.as_str(),
            c.path.as_str(),
            c.read_only,
            c.case_sensitive
        ),
        ("B", "/", false, CaseMode::Sensitive)
    );
}

#[test]
fn copy_of_what_is_not_there_and_outside_a_share_is_an_error() {
    for text in [
        "[b]\npath = /\ncopy = a\n[a]\npath = /\n",
        "[b]\npath=/\ncopy = b\n",
        "[global]\ncopy = b\n",
    ] {
        assert!(load_text("t", text).has_errors(), "{text}");
    }
}

#[test]
fn a_global_parameter_in_a_share_has_no_effect_and_is_reported() {
    let text = "[x]\npath = /\nread raw = no\n";
    assert!(read(text).settings.global.read_raw);
    assert!(
        diagnostics(text)
            .iter()
            .any(|(severity, line, m)| *severity == Severity::Warning
                && *line == 3
                && m.contains("read raw"))
    );
}

#[test]
fn unknown_parameters_are_reported_once_with_line_and_suggestion() {
    let text = "[global]\nfoo bar = 1\nFooBar = 2\n[x]\npath = /\nreed only = yes\nvfs_recycle:keep = no\nlogging = file\n";
    let output = load_text("t", text).diagnostics;
    let lines: Vec<_> = output
        .iter()
        .map(|d| {
            (
                d.at.as_ref().unwrap().line,
                d.help.clone().unwrap_or_default(),
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            (2, String::new()),
            (6, "did you mean 'read only'?".into()),
            (7, "it is for a module of Samba's".into()),
            (8, "the log goes to standard error and 'log file'".into())
        ]
    );
}

#[test]
fn wrong_values_are_errors_that_name_parameter_and_line() {
    let output = diagnostics("[x]\npath = /\nread only = maybe\ncreate mask = 9\n");
    assert_eq!(
        output.iter().map(|(s, l, _)| (*s, *l)).collect::<Vec<_>>(),
        [(Severity::Error, 3), (Severity::Error, 4)]
    );
    assert!(output[0].2.contains("'read only'") && output[0].2.contains("maybe"));
}

#[test]
fn unsupported_sections_are_reported_and_their_lines_ignored() {
    for section in ["Printers", "IPC$"] {
        let loaded = read(&format!("[{section}]\nread only = no\n[x]\npath = /\n"));
        assert_eq!(loaded.settings.shares.len(), 1);
        assert!(loaded.diagnostics[0].help.is_some());
        assert!(matches!(loaded.lines[0].outcome, Outcome::Ignored(_)));
    }
}

#[test]
fn homes_is_a_template_and_no_share() {
    let loaded = read("[Homes]\nread only = no\n[x]\npath = /\ncopy = homes\n");
    let homes = loaded.settings.homes.as_ref().unwrap();
    assert!(homes.available && !homes.read_only && !share(&loaded, "x").read_only);
    assert_eq!(loaded.settings.shares.len(), 1);
    assert_eq!(loaded.diagnostics, []);
}

#[test]
fn a_share_without_a_folder_is_closed() {
    let loaded = read("[x]\nguest ok = yes\n");
    assert_eq!(share(&loaded, "x").access(None), None);
    assert!(loaded.diagnostics[0].message.contains("path"));
}

#[test]
fn only_the_streams_module_is_honoured_and_others_are_reported() {
    let text = "[x]\npath = /\nvfs objects = acl_xattr Streams_XATTR\n[y]\npath = /\n";
    let loaded = read(text);
    assert!(share(&loaded, "x").keeps_streams() && !share(&loaded, "y").keeps_streams());
    let notes = diagnostics(text);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].2.contains("acl_xattr"), "{notes:?}");
}

#[test]
fn macros_in_paths_stay_for_later() {
    let loaded = read("[x]\npath = /srv/%u\n");
    assert_eq!(share(&loaded, "x").path, "/srv/%u");
    assert_eq!(loaded.diagnostics, []);
}

#[test]
fn lists_of_users_decide_in_samba_s_order() {
    let loaded = read(
        "[x]\npath = /\nread only = no\nvalid users = anna, ben carl\ninvalid users = carl\nread list = ben dora\nwrite list = dora\nguest ok = yes\n",
    );
    let x = share(&loaded, "x");
    let of = |user| x.access(Some(user));
    assert_eq!(
        [of("Anna"), of("ben"), of("carl"), of("eve")],
        [Some(Access::ReadWrite), Some(Access::ReadOnly), None, None]
    );
    let loaded = read("[x]\npath = /\nread list = dora\nwrite list = dora\nguest only = yes\n");
    assert_eq!(
        share(&loaded, "x").access(Some("dora")),
        Some(Access::ReadWrite),
        "as in smbd 4.17, lists apply to users by their own names"
    );
}

#[test]
fn guests_are_on_the_lists_by_the_name_of_the_guest_account() {
    let of_guests = |lines: &str| {
        let text =
            format!("[global]\nguest account = visitor\n[x]\npath = /\nguest ok = yes\n{lines}\n");
        share(&read(&text), "x").access(None)
    };
    assert_eq!(of_guests(""), Some(Access::ReadOnly));
    assert_eq!(of_guests("valid users = anna"), None);
    assert_eq!(of_guests("invalid users = visitor"), None);
    assert_eq!(
        of_guests("valid users = visitor\nwrite list = visitor"),
        Some(Access::ReadWrite)
    );
    assert_eq!(
        of_guests("read only = no\nread list = visitor"),
        Some(Access::ReadOnly)
    );
}

#[test]
fn share_passwords_are_stored_and_missing_ones_reported() {
    let loaded =
        read("[global]\nsecurity = share\n[x]\npath = /\ncoax:password = hush\n[y]\npath = /\n");
    assert_eq!(share(&loaded, "x").password, Some(Secret("hush".into())));
    assert!(loaded.diagnostics.iter().any(|d| d.message.contains("[y]")));
    assert!(!loaded.diagnostics.iter().any(|d| d.message.contains("[x]")));
}

#[test]
fn protocol_bounds_that_exclude_everybody_are_an_error() {
    assert!(load_text("t", "min protocol = NT1\nmax protocol = LANMAN2\n").has_errors());
    assert!(load_text("t", "server min protocol = SMB2\n").has_errors());
    assert!(!load_text("t", "protocol = SMB3\nmin protocol = core\n").has_errors());
}

#[test]
fn hosts_of_global_bind_the_whole_server() {
    let global = read("[global]\nhosts allow = 10.1.\n[x]\npath = /\nhosts deny = 10.1.2.3\n");
    let peer: IpAddr = "10.2.0.1".parse().unwrap();
    assert!(global.settings.global.hosts.check_server(peer).is_err());
    assert!(load_text("t", "hosts allow = server1\n").has_errors());
}

#[test]
fn files_are_included_in_place_and_relative_to_the_one_that_asks() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "smb.conf",
        "[global]\ninclude = sub/more.conf\ninclude = missing.conf\ninclude = %m.conf\nworkgroup = late\n",
    );
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    write(
        "sub/more.conf",
        "workgroup = early\nnetbios name = here\ninclude = again.conf\n",
    );
    write("sub/again.conf", "max mux = 3\n");
    let loaded = load(Some(&folder.path().join("smb.conf")), &[]);
    let global = &loaded.settings.global;
    assert_eq!(
        (
            global.workgroup.as_str(),
            global.netbios_name.as_str(),
            global.max_mux
        ),
        ("LATE", "HERE", 3)
    );
    assert_eq!(
        loaded
            .diagnostics
            .iter()
            .map(|d| d.at.as_ref().unwrap().line)
            .collect::<Vec<_>>(),
        [3, 4]
    );
}

#[test]
fn after_an_include_lines_belong_to_its_last_section_as_with_samba() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("a"),
        "[x]\npath = /\ninclude = b\ncomment = whose\n",
    )
    .unwrap();
    std::fs::write(folder.path().join("b"), "[y]\npath = /\n").unwrap();
    let loaded = load(Some(&folder.path().join("a")), &[]);
    assert_eq!(share(&loaded, "y").comment, "whose");
    assert!(loaded.diagnostics[0].message.contains("[y]"));
}

#[test]
fn files_that_include_each_other_end() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "include = a\ninclude = b\n").unwrap();
    std::fs::write(folder.path().join("b"), "include = a\ninclude = b\n").unwrap();
    let loaded = load(Some(&folder.path().join("a")), &[]);
    assert!(loaded.has_errors() && loaded.lines.len() < 2_000);
}

#[test]
fn config_file_replaces_what_was_read_and_cannot_go_on_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("a"),
        "workgroup = a\nconfig file = b\nmax mux = 9\n",
    )
    .unwrap();
    std::fs::write(
        folder.path().join("b"),
        "netbios name = b\nconfig file = missing\n",
    )
    .unwrap();
    let loaded = load(Some(&folder.path().join("a")), &["read raw = no".into()]);
    let global = &loaded.settings.global;
    assert_eq!(
        (
            global.workgroup.as_str(),
            global.netbios_name.as_str(),
            global.max_mux,
            global.read_raw
        ),
        ("WORKGROUP", "B", 50, false)
    );
    std::fs::write(folder.path().join("b"), "config file = a\n").unwrap();
    assert!(load(Some(&folder.path().join("a")), &[]).has_errors());
}

#[test]
fn a_missing_file_is_an_error_that_names_it() {
    let loaded = load(Some(Path::new("/nonexistent/smb.conf")), &[]);
    assert!(
        loaded.has_errors()
            && loaded.diagnostics[0]
                .message
                .contains("/nonexistent/smb.conf")
    );
}

/// On a machine with three interfaces: the addresses for NetBIOS sessions and for direct TCP, whether the name service
/// runs, and the number of diagnostics.
fn listeners_of(text: &str) -> (Vec<String>, Vec<String>, bool, usize) {
    let local = [
        ("lo", "127.0.0.1"),
        ("eth0", "10.0.0.7"),
        ("eth1", "192.168.1.5"),
    ]
    .map(|(name, address)| (name.to_owned(), address.parse().unwrap()));
    let (l, diagnostics) = listeners(&load_text("t", text).settings.global, &local);
    let show =
        |list: &[crate::settings::Listener]| list.iter().map(|l| l.address.to_string()).collect();
    (
        show(&l.nbt),
        show(&l.direct),
        l.names.is_some(),
        diagnostics.len(),
    )
}

#[test]
fn listeners_follow_ports_and_netbios() {
    let of = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        listeners_of(""),
        (of(&["0.0.0.0:139"]), of(&["0.0.0.0:445"]), true, 0)
    );
    assert_eq!(
        listeners_of("smb ports = 1139 1445"),
        (of(&["0.0.0.0:1139"]), of(&["0.0.0.0:1445"]), false, 0)
    );
    assert_eq!(
        listeners_of("disable netbios = yes"),
        (of(&[]), of(&["0.0.0.0:445"]), false, 0)
    );
}

#[test]
fn listeners_follow_interfaces_where_they_are_bound_to_them_alone() {
    let bound = "bind interfaces only = yes\nsmb ports = 445\ninterfaces = ";
    for (interfaces, address) in [
        ("eth1", "192.168.1.5"),
        ("10.0.0.0/8", "10.0.0.7"),
        ("192.168.1.5/24", "192.168.1.5"),
        ("\"eth0;speed=1\"", "10.0.0.7"),
        ("127.0.0.1 lo", "127.0.0.1"),
    ] {
        let (_, direct, _, diagnostics) = listeners_of(&format!("{bound}{interfaces}"));
        assert_eq!(
            (direct, diagnostics),
            (vec![format!("{address}:445")], 0),
            "{interfaces}"
        );
    }
    let (_, direct, _, diagnostics) = listeners_of("interfaces = eth1");
    assert_eq!((direct, diagnostics), (vec!["0.0.0.0:445".to_owned()], 1));
}

#[test]
fn explanation_gives_every_line_its_effect_and_counts_them() {
    let loaded = load_text(
        "t",
        "[global]\nread raw = no\nread size = 1\nkernel oplocks = yes\nnonsense = 1\nmax mux = x\n",
    );
    let text = crate::explain::lines(&loaded);
    for part in [
        "read raw (t:2)\n      read raw is 'no'.",
        "Not needed: the kernel sends",
        "No effect: programs on this machine",
        "Wrong: 'x' is not a whole number",
        "5 line(s): 1 honoured, 1 not needed, 2 without effect, 1 wrong.",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn undecodable_characters_are_reported_and_huge_files_refused() {
    let folder = tempfile::tempdir().unwrap();
    let conf = folder.path().join("a");
    std::fs::write(&conf, b"[x]\npath = /\ncomment = B\x81cher\n").unwrap();
    let loaded = load(Some(&conf), &[]);
    assert!(!loaded.has_errors() && loaded.diagnostics[0].message.contains("not UTF-8"));
    assert!(load(Some(Path::new("/dev/zero")), &[]).has_errors());
}
