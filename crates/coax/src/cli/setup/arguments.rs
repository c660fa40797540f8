//! The command line of `coax setup`, and how it can end.

use std::path::PathBuf;

use clap::Args;
use coax_doctor::gather::PACKAGED_CONFIG;
use coax_smbconf::{share_argument::share_name, value::NETBIOS_NAME};

/// `coax setup`'s arguments.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Asks four questions: which folder, who writes, which machines, which network. Then it shows what it will \
        write and writes smb.conf, users, and settings of the service if its unit is installed, and restarts the service. If a \
        step fails, everything is as before.\n\n\
        Each question has an option. Without a terminal, --folder and --write are necessary:\n  \
        sudo coax setup --folder /srv/coax --write nobody",
    after_help = "Machines: dos (DOS, Windows for Workgroups, 95, 98, Me, OS/2), nt (NT, 2000, XP, consoles, scanners, Linux), \
        plaintext (the oldest programs), netbeui (machines without TCP/IP). docs/setup.md has examples."
)]
pub struct SetupArgs {
    /// The folder to share; coax creates it if it does not exist
    #[arg(long, value_name = "DIR")]
    pub folder: Option<String>,
    /// Who may write: nobody, everybody, or users with passwords. Everybody may read
    #[arg(long, value_name = "nobody|everybody|USER,…")]
    pub write: Option<String>,
    /// Kinds of machines that connect [default: dos,nt]
    #[arg(long, value_name = "KIND,…")]
    pub machines: Option<String>,
    /// Where they are: all networks of this machine, an interface, or a network such as 192.168.1.0/24 [default: all]
    #[arg(long, value_name = "all|INTERFACE|NETWORK")]
    pub network: Option<String>,
    /// Only the users of --write may read
    #[arg(long)]
    pub no_guests: bool,
    /// The share's name [default: from the folder]
    #[arg(long, value_name = "NAME", value_parser = share)]
    pub share: Option<String>,
    /// The name clients find this server by [default: this machine's name]
    #[arg(long, value_name = "NETBIOS-NAME", value_parser = NETBIOS_NAME.read)]
    pub name: Option<String>,
    /// The workgroup [default: WORKGROUP]
    #[arg(long, value_name = "NAME", value_parser = NETBIOS_NAME.read)]
    pub workgroup: Option<String>,
    /// The smb.conf to write; users go into the file 'users' beside it
    #[arg(long, value_name = "smb.conf", default_value = PACKAGED_CONFIG)]
    pub config: PathBuf,
    /// Read passwords of new users from standard input, one line for each
    #[arg(long)]
    pub password_stdin: bool,
    /// Replace an smb.conf without asking; the old one stays as smb.conf.old, or smb.conf.old.1 and so on
    #[arg(long)]
    pub overwrite: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Write the files and do not restart the service
    #[arg(long)]
    pub no_start: bool,
}

/// Why nothing was set up.
pub(in crate::cli) enum Stop {
    /// The person gave up, or said no.
    Declined,
    /// It failed: what, and what to try.
    Failed(String, Option<String>),
}

/// A share name that all clients list.
fn share(text: &str) -> Result<String, String> {
    let name = share_name(text);
    match name == text.to_uppercase() {
        true => Ok(name),
        false => Err(format!(
            "old clients see no share named '{text}': name it '{name}'"
        )),
    }
}
