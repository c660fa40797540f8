//! RAP with bytes as Windows 95 and LAN Manager clients send them.

use super::{descriptor, *};
use alloc::{vec, vec::Vec};
use proptest::prelude::*;

/// NetShareEnum level 1 with 4,096 bytes, as `net view \\SERVER` of Windows 95 asks.
const SHARE_ENUM: &[u8] = b"\0\0WrLeh\0B13BWz\0\x01\0\0\x10";

#[test]
fn a_windows_95_share_list_request_decodes() {
    let request = Request::parse(SHARE_ENUM).unwrap();
    assert_eq!(request.function, function::NET_SHARE_ENUM);
    assert_eq!(
        (request.level(), request.receive_bytes),
        (Some(1), Some(4096))
    );
    assert_eq!(request.values, [Value::Word(1)]);
}

#[test]
fn strings_null_pointers_and_double_words_are_distinguished() {
    let bytes = b"\x68\0WrLehDO\0B16BBDz\0\x01\0\xff\xff\xff\xff\xff\xff";
    let request = Request::parse(bytes).unwrap();
    assert_eq!((request.dword(), request.text(0)), (Some(u32::MAX), None));
    let bytes = b"\x01\0zWrLh\0B13\0PUB\0\0\0\x40\0";
    let request = Request::parse(bytes).unwrap();
    assert_eq!(
        (request.text(0), request.level()),
        (Some(&b"PUB"[..]), Some(0))
    );
}

#[test]
fn a_descriptor_that_promises_more_than_there_is_is_refused() {
    let short = SHARE_ENUM.len() - 1;
    assert!(Request::parse(&SHARE_ENUM[..short]).is_err());
    assert!(Request::parse(b"\0\0b9999\0\0abc").is_err());
    assert!(Request::parse(b"\0\0W?\0\0\0\0").is_err());
    assert!(descriptor::parse(&[b'W'; 97]).is_err());
}

fn share(name: &str, comment: &str) -> Vec<Field> {
    vec![
        Field::Text(name.into()),
        Field::Word(0),
        Field::Word(3),
        Field::Text(comment.into()),
    ]
}

#[test]
fn records_point_to_their_strings_from_the_beginning_of_the_data() {
    let items = descriptor::parse(b"B13BWz").unwrap();
    let packed = pack(&items, &[share("A", "first"), share("IPC$", "x")], 100);
    assert_eq!((packed.entries, packed.code, packed.needed), (2, 0, 48));
    assert_eq!(
        &packed.data[..20],
        b"A\0\0\0\0\0\0\0\0\0\0\0\0\0\x03\0\x28\0\0\0"
    );
    assert_eq!(&packed.data[20..25], b"IPC$\0");
    assert_eq!(&packed.data[36..], b"\x2e\0\0\0first\0x\0");
}

#[test]
fn records_beyond_the_receive_buffer_are_counted_and_omitted() {
    let items = descriptor::parse(b"B13BWz").unwrap();
    let records = [
        share("A", "first"),
        share("B", "a longer comment"),
        share("C", ""),
    ];
    let packed = pack(&items, &records, 50);
    assert_eq!((packed.entries, packed.code), (1, code::MORE_DATA));
    assert_eq!(packed.needed, 26 + 37 + 21);
    assert_eq!(packed.data.len(), 26);
}

#[test]
fn a_longer_descriptor_gets_zeros_and_a_contradicting_one_nothing() {
    let longer = descriptor::parse(b"B13BWzWWWzB9B").unwrap();
    assert_eq!(
        pack(&longer, &[share("A", "")], 100).data.len(),
        20 + 6 + 4 + 10 + 1
    );
    let wrong = descriptor::parse(b"DDDD").unwrap();
    assert_eq!(
        pack(&wrong, &[share("A", "")], 100).code,
        code::INVALID_PARAMETER
    );
}

proptest! {
    #[test]
    fn arbitrary_requests_and_descriptors_neither_panic_nor_outgrow_the_room(
        bytes in proptest::collection::vec(any::<u8>(), 0..80),
        letters in "[WDBbzOLTPNreh0-9]{0,20}",
        room in 0usize..300,
    ) {
        let _ = Request::parse(&bytes);
        if let Ok(items) = descriptor::parse(letters.as_bytes()) {
            let packed = pack(&items, &[share("name", "comment"), share("b", "")], room);
            prop_assert!(packed.data.len() <= room);
        }
    }
}
