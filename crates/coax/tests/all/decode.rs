//! `coax decode` as a stranger uses it.

use std::{
    fs,
    io::Write as _,
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

const COAX: &str = env!("CARGO_BIN_EXE_coax");

fn capture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/captures")).join(name)
}

fn decode(words: &[&str]) -> Output {
    Command::new(COAX)
        .arg("decode")
        .args(words)
        .output()
        .unwrap()
}

fn decode_capture(name: &str, words: &[&str]) -> Output {
    let path = capture(name);
    decode(&[&[path.to_str().unwrap()], words].concat())
}

fn decode_input(input: &[u8], words: &[&str]) -> Output {
    let mut child = Command::new(COAX)
        .args(["decode", "-"])
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // it stops reading what is too long
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn out(done: &Output) -> String {
    String::from_utf8(done.stdout.clone()).unwrap()
}

fn messages(done: &Output) -> Vec<Value> {
    assert!(done.status.success(), "{done:?}");
    out(done)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn digits_of_a_message_are_decoded_from_arguments_and_from_standard_input() {
    let digits = "ff 53 4d 42 72 00 00 00 00 18 01 20 00:00 00 00 00 00 00 00 00 00 00 00 0x00 00 00 00 00 00 00 00 \
                  00 0c00 02 4e54204c4d20302e313200";
    let given = decode(&[digits]);
    assert!(given.status.success());
    for words in [
        "NEGOTIATE request, 47 bytes",
        "Dialects",
        "\"NT LM 0.12\"",
        "[MS-CIFS] 2.2.4.52.1",
    ] {
        assert!(out(&given).contains(words), "{words}: {}", out(&given));
    }
    assert_eq!(decode_input(digits.as_bytes(), &[]).stdout, given.stdout);
}

#[test]
fn a_capture_is_decoded_from_a_file_and_from_standard_input() {
    let from_file = decode_capture("arkime-smbclient.pcap", &["--summary"]);
    let text = out(&from_file);
    assert_eq!(text.lines().count(), 20);
    assert!(text.contains("OPEN_ANDX request  \"\\tmp\\foo\""), "{text}");
    let bytes = fs::read(capture("arkime-smbclient.pcap")).unwrap();
    assert_eq!(
        decode_input(&bytes, &["--summary"]).stdout,
        from_file.stdout
    );
}

#[test]
fn frames_and_problems_choose_messages() {
    let some = messages(&decode_capture(
        "arkime-smbclient.pcap",
        &["--json", "--frames", "8-10,19"],
    ));
    let frames: Vec<u64> = some
        .iter()
        .map(|message| message["frame"].as_u64().unwrap())
        .collect();
    assert_eq!(frames, [8, 9, 10, 19]);
    let bad = messages(&decode_capture(
        "tcpdump-smb_data_print-segv.pcap",
        &["--json", "--problems"],
    ));
    let fields = bad[0]["fields"].as_array().unwrap();
    let problem = |name: &str| {
        let field = fields
            .iter()
            .find(|field| field["name"] == name && field["problem"].is_string());
        field.map(|field| field["problem"].as_str().unwrap().to_owned())
    };
    assert_eq!(problem("ByteCount").unwrap(), "only 19 bytes follow");
    assert_eq!(
        problem("DataCount").unwrap(),
        "more than TotalDataCount, which is 0"
    );
    let none = decode_capture("arkime-smbclient.pcap", &["--problems"]);
    assert!(none.status.success() && none.stdout.is_empty());
    assert!(String::from_utf8_lossy(&none.stderr).contains("none of the 20 messages"));
}

#[test]
fn passwords_are_not_shown() {
    let all = messages(&decode_capture(
        "zeek-cifs_negotiate_lanman.pcap",
        &["--json"],
    ));
    assert!(!all.is_empty());
    // a session set-up with the password SECRET12 in plain text
    let mut message = b"\xffSMB\x73\0\0\0\0\x18\x01\0".to_vec();
    message.resize(32, 0);
    message.extend([
        10, 0xff, 0, 0, 0, 0xff, 0xff, 2, 0, 1, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 14, 0,
    ]);
    message.extend(b"SECRET12JOE\0W\0");
    let digits: String = message.iter().map(|byte| format!("{byte:02x}")).collect();
    for option in ["--summary", "--json", "--kind=smb"] {
        let done = decode(&[&digits, option]);
        let text = out(&done);
        assert!(text.contains("JOE"), "{text}");
        assert!(
            !text.contains("SECRET") && !text.contains("534543524554"),
            "{text}"
        );
    }
}

#[test]
fn what_cannot_be_read_ends_with_an_error() {
    let whole = fs::read(capture("arkime-smbclient.pcap")).unwrap();
    let cut = decode_input(&whole[..whole.len() - 7], &["--summary"]);
    assert_eq!(
        (cut.status.code(), out(&cut).lines().count()),
        (Some(1), 20)
    );
    assert!(String::from_utf8_lossy(&cut.stderr).contains("standard input: damaged at byte"));
    let other = decode_input(b"PK\x03\x04\0\0\0\0", &[]);
    assert_eq!(other.status.code(), Some(1));
    let long = decode_input("00 ".repeat(400_000).as_bytes(), &[]);
    assert_eq!(long.status.code(), Some(2));
    for wrong in ["nofile.pcap", "85 0", "zz"] {
        assert_eq!(decode(&[wrong]).status.code(), Some(2), "{wrong}");
    }
    let wrong = decode_capture("arkime-smbclient.pcap", &["--frames", "5-2"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn values_of_real_captures_are_shown_and_a_value_that_was_never_seen_gets_no_such_claim() {
    let shown = |flags: &str| {
        let message = format!(
            "ff534d4204000000001{flags}0000000000000000000000000000000000000000000003010000000000000000"
        );
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_coax"))
            .args(["decode", "--seen", &message])
            .output()
            .unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    let text = shown("8");
    assert!(text.contains("CLOSE.WordCount 0x3: seen in 2"), "{text}");
    assert!(text.contains("Header.Flags 0x18: seen in "), "{text}");
    let text = shown("f");
    assert!(
        text.contains("Header.Flags 0x1f: not in the captures; others: 0x18 in "),
        "{text}"
    );
    assert!(!text.contains("FID 0x"), "{text}");
}
