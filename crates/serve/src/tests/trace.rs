use std::sync::mpsc::{Receiver, channel};

use coax_server::Tail;
use coax_wire::{
    block::WireStr,
    header::{Mid, Pid},
    io::Writer,
    smb::{session_setup_andx, tree_connect, tree_connect_andx},
};

use super::{super::report::Told, *};
use coax_smbconf::load::load_text;

const PASSWORD: &[u8] = b"Qx7#vK2!pL9$wR4&zT1^mN8*";

fn traced(options: &str, selected: bool) -> (Option<Trace>, Receiver<Line>) {
    let mut settings = load_text("t", &format!("[global]\n{options}\n")).settings;
    settings.trace = selected.then_some(ClientChoice::Number(1));
    let (tell, lines) = channel();
    let reporter = Reporter::to(move |told| {
        if let Told::Line(line, _) = told {
            // The test may have ended and dropped the receiver.
            let _ = tell.send(line);
        }
    })
    .unwrap();
    let who = (1, &reporter, CodePage::cp850());
    let trace = Trace::new(&settings, selected, who);
    reporter.flush();
    (trace, lines)
}

fn all(trace: Trace, lines: &Receiver<Line>) -> Vec<Line> {
    trace.reporter.flush();
    lines.try_iter().collect()
}

fn message(command: u8, mid: u16, emit: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let header = Header {
        command,
        mid: Mid(mid),
        pid: Pid(7),
        ..Header::default()
    };
    let mut out = Writer::default();
    header.emit(&mut out);
    emit(&mut out);
    out.into_vec()
}

fn open(path: &str, mid: u16) -> Vec<u8> {
    message(code::OPEN, mid, |out| {
        out.u8(2).u16(0x42).u16(0x16).u16(path.len() as u16 + 2);
        out.u8(4).bytes(path.as_bytes()).u8(0);
    })
}

fn reply(to: &[u8], status: u32) -> Transmit {
    let asked = Header::parse(to).unwrap();
    let header = Header {
        status,
        flags: Flags(Flags::REPLY),
        ..asked
    };
    let mut out = Writer::default();
    header.emit(&mut out);
    out.u8(0).u16(0);
    Transmit {
        head: out.into_vec(),
        tail: Tail::None,
    }
}

const fn oem(raw: &[u8]) -> WireStr<'_> {
    WireStr {
        raw,
        unicode: false,
    }
}

#[test]
fn below_level_three_an_untraced_client_has_no_trace_state() {
    assert!(traced("log level = 2", false).0.is_none());
    assert!(traced("log level = 2 vfs:3", false).0.is_some());
    assert!(traced("", true).0.is_some());
}

#[test]
fn level_three_is_one_line_a_request_with_fields_result_and_duration() {
    let (trace, lines) = traced("log level = 3", false);
    let mut trace = trace.unwrap();
    let (first, second) = (open("A.TXT", 1), open("B.TXT", 2));
    trace.request(&first);
    trace.request(&second);
    trace.reply(&reply(&second, 0));
    trace.reply(&reply(&first, 0x0005_0001));
    let told = all(trace, &lines);
    let texts: Vec<String> = told.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{texts:?}");
    assert!(texts[0].starts_with("[1] OPEN path=\"B.TXT\" mode=0x42 (tid="));
    assert!(texts[0].contains("mid=0x0002): OK in "), "{}", texts[0]);
    assert!(texts[1].contains("path=\"A.TXT\"") && texts[1].contains("Access denied."));
    assert!(texts[1].ends_with(" µs"));
}

#[test]
fn only_the_classes_that_are_wanted_are_logged() {
    let (trace, lines) = traced("log level = 1 auth:3", false);
    let mut trace = trace.unwrap();
    let set_up = message(code::SESSION_SETUP_ANDX, 9, |out| {
        out.u8(0).u16(0);
    });
    trace.request(&open("A.TXT", 1));
    trace.request(&set_up);
    trace.reply(&reply(&set_up, 0));
    let told = all(trace, &lines);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].to_string().contains("SESSION_SETUP_ANDX"));
}

#[test]
fn a_request_without_an_answer_is_logged_when_the_connection_ends() {
    let (trace, lines) = traced("log level = 3", false);
    let mut trace = trace.unwrap();
    for mid in 0..(WAITING as u16 + 5) {
        trace.request(&open("A.TXT", mid));
    }
    assert_eq!(trace.waiting.len(), WAITING);
    trace.end();
    let told = all(trace, &lines);
    assert_eq!(told.len(), WAITING + 5);
    assert!(
        told.iter()
            .all(|line| line.to_string().contains("no reply"))
    );
}

#[test]
fn level_ten_has_the_headers_fields_and_every_byte_of_an_ordinary_message() {
    let (trace, lines) = traced("log level = 10", false);
    let mut trace = trace.unwrap();
    trace.request(&open("A.TXT", 1));
    let told = all(trace, &lines);
    let text = told[0].to_string();
    assert!(text.starts_with("[1] in: OPEN status=0x00000000"), "{text}");
    assert!(text.contains("0021  42 00 16 00"), "{text}");
    assert!(text.contains("04 41 2e 54 58 54 00"), "{text}");
    assert!(text.contains(".A.TXT."));
}

