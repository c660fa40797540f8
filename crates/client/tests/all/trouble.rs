//! Servers that refuse requests, stop replying, close the connection or send invalid data.

use coax_client::{
    Changed, CopySpec, Error, Event, JobId, Operation, Outcome, Unfit,
    profile::{Fact, Profile},
};
use coax_server::config::{Config, Signing};
use coax_wire::{
    command,
    dialect::Generation,
    header::{Flags, Flags2, Header},
    io::Writer,
    status::Status,
    time::Span,
};
use std::sync::Arc;

use crate::pair::{Pair, noise, profile};

const LEN: usize = 300_000;

fn get() -> Operation {
    Operation::Copy(CopySpec::get("F.BIN"))
}

fn put() -> Operation {
    Operation::Copy(CopySpec::put("F.BIN", LEN as u64))
}

fn raw() -> Arc<Profile> {
    profile("ms-net-3.11-full")
}

fn with_file(profile: Arc<Profile>) -> Pair {
    let pair = Pair::new(profile);
    pair.fs.add_file("F.BIN", &noise(LEN)).unwrap();
    pair
}

/// Applies `change` to the `n`-th message that is data or a reply of `command`, counted from 0.
fn on(
    pair: &mut Pair,
    command: u8,
    n: usize,
    change: impl Fn(Vec<u8>) -> Option<Vec<u8>> + 'static,
) {
    let mut seen = 0;
    pair.tamper = Some(Box::new(move |message| {
        let header = Header::parse(&message)
            .ok()
            .filter(|header| header.flags.has(Flags::REPLY));
        let is_it = match header {
            Some(header) => header.command == command,
            None => command == command::READ_RAW,
        };
        if !is_it {
            return Some(message);
        }
        seen += 1;
        if seen == n + 1 {
            change(message)
        } else {
            Some(message)
        }
    }));
}

/// The same reply with only a status.
fn refusal(message: &[u8], command: u8, status: Status) -> Vec<u8> {
    let header = Header::parse(message).unwrap();
    let header = Header {
        command,
        status: status.to_wire(false),
        flags: Flags(Flags::REPLY),
        ..header
    };
    let mut out = Writer::default();
    header.emit(&mut out);
    out.u8(0).u16(0);
    out.into_vec()
}

#[test]
fn an_empty_raw_read_is_followed_by_a_plain_one_and_the_copy_is_whole() {
    let mut pair = with_file(raw());
    on(&mut pair, command::READ_RAW, 2, |_| Some(Vec::new()));
    pair.run(get(), &[]).unwrap();
    assert!(pair.local() == noise(LEN));
    let mix = pair.mix();
    assert!(
        mix.contains_key("READ") || mix.contains_key("READ_ANDX"),
        "{mix:?}"
    );
    assert!(
        mix["READ_RAW"].0 > 3,
        "raw mode must be used again: {mix:?}"
    );
}

#[test]
fn a_short_raw_read_loses_nothing() {
    let mut pair = with_file(raw());
    on(&mut pair, command::READ_RAW, 1, |mut data| {
        data.truncate(1000);
        Some(data)
    });
    pair.run(get(), &[]).unwrap();
    assert!(pair.local() == noise(LEN));
}

#[test]
fn a_raw_write_that_the_server_will_not_take_goes_by_plain_ones() {
    for status in [Status::USE_STANDARD, Status::USE_MPX] {
        let mut pair = Pair::new(raw());
        let mut seen = 0;
        pair.intercept = Some(Box::new(move |message| {
            seen += usize::from(message.get(4) == Some(&command::WRITE_RAW));
            let is_it = seen == 2 && message.get(4) == Some(&command::WRITE_RAW);
            is_it.then(|| refusal(message, command::WRITE_COMPLETE, status))
        }));
        pair.run(put(), &noise(LEN)).unwrap();
        assert!(pair.fs.contents("F.BIN").unwrap() == noise(LEN));
        let mix = pair.mix();
        assert!(
            mix.contains_key("WRITE") || mix.contains_key("WRITE_ANDX"),
            "{mix:?}"
        );
    }
}

