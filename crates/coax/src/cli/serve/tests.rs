#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]

use clap::Parser;

use super::*;
use crate::cli::{Cli, Command};
use coax_smbconf::settings::{Access, Security};

fn args(words: &[&str]) -> Result<ServeArgs, clap::Error> {
    let Command::Serve(args) = Cli::try_parse_from(["coax", "serve"].iter().chain(words))?.command
    else {
        panic!("another verb");
    };
    Ok(*args)
}

fn settings(words: &[&str]) -> Settings {
    args(words).unwrap().settings().unwrap().0
}

fn usage(words: &[&str]) -> String {
    match args(words).unwrap().settings() {
        Err(ServeError::Usage(message)) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_folder_alone_is_one_share_that_guests_read_and_nobody_writes() {
    let folder = tempfile::Builder::new()
        .prefix("Old Files")
        .tempdir()
        .unwrap();
    let settings = settings(&[folder.path().to_str().unwrap()]);
    let [share] = settings.shares.as_slice() else {
        panic!("one share")
    };
    assert!(share.name.starts_with("OLD_FILES"), "{}", share.name);
    assert_eq!(share.access(None), Some(Access::ReadOnly));
    assert_eq!(settings.global.map_to_guest, MapToGuest::BadUser);
    assert!(!settings.global.lanman_auth && !settings.global.plaintext_accepted);
    assert_eq!(settings.global.ntlm_auth, NtlmAuth::V1Permitted);
    assert_eq!(settings.listen, Listeners::default());
}

#[test]
fn with_users_guests_are_out_unless_they_are_let_in_and_then_read() {
    let user = ["/", "--user", "anna:a:b"];
    let only_users = settings(&user);
    assert_eq!(only_users.shares[0].access(None), None);
    assert_eq!(
        only_users.shares[0].access(Some("Anna")),
        Some(Access::ReadWrite)
    );
    assert_eq!(
        only_users.users[0].nt_hash,
        Some(coax_logon::hash::nt_hash("a:b"))
    );
    let both = settings(&[&user[..], &["--guest", "ro"]].concat());
    assert_eq!(both.shares[0].access(None), Some(Access::ReadOnly));
    assert_eq!(both.shares[0].access(Some("anna")), Some(Access::ReadWrite));
    let open = settings(&["/", "--guest", "rw"]);
    assert_eq!(open.shares[0].access(None), Some(Access::ReadWrite));
}

#[test]
fn a_share_marked_ro_is_read_only_for_everybody() {
    let settings = settings(&["--share", "A=/:ro", "--share", "b=/tmp", "--user", "anna:x"]);
    assert_eq!(
        settings.shares[0].access(Some("anna")),
        Some(Access::ReadOnly)
    );
    assert_eq!(
        settings.shares[1].access(Some("anna")),
        Some(Access::ReadWrite)
    );
    assert_eq!(settings.shares[1].name, "B");
}

#[test]
fn named_addresses_replace_the_usual_ones_and_names_follow_port_139() {
    let direct = settings(&["/", "--direct", "127.0.0.1:0"]).listen;
    assert_eq!(
        (direct.nbt.len(), direct.direct.len(), direct.names),
        (0, 1, None)
    );
    assert_eq!(direct.direct[0].fallback_port, None);
    let nbt = settings(&["/", "--nbt", "139"]).listen;
    assert_eq!(nbt.names.unwrap().address.port(), 137);
    let names = settings(&["/", "--nbt", "127.0.0.1:0", "--names", "127.0.0.1:5137"]).listen;
    assert_eq!(names.names.unwrap().address.to_string(), "127.0.0.1:5137");
}

#[test]
fn the_command_line_wins_over_the_file_and_adds_to_its_shares() {
    let folder = tempfile::tempdir().unwrap();
    let conf = folder.path().join("smb.conf");
    std::fs::write(&conf, "[global]\nread raw = yes\nworkgroup = a\nnetbios name = b\nsecurity = share\nhide dot files = no\n[X]\npath = /\nguest ok = yes\n").unwrap();
    let conf = conf.to_str().unwrap();
    let settings = settings(&[
        "--config",
        conf,
        "/tmp",
        "--name",
        "c",
        "--option",
        "read raw = no",
        "--option",
        "oplocks=no",
        "--allow",
        "lm,plaintext",
    ]);
    let global = &settings.global;
    assert_eq!(
        (global.netbios_name.as_str(), global.workgroup.as_str()),
        ("C", "A")
    );
    assert!(!global.read_raw && global.lanman_auth && global.plaintext_accepted);
    assert!(!global.plaintext_auth, "clients must still get a challenge");
    assert_eq!(global.security, Security::Share);
    assert_eq!(
        settings
            .shares
            .iter()
            .map(|s| s.name.as_str())
            .collect::<Vec<_>>(),
        ["X", "TMP"]
    );
    assert!(
        settings
            .shares
            .iter()
            .all(|s| !s.oplocks && !s.hide_dot_files)
    );
}

#[test]
fn nothing_to_share_and_two_shares_of_a_name_are_wrong_usage() {
    assert!(usage(&[]).contains("coax serve DIR"));
    assert!(usage(&["/tmp", "--share", "tmp=/"]).contains("TMP"));
    assert!(matches!(
        args(&["/nonexistent/folder"]).unwrap().settings(),
        Err(ServeError::Failed(_))
    ));
}

#[test]
fn arguments_that_make_no_sense_are_refused_with_an_example() {
    for (words, example) in [
        (["--nbt", "here"], "ADDR:PORT"),
        (["--name", "a.b"], "NetBIOS name"),
        (["--option", "read raw"], "read raw = no"),
        (["--share", "x"], "GAMES="),
        (["--guest", "all"], "none"),
    ] {
        let error = args(&words).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains(example), "{error}");
    }
}

#[test]
fn socket_options_may_be_given_as_smbd_takes_them() {
    use coax_smbconf::settings::SocketOption;
    let words = [
        "/",
        "-O",
        "TCP_NODELAY=0 SO_SNDBUF=8192",
        "--option",
        "socket options = SO_KEEPALIVE",
    ];
    assert_eq!(
        settings(&words).global.socket_options,
        [SocketOption::NoDelay(false), SocketOption::SendBuffer(8192)]
    );
    let long = settings(&["/", "--socket-options", "TCP_NODELAY"]);
    assert_eq!(long.global.socket_options, [SocketOption::NoDelay(true)]);
}
