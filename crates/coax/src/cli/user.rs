//! `coax user`: the server's own users, in a password file of smbpasswd's format.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use coax_logon::accounts::{User, UserError};
use coax_wire::codepage::CodePage;
use serde::Serialize;
use zeroize::Zeroizing;

use super::{
    credentials,
    output::{WrongUsage, print},
    prompt,
};
use coax_serve::users::{Page, PasswordFile, Passwords, check_name};
use coax_smbconf::diagnostic::Severity;
use coax_smbconf::load::load;

/// `coax user`'s arguments.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Keeps the users of 'coax serve' in a file in smbpasswd format, which Samba can read. The users need no \
        account on this machine. A server reads the file when it starts.\n\n\
        coax asks for the password at the terminal without echo, or reads it from standard input if that is not a terminal:\n  \
        printf '%s\\n' \"$password\" | coax user add anna --file users"
)]
pub struct UserArgs {
    /// What to do
    #[command(subcommand)]
    pub action: Action,
}

/// What to do with users.
#[derive(Clone, Debug, Subcommand)]
pub enum Action {
    /// Add a user or change a password
    Add(AddArgs),
    /// Remove users
    Remove(NamesArgs),
    /// Disable users and keep their passwords
    Disable(NamesArgs),
    /// Enable disabled users
    Enable(NamesArgs),
    /// List the users
    List(ListArgs),
}

/// Which file.
#[derive(Args, Clone, Debug)]
pub struct FileArgs {
    /// The password file [default: the one that --config names]
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The smb.conf whose 'smb passwd file' or 'passdb backend' it is
    #[arg(long, value_name = "smb.conf")]
    pub config: Option<PathBuf>,
}

/// `coax user add`'s arguments.
#[derive(Args, Clone, Debug)]
pub struct AddArgs {
    /// The user
    pub name: String,
    #[command(flatten)]
    #[expect(missing_docs)]
    pub file: FileArgs,
    /// Store no LM hash. DOS and Windows 9x then cannot log on as this user; a stolen file reveals less
    #[arg(long)]
    pub no_lm: bool,
    /// The user needs no password if 'null passwords' allows it
    #[arg(long, conflicts_with = "no_lm")]
    pub no_password: bool,
}

/// The arguments of verbs that take users.
#[derive(Args, Clone, Debug)]
pub struct NamesArgs {
    /// The users
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    #[command(flatten)]
    #[expect(missing_docs)]
    pub file: FileArgs,
}

/// `coax user list`'s arguments.
#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    #[command(flatten)]
    #[expect(missing_docs)]
    pub file: FileArgs,
    /// Report as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Why it was not done.
enum Stop {
    /// Exit code 2.
    Usage(String),
    /// Exit code 1.
    Failed(String),
}

impl<E: std::error::Error> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Does what `coax user` was told.
///
/// # Errors
/// A name that cannot be a user's, or no password file is named.
pub fn main(args: &UserArgs) -> Result<ExitCode, WrongUsage> {
    let verb = match &args.action {
        Action::Add(_) => "user add",
        Action::Remove(_) => "user remove",
        Action::Disable(_) => "user disable",
        Action::Enable(_) => "user enable",
        Action::List(_) => "user list",
    };
    let done = match &args.action {
        Action::Add(args) => add(args),
        Action::Remove(args) => each(args, "removed", PasswordFile::remove),
        Action::Disable(args) => each(args, "disabled", |f, name| f.set_disabled(name, true)),
        Action::Enable(args) => each(args, "enabled", |f, name| f.set_disabled(name, false)),
        Action::List(args) => list(args),
    };
    match done {
        Ok(text) => Ok(print(&text)),
        Err(Stop::Usage(message)) => Err(WrongUsage::new(verb, message)),
        Err(Stop::Failed(message)) => {
            eprintln!("error: {message}");
            Ok(ExitCode::FAILURE)
        }
    }
}

fn add(args: &AddArgs) -> Result<String, Stop> {
    check_name(&args.name).map_err(Stop::Usage)?;
    let (path, page) = args.file.target()?;
    let passwords = match args.no_password {
        true => Passwords::None,
        false => Passwords::of(&password_of(&args.name)?, &page, !args.no_lm),
    };
    if let Passwords::Hashes { lm: None, .. } = passwords
        && !args.no_lm
    {
        eprintln!(
            "warning: DOS and Windows 9x cannot log on as {}: the password is longer than 14 characters, or the clients' code \
             page lacks one of them",
            args.name
        );
    }
    let mut file = PasswordFile::open(&path, true)?;
    let is_new = file.set(&args.name, passwords);
    file.save()?;
    let done = match is_new {
        true => "added",
        false => "changed the password of",
    };
    Ok(format!("{done} {} in {}\n", args.name, path.display()))
}

