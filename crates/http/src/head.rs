//! The head of a request.

/// The longest head, bytes. Browsers send the cookies of all programs on this machine, whatever their port.
pub const HEAD_MAX: usize = 16 << 10;
/// The longest target, bytes.
const TARGET_MAX: usize = 2048;
/// Fields at most.
const FIELDS_MAX: usize = 64;
/// The longest body, bytes.
const BODY_MAX: usize = 4096;

/// A method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// GET.
    Get,
    /// HEAD.
    Head,
    /// POST.
    Post,
    /// Another one, which no service allows.
    Other,
}

/// A head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The method.
    pub method: Method,
    /// The target's path: visible characters that begin with '/'.
    pub path: String,
    /// Field `Host`.
    pub host: String,
    /// Field `Origin`,
    pub origin: Option<String>,
    /// `Sec-Fetch-Site`,
    pub fetch_site: Option<String>,
    /// `Cookie`,
    pub cookie: Option<String>,
    /// and `Authorization`.
    pub authorization: Option<String>,
    /// The length of its body, bytes.
    pub body: usize,
    /// The connection ends with the response.
    pub closes: bool,
    /// The client sends the body after status 100.
    pub expects: bool,
    /// Its own length, bytes.
    pub len: usize,
}

/// Why a request is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The status.
    pub status: u16,
    /// Why.
    pub why: &'static str,
}

const fn refused(status: u16, why: &'static str) -> Refused {
    Refused { status, why }
}

/// The head of a request that begins with `bytes`; `None` if more bytes are needed.
///
/// # Errors
/// It is no request, or one that is too large.
pub fn read_head(bytes: &[u8]) -> Result<Option<Head>, Refused> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut request = httparse::Request::new(&mut fields);
    let len = match request.parse(bytes) {
        Ok(httparse::Status::Complete(len)) if len <= HEAD_MAX => len,
        Ok(httparse::Status::Partial) if bytes.len() < HEAD_MAX => return Ok(None),
        Ok(_) => {
            let why = "the head of the request has more than 16 KiB: delete this address's cookies";
            return Err(refused(431, why));
        }
        Err(httparse::Error::TooManyHeaders) => {
            return Err(refused(431, "the request has more than 64 fields"));
        }
        Err(httparse::Error::Version) => return Err(refused(505, "use HTTP/1.1")),
        Err(_) => return Err(refused(400, "this is not an HTTP/1.1 request")),
    };
    // Lines end with CR and LF only: another reader of the same bytes may take other line ends differently (RFC 9112 section 2.2).
    let head = bytes.get(..len).unwrap_or_default();
    let ends = head.iter().filter(|byte| **byte == b'\n').count();
    if ends != head.windows(2).filter(|two| two == b"\r\n").count() {
        return Err(refused(
            400,
            "a line of the request does not end with CR and LF",
        ));
    }
    let method = match request.method {
        Some("GET") => Method::Get,
        Some("HEAD") => Method::Head,
        Some("POST") => Method::Post,
        _ => Method::Other,
    };
    let target = request.path.unwrap_or_default();
    if !target.starts_with('/') || !target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(refused(400, "the address does not begin with '/'"));
    }
    if target.len() > TARGET_MAX {
        return Err(refused(414, "the address has more than 2,048 bytes"));
    }
    let mut head = Head {
        method,
        path: target.split(['?', '#']).next().unwrap_or_default().into(),
        host: String::new(),
        origin: None,
        fetch_site: None,
        cookie: None,
        authorization: None,
        body: 0,
        closes: request.version == Some(0),
        expects: false,
        len,
    };
    fill(&mut head, request.headers)?;
    Ok(Some(head))
}

