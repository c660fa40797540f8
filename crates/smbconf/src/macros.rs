//! `%` macros: values that are known only when a client connects.

use std::net::IpAddr;

/// The values of macros. Empty fields expand to nothing.
#[derive(Clone, Debug, Default)]
pub struct MacroValues<'a> {
    /// `%m`, `%M`: the client's NetBIOS name.
    pub client_name: &'a str,
    /// `%I`, `%i`: the client's address and our address of this connection.
    pub addresses: Option<(IpAddr, IpAddr)>,
    /// `%L`: the called name.
    pub called_name: &'a str,
    /// `%h`, `%N`: this machine's host name.
    pub host_name: &'a str,
    /// `%u`, `%U`: the user logged on.
    pub user: &'a str,
    /// `%S`: the share.
    pub share: &'a str,
    /// `%P`: the share's folder.
    pub share_path: &'a str,
    /// `%w`, `%D`: the workgroup.
    pub workgroup: &'a str,
    /// `%a`: the recognised client software.
    pub client_kind: &'a str,
    /// `%R`: the dialect.
    pub dialect: &'a str,
    /// `%T`: date and time.
    pub time: &'a str,
    /// `%d`: the connection's number.
    pub connection: u64,
    /// `%p`, `%s`, `%J` and others of a command: letter and value.
    pub further: &'a [(char, &'a str)],
}

/// The supported macros and their meaning; `further` ones depend on the parameter.
pub const MACROS: &[(char, &str)] = &[
    ('m', "the client's NetBIOS name"),
    ('M', "the same (host names are not looked up)"),
    ('I', "the client's address"),
    ('i', "our address on this connection"),
    (
        'L',
        "the name the client called us by; without one, our host name",
    ),
    ('h', "this machine's host name"),
    ('N', "the same"),
    ('u', "the user logged on"),
    ('U', "the same"),
    ('S', "the share"),
    ('P', "the share's folder"),
    ('w', "the workgroup"),
    ('D', "the same"),
    ('a', "what kind of client it seems to be"),
    ('R', "the dialect spoken"),
    ('T', "date and time"),
    ('d', "the connection's number"),
    ('v', "coax's version"),
    ('V', "the same"),
    ('%', "a percent sign"),
];

/// Whether `text` contains a macro other than `%%`, so that it may differ between clients.
pub fn has_macros(text: &str) -> bool {
    text.replace("%%", "")
        .chars()
        .zip(text.replace("%%", "").chars().skip(1))
        .any(|(c, _)| c == '%')
}

/// Expands macros in texts for people. Unknown macros remain unchanged.
pub fn expand(text: &str, values: &MacroValues<'_>) -> String {
    expand_with(text, values, |value| value.to_string())
}

/// Like [`expand`], for paths: values sent by a client cannot select another folder. In them, every character except
/// letters, digits, `-`, `_`, and inner dots and spaces becomes `_`.
pub fn expand_path(text: &str, values: &MacroValues<'_>) -> String {
    expand_with(text, values, |value| {
        let kept = |c: char| c.is_alphanumeric() || "-_. ".contains(c);
        let safe: String = value
            .chars()
            .map(|c| if kept(c) { c } else { '_' })
            .collect();
        if safe.starts_with(['.', ' ']) {
            format!("_{safe}")
        } else {
            safe
        }
    })
}

/// Like [`expand`], for shell commands: a value sent by a client is one word and not an option. In it, every character
/// except letters, digits, `-`, `_` and `.` becomes `_`, and so does a leading `-` or `.`.
pub fn expand_command(text: &str, values: &MacroValues<'_>) -> String {
    expand_with(text, values, one_word)
}

/// Makes one shell word of a [`MacroValues::further`] value that a client chose.
pub fn one_word(value: &str) -> String {
    let kept = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let first = |(place, c): (usize, char)| match c {
        '-' | '.' if place == 0 => '_',
        c if kept(c) => c,
        _ => '_',
    };
    value.chars().enumerate().map(first).collect()
}

fn expand_with(text: &str, values: &MacroValues<'_>, harmless: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut ahead = rest.clone();
        match ahead
            .next()
            .and_then(|letter| value_of(letter, values, &harmless))
        {
            Some(value) => {
                out.push_str(&value);
                rest = ahead;
            }
            None => out.push('%'),
        }
    }
    out
}

