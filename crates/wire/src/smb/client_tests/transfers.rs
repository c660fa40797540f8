//! Reading and writing.

use crate::{
    Error, command,
    header::Fid,
    smb::{
        flush, read, read_andx, seek,
        testkit::{block_bytes, cut_and_bent, first, message, with_header},
        write, write_andx, write_raw,
    },
    time::Utime,
};

#[test]
fn the_data_of_a_core_read_is_found_in_the_message() {
    let mut sent = message(|out| read::emit_response(5, out));
    sent.extend_from_slice(b"hello");
    cut_and_bent(&sent, |block| {
        if let Ok(reply) = read::Response::parse(block) {
            assert!(block.message.get(reply.data).is_some());
        }
    });
    let reply = read::Response::parse(&first(&sent)).unwrap();
    assert_eq!(&sent[reply.data], b"hello");
    let cut = &sent[..sent.len() - 1];
    assert_eq!(
        read::Response::parse(&first(cut)),
        Err(Error::Outside { what: "data" })
    );
}

#[test]
fn a_core_read_at_the_end_of_the_file_may_lack_its_data_block() {
    let sent = with_header(b"\x05\0\0\0\0\0\0\0\0\0\0\0\0");
    assert!(
        read::Response::parse(&first(&sent))
            .unwrap()
            .data
            .is_empty()
    );
}

#[test]
fn the_data_of_read_andx_is_located_by_its_offset() {
    let mut sent = message(|out| read_andx::emit_response(5, 0xffff, out));
    sent.extend_from_slice(b"hello");
    cut_and_bent(&sent, |block| {
        if let Ok(reply) = read_andx::Response::parse(block) {
            assert!(block.message.get(reply.data).is_some());
        }
    });
    let reply = read_andx::Response::parse(&first(&sent)).unwrap();
    assert_eq!(
        (reply.remaining, &sent[reply.data]),
        (0xffff, &b"hello"[..])
    );
}

#[test]
fn a_large_read_may_exceed_the_byte_count() {
    let mut sent = message(|out| read_andx::emit_response(0x1_0001, 0, out));
    sent.resize(sent.len() + 0x1_0001, b'x');
    let reply = read_andx::Response::parse(&first(&sent)).unwrap();
    assert_eq!((reply.data.len(), reply.data.end), (0x1_0001, sent.len()));
}

#[test]
fn garbage_in_the_high_word_of_a_short_read_is_ignored() {
    let sent =
        with_header(b"\x0c\xff\0\0\0\xff\xff\0\0\0\0\x02\0\x3b\0\xad\xde\0\0\0\0\0\0\0\0\x02\0hi");
    let reply = read_andx::Response::parse(&first(&sent)).unwrap();
    assert_eq!(&sent[reply.data], b"hi");
    let outside =
        with_header(b"\x0c\xff\0\0\0\xff\xff\0\0\0\0\x03\0\x3b\0\0\0\0\0\0\0\0\0\0\0\x02\0hi");
    assert_eq!(
        read_andx::Response::parse(&first(&outside)),
        Err(Error::Outside { what: "data" })
    );
}

#[test]
fn a_read_andx_keeps_a_pipe_timeout_and_uses_the_wide_form_on_request() {
    let request = read_andx::Request {
        fid: Fid(1),
        offset: 0,
        max_count: 1024,
        min_count: 1,
        timeout_ms: 0xffff_ffff,
    };
    for (wide, words) in [(false, 10), (true, 12)] {
        let sent = message(|out| request.emit_wide(wide, out));
        assert_eq!(first(&sent).word_count(), words);
        assert_eq!(read_andx::Request::parse(&first(&sent)), Ok(request));
    }
}

#[test]
fn a_write_with_separately_sent_data_gives_the_same_message() {
    let request = write::Request {
        fid: Fid(1),
        count: 3,
        offset: 7,
        remaining: 3,
        data: b"abc",
    };
    let whole = message(|out| request.emit(out));
    let mut parts = message(|out| request.emit_head(out));
    parts.extend_from_slice(b"abc");
    assert_eq!(parts, whole);
    assert_eq!(write::Request::parse(&first(&whole)), Ok(request));
}

