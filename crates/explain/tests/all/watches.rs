//! Watches on folders: requests that wait for a change.

use coax_explain::{Cause, report::Capture};
use coax_wire::command::NT_TRANSACT;

use crate::{common::talk::*, messages::echo};

/// A NOTIFY_CHANGE request ([MS-CIFS] 2.2.7.4.1).
fn notify(mid: u16) -> Message {
    let mut words = [0; 23];
    (words[17], words[18]) = (0x400, 4);
    Message::new(NT_TRANSACT, mid).words(&words)
}

#[test]
fn a_notify_that_waits_all_the_time_changes_nothing_of_a_copy_s_account() {
    let told = |is_notified: bool| {
        let mut talk = Talk::on(445);
        let asked = if is_notified { notify(90) } else { echo(90, 0) };
        let bytes = asked.bytes();
        let mut same = bytes.clone();
        same.resize(notify(90).bytes().len(), 0);
        talk.say(0, &bytes).open(1, 7, 3000);
        for mid in 2..8 {
            talk.exchange(&read(mid, 7, 0, 500), &brought(mid, 500))
                .wait(20_000);
        }
        talk.close(9, 7).explained()
    };
    let [with, without] = [true, false].map(told);
    assert_eq!(with.copies[0].account, without.copies[0].account);
    let noted = |capture: &Capture| {
        capture.connections[0]
            .smb
            .as_ref()
            .unwrap()
            .with_notify
            .count
    };
    assert_eq!((noted(&with), noted(&without)), (6, 0));
}

#[test]
fn a_notify_behind_a_read_does_not_end_the_wait_for_its_data() {
    let metadata = |is_notified: bool| {
        let mut talk = Talk::on(445);
        talk.open(1, 7, 3000);
        for mid in 2..8 {
            talk.say(0, &read(mid, 7, 0, 500).bytes());
            if is_notified {
                talk.say(0, &notify(mid + 80).bytes());
            }
            talk.wait(450).say(1, &brought(mid, 500).answer());
        }
        let capture = talk.close(9, 7).explained();
        capture.copies[0].account.get(Cause::Metadata)
    };
    assert_eq!(metadata(true), metadata(false));
}
