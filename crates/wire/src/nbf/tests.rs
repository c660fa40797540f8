#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use alloc::vec;

const N1: NbName = NbName(*b"CLIENT          ");
const N2: NbName = NbName(*b"SERVER          ");

/// The example byte strings of SC30-3587 §5.6.
#[test]
fn name_frames_have_the_bytes_of_ibms_examples() {
    let mut query = NameFrame::new(NameCommand::NameQuery, N2, N1);
    (query.data2, query.response) = (1, 2);
    let mut wanted = vec![0x2c, 0, 0xff, 0xef, 0x0a, 0, 1, 0, 0, 0, 2, 0];
    wanted.extend_from_slice(&N2.0);
    wanted.extend_from_slice(&N1.0);
    assert_eq!(query.emit(), wanted);
    let Frame::Name(read) = Frame::parse(&wanted).unwrap() else {
        panic!("a frame of a session");
    };
    assert_eq!((read, read.session(), read.is_group()), (query, 1, false));
    let mut known = NameFrame::new(NameCommand::NameRecognized, N1, N2);
    (known.data2, known.transmit, known.response) = (1, 2, 3);
    assert_eq!(
        known.emit()[..12],
        [0x2c, 0, 0xff, 0xef, 0x0e, 0, 1, 0, 2, 0, 3, 0]
    );
}

#[test]
fn session_frames_have_the_bytes_of_ibms_examples() {
    let frame = |command, data1, data2, transmit, response, destination, source| SessionFrame {
        data1,
        data2,
        transmit,
        response,
        ..SessionFrame::new(command, destination, source)
    };
    use SessionCommand::*;
    let examples = [
        (
            frame(SessionInitialize, 0x0f, 0x062e, 3, 4, 1, 2),
            [0x19, 0x0f, 0x2e, 6, 3, 0, 4, 0, 1, 2],
        ),
        (
            frame(SessionConfirm, 1, 0x062e, 4, 3, 2, 1),
            [0x17, 1, 0x2e, 6, 4, 0, 3, 0, 2, 1],
        ),
        (
            frame(DataOnlyLast, 0, 0, 0, 4, 2, 1),
            [0x16, 0, 0, 0, 0, 0, 4, 0, 2, 1],
        ),
        (
            frame(DataAck, 0, 0, 4, 0, 1, 2),
            [0x14, 0, 0, 0, 4, 0, 0, 0, 1, 2],
        ),
    ];
    for (frame, rest) in examples {
        let header = frame.header();
        assert_eq!(header[..4], [0x0e, 0, 0xff, 0xef]);
        assert_eq!(header[4..], rest);
        assert_eq!(Frame::parse(&header).unwrap(), Frame::Session(frame));
    }
}

#[test]
fn every_command_is_read_as_it_is_written() {
    for (command, code) in NameCommand::CODES {
        let bytes = NameFrame::new(command, N1, N2).emit();
        assert_eq!(bytes[4], code);
        let Frame::Name(frame) = Frame::parse(&bytes).unwrap() else {
            panic!("{command:?}");
        };
        assert_eq!(frame.command, command);
    }
    let known = (0..=255).filter_map(SessionCommand::from_code);
    assert_eq!(known.clone().count(), 10);
    assert!(
        known
            .clone()
            .all(|c| SessionCommand::from_code(c as u8) == Some(c))
    );
}

#[test]
fn what_is_no_netbios_frame_is_refused() {
    let good = SessionFrame::new(SessionCommand::DataAck, 1, 2).header();
    for (at, value) in [(0, 13), (2, 0), (4, 0x12), (4, 0x0a)] {
        let mut bad = good;
        bad[at] = value;
        assert!(Frame::parse(&bad).is_err(), "byte {at}");
    }
    for len in 0..good.len() {
        assert!(Frame::parse(&good[..len]).is_err());
    }
}

#[test]
fn a_status_is_read_as_it_is_written_and_has_ibms_size() {
    let status = AdapterStatus {
        mac: Mac([2, 0, 0, 0, 0, 1]),
        sessions: 3,
        max_sessions: 254,
        t1_timeouts: 7,
        max_piece: 1482,
        max_datagram: 1453,
        names: vec![(N1, false)],
    };
    let bytes = status.emit();
    // IBM's example has 0x4E bytes for one name.
    assert_eq!(bytes.len(), 0x4e);
    assert_eq!(AdapterStatus::parse(&bytes).unwrap(), status);
    assert!(AdapterStatus::parse(&bytes[..59]).is_err());
    let name = name_number_1(status.mac).0;
    assert_eq!(name[10..], status.mac.0);
}
