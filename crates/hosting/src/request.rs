//! The head of a request (RFC 9112).

/// Most bytes of a head. Browsers send the cookies of all programs on this machine, whatever their port.
pub const MAX_HEAD: usize = 32 << 10;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The page.
    Get,
    /// The page's header fields.
    Head,
    /// Anything else.
    Other,
}

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The path, without the query.
    pub path: String,
    /// The value of the field Host.
    pub host: String,
}

/// The bytes are no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The syntax.
    Syntax,
    /// The version is none of HTTP/1.
    Version,
    /// There is no field Host, or more than one (RFC 9112 section 3.2).
    Host,
}

impl Request {
    /// Where the head ends: the place behind the empty line.
    pub fn end(bytes: &[u8]) -> Option<usize> {
        let found = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        Some(found + 4)
    }

    /// Reads a whole head, with or without its empty line.
    ///
    /// # Errors
    /// It is no request of HTTP/1.
    pub fn parse(head: &[u8]) -> Result<Self, Wrong> {
        // bytes above 127 are allowed in values only, and none that we read has them
        let text = String::from_utf8_lossy(head);
        let mut lines = text.split("\r\n");
        let (method, path) = first(lines.next().unwrap_or_default())?;
        let mut host = None;
        for line in lines.take_while(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':').ok_or(Wrong::Syntax)?;
            // blanks before the colon, and lines that continue others, have smuggled requests (RFC 9112 sections 5.1 and 5.2)
            let is_value = |c: char| c == '\t' || !c.is_control();
            if name.is_empty() || !name.bytes().all(is_token) || !value.chars().all(is_value) {
                return Err(Wrong::Syntax);
            }
            if name.eq_ignore_ascii_case("host") && host.replace(value.trim()).is_some() {
                return Err(Wrong::Host);
            }
        }
        Ok(Self {
            method,
            path,
            host: host.ok_or(Wrong::Host)?.to_owned(),
        })
    }
}

/// METHOD PATH HTTP/1.x
fn first(line: &str) -> Result<(Method, String), Wrong> {
    let mut words = line.split(' ');
    let (method, target, version) = (words.next(), words.next(), words.next());
    let (Some(method), Some(target), Some(version), None) = (method, target, version, words.next())
    else {
        return Err(Wrong::Syntax);
    };
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return Err(Wrong::Version);
    }
    let is_target = target.starts_with('/') && target.bytes().all(|byte| byte.is_ascii_graphic());
    if method.is_empty() || !method.bytes().all(is_token) || !is_target {
        return Err(Wrong::Syntax);
    }
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let method = match method {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        _ => Method::Other,
    };
    Ok((method, path.to_owned()))
}

/// RFC 9110 section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_browser_s_request_is_read() {
        let head = b"GET /index.html?x=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAccept: */*\r\n\r\n";
        assert_eq!(Request::end(head), Some(head.len()));
        let expected = Request {
            method: Method::Get,
            path: "/index.html".into(),
            host: "127.0.0.1:8080".into(),
        };
        assert_eq!(Request::parse(head), Ok(expected));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for (head, wrong) in [
            ("", Wrong::Syntax),
            ("GET /\r\n", Wrong::Syntax),
            ("GET / HTTP/1.1 x\r\nHost: a\r\n", Wrong::Syntax),
            ("GET http://a/ HTTP/1.1\r\nHost: a\r\n", Wrong::Syntax),
            ("GET /\u{e4} HTTP/1.1\r\nHost: a\r\n", Wrong::Syntax),
            ("G\0T / HTTP/1.1\r\nHost: a\r\n", Wrong::Syntax),
            ("GET / HTTP/2.0\r\nHost: a\r\n", Wrong::Version),
            ("GET / HTTP/1.1\r\n", Wrong::Host),
            ("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n", Wrong::Host),
            ("GET / HTTP/1.1\r\nHost : a\r\n", Wrong::Syntax),
            ("GET / HTTP/1.1\r\nHost: a\r\n b\r\n", Wrong::Syntax),
            ("GET / HTTP/1.1\r\nHost\r\n", Wrong::Syntax),
        ] {
            assert_eq!(Request::parse(head.as_bytes()), Err(wrong), "{head:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_request_or_a_refusal(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(request) = Request::parse(&bytes) {
                prop_assert!(request.path.starts_with('/') && request.path.is_ascii());
            }
            if let Some(end) = Request::end(&bytes) {
                prop_assert!(end <= bytes.len());
            }
        }

        #[test]
        fn changed_requests_never_have_another_path_form(at in 0usize..60, byte in any::<u8>()) {
            let mut head = b"GET /index.html HTTP/1.1\r\nHost: localhost:80\r\nA: b\r\n\r\n".to_vec();
            let at = at % head.len();
            head[at] = byte;
            if let Ok(request) = Request::parse(&head) {
                prop_assert!(request.path.bytes().all(|byte| byte.is_ascii_graphic()));
                prop_assert!(!request.host.contains(['\r', '\n']));
            }
        }
    }
}
