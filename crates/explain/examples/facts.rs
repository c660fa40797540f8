//! Prints what advice can ask for about each copy of a capture: `cargo run -p coax-explain --example facts CAPTURE`.

use std::{env, error::Error, fs::File};

use coax_explain::{
    advise, explain,
    recognise::{Facts, vocabulary},
};

fn main() -> Result<(), Box<dyn Error>> {
    for path in env::args().skip(1) {
        let capture = explain(File::open(&path)?)?;
        for copy in &capture.copies {
            println!("{path}: {}", copy.name.as_deref().unwrap_or("-"));
            let facts = Facts::of(&capture, copy);
            for word in vocabulary() {
                if let Some(value) = facts.get(word.name) {
                    println!("  {:<26} {value}  {:?}", word.name, facts.frames(word.name));
                }
            }
            for advice in advise(&capture, copy) {
                println!("  advice: {}", advice.id);
            }
        }
    }
    Ok(())
}
