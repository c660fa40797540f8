//! Copies over NetBEUI: a real capture, and sessions written frame by frame whose waits are known.

use coax_explain::{
    Cause,
    report::{Capture, Copy, Transport},
};
use coax_wire::{llc::Supervisory, nbf::SessionCommand};

use crate::common::{self, explained, link::Link, link::PIECE, talk::Message};

const READ: u32 = 8000;

fn only_copy(capture: &Capture) -> &Copy {
    assert_eq!(capture.copies.len(), 1);
    let copy = &capture.copies[0];
    assert_eq!(copy.account.total(), copy.wall);
    copy
}

/// Milliseconds of a cause.
fn ms(copy: &Copy, cause: Cause) -> u64 {
    copy.account.get(cause).0 / 1_000_000
}

/// A copy of six reads; `fault` sends the answer to the fourth.
fn copy(fault: impl Fn(&mut Link, &[u8])) -> Link {
    let mut link = Link::open();
    link.wait(5000).open_file(48_000);
    for mid in 2..8 {
        let answer = link.ask(mid, (mid - 2) * READ as u16, READ);
        link.wait(700);
        match mid {
            5 => fault(&mut link, &answer),
            _ => {
                link.say(1, &answer, 100);
            }
        }
        link.wait(200);
    }
    link.close_file();
    link
}

fn plain(link: &mut Link, answer: &[u8]) {
    link.say(1, answer, 100);
}

/// Requests and their times as tshark 4.0 has them: `tshark -r tests/captures/dos-win98-netbeui.pcap -q -z smb,srt`.
#[test]
fn the_requests_of_a_dos_client_have_the_times_of_tshark() {
    let capture = explained("dos-win98-netbeui.pcap");
    let session = &capture.connections[1];
    assert_eq!(session.transport(), Transport::NetBeui);
    assert_eq!(session.client.to_string(), "00:0c:29:d4:79:b2");
    for (command, count, total_us) in [
        ("CREATE_DIRECTORY", 1, 237),
        ("DELETE_DIRECTORY", 1, 666),
        ("CLOSE", 2, 330),
        ("DELETE", 1, 101),
        ("WRITE", 1, 194),
        ("CHECK_DIRECTORY", 1, 186),
        ("ECHO", 2, 329),
        ("OPEN_ANDX", 2, 483),
        ("TREE_DISCONNECT", 1, 157),
        ("NEGOTIATE", 1, 143),
        ("SESSION_SETUP_ANDX", 1, 175),
        ("QUERY_INFORMATION_DISK", 2, 321),
        ("SEARCH", 8, 1639),
    ] {
        let mut rows = session.requests.iter();
        let row = rows.find(|row| row.command == command).unwrap();
        let found = (row.answered, row.response_total.0 / 1000);
        assert_eq!(found, (count, total_us), "{command}");
    }
    let copy = only_copy(&capture);
    assert_eq!((copy.bytes, copy.frames), (1124, (110, 115)));
    assert_eq!(copy.account.dominant(), Cause::ClientThink);
    let [client, _] = &session.parties;
    assert_eq!(client.profile.as_deref(), Some("ms-net-3.11-full"));
    let netbios = session.netbios.as_ref().unwrap();
    let names = [Some("TEST1<00>".to_owned()), Some("MDJR98<20>".to_owned())];
    assert_eq!(netbios.names, names);
    // I frames by direction, and acknowledgments of messages, as tshark counts them
    let frames = netbios.sides.map(|side| (side.frames, side.message_acks));
    assert_eq!(frames, [(36, 10), (25, 0)]);
    assert_eq!(netbios.sides.map(|side| side.again), [0, 0]);
}

/// An ECHO that nobody answers, repeated 12 times over IPX.
#[test]
fn requests_on_ipx_that_nobody_answers_are_repeated_requests() {
    let capture = explained("dos-win98-netbeui.pcap");
    let session = &capture.connections[0];
    assert_eq!(session.transport(), Transport::DirectIpx);
    assert_eq!(session.asked.0, 1);
    let netbios = session.netbios.as_ref().unwrap();
    assert_eq!((netbios.sides[0].frames, netbios.sides[0].again), (1, 12));
    assert_eq!(session.sides[0].again.needless, 0);
}

