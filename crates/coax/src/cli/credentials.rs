//! Passwords: where they come from, and how they leave the process list.
//!
//! Every user of this machine can read the arguments of a process, and a process cannot change its own. So coax replaces
//! itself by a second run of the same program, whose arguments have no passwords: `serve` gets them through standard input,
//! from memory that no file names, and the client verbs through the environment, which only the same user can read. The
//! memory of the first run, with its copies of the arguments, is gone then.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{Seek, Write},
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        process::CommandExt,
    },
    path::PathBuf,
    process::Command,
};

use rustix::fs::{MemfdFlags, memfd_create};
use zeroize::Zeroizing;

use super::prompt;

/// The variable with a password for whoever has none otherwise.
pub const VARIABLE: &str = "COAX_PASSWORD";
/// The option that has passwords read from standard input.
const FROM_STDIN: &str = "--password-stdin";
/// The option that names a user.
pub const USER: &str = "--user";
/// What is read from standard input at most, bytes.
const STDIN_MAX: usize = 64 << 10;

/// `NAME` or `NAME:PASSWORD`.
#[derive(Clone)]
pub struct UserArg {
    /// The name; may be empty, which is for the caller to refuse.
    pub name: String,
    /// The password, once it is known.
    pub password: Option<Zeroizing<String>>,
}

impl UserArg {
    /// Takes an argument apart. It never fails, because the message for a wrong argument would show the password.
    pub fn new(text: &str) -> Self {
        let (name, password) = match text.split_once(':') {
            Some((name, password)) => (name, Some(Zeroizing::new(password.to_string()))),
            None => (text, None),
        };
        Self {
            name: name.into(),
            password,
        }
    }
}

impl std::fmt::Debug for UserArg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UserArg({:?})", self.name)
    }
}

/// Finds the password of every user who has none yet: on standard input if that is asked for, in `COAX_PASSWORD`, or from
/// the person at the terminal. Passwords that others could see leave sight, in which case this does not return.
///
/// # Errors
/// Whose password is missing, and how to give it.
pub fn complete(users: &mut [UserArg], from_stdin: bool) -> Result<(), String> {
    if users.is_empty() {
        return Ok(());
    }
    let mut visible = users.iter().any(|user| user.password.is_some());
    let missing = users.iter_mut().filter(|user| user.password.is_none());
    if from_stdin {
        let lines = lines_of_stdin()?;
        let whole = lines.strip_suffix(b"\n").unwrap_or(&lines);
        let mut lines = whole.split(|b| *b == b'\n').filter(|_| !lines.is_empty());
        for user in missing {
            let line = lines.next().ok_or_else(|| {
                format!(
                    "standard input has no line with the password of {}: write one line for each --user without one",
                    user.name
                )
            })?;
            user.password = Some(utf8(line)?);
        }
    } else {
        for user in missing {
            user.password = Some(match std::env::var(VARIABLE) {
                Ok(password) => {
                    visible = true;
                    Zeroizing::new(password)
                }
                Err(_) => prompt::password(&format!("Password of {}: ", user.name))
                    .ok_or_else(|| missing_password(&user.name))?,
            });
        }
    }
    if visible {
        // Without a second run everything works; the password is seen, and that is said.
        eprintln!("warning: {}", hide(users));
    }
    Ok(())
}

fn missing_password(name: &str) -> String {
    format!(
        "the password of {name} is missing: set {VARIABLE}, run coax at a terminal, or use {FROM_STDIN}"
    )
}

/// One line of standard input: the password for a command that asks for one.
///
/// # Errors
/// There is no line, or it is not UTF-8.
pub fn line_of_stdin() -> Result<Zeroizing<String>, String> {
    let lines = lines_of_stdin()?;
    match lines.split(|b| *b == b'\n').next() {
        Some(line) if !line.is_empty() => utf8(line),
        _ => Err(
            "the password is missing: write it to standard input, or run coax at a terminal".into(),
        ),
    }
}

fn utf8(line: &[u8]) -> Result<Zeroizing<String>, String> {
    let text = std::str::from_utf8(line).map_err(|_| "a password must be UTF-8".to_string())?;
    Ok(Zeroizing::new(text.into()))
}