fn fill(head: &mut Head, fields: &[httparse::Header<'_>]) -> Result<(), Refused> {
    let mut host = None;
    let mut length = None;
    for field in fields {
        let value = std::str::from_utf8(field.value)
            .map_err(|_| refused(400, "a field of the request is not text"))?;
        let place = match field.name.to_ascii_lowercase().as_str() {
            "host" => &mut host,
            "content-length" => &mut length,
            "origin" => &mut head.origin,
            "sec-fetch-site" => &mut head.fetch_site,
            "cookie" => &mut head.cookie,
            "authorization" => &mut head.authorization,
            "transfer-encoding" => return Err(refused(411, "the body needs a Content-Length")),
            "connection" => {
                head.closes |= names(value, "close");
                continue;
            }
            "expect" => {
                head.expects = names(value, "100-continue");
                continue;
            }
            _ => continue,
        };
        if place.replace(value.to_owned()).is_some() {
            return Err(refused(400, "a field of the request is there twice"));
        }
    }
    // RFC 9112 section 3.2
    head.host = host.ok_or(refused(400, "the request has no field Host"))?;
    if let Some(length) = length {
        // RFC 9110 §8.6: digits only, so no sign.
        let digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
        if !digits {
            return Err(refused(400, "Content-Length is not a number"));
        }
        head.body = match length.parse() {
            Ok(length) if length <= BODY_MAX => length,
            _ => return Err(refused(413, "the body has more than 4,096 bytes")),
        };
    }
    Ok(())
}

fn names(value: &str, word: &str) -> bool {
    let mut words = value.split(',');
    words.any(|other| other.trim().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    fn status(text: &str) -> u16 {
        match read_head(text.as_bytes()) {
            Ok(Some(_)) => 200,
            Ok(None) => 0,
            Err(refused) => refused.status,
        }
    }

    #[test]
    fn a_request_gives_its_parts_and_the_length_of_its_head() {
        let text = "POST /recording?x=1 HTTP/1.1\r\nHost: a:1\r\nContent-Length: 12\r\nOrigin: http://a:1\r\n\r\n{\"client\":1}";
        let head = read_head(text.as_bytes()).unwrap().unwrap();
        assert_eq!(
            (head.method, &*head.path, &*head.host),
            (Method::Post, "/recording", "a:1")
        );
        assert_eq!((head.body, head.len), (12, text.len() - 12));
        assert_eq!(head.origin.as_deref(), Some("http://a:1"));
        assert!(!head.closes);
    }

    /// The start of a valid request, whose fields lack the empty line at their end.
    const START: &str = "GET / HTTP/1.1\r\nHost: a\r\n";

    #[test]
    fn a_head_is_complete_at_its_empty_line_and_any_method_is_one() {
        for (text, expected) in [
            (START, 0),
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 200),
            ("GET / HTTP/1.0\r\nHost: a\r\n\r\n", 200),
            ("BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 200),
        ] {
            assert_eq!(status(text), expected, "{text}");
        }
    }

    #[test]
    fn a_first_line_that_is_no_request_of_http_1_is_refused() {
        for (line, expected) in [
            ("GET / HTTP/2.0", 505),
            ("GET / HTTP/1.2", 505),
            ("GET /", 400),
            ("GET / HTTP/1.1 x", 400),
            ("GET http://a/ HTTP/1.1", 400),
            ("OPTIONS * HTTP/1.1", 400),
            ("GET /\u{e4} HTTP/1.1", 400),
            ("G\0T / HTTP/1.1", 400),
        ] {
            let text = format!("{line}\r\nHost: a\r\n\r\n");
            assert_eq!(status(&text), expected, "{text}");
        }
        let tls = "\x16\x03\x01\x02\x00\x01";
        assert_eq!(status(tls), 400);
    }

    #[test]
    fn malformed_fields_and_anything_but_one_host_are_refused() {
        for text in [
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.0\r\n\r\n",
            "GET / HTTP/1.1\nHost: a\n\n",
            "GET / HTTP/1.1\r\nHost: a\nx: y\r\n\r\n",
            "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        ] {
            assert_eq!(status(text), 400, "{text}");
        }
    }

    #[test]
    fn a_body_without_one_valid_length_up_to_the_maximum_is_refused() {
        for (fields, expected) in [
            ("Content-Length: 4097", 413),
            ("Content-Length: 99999999999999999999999", 413),
            ("Content-Length: -1", 400),
            ("Content-Length: +1", 400),
            ("Content-Length: 1\r\nContent-Length: 2", 400),
            ("Transfer-Encoding: chunked", 411),
        ] {
            let text = format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n");
            assert_eq!(status(&text), expected, "{text}");
        }
    }

    #[test]
    fn too_many_fields_and_a_head_or_a_target_that_is_too_long_are_refused() {
        let with_fields = |count| status(&format!("{START}{}\r\n", "x: y\r\n".repeat(count)));
        assert_eq!(with_fields(FIELDS_MAX - 1), 200);
        assert_eq!(with_fields(FIELDS_MAX), 431);
        let long_field = format!("GET / HTTP/1.1\r\nx: {}", "y".repeat(HEAD_MAX));
        assert_eq!(status(&long_field), 431);
        let long_target = format!("GET /{} HTTP/1.1\r\n\r\n", "y".repeat(TARGET_MAX));
        assert_eq!(status(&long_target), 414);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_give_a_head_within_them_or_a_refusal(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..600)) {
            check(&bytes);
        }

        #[test]
        fn any_text_like_a_request_gives_a_head_within_it_or_a_refusal(text in "(GET|POST|HEAD|X) /[ -~]{0,20} HTTP/1.[01]\r\n((Host|Content-Length|Expect|Connection|x): [ -~]{0,9}\r\n){0,5}\r?\n?[ -~]{0,9}") {
            check(text.as_bytes());
        }
    }

    #[test]
    fn a_request_with_any_changed_byte_has_a_path_and_a_host_without_blanks_or_is_refused() {
        let whole = b"GET /index.html HTTP/1.1\r\nHost: localhost:80\r\nA: b\r\n\r\n";
        for at in 0..whole.len() {
            for byte in 0..=u8::MAX {
                let mut changed = *whole;
                changed[at] = byte;
                check(&changed);
            }
        }
    }

    fn check(bytes: &[u8]) {
        match read_head(bytes) {
            Ok(Some(head)) => {
                assert!(head.len <= bytes.len() && head.body <= BODY_MAX);
                assert!(head.path.starts_with('/'), "{head:?}");
                assert!(head.path.bytes().all(|byte| byte.is_ascii_graphic()));
                assert!(!head.host.contains(['\r', '\n', '\0']), "{head:?}");
            }
            Ok(None) => assert!(bytes.len() < HEAD_MAX),
            Err(refused) => assert!((400..=505).contains(&refused.status)),
        }
    }
}
