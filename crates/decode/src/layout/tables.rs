//! Layouts by message.

use std::sync::OnceLock;

use super::{
    names::Names,
    parse::{Item, Kind, TableError, each_line, hex},
};
use coax_wire::command::{self, COMMANDS};

/// Whose message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// A client's.
    Request,
    /// A server's.
    Response,
}

impl Direction {
    /// The direction that a table names.
    pub(crate) fn named(word: &str) -> Result<Self, &'static str> {
        match word {
            "request" => Ok(Self::Request),
            "response" => Ok(Self::Response),
            _ => Err("neither request nor response"),
        }
    }
}

/// The part of a transaction that a layout describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Setup,
    Parameters,
}

/// Which message a layout belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    /// Commands, direction, word counts (none: any): what the message says, and how many follow.
    Block(Vec<u8>, Direction, Vec<(u8, u8)>),
    /// Command, function, direction, part.
    Function(u8, u16, Direction, Part),
    /// Family and level.
    Level(&'static str, u16),
    /// Names, separated by commas.
    Frame(&'static str),
}

/// The fields of a message or of a part of it.
#[derive(Debug)]
pub(crate) struct Layout {
    key: Key,
    /// The name of a function or of an information level.
    pub(crate) name: &'static str,
    /// Where the layout comes from.
    pub(crate) source: &'static str,
    /// Fields in the parameter words; all fields, if it has no words.
    pub(crate) words: Vec<Item>,
    /// Fields in the data bytes.
    pub(crate) bytes: Vec<Item>,
    in_bytes: bool,
}

/// All tables.
#[derive(Debug)]
pub(crate) struct Tables {
    layouts: Vec<Layout>,
    names: Vec<Names>,
}

const SMB: &str = include_str!("../../layouts/smb.txt");
const TRANSACTIONS: &str = include_str!("../../layouts/transactions.txt");
const FRAMES: &str = include_str!("../../layouts/frames.txt");
const BITS: &str = include_str!("../../layouts/bits.txt");

impl Tables {
    /// The tables of this program.
    pub(crate) fn get() -> &'static Self {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        // a test reads them; a table that cannot be read names no field
        TABLES.get_or_init(|| {
            Self::parse().unwrap_or_else(|_| Self {
                layouts: Vec::new(),
                names: Vec::new(),
            })
        })
    }

    /// Reads the tables.
    pub(crate) fn parse() -> Result<Self, TableError> {
        let mut layouts = Vec::new();
        read("smb.txt", SMB, &mut layouts)?;
        read("transactions.txt", TRANSACTIONS, &mut layouts)?;
        read("frames.txt", FRAMES, &mut layouts)?;
        let names = Names::parse("bits.txt", BITS)?;
        Ok(Self { layouts, names })
    }

    /// The list of names.
    pub(crate) fn names(&self, name: &str) -> Option<&Names> {
        self.names.iter().find(|names| names.name == name)
    }

    /// The layout of a block with this many words.
    pub(crate) fn block(&self, command: u8, direction: Direction, words: u8) -> Option<&Layout> {
        self.layouts.iter().find(|layout| match &layout.key {
            Key::Block(commands, whose, counts) => {
                *whose == direction
                    && commands.contains(&command)
                    && (counts.is_empty() || counts.iter().any(|(said, _)| *said == words))
            }
            _ => false,
        })
    }

    /// The word counts that a command has in this direction; none if any is possible.
    pub(crate) fn word_counts(&self, command: u8, direction: Direction) -> Vec<u8> {
        let mut all: Vec<u8> = Vec::new();
        for layout in &self.layouts {
            match &layout.key {
                Key::Block(commands, whose, counts)
                    if *whose == direction && commands.contains(&command) =>
                {
                    all.extend(counts.iter().map(|(said, _)| *said))
                }
                _ => {}
            }
        }
        all.sort_unstable();
        all
    }

    /// The layout of a part of a transaction.
    pub(crate) fn function(
        &self,
        command: u8,
        function: u16,
        direction: Direction,
        part: Part,
    ) -> Option<&Layout> {
        let wanted = Key::Function(command, function, direction, part);
        self.layouts.iter().find(|layout| layout.key == wanted)
    }

    /// The layout of an information level's data.
    pub(crate) fn level(&self, family: &str, level: u16) -> Option<&Layout> {
        self.layouts.iter().find(|layout| matches!(&layout.key, Key::Level(of, number) if *of == family && *number == level))
    }

    /// The layout of a part of a frame.
    pub(crate) fn frame(&self, name: &str) -> Option<&Layout> {
        self.layouts.iter().find(|layout| matches!(layout.key, Key::Frame(names) if names.split(',').any(|known| known == name)))
    }

    /// Whether this is the title of a part of a frame.
    pub(crate) fn is_frame(&self, title: &str) -> bool {
        let mut frames = self.layouts.iter();
        frames.any(|layout| matches!(layout.key, Key::Frame(_)) && layout.name == title)
    }

    #[cfg(test)]
    pub(crate) fn layouts(&self) -> &[Layout] {
        &self.layouts
    }
}

