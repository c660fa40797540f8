//! `coax replay` as a command: how it ends.

use std::{
    fs,
    net::TcpListener,
    path::Path,
    process::{Command, Output},
};

const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/captures");
/// Bytes of `zeek-cifs_negotiate_lanman.pcap` with its handshake, its only request, and the ACK of that.
const UP_TO_REQUEST: usize = 470;

fn replay(capture: &Path, url: &str, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coax"));
    command.arg("replay").arg(capture).arg(url).args(options);
    command.output().unwrap()
}

#[test]
fn a_replay_that_compares_no_answer_fails_and_says_why() {
    let whole = fs::read(Path::new(CAPTURES).join("zeek-cifs_negotiate_lanman.pcap")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut.pcap");
    fs::write(&cut, &whole[..UP_TO_REQUEST]).unwrap();
    // it accepts connections and never answers
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("smb://{}/DATA", server.local_addr().unwrap());
    let done = replay(&cut, &url, &[]);
    let (text, why) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    assert_eq!(done.status.code(), Some(1), "{text}{why}");
    assert!(why.starts_with("error: no answer was compared"), "{why}");
    assert!(
        text.contains("1 requests sent, 0 not sent; 0 answers compared"),
        "{text}"
    );
    let done = replay(&cut, &url, &["--json"]);
    let report: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(1), "{report}");
    assert_eq!(report["connections"][0]["answers_compared"], 0, "{report}");
}
