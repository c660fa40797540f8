//! Third-party clients log on to a server that supports only NEGOTIATE, SESSION_SETUP_ANDX and LOGOFF_ANDX, and refuses
//! TREE_CONNECT_ANDX. A client that then says "bad network name" has accepted our logon and our signature.
//!
//! A client that is not installed is skipped with a line on stderr; with `CI` set it is a failure.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::expect_used,
    missing_docs
)]

mod server;

use coax_logon::verify::How;
use server::{Offer, Outcome};
use std::process::Command;

fn smbclient(port: u16, options: &[&str]) -> Command {
    let mut command = Command::new("smbclient");
    command.args([
        "//127.0.0.1/X",
        "-p",
        &port.to_string(),
        "-s",
        "/dev/null",
        "-U",
        "GROUP/bob%Password",
        "-c",
        "ls",
    ]);
    command.args(["-m", "NT1", "--option=client min protocol=NT1"]);
    options.iter().for_each(|option| {
        command.arg(format!("--option={option}"));
    });
    command
}

/// The virtual environment that `scripts/install-peers` makes.
const VENV: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/peers/venv/bin/python"
);

fn python(port: u16, module: &str, program: &str) -> Command {
    let own = std::path::Path::new(VENV).exists();
    let mut command = Command::new(if own { VENV } else { "python3" });
    command.args(["-c", &format!("import {module}\nPORT={port}\n{program}")]);
    command
}

/// Runs the client against the server; `None` if the client is not installed.
fn run(offer: Offer, client: impl FnOnce(u16) -> Command) -> Option<(Outcome, String)> {
    let (port, server) = server::start(offer);
    let output = client(port).output();
    let missing = match &output {
        Err(_) => true,
        Ok(output) => String::from_utf8_lossy(&output.stderr).contains("ModuleNotFoundError"),
    };
    if missing {
        assert!(
            std::env::var_os("CI").is_none(),
            "a client to test with is missing"
        );
        eprintln!("SKIPPED: a client to test with is not installed");
        return None;
    }
    let output = output.unwrap();
    let text = [output.stdout, output.stderr].concat();
    Some((
        server.join().unwrap(),
        String::from_utf8_lossy(&text).into_owned(),
    ))
}

/// Asserts that the client logged on with this method, signed its next request correctly, and accepted the reply.
fn expect_signed(run: Option<(Outcome, String)>, how: How, bad_name: &str) -> Option<Outcome> {
    let (outcome, text) = run?;
    assert_eq!(outcome.how, Some(Ok(how)), "{text}");
    assert_eq!(outcome.tree_connect_signed, Some(true), "{text}");
    assert!(text.contains(bad_name), "{text}");
    Some(outcome)
}

const EXTENDED: Offer = Offer {
    extended: true,
    sign: true,
    timestamp: true,
    hint: true,
};
const PLAIN: Offer = Offer {
    extended: false,
    sign: true,
    timestamp: false,
    hint: false,
};
const BAD_NAME: &str = "NT_STATUS_BAD_NETWORK_NAME";

#[test]
fn smbclient_logs_on_with_spnego_and_signs() {
    let run = run(EXTENDED, |port| {
        smbclient(port, &["client signing=required"])
    });
    expect_signed(run, How::NtlmV2, BAD_NAME);
}

#[test]
fn smbclient_logs_on_with_spnego_where_the_server_hides_its_time() {
    let offer = Offer {
        timestamp: false,
        ..EXTENDED
    };
    let run = run(offer, |port| smbclient(port, &["client signing=required"]));
    expect_signed(run, How::NtlmV2, BAD_NAME);
}

#[test]
fn smbclient_logs_on_where_the_server_gives_no_hint() {
    let offer = Offer {
        hint: false,
        ..EXTENDED
    };
    let run = run(offer, |port| smbclient(port, &["client signing=required"]));
    expect_signed(run, How::NtlmV2, BAD_NAME);
}

#[test]
fn smbclient_logs_on_with_an_ntlm2_session_response_and_signs() {
    let options = ["client signing=required", "client ntlmv2 auth=no"];
    let run = run(EXTENDED, |port| smbclient(port, &options));
    expect_signed(run, How::Ntlm2Session, BAD_NAME);
}

