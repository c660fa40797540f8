//! Splits and checks a client's path, with the error codes of NT.
//!
//! The rules follow the answers of NT ([MS-CIFS] 2.2.1.1, and the error codes that interoperability tests expect). A
//! `..` out of the root is a syntax error. A `.` is an invalid name in the last component, and a path not found before
//! others. Empty components are ignored. An illegal character anywhere is an invalid name.

use super::wildcard::has_wildcards;
use alloc::{borrow::ToOwned, string::String};
use coax_wire::codepage::utf16;

/// The error of a path, in NT's terms. The translation for DOS clients, which have fewer codes, happens elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// STATUS_OBJECT_NAME_INVALID: a character or a component that no name may have.
    #[error("invalid name")]
    NameInvalid,
    /// STATUS_OBJECT_PATH_SYNTAX_BAD: the path leaves the share's root.
    #[error("path leaves the root")]
    PathSyntaxBad,
    /// STATUS_OBJECT_PATH_NOT_FOUND: a component follows a `.`.
    #[error("path not found")]
    PathNotFound,
}

/// The path syntax of a kind of client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRules {
    /// Periods and spaces at the end of a component are ignored, as in DOS, where `FOO.` is `FOO`.
    pub trims_trailing: bool,
    /// `name:stream` names a stream; otherwise a colon is an illegal character.
    pub streams: bool,
    /// `/` separates as `\` does; otherwise it is an illegal character.
    pub slashes: bool,
}

impl PathRules {
    /// NT and all clients with NT LM 0.12: names are literal, streams exist, and a slash is not a separator
    /// (interoperability tests expect an invalid name).
    pub const NT: Self = Self {
        trims_trailing: false,
        streams: true,
        slashes: false,
    };
    /// DOS, OS/2 and all earlier dialects.
    pub const DOS: Self = Self {
        trims_trailing: true,
        streams: false,
        slashes: true,
    };

    /// Whether this character separates components.
    const fn separates(self, c: char) -> bool {
        c == '\\' || (c == '/' && self.slashes)
    }
}

/// Whether the last component may be a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wildcards {
    /// A wildcard is an illegal character.
    Refuse,
    /// The last component may hold wildcards (DELETE, RENAME, COPY, SEARCH).
    InLast,
}

/// The kind of object that a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// A file or directory.
    Plain,
    /// A file's data, named as a stream: `NAME::$DATA`. Folders have none.
    Data,
    /// A named stream of a file; the name as sent, without `:$DATA`.
    Stream(String),
}

/// A path beneath a share's root. No component is empty, `.` or `..`, or contains a separator, a NUL or another illegal
/// character. Names are in the client's spelling; [`super::index`] finds the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientPath {
    /// Components joined by `/`.
    text: String,
    kind: PathKind,
    trailing_separator: bool,
}

/// A component's length limit in UTF-16 units.
const MAX_COMPONENT: usize = 255;

impl ClientPath {
    /// Splits and checks a decoded path; `\` and `/` both separate.
    pub fn parse(raw: &str, rules: PathRules, wildcards: Wildcards) -> Result<Self, PathError> {
        let mut parser = Parser {
            rules,
            wildcards,
            text: String::with_capacity(raw.len()),
            dot: false,
            closed: None,
        };
        for component in raw.split(|c| rules.separates(c)).filter(|c| !c.is_empty()) {
            parser.component(component)?;
        }
        if parser.dot {
            return Err(PathError::NameInvalid);
        }
        let kind = match parser.closed {
            Some(Last::Stream(kind)) => kind,
            _ => PathKind::Plain,
        };
        Ok(Self {
            text: parser.text,
            kind,
            trailing_separator: raw.ends_with(|c| rules.separates(c)),
        })
    }

    /// Parses the name of another stream of the same file: `:NAME`, `:NAME:$DATA` or `::$DATA`, the target of stream
    /// renames ([MS-FSCC] 2.4.42). `None` if `raw` has another form.
    ///
    /// # Errors
    /// The error of the name.
    pub fn stream_beside(raw: &str, rules: PathRules) -> Result<Option<Self>, PathError> {
        match raw.strip_prefix(':').filter(|_| rules.streams) {
            Some(stream) => Ok(Some(Self {
                kind: parse_stream(stream)?,
                ..Self::root()
            })),
            None => Ok(None),
        }
    }

    /// The path of `name` in this folder.
    ///
    /// # Errors
    /// The error of the name.
    pub fn child(&self, name: &str, rules: PathRules) -> Result<Self, PathError> {
        if name.is_empty() || name.contains(['\\', '/']) {
            return Err(PathError::NameInvalid);
        }
        let name = Self::parse(name, rules, Wildcards::Refuse)?;
        let mut text = self.text.clone();
        if !text.is_empty() {
            text.push('/');
        }
        text.push_str(&name.text);
        Ok(Self { text, ..name })
    }

