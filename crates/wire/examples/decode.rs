//! Decodes one SMB message: `echo ff534d42... | cargo run -p coax-wire --example decode`.

use coax_wire::{
    block::Block,
    codepage::CodePage,
    command,
    header::{HEADER_LEN, Header},
    smb::summary,
};
use std::{error::Error, io::Read};

fn main() -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let message = bytes_of(&text)?;
    let header = Header::parse(&message)?;
    let block = Block::at(&message, HEADER_LEN)?;
    let name = command::name(header.command).unwrap_or("unknown command");
    let fields = summary::request(header.command, &block, header.unicode())?;
    println!("{name} {}", summary::words(&fields, CodePage::cp437()));
    Ok(())
}

/// Decodes pairs of hexadecimal digits; white space is ignored.
fn bytes_of(text: &str) -> Result<Vec<u8>, std::num::ParseIntError> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16))
        .collect()
}
