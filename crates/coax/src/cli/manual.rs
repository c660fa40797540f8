//! `coax completions` and the manual pages, both made from the command line's own definition.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use clap::{Args, Command};
use clap_complete::Shell;

/// `coax completions`' arguments.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "bash: coax completions bash > ~/.local/share/bash-completion/completions/coax\n\
    zsh:  coax completions zsh > a folder of $fpath, as _coax\n\
    fish: coax completions fish > ~/.config/fish/completions/coax.fish\n\
    PowerShell: coax completions powershell | Out-String | Invoke-Expression"
)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// `coax man`'s arguments.
#[derive(Args, Clone, Debug)]
pub struct ManArgs {
    /// Write coax.1 and one page for each command into this folder
    pub folder: PathBuf,
}

/// Prints the completions for a shell.
pub fn completions(args: &CompletionsArgs, coax: &mut Command) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, coax, "coax", &mut script);
    match io::Write::write_all(&mut io::stdout().lock(), &script) {
        Ok(()) => ExitCode::SUCCESS,
        // `coax completions bash | head` is no failure
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: cannot write the completions: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the manual pages.
pub fn man(args: &ManArgs, coax: Command) -> ExitCode {
    match write_pages(&args.folder, coax) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!(
                "error: cannot write manual pages into {}: {error}",
                args.folder.display()
            );
            ExitCode::FAILURE
        }
    }
}

fn write_pages(folder: &Path, coax: Command) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(coax, folder)
}