    /// The share's root.
    pub const fn root() -> Self {
        Self {
            text: String::new(),
            kind: PathKind::Plain,
            trailing_separator: false,
        }
    }

    /// Whether this is the share's root.
    pub fn is_root(&self) -> bool {
        self.text.is_empty()
    }

    /// The components joined by `/`; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The components, from the root down.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.text.split('/').filter(|c| !c.is_empty())
    }

    /// All components but the last, joined by `/`.
    pub fn parent(&self) -> &str {
        self.text.rsplit_once('/').map_or("", |(parent, _)| parent)
    }

    /// The last component; `None` for the root.
    pub fn last(&self) -> Option<&str> {
        self.components().next_back()
    }

    /// Whether the last component has wildcards.
    pub fn has_wildcards(&self) -> bool {
        self.last().is_some_and(has_wildcards)
    }

    /// File, directory or stream.
    pub const fn kind(&self) -> &PathKind {
        &self.kind
    }

    /// Whether the path ended with a separator. Some clients mark a directory that way.
    pub const fn has_trailing_separator(&self) -> bool {
        self.trailing_separator
    }
}

/// The path of a search: the folder, and the pattern as the client sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchPath {
    /// Where to search.
    pub folder: ClientPath,
    /// The pattern: everything after the last separator, with trailing periods (`*.` differs from `*`). Empty means all
    /// files ([MS-CIFS] 3.3.5.47).
    pub pattern: String,
}

impl SearchPath {
    /// Splits and checks the path. Checks the folder first and separately, as NT does.
    pub fn parse(raw: &str, rules: PathRules) -> Result<Self, PathError> {
        let cut = raw.rfind(|c| rules.separates(c)).map_or(0, |at| at + 1);
        let (folder, pattern) = (
            raw.get(..cut).unwrap_or_default(),
            raw.get(cut..).unwrap_or_default(),
        );
        let parent = ClientPath::parse(folder, rules, Wildcards::Refuse)?;
        if matches!(pattern, "." | "..") {
            let whole = ClientPath::parse(raw, rules, Wildcards::Refuse)?;
            let pattern = whole.last().unwrap_or_default().to_owned();
            let folder = ClientPath {
                text: whole.parent().to_owned(),
                ..ClientPath::root()
            };
            return Ok(Self { folder, pattern });
        }
        if pattern.chars().any(|c| is_illegal(c) || c == ':') || utf16::len(pattern) > MAX_COMPONENT
        {
            return Err(PathError::NameInvalid);
        }
        Ok(Self {
            folder: parent,
            pattern: pattern.to_owned(),
        })
    }
}

/// A component that must be the last.
enum Last {
    Pattern,
    Stream(PathKind),
}

struct Parser {
    rules: PathRules,
    wildcards: Wildcards,
    text: String,
    /// A `.` was seen.
    dot: bool,
    closed: Option<Last>,
}

impl Parser {
    fn component(&mut self, component: &str) -> Result<(), PathError> {
        if self.dot {
            return Err(PathError::PathNotFound);
        }
        if self.closed.is_some() {
            return Err(PathError::NameInvalid);
        }
        match component {
            "." => self.dot = true,
            ".." => self.up()?,
            name => self.down(name)?,
        }
        Ok(())
    }

    fn up(&mut self) -> Result<(), PathError> {
        if self.text.is_empty() {
            return Err(PathError::PathSyntaxBad);
        }
        self.text.truncate(self.text.rfind('/').unwrap_or(0));
        Ok(())
    }

    fn down(&mut self, component: &str) -> Result<(), PathError> {
        let (name, stream) = match component.split_once(':') {
            None => (component, None),
            Some((name, stream)) if self.rules.streams => (name, Some(parse_stream(stream)?)),
            Some(_) => return Err(PathError::NameInvalid),
        };
        let name = if self.rules.trims_trailing {
            name.trim_end_matches(['.', ' '])
        } else {
            name
        };
        if matches!(name, "" | "." | "..")
            || name.chars().any(is_illegal)
            || utf16::len(name) > MAX_COMPONENT
        {
            return Err(PathError::NameInvalid);
        }
        if let Some(stream) = stream {
            self.closed = Some(Last::Stream(stream));
        }
        if has_wildcards(name) {
            if self.wildcards == Wildcards::Refuse || self.closed.is_some() {
                return Err(PathError::NameInvalid);
            }
            self.closed = Some(Last::Pattern);
        }
        if !self.text.is_empty() {
            self.text.push('/');
        }
        self.text.push_str(name);
        Ok(())
    }
}