/// Everything on standard input, past the buffer of the standard library, which would keep a copy. Standard input is empty
/// afterwards.
fn lines_of_stdin() -> Result<Zeroizing<Vec<u8>>, String> {
    let wrong = |error: rustix::io::Errno| format!("cannot read the password: {error}");
    let mut bytes = Zeroizing::new(vec![0; STDIN_MAX]);
    let mut filled = 0;
    while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
        match rustix::io::read(rustix::stdio::stdin(), room) {
            Ok(0) => break,
            Ok(count) => filled = filled.saturating_add(count),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(wrong(error)),
        }
    }
    bytes.truncate(filled);
    if let Ok(nothing) = File::open("/dev/null") {
        rustix::stdio::dup2_stdin(&nothing).map_err(wrong)?;
    }
    Ok(bytes)
}

/// Runs coax again with `users`' passwords out of sight. Returns only if that fails, with the reason.
fn hide(users: &[UserArg]) -> String {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let run = || -> std::io::Result<std::io::Error> {
        let mut memory = File::from(memfd_create("coax-passwords", MemfdFlags::CLOEXEC)?);
        for user in users {
            let password = user.password.as_deref().map_or("", String::as_str);
            if password.contains('\n') {
                return Err(std::io::Error::other("it has more than one line"));
            }
            memory.write_all(password.as_bytes())?;
            memory.write_all(b"\n")?;
        }
        memory.rewind()?;
        let mut again = again(&without_passwords(&arguments))?;
        Ok(again.env_remove(VARIABLE).stdin(memory).exec())
    };
    let error = run().unwrap_or_else(|error| error);
    format!(
        "other users of this machine can see the password: {error}; '{USER} NAME' asks for it instead"
    )
}

/// This program with other arguments, under its own name.
fn again(arguments: &[OsString]) -> std::io::Result<Command> {
    let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
    let mut command = Command::new(match own.exists() {
        true => own,
        false => "/proc/self/exe".into(),
    });
    let (name, rest) = arguments
        .split_first()
        .ok_or_else(|| std::io::Error::other("no arguments"))?;
    command.arg0(name).args(rest);
    Ok(command)
}

/// `--user NAME:PASSWORD` becomes `--user NAME`, and standard input is to be read.
fn without_passwords(arguments: &[OsString]) -> Vec<OsString> {
    let name = |text: &[u8]| {
        text.split(|b| *b == b':')
            .next()
            .unwrap_or_default()
            .to_vec()
    };
    let mut clean = Vec::with_capacity(arguments.len().saturating_add(1));
    let mut is_user = false;
    let mut arguments = arguments.iter();
    for argument in arguments.by_ref() {
        let bytes = argument.as_bytes();
        if argument == "--" {
            break;
        }
        if std::mem::take(&mut is_user) {
            clean.push(OsString::from_vec(name(bytes)));
        } else if let Some(user) = bytes.strip_prefix(b"--user=") {
            clean.push(OsString::from_vec([b"--user=", &*name(user)].concat()));
        } else if argument != FROM_STDIN {
            is_user = argument == USER;
            clean.push(argument.clone());
        }
    }
    clean.push(FROM_STDIN.into());
    if arguments.len() > 0 {
        clean.push("--".into());
        clean.extend(arguments.cloned());
    }
    clean
}

/// Runs coax again if its URLs have a password, which is in `COAX_PASSWORD` then. Returns if there is none, or several:
/// then they stay where they are.
pub fn hide_in_urls(arguments: &[OsString]) {
    if let Some((clean, password)) = without_url_password(arguments)
        && std::env::var_os(VARIABLE).is_none()
        && let Ok(mut again) = again(&clean)
    {
        let error = again.env(VARIABLE, &*password).exec();
        eprintln!(
            "warning: other users of this machine can see the password in the URL: {error}; leave it out and coax asks"
        );
    }
}