impl Layout {
    fn new(key: Key, name: &'static str, source: &'static str) -> Self {
        Self {
            key,
            name,
            source: source.trim(),
            words: Vec::new(),
            bytes: Vec::new(),
            in_bytes: false,
        }
    }

    /// How many words follow where a message says that there are `said`.
    pub(crate) fn words_of(&self, said: u8) -> u8 {
        match &self.key {
            Key::Block(_, _, counts) => counts
                .iter()
                .find(|(count, _)| *count == said)
                .map_or(said, |(_, follow)| *follow),
            _ => said,
        }
    }

    /// Whether each entry names the next one.
    pub(crate) fn has_entries(&self) -> bool {
        self.words.iter().any(|item| item.kind == Kind::NextEntry)
    }

    #[cfg(test)]
    pub(crate) fn word_counts(&self) -> &[(u8, u8)] {
        match &self.key {
            Key::Block(_, _, counts) => counts,
            _ => &[],
        }
    }
}

fn read(
    file: &'static str,
    text: &'static str,
    layouts: &mut Vec<Layout>,
) -> Result<(), TableError> {
    each_line(file, text, |line, is_field| match is_field {
        true => add(layouts.last_mut().ok_or("no message before")?, line),
        false => head(line).map(|layout| layouts.push(layout)),
    })
}

fn add(layout: &mut Layout, line: &'static str) -> Result<(), &'static str> {
    if line == "bytes" {
        layout.in_bytes = true;
        return Ok(());
    }
    let item = Item::parse(line)?;
    match layout.in_bytes {
        true => layout.bytes.push(item),
        false => layout.words.push(item),
    }
    Ok(())
}

fn head(line: &'static str) -> Result<Layout, &'static str> {
    let (what, source) = line.split_once("  ").ok_or("no source")?;
    if let Some(frame) = what.strip_prefix("frame ") {
        let (names, title) = frame.split_once(' ').ok_or("no title")?;
        return Ok(Layout::new(Key::Frame(names), title, source));
    }
    let words: Vec<&'static str> = what.split_whitespace().collect();
    let (key, name) = match words.as_slice() {
        ["level", family, code, name] => (Key::Level(family, number(code)?), *name),
        [command, code, name, direction, part] => {
            let part = match *part {
                "setup" => Part::Setup,
                "parameters" => Part::Parameters,
                _ => return Err("no such part"),
            };
            (
                Key::Function(
                    code_of(command)?,
                    number(code)?,
                    Direction::named(direction)?,
                    part,
                ),
                *name,
            )
        }
        [commands, direction, counts] => {
            let codes = commands.split(',').map(code_of).collect::<Result<_, _>>()?;
            (
                Key::Block(codes, Direction::named(direction)?, word_counts(counts)?),
                *commands,
            )
        }
        _ => return Err("no message"),
    };
    Ok(Layout::new(key, name, source))
}

fn number(text: &str) -> Result<u16, &'static str> {
    hex(text)
        .and_then(|number| u16::try_from(number).ok())
        .ok_or("no code")
}

fn word_counts(text: &str) -> Result<Vec<(u8, u8)>, &'static str> {
    if text == "*" {
        return Ok(Vec::new());
    }
    let count = |text: &str| text.parse().map_err(|_| "no word count");
    let pair = |text: &str| {
        let (said, follow) = text.split_once('=').unwrap_or((text, text));
        Ok((count(said)?, count(follow)?))
    };
    text.split(',').map(pair).collect()
}

fn code_of(name: &str) -> Result<u8, &'static str> {
    let known = COMMANDS.iter().find(|command| command.name == name);
    known.map(|command| command.code).ok_or("no such command")
}

/// The name of a command, as the tables write it.
pub(crate) fn command_name(code: u8) -> Option<&'static str> {
    command::name(code)
}
