//! What the page's worker calls. Each function returns text; a failure becomes an exception with a text for people.

use wasm_bindgen::prelude::*;

use crate::{Analysis, decode, lab};

/// [`Analysis`] for the page.
#[wasm_bindgen]
#[derive(Default)]
pub struct Captures(Analysis);

#[wasm_bindgen]
impl Captures {
    /// No capture yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a capture.
    pub fn begin(&mut self, name: &str) {
        self.0.begin(name);
    }

    /// Its next bytes.
    ///
    /// # Errors
    /// As [`Analysis::push`].
    pub fn push(&mut self, bytes: Vec<u8>) -> Result<(), JsError> {
        self.0.push(bytes).map_err(|error| JsError::new(&error))
    }

    /// Explains it.
    ///
    /// # Errors
    /// As [`Analysis::end`].
    pub fn end(&mut self) -> Result<(), JsError> {
        self.0.end().map_err(|error| JsError::new(&error))
    }

    /// The page of `coax explain --html`.
    pub fn page(&self) -> String {
        self.0.page()
    }

    /// The object of `coax explain --json`.
    pub fn json(&self) -> String {
        self.0.json()
    }

    /// A line for each capture.
    pub fn summary(&self) -> String {
        self.0.summary()
    }
}

/// [`lab::catalogue`].
#[wasm_bindgen]
pub fn catalogue() -> String {
    lab::catalogue().to_string()
}

/// [`lab::describe`].
///
/// # Errors
/// As there.
#[wasm_bindgen]
pub fn describe(request: &str) -> Result<String, JsError> {
    text(lab::describe(request))
}

/// [`lab::run`].
///
/// # Errors
/// As there.
#[wasm_bindgen]
pub fn run(request: &str) -> Result<String, JsError> {
    text(lab::run(request))
}

/// [`decode::typed`].
///
/// # Errors
/// As there.
#[wasm_bindgen(js_name = decode)]
pub fn decode_typed(request: &str) -> Result<String, JsError> {
    text(decode::typed(request))
}

fn text(value: anyhow::Result<serde_json::Value>) -> Result<String, JsError> {
    let value = value.map_err(|error| JsError::new(&format!("{error:#}")))?;
    Ok(value.to_string())
}
