//! Conversations written message by message: which request an answer is to, what belongs to which copy, and how long a
//! message may be.

use coax_explain::{
    Cause,
    report::{Capture, Protocol, Requests},
};
use coax_wire::command::{
    ECHO, LOCKING_ANDX, NT_CANCEL, OPEN_ANDX, READ_ANDX, READ_MPX, READ_RAW, SESSION_SETUP_ANDX,
    TRANSACTION2, TRANSACTION2_SECONDARY, TREE_CONNECT_ANDX, WRITE_AND_CLOSE, WRITE_ANDX,
    WRITE_COMPLETE, WRITE_MPX, WRITE_PRINT_FILE, WRITE_RAW,
};

use crate::common::talk::*;

#[test]
fn a_message_s_length_has_24_bits_on_445_and_17_on_139() {
    const LONG: u32 = 200_000;
    let told = |port| {
        let mut talk = Talk::on(port);
        talk.open(1, 7, 0);
        talk.exchange(&read(2, 7, 0, LONG), &brought(2, LONG));
        talk.close(3, 7).explained()
    };
    let direct = told(445);
    assert_eq!(direct.copies[0].bytes, u64::from(LONG));
    assert_eq!(direct.quality.skipped_bytes, 0);
    let netbios = told(139);
    assert!(netbios.copies.is_empty());
    assert!(netbios.quality.skipped_bytes > u64::from(LONG) / 2);
}

#[test]
fn a_read_of_256_kib_and_more_is_counted_with_all_its_bytes() {
    for long in [262_143, 262_144, 400_000, 1_048_576] {
        let mut talk = Talk::on(445);
        talk.open(1, 7, 0);
        talk.exchange(&read(2, 7, 0, long), &brought(2, long));
        let capture = talk.close(3, 7).explained();
        assert_eq!(capture.copies[0].bytes, u64::from(long));
    }
}

#[test]
fn the_longest_copy_is_listed_behind_as_many_others_as_are_kept() {
    const KEPT: usize = 20_000;
    let mut talk = Talk::on(445);
    for _ in 0..KEPT {
        talk.open(1, 7, 10);
        talk.exchange(&read(2, 7, 0, 10), &brought(2, 10))
            .close(3, 7);
    }
    talk.open(1, 7, 1000).say(0, &read(2, 7, 0, 1000).bytes());
    talk.wait(500_000).say(1, &brought(2, 1000).answer());
    let capture = talk.close(3, 7).explained();
    assert_eq!((capture.copies.len(), capture.copies_left_out), (KEPT, 1));
    let longest = capture.copies.iter().max_by_key(|copy| copy.wall);
    assert_eq!(longest.unwrap().bytes, 1000);
}

/// What of the only copy's time nobody knows what it was spent on, for the capture lacks something, ms.
fn lacking_ms(talk: &Talk) -> u64 {
    let capture = talk.explained();
    assert_eq!((capture.quality.holes, capture.copies.len()), (1, 1));
    assert_eq!(capture.copies[0].account.total(), capture.copies[0].wall);
    capture.copies[0].account.get(Cause::Capture).0 / 1_000_000
}

#[test]
fn what_follows_an_answer_that_the_capture_lacks_is_the_capture_s_however_often_it_was_acknowledged()
 {
    let lost = |acks_us: &[u64]| {
        let mut talk = Talk::on(445);
        talk.open(1, 7, 9000);
        for mid in 2..=3 {
            talk.exchange(&read(mid, 7, 0, 1000), &brought(mid, 1000));
        }
        talk.say(0, &read(4, 7, 1000, 1000).bytes());
        talk.miss(1, &brought(4, 1000).answer());
        for wait_us in acks_us {
            talk.wait(*wait_us).acknowledge(0);
        }
        talk.wait(500_000);
        talk.exchange(&read(5, 7, 2000, 1000), &brought(5, 1000));
        talk.close(6, 7);
        lacking_ms(&talk)
    };
    // none but with the next request; one; one so much later that the hole is given up
    for acks_us in [&[][..], &[1000], &[1000, 10_000]] {
        let lacking = lost(acks_us);
        assert!((500..520).contains(&lacking), "{acks_us:?}: {lacking}");
    }
}