#[test]
fn a_write_and_close_has_one_pad_byte() {
    let request = write::AndClose {
        fid: Fid(1),
        offset: 2,
        modified: Utime(3),
        data: b"abc",
    };
    let sent = message(|out| request.emit(out));
    assert_eq!(
        &sent[32..],
        b"\x06\x01\0\x03\0\x02\0\0\0\x03\0\0\0\x04\0\0abc"
    );
    assert_eq!(write::AndClose::parse(&first(&sent)), Ok(request));
}

#[test]
fn counts_and_positions_come_back() {
    let sent = message(|out| write::emit_response(1124, out));
    assert_eq!(write::parse_response(&first(&sent)), Ok(1124));
    let sent = message(|out| seek::emit_response(0xffff_fff0, out));
    cut_and_bent(&sent, |block| {
        let _ = seek::parse_response(block);
    });
    assert_eq!(seek::parse_response(&first(&sent)), Ok(0xffff_fff0));
    let request = seek::Request {
        fid: Fid(4),
        mode: 2,
        offset: -5,
    };
    let sent = message(|out| request.emit(out));
    assert_eq!(&sent[32..], b"\x04\x04\0\x02\0\xfb\xff\xff\xff\0\0");
    assert_eq!(seek::Request::parse(&first(&sent)), Ok(request));
    let request = flush::Request { fid: Fid(0xffff) };
    let sent = message(|out| request.emit(out));
    assert_eq!(&sent[32..], b"\x01\xff\xff\0\0");
    assert_eq!(flush::Request::parse(&first(&sent)), Ok(request));
}

#[test]
fn a_write_andx_head_of_both_forms_places_the_data_at_a_multiple_of_four() {
    for (wide, words, offset) in [(false, 12, 60), (true, 14, 64)] {
        let head = write_andx::Head {
            fid: Fid(9),
            offset: 0xffff_fff0,
            mode: write_andx::mode::WRITE_THROUGH,
            remaining: 0,
            len: 5,
        };
        let mut sent = message(|out| head.emit(wide, out));
        assert_eq!(sent.len(), offset);
        sent.extend_from_slice(b"hello");
        let block = first(&sent);
        assert_eq!((block.word_count(), block.declared_bytes), (words, 6));
        let request = write_andx::Request::parse(&block).unwrap();
        assert_eq!((request.offset, request.data), (head.offset, &b"hello"[..]));
    }
}

#[test]
fn a_write_andx_of_128_kib_encodes_its_length_in_two_words() {
    let head = write_andx::Head {
        fid: Fid(9),
        offset: 1 << 32,
        mode: 0,
        remaining: 0,
        len: 0x2_0001,
    };
    let mut sent = message(|out| head.emit(true, out));
    sent.resize(sent.len() + 0x2_0001, b'x');
    let request = write_andx::Request::parse(&first(&sent)).unwrap();
    assert_eq!((request.data.len(), request.offset), (0x2_0001, 1 << 32));
}

#[test]
fn write_andx_replies_survive_a_round_trip_and_may_lack_the_high_word() {
    let sent = message(|out| write_andx::emit_response(0x1_0002, 0xffff, out));
    cut_and_bent(&sent, |block| {
        let _ = write_andx::Response::parse(block);
    });
    let reply = write_andx::Response::parse(&first(&sent)).unwrap();
    assert_eq!((reply.count, reply.count_low()), (0x1_0002, 2));
    assert_eq!(reply.available, 0xffff);
    let short = with_header(b"\x04\xff\0\0\0\x02\0\0\0\0\0");
    assert_eq!(
        write_andx::Response::parse(&first(&short)).unwrap().count,
        2
    );
}

#[test]
fn the_replies_to_a_raw_write_are_distinguished_by_their_command() {
    use write_raw::Response;
    let bytes = block_bytes(|out| write_raw::emit_response(0xffff, out));
    assert_eq!(bytes, b"\x01\xff\xff\0\0");
    let sent = with_header(&bytes);
    let block = first(&sent);
    assert_eq!(
        Response::parse(command::WRITE_RAW, &block),
        Ok(Response::Interim { available: 0xffff })
    );
    assert_eq!(
        Response::parse(command::WRITE_COMPLETE, &block),
        Ok(Response::Complete { count: 0xffff })
    );
    assert!(Response::parse(command::WRITE, &block).is_err());
}
