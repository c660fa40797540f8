//! What is invalid is noted at its field, and nowhere else.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use crate::{
    Context, Decoded, Value, datagram, name_packet, netbeui_frame, session_packet, smb_message,
};

/// An SMB message: the command, the flags, what follows the header.
fn message(command: u8, flags: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0xff, b'S', b'M', b'B', command, 0, 0, 0, 0, flags];
    bytes.resize(32, 0);
    bytes.extend(body);
    bytes
}

fn smb(command: u8, flags: u8, body: &[u8]) -> Decoded {
    smb_message(&message(command, flags, body), &mut Context::default())
}

/// Names and texts of all problems.
fn problems(decoded: &Decoded) -> Vec<(&'static str, &str)> {
    decoded
        .problems()
        .map(|field| (field.name, field.problem.as_deref().unwrap()))
        .collect()
}

const CLOSE: u8 = 0x04;
const OPEN: u8 = 0x02;
const READ_ANDX: u8 = 0x2e;

#[test]
fn a_sound_message_has_no_problem() {
    let open = smb(OPEN, 0, &[2, 0x42, 0, 0x16, 0, 4, 0, 4, b'A', b'.', 0]);
    assert_eq!(problems(&open), []);
    assert_eq!(open.title, "OPEN request");
    assert_eq!(
        open.field("AccessMode").unwrap().meaning,
        "AccessMode=read-write SharingMode=deny-none ReferenceLocality=unknown CacheMode=cached WritethroughMode=write-behind"
    );
    assert_eq!(
        open.field("SearchAttributes").unwrap().meaning,
        "HIDDEN SYSTEM DIRECTORY"
    );
    assert_eq!(
        open.field("FileName").unwrap().value,
        Value::Text("A.".to_owned())
    );
}

#[test]
fn a_header_that_is_cut_is_decoded_as_far_as_it_goes() {
    let mut whole = message(READ_ANDX, 0, &[0, 0, 0]);
    // STATUS_ACCESS_DENIED, NT status
    whole[5..9].copy_from_slice(&0xc000_0022_u32.to_le_bytes());
    whole[11] |= 0x40;
    let meaning = |len: usize, name: &str| {
        let cut = smb_message(&whole[..len], &mut Context::default());
        cut.field(name).map(|field| field.meaning.clone())
    };
    let denied = meaning(32, "Status").unwrap();
    assert!(denied.contains("ACCESS_DENIED"), "{denied}");
    for len in [12, 18, 31] {
        assert_eq!(meaning(len, "Command").as_deref(), Some("READ_ANDX"));
        assert_eq!(meaning(len, "Status"), Some(denied.clone()));
    }
    // without Flags2 nobody knows what kind of status it is
    assert_eq!(meaning(11, "Status").as_deref(), Some(""));
    assert_eq!(meaning(5, "Command").as_deref(), Some("READ_ANDX"));
    assert_eq!(meaning(4, "Command").as_deref(), Some(""));
}

#[test]
fn counts_and_formats_that_are_wrong_are_noted() {
    let words = smb(CLOSE, 0, &[2, 1, 0, 0, 0, 0, 0]);
    assert_eq!(problems(&words), [("WordCount", "should be 3")]);
    let bytes = smb(CLOSE, 0, &[3, 1, 0, 0, 0, 0, 0, 9, 0]);
    assert_eq!(problems(&bytes), [("ByteCount", "only 0 bytes follow")]);
    let format = smb(OPEN, 0, &[2, 0, 0, 0, 0, 3, 0, 7, b'A', 0]);
    assert_eq!(problems(&format), [("BufferFormat", "should be 4")]);
    let short = smb(OPEN, 0, &[2, 0, 0, 0]);
    assert_eq!(short.problems().next().unwrap().name, "SearchAttributes");
    assert_eq!(
        problems(&smb(0x99, 0, &[0, 0, 0])),
        [("Command", "no such command")]
    );
}

#[test]
fn chains_that_point_backwards_or_outside_are_noted_and_end() {
    for (offset, problem) in [
        (40_u16, "points into the block before it, which ends at 59"),
        (4000, "outside the message of 59 bytes"),
    ] {
        let mut body = vec![10, READ_ANDX, 0];
        body.extend(offset.to_le_bytes());
        body.resize(1 + 20 + 2 + 4, 0);
        body[21] = 4;
        let chain = smb(READ_ANDX, 0, &body);
        assert_eq!(problems(&chain), [("AndXOffset", problem)]);
        assert_eq!(
            chain
                .fields
                .iter()
                .filter(|field| field.name == "READ_ANDX")
                .count(),
            1
        );
    }
}

