//! A password, typed without being shown.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
};

use zeroize::Zeroizing;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Longer passwords are cut off, bytes.
const LONGEST: usize = 512;
/// What Ctrl-C and Ctrl-D send.
const INTERRUPT: u8 = 3;
const END: u8 = 4;

/// Asks on the terminal; `None` if there is none, or the person gave up.
pub fn password(question: &str) -> Option<Zeroizing<String>> {
    let mut terminal = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/tty")
        .ok()?;
    let quiet = Quiet::begin(&terminal).ok()?;
    write!(terminal, "{question}").ok()?;
    let typed = read_line(&mut terminal);
    drop(quiet);
    // The line that was not shown has not ended yet.
    let _ = writeln!(terminal);
    typed
}

/// Neither echo nor signals for as long as this lives, so that the terminal is never left silent.
struct Quiet {
    terminal: File,
    before: Termios,
}

impl Quiet {
    fn begin(terminal: &File) -> io::Result<Self> {
        let terminal = terminal.try_clone()?;
        let before = tcgetattr(&terminal)?;
        let mut modes = before.clone();
        modes.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        tcsetattr(&terminal, OptionalActions::Flush, &modes)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // There is nobody to tell if the terminal is gone.
        let _ = tcsetattr(&self.terminal, OptionalActions::Flush, &self.before);
    }
}

fn read_line(from: &mut impl Read) -> Option<Zeroizing<String>> {
    let mut line = Zeroizing::new(Vec::with_capacity(LONGEST));
    let mut byte = [0];
    loop {
        match from.read(&mut byte) {
            Ok(1) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            _ => return None,
        }
        match byte {
            [b'\n' | b'\r'] => {
                let text = std::str::from_utf8(&line).ok()?;
                return Some(Zeroizing::new(text.into()));
            }
            [INTERRUPT | END] => return None,
            [8 | 127] => {
                // A character of UTF-8 has one first byte and any number of further ones.
                while line.pop().is_some_and(|last| last & 0xc0 == 0x80) {}
            }
            [other] if line.len() < LONGEST => line.push(other),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_with_its_corrections() {
        let typed = |bytes: &[u8]| {
            read_line(&mut io::Cursor::new(bytes.to_vec())).map(|line| line.to_string())
        };
        assert_eq!(typed(b"hush\n").as_deref(), Some("hush"));
        assert_eq!(
            typed("h\u{fc}\x7fush\r".as_bytes()).as_deref(),
            Some("hush")
        );
        assert_eq!(typed(b"hu\x03"), None);
        assert_eq!(typed(b"hu"), None);
        assert_eq!(typed(b"\n").as_deref(), Some(""));
    }
}
