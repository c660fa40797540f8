//! Servers that answer unlike the protocol's description, and answers that wait for an event.

use coax_explain::{Cause, report::Capture};
use coax_wire::command::{NT_TRANSACT, WRITE_RAW};

use crate::common::talk::*;

/// A raw write of 1,000 bytes with the request and 2,000 behind the interim response, with or without the reply bit.
fn raw_write(has_reply_bit: bool) -> Capture {
    let mut talk = Talk::on(139);
    talk.open(1, 7, 0);
    let words = [7, 3000, 0, 0, 0, 0, 0, 0, 0, 0, 1000, 59];
    let asked = Message::new(WRITE_RAW, 2).words(&words).data(&[b'a'; 1000]);
    let interim = Message::new(WRITE_RAW, 2).words(&[0xffff]);
    let interim = if has_reply_bit {
        interim.answer()
    } else {
        interim.bytes()
    };
    let mut data = 2000_u32.to_be_bytes().to_vec();
    data.resize(2004, b'a');
    talk.say(0, &asked.bytes()).say(1, &interim).say(0, &data);
    talk.close(3, 7).explained()
}

#[test]
fn smbd_s_interim_response_without_a_reply_bit_is_one() {
    let [by_smbd, by_others] = [false, true].map(raw_write);
    let told = |capture: &Capture| {
        let [copy] = &capture.copies[..] else {
            panic!("{} copies", capture.copies.len());
        };
        (copy.bytes, copy.wall, copy.account)
    };
    assert_eq!(told(&by_smbd).0, 3000);
    assert_eq!(told(&by_smbd), told(&by_others));
}

/// The shares of a copy in which the server answers a NOTIFY_CHANGE or an ordinary request after 200 ms, in milliseconds of
/// client and server processing.
fn waited(is_notify: bool) -> [u64; 2] {
    let mut talk = Talk::on(445);
    talk.open(1, 7, 9000);
    talk.exchange(&read(2, 7, 0, 500), &brought(2, 500));
    let mut words = [0; 23];
    // [MS-CIFS] 2.2.7.4.1: NOTIFY_CHANGE is function 4; function 2 is IOCTL
    (words[17], words[18]) = (0x400, if is_notify { 4 } else { 2 });
    let asked = Message::new(NT_TRANSACT, 90).words(&words);
    talk.say(0, &asked.bytes()).wait(200_000);
    talk.say(1, &Message::new(NT_TRANSACT, 90).words(&[0; 18]).answer());
    talk.exchange(&read(3, 7, 500, 500), &brought(3, 500));
    let capture = talk.close(4, 7).explained();
    [Cause::ClientThink, Cause::ServerThink]
        .map(|cause| capture.copies[0].account.get(cause).0 / 1_000_000)
}

#[test]
fn a_server_that_reports_a_change_in_a_folder_was_not_busy_until_then() {
    let [client, server] = waited(true);
    assert!(client >= 200 && server < 20, "{client} {server}");
    let [client, server] = waited(false);
    assert!(client < 20 && server >= 200, "{client} {server}");
}