/// A client ends its session right behind its last request: the answer was on its way.
#[test]
fn an_answer_behind_the_end_of_its_session_belongs_to_it() {
    let mut link = Link::open();
    let last = Message::new(coax_wire::command::TREE_DISCONNECT, 9);
    for session in 0..2 {
        if session > 0 {
            link.session(0, SessionCommand::SessionInitialize);
            link.wait(300).session(1, SessionCommand::SessionConfirm);
        }
        link.wait(200).open_file(48_000);
        link.say(0, &last.bytes()[4..], 100);
        link.session(0, SessionCommand::SessionEnd);
        link.wait(400).say(1, &last.answer()[4..], 100).rr(0);
    }
    let capture = link.explained();
    assert_eq!(capture.connections.len(), 2);
    for session in &capture.connections {
        let rows = session.requests.iter();
        let found: Vec<(&str, u64)> = rows.map(|row| (&*row.command, row.answered)).collect();
        assert_eq!(found, [("OPEN_ANDX", 1), ("TREE_DISCONNECT", 1)]);
        let row = &session.requests[1];
        // the request's frame takes 1.3 ms
        assert_eq!((row.unanswered, row.response_total.0), (0, 1_700_000));
    }
}

#[test]
fn bytes_frames_and_times_of_a_copy_without_faults_are_exact() {
    let capture = copy(plain).explained();
    let copy = only_copy(&capture);
    assert_eq!(
        (copy.bytes, copy.name.as_deref()),
        (48_000, Some("\\A.TXT"))
    );
    assert_eq!(ms(copy, Cause::Timeout) + ms(copy, Cause::FastRecovery), 0);
    assert_eq!(copy.account.get(Cause::SlowStart).0, 0);
    let session = &capture.connections[0];
    assert_eq!(
        session.netbios.as_ref().unwrap().sides.map(|it| it.again),
        [0, 0]
    );
    assert_eq!(session.sides[1].largest_segment as usize, PIECE);
}

/// The second frame of the answer is lost on its way to the client: it rejects, and the server goes back.
#[test]
fn a_rejected_frame_is_recovered_without_a_timer() {
    let link = copy(|link, answer| {
        let pieces: Vec<&[u8]> = answer.chunks(PIECE).collect();
        link.piece(1, pieces[0], (false, false), true);
        link.wait(1300).piece(1, pieces[1], (false, false), false);
        link.wait(1300).piece(1, pieces[2], (false, false), false);
        link.wait(300)
            .supervisory(0, Supervisory::Rej, (false, true));
        link.wait(20_000).go_back(1);
        for (place, piece) in pieces.iter().enumerate().skip(1) {
            link.piece(1, piece, (place + 1 == pieces.len(), false), true);
            link.wait(1300);
        }
    });
    let capture = link.explained();
    let copy = only_copy(&capture);
    assert_eq!(ms(copy, Cause::Timeout), 0);
    assert!(
        (19..=30).contains(&ms(copy, Cause::FastRecovery)),
        "{:?}",
        copy.account
    );
    let server = capture.connections[0].netbios.as_ref().unwrap().sides[1];
    let client = capture.connections[0].netbios.as_ref().unwrap().sides[0];
    assert_eq!((server.again, client.rejects), (2, 1));
    assert_eq!(capture.connections[0].sides[1].again.fast, 2);
    assert_eq!(copy.bytes, 48_000);
}

/// The same seen at the client, where the lost frame is not captured and the one behind it comes for nothing.
#[test]
fn a_frame_that_was_lost_before_the_capture_is_recovered_too() {
    let mut lost = 0;
    let link = copy(|link, answer| {
        let pieces: Vec<&[u8]> = answer.chunks(PIECE).collect();
        link.piece(1, pieces[0], (false, false), true);
        link.wait(1300).piece(1, pieces[1], (false, false), false);
        link.wait(1300).piece(1, pieces[2], (false, false), false);
        link.wait(30)
            .supervisory(0, Supervisory::Rej, (false, true));
        link.wait(20_000).go_back(1);
        for (place, piece) in pieces.iter().enumerate().skip(1) {
            link.piece(1, piece, (place + 1 == pieces.len(), false), true);
            link.wait(1300);
        }
    });
    for (place, packet) in link.packets.iter().enumerate() {
        let is_reject = packet.bytes[14..17] == [0xf0, 0xf1, 0x09];
        if is_reject {
            lost = place - 2;
        }
    }
    let capture = link.explained_without(|place| place == lost);
    let copy = only_copy(&capture);
    let repaired = ms(copy, Cause::FastRecovery) + ms(copy, Cause::Timeout);
    assert!((19..=30).contains(&repaired), "{:?}", copy.account);
    assert_eq!(copy.bytes, 48_000);
    assert_eq!(capture.quality.missing_bytes, 0);
    assert_eq!(
        capture.connections[0].netbios.as_ref().unwrap().sides[1].again,
        2
    );
}

