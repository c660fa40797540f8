//! Prints the model of the longest copy in a capture: what was observed, the values that were taken for it, and the fits.
//!
//! `cargo run -p coax-whatif --example model CAPTURE [KEY=VALUE…]` also predicts the time with these values of the scenario.

use std::error::Error;

use coax_whatif::Model;
use toml::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which capture?")?;
    let capture = std::fs::read(&path)?;
    let capture = coax_explain::explain(capture.as_slice()).map_err(|why| why.to_string())?;
    let copy = capture.copies.iter().max_by_key(|copy| copy.wall);
    let model = Model::of(&capture, copy.ok_or("no copy is in it")?)?;
    println!("{model:#?}");
    let changes = arguments
        .map(|text| change(&text))
        .collect::<Result<Vec<_>, _>>()?;
    if !changes.is_empty() {
        println!("{changes:?}: {:?}", model.predict(&changes)?);
    }
    Ok(())
}

/// `KEY=VALUE` with a value as TOML writes it.
fn change(text: &str) -> Result<(String, Value), Box<dyn Error>> {
    let (key, value) = text.split_once('=').ok_or("a change is KEY=VALUE")?;
    let table: toml::Table = format!("value = {value}").parse()?;
    let value = table.get("value").ok_or("no value")?;
    Ok((key.to_owned(), value.clone()))
}