#[test]
fn smbclient_logs_on_without_extended_security_by_ntlm_v2_and_signs() {
    let options = ["client signing=required", "client use spnego=no"];
    let run = run(PLAIN, |port| smbclient(port, &options));
    expect_signed(run, How::NtlmV2, BAD_NAME);
}

#[test]
fn smbclient_logs_on_without_extended_security_by_ntlm_v1_and_signs() {
    let options = ["client signing=required", "client ntlmv2 auth=no"];
    let run = run(PLAIN, |port| smbclient(port, &options));
    expect_signed(run, How::NtlmV1, BAD_NAME);
}

const IMPACKET: &str = "
c = smbconnection.SMBConnection('*SMBSERVER', '127.0.0.1', sess_port=PORT, preferredDialect='NT LM 0.12')
c.login('bob', 'Password', 'GROUP')
try: c.connectTree('X')
except Exception as e: print(e)";

#[test]
fn impacket_logs_on_with_spnego_and_signs() {
    let run = run(EXTENDED, |port| {
        python(port, "impacket.smbconnection as smbconnection", IMPACKET)
    });
    expect_signed(run, How::NtlmV2, "BAD_NETWORK_NAME");
}

const PYSMB: &str = "
smb.smb_structs.SUPPORT_SMB2 = False
from smb.SMBConnection import SMBConnection
c = SMBConnection('bob', 'Password', 'ws', 'SERVER', domain='GROUP', use_ntlm_v2=V2, is_direct_tcp=True)
print(c.connect('127.0.0.1', PORT))
try: c.listPath('X', '/')
except Exception as e: print('0x%08X' % e.smb_messages[-1].status.internal_value)";

#[test]
fn pysmb_logs_on_with_spnego_and_signs() {
    let program = format!("V2=True{PYSMB}");
    let run = run(EXTENDED, |port| python(port, "smb.smb_structs", &program));
    expect_signed(run, How::NtlmV2, "0xC00000CC");
}

#[test]
fn pysmb_logs_on_with_ntlm_v1() {
    let program = format!("V2=False{PYSMB}");
    let run = run(EXTENDED, |port| python(port, "smb.smb_structs", &program));
    let Some((outcome, text)) = run else { return };
    assert!(
        matches!(outcome.how, Some(Ok(How::NtlmV1 | How::Ntlm2Session))),
        "{:?} {text}",
        outcome.how
    );
}

#[test]
fn a_client_with_a_wrong_password_receives_a_refusal() {
    let run = run(EXTENDED, |port| {
        let mut command = smbclient(port, &[]);
        command.args(["-U", "GROUP/bob%Wrong"]);
        command
    });
    let Some((outcome, text)) = run else { return };
    assert_eq!(
        outcome.how,
        Some(Err(coax_logon::policy::Refusal::WrongPassword))
    );
    assert!(text.contains("NT_STATUS_LOGON_FAILURE"), "{text}");
}

#[test]
fn curl_logs_on_with_ntlm_v1_in_the_nt_field() {
    let offer = Offer {
        sign: false,
        ..PLAIN
    };
    let run = run(offer, |port| {
        let mut command = Command::new("curl");
        command.args(["-s", "--max-time", "10", "-u", "GROUP/bob:Password"]);
        command.arg(format!("smb://127.0.0.1:{port}/X/file"));
        command
    });
    let Some((outcome, text)) = run else { return };
    assert_eq!(outcome.how, Some(Ok(How::NtlmV1)), "{text}");
}

/// jcifs-ng and what it needs, where `scripts/install-peers` puts them.
const JCIFS_NG: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/peers/jars/jcifsng"
);

#[test]
fn jcifs_ng_logs_on_with_spnego_and_signs() {
    if !std::path::Path::new(JCIFS_NG).is_dir() {
        assert!(
            std::env::var_os("CI").is_none(),
            "jcifs-ng is missing; run scripts/install-peers"
        );
        eprintln!("SKIPPED: jcifs-ng is not installed; run scripts/install-peers");
        return;
    }
    let run = run(EXTENDED, |port| {
        let mut command = Command::new("java");
        command.args(["-cp", &format!("{JCIFS_NG}/*")]);
        command.arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/peers/LogOn.java"
        ));
        command.arg(port.to_string());
        command
    });
    expect_signed(run, How::NtlmV2, "0xC00000CC");
}
