//! What each copy of a capture was spent on.
#![allow(clippy::print_stdout)]

use std::fs::File;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        for copy in coax_explain::explain_file(|| File::open(&path))?.copies {
            let wall = copy.wall.0.max(1);
            print!(
                "{path}: {} bytes in {:.6} s:",
                copy.moved,
                wall as f64 / 1e9
            );
            for (cause, spent) in copy.account.iter().filter(|(_, spent)| spent.0 > 0) {
                print!(
                    " {} {:.1} %",
                    cause.name(),
                    spent.0 as f64 * 100.0 / wall as f64
                );
            }
            println!();
        }
    }
    Ok(())
}