#[test]
fn a_full_disk_at_a_raw_write_is_an_error_and_not_a_reason_to_try_plain_ones() {
    let mut pair = Pair::new(raw());
    on(&mut pair, command::WRITE_RAW, 1, |message| {
        Some(refusal(
            &message,
            command::WRITE_COMPLETE,
            Status::DISK_FULL,
        ))
    });
    let error = pair.run(put(), &noise(LEN)).unwrap_err();
    assert_eq!(error.status(), Some(Status::DISK_FULL), "{error}");
}

#[test]
fn a_server_that_falls_silent_is_named_with_what_it_owes() {
    let mut pair = with_file(profile("modern"));
    on(&mut pair, command::READ_ANDX, 0, |_| None);
    let job = pair.client.submit(pair.now, get(), &mut pair.files);
    for _ in 0..20 {
        pair.turn();
    }
    let due = pair.client.poll_timeout().unwrap();
    pair.client
        .handle_timeout(due + Span::from_secs(60), &mut pair.files);
    pair.turn();
    let silent = |event: &Event| matches!(event, Event::Done { job: of, result: Err(Error::Silent { command: command::READ_ANDX, .. }) } if *of == job);
    assert!(pair.events.iter().any(silent), "{:?}", pair.events);
    assert!(pair.client.is_closed());
}

#[test]
fn a_connection_cut_in_a_copy_ends_every_operation_with_what_waited() {
    let mut pair = with_file(profile("modern"));
    on(&mut pair, command::READ_ANDX, 0, |_| None);
    pair.client.submit(pair.now, get(), &mut pair.files);
    pair.client
        .submit(pair.now, Operation::DiskSpace, &mut pair.files);
    for _ in 0..20 {
        pair.turn();
    }
    pair.client.handle_eof(pair.now, &mut pair.files);
    pair.turn();
    for job in [JobId(1), JobId(2)] {
        let cut = |event: &Event| matches!(event, Event::Done { job: of, result: Err(Error::Closed { waiting: Some(command::READ_ANDX) }) } if *of == job);
        assert!(pair.events.iter().any(cut), "{:?}", pair.events);
    }
    let late = pair
        .client
        .submit(pair.now, Operation::DiskSpace, &mut pair.files);
    pair.turn();
    assert!(
        pair.events
            .iter()
            .any(|event| matches!(event, Event::Done { job, result: Err(_) } if *job == late))
    );
}

#[test]
fn a_reply_cut_anywhere_or_of_another_command_is_an_error_and_no_panic() {
    for command in [
        command::NEGOTIATE,
        command::SESSION_SETUP_ANDX,
        command::TREE_CONNECT_ANDX,
        command::NT_CREATE_ANDX,
        command::READ_ANDX,
    ] {
        for cut in (0..200).step_by(7) {
            let mut pair = with_file(profile("modern"));
            on(&mut pair, command, 0, move |mut message| {
                message.truncate(cut);
                Some(message)
            });
            // A cut after the relevant fields causes no error.
            let _ = pair.run(get(), &[]);
        }
    }
    let mut pair = with_file(profile("modern"));
    on(&mut pair, command::NT_CREATE_ANDX, 0, |mut message| {
        message[4] = command::CLOSE;
        Some(message)
    });
    assert!(matches!(pair.run(get(), &[]), Err(Error::Protocol(_))));
}

#[test]
fn more_data_than_was_asked_for_is_refused() {
    let mut pair = with_file(raw());
    on(&mut pair, command::READ_RAW, 0, |mut data| {
        data.extend([0; 500]);
        Some(data)
    });
    assert!(matches!(pair.run(get(), &[]), Err(Error::Protocol(_))));
}

#[test]
fn a_guest_cannot_use_a_server_that_insists_on_signatures() {
    let config = Config {
        signing: Signing::Required,
        ..Config::default()
    };
    let mut pair = Pair::with(profile("modern"), config, |target| {
        target.credentials.user.clear()
    });
    let error = pair.run(Operation::DiskSpace, &[]).unwrap_err();
    assert!(matches!(error, Error::Unfit(_)), "{error}");
}

#[test]
fn a_server_without_a_common_dialect_is_reported() {
    let mut pair = Pair::with(
        profile("ps2-opl"),
        Config {
            max_generation: coax_wire::dialect::Generation::Lanman1,
            ..Config::default()
        },
        |_| {},
    );
    let error = pair.run(Operation::DiskSpace, &[]).unwrap_err();
    let Error::Dialect { offered } = &error else {
        panic!("{error}")
    };
    assert_eq!(offered, &["NT LM 0.12"]);
}