/// What was asked for by a command on the only connection.
fn row(capture: &Capture, command: &str) -> Requests {
    let [connection] = &capture.connections[..] else {
        panic!("{} connections", capture.connections.len());
    };
    let row = connection
        .requests
        .iter()
        .find(|row| row.command == command);
    row.unwrap_or_else(|| panic!("no {command} in {:?}", connection.requests))
        .clone()
}

/// How many there were, how many of them were refused, and how many had no answer.
fn counts(capture: &Capture, command: &str) -> (u64, u64, u64) {
    let row = row(capture, command);
    (row.count, row.refused, row.unanswered)
}

pub fn echo(mid: u16, count: u16) -> Message {
    Message::new(ECHO, mid).words(&[count]).data(b"x")
}

#[test]
fn two_echoes_may_wait_under_one_number_and_any_other_request_of_a_number_replaces_the_one_before()
{
    let mut talk = Talk::on(445);
    for _ in 0..2 {
        talk.say(0, &echo(7, 1).bytes());
    }
    for _ in 0..2 {
        talk.say(1, &echo(7, 1).answer());
    }
    talk.say(0, &read(8, 7, 0, 500).bytes());
    talk.exchange(&read(8, 7, 0, 500), &brought(8, 500));
    let capture = talk.explained();
    assert_eq!(counts(&capture, "ECHO"), (2, 0, 0));
    assert_eq!(counts(&capture, "READ_ANDX"), (2, 0, 1));
}

#[test]
fn an_echo_is_answered_when_the_last_of_its_answers_came_and_one_that_wants_none_lacks_none() {
    let mut talk = Talk::on(445);
    talk.say(0, &echo(1, 3).bytes());
    for number in 1..=3 {
        talk.say(1, &echo(1, number).answer());
    }
    let told = row(&talk.explained(), "ECHO");
    assert_eq!((told.count, told.unanswered), (1, 0));
    assert_eq!(told.response_total.0 / 1_000_000, 3);
    let mut talk = Talk::on(445);
    talk.say(0, &echo(1, 0).bytes())
        .exchange(&echo(2, 1), &echo(2, 1));
    assert_eq!(counts(&talk.explained(), "ECHO"), (2, 0, 0));
}

#[test]
fn what_wants_no_answer_lacks_none() {
    // LOCKING_ANDX that gives an oplock back, and no lock ([MS-CIFS] 2.2.4.32.1)
    let release = Message::new(LOCKING_ANDX, 3).words(&[0xff, 0, 7, 0x02, 0, 0, 0, 0]);
    let lock = Message::new(LOCKING_ANDX, 4)
        .words(&[0xff, 0, 7, 0, 0, 0, 0, 1])
        .data(&[0; 10]);
    let mut talk = Talk::on(445);
    talk.open(1, 7, 500)
        .say(0, &Message::new(NT_CANCEL, 2).bytes());
    talk.say(0, &release.bytes()).say(0, &lock.bytes());
    let capture = talk.close(5, 7).explained();
    assert_eq!(counts(&capture, "NT_CANCEL"), (1, 0, 0));
    assert_eq!(counts(&capture, "LOCKING_ANDX"), (2, 0, 1));
}

#[test]
fn requests_of_two_processes_may_have_one_number() {
    let mut talk = Talk::on(445);
    talk.open(1, 7, 3000);
    let asked = [(100, 0, 1000), (200, 1000, 2000)];
    for (pid, offset, count) in asked {
        talk.say(0, &read(2, 7, offset, count).pid(pid).bytes());
    }
    for (pid, _, count) in asked.into_iter().rev() {
        talk.say(1, &brought(2, count).pid(pid).answer());
    }
    let capture = talk.close(3, 7).explained();
    assert_eq!(counts(&capture, "READ_ANDX"), (2, 0, 0));
    assert_eq!(
        (capture.copies[0].bytes, capture.copies[0].holes),
        (3000, (0, 0))
    );
}

