//! What to answer.

use std::net::{IpAddr, SocketAddr};

use crate::request::{Method, Request, Wrong};

/// The policy of the page's own document (crates/web/page/index.html), and that no other page may show it in a frame.
pub const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; style-src 'unsafe-inline'; img-src data:; \
                          worker-src blob:; frame-src 'self' about:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// An answer: its head, and whether the page follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status line and the fields, with the empty line, and the body of a refusal.
    pub head: String,
    /// The page follows.
    pub page: bool,
}

/// The answer to a request that reached `address`; `length` is that of the page, bytes.
pub fn answer(request: &Result<Request, Wrong>, address: SocketAddr, length: usize) -> Answer {
    let request = match request {
        Ok(request) => request,
        Err(Wrong::Version) => return refusal("505 HTTP Version Not Supported", ""),
        Err(Wrong::Syntax | Wrong::Host) => return refusal("400 Bad Request", ""),
    };
    if !is_ours(&request.host, address) {
        return refusal("421 Misdirected Request", "");
    }
    match (request.method, request.path.as_str()) {
        (Method::Other, _) => refusal("405 Method Not Allowed", "Allow: GET, HEAD\r\n"),
        (method, "/" | "/index.html") => Answer {
            head: head("200 OK", "text/html; charset=utf-8", length, ""),
            page: method == Method::Get,
        },
        (method, _) => {
            let refusal = refusal("404 Not Found", "");
            match method {
                Method::Head => without_body(&refusal),
                _ => refusal,
            }
        }
    }
}

/// A refusal with a status.
pub(crate) fn refusal(status: &str, fields: &str) -> Answer {
    let text = format!("{status}\n");
    let head = head(status, "text/plain; charset=utf-8", text.len(), fields);
    Answer {
        head: head + &text,
        page: false,
    }
}

fn without_body(answer: &Answer) -> Answer {
    let end = Request::end(answer.head.as_bytes()).unwrap_or(answer.head.len());
    Answer {
        head: answer.head.chars().take(end).collect(),
        page: false,
    }
}

fn head(status: &str, kind: &str, length: usize, fields: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\nCache-Control: no-cache\r\n\
         Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n{fields}\r\n"
    )
}

/// Whether a request was meant for this address. A page of another host whose name is resolved to 127.0.0.1 sends its own
/// name (DNS rebinding).
fn is_ours(host: &str, address: SocketAddr) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
        _ => (host, Some(80)),
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let named = bare.parse::<IpAddr>().is_ok_and(|ip| ip == address.ip());
    port == Some(address.port()) && (named || name.eq_ignore_ascii_case("localhost"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../web/page/index.html");

    fn status(method: Method, path: &str, host: &str) -> (String, bool) {
        let request = Request {
            method,
            path: path.into(),
            host: host.into(),
        };
        let made = answer(&Ok(request), "127.0.0.1:8137".parse().unwrap(), 99);
        let line = made.head.lines().next().unwrap();
        (line.trim_start_matches("HTTP/1.1 ").into(), made.page)
    }

    #[test]
    fn the_policy_is_that_of_the_page() {
        let own = POLICY.strip_suffix("; frame-ancestors 'none'").unwrap();
        let stated = format!("http-equiv=\"Content-Security-Policy\" content=\"{own}\"");
        assert!(PAGE.contains(&stated));
    }

    #[test]
    fn the_page_has_two_paths_and_two_methods() {
        let host = "127.0.0.1:8137";
        assert_eq!(status(Method::Get, "/", host), ("200 OK".into(), true));
        let (ok, follows) = status(Method::Head, "/index.html", host);
        assert_eq!((ok.as_str(), follows), ("200 OK", false));
        let (missing, follows) = status(Method::Get, "/../etc/passwd", host);
        assert_eq!((missing.as_str(), follows), ("404 Not Found", false));
        let (other, follows) = status(Method::Other, "/", host);
        assert_eq!((other.as_str(), follows), ("405 Method Not Allowed", false));
    }

    #[test]
    fn only_names_of_this_address_are_served() {
        for host in ["localhost:8137", "LOCALHOST:8137", "127.0.0.1:8137"] {
            assert!(status(Method::Get, "/", host).1, "{host}");
        }
        for host in [
            "evil.example:8137",
            "localhost",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.2:8137",
            "localhost:8137:8137",
            "[::1]:8137",
            "",
            ":8137",
        ] {
            let (line, follows) = status(Method::Get, "/", host);
            assert_eq!(
                (line.as_str(), follows),
                ("421 Misdirected Request", false),
                "{host}"
            );
        }
    }

    #[test]
    fn an_answer_to_head_has_no_body() {
        let request = Request {
            method: Method::Head,
            path: "/x".into(),
            host: "localhost:1".into(),
        };
        let made = answer(&Ok(request), "127.0.0.1:1".parse().unwrap(), 9);
        assert!(made.head.starts_with("HTTP/1.1 404") && made.head.ends_with("\r\n\r\n"));
    }

    #[test]
    fn refusals_say_what_was_wrong() {
        for (wrong, code) in [
            (Wrong::Syntax, "400"),
            (Wrong::Host, "400"),
            (Wrong::Version, "505"),
        ] {
            let made = answer(&Err(wrong), "127.0.0.1:1".parse().unwrap(), 9);
            assert!(made.head.starts_with(&format!("HTTP/1.1 {code} ")) && !made.page);
        }
    }
}
