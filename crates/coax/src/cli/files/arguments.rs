//! The verbs' arguments.

use std::ffi::OsStr;

use clap::{Args, builder::TypedValueParser, error::ErrorKind};
use coax_netbios::Transport;
use coax_wire::{codepage::CodePage, dialect::DIALECTS};

use crate::cli::{credentials::without_secrets, name_options::NameOptions, nearest::unknown};
use coax_transfer::client::Location;

/// Reads a [`Location`]. What is wrong is said without the password, which clap's own message would show.
#[derive(Clone, Copy, Debug)]
pub struct LocationParser;

impl TypedValueParser for LocationParser {
    type Value = Location;

    fn parse_ref(
        &self,
        command: &clap::Command,
        _: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Location, clap::Error> {
        let parsed = value.to_string_lossy().parse::<Location>();
        parsed.map_err(|why| {
            let why = why.to_string();
            let what = match why.starts_with("write ") {
                true => " is not a URL of a server",
                false => "",
            };
            let message = format!("'{}'{what}: {why}", without_secrets(value));
            command.clone().error(ErrorKind::ValueValidation, message)
        })
    }
}

/// What every verb takes.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// Behave as this redirector; 'coax profiles' lists them
    #[arg(long = "as", value_name = "PROFILE", default_value = coax_catalog::clients::DEFAULT)]
    pub profile: String,
    /// Offer only this dialect: its protocol string ("LANMAN2.1"), or core, coreplus, lanman1, lanman2, nt1
    #[arg(long, value_name = "NAME", value_parser = dialect)]
    pub dialect: Option<&'static str>,
    /// The code page of names on servers without Unicode: 437, 850, 852, 866, 932 …
    #[arg(long, value_name = "N", default_value = "850", value_parser = code_page)]
    pub code_page: CodePage,
    /// The server's NetBIOS name if it differs from the URL
    #[arg(long, value_name = "NETBIOS-NAME", value_parser = coax_smbconf::value::NETBIOS_NAME.read)]
    pub called: Option<String>,
    #[command(flatten)]
    #[expect(missing_docs)]
    pub names: NameOptions,
    /// Transport on the port: nbt (as on 139) or direct (as on 445) [default: by port and profile]
    #[arg(long, value_name = "nbt|direct", value_parser = transport)]
    pub transport: Option<Transport>,
    /// Send the password in plaintext or as an LM response if the server supports nothing better. Anybody on the network
    /// can read or break it
    #[arg(long)]
    pub allow_weak: bool,
    /// Request SMB signing
    #[arg(long)]
    pub sign: bool,
    /// Report as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// What `get` and `put` take.
#[derive(Args, Clone, Debug)]
pub struct CopyOptions {
    /// Copy folders with their contents
    #[arg(short, long)]
    pub recursive: bool,
    /// Skip files that exist [default: replace them once the copy is complete]
    #[arg(short, long)]
    pub no_clobber: bool,
    /// Resume an interrupted copy even without evidence that it is of the same file
    #[arg(long)]
    pub resume: bool,
    /// Read each copy back and compare it with the original, byte by byte
    #[arg(long)]
    pub verify: bool,
}

/// `coax ls`'s arguments.
#[derive(Args, Clone, Debug)]
pub struct LsArgs {
    /// Folder, file, or pattern with * and ?; a server alone lists its shares
    #[arg(value_name = "URL", value_parser = LocationParser)]
    pub place: Location,
    /// List subfolders too
    #[arg(short, long)]
    pub recursive: bool,
    #[command(flatten)]
    #[expect(missing_docs)]
    pub common: Common,
}

/// `coax get`'s arguments.
#[derive(Args, Clone, Debug)]
#[command(
    override_usage = "coax get [OPTIONS] URL... [LOCAL]",
    after_help = "An existing file is replaced, as cp does, but only when the copy is whole: until then the copy is NAME.part. An \
    interrupted copy resumes where it stopped, if the file on the server is still the same. The copy gets the file's dates."
)]
pub struct GetArgs {
    /// Files on the server, patterns with * and ?, or folders with -r; then where to copy to: a file, a folder, or - for
    /// standard output [default: the current folder]
    #[arg(value_name = "URL", required = true, num_args = 1..)]
    pub places: Vec<String>,
    #[command(flatten)]
    #[expect(missing_docs)]
    pub options: CopyOptions,
    #[command(flatten)]
    #[expect(missing_docs)]
    pub common: Common,
}

