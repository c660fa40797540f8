//! LMHOSTS: names and addresses in a file, with the directives of Windows (KB Q150800, Q180094) and the suffixes of
//! Samba (`NAME#20`).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::Ipv4Addr;

use coax_wire::nbt::name::{MAX_CHARACTERS, NbName};

use crate::quoted::unescaped;

/// How deep `#INCLUDE` may nest.
const MAX_DEPTH: usize = 8;
/// The most entries of a file and those it includes.
const MAX_ENTRIES: usize = 20_000;
/// The most problems that are reported.
const MAX_PROBLEMS: usize = 100;
/// The suffix of a domain's controllers.
const SUFFIX_CONTROLLERS: u8 = 0x1c;

/// One line that maps a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LmhostsEntry {
    /// The address.
    pub address: Ipv4Addr,
    /// The name. Its suffix counts only if `suffix` is true.
    pub name: NbName,
    /// The line gives the name's suffix.
    pub suffix: bool,
    /// `#PRE`: looked at before any query is sent.
    pub preloaded: bool,
    /// `#DOM`: the station is a controller of this domain.
    pub domain: Option<NbName>,
    /// `#SG`, `#MH` or `#DOM`: one of several addresses of the name.
    pub several: bool,
}

/// A line that could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LmhostsProblem {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
    /// What would be right.
    pub remedy: &'static str,
}

impl core::fmt::Display for LmhostsProblem {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self {
            file,
            line,
            reason,
            remedy,
        } = self;
        write!(f, "{file}, line {line}: {reason}; {remedy}")
    }
}

/// The entries of an LMHOSTS file and of those it includes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lmhosts {
    entries: Vec<LmhostsEntry>,
    problems: Vec<LmhostsProblem>,
}

impl Lmhosts {
    /// Reads `file` and what it includes. `open` returns the text of a file, or why it cannot be read.
    pub fn load(file: &str, open: &mut dyn FnMut(&str) -> Result<String, String>) -> Self {
        let mut lmhosts = Self::default();
        match open(file) {
            Ok(text) => lmhosts.read(file, &text, 0, open),
            Err(reason) => lmhosts.problem(
                file,
                0,
                format!("cannot be read: {reason}"),
                "name an LMHOSTS file",
            ),
        }
        lmhosts
    }

    /// The entries, in order.
    pub fn entries(&self) -> &[LmhostsEntry] {
        &self.entries
    }

    /// Lines that could not be used.
    pub fn problems(&self) -> &[LmhostsProblem] {
        &self.problems
    }

    /// The addresses of a name. With `preloaded` only entries with `#PRE` count, which Windows looks at before it
    /// asks the network.
    pub fn addresses(&self, name: &NbName, preloaded: bool) -> Vec<Ipv4Addr> {
        let mut found: Vec<Ipv4Addr> = Vec::new();
        for entry in &self.entries {
            if preloaded && !entry.preloaded || !entry.is_for(name) {
                continue;
            }
            if !found.contains(&entry.address) {
                found.push(entry.address);
            }
            if !entry.several && name.suffix() != SUFFIX_CONTROLLERS {
                break;
            }
        }
        found
    }

    fn read(
        &mut self,
        file: &str,
        text: &str,
        depth: usize,
        open: &mut dyn FnMut(&str) -> Result<String, String>,
    ) {
        let mut alternates: Option<Alternates> = None;
        for (number, line) in text.lines().enumerate() {
            let number = number.saturating_add(1);
            match Line::parse(line) {
                Ok(Line::Nothing) => {}
                Ok(Line::Entry(entry)) if self.entries.len() < MAX_ENTRIES => {
                    self.entries.push(entry);
                }
                Ok(Line::Entry(_)) => {
                    let reason = format!("there are more than {MAX_ENTRIES} entries");
                    return self.problem(file, number, reason, "use a WINS server");
                }
                Ok(Line::Begin) => alternates = Some(Alternates::default()),
                Ok(Line::End) => {
                    let failed = alternates.take().filter(|a| !a.found);
                    for why in failed.into_iter().flat_map(|a| a.failures) {
                        self.problem(file, number, why, "none of the alternatives can be read");
                    }
                }
                Ok(Line::Include(_)) if alternates.as_ref().is_some_and(|a| a.found) => {}
                Ok(Line::Include(other)) => {
                    let outcome = self.include(&other, depth, open);
                    match (outcome, &mut alternates) {
                        (Ok(()), Some(alternates)) => alternates.found = true,
                        (Err(why), Some(alternates)) => alternates.failures.push(why),
                        (Err(why), None) => {
                            self.problem(file, number, why, "name a file that can be read");
                        }
                        (Ok(()), None) => {}
                    }
                }
                Err((reason, remedy)) => self.problem(file, number, reason, remedy),
            }
        }
    }

    fn include(
        &mut self,
        file: &str,
        depth: usize,
        open: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<(), String> {
        if depth >= MAX_DEPTH {
            return Err(format!(
                "#INCLUDE {file} is nested more than {MAX_DEPTH} deep"
            ));
        }
        let text = open(file).map_err(|why| format!("#INCLUDE {file} cannot be read: {why}"))?;
        self.read(file, &text, depth.saturating_add(1), open);
        Ok(())
    }

    fn problem(&mut self, file: &str, line: usize, reason: String, remedy: &'static str) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(LmhostsProblem {
                file: file.to_string(),
                line,
                reason,
                remedy,
            });
        }
    }
}

