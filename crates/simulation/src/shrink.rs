//! Minimises a failing program: delta debugging (Zeller, Hildebrandt, 2002) over its steps.

/// Finds a minimal sequence of steps, in the same order, for which `fails` holds. No single step can be removed from
/// it.
pub fn shortest(steps: Vec<usize>, fails: impl Fn(&[usize]) -> bool) -> Vec<usize> {
    let mut kept = steps;
    let mut chunk = kept.len().div_ceil(2).max(1);
    loop {
        let before = kept.len();
        let mut at = 0;
        while at < kept.len() {
            let end = (at + chunk).min(kept.len());
            let shorter: Vec<usize> = kept[..at].iter().chain(&kept[end..]).copied().collect();
            if fails(&shorter) {
                kept = shorter;
            } else {
                at = end;
            }
        }
        match chunk {
            1 if kept.len() == before => return kept,
            1 => {}
            _ => chunk = chunk.div_ceil(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::shortest;

    #[test]
    fn the_minimised_program_fails_and_needs_every_step() {
        let fails = |steps: &[usize]| [3, 7, 61].iter().all(|needed| steps.contains(needed));
        assert_eq!(shortest((0..100).collect(), fails), [3, 7, 61]);
        assert_eq!(shortest((0..5).collect(), |_| true), [0usize; 0]);
    }
}
