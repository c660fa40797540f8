//! Whole files, and what becomes of them.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use proptest::prelude::*;

use coax_catalog::scenario::Scenario;

use crate::{Effect, File, Import, Kind, Role, Unreadable, advise, table};

const PROTOCOL: &str = "[network.setup]\r\nversion=0x3110\r\n\r\n[TCPIP]\r\n  ; what the set-up wrote\r\nNBSessions=6\r\n\
    TCPWindowSize=1450 ; bytes\r\nTCPSegmentSize=1450\r\nIPAddress0=192 168 1 9\r\n\u{1a}";

fn imported(files: &[(&str, &[u8], Role)]) -> Import {
    let mut import = Import::default();
    for (name, bytes, role) in files {
        import.add(&File::parse(name, bytes).unwrap(), *role);
    }
    import
}

fn value(import: &Import, path: &str) -> Option<String> {
    let found = import.values().into_iter().find(|(known, _)| known == path);
    found.map(|(_, value)| value.to_string())
}

#[test]
fn protocol_ini_sets_window_and_segment_of_the_client() {
    let import = imported(&[("C:\\NET\\PROTOCOL.INI", PROTOCOL.as_bytes(), Role::Client)]);
    assert_eq!(
        value(&import, "client.stack.receive_window").as_deref(),
        Some("1450")
    );
    assert_eq!(value(&import, "client.stack.mss").as_deref(), Some("1450"));
    assert_eq!(import.others(), 2, "version and address");
    let window = &import.lines()[1];
    assert_eq!(window.place, "C:\\NET\\PROTOCOL.INI:7");
    assert_eq!(window.text, "TCPWindowSize = 1450");
    assert!(
        matches!(import.lines()[0].effect, Effect::Nothing),
        "memory only"
    );
    assert_eq!(import.profile(), Some("ms-net-3.11-full"));
}

#[test]
fn system_ini_selects_the_redirector() {
    let text = b"[network]\nPreferredRedir=BASIC\nsizworkbuf=1498\n";
    let import = imported(&[("SYSTEM.INI", text, Role::Client)]);
    assert_eq!(import.profile(), Some("ms-net-3.11-basic"));
    let Effect::Sets { assumed, .. } = import.lines()[1].effect else {
        panic!("{:?}", import.lines());
    };
    assert!(assumed);
    assert_eq!(
        value(&import, "client.profile.buffers.request").as_deref(),
        Some("1598")
    );
}

