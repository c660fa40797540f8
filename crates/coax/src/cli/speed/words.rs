//! mTCP's spelling of the command line.

use std::ffi::OsString;

/// The options of SPDTEST, and what they are here.
const WORDS: [&str; 7] = [
    "-receive", "-send", "-target", "-listen", "-mb", "-srcport", "-help",
];

/// Translates `coax speed -receive -target 10.0.0.9 2000` into our own spelling; any other command line is left as it is.
/// Like DOS, it does not mind upper case.
///
/// # Errors
/// It is SPDTEST's spelling, and makes no sense: what to say to the user.
pub fn dos_spelling(
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Vec<OsString>, String> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let verb = arguments.get(1).and_then(|verb| verb.to_str());
    let rest = arguments.get(2..).unwrap_or_default();
    if verb != Some("speed") || !rest.iter().any(|word| spdtest_word(word).is_some()) {
        return Ok(arguments);
    }
    let mut out: Vec<OsString> = arguments.iter().take(2).cloned().collect();
    let (direction, options) = translate(rest)?;
    match direction {
        Some(direction) => out.push(direction.into()),
        None if options.iter().any(|option| option == "--help") => {}
        None => return Err("the direction is missing: add -send or -receive".into()),
    }
    out.extend(options);
    Ok(out)
}

fn translate(words: &[OsString]) -> Result<(Option<&'static str>, Vec<OsString>), String> {
    let (mut direction, mut out) = (None, Vec::new());
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        match spdtest_word(word) {
            Some(way @ ("-receive" | "-send")) => {
                if direction.replace(way.trim_start_matches('-')).is_some() {
                    return Err("-send and -receive exclude each other: write one of them".into());
                }
            }
            Some("-target") => {
                let host = words.next().ok_or("-target needs an address and a port")?;
                let port = words.next_if(|next| is_number(next));
                out.push("--target".into());
                out.push(with_port(host, port));
            }
            Some(option) => out.push(format!("-{option}").into()),
            None => out.push(word.clone()),
        }
    }
    Ok((direction, out))
}

fn with_port(host: &OsString, port: Option<&OsString>) -> OsString {
    let Some(port) = port else {
        return host.clone();
    };
    let six = host
        .to_str()
        .is_some_and(|host| host.parse::<std::net::Ipv6Addr>().is_ok());
    let mut target = OsString::new();
    target.push(if six { "[" } else { "" });
    target.push(host);
    target.push(if six { "]:" } else { ":" });
    target.push(port);
    target
}

fn spdtest_word(word: &OsString) -> Option<&'static str> {
    let word = word.to_str()?;
    WORDS
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(word))
}

fn is_number(word: &OsString) -> bool {
    word.to_str()
        .is_some_and(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn spelled(line: &str) -> Result<String, String> {
        let words = dos_spelling(line.split(' ').map(OsString::from))?;
        let words: Vec<_> = words.iter().map(|w| w.to_str().unwrap()).collect();
        Ok(words.join(" "))
    }

    #[test]
    fn spdtests_spelling_becomes_ours_in_any_order_and_case() {
        let same = [
            (
                "coax speed -receive -target 10.0.0.9 2000",
                "coax speed receive --target 10.0.0.9:2000",
            ),
            (
                "coax speed -SEND -Listen 2000 -MB 8 --json",
                "coax speed send --listen 2000 --mb 8 --json",
            ),
            (
                "coax speed -target dos 2000 -srcport 1025 -send",
                "coax speed send --target dos:2000 --srcport 1025",
            ),
            (
                "coax speed -send -target ::1 2000",
                "coax speed send --target [::1]:2000",
            ),
            (
                "coax speed -send -target dos:2000",
                "coax speed send --target dos:2000",
            ),
            ("coax speed -help", "coax speed --help"),
        ];
        for (theirs, ours) in same {
            assert_eq!(spelled(theirs).unwrap(), ours);
        }
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        assert!(
            spelled("coax speed -listen 2000")
                .unwrap_err()
                .contains("-send or -receive")
        );
        assert!(
            spelled("coax speed -send -receive -listen 1")
                .unwrap_err()
                .contains("exclude each other")
        );
        assert!(
            spelled("coax speed -send -target")
                .unwrap_err()
                .contains("-target")
        );
    }

    #[test]
    fn our_own_spelling_and_other_verbs_are_left_alone() {
        for line in [
            "coax speed send --listen 2000",
            "coax serve -target x",
            "coax",
            "coax speed",
        ] {
            assert_eq!(spelled(line).unwrap(), line);
        }
    }
}