#[test]
fn the_reply_of_a_transaction_is_decoded_by_its_request() {
    let mut body = vec![15];
    for word in [2_u16, 0, 2, 40, 0, 0, 0, 0, 0, 2, 68, 0, 70, 1, 3] {
        body.extend(word.to_le_bytes());
    }
    body.extend([5, 0, 0, 0, 0, 1, 0]);
    let request = message(0x32, 0, &body);
    let mut reply = vec![10];
    for word in [0_u16, 18, 0, 0, 55, 0, 18, 56, 0, 0] {
        reply.extend(word.to_le_bytes());
    }
    reply.extend([19, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0]);
    reply.extend([200, 0, 0, 0, 100, 0, 0, 0, 0, 2]);
    let reply = message(0x32, 0x80, &reply);
    let mut context = Context::default();
    let asked = smb_message(&request, &mut context);
    assert_eq!(
        (
            asked.field("Setup").unwrap().meaning.as_str(),
            problems(&asked)
        ),
        ("QUERY_FS_INFORMATION", vec![])
    );
    let known = smb_message(&reply, &mut context);
    assert_eq!(
        known.field("cUnitAvailable").unwrap().value,
        Value::Number(100)
    );
    let unknown = smb_message(&reply, &mut Context::default());
    assert!(unknown.field("cUnitAvailable").is_none() && unknown.field("Data").is_some());
}

/// A request of TRANSACTION2 SET_PATH_INFORMATION with its data in parts of `len` bytes; `skip` leaves one part out.
fn in_parts(len: usize, skip: usize) -> Vec<Decoded> {
    let parameters = [1, 1, 0, 0, 0, 0, b'A', 0];
    let data: Vec<u8> = (1..=40).collect();
    let mut context = Context::default();
    let mut decoded = Vec::new();
    for (number, part) in data.chunks(len).enumerate() {
        let at = number * len;
        let (count, total) = (part.len() as u16, data.len() as u16);
        let mut body;
        if number == 0 {
            body = vec![15];
            for word in [8, total, 2, 0, 0, 0, 0, 0, 0, 8, 68, count, 76, 1, 6] {
                body.extend(u16::to_le_bytes(word));
            }
            body.extend((count + 11).to_le_bytes());
            body.extend([0; 3]);
            body.extend(parameters);
        } else {
            body = vec![9];
            for word in [8, total, 0, 0, 0, count, 53, at as u16, 0xffff] {
                body.extend(u16::to_le_bytes(word));
            }
            body.extend(count.to_le_bytes());
        }
        body.extend(part);
        if number != skip {
            let command = if number == 0 { 0x32 } else { 0x33 };
            decoded.push(smb_message(&message(command, 0, &body), &mut context));
        }
    }
    decoded
}

#[test]
fn later_parts_of_a_transaction_are_decoded_with_those_before() {
    for len in 1..40 {
        let parts = in_parts(len, usize::MAX);
        let mut found = Vec::new();
        for part in &parts {
            assert_eq!(problems(part), [], "{len}");
            let whole = part
                .fields
                .iter()
                .filter(|field| !field.meaning.starts_with("continued"));
            found.extend(
                whole
                    .filter(|field| field.value != Value::Group && field.depth > 1)
                    .filter_map(|field| {
                        let names = [
                            "CreationTime",
                            "LastAccessTime",
                            "LastWriteTime",
                            "ChangeTime",
                        ];
                        names.contains(&field.name).then_some(field.name)
                    }),
            );
        }
        assert_eq!(
            found,
            [
                "CreationTime",
                "LastAccessTime",
                "LastWriteTime",
                "ChangeTime"
            ],
            "{len}"
        );
        let last = parts
            .iter()
            .rev()
            .find_map(|part| part.field("ExtFileAttributes"));
        assert_eq!(last.unwrap().value, Value::Hex(0x2423_2221, 4), "{len}");
    }
}

#[test]
fn parts_behind_one_that_is_missing_are_bytes() {
    let parts = in_parts(10, 1);
    assert_eq!(parts.len(), 3);
    for part in &parts[1..] {
        assert!(part.field("Unused").is_some() && part.field("LastWriteTime").is_none());
        assert_eq!(problems(part), []);
    }
}

#[test]
fn packets_of_netbios_are_decoded_and_their_faults_noted() {
    let mut context = Context::default();
    assert_eq!(
        session_packet(&[0x85, 0, 0, 0], &mut context).title,
        "session keep-alive"
    );
    let long = session_packet(&[0x85, 0, 0, 9], &mut context);
    assert_eq!(problems(&long), [("Length", "0 bytes follow")]);
    assert_eq!(
        problems(&session_packet(&[7, 0, 0, 0], &mut context)),
        [("Type", "no such type")]
    );
    assert_eq!(
        problems(&name_packet(&[0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 5]))[0].0,
        "QUESTION_NAME"
    );
    assert_eq!(problems(&datagram(&[0x11, 2, 0]))[0].0, "DGM_ID");
    let frame = [14, 0, 0xff, 0xee, 0x1f, 0, 0, 0, 0, 0, 0, 0, 1, 2];
    assert_eq!(
        problems(&netbeui_frame(&frame, &mut context)),
        [("Signature", "should be 0xefff")]
    );
}

#[test]
fn a_message_with_too_many_fields_says_that_it_was_cut() {
    let dialects = [2, b'A', 0].repeat(20_000);
    let mut body = vec![0];
    body.extend((dialects.len() as u16).to_le_bytes());
    body.extend(dialects);
    let cut = smb(0x72, 0, &body);
    assert!(cut.is_cut && cut.fields.len() == 20_000);
    assert!(!smb(CLOSE, 0, &[3, 1, 0, 0, 0, 0, 0, 0, 0]).is_cut);
}
