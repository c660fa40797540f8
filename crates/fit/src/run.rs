//! Runs of the lab.

use coax_catalog::direction::Direction;
use coax_lab::{
    Setup, Side, apps,
    scenario::Scenario,
    smb::{CopySetup, copy_within},
};
use coax_wire::time::Span;

use crate::measured::Kind;

/// A run with more events than this has values with which a copy stands almost still; it counts as failed.
const MOST_EVENTS: u64 = 4_000_000;

/// A copy or transfer to simulate.
#[derive(Clone, Debug)]
pub struct Run {
    /// The scenario.
    pub scenario: Scenario,
    /// Copy or raw TCP.
    pub kind: Kind,
}

/// Its time in seconds; `None` if the scenario is invalid or the copy failed.
///
/// A file of more than `cap` bytes is not simulated in full: the time of `cap` bytes is continued with the rate between half of
/// them and all. The start of a connection and the overhead of a file stay as they are.
pub fn seconds(run: &Run, cap: u64) -> Option<f64> {
    let mut setup = CopySetup::of(&run.scenario).ok()?;
    let size = setup.size;
    let mut simulated = |size| {
        setup.size = size;
        simulated(&setup, run.kind)
    };
    if size <= cap || run.scenario.files() > 1 || cap < 2 {
        return simulated(size);
    }
    let (half, whole) = (simulated(cap / 2)?, simulated(cap)?);
    let per_byte = (whole - half).max(0.0) / (cap - cap / 2) as f64;
    Some(whole + per_byte * (size - cap) as f64)
}

fn simulated(setup: &CopySetup, kind: Kind) -> Option<f64> {
    let took = match kind {
        Kind::Copy => {
            let result = copy_within(setup, MOST_EVENTS);
            result.copied.is_ok().then_some(result.took)
        }
        Kind::Stream => streamed(setup, setup.size),
    };
    took.map(|span| span.0 as f64 / 1e9)
        .filter(|seconds| *seconds > 0.0)
}

fn streamed(setup: &CopySetup, size: u64) -> Option<Span> {
    let from = match setup.direction {
        Direction::ToServer => Side::Client,
        Direction::ToClient => Side::Server,
    };
    let world = Setup {
        port: 2000,
        ..setup.world.clone()
    };
    let result = apps::bulk(&world, from, size, setup.limit);
    (result.bytes == size && result.intact).then_some(result.took)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_large_file_takes_the_time_of_its_beginning_continued() {
        for name in ["wfw-486", "dos-dls-5.0-predir", "wan-2000-to-nt"] {
            let mut scenario = Scenario::built_in(name).unwrap();
            scenario
                .set("size", toml::Value::Integer(6_000_000))
                .unwrap();
            let run = Run {
                scenario,
                kind: Kind::Copy,
            };
            let whole = seconds(&run, u64::MAX).unwrap();
            let continued = seconds(&run, 1_000_000).unwrap();
            let off = (continued / whole - 1.0).abs();
            assert!(off < 0.02, "{name}: {continued} s for {whole} s");
        }
    }

    #[test]
    fn raw_tcp_takes_the_time_of_the_wire() {
        let mut scenario = Scenario::new("test");
        for change in ["link=ethernet-10", "size=1MB", "direction=to-client"] {
            scenario.set_text(change).unwrap();
        }
        let run = Run {
            scenario,
            kind: Kind::Stream,
        };
        let took = seconds(&run, u64::MAX).unwrap();
        let wire = 1e6 / 1460.0 * 1538.0 * 8.0 / 1e7;
        assert!(took > wire && took < wire * 1.05, "{took}, at least {wire}");
    }
}