#[test]
fn registry_exports_are_read_in_both_encodings() {
    let text = "Windows Registry Editor Version 5.00\r\n\r\n\
        [HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\LanmanServer\\Parameters]\r\n\"SizReqBuf\"=dword:0000ffff\r\n\
        \"EnableRaw\"=dword:00000000\r\n\r\n\
        [HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters]\r\n\"TcpWindowSize\"=dword:0000faf0\r\n\
        \"TcpDelAckTicks\"=dword:00000001\r\n";
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(text.encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    for bytes in [text.as_bytes(), &utf16] {
        let import = imported(&[("export.reg", bytes, Role::Client)]);
        assert_eq!(
            value(&import, "server.config.max_buffer").as_deref(),
            Some("65535")
        );
        assert_eq!(
            value(&import, "server.config.write_raw").as_deref(),
            Some("false")
        );
        assert_eq!(
            value(&import, "client.stack.receive_window").as_deref(),
            Some("64240")
        );
        assert_eq!(
            value(&import, "client.stack.delayed_ack").as_deref(),
            Some("\"100 ms\"")
        );
        assert_eq!(import.profile(), Some("windows-2000"));
    }
    let import = imported(&[("export.reg", text.as_bytes(), Role::Server)]);
    assert_eq!(
        value(&import, "server.stack.receive_window").as_deref(),
        Some("64240")
    );
}

#[test]
fn smb_conf_and_sysctl_set_the_server() {
    let conf = b"[global]\n  max   xmit = 2920\n read raw = No\n socket options = TCP_NODELAY SO_RCVBUF=8192 \\\n   SO_SNDBUF=16384\n[x]\npath=/x\n";
    let sysctl = b"net.ipv4.tcp_sack = 0\nnet.ipv4.tcp_rmem = 4096 131072 6291456\n";
    let import = imported(&[
        ("smb.conf", conf, Role::Server),
        ("sysctl.conf", sysctl, Role::Server),
    ]);
    for (path, expected) in [
        ("server.config.max_buffer", "2920"),
        ("server.config.read_raw", "false"),
        ("server.stack.nagle", "\"off\""),
        ("server.stack.send_buffer", "32768"),
        ("server.stack.sack", "false"),
        ("server.stack.receive_window", "3145728"),
    ] {
        assert_eq!(value(&import, path).as_deref(), Some(expected), "{path}");
    }
    assert_eq!(
        import
            .lines()
            .iter()
            .filter(|line| line.place == "smb.conf:4")
            .count(),
        3
    );
}

#[test]
fn the_later_of_two_lines_counts() {
    let text = b"[tcpip]\ntcpwindowsize=1450\ntcpwindowsize=4350\n";
    let import = imported(&[("PROTOCOL.INI", text, Role::Client)]);
    assert_eq!(
        value(&import, "client.stack.receive_window").as_deref(),
        Some("4350")
    );
}

#[test]
fn impossible_values_are_named_and_set_nothing() {
    for (line, why) in [
        ("tcpwindowsize=large", "'large' is not a number of bytes"),
        ("tcpwindowsize=100", "100 is not between 512"),
        ("tcpsegmentsize=99999", "99999 is not between 256 and 1460"),
    ] {
        let text = format!("[tcpip]\n{line}\n");
        let import = imported(&[("PROTOCOL.INI", text.as_bytes(), Role::Client)]);
        let Effect::Wrong(said) = &import.lines()[0].effect else {
            panic!("{line}");
        };
        assert!(said.contains(why), "{said}");
        assert_eq!(import.values(), []);
    }
}

#[test]
fn files_that_are_none_of_the_known_ones_are_refused() {
    assert_eq!(
        File::parse("notes.txt", b"a=b\n"),
        Err(Unreadable::Unknown("notes.txt".into()))
    );
    assert_eq!(
        File::parse("PROTOCOL.INI", b"; nothing\n"),
        Err(Unreadable::Empty("PROTOCOL.INI".into()))
    );
    let named_otherwise = File::parse("BACKUP.OLD", b"[protman]\ndrivername=PROTMAN$\n").unwrap();
    assert_eq!(named_otherwise.kind, Kind::ProtocolIni);
}

#[test]
fn every_setting_of_the_table_makes_a_scenario_that_the_lab_accepts() {
    for setting in table::settings() {
        let word = setting.map.keys().next().cloned();
        // the lab's server wants 1,024 bytes, as [MS-CIFS] 2.2.4.52.2 does
        let least = if setting.set.as_deref() == Some("config.max_buffer") {
            1024
        } else {
            1
        };
        let number = setting.least.unwrap_or(1).max(least).to_string();
        let field = if setting.field > 1 {
            "4096 16384 4194304".into()
        } else {
            number
        };
        let text = word.unwrap_or(field);
        let mut import = Import::default();
        let section = setting.example_section();
        let file = match setting.file.as_str() {
            "registry" => format!(
                "REGEDIT4\n[{section}]\n\"{}\"=dword:{:08x}\n",
                setting.key(),
                text.parse::<u32>().unwrap_or(1)
            ),
            "sysctl" => format!("{} = {text}\n", setting.key()),
            _ if setting.key().starts_with("socket options") => {
                let option = setting.key().split(": ").nth(1).unwrap().to_owned();
                format!("[global]\nsocket options = {option}={text}\n")
            }
            _ => format!("[{section}]\n{} = {text}\n", setting.key()),
        };
        let name = match setting.file.as_str() {
            "registry" => "x.reg",
            "sysctl" => "sysctl.conf",
            other => other,
        };
        let parsed = File::parse(name, file.as_bytes()).unwrap();
        import.add(
            &parsed,
            if parsed.kind.is_usually_the_servers() {
                Role::Server
            } else {
                Role::Client
            },
        );
        assert_eq!(import.lines().len(), 1, "{file}");
        if !matches!(
            import.lines()[0].effect,
            Effect::Selects(_) | Effect::Wrong(_)
        ) {
            let scenario = import.scenario("test", Some("ms-net-3.11-full"));
            assert!(scenario.is_ok(), "{file}: {scenario:?}");
        }
    }
}

#[test]
fn the_scenario_file_is_one_that_the_lab_reads() {
    let import = imported(&[("PROTOCOL.INI", PROTOCOL.as_bytes(), Role::Client)]);
    let text = import.scenario("my machine", None).unwrap();
    let scenario = Scenario::parse("x.toml", &text).unwrap();
    assert_eq!(
        scenario.parameter("client.stack.receive_window").as_deref(),
        Some("1450")
    );
    assert_eq!(
        scenario.parameter("client.profile").as_deref(),
        Some("ms-net-3.11-full")
    );
    scenario.resolve().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn arbitrary_bytes_never_panic(
        name in prop::sample::select(vec!["protocol.ini", "system.ini", "x.reg", "smb.conf", "sysctl.conf", "other"]),
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"[]=\\;#\n\r\"tcpwindowsize".to_vec())], 0..300),
    ) {
        if let Ok(file) = File::parse(name, &bytes) {
            let mut import = Import::default();
            import.add(&file, Role::Client);
            let _ = import.scenario("x", None);
        }
    }
}