#[test]
fn errors_are_refusals_and_warnings_and_half_a_log_on_are_none() {
    let answer = Message::new(SESSION_SETUP_ANDX, 1);
    // [MS-ERREF] 2.3.1: access denied; buffer overflow; more processing required; and ERRDOS of old servers
    for (told, refused) in [
        (answer.clone().status(0xc000_0022), 1),
        (answer.clone().status(0x8000_0005), 0),
        (answer.clone().status(0xc000_0016), 0),
        (answer.clone().dos_status(1, 5), 1),
    ] {
        let mut talk = Talk::on(445);
        let capture = talk.exchange(&answer, &told).explained();
        assert_eq!(counts(&capture, "SESSION_SETUP_ANDX"), (1, refused, 0));
    }
}

/// A raw read of 3,000 bytes while other things go on between request and data.
fn raw_read(between: &[(usize, Vec<u8>)]) -> Capture {
    let mut talk = Talk::on(139);
    talk.open(1, 7, 3000);
    if let [(0, first), ..] = between {
        talk.say(0, first);
    }
    let words = [7, 0, 0, 3000, 3000, 0, 0, 0];
    talk.say(0, &Message::new(READ_RAW, 2).words(&words).bytes());
    for (_, bytes) in between.iter().filter(|it| it.0 == 1) {
        talk.say(1, bytes);
    }
    talk.say(1, &raw(3000)).close(3, 7).explained()
}

/// Headerless data in its session packet.
fn raw(len: u32) -> Vec<u8> {
    [&len.to_be_bytes()[..], &vec![b'a'; len as usize]].concat()
}

#[test]
fn the_data_of_a_raw_read_is_neither_an_oplock_s_break_nor_another_request_s_answer() {
    let alone = raw_read(&[]);
    assert_eq!(row(&alone, "READ_RAW").bytes, 3000);
    let broken = Message::new(LOCKING_ANDX, 0xffff).words(&[0xff, 0, 9, 2, 0, 0, 0, 0]);
    let capture = raw_read(&[(1, broken.bytes())]);
    assert_eq!(row(&capture, "READ_RAW").bytes, 3000);
    assert_eq!(
        capture.connections[0].smb.as_ref().unwrap().oplock_breaks,
        1
    );
    let capture = raw_read(&[(0, echo(9, 1).bytes()), (1, echo(9, 1).answer())]);
    assert_eq!(row(&capture, "READ_RAW").bytes, 3000);
    assert_eq!(counts(&capture, "ECHO"), (1, 0, 0));
}

#[test]
fn a_raw_read_without_data_is_counted_as_empty() {
    let mut talk = Talk::on(139);
    talk.open(1, 7, 3000);
    let words = [7, 0, 0, 3000, 0, 0, 0, 0];
    talk.say(0, &Message::new(READ_RAW, 2).words(&words).bytes())
        .say(1, &raw(0));
    let capture = talk.close(3, 7).explained();
    assert_eq!(
        capture.connections[0].smb.as_ref().unwrap().raw_reads,
        (1, 1)
    );
}

