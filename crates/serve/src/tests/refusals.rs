//! The reports of refused requests.

use std::sync::Arc;

use super::{
    super::report::{RefusedLine, Reporter, Told},
    *,
};

/// A server whose share DATA is read-only.
fn read_only(options: &str) -> Fixture {
    Fixture::build(options, 8, |server| {
        for share in &mut server.shares {
            if share.name == "DATA" {
                Arc::get_mut(share).unwrap().admission.read_only = true;
            }
        }
    })
}

fn create(client: &mut Client, path: &str) -> Vec<u8> {
    let bytes = [b"\x04", path.as_bytes(), b"\0"].concat();
    let mut message = request(0x03, &[0; 6], &bytes);
    message[24..26].copy_from_slice(&client.tid);
    client.send(&message);
    client.receive()
}

fn refused(server: &Fixture) -> RefusedLine {
    server.line(|line| match line {
        Line::RequestRefused(line) => Some((**line).clone()),
        _ => None,
    })
}

#[test]
fn a_refused_write_is_one_line_with_client_user_request_reason_and_setting() {
    let server = read_only("");
    let mut client = server.direct();
    client.use_the_share();
    assert_eq!(create(&mut client, "NEW.TXT")[5], 1, "ERRDOS");
    let text = refused(&server).to_string();
    for part in [
        "[1] 127.0.0.1:",
        " user nobody: refused CREATE NEW.TXT on DATA",
        ": the share is read-only [",
        "; setting: [DATA] read only = no",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_repeated_refusal_produces_two_lines_and_a_count() {
    let server = read_only("");
    let mut client = server.direct();
    client.use_the_share();
    for _ in 0..313 {
        create(&mut client, "NEW.TXT");
    }
    drop(client);
    assert_eq!(refused(&server).repeated, 0);
    assert_eq!(refused(&server).repeated, 312);
    server.disconnected();
    let more = server.lines.try_iter();
    assert_eq!(
        more.filter(|line| matches!(line, Line::RequestRefused(_)))
            .count(),
        0
    );
}

#[test]
fn looking_for_files_that_do_not_exist_is_not_reported() {
    let server = read_only("");
    let mut client = server.direct();
    client.use_the_share();
    for n in 0..5 {
        client.ask_open(&format!("MISSING.{n}"));
        client.receive();
    }
    drop(client);
    let mut refusals = 0;
    server.line(|line| match line {
        Line::RequestRefused(_) => {
            refusals += 1;
            None
        }
        Line::Disconnected { .. } => Some(()),
        _ => None,
    });
    assert_eq!(refusals, 0);
}

#[test]
fn every_line_has_the_time_of_its_event() {
    let (tell, told) = channel();
    let reporter = Reporter::to(move |told| {
        if let Told::Line(_, at) = told {
            tell.send(at).unwrap();
        }
    })
    .unwrap();
    let before = jiff::Timestamp::now();
    reporter.notice("one");
    let after = jiff::Timestamp::now();
    let at = told.recv_timeout(LONG).unwrap();
    assert!(before <= at && at <= after, "{before} {at} {after}");
}

#[test]
fn a_share_on_a_file_system_without_attributes_is_reported_at_the_start() {
    let mut settings = load_text("t", "[PROC]\npath = /proc\nread only = no\n").settings;
    let loopback = coax_smbconf::settings::Listener::exactly("127.0.0.1:0".parse().unwrap());
    settings.listen.nbt = vec![loopback];
    settings.listen.direct = Vec::new();
    let (tell, lines) = channel();
    let reporter = Reporter::to(move |told| {
        if let Told::Line(line, _) = told {
            // The test may have ended and dropped the receiver.
            let _ = tell.send(line);
        }
    })
    .unwrap();
    let running = Running::start(settings, reporter).unwrap();
    loop {
        let line = lines.recv_timeout(LONG).unwrap();
        if let Line::ShareProblem { share, problem, .. } = &line
            && problem.contains("no extended attributes")
        {
            assert_eq!(share, "PROC");
            assert!(line.to_string().contains("remedy: use ext4"));
            break;
        }
    }
    running.stop();
}