/// The last frame of the answer is lost: the server's T1 expires after 600 ms, it polls, and sends the frame again.
#[test]
fn an_expired_timer_is_charged_to_the_timer() {
    let link = copy(|link, answer| {
        let pieces: Vec<&[u8]> = answer.chunks(PIECE).collect();
        for piece in &pieces[..pieces.len() - 1] {
            link.piece(1, piece, (false, false), true);
            link.wait(1300);
        }
        let last = pieces[pieces.len() - 1];
        link.piece(1, last, (true, false), false);
        link.wait(600_000)
            .supervisory(1, Supervisory::Rr, (true, false));
        link.wait(50).supervisory(0, Supervisory::Rr, (true, true));
        link.wait(300).go_back(1);
        link.piece(1, last, (true, false), true);
        link.wait(1300);
    });
    let capture = link.explained();
    let copy = only_copy(&capture);
    assert!(
        (590..=602).contains(&ms(copy, Cause::Timeout)),
        "{:?}",
        copy.account
    );
    assert_eq!(copy.account.dominant(), Cause::Timeout);
    let netbios = capture.connections[0].netbios.as_ref().unwrap();
    assert_eq!((netbios.sides[1].again, netbios.sides[1].polls), (1, 1));
}

/// The client says that it takes nothing, and goes on 80 ms later.
#[test]
fn a_receiver_that_is_not_ready_is_waited_for() {
    let link = copy(|link, answer| {
        let pieces: Vec<&[u8]> = answer.chunks(PIECE).collect();
        link.piece(1, pieces[0], (false, false), true);
        link.wait(50)
            .supervisory(0, Supervisory::Rnr, (false, true));
        link.wait(80_000).rr(0);
        link.wait(400);
        for (place, piece) in pieces.iter().enumerate().skip(1) {
            link.piece(1, piece, (place + 1 == pieces.len(), false), true);
            link.wait(1300);
        }
    });
    let capture = link.explained();
    let copy = only_copy(&capture);
    assert!(ms(copy, Cause::ClientThink) >= 78, "{:?}", copy.account);
    assert_eq!(
        capture.connections[0].netbios.as_ref().unwrap().sides[0].busy,
        1
    );
}

/// The server asks for leave after the first piece; the client gives it 30 ms later.
#[test]
fn leave_to_go_on_after_the_first_piece_is_waited_for() {
    let link = copy(|link, answer| {
        let pieces: Vec<&[u8]> = answer.chunks(PIECE).collect();
        link.piece(1, pieces[0], (false, true), true);
        link.wait(30_000)
            .session(0, SessionCommand::ReceiveContinue);
        link.wait(350);
        for (place, piece) in pieces.iter().enumerate().skip(1) {
            link.piece(1, piece, (place + 1 == pieces.len(), false), true);
            link.wait(1300);
        }
    });
    let capture = link.explained();
    let copy = only_copy(&capture);
    assert!(
        (28..=31).contains(&ms(copy, Cause::ReceiveWindow)),
        "{:?}",
        copy.account
    );
}

/// A window of one frame, and a client that acknowledges each after 100 ms.
#[test]
fn late_acknowledgments_of_a_window_of_one_are_delayed_acknowledgments() {
    let link = copy(|link, answer| {
        let pieces: Vec<&[u8]> = answer.chunks(PIECE).collect();
        for (place, piece) in pieces.iter().enumerate() {
            link.piece(1, piece, (place + 1 == pieces.len(), false), true);
            if place + 1 < pieces.len() {
                link.wait(100_000).rr(0);
                // the round trip, and what the path takes to carry the frame
                link.wait(1700);
            }
        }
    });
    let capture = link.explained();
    let copy = only_copy(&capture);
    assert!(
        (480..=502).contains(&ms(copy, Cause::NagleDelayedAck)),
        "{:?}",
        copy.account
    );
    assert_eq!(
        capture.connections[0].netbios.as_ref().unwrap().sides[1].most_unacknowledged,
        6
    );
}