#[test]
fn a_raw_write_is_whole_with_its_data_or_with_the_server_s_word_that_it_is_written() {
    // 1,000 bytes with the request, 2,000 without a header; the client waits for the server's word, or does not
    for (through, is_patient, available) in [
        (0, true, 0xffff),
        (0, false, 0xffff),
        (0, false, 0),
        (1, true, 0),
        (1, false, 0xffff),
    ] {
        let mut talk = Talk::on(139);
        talk.open(1, 7, 0);
        let words = [7, 3000, 0, 0, 0, 0, 0, through, 0, 0, 1000, 59];
        let asked = Message::new(WRITE_RAW, 2).words(&words).data(&[b'a'; 1000]);
        // bytes that a pipe still holds: of a file it is to be 0xffff, and says nothing of what was written
        let go = Message::new(WRITE_RAW, 2).words(&[available]).answer();
        talk.say(0, &asked.bytes());
        if is_patient {
            talk.say(1, &go).say(0, &raw(2000));
        } else {
            talk.say(0, &raw(2000)).say(1, &go);
        }
        if through == 1 {
            talk.say(1, &Message::new(WRITE_COMPLETE, 2).words(&[3000]).answer());
        }
        let capture = talk.close(3, 7).explained();
        let told = row(&capture, "WRITE_RAW");
        assert_eq!(
            (told.bytes, told.unanswered),
            (3000, 0),
            "{through} {is_patient}"
        );
        assert_eq!(capture.copies[0].bytes, 3000, "{through} {is_patient}");
        let took_ms = told.response_total.0 / 1_000_000;
        assert!(took_ms <= 2, "{through} {is_patient}: {took_ms}");
    }
}

#[test]
fn multiplexed_reads_are_answered_in_pieces_and_writes_as_one() {
    let mut talk = Talk::on(445);
    talk.open(1, 7, 3000);
    let words = [7, 0, 0, 3000, 0, 0, 0, 0];
    talk.say(0, &Message::new(READ_MPX, 2).words(&words).bytes());
    for offset in [0, 1500] {
        let words = [offset, 0, 3000, 0, 0, 0, 1500, 52];
        let told = Message::new(READ_MPX, 2).words(&words).data(&[b'a'; 1501]);
        talk.say(1, &told.answer());
    }
    for (place, mask) in [(0_u16, 1), (1, 2), (2, 0x8004)] {
        let words = [7, 500, 0, place * 500, 0, 0, 0, 0, mask, 0, 500, 59];
        let asked = Message::new(WRITE_MPX, 3).words(&words).data(&[b'b'; 500]);
        talk.say(0, &asked.bytes());
    }
    talk.say(1, &Message::new(WRITE_MPX, 3).words(&[7, 0]).answer());
    let capture = talk.close(4, 7).explained();
    let told = row(&capture, "READ_MPX");
    assert_eq!((told.count, told.bytes, told.unanswered), (1, 3000, 0));
    assert_eq!(told.response_total.0 / 1_000_000, 2);
    let told = row(&capture, "WRITE_MPX");
    assert_eq!((told.count, told.unanswered), (1, 0));
    // from the last of them
    assert_eq!(told.response_total.0 / 1_000_000, 1);
}

#[test]
fn a_transaction_in_pieces_is_one_request_answered_at_its_end_with_words_or_without() {
    let words = [0, 3000, 10, 0, 0, 0, 0, 0, 0, 0, 68, 1000, 68, 1, 6];
    let asked = Message::new(TRANSACTION2, 2).words(&words).data(&[0; 1003]);
    let words = [0, 3000, 0, 0, 0, 2000, 54, 1000, 0];
    let more = Message::new(TRANSACTION2_SECONDARY, 2)
        .words(&words)
        .data(&[0; 2003]);
    for told in [&[0; 10][..], &[]] {
        let mut talk = Talk::on(445);
        talk.exchange(&asked, &Message::new(TRANSACTION2, 2));
        talk.say(0, &more.bytes()).wait(5000);
        talk.say(1, &Message::new(TRANSACTION2, 2).words(told).answer());
        let capture = talk.explained();
        let rows = &capture.connections[0].requests;
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!((rows[0].count, rows[0].unanswered), (1, 0), "{rows:?}");
        // from the last of its pieces
        assert_eq!(rows[0].response_total.0 / 1_000_000, 6);
    }
}

