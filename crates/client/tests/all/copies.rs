//! Every redirector copies to and from servers of every dialect.

use coax_client::{CopySpec, Error, Operation, Outcome, Unfit};
use coax_server::config::Config;
use coax_wire::dialect::Generation;

use crate::pair::{Pair, noise, profile, profiles};

const GENERATIONS: [Generation; 6] = [
    Generation::Core,
    Generation::CorePlus,
    Generation::Lanman1,
    Generation::Lanman2,
    Generation::Lanman21,
    Generation::Nt,
];

fn there_and_back(pair: &mut Pair, data: &[u8], what: &str) {
    let put = Operation::Copy(CopySpec {
        modified: Some(1_000_000_000_000_000_000),
        ..CopySpec::put("UP.BIN", data.len() as u64)
    });
    let outcome = pair
        .run(put, data)
        .unwrap_or_else(|error| panic!("{what}: put: {error}"));
    let Outcome::Copied { bytes, .. } = outcome else {
        panic!("{what}: {outcome:?}")
    };
    assert_eq!(bytes, data.len() as u64, "{what}");
    assert!(
        pair.fs.contents("UP.BIN").unwrap() == data,
        "{what}: the data on the server differs"
    );
    let get = Operation::Copy(CopySpec::get("UP.BIN"));
    pair.run(get, &[])
        .unwrap_or_else(|error| panic!("{what}: get: {error}"));
    assert!(pair.local() == data, "{what}: the returned data differs");
}

#[test]
fn every_profile_copies_both_ways_with_every_generation_it_can_agree_on() {
    let data = noise(300_001);
    let mut agreed = 0;
    for profile in profiles() {
        for generation in GENERATIONS {
            let config = Config {
                min_generation: Generation::Core,
                max_generation: generation,
                ..Config::default()
            };
            let mut pair = Pair::with(profile.clone(), config, |_| {});
            pair.turn();
            pair.turn();
            pair.turn();
            if pair.client.is_closed() {
                continue;
            }
            agreed += 1;
            for data in [&data[..], &data[..1], &[]] {
                there_and_back(
                    &mut pair,
                    data,
                    &format!("{} on {generation:?}", profile.name),
                );
            }
        }
    }
    assert!(agreed >= 6, "{agreed}");
}

#[test]
fn an_exact_time_of_any_year_is_kept_by_profiles_that_set_the_files_times() {
    // 2200-01-01 and some, beyond the seconds of CLOSE
    let modified = 7_258_118_400_123_456_700;
    let mut pair = Pair::new(profile("modern"));
    let put = Operation::Copy(CopySpec {
        modified: Some(modified),
        ..CopySpec::put("UP.BIN", 3)
    });
    pair.run(put, b"abc").unwrap();
    let path = "UP.BIN".into();
    let Outcome::Stat(stat) = pair.run(Operation::Stat { path }, &[]).unwrap() else {
        panic!("not the outcome of a query")
    };
    assert_eq!(stat.modified, Some(modified));
}

#[test]
fn a_file_that_is_too_large_for_the_dialect_is_refused_before_it_is_created() {
    for generation in [Generation::Core, Generation::Lanman21] {
        let config = Config {
            min_generation: Generation::Core,
            max_generation: generation,
            ..Config::default()
        };
        let mut pair = Pair::with(profile("modern"), config, |_| {});
        let put = Operation::Copy(CopySpec::put("UP.BIN", (1 << 32) + 1));
        let error = pair.run(put, b"abc").unwrap_err();
        assert!(matches!(error, Error::Unfit(Unfit::Beyond(..))), "{error}");
        assert!(pair.fs.contents("UP.BIN").is_err(), "{generation:?}");
    }
}
