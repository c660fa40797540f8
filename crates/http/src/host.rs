//! For whom a request was meant.

use std::net::{IpAddr, SocketAddr};

/// Which ports a request may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// The server's own.
    Own,
    /// Any: `ssh -L` leads another port to it.
    Any,
}

/// Whether the field `Host` names the address `local` or one of this machine's other `names` (in lower case).
///
/// A site whose name leads to this machine (DNS rebinding) sends its own name, so it is refused.
pub fn is_own(host: &str, local: SocketAddr, names: &[String], port: Port) -> bool {
    let Some((name, given)) = parts(host) else {
        return false;
    };
    if port == Port::Own && given != local.port() {
        return false;
    }
    let address = local.ip().to_canonical();
    if let Ok(named) = name.parse::<IpAddr>() {
        return named.to_canonical() == address;
    }
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    (name == "localhost" && address.is_loopback()) || names.contains(&name)
}

/// The name without brackets, and the port (RFC 9110 section 7.2).
fn parts(host: &str) -> Option<(&str, u16)> {
    let (name, rest) = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    match rest.strip_prefix(':') {
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some((name, port.parse().ok()?))
        }
        None if rest.is_empty() => Some((name, 80)),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn is(host: &str, local: &str, port: Port) -> bool {
        let names = ["attic".to_owned(), "attic.local".to_owned()];
        is_own(host, local.parse().unwrap(), &names, port)
    }

    #[test]
    fn names_of_this_address_are_its_own() {
        for host in [
            "localhost:8137",
            "LOCALHOST.:8137",
            "127.0.0.1:8137",
            "[::ffff:127.0.0.1]:8137",
            "Attic:8137",
            "attic.local:8137",
        ] {
            assert!(is(host, "127.0.0.1:8137", Port::Own), "{host}");
        }
        assert!(is("[::1]:9", "[::1]:9", Port::Own) && is("[::1]", "[::1]:80", Port::Own));
        assert!(is("localhost", "[::ffff:127.0.0.1]:80", Port::Own));
    }

    #[test]
    fn other_names_and_what_is_no_name_are_refused() {
        for host in [
            "",
            ":8137",
            "evil.example:8137",
            "localhost.evil.example:8137",
            "127.0.0.2:8137",
            "[::1]:8137",
            "::1:8137",
            "[127.0.0.1:8137",
            "127.0.0.1]:8137",
            "localhost:8137:8137",
            "localhost:",
            "localhost:+8137",
            "localhost:73673",
            "localhost:8137@evil.example",
            "user@localhost:8137",
            "2130706433:8137",
        ] {
            for port in [Port::Own, Port::Any] {
                assert!(!is(host, "127.0.0.1:8137", port), "{host}");
            }
        }
        assert!(!is("localhost", "192.168.0.5:80", Port::Own));
    }

    #[test]
    fn another_port_is_own_only_where_any_may_be_named() {
        for host in ["localhost", "localhost:9000", "127.0.0.1:80"] {
            assert!(!is(host, "127.0.0.1:8137", Port::Own), "{host}");
            assert!(is(host, "127.0.0.1:8137", Port::Any), "{host}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_taken_for_a_name_of_another_machine(host in "[a-z0-9:.\\[\\]@ -]{0,24}") {
            if is(&host, "127.0.0.1:8137", Port::Any) {
                let bare = host.split(':').next().unwrap().trim_end_matches('.');
                let known = ["localhost", "127.0.0.1", "attic", "attic.local"].contains(&bare);
                proptest::prop_assert!(known || host.starts_with('['), "{host}");
            }
        }
    }
}