#[test]
fn a_file_shorter_than_announced_is_reported() {
    // Offset of the end of file in NT_CREATE_ANDX's reply, bytes from the header.
    const END_OF_FILE: std::ops::Range<usize> = 88..96;
    let mut pair = with_file(profile("modern"));
    on(&mut pair, command::NT_CREATE_ANDX, 0, |mut message| {
        message[END_OF_FILE].copy_from_slice(&(LEN as u64 + 1000).to_le_bytes());
        Some(message)
    });
    let error = pair.run(get(), &[]).unwrap_err();
    let expected = Changed {
        expected: LEN as u64 + 1000,
        found: LEN as u64,
    };
    assert_eq!(error, Error::Changed(expected));
}

/// Changes every reply of `command` before the client receives it.
fn change(pair: &mut Pair, command: u8, change: impl Fn(&mut Vec<u8>) + 'static) {
    pair.tamper = Some(Box::new(move |mut message| {
        let header = Header::parse(&message).ok();
        if header.is_some_and(|header| header.command == command) {
            change(&mut message);
        }
        Some(message)
    }));
}

#[test]
fn an_interim_response_without_the_reply_flag_is_accepted() {
    let mut pair = Pair::new(raw());
    change(&mut pair, command::WRITE_RAW, |message| message[9] &= 0x7f);
    pair.run(put(), &noise(LEN)).unwrap();
    assert!(pair.fs.contents("F.BIN").unwrap() == noise(LEN));
}

#[test]
fn a_raw_writes_last_reply_is_known_by_its_place_whatever_command_it_names() {
    let mut pair = Pair::new(raw());
    change(&mut pair, command::WRITE_COMPLETE, |message| {
        message[4] = command::WRITE_RAW
    });
    pair.run(put(), &noise(LEN)).unwrap();
    assert!(pair.fs.contents("F.BIN").unwrap() == noise(LEN));
}

/// Converts the final reply to a raw write into smbd's form: with the request's command, and with the byte count or an
/// error.
fn last_reply(status: u32, count: u16) -> impl Fn(&mut Vec<u8>) {
    move |message| {
        message[4] = command::WRITE_RAW;
        message[5..9].copy_from_slice(&status.to_le_bytes());
        message[33..35].copy_from_slice(&count.to_le_bytes());
    }
}

#[test]
fn smbds_final_reply_to_a_raw_write_contains_the_count() {
    let mut pair = Pair::new(raw());
    change(&mut pair, command::WRITE_COMPLETE, last_reply(0, 1000));
    let error = pair.run(put(), &noise(LEN)).unwrap_err();
    let Error::NoRoomLeft { sent, taken: 1000 } = error else {
        panic!("{error}");
    };
    assert_eq!(sent, 65_024);
}

#[test]
fn an_error_in_a_raw_writes_last_reply_in_smbds_form_is_no_reason_to_try_plain_ones() {
    let mut pair = Pair::new(raw());
    let full = Status::DISK_FULL.to_wire(false);
    change(&mut pair, command::WRITE_COMPLETE, last_reply(full, 0));
    let error = pair.run(put(), &noise(LEN)).unwrap_err();
    assert_eq!(
        error.status().map(Status::dos),
        Some(Status::DISK_FULL.dos())
    );
    let mix = pair.mix();
    assert!(mix.contains_key("WRITE_RAW"), "{mix:?}");
    assert!(
        !mix.contains_key("WRITE") && !mix.contains_key("WRITE_ANDX"),
        "{mix:?}"
    );
}

#[test]
fn names_are_not_read_as_unicode_by_a_redirector_that_did_not_ask_for_it() {
    let mut pair = with_file(profile("smbclient-1999"));
    change(&mut pair, command::TRANSACTION2, |message| {
        let flags2 = Header::parse(message).unwrap().flags2.0 | Flags2::UNICODE;
        message[10..12].copy_from_slice(&flags2.to_le_bytes());
    });
    let outcome = pair
        .run(
            Operation::List {
                pattern: "*".into(),
            },
            &[],
        )
        .unwrap();
    let Outcome::Entries(entries) = outcome else {
        panic!("{outcome:?}");
    };
    assert!(
        entries.iter().any(|entry| entry.name == "F.BIN"),
        "{entries:?}"
    );
}