impl LmhostsEntry {
    fn is_for(&self, name: &NbName) -> bool {
        let domain = self.domain.is_some_and(|domain| {
            name.suffix() == SUFFIX_CONTROLLERS && domain.characters() == name.characters()
        });
        let own = if self.suffix {
            self.name == *name
        } else {
            self.name.characters() == name.characters() && name.suffix() != SUFFIX_CONTROLLERS
        };
        own || domain
    }
}

/// `#BEGIN_ALTERNATE` to `#END_ALTERNATE`: the first file that can be read is included.
#[derive(Default)]
struct Alternates {
    found: bool,
    failures: Vec<String>,
}

/// A line of the file.
enum Line {
    Nothing,
    Entry(LmhostsEntry),
    Include(String),
    Begin,
    End,
}

impl Line {
    fn parse(line: &str) -> Result<Self, (String, &'static str)> {
        let line = line.trim();
        if let Some(directive) = line.strip_prefix('#') {
            return Self::directive(directive);
        }
        let Some((address, rest)) = line.split_once(char::is_whitespace) else {
            return match line.is_empty() {
                true => Ok(Self::Nothing),
                false => Err((format!("'{line}' has no name"), "write ADDRESS NAME")),
            };
        };
        let address: Ipv4Addr = address.parse().map_err(|_| {
            (
                format!("'{address}' is no IPv4 address"),
                "write ADDRESS NAME, as in 192.168.1.5 TOWER",
            )
        })?;
        entry(address, rest.trim_start()).map(Self::Entry)
    }

    fn directive(text: &str) -> Result<Self, (String, &'static str)> {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word.to_ascii_uppercase().as_str() {
            "INCLUDE" if rest.trim().is_empty() => {
                Err(("#INCLUDE without a file".to_string(), "name a file"))
            }
            "INCLUDE" => Ok(Self::Include(rest.trim().trim_matches('"').to_string())),
            "BEGIN_ALTERNATE" => Ok(Self::Begin),
            "END_ALTERNATE" => Ok(Self::End),
            // Any other line that begins with # is a comment.
            _ => Ok(Self::Nothing),
        }
    }
}

fn entry(address: Ipv4Addr, rest: &str) -> Result<LmhostsEntry, (String, &'static str)> {
    let (name, suffix, rest) = take_name(rest)?;
    let mut entry = LmhostsEntry {
        address,
        name,
        suffix,
        preloaded: false,
        domain: None,
        several: false,
    };
    for word in rest.split_whitespace() {
        let Some(keyword) = word.strip_prefix('#') else {
            let reason = format!("'{word}' follows the name");
            return Err((reason, "put names with blanks into quotation marks"));
        };
        let (keyword, value) = keyword.split_once(':').unwrap_or((keyword, ""));
        match keyword.to_ascii_uppercase().as_str() {
            "PRE" => entry.preloaded = true,
            "MH" => entry.several = true,
            "SG" => {
                entry.several = true;
            }
            "DOM" => {
                entry.several = true;
                entry.domain = Some(domain(value)?);
            }
            "NOFNR" => {}
            // Whatever else follows a # is a comment up to the end of the line.
            _ => break,
        }
    }
    Ok(entry)
}

fn domain(text: &str) -> Result<NbName, (String, &'static str)> {
    NbName::new(text.as_bytes(), SUFFIX_CONTROLLERS)
        .map_err(|error| (format!("#DOM:{text}: {error}"), "write #DOM:DOMAIN"))
}

type Taken<'a> = (NbName, bool, &'a str);

/// The name, whether it has a suffix of its own, and the rest of the line.
fn take_name(rest: &str) -> Result<Taken<'_>, (String, &'static str)> {
    const QUOTES: &str = "write \"NAME           \\0x20\" with 15 characters before the suffix";
    if let Some(quoted) = rest.strip_prefix('"') {
        let (name, rest) = quoted
            .split_once('"')
            .ok_or(("the second quotation mark is missing".to_string(), QUOTES))?;
        if let Some((name, suffix)) = hash_suffix(name) {
            return Ok((named(name, suffix)?, true, rest));
        }
        let bytes = unescaped(name).map_err(|why| (why, QUOTES))?;
        return match <[u8; 16]>::try_from(bytes.as_slice()) {
            Ok(bytes) => Ok((NbName(bytes.map(|b| b.to_ascii_uppercase())), true, rest)),
            Err(_) if bytes.len() <= MAX_CHARACTERS => Ok((named_bytes(&bytes, 0)?, false, rest)),
            Err(_) => Err((format!("the name has {} bytes", bytes.len()), QUOTES)),
        };
    }
    let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match hash_suffix(word) {
        Some((name, suffix)) => Ok((named(name, suffix)?, true, rest)),
        None => Ok((named(word, 0)?, false, rest)),
    }
}

