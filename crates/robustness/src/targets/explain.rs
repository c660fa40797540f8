//! Capture files, whole and damaged.

use coax_explain::explain;

use crate::captures;

/// Longer captures are no seeds: every input is to be read quickly.
const LONGEST: usize = 30_000;

/// Whatever a file holds, it is read to an end, and the causes of every copy add up to its time.
pub fn capture(data: &[u8]) {
    let Ok(capture) = explain(data) else {
        return;
    };
    for copy in &capture.copies {
        assert_eq!(copy.account.total(), copy.wall);
        assert!(copy.bytes <= copy.moved);
        assert!(copy.connection < capture.connections.len());
    }
}

/// The shorter captures.
pub fn captures() -> Vec<Vec<u8>> {
    let read = |name: &String| std::fs::read(captures::folder().join(name)).ok();
    let files = captures::names()
        .iter()
        .filter_map(read)
        .collect::<Vec<_>>();
    files
        .into_iter()
        .filter(|file| file.len() <= LONGEST)
        .collect()
}