/// A copy whose time is that of its windows, as a server without a cost has it.
fn by_window(scenarios: &[Scenario]) -> Vec<Option<f64>> {
    let seconds = |scenario: &Scenario| {
        let window: f64 = scenario
            .parameter("client.stack.receive_window")?
            .parse()
            .ok()?;
        let raw = scenario.parameter("server.config.read_raw").as_deref() != Some("false");
        Some(1000.0 / window.min(4350.0) + if raw { 0.0 } else { 1.0 })
    };
    scenarios.iter().map(seconds).collect()
}

#[test]
fn advice_changes_what_gains_most_and_leaves_the_rest() {
    let conf = b"[global]\n  read raw = no\n  max xmit = 2920\n";
    let import = imported(&[
        ("PROTOCOL.INI", PROTOCOL.as_bytes(), Role::Client),
        ("smb.conf", conf, Role::Server),
    ]);
    let base = import.resolved("x", None).unwrap();
    let found = advise(&import, &base, &mut by_window).unwrap();
    let lines: Vec<&str> = found.steps.iter().map(|step| step.line.as_str()).collect();
    assert_eq!(lines, ["read raw = yes", "tcpwindowsize = 4350"]);
    assert!(
        found.steps[1].after_s < found.steps[1].before_s && found.steps[0].before_s == found.now_s
    );
    let expected = "--- PROTOCOL.INI\n+++ PROTOCOL.INI\n@@ -7 +7 @@\n-TCPWindowSize=1450 ; bytes\r\n+TCPWindowSize=4350 ; bytes\r\n\
        --- smb.conf\n+++ smb.conf\n@@ -2 +2 @@\n-  read raw = no\n+  read raw = yes\n";
    assert_eq!(found.diff, expected);
}

#[test]
fn lines_that_are_missing_are_added_below_their_section() {
    let text = b"[protman]\ndrivername=PROTMAN$\n[tcpip]\nipaddress0=10 0 0 1\n";
    let import = imported(&[("PROTOCOL.INI", text, Role::Client)]);
    let mut base = import.resolved("x", None).unwrap();
    base.set_text("client.stack.receive_window=1450").unwrap();
    let found = advise(&import, &base, &mut by_window).unwrap();
    assert!(
        found.diff.ends_with("@@ -3,0 +4 @@\n+tcpwindowsize=4350\n"),
        "{}",
        found.diff
    );
}

#[test]
fn a_copy_that_cannot_be_made_faster_needs_no_change_and_one_that_fails_is_said() {
    let import = imported(&[("PROTOCOL.INI", PROTOCOL.as_bytes(), Role::Client)]);
    let base = import.resolved("x", None).unwrap();
    let found = advise(&import, &base, &mut |all| vec![Some(1.0); all.len()]).unwrap();
    assert_eq!((found.steps.len(), found.diff.as_str()), (0, ""));
    assert!(advise(&import, &base, &mut |all| vec![None; all.len()]).is_err());
}

#[test]
fn two_options_of_one_line_become_one_change() {
    let conf = b"[global]\nsocket options = SO_RCVBUF=8192 SO_SNDBUF=8192\n";
    let import = imported(&[("smb.conf", conf, Role::Server)]);
    let base = import.resolved("x", Some("modern")).unwrap();
    let mut run = |all: &[Scenario]| -> Vec<Option<f64>> {
        let number =
            |scenario: &Scenario, path: &str| scenario.parameter(path)?.parse::<f64>().ok();
        let one = |scenario: &Scenario| {
            let receive = number(scenario, "server.stack.receive_window")?;
            Some(1e6 / receive + 1e6 / number(scenario, "server.stack.send_buffer")?)
        };
        all.iter().map(one).collect()
    };
    let found = advise(&import, &base, &mut run).unwrap();
    let expected = "--- smb.conf\n+++ smb.conf\n@@ -2 +2 @@\n-socket options = SO_RCVBUF=8192 SO_SNDBUF=8192\n\
        +socket options = SO_RCVBUF=65536 SO_SNDBUF=262144\n";
    assert_eq!(found.diff, expected);
}