/// `NAME#20`, as Samba has it.
fn hash_suffix(word: &str) -> Option<(&str, u8)> {
    let (name, suffix) = word.rsplit_once('#')?;
    let two = suffix.len() == 2;
    let suffix = u8::from_str_radix(suffix, 16).ok().filter(|_| two)?;
    Some((name, suffix))
}

fn named(text: &str, suffix: u8) -> Result<NbName, (String, &'static str)> {
    named_bytes(text.as_bytes(), suffix)
}

fn named_bytes(bytes: &[u8], suffix: u8) -> Result<NbName, (String, &'static str)> {
    NbName::new(bytes, suffix).map_err(|error| {
        let name = String::from_utf8_lossy(bytes);
        (
            format!("'{name}': {error}"),
            "a name has 1 to 15 characters",
        )
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn load(files: &[(&str, &str)]) -> Lmhosts {
        Lmhosts::load("lmhosts", &mut |wanted| {
            let found = files.iter().find(|(name, _)| *name == wanted);
            found
                .map(|(_, text)| (*text).to_string())
                .ok_or("no such file".into())
        })
    }

    fn found(lmhosts: &Lmhosts, name: &str, preloaded: bool) -> Vec<u8> {
        let addresses = lmhosts.addresses(&name.parse().unwrap(), preloaded);
        addresses
            .iter()
            .map(|address| address.octets()[3])
            .collect()
    }

    #[test]
    fn names_keywords_and_comments_are_understood() {
        let text = "# a comment\n\
            10.0.0.1  tower\n\
            10.0.0.2 DC1 #PRE #DOM:LAB   #the controller\n\
            10.0.0.3\tdc2 #DOM:LAB #PRE\n\
            10.0.0.4 FILES#20 #PRE\n\
            10.0.0.5 \"APP SERVER     \\0x14\" #PRE\n\
            10.0.0.6 multi #MH\n\
            10.0.0.7 multi #MH\n\
            10.0.0.9 tower\n";
        let lmhosts = load(&[("lmhosts", text)]);
        assert_eq!(lmhosts.problems(), []);
        assert_eq!(found(&lmhosts, "TOWER<20>", false), [1]);
        assert_eq!(found(&lmhosts, "TOWER<20>", true), []);
        assert_eq!(found(&lmhosts, "LAB<1c>", true), [2, 3]);
        assert_eq!(found(&lmhosts, "DC1<00>", true), [2]);
        assert_eq!(found(&lmhosts, "FILES<20>", true), [4]);
        assert_eq!(found(&lmhosts, "FILES<00>", true), []);
        assert_eq!(found(&lmhosts, "APP SERVER<14>", true), [5]);
        assert_eq!(found(&lmhosts, "MULTI<20>", false), [6, 7]);
    }

    #[test]
    fn the_first_alternative_that_can_be_read_is_included() {
        let text = "#BEGIN_ALTERNATE\n#INCLUDE missing\n#INCLUDE a\n#INCLUDE b\n#END_ALTERNATE\n#INCLUDE b\n";
        let a = "10.0.0.1 one\n";
        let b = "10.0.0.2 two\n";
        let lmhosts = load(&[("lmhosts", text), ("a", a), ("b", b)]);
        assert_eq!(lmhosts.problems(), []);
        assert_eq!(lmhosts.entries().len(), 2);
        let lmhosts = load(&[("lmhosts", text), ("b", b)]);
        assert_eq!(lmhosts.entries().len(), 2, "b twice");
        let lmhosts = load(&[("lmhosts", text)]);
        let lines: Vec<usize> = lmhosts.problems().iter().map(|p| p.line).collect();
        assert_eq!(lines, [5, 5, 5, 6]);
    }

    #[test]
    fn a_bad_line_is_told_with_file_line_and_remedy_and_the_others_count() {
        let text = "10.0.0.300 x\n10.0.0.1\n10.0.0.2 a b\n10.0.0.3 \"abc\n10.0.0.4 sixteencharacters\n\
            10.0.0.5 good\n#INCLUDE lmhosts\n#INCLUDE\n10.0.0.6 d #DOM:\n";
        let lmhosts = load(&[("lmhosts", text)]);
        let here: Vec<usize> = (lmhosts.problems().iter()).map(|p| p.line).collect();
        // Each of nine readings reports seven lines; the ninth may include no more.
        assert_eq!(here[..5], [1, 2, 3, 4, 5]);
        let deep = lmhosts.problems().iter().filter(|p| p.line == 7).count();
        assert_eq!(deep, 1);
        assert_eq!(found(&lmhosts, "GOOD<20>", false), [5]);
        let first = lmhosts.problems()[0].to_string();
        assert_eq!(
            first,
            "lmhosts, line 1: '10.0.0.300' is no IPv4 address; write ADDRESS NAME, as in 192.168.1.5 TOWER"
        );
    }

    #[test]
    fn a_file_that_is_missing_is_a_problem() {
        let lmhosts = load(&[]);
        assert_eq!(lmhosts.problems().len(), 1);
        assert!(lmhosts.problems()[0].to_string().contains("no such file"));
    }
}