/// Parses the text after a colon: `stream`, `stream:$DATA`, or `:$DATA`, which is the file itself ([MS-FSCC] 2.1.5).
/// Clients cannot open types other than `$DATA`.
fn parse_stream(text: &str) -> Result<PathKind, PathError> {
    let (name, kind) = text.split_once(':').unwrap_or((text, ""));
    let data = kind.eq_ignore_ascii_case("$DATA");
    let typed = text.contains(':');
    if (typed && !data)
        || (!typed && name.is_empty())
        || name.contains(['\0', '/', '\\'])
        || utf16::len(name) > MAX_COMPONENT
    {
        return Err(PathError::NameInvalid);
    }
    Ok(if name.is_empty() {
        PathKind::Data
    } else {
        PathKind::Stream(name.to_owned())
    })
}

/// Characters that are illegal in names and patterns. The caller has already handled separators and colons.
fn is_illegal(c: char) -> bool {
    matches!(c, '\0'..='\x1f' | '|' | '/')
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
    use PathError::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn nt(raw: &str) -> Result<String, PathError> {
        ClientPath::parse(raw, PathRules::NT, Wildcards::Refuse).map(|p| p.text)
    }

    fn dos(raw: &str) -> Result<String, PathError> {
        ClientPath::parse(raw, PathRules::DOS, Wildcards::Refuse).map(|p| p.text)
    }

    #[test]
    fn separators_may_be_doubled_leading_and_trailing() {
        for raw in [
            "\\a\\b",
            "a\\b",
            "\\\\\\\\a\\\\b\\\\\\",
            "a\\x\\..\\b",
            "a\\b\\f\\o\\o\\..\\..\\..",
            "a\\\\..\\a\\b\\",
        ] {
            assert_eq!(nt(raw).unwrap(), "a/b", "{raw}");
        }
        for raw in ["", "\\", "a\\..", "\\a\\..\\"] {
            assert_eq!(nt(raw).unwrap(), "", "{raw}");
        }
    }

    #[test]
    fn a_slash_separates_for_dos_and_is_illegal_for_nt() {
        assert_eq!(dos("/a/b\\c/").unwrap(), "a/b/c");
        for raw in ["a/b", "/", "a\\b/"] {
            assert_eq!(nt(raw), Err(NameInvalid), "{raw}");
        }
        let pattern = SearchPath::parse("a/*", PathRules::NT);
        assert_eq!(pattern, Err(NameInvalid));
    }

    #[test]
    fn leaving_the_root_is_a_syntax_error() {
        for raw in [
            "..",
            "\\..",
            "\\..\\",
            "..\\..\\..",
            "a\\..\\..",
            "a\\..\\..\\a",
        ] {
            assert_eq!(nt(raw), Err(PathSyntaxBad), "{raw}");
            assert_eq!(dos(raw), Err(PathSyntaxBad), "{raw}");
        }
    }

    #[test]
    fn a_dot_is_an_invalid_name_last_and_a_missing_path_before() {
        for raw in [".", ".\\", "\\\\\\.\\", "a\\.", "\\.\\\\\\\\\\", "a\\.\\\\"] {
            assert_eq!(nt(raw), Err(NameInvalid), "{raw}");
        }
        for raw in [
            ".\\.",
            ".\\a",
            "a\\.\\test.txt..",
            ".\\.\\",
            ".\\.\\.aaaaa",
            "\\.\\\\xxx",
            "a.\\.\\.\\.\\foo\\..\\.\\",
        ] {
            assert_eq!(nt(raw), Err(PathNotFound), "{raw}");
        }
    }

    #[test]
    fn illegal_characters_are_invalid_names_wherever_they_are() {
        for raw in [
            "\t", "\t\\bla", "<", "<\\bla", "a|b", "a\0", "*", "a?\\b", "a\"b", "a>b",
        ] {
            assert_eq!(nt(raw), Err(NameInvalid), "{raw:?}");
        }
    }

    #[test]
    fn nt_keeps_trailing_periods_and_dos_drops_them() {
        assert_eq!(nt("dir.\\test.txt..").unwrap(), "dir./test.txt..");
        assert_eq!(dos("DIR.\\TEST.TXT..").unwrap(), "DIR/TEST.TXT");
        assert_eq!(dos("A B  \\FOO. ").unwrap(), "A B/FOO");
        assert_eq!(dos("..."), Err(NameInvalid));
    }

    #[test]
    fn wildcards_are_legal_only_in_the_last_component() {
        let path = ClientPath::parse("dir\\*.T?T", PathRules::DOS, Wildcards::InLast).unwrap();
        assert!(path.has_wildcards());
        assert_eq!((path.parent(), path.last()), ("dir", Some("*.T?T")));
        assert_eq!(
            ClientPath::parse("d*r\\x", PathRules::DOS, Wildcards::InLast),
            Err(NameInvalid)
        );
        assert_eq!(
            ClientPath::parse("d*r\\..", PathRules::DOS, Wildcards::InLast),
            Err(NameInvalid)
        );
    }

    #[test]
    fn a_colon_marks_a_stream_for_nt_only() {
        let stream = |raw: &str| {
            ClientPath::parse(raw, PathRules::NT, Wildcards::Refuse).map(|p| (p.text, p.kind))
        };
        let named = PathKind::Stream("s x".to_owned());
        assert_eq!(
            stream("d\\f.txt:s x"),
            Ok(("d/f.txt".to_owned(), named.clone()))
        );
        assert_eq!(
            stream("d\\f.txt:s x:$data"),
            Ok(("d/f.txt".to_owned(), named))
        );
        assert_eq!(stream("f::$DATA"), Ok(("f".to_owned(), PathKind::Data)));
        for raw in [
            "f:",
            ":s",
            ".:s",
            "..:s",
            "f::",
            "f:s:$BITMAP",
            "f:s\\g",
            "f:s/g",
            "f::$DATA:x",
        ] {
            assert_eq!(stream(raw), Err(NameInvalid), "{raw}");
        }
        assert_eq!(dos("f:s"), Err(NameInvalid));
        let beside = |raw: &str| ClientPath::stream_beside(raw, PathRules::NT);
        let kind = |raw: &str| beside(raw).map(|path| path.map(|path| path.kind));
        assert_eq!(kind(":s:$DATA"), Ok(Some(PathKind::Stream("s".to_owned()))));
        assert_eq!(kind("::$DATA"), Ok(Some(PathKind::Data)));
        assert_eq!((kind("f:s"), kind(":")), (Ok(None), Err(NameInvalid)));
        assert_eq!(ClientPath::stream_beside(":s", PathRules::DOS), Ok(None));
    }

    #[test]
    fn a_component_longer_than_255_units_is_an_invalid_name() {
        assert!(nt(&"ä".repeat(255)).is_ok());
        assert_eq!(nt(&"ä".repeat(256)), Err(NameInvalid));
        assert_eq!(nt(&"😀".repeat(128)), Err(NameInvalid));
    }

    #[test]
    fn a_path_returns_its_parts() {
        let path = ClientPath::parse("a\\b\\c\\", PathRules::NT, Wildcards::Refuse).unwrap();
        assert_eq!(path.components().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(
            (path.parent(), path.last(), path.has_trailing_separator()),
            ("a/b", Some("c"), true)
        );
        let root = ClientPath::root();
        assert!(root.is_root() && root.last().is_none() && root.components().next().is_none());
    }

    #[test]
    fn a_search_checks_its_folder_first() {
        let search =
            |raw: &str| SearchPath::parse(raw, PathRules::DOS).map(|s| (s.folder.text, s.pattern));
        let found = |folder: &str, pattern: &str| Ok((folder.to_owned(), pattern.to_owned()));
        assert_eq!(search("\\????????.???"), found("", "????????.???"));
        assert_eq!(search("\\DIR\\SUB\\*."), found("DIR/SUB", "*."));
        assert_eq!(search("\\DIR\\"), found("DIR", ""));
        assert_eq!(search("*"), found("", "*"));
        assert_eq!(search("\\.\\\\\\\\\\\\."), Err(NameInvalid));
        assert_eq!(search("a.\\.\\.\\.\\foo\\..\\.\\"), Err(PathNotFound));
        assert_eq!(search("\\.."), Err(PathSyntaxBad));
        assert_eq!(search("\\a\\b\\.."), found("", "a"));
        assert_eq!(search("a*\\*.*"), Err(NameInvalid));
        assert_eq!(search("a\\b|c"), Err(NameInvalid));
    }

    proptest! {
        #[test]
        fn no_accepted_path_leaves_the_root_or_has_illegal_components(raw in "[ab.:*/\\\\ \u{0}ä]{0,16}") {
            for rules in [PathRules::NT, PathRules::DOS] {
                for wildcards in [Wildcards::Refuse, Wildcards::InLast] {
                    let Ok(path) = ClientPath::parse(&raw, rules, wildcards) else { continue };
                    for part in path.components() {
                        prop_assert!(!matches!(part, "." | "..") && !part.contains(['\\', '/', '\0', ':']));
                    }
                    prop_assert!(!path.text.starts_with('/') && !path.text.ends_with('/') && !path.text.contains("//"));
                    let sent = path.text.replace('/', "\\");
                    let again = ClientPath::parse(&sent, rules, wildcards).unwrap();
                    prop_assert_eq!(again.text, path.text);
                }
            }
        }
    }
}