/// Every message that carries a secret, as clients of the time send it.
fn secrets() -> Vec<Vec<u8>> {
    use session_setup_andx::Credentials;
    let set_up = |credentials: Credentials<'_>| {
        let account = match credentials {
            Credentials::Extended { .. } => None,
            _ => Some(oem(b"ANNA")),
        };
        message(code::SESSION_SETUP_ANDX, 1, |out| {
            session_setup_andx::Request {
                max_buffer: 4356,
                max_mpx: 2,
                vc_number: 0,
                session_key: 0,
                capabilities: 0,
                credentials,
                account,
                domain: account.map(|_| oem(b"HOME")),
                native_os: Some(oem(b"DOS")),
                native_lan_man: Some(oem(b"LM")),
            }
            .emit(out);
        })
    };
    let token = [b"NTLMSSP\0", PASSWORD].concat();
    vec![
        set_up(Credentials::Lanman { password: PASSWORD }),
        set_up(Credentials::Nt {
            oem_password: PASSWORD,
            unicode_password: PASSWORD,
        }),
        set_up(Credentials::Extended { token: &token }),
        message(code::TREE_CONNECT, 1, |out| {
            tree_connect::Request {
                path: oem(b"DATA"),
                password: oem(PASSWORD),
                service: oem(b"A:"),
            }
            .emit(out);
        }),
        message(code::TREE_CONNECT_ANDX, 1, |out| {
            tree_connect_andx::Request {
                flags: 0,
                password: PASSWORD,
                path: oem(b"DATA"),
                service: oem(b"A:"),
            }
            .emit(out);
        }),
        rap(115),
        rap(132),
        rap(214),
        bind(&token),
    ]
}

/// A change or a check of a password over RAP (NetUserPasswordSet2, NetWkstaUserLogon, SamOEMChangePassword).
fn rap(function: u16) -> Vec<u8> {
    let parameters = [&function.to_le_bytes(), b"zsb16b16\0\0ANNA\0".as_slice()].concat();
    message(code::TRANSACTION, 1, |out| {
        let name = oem(b"\\PIPE\\LANMAN");
        coax_wire::smb::named_pipe::request(name, &[], &parameters, PASSWORD, (4, 0)).emit(out);
    })
}

/// A pipe bind that carries its own authentication.
fn bind(token: &[u8]) -> Vec<u8> {
    message(code::WRITE, 1, |out| {
        out.u8(5).zeros(10).u16(token.len() as u16 + 3);
        out.u8(1).u16(token.len() as u16).bytes(token);
    })
}

/// Whether `text` contains eight consecutive bytes of the password, as text or in hexadecimal.
fn leaks(text: &str) -> bool {
    let hex = |part: &[u8]| {
        let bytes: Vec<String> = part.iter().map(|byte| format!("{byte:02x}")).collect();
        bytes.join(" ")
    };
    PASSWORD
        .windows(4)
        .any(|part| text.contains(&hex(part)) || text.contains(std::str::from_utf8(part).unwrap()))
}

#[test]
fn no_password_and_no_token_is_shown_at_any_level() {
    assert!(leaks("a password: Qx7#vK2!") && leaks("78 37 23 76"));
    for level in [3, 10] {
        for secret in secrets() {
            let (trace, lines) = traced(&format!("log level = {level}"), false);
            let mut trace = trace.unwrap();
            trace.request(&secret);
            trace.end();
            for line in all(trace, &lines) {
                let json = serde_json::to_string(&line).unwrap();
                assert!(!leaks(&line.to_string()) && !leaks(&json), "{line}");
            }
        }
    }
}

#[test]
fn a_chain_that_ends_in_a_tree_connect_shows_the_rest_and_not_its_password() {
    let mut chained = message(code::OPEN_ANDX, 1, |out| {
        out.u8(15)
            .u8(code::TREE_CONNECT_ANDX)
            .u8(0)
            .u16(0)
            .zeros(26)
            .u16(2)
            .bytes(b"A\0");
    });
    let next = chained.len() as u16;
    chained[35..37].copy_from_slice(&next.to_le_bytes());
    let mut out = Writer::default();
    tree_connect_andx::Request {
        flags: 0,
        password: PASSWORD,
        path: oem(b"DATA"),
        service: oem(b"A:"),
    }
    .emit(&mut out);
    chained.extend(out.into_vec());
    let (trace, lines) = traced("log level = 10", false);
    let mut trace = trace.unwrap();
    trace.request(&chained);
    trace.end();
    let told = all(trace, &lines);
    let text: String = told.iter().map(ToString::to_string).collect();
    assert!(
        text.contains("OPEN_ANDX path=\"A\"") && text.contains("TREE_CONNECT_ANDX share=\"DATA\"")
    );
    assert!(
        text.contains("bytes withheld: authentication data") && !leaks(&text),
        "{text}"
    );
}

#[test]
fn bytes_outside_all_blocks_are_not_shown() {
    let mut malformed = open("A.TXT", 1);
    malformed.extend(PASSWORD);
    let text = dump::message(code::OPEN, &malformed, 0);
    assert!(text.contains("24 bytes outside of any block"), "{text}");
    assert!(!leaks(&text));
    assert!(!leaks(&dump::message(
        code::SESSION_SETUP_ANDX,
        &[PASSWORD, PASSWORD].concat(),
        0
    )));
}

#[test]
fn a_client_is_chosen_by_number_address_or_name() {
    let address = "[::ffff:10.0.0.7]:1025";
    let of = |text: &str, name| {
        let choice = text.parse().unwrap();
        Selection::of(Some(&choice), 3, address, name)
    };
    assert_eq!(Selection::of(None, 3, address, None), Selection::Yes);
    assert_eq!(
        [of("3", None), of("4", None)],
        [Selection::Yes, Selection::No]
    );
    assert_eq!(of("10.0.0.7", None), Selection::Yes);
    assert_eq!(of("10.0.0.8", None), Selection::No);
    assert_eq!(of("win98", None), Selection::Undecided);
    assert_eq!(of("win98", Some("WIN98")), Selection::Yes);
    assert_eq!(of("win98", Some("")), Selection::No);
}
