//! The grammar of smb.conf, compatible with Samba.
//!
//! A line is one of: empty, a comment (`#` or `;` as the first character), a section (`[name]`; the rest of the line is
//! ignored), or `key = value`. A backslash at the end of a line (spaces may follow) joins the next line; one space
//! replaces the blanks at the joint. Comments are not joined. Keys and the name of `[global]` ignore case and blanks.
//! Values keep everything: `;`, `#`, quotes, backslashes, and inner blanks.

use std::sync::Arc;

use super::diagnostic::{Diagnostic, Position};

/// One item of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// `[name]`: the start of a section.
    Section {
        /// The name without outer blanks; inner blanks reduced to one.
        name: String,
        /// Its position.
        at: Position,
    },
    /// `key = value`.
    Parameter {
        /// The key as written; blanks as in section names.
        key: String,
        /// The value without outer blanks.
        value: String,
        /// The position of its first line.
        at: Position,
    },
}

/// The normal form for comparing keys: lower case, without blanks.
pub fn normal_key(key: &str) -> String {
    key.chars()
        .filter(|c| !c.is_whitespace())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether a text may be a password or contain one, judged by its words.
pub fn may_be_secret(text: &str) -> bool {
    let text = normal_key(text);
    ["pass", "pasw", "secret", "pwd"]
        .iter()
        .any(|word| text.contains(word))
}

/// Whether the section is `[global]`.
pub fn is_global(section: &str) -> bool {
    matches!(normal_key(section).as_str(), "global" | "globals")
}

/// Parses a whole file. Lines that cannot be parsed are skipped and reported in `diagnostics`.
pub fn parse(file: &str, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Item> {
    let file: Arc<str> = file.into();
    let mut lines = (1u32..).zip(text.trim_start_matches('\u{feff}').lines());
    let mut items = Vec::new();
    while let Some((line, first)) = lines.next() {
        let start = first.trim_start();
        if start.is_empty() || start.starts_with(['#', ';']) {
            continue;
        }
        let at = Position {
            file: file.clone(),
            line,
            text: first.into(),
        };
        let logical = join(first, || lines.next().map(|(_, next)| next));
        match item(&logical, &at) {
            Ok(item) => items.push(item),
            Err(diagnostic) => {
                let text = match may_be_secret(first) {
                    true => "(hidden: it may hold a password)".into(),
                    false => at.text.clone(),
                };
                diagnostics.push(diagnostic.at(&Position { text, ..at }));
            }
        }
    }
    items
}

/// Joins a line with its continuation lines.
fn join<'a>(first: &'a str, mut next: impl FnMut() -> Option<&'a str>) -> String {
    let mut joined = String::new();
    let mut line = first;
    loop {
        let Some(part) = line.trim_end().strip_suffix('\\') else {
            joined.push_str(line);
            break;
        };
        let more = next();
        if part.trim_end().len() == part.len() && more.is_some_and(|m| !m.starts_with([' ', '\t']))
        {
            joined.push_str(part);
        } else {
            joined.push_str(part.trim_end());
            joined.push(' ');
        }
        match more {
            Some(more) => {
                line = if joined.ends_with(' ') {
                    more.trim_start()
                } else {
                    more
                }
            }
            None => break,
        }
    }
    joined.trim().to_string()
}

fn item(line: &str, at: &Position) -> Result<Item, Diagnostic> {
    if let Some(rest) = line.strip_prefix('[') {
        let (name, _) = rest.split_once(']').ok_or_else(|| {
            Diagnostic::error("this section's name has no end")
                .help(format!("write [{}]", squeezed(rest)))
        })?;
        return match squeezed(name) {
            name if name.is_empty() => Err(Diagnostic::error("this section has no name")),
            name => Ok(Item::Section {
                name,
                at: at.clone(),
            }),
        };
    }
    let (key, value) = line.split_once('=').ok_or_else(|| {
        Diagnostic::warning("this line is neither a section nor 'key = value', and is left out")
            .help("a comment begins with # or ;")
    })?;
    match squeezed(key) {
        key if key.is_empty() => Err(Diagnostic::error("nothing stands before the '='")),
        key => Ok(Item::Parameter {
            key,
            value: value.trim().to_string(),
            at: at.clone(),
        }),
    }
}

/// Removes outer blanks and reduces inner blanks to one space.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::expect_used,
        clippy::panic
    )]
    use super::*;

    /// Formats items as `[section]` and `key=value` with their lines.
    fn read(text: &str) -> Vec<String> {
        let mut diagnostics = Vec::new();
        let items = parse("t", text, &mut diagnostics);
        assert_eq!(diagnostics, []);
        items
            .iter()
            .map(|i| match i {
                Item::Section { name, at } => format!("{}:[{name}]", at.line),
                Item::Parameter { key, value, at } => format!("{}:{key}={value}", at.line),
            })
            .collect()
    }

    #[test]
    fn comments_begin_lines_and_nothing_else_is_one() {
        assert_eq!(
            read("# a\n  ; b\n path = /x ; y # z\n comment = # c\n"),
            ["3:path=/x ; y # z", "4:comment=# c"]
        );
    }

    #[test]
    fn a_backslash_joins_lines_with_or_without_blanks_after_it() {
        assert_eq!(
            read("a = x\\\n  y\nb = x \\  \n\ty\nc = x\\\ny\nd = x \\"),
            ["1:a=x y", "3:b=x y", "5:c=xy", "7:d=x"]
        );
    }

    #[test]
    fn comments_are_not_continued_but_a_continued_value_may_look_like_one() {
        assert_eq!(read("# a \\\nb = 1\nc = \\\n # d\n"), ["2:b=1", "3:c=# d"]);
    }

    #[test]
    fn backslashes_within_a_value_stay_as_they_are() {
        assert_eq!(
            read(r"path = \\host\new\table"),
            [r"1:path=\\host\new\table"]
        );
    }

    #[test]
    fn section_names_and_keys_lose_superfluous_blanks_and_what_follows_a_section_is_ignored() {
        assert_eq!(
            read(" [ my \t share ] junk = 1\n Read   Only=no"),
            ["1:[my share]", "2:Read Only=no"]
        );
    }

    #[test]
    fn carriage_returns_and_a_byte_order_mark_do_no_harm() {
        assert_eq!(
            read("\u{feff}[x]\r\npath = /a\\\r\n b\r\n"),
            ["1:[x]", "2:path=/a b"]
        );
    }

    #[test]
    fn the_first_equals_sign_parts_key_from_value_and_quotes_stay() {
        assert_eq!(
            read("print command = a=\"b c\" %s"),
            ["1:print command=a=\"b c\" %s"]
        );
        assert_eq!(read("comment ="), ["1:comment="]);
    }

    #[test]
    fn keys_are_compared_without_case_and_blanks() {
        assert_eq!(normal_key("R e a d\tOnly"), normal_key("readonly"));
        assert!(is_global("G lobals") && is_global("Global") && !is_global("globe"));
    }

    #[test]
    fn invalid_lines_are_reported_and_the_rest_is_read() {
        let mut diagnostics = Vec::new();
        let items = parse(
            "t",
            "\n[open\n = 3\nnonsense\n[]\nok = 1\n",
            &mut diagnostics,
        );
        assert_eq!(items.len(), 1);
        assert_eq!(
            diagnostics
                .iter()
                .map(|d| d.at.as_ref().unwrap().line)
                .collect::<Vec<_>>(),
            [2, 3, 4, 5]
        );
    }

    #[test]
    fn no_bytes_make_it_fail_or_loop() {
        for text in [
            "\\",
            "\\\n\\\n\\",
            "=",
            "[",
            "]",
            "[]\\",
            "\u{0}=\u{0}",
            "[a]]=\\\n",
            " \\ \\ \n = ",
        ] {
            let _ = parse("t", text, &mut Vec::new());
        }
    }
}
