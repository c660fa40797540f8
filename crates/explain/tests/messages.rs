//! Conversations written message by message: which request an answer is to, what belongs to which copy, and how long a
//! message may be.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod common;

use coax_explain::Cause;
use common::talk::{Talk, brought, read};

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
