//! The account between two messages.

use super::*;

#[test]
fn a_look_charges_the_wait_that_is_not_over_and_changes_nothing() {
    let at = |ms: u64| Time(ms * MS);
    let kernel = Kernel {
        rtt: ms(1),
        min_rtt: ms(1),
        ..far()
    };
    let mut meter = Meter::new(at(0));
    let read = message(0x2e, &[0xff, 0, 7, 0, 0, 1000, 0, 0, 0, 0]);
    for request in 0..20 {
        let now = at(request * 10);
        if meter.received(now, read.len(), true) {
            meter.sample(now, kernel);
        }
        meter.request(now, Request::of(&read));
        meter.served(now, false);
        meter.handed(now, 1000, true, None);
    }
    let before = meter.clone();
    let looked = meter.clone().looked_at(at(190 + 900), kernel);
    let copy = looked.copy().unwrap();
    assert_eq!(copy.wall(), ms(190 + 900), "up to the look");
    assert_eq!(copy.account.total(), copy.wall());
    assert!(copy.account.get(Cause::ClientThink) >= ms(900));
    assert_eq!(meter.copy(), before.copy());
    // the request that ends the wait makes the same account
    let now = at(190 + 900);
    assert!(meter.received(now, read.len(), true));
    meter.sample(now, kernel);
    assert_eq!(meter.copy().unwrap().wall(), copy.wall());
    let think = |meter: &Meter| meter.copy().unwrap().account.get(Cause::ClientThink);
    assert_eq!(think(&meter), think(&looked));
}

#[test]
fn a_look_at_an_idle_client_charges_nothing() {
    let at = |ms: u64| Time(ms * MS);
    let mut meter = Meter::new(at(0));
    let close = message(0x04, &[7, 0, 0]);
    meter.received(at(0), close.len(), true);
    meter.request(at(0), Request::of(&close));
    meter.served(at(0), false);
    meter.handed(at(0), 39, true, None);
    let looked = meter.clone().looked_at(at(20_000), far());
    assert_eq!(
        looked.recent(at(20_000), crate::MINUTE),
        meter.recent(at(20_000), crate::MINUTE)
    );
}

proptest! {
    /// Whatever happened before, a look at any time keeps the parts of a copy equal to its time.
    #[test]
    fn a_look_at_any_time_keeps_the_sum(
        steps in prop::collection::vec((0_u8..5, 0_u64..400, any::<bool>()), 1..60),
        later in 0_u64..40_000,
    ) {
        let mut meter = Meter::new(Time(0));
        let mut now = Time(0);
        let read = message(0x2e, &[0xff, 0, 7, 0, 0, 1000, 0, 0, 0, 0]);
        for (what, pause, flag) in steps {
            now = now + ms(pause);
            match what {
                0 => { if meter.received(now, 60, flag) { meter.sample(now, far()); } }
                1 => meter.request(now, Request::of(&read)),
                2 => meter.served(now, flag),
                3 => meter.handed(now, 1000, flag, None),
                _ => meter.resumed(now),
            }
            let looked = meter.clone().looked_at(now + ms(later), far());
            if let Some(copy) = looked.copy() {
                prop_assert_eq!(copy.account.total(), copy.wall());
            }
        }
    }
}
