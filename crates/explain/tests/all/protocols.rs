//! Connections to SMB's ports that cannot be followed as SMB1: another version, or headers that were not captured.

use crate::common::talk::*;

/// A client that offers SMB1 and a server that answers in SMB2, and 100 KB that follow.
fn smb2(dialect: u16) -> Talk {
    let mut talk = Talk::on(445);
    let message = |body: &[u8]| [&(body.len() as u32).to_be_bytes()[..], body].concat();
    let negotiate = [b"\xffSMBr".as_slice(), &[0; 40]].concat();
    let mut answer = [b"\xfeSMB".as_slice(), &[0; 120]].concat();
    answer[68..70].copy_from_slice(&dialect.to_le_bytes());
    talk.say(0, &message(&negotiate));
    talk.say(1, &message(&answer));
    for _ in 0..10 {
        talk.say(0, &message(&[b"\xfeSMB".as_slice(), &[8; 100]].concat()));
        talk.say(1, &message(&[b"\xfeSMB".as_slice(), &[9; 10_000]].concat()));
    }
    talk
}

#[test]
fn a_connection_that_becomes_one_of_smb2_is_said_to_be_one_and_is_a_transfer() {
    for (dialect, label) in [
        (0x0302, "SMB 3.0.2"),
        (0x0210, "SMB 2.1"),
        (0x02ff, "SMB2 or SMB3"),
    ] {
        let capture = smb2(dialect).explained();
        let connection = &capture.connections[0];
        assert_eq!(connection.protocol.label().as_deref(), Some(label));
        let [copy] = &capture.copies[..] else {
            panic!("{} copies", capture.copies.len());
        };
        assert!(copy.bytes > 100_000 && copy.frames.0 == 1, "{}", copy.bytes);
        assert_eq!(copy.account.total(), copy.wall);
        assert!(copy.breakdown.detail.is_some());
    }
}

#[test]
fn smb_headers_that_the_snap_length_cut_off_are_the_capture_s_fault() {
    for kept in [0, 3, 10, 30] {
        let mut talk = Talk::on(445);
        for mid in 2..20 {
            talk.say_cut(0, &read(mid, 7, 0, 1000).bytes(), kept);
            talk.say_cut(1, &brought(mid, 1000).answer(), kept);
        }
        let capture = talk.explained();
        assert_eq!(capture.quality.smb_headers_cut, 1, "{kept}");
        assert!(capture.connections[0].headers_cut);
        assert_eq!(capture.grade.name(), "poor");
        let [copy] = &capture.copies[..] else {
            panic!("{kept}: {} copies", capture.copies.len());
        };
        assert_eq!(copy.account.total(), copy.wall, "{kept}");
    }
}
