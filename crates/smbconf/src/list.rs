//! Lists in smb.conf: words, user names, file name patterns.

/// Splits at spaces, tabs, commas and semicolons; double quotes protect them.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let (mut quoted, mut started) = (false, false);
    for c in text.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                started = true;
            }
            ' ' | '\t' | ',' | ';' | '\n' | '\r' if !quoted => {
                if started {
                    words.push(std::mem::take(&mut word));
                }
                started = false;
            }
            other => {
                word.push(other);
                started = true;
            }
        }
    }
    if started {
        words.push(word);
    }
    words
}

/// User names, compared without case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(Vec<String>);

impl Names {
    /// Creates a list; keeps the spelling.
    pub fn new(names: Vec<String>) -> Self {
        Self(names)
    }

    /// Whether the list contains `name`.
    pub fn contains(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.0.iter().any(|n| n.to_lowercase() == name)
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names in their original spelling.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// File name patterns such as `/*.tmp/Thumbs.db/`: `*` matches any text, `?` one character; case is ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patterns(Vec<String>);

impl Patterns {
    /// Splits at slashes. A text without a slash is one pattern.
    pub fn parse(text: &str) -> Self {
        Self(
            text.split('/')
                .map(str::trim)
                .filter(|p| !p.is_empty())
                .map(str::to_lowercase)
                .collect(),
        )
    }

    /// Whether one of them matches `name`, a component of a path.
    pub fn matches(&self, name: &str) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let name: Vec<char> = name.to_lowercase().chars().collect();
        self.0
            .iter()
            .any(|p| matches(&p.chars().collect::<Vec<_>>(), &name))
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The patterns, lower case.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// Wildcard match in time proportional to the product of both lengths: after a mismatch only the last `*` is extended.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p + 1, n));
                p += 1;
            }
            Some(c) if *c == '?' || name.get(n) == Some(c) => {
                p += 1;
                n += 1;
            }
            _ => match retry {
                Some((after_star, taken)) => {
                    retry = Some((after_star, taken + 1));
                    p = after_star;
                    n = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_separated_by_spaces_and_commas_except_in_quotes() {
        assert_eq!(
            words("alice, bob\t\"Jo Ann\",,"),
            ["alice", "bob", "Jo Ann"]
        );
        assert_eq!(words("  "), Vec::<String>::new());
        assert_eq!(words("\"\""), [""]);
    }

    #[test]
    fn user_names_ignore_case() {
        let names = Names::new(vec!["Alice".into()]);
        assert!(names.contains("ALICE"));
        assert!(!names.contains("alic"));
    }

    #[test]
    fn patterns_match_whole_names_without_regard_to_case() {
        let p = Patterns::parse("/*.tmp/Thumbs.db/~$?*/");
        for name in ["a.TMP", ".tmp", "THUMBS.DB", "~$a.doc"] {
            assert!(p.matches(name), "{name}");
        }
        for name in ["tmp", "a.tmpx", "Thumbs.dbx", "~$", ""] {
            assert!(!p.matches(name), "{name}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_does_not_explode() {
        let p = Patterns::parse(&"*a".repeat(200));
        assert!(!p.matches(&"a".repeat(199)));
        assert!(p.matches(&"a".repeat(200)));
    }
}
