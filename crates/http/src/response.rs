//! A response.

use std::{borrow::Cow, fs::File, sync::Arc};

use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::Refused;

/// A response.
#[derive(Debug)]
pub struct Response {
    status: u16,
    kind: &'static str,
    policy: Option<&'static str>,
    fields: Vec<(&'static str, String)>,
    pub(crate) body: Body,
}

/// Its body.
#[derive(Debug)]
pub enum Body {
    /// Text.
    Text(Cow<'static, str>),
    /// Bytes that several responses share.
    Shared(Arc<[u8]>),
    /// The beginning of a file.
    File(Arc<File>, u64),
    /// Each new text as an event, until the reader goes. The permit is the reader's.
    Events(watch::Receiver<Arc<str>>, OwnedSemaphorePermit),
}

impl Response {
    /// With this status and this media type.
    pub fn new(status: u16, kind: &'static str, body: Body) -> Self {
        Self {
            status,
            kind,
            policy: None,
            fields: Vec::new(),
            body,
        }
    }

    /// A page.
    pub fn html(status: u16, text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(status, "text/html; charset=utf-8", Body::Text(text.into()))
    }

    /// An object.
    pub fn json(status: u16, value: &serde_json::Value) -> Self {
        let text = Cow::Owned(value.to_string());
        Self::new(status, "application/json", Body::Text(text))
    }

    /// An object that says what is wrong.
    pub fn error(status: u16, why: &str) -> Self {
        Self::json(status, &serde_json::json!({ "error": why }))
    }

    /// With another status.
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// With another policy.
    pub fn policy(mut self, policy: &'static str) -> Self {
        self.policy = Some(policy);
        self
    }

    /// With a further field.
    pub fn field(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// The length of the body, if it is known.
    pub(crate) fn len(&self) -> Option<u64> {
        match &self.body {
            Body::Text(text) => Some(text.len() as u64),
            Body::Shared(bytes) => Some(bytes.len() as u64),
            Body::File(_, len) => Some(*len),
            Body::Events(..) => None,
        }
    }

    /// Its head; `policy` is that of the service.
    pub(crate) fn head(&self, closes: bool, policy: &str) -> String {
        let mut head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Security-Policy: {}\r\nX-Content-Type-Options: nosniff\r\n\
             Referrer-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: DENY\r\n\
             Cache-Control: no-store\r\n",
            self.status,
            reason(self.status),
            self.kind,
            self.policy.unwrap_or(policy)
        );
        for (name, value) in &self.fields {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(len) = self.len() {
            head.push_str(&format!("Content-Length: {len}\r\n"));
        }
        if closes {
            head.push_str("Connection: close\r\n");
        }
        head + "\r\n"
    }
}

impl From<Refused> for Response {
    fn from(refused: Refused) -> Self {
        Self::error(refused.status, refused.why)
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        303 => "See Other",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        411 => "Length Required",
        413 => "Content Too Large",
        414 => "URI Too Long",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Error",
    }
}
