//! A response.

use std::{borrow::Cow, fs::File, sync::Arc};

use tokio::sync::{OwnedSemaphorePermit, watch};

use super::Refused;

/// What may be loaded and sent: only what comes from the page's own address.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A response.
#[derive(Debug)]
pub(crate) struct Response {
    status: u16,
    kind: &'static str,
    policy: &'static str,
    fields: Vec<(&'static str, String)>,
    pub(crate) body: Body,
}

/// Its body.
#[derive(Debug)]
pub(crate) enum Body {
    /// Text.
    Text(Cow<'static, str>),
    /// Text that several responses share.
    Shared(Arc<str>),
    /// The beginning of a file.
    File(Arc<File>, u64),
    /// Each new text as an event, until the reader goes. The permit is the reader's.
    Events(watch::Receiver<Arc<str>>, OwnedSemaphorePermit),
}

impl Response {
    pub(crate) fn new(status: u16, kind: &'static str, body: Body) -> Self {
        Self {
            status,
            kind,
            policy: POLICY,
            fields: Vec::new(),
            body,
        }
    }

    /// A page.
    pub(crate) fn html(status: u16, text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(status, "text/html; charset=utf-8", Body::Text(text.into()))
    }

    /// An object.
    pub(crate) fn json(status: u16, value: &serde_json::Value) -> Self {
        let text = Cow::Owned(value.to_string());
        Self::new(status, "application/json", Body::Text(text))
    }

    /// An object that says what is wrong.
    pub(crate) fn error(status: u16, why: &str) -> Self {
        Self::json(status, &serde_json::json!({ "error": why }))
    }

    /// With another status.
    pub(crate) fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// With another policy.
    pub(crate) fn policy(mut self, policy: &'static str) -> Self {
        self.policy = policy;
        self
    }

    /// With a further field.
    pub(crate) fn field(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// The length of the body, if it is known.
    pub(crate) fn len(&self) -> Option<u64> {
        match &self.body {
            Body::Text(text) => Some(text.len() as u64),
            Body::Shared(text) => Some(text.len() as u64),
            Body::File(_, len) => Some(*len),
            Body::Events(..) => None,
        }
    }

    /// Its head.
    pub(super) fn head(&self, closes: bool) -> String {
        let mut head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Security-Policy: {}\r\nX-Content-Type-Options: nosniff\r\n\
             Referrer-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: DENY\r\n\
             Cache-Control: no-store\r\n",
            self.status,
            reason(self.status),
            self.kind,
            self.policy
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
        _ => "Error",
    }
}