/// The server's second message may go only when the first was acknowledged, 110 ms later.
#[test]
fn the_acknowledgment_of_a_message_is_waited_for() {
    let mut link = Link::open();
    link.wait(5000).open_file(16_000);
    let first = link.ask(2, 0, READ);
    let second = link.ask(3, READ as u16, READ);
    link.wait(700).say(1, &first, 100);
    link.wait(110_000).session(0, SessionCommand::DataAck);
    link.wait(300).say(1, &second, 100);
    link.wait(200).close_file();
    let capture = link.explained();
    let copy = only_copy(&capture);
    assert!(
        (105..=111).contains(&ms(copy, Cause::NagleDelayedAck)),
        "{:?}",
        copy.account
    );
}

#[test]
fn frames_that_the_capture_lacks_are_no_losses() {
    let link = copy(plain);
    let whole = link.explained();
    let middle = link.packets.len() / 2;
    let capture = link.explained_without(|place| place == middle);
    let session = &capture.connections[0];
    assert_eq!(
        session.netbios.as_ref().unwrap().sides.map(|it| it.again),
        [0, 0]
    );
    for copy in &capture.copies {
        assert_eq!(copy.account.total(), copy.wall);
        assert_eq!(ms(copy, Cause::Timeout) + ms(copy, Cause::FastRecovery), 0);
    }
    assert_eq!(whole.quality.holes, 0);
    // the next frame of the same side is seen as new, or what it belongs to is known to be missing
    assert!(capture.quality.holes <= 1);
}

#[test]
fn a_capture_that_begins_in_a_session_knows_who_the_client_is() {
    let link = copy(plain);
    let capture = link.explained_without(|place| place < 12);
    let session = &capture.connections[0];
    assert_eq!(session.client.to_string(), "02:00:00:00:00:01");
    assert!(!session.has_start);
    let copy = &capture.copies[0];
    assert_eq!(copy.account.total(), copy.wall);
    assert!(copy.bytes >= 40_000);
}

/// A byte of each frame of the real capture changed, and frames cut: nothing panics, and all accounts add up.
#[test]
fn damaged_frames_leave_every_account_exact() {
    let (link, packets) = common::packets::packets(&common::bytes("dos-win98-netbeui.pcap"));
    let mut seed = 1_u64;
    for _ in 0..150 {
        let mut damaged = packets.clone();
        for packet in &mut damaged {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (place, value) = (
                (seed >> 33) as usize % packet.bytes.len(),
                (seed >> 24) as u8,
            );
            match seed >> 61 {
                0 => packet.bytes[place] = value,
                1 => packet.bytes.truncate(place),
                _ => {}
            }
        }
        let capture = common::packets::analyse(link, &damaged);
        for copy in &capture.copies {
            assert_eq!(copy.account.total(), copy.wall);
        }
    }
}

/// Reads over a long path, with a window of two frames. The acknowledgment comes after `ack_us`, and what it lets go after `then_us`.
fn far_copy(mut link: Link, (ack_us, then_us): (u64, u64)) -> Capture {
    link.wait(30_000).open_file_in(48_000, 30_000);
    for mid in 2..8 {
        link.wait(30_000);
        let answer = link.ask(mid, (mid - 2) * READ as u16, READ);
        link.wait(30_000);
        let pieces = answer.chunks(PIECE).count();
        for (place, piece) in answer.chunks(PIECE).enumerate() {
            let ends = place + 1 == pieces;
            link.piece(1, piece, (ends, false), true);
            link.wait(20);
            if place % 2 == 1 && !ends {
                link.wait(ack_us).rr(0);
                link.wait(then_us);
            }
        }
    }
    link.explained()
}

/// The server answers requests in 500 us, so nothing but its reaction to acknowledgments shows how near it is.
#[test]
fn a_server_next_to_the_capture_that_waits_for_acknowledgments_does_not_work() {
    let capture = far_copy(Link::open_between(30_000, 500), (30_000, 80));
    let copy = only_copy(&capture);
    // 6 reads of 6 frames, 2 acknowledgments each
    let (window, think) = (ms(copy, Cause::SendWindow), ms(copy, Cause::ServerThink));
    assert!(window >= 300, "{:?}", copy.account);
    assert!(think < 250, "only before the answers: {:?}", copy.account);
}

/// What a sender takes longer than the way there and back, after an acknowledgment that it had to wait for, is its own.
#[test]
fn a_late_reaction_to_an_acknowledgment_is_processing_only_beyond_the_round_trip() {
    let capture = far_copy(Link::open_between(50, 30_000), (50, 35_000));
    let copy = only_copy(&capture);
    let (window, think) = (ms(copy, Cause::SendWindow), ms(copy, Cause::ServerThink));
    assert!((340..=380).contains(&window), "{:?}", copy.account);
    assert!(think < 80, "{:?}", copy.account);
}