/// A message with the block of another command behind it in the chain.
fn chained(mut packet: Vec<u8>, words: &[u16], data: &[u8]) -> Vec<u8> {
    packet.push(words.len() as u8);
    packet.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    packet.extend((data.len() as u16).to_le_bytes());
    packet.extend(data);
    let len = packet.len() as u32 - 4;
    packet[..4].copy_from_slice(&len.to_be_bytes());
    packet
}

#[test]
fn a_chain_s_time_is_its_first_command_s_and_its_read_is_the_file_s_that_it_opened() {
    let mut talk = Talk::on(445);
    let (then, none) = (READ_ANDX.into(), NONE.into());
    let words = [then, 74, 0, 0x40, 0x16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    let open = Message::new(OPEN_ANDX, 1).words(&words).data(b"\\A.TXT\0");
    let words = [then, 65, 7, 0, 0, 0, 500, 0, 0, 0, 0, 1, 0, 0, 0];
    let opened = Message::new(OPEN_ANDX, 1).words(&words).answer();
    // the chain's second block begins where the first says
    assert_eq!((open.bytes().len() - 4, opened.len() - 4), (72, 65));
    let aligned = [open.bytes(), vec![0, 0]].concat();
    let words = [none, 0, 0xffff, 0, 0, 500, 500, 0, 0, 0];
    let asked = chained(aligned, &words, &[]);
    let words = [none, 0, 0, 0, 0, 500, 93, 0, 0, 0, 0, 0];
    let answer = chained(opened, &words, &[b'a'; 501]);
    let capture = talk.say(0, &asked).say(1, &answer).close(2, 7).explained();
    let copy = &capture.copies[0];
    assert_eq!((copy.bytes, copy.name.as_deref()), (500, Some("\\A.TXT")));
    assert_eq!(row(&capture, "OPEN_ANDX").answered, 1);
    let told = row(&capture, "READ_ANDX");
    assert_eq!((told.count, told.answered, told.unanswered), (1, 0, 0));
}

#[test]
fn a_number_that_is_given_anew_is_another_copy_and_one_file_is_written_and_closed_at_once() {
    let mut talk = Talk::on(445);
    // the close in between was not captured
    for mid in [1, 3] {
        talk.open(mid, 7, 500);
        talk.exchange(&read(mid + 1, 7, 0, 500), &brought(mid + 1, 500));
    }
    let words = [9, 300, 0, 0, 0, 0];
    let asked = Message::new(WRITE_AND_CLOSE, 6)
        .words(&words)
        .data(&[b'a'; 301]);
    talk.open(5, 9, 0);
    talk.exchange(&asked, &Message::new(WRITE_AND_CLOSE, 6).words(&[300]));
    let capture = talk.explained();
    let told = capture.copies.iter().map(|copy| (copy.bytes, copy.seen));
    let wanted = [
        (500, (true, false)),
        (300, (true, true)),
        (500, (true, false)),
    ];
    let mut told: Vec<_> = told.collect();
    told.sort_by_key(|copy| copy.0);
    assert_eq!(told, [wanted[1], wanted[0], wanted[2]]);
}

#[test]
fn what_goes_to_a_printer_has_no_offset_and_all_of_it_counts() {
    let mut talk = Talk::on(139);
    talk.open(1, 7, 0);
    for mid in 2..6 {
        let data = [&[1, 0xe8, 3][..], &[b'a'; 1000]].concat();
        let asked = Message::new(WRITE_PRINT_FILE, mid).words(&[7]).data(&data);
        talk.exchange(&asked, &Message::new(WRITE_PRINT_FILE, mid));
    }
    let capture = talk.close(6, 7).explained();
    assert_eq!(row(&capture, "WRITE_PRINT_FILE").bytes, 4000);
    assert_eq!(
        (capture.copies[0].bytes, capture.copies[0].moved),
        (4000, 4000)
    );
}

#[test]
fn what_was_refused_is_its_file_s_and_belongs_to_no_copy_if_no_file_is_open() {
    let mut talk = Talk::on(445);
    talk.open(1, 7, 1000);
    let refused = Message::new(READ_ANDX, 2).status(0xc000_0054);
    talk.exchange(&read(2, 7, 500, 500), &refused);
    talk.exchange(&read(3, 7, 0, 500), &brought(3, 500));
    let refused = Message::new(READ_ANDX, 4).status(0xc000_0008);
    talk.exchange(&read(4, 99, 500, 500), &refused);
    let capture = talk.close(5, 7).explained();
    let of_copy = &capture.copies[0].requests[0];
    assert_eq!(
        (of_copy.count, of_copy.refused, of_copy.usual_bytes),
        (2, 1, 500)
    );
    assert_eq!(counts(&capture, "READ_ANDX"), (3, 2, 0));
    let around = &capture.connections[0].around.requests;
    assert_eq!((around.len(), around[0].refused), (1, 1));
}

#[test]
fn bytes_that_come_twice_in_one_packet_with_new_ones_count_once() {
    let mut talk = Talk::on(445);
    talk.open(1, 7, 1000);
    let (asked, told) = (read(2, 7, 0, 500).bytes(), brought(2, 500).answer());
    talk.say(0, &asked).say(1, &told[..200]);
    talk.say_from(1, &told[100..200], &told[200..]);
    talk.exchange(&read(3, 7, 500, 500), &brought(3, 500));
    let capture = talk.close(4, 7).explained();
    assert_eq!(
        (capture.copies[0].bytes, counts(&capture, "READ_ANDX")),
        (1000, (2, 0, 0))
    );
    assert_eq!(capture.quality.skipped_bytes, 0);
}

#[test]
fn an_answer_whose_end_the_capture_lacks_is_one_all_the_same() {
    let mut talk = Talk::on(445);
    talk.open(1, 7, 4000);
    let told = brought(2, 2000).answer();
    talk.say(0, &read(2, 7, 0, 2000).bytes())
        .say(1, &told[..1460]);
    talk.miss(1, &told[1460..])
        .acknowledge(0)
        .wait(10_000)
        .acknowledge(0);
    talk.exchange(&read(3, 7, 2000, 2000), &brought(3, 2000));
    let capture = talk.close(4, 7).explained();
    let lost = told.len() as u64 - 1460;
    assert_eq!(
        (capture.quality.missing_bytes, capture.quality.holes),
        (lost, 1)
    );
    assert_eq!(
        (capture.copies[0].bytes, capture.quality.skipped_bytes),
        (4000, 0)
    );
}

#[test]
fn a_session_header_that_two_packets_share_and_neither_kept_costs_nothing() {
    let mut talk = Talk::on(445);
    talk.open(1, 7, 10_000);
    let sizes = [1394, 2000, 3000];
    for (mid, size) in (2..).zip(sizes) {
        talk.say(0, &read(mid, 7, 0, size).bytes());
    }
    let all: Vec<u8> = (2..)
        .zip(sizes)
        .flat_map(|(mid, size)| brought(mid, size).answer())
        .collect();
    // the first ends two bytes before the first packet does
    assert_eq!(brought(2, sizes[0]).answer().len(), 1458);
    talk.say_cut(1, &all, 70);
    let capture = talk.close(5, 7).explained();
    assert_eq!(row(&capture, "READ_ANDX").bytes, 6394);
    assert_eq!(counts(&capture, "READ_ANDX"), (3, 0, 0));
    assert_eq!(row(&capture, "READ_ANDX").largest_bytes, 3000);
}

#[test]
fn a_session_that_is_refused_carries_no_copy() {
    // RFC 1002 4.3.2, 4.3.4: two names of 34 bytes; "not listening on called name"
    let asked = [&[0x81, 0, 0, 68][..], &[b' '; 68]].concat();
    let mut talk = Talk::on(2139);
    let capture = talk
        .say(0, &asked)
        .say(1, &[0x83, 0, 0, 1, 0x80])
        .explained();
    assert_eq!(capture.connections[0].protocol, Protocol::Smb1);
    assert!(capture.copies.is_empty());
}

#[test]
fn smb_is_found_on_any_port_though_the_capture_began_in_the_middle_of_a_message() {
    let mut talk = Talk::on(1000);
    talk.open(1, 7, 9000);
    talk.exchange(&read(2, 7, 0, 5000), &brought(2, 5000));
    for mid in 3..6 {
        talk.exchange(&read(mid, 7, 5000, 1000), &brought(mid, 1000));
    }
    talk.close(6, 7);
    // of the handshake, the open and the long read's answer the first six packets
    let capture = talk.explained_from(3 + 2 + 1 + 2);
    assert_eq!(capture.connections[0].protocol, Protocol::Smb1);
    assert_eq!((capture.copies.len(), capture.copies[0].bytes), (1, 1000));
    assert_eq!(capture.copies[0].seen, (false, true));
}

#[test]
fn what_was_written_down_late_is_not_missing() {
    let mut talk = Talk::on(445);
    talk.open(1, 7, 9000);
    talk.say(0, &read(2, 7, 0, 2000).bytes());
    let told = brought(2, 2000).answer();
    talk.miss(1, &told[..1460])
        .say(1, &told[1460..])
        .acknowledge(0);
    // all of it once more as its first packet: the one that overtook it is known
    talk.rewind(1, told.len())
        .say(1, &told[..1460])
        .skip(1, told.len() - 1460);
    let capture = talk.close(3, 7).explained();
    assert_eq!((capture.quality.holes, capture.copies[0].bytes), (0, 2000));
}

#[test]
fn an_answer_to_nothing_is_not_kept_for_what_is_asked_later() {
    const SIZE: u16 = 2000;
    let write = |mid: u16| {
        let words = [
            NONE.into(),
            0,
            7,
            (mid - 2) * SIZE,
            0,
            0,
            0,
            0,
            0,
            0,
            SIZE,
            59,
        ];
        Message::new(WRITE_ANDX, mid)
            .words(&words)
            .data(&[b'a'; SIZE as usize])
    };
    let wrote = |mid: u16| Message::new(WRITE_ANDX, mid).words(&[NONE.into(), 0, SIZE, 0, 0, 0]);
    let mut talk = Talk::on(445);
    talk.open(1, 7, 0).say(1, &wrote(9).answer());
    talk.exchange(&write(2), &wrote(2));
    // of the last of two that leave together no header is kept
    let both = [write(3).bytes(), write(4).bytes()].concat();
    talk.say_cut(0, &both, 100);
    talk.say(1, &wrote(3).answer()).say(1, &wrote(4).answer());
    let told = row(&talk.close(5, 7).explained(), "WRITE_ANDX");
    assert_eq!((told.count, told.bytes, told.unanswered), (3, 6000, 0));
    assert_eq!(told.response_total.0 / 1_000_000, 1 + 1 + 2);
}

#[test]
fn pipes_are_no_copies_however_their_share_s_name_is_written() {
    for (path, copies) in [("\\\\S\\ipc$", 0), ("\\\\S\\IPC$", 0), ("\\\\S\\IPC", 1)] {
        let asked = Message::new(TREE_CONNECT_ANDX, 1).words(&[NONE.into(), 0, 0, 1]);
        let asked = asked.data(format!("\0{path}\0?????\0").as_bytes());
        let told = Message::new(TREE_CONNECT_ANDX, 1).words(&[NONE.into(), 0, 0]);
        let mut talk = Talk::on(445);
        talk.exchange(&asked, &told.data(b"IPC\0")).open(2, 7, 500);
        talk.exchange(&read(3, 7, 0, 500), &brought(3, 500));
        let capture = talk.close(4, 7).explained();
        assert_eq!(capture.copies.len(), copies, "{path}");
        assert_eq!(counts(&capture, "READ_ANDX"), (1, 0, 0));
    }
}