#[test]
fn a_watch_may_end_under_the_cancels_name() {
    let mut pair = Pair::new(profile("nt-4-explorer"));
    change(&mut pair, command::NT_TRANSACT, |message| {
        let cancelled = Header::parse(message).unwrap().status != 0;
        message[4] = if cancelled {
            command::NT_CANCEL
        } else {
            message[4]
        };
    });
    for _ in 0..2 {
        pair.run(put(), &noise(LEN)).unwrap();
    }
    assert!(pair.fs.contents("F.BIN").unwrap() == noise(LEN));
}

#[test]
fn an_open_reply_without_a_length_does_not_mean_an_empty_file() {
    for name in ["ps2-opl", "windows-95"] {
        let mut pair = with_file(profile(name));
        // the file's size is 12 bytes after the start of the words
        change(&mut pair, command::OPEN_ANDX, |message| {
            message[45..49].fill(0)
        });
        pair.run(get(), &[]).unwrap();
        assert!(pair.local() == noise(LEN), "{name}");
    }
}

/// A profile that sends data in the request for a raw write, even if only a few bytes fit.
fn raw_with_data() -> Arc<Profile> {
    let mut profile = raw();
    let own = Arc::make_mut(&mut profile);
    own.write.data_with_raw_request = Fact::chosen(true, "asked about here");
    own.raw.write_at_least = Fact::chosen(0, "asked about here");
    profile
}

/// [MS-CIFS] 3.2.5.18: a Final Server Response ends the command at any time.
#[test]
fn a_raw_write_whose_data_came_with_its_request_is_done_with_the_only_reply() {
    let mut pair = Pair::new(raw_with_data());
    let small = Operation::Copy(CopySpec::put("F.BIN", 1000));
    pair.run(small, &noise(1000)).unwrap();
    assert!(pair.fs.contents("F.BIN").unwrap() == noise(1000));
    let mix = pair.mix();
    assert!(mix.contains_key("WRITE_RAW"), "{mix:?}");
    assert!(
        !mix.contains_key("WRITE") && !mix.contains_key("WRITE_ANDX"),
        "no block may be sent again: {mix:?}"
    );
}

#[test]
fn a_short_count_in_a_single_raw_write_reply_is_a_full_disk() {
    let mut pair = Pair::new(raw_with_data());
    change(&mut pair, command::WRITE_COMPLETE, |message| {
        message[33..35].copy_from_slice(&10_u16.to_le_bytes());
    });
    let small = Operation::Copy(CopySpec::put("F.BIN", 1000));
    let error = pair.run(small, &noise(1000)).unwrap_err();
    let Error::NoRoomLeft { sent, taken } = error else {
        panic!("{error}");
    };
    assert_eq!((sent, taken), (1000, 10));
}

/// Offset of the size's lowest byte in the replies to OPEN and OPEN_ANDX ([MS-CIFS] 2.2.4.3.2, 2.2.4.41.2).
const OPENED_SIZE: [(u8, usize); 2] = [(command::OPEN, 41), (command::OPEN_ANDX, 45)];

#[test]
fn a_size_modulo_four_gib_is_an_error_and_no_short_copy() {
    for (generation, (command, at)) in [Generation::Core, Generation::Lanman1]
        .into_iter()
        .zip(OPENED_SIZE)
    {
        let config = Config {
            max_generation: generation,
            ..Config::default()
        };
        let mut pair = Pair::with(profile("modern"), config, |_| {});
        pair.run(put(), &noise(LEN)).unwrap();
        let get = |checks_end| {
            Operation::Copy(CopySpec {
                checks_end,
                ..CopySpec::get("F.BIN")
            })
        };
        pair.run(get(true), &[]).unwrap();
        assert!(pair.local() == noise(LEN));
        change(&mut pair, command, move |message| {
            message[at..at + 4].copy_from_slice(&100u32.to_le_bytes());
        });
        pair.run(get(false), &[]).unwrap();
        assert_eq!(pair.local().len(), 100);
        let error = pair.run(get(true), &[]).unwrap_err();
        assert!(matches!(error, Error::Unfit(Unfit::TooLarge(_))), "{error}");
    }
}
