//! The fields of every message of a capture, one line each: frame, offset, length, name, value. `tests/decode` compares them with tshark's.

use std::{error::Error, fs::File, io::BufReader};

use coax_capture::Reader;
use coax_decode::messages;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: fields CAPTURE")?;
    let mut reader = Reader::new(BufReader::new(File::open(path)?))?;
    messages(&mut reader, |message| {
        println!(
            "{}\t-\t{}\t{}",
            message.frame,
            message.bytes.len(),
            message.decoded.title
        );
        for field in &message.decoded.fields {
            let problem = field.problem.as_deref().unwrap_or("");
            println!(
                "{}\t{}\t{}\t{}\t{}\t{}\t{problem}",
                message.frame, field.at, field.len, field.name, field.value, field.meaning
            );
        }
    })?;
    Ok(())
}