/// Asks twice at a terminal, once elsewhere.
fn password_of(name: &str) -> Result<Zeroizing<String>, Stop> {
    if !rustix::termios::isatty(rustix::stdio::stdin()) {
        return credentials::line_of_stdin().map_err(Stop::Failed);
    }
    let ask = |question: String| {
        let typed = prompt::password(&question);
        typed.ok_or_else(|| Stop::Failed("no password was typed; nothing is changed".into()))
    };
    let first = ask(format!("Password of {name}: "))?;
    if *ask("Again: ".into())? != *first {
        return Err(Stop::Failed(
            "the passwords differ; nothing is changed".into(),
        ));
    }
    match first.is_empty() {
        true => Err(Stop::Failed(
            "the password is empty; --no-password adds a user without one".into(),
        )),
        false => Ok(first),
    }
}

fn each(
    args: &NamesArgs,
    done: &str,
    change: impl Fn(&mut PasswordFile, &str) -> Result<(), coax_serve::users::FileError>,
) -> Result<String, Stop> {
    let (path, _) = args.file.target()?;
    let mut file = PasswordFile::open(&path, false)?;
    for name in &args.names {
        change(&mut file, name)?;
    }
    file.save()?;
    Ok(format!("{done} {}\n", args.names.join(", ")))
}

/// What `coax user list --json` prints.
#[derive(Serialize)]
struct Report {
    /// The password file.
    file: String,
    users: Vec<UserLine>,
    /// Lines that `coax serve` would refuse.
    wrong: Vec<WrongLine>,
}

/// One user.
#[derive(Serialize)]
struct UserLine {
    name: String,
    disabled: bool,
    no_password: bool,
    /// Whether there is an LM hash.
    lm: bool,
    /// Whether there is an NT hash.
    nt: bool,
}

/// One line that makes no sense.
#[derive(Serialize)]
struct WrongLine {
    /// From 1.
    line: usize,
    why: String,
}

fn list(args: &ListArgs) -> Result<String, Stop> {
    let (path, _) = args.file.target()?;
    let bytes = PasswordFile::bytes(&path)?;
    let found = PasswordFile::users(&bytes);
    let report = Report {
        file: path.display().to_string(),
        users: found.iter().filter_map(|(_, u)| line(u)).collect(),
        wrong: found.iter().filter_map(|(at, u)| wrong(*at, u)).collect(),
    };
    if args.json {
        return Ok(serde_json::to_string(&report)? + "\n");
    }
    for WrongLine { line, why } in &report.wrong {
        eprintln!("warning: {}, line {line}: {why}", report.file);
    }
    let names = report.users.iter().map(|user| user.name.chars().count());
    let width = names.max().unwrap_or(0);
    let lines = report
        .users
        .iter()
        .map(|user| format!("{:width$}  {}\n", user.name, in_words(user)));
    Ok(lines.collect())
}

fn line(user: &Result<User, UserError>) -> Option<UserLine> {
    let user = user.as_ref().ok()?;
    Some(UserLine {
        name: user.name.clone(),
        disabled: user.disabled,
        no_password: user.no_password,
        lm: user.lm_hash.is_some(),
        nt: user.nt_hash.is_some(),
    })
}

fn wrong(at: usize, user: &Result<User, UserError>) -> Option<WrongLine> {
    let why = user.as_ref().err()?.to_string();
    Some(WrongLine { line: at, why })
}

fn in_words(user: &UserLine) -> &'static str {
    match (user.disabled, user.no_password, user.lm, user.nt) {
        (true, ..) => "disabled",
        (_, true, ..) => "no password",
        (_, _, true, true) => "LM and NT hash",
        (_, _, false, true) => "NT hash: no log-on from DOS and Windows 9x",
        (_, _, true, false) => "LM hash alone",
        (_, _, false, false) => "no hash: cannot log on",
    }
}

impl FileArgs {
    /// The password file, and the code page of LM hashes.
    fn target(&self) -> Result<(PathBuf, Page), Stop> {
        let Some(config) = &self.config else {
            let file = self.file.clone().ok_or_else(|| {
                Stop::Usage(
                    "there is no password file: name it with --file, or name the smb.conf with --config"
                        .into(),
                )
            })?;
            return Ok((file, Page(CodePage::cp850())));
        };
        let loaded = load(Some(config), &[]);
        let errors = loaded.diagnostics.iter();
        if let Some(error) = errors.into_iter().find(|d| d.severity == Severity::Error) {
            return Err(Stop::Failed(error.in_one_line()));
        }
        let global = &loaded.settings.global;
        let page = CodePage::from_number(global.dos_charset).unwrap_or_default();
        let named = self.file.as_deref().or(global.password_file());
        match named.map(Path::to_path_buf) {
            Some(file) => Ok((file, Page(page))),
            None => Err(Stop::Usage(format!(
                "{} names no password file: add 'smb passwd file = FILE' to its [global] section, or use --file",
                config.display()
            ))),
        }
    }
}
