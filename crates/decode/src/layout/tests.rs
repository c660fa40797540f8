//! The tables can be read, and agree with themselves.

#![allow(clippy::unwrap_used)]

use super::{Condition, Item, Kind, Tables};

fn tables() -> Tables {
    Tables::parse().unwrap()
}

#[test]
fn the_words_of_each_layout_are_as_many_as_its_word_count() {
    let tables = tables();
    let mut checked = 0;
    for layout in tables.layouts() {
        for (_, count) in layout.word_counts() {
            let exists =
                |item: &&Item| !matches!(item.condition, Condition::Words(from) if *count < from);
            let bytes: usize = layout
                .words
                .iter()
                .filter(exists)
                .map(|item| item.kind.fixed_len().unwrap())
                .sum();
            assert_eq!(
                bytes,
                usize::from(*count) * 2,
                "{} with {count} words",
                layout.name
            );
            checked += 1;
        }
    }
    assert!(checked > 90, "{checked}");
}

#[test]
fn fields_refer_to_fields_before_them_and_to_lists_that_exist() {
    let tables = tables();
    for layout in tables.layouts() {
        let mut before = Vec::new();
        for item in layout.words.iter().chain(&layout.bytes) {
            for field in item.kind.refers_to() {
                assert!(
                    before.contains(&field),
                    "{}: {} refers to {field}",
                    layout.name,
                    item.name
                );
            }
            if let Condition::Bit { field, .. } = item.condition {
                assert!(
                    before.contains(&field),
                    "{}: {} depends on {field}",
                    layout.name,
                    item.name
                );
            }
            if let Kind::Hex(_, Some(list)) | Kind::BigHex(_, Some(list)) = item.kind {
                assert!(
                    tables.names(list).is_some(),
                    "{}: there is no list {list}",
                    layout.name
                );
            }
            before.push(item.name);
        }
    }
}

#[test]
fn every_command_that_coax_serves_has_a_request() {
    let tables = tables();
    for command in coax_wire::command::COMMANDS {
        let code = command.code;
        let has_request = (0..=u8::MAX).any(|count| {
            tables
                .block(code, super::Direction::Request, count)
                .is_some()
        });
        let is_reply = [
            "WRITE_COMPLETE",
            "READ_MPX_SECONDARY",
            "WRITE_MPX_SECONDARY",
            "IOCTL_SECONDARY",
        ]
        .contains(&command.name);
        assert!(has_request || is_reply, "{}", command.name);
    }
}
