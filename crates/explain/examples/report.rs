//! Prints the copies of a capture and their causes: `cargo run -p coax-explain --example report FILE`.

use std::{env, error::Error, fs::File};

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: report FILE")?;
    let capture = coax_explain::explain(File::open(path)?)?;
    println!("capture quality: {}", capture.grade.name());
    for copy in &capture.copies {
        let name = copy.name.as_deref().unwrap_or("(unnamed)");
        let seconds = copy.wall.0 as f64 / 1e9;
        println!("{name}: {} bytes in {seconds:.3} s", copy.bytes);
        for (cause, time) in copy.account.iter().filter(|(_, time)| time.0 > 0) {
            let part = time.0 as f64 / copy.wall.0.max(1) as f64;
            println!("  {:5.1} %  {}", part * 100.0, cause.label());
        }
    }
    Ok(())
}
