//! Captures that are explained together.

use coax_explain::Pieces;
use coax_report::explain::{Explained, explained, html, json, text};

/// The captures of one page.
#[derive(Debug, Default)]
pub struct Analysis {
    all: Vec<Explained>,
    /// The capture that arrives.
    next: Option<(String, Pieces)>,
}

impl Analysis {
    /// Begins a capture (pcap or pcapng, also gzipped).
    pub fn begin(&mut self, name: &str) {
        self.next = Some((name.to_owned(), Pieces::default()));
    }

    /// The next bytes of the capture.
    ///
    /// # Errors
    /// It is no capture. The captures before it stay; its other bytes are of no use.
    pub fn push(&mut self, bytes: Vec<u8>) -> Result<(), String> {
        match &mut self.next {
            Some((_, pieces)) => pieces.push(bytes).map_err(|error| error.to_string()),
            None => Err("no capture was begun".into()),
        }
    }

    /// The capture has ended: explains it.
    ///
    /// # Errors
    /// It is no capture.
    pub fn end(&mut self) -> Result<(), String> {
        let (name, pieces) = self.next.take().ok_or("no capture was begun")?;
        let capture = pieces.finish().map_err(|error| error.to_string())?;
        self.all.push(explained(name, capture, None));
        Ok(())
    }

    /// Whether no capture was read.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The page of `coax explain --html`.
    pub fn page(&self) -> String {
        html::page(&self.all)
    }

    /// The object of `coax explain --json`, with its final line break.
    pub fn json(&self) -> String {
        json::text(&self.all)
    }

    /// One line for each capture: its time and what to change.
    pub fn summary(&self) -> String {
        let lines: Vec<String> = self.all.iter().map(text::in_one_line).collect();
        lines.join("\n")
    }
}