/// The value of a macro. Applies `harmless` to values that a client chose.
fn value_of(
    letter: char,
    v: &MacroValues<'_>,
    harmless: impl Fn(&str) -> String,
) -> Option<String> {
    if let Some((_, value)) = v.further.iter().find(|(l, _)| *l == letter) {
        return Some((*value).to_string());
    }
    Some(match letter {
        '%' => "%".into(),
        'm' | 'M' => harmless(&v.client_name.to_lowercase()),
        'I' => v
            .addresses
            .map(|(client, _)| client.to_string())
            .unwrap_or_default(),
        'i' => v
            .addresses
            .map(|(_, ours)| ours.to_string())
            .unwrap_or_default(),
        'L' => called(v, harmless),
        'h' | 'N' => v.host_name.into(),
        'u' | 'U' => harmless(v.user),
        'S' => harmless(v.share),
        'P' => v.share_path.into(),
        'w' | 'D' => v.workgroup.into(),
        'a' => harmless(v.client_kind),
        'R' => harmless(v.dialect),
        'T' => v.time.into(),
        'd' => v.connection.to_string(),
        'v' | 'V' => env!("CARGO_PKG_VERSION").into(),
        _ => return None,
    })
}

/// The called name. A client that knows only our address calls `*SMBSERVER` ([MS-SMB] 2.1), or nothing on port 445.
fn called(v: &MacroValues<'_>, harmless: impl Fn(&str) -> String) -> String {
    if v.called_name.is_empty() || v.called_name.starts_with("*SMBSERV") {
        return v.host_name.into();
    }
    harmless(&v.called_name.to_lowercase())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_documented_macro_expands_to_something() {
        let ip = "10.0.0.9".parse().unwrap();
        let values = MacroValues {
            client_name: "DOSBOX",
            addresses: Some((ip, ip)),
            called_name: "SERVER",
            host_name: "host",
            user: "anna",
            share: "data",
            share_path: "/srv",
            workgroup: "WG",
            client_kind: "Win95",
            dialect: "NT1",
            time: "now",
            connection: 7,
            further: &[],
        };
        for (letter, _) in MACROS {
            let expanded = expand(&format!("<%{letter}>"), &values);
            assert!(
                expanded.len() > 2 && (*letter == '%' || !expanded.contains('%')),
                "%{letter} → {expanded}"
            );
        }
        assert_eq!(
            expand("/srv/%m/%u-%I", &values),
            "/srv/dosbox/anna-10.0.0.9"
        );
        for (called, told) in [("TOWER", "tower"), ("*SMBSERVER", "host"), ("", "host")] {
            let values = MacroValues {
                called_name: called,
                ..values.clone()
            };
            assert_eq!(expand("%L", &values), told);
        }
    }

    #[test]
    fn unknown_macros_and_a_last_percent_sign_stay() {
        assert_eq!(expand("100% %y %", &MacroValues::default()), "100% %y %");
    }

    #[test]
    fn what_a_client_calls_itself_cannot_climb_out_of_a_path() {
        let values = MacroValues {
            client_name: "../../etc",
            user: "..",
            share: "a/b\0c",
            ..MacroValues::default()
        };
        assert_eq!(
            expand_path("/srv/%m/%u/%S", &values),
            "/srv/_.._.._etc/_../a_b_c"
        );
    }

    #[test]
    fn a_client_name_is_one_word_of_a_command() {
        let values = MacroValues {
            client_name: "-o x;rm -rf ~",
            user: "$(reboot)`reboot`\n'\"|&<>*?",
            client_kind: "Anna_1.5-b",
            ..MacroValues::default()
        };
        assert_eq!(
            expand_command("lpr -J %m %u %a", &values),
            "lpr -J _o_x_rm_-rf__ __reboot__reboot__________ Anna_1.5-b"
        );
    }

    #[test]
    fn values_are_not_expanded_again() {
        let values = MacroValues {
            client_name: "%u",
            user: "root",
            ..MacroValues::default()
        };
        assert_eq!(expand("%m", &values), "%u");
    }

    #[test]
    fn only_macros_make_a_text_differ_between_clients() {
        assert!(has_macros("/home/%u") && has_macros("%%%u"));
        assert!(!has_macros("/srv/100%%/x") && !has_macros("/srv/%"));
    }
}
