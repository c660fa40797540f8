//! The words of smb.conf's `socket options`.

const SEPARATORS: [char; 3] = [' ', ',', '\t'];

/// The line with another value of an option, or without the option; `None` if the line does not have it.
pub(crate) fn changed(line: &str, option: &str, value: Option<&str>) -> Option<String> {
    let words_start = start(line);
    let (head, words) = line.split_at_checked(words_start)?;
    let mut out = head.to_owned();
    let mut is_found = false;
    for piece in words.split_inclusive(SEPARATORS) {
        let word = piece.trim_end_matches(SEPARATORS).trim_end_matches('\r');
        let rest = piece.get(word.len()..).unwrap_or_default();
        let name = word.split('=').next().unwrap_or_default();
        if !name.eq_ignore_ascii_case(option) {
            out.push_str(piece);
            continue;
        }
        is_found = true;
        match value {
            Some(value) => out.push_str(&format!("{name}={value}{rest}")),
            None => {
                if !rest.starts_with(SEPARATORS) && out.len() > head.len() {
                    out.truncate(out.trim_end_matches(SEPARATORS).len());
                }
                out.push_str(rest.trim_start_matches(SEPARATORS));
            }
        }
    }
    is_found.then_some(out)
}

/// The line with one more option.
pub(crate) fn appended(line: &str, word: &str) -> String {
    let (line, end) = match line.strip_suffix('\r') {
        Some(line) => (line, "\r"),
        None => (line, ""),
    };
    match line.strip_suffix('\\') {
        Some(before) => format!("{} {word} \\{end}", before.trim_end()),
        None => format!("{} {word}{end}", line.trim_end()),
    }
}

/// Whether the line sets no option.
pub(crate) fn is_empty(line: &str) -> bool {
    line.get(start(line)..)
        .is_none_or(|words| words.trim().is_empty())
}

/// Where the options begin: after the equals sign that follows the key, if this is the line with the key.
fn start(line: &str) -> usize {
    let equals = line.find('=').filter(|at| {
        let key = line.get(..*at).unwrap_or_default().to_lowercase();
        key.split_whitespace().eq(["socket", "options"])
    });
    equals.map_or(0, |at| at.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_changed_or_removed_and_the_others_stay_as_they_are() {
        let line = "  socket options = TCP_NODELAY, SO_RCVBUF=8192 SO_SNDBUF=8192";
        for (option, value, expected) in [
            (
                "so_rcvbuf",
                Some("65536"),
                Some("  socket options = TCP_NODELAY, SO_RCVBUF=65536 SO_SNDBUF=8192"),
            ),
            (
                "so_rcvbuf",
                None,
                Some("  socket options = TCP_NODELAY, SO_SNDBUF=8192"),
            ),
            (
                "so_sndbuf",
                None,
                Some("  socket options = TCP_NODELAY, SO_RCVBUF=8192"),
            ),
            (
                "tcp_nodelay",
                Some("1"),
                Some("  socket options = TCP_NODELAY=1, SO_RCVBUF=8192 SO_SNDBUF=8192"),
            ),
            ("so_keepalive", None, None),
        ] {
            assert_eq!(
                changed(line, option, value).as_deref(),
                expected,
                "{option}"
            );
        }
        assert_eq!(
            changed("\tSO_SNDBUF=8192\r", "so_sndbuf", Some("1")).as_deref(),
            Some("\tSO_SNDBUF=1\r")
        );
    }

    #[test]
    fn the_last_option_leaves_an_empty_line_and_a_new_one_stands_before_the_continuation() {
        let gone = changed("socket options = SO_RCVBUF=8192\r", "so_rcvbuf", None);
        assert!(gone.as_deref().is_some_and(is_empty), "{gone:?}");
        assert_eq!(
            appended("socket options = A=1 \\", "B=2"),
            "socket options = A=1 B=2 \\"
        );
        assert_eq!(
            appended("socket options = A=1\r", "B=2"),
            "socket options = A=1 B=2\r"
        );
    }
}