/// `coax put`'s arguments.
#[derive(Args, Clone, Debug)]
#[command(
    override_usage = "coax put [OPTIONS] LOCAL... URL",
    after_help = "An existing file is replaced, as cp does, but only when the copy is whole: until then the copy has a name \
    like CX3K9Q2B.7TD on the server. An interrupted copy resumes where it stopped, if the local file is still the same. Dates are \
    kept as exactly as the dialect can."
)]
pub struct PutArgs {
    /// Local files, folders with -r, or - for standard input, and the URL to copy to: a folder or a new name
    #[arg(value_name = "LOCAL", required = true, num_args = 1..)]
    pub places: Vec<String>,
    #[command(flatten)]
    #[expect(missing_docs)]
    pub options: CopyOptions,
    #[command(flatten)]
    #[expect(missing_docs)]
    pub common: Common,
}

/// `coax rm`'s arguments.
#[derive(Args, Clone, Debug)]
pub struct RmArgs {
    /// Files, or patterns with * and ?
    #[arg(value_name = "URL", required = true, value_parser = LocationParser)]
    pub places: Vec<Location>,
    /// Delete folders with their contents too
    #[arg(short, long)]
    pub recursive: bool,
    /// Ignore missing files
    #[arg(short, long)]
    pub force: bool,
    #[command(flatten)]
    #[expect(missing_docs)]
    pub common: Common,
}

/// `coax mkdir`'s arguments.
#[derive(Args, Clone, Debug)]
pub struct MkdirArgs {
    /// Folders to create
    #[arg(value_name = "URL", required = true, value_parser = LocationParser)]
    pub places: Vec<Location>,
    /// Create parent folders too; ignore existing ones
    #[arg(short, long)]
    pub parents: bool,
    #[command(flatten)]
    #[expect(missing_docs)]
    pub common: Common,
}

/// `coax rmdir`'s arguments.
#[derive(Args, Clone, Debug)]
pub struct PathsArgs {
    /// Empty folders to remove
    #[arg(value_name = "URL", required = true, value_parser = LocationParser)]
    pub places: Vec<Location>,
    #[command(flatten)]
    #[expect(missing_docs)]
    pub common: Common,
}

/// `coax mv`'s arguments.
#[derive(Args, Clone, Debug)]
pub struct MvArgs {
    /// File or folder
    #[arg(value_name = "URL", value_parser = LocationParser)]
    pub from: Location,
    /// Its new name, /PATH in the share, or a URL in the same share; into an existing folder it moves
    #[arg(value_name = "NEW")]
    pub to: String,
    /// Replace a file that has the new name
    #[arg(short, long)]
    pub force: bool,
    #[command(flatten)]
    #[expect(missing_docs)]
    pub common: Common,
}

/// `coax stat`'s arguments.
#[derive(Args, Clone, Debug)]
pub struct StatArgs {
    /// File or folder; for a share alone, its disk space
    #[arg(value_name = "URL", value_parser = LocationParser)]
    pub place: Location,
    #[command(flatten)]
    #[expect(missing_docs)]
    pub common: Common,
}

/// `coax shares`'s arguments.
#[derive(Args, Clone, Debug)]
pub struct SharesArgs {
    /// The server, as smb://HOST
    #[arg(value_name = "URL", value_parser = LocationParser)]
    pub place: Location,
    /// List hidden shares too (names ending in $)
    #[arg(short, long)]
    pub all: bool,
    #[command(flatten)]
    #[expect(missing_docs)]
    pub common: Common,
}

fn transport(text: &str) -> Result<Transport, String> {
    match text {
        "nbt" => Ok(Transport::Nbt139),
        "direct" => Ok(Transport::Direct445),
        _ => Err("write nbt or direct".into()),
    }
}

pub(crate) fn code_page(text: &str) -> Result<CodePage, String> {
    text.parse()
        .map_err(|_| "no code page that is known here: write a number, as 437, 850 or 932".into())
}

/// A dialect by its string, in any case, or by the short names that Samba has for them.
fn dialect(text: &str) -> Result<&'static str, String> {
    let name = match text.to_ascii_lowercase().as_str() {
        "core" => "PC NETWORK PROGRAM 1.0",
        "coreplus" => "MICROSOFT NETWORKS 1.03",
        "lanman1" => "LANMAN1.0",
        "lanman2" => "LM1.2X002",
        "nt1" => "NT LM 0.12",
        _ => text,
    };
    DIALECTS
        .iter()
        .find(|dialect| dialect.name.eq_ignore_ascii_case(name))
        .map(|dialect| dialect.name)
        .ok_or_else(|| {
            let known: Vec<&str> = DIALECTS.iter().map(|dialect| dialect.name).collect();
            unknown("dialect", text, &known)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialects_are_known_by_their_strings_and_by_short_names() {
        assert_eq!(dialect("core"), Ok("PC NETWORK PROGRAM 1.0"));
        assert_eq!(dialect("lanman2.1"), Ok("LANMAN2.1"));
        assert_eq!(dialect("NT LM 0.12"), Ok("NT LM 0.12"));
        assert!(dialect("SMB 2.002").is_err_and(|text| text.contains("LANMAN2.1")));
    }
}