/// The arguments without the one password of all their URLs, and that password.
fn without_url_password(arguments: &[OsString]) -> Option<(Vec<OsString>, Zeroizing<String>)> {
    let mut found: Option<Zeroizing<String>> = None;
    let mut clean = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let Some((before, password, after)) = argument.to_str().and_then(url_parts) else {
            clean.push(argument.clone());
            continue;
        };
        let place: coax_transfer::client::Location = argument.to_str()?.parse().ok()?;
        let known = place.password.filter(|_| password.is_some())?;
        let known = Zeroizing::new(std::str::from_utf8(known.as_bytes()).ok()?.to_string());
        if found.as_ref().is_some_and(|found| *found != known) {
            return None;
        }
        found = Some(known);
        clean.push(format!("{before}@{after}").into());
    }
    found.map(|password| (clean, password))
}

/// What stands before the password of a URL with a user, the password as it is written, and what stands behind the `@`.
fn url_parts(text: &str) -> Option<(&str, Option<&str>, &str)> {
    let scheme = text.get(..6).filter(|s| s.eq_ignore_ascii_case("smb://"))?;
    let end = text
        .get(6..)?
        .find('/')
        .map_or(text.len(), |at| at.saturating_add(6));
    let at = text.get(..end)?.rfind('@')?;
    let (who, after) = (text.get(scheme.len()..at)?, text.get(at.checked_add(1)?..)?);
    match who.split_once(':') {
        Some((user, password)) if !user.is_empty() => {
            let before = text.get(..scheme.len().checked_add(user.len())?)?;
            Some((before, Some(password), after))
        }
        Some(_) => None,
        None => Some((text.get(..at)?, None, after)),
    }
}

/// A URL for people to read, with nothing in it that may be a password.
pub fn without_secrets(text: &OsStr) -> String {
    let text = text.to_string_lossy();
    let Some(rest) = text.get(6..).filter(|_| !text.starts_with(['/', '\\'])) else {
        return text.into_owned();
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (who, place) = match authority.rfind('@') {
        Some(at) => authority.split_at(at),
        None => (authority, ""),
    };
    match who.split_once(':') {
        Some((user, _)) => format!("smb://{user}:(hidden){place}{path}"),
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn arguments_lose_their_passwords_and_nothing_else() {
        let given = words(
            "coax serve / --user ann:a:b --share A=/x:rw --user=bob:c --user eve -- --user:x",
        );
        let clean = words(
            "coax serve / --user ann --share A=/x:rw --user=bob --user eve --password-stdin -- --user:x",
        );
        assert_eq!(without_passwords(&given), clean);
        let twice = without_passwords(&words("coax serve --password-stdin --user ann:b"));
        assert_eq!(twice, words("coax serve --user ann --password-stdin"));
    }

    #[test]
    fn the_one_password_of_all_urls_leaves_them() {
        let hidden = |text: &str| {
            let (clean, password) = without_url_password(&words(text))?;
            Some((clean, password.to_string()))
        };
        assert_eq!(
            hidden("coax mv smb://LAB;ann:p%40%3a@nas/a/b@c smb://ann:p%40%3a@nas:139/a/d"),
            Some((
                words("coax mv smb://LAB;ann@nas/a/b@c smb://ann@nas:139/a/d"),
                "p@:".into()
            ))
        );
        assert_eq!(
            hidden("coax get smb://ann:@nas/a"),
            Some((words("coax get smb://ann@nas/a"), String::new()))
        );
        for kept in [
            "coax get smb://nas/a:b@c x:y@z",
            "coax get smb://ann@nas/a",
            "coax mv smb://a:x@nas/a smb://a:y@nas/b",
            "coax mv smb://a:x@nas/a smb://b@nas/b",
            "coax get smb://ann:50%@nas/a",
        ] {
            assert_eq!(hidden(kept), None, "{kept}");
        }
    }

    #[test]
    fn a_wrong_url_is_shown_without_what_may_be_a_password() {
        for text in [
            "smb://ann:hush%@nas/a",
            "smb://ann:hush",
            "smb://ann:hush@",
            "SMB://:hush@nas/x",
        ] {
            let shown = without_secrets(OsStr::new(text));
            assert!(
                !shown.contains("hush") && shown.contains("(hidden)"),
                "{shown}"
            );
        }
        assert_eq!(without_secrets(OsStr::new("nas/games")), "nas/games");
        assert!(!format!("{:?}", UserArg::new("ann:hush")).contains("hush"));
    }
}
