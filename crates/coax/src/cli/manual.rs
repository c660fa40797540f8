//! `coax completions` and the manual pages, both made from the command line's own definition.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::Cli;

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
    /// Write coax.1 and one page for each verb into this folder
    pub folder: PathBuf,
}

/// Prints the completions for a shell.
pub fn completions(args: &CompletionsArgs) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "coax", &mut script);
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
pub fn man(args: &ManArgs) -> ExitCode {
    match write_pages(&args.folder) {
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

fn write_pages(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Cli::command(), folder)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn each_verb_has_a_page_with_its_options() {
        let folder = tempfile::tempdir().unwrap();
        write_pages(folder.path()).unwrap();
        for verb in Cli::command().get_subcommands() {
            let page = folder.path().join(format!("coax-{}.1", verb.get_name()));
            assert_eq!(page.exists(), !verb.is_hide_set(), "{}", page.display());
        }
        let serve = fs::read_to_string(folder.path().join("coax-serve.1")).unwrap();
        assert!(serve.contains("\\-\\-workgroup"), "{serve}");
        let main = fs::read_to_string(folder.path().join("coax.1")).unwrap();
        assert!(main.contains("coax\\-serve(1)"), "{main}");
        assert!(!main.contains("run\\-commands"), "hidden verbs stay hidden");
    }

    #[test]
    fn completions_know_the_verbs_in_every_shell() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell] {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "coax", &mut script);
            let script = String::from_utf8(script).unwrap();
            assert!(script.contains("workgroup"), "{shell}");
        }
    }

    #[test]
    fn pages_that_cannot_be_written_are_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(write_pages(&file.path().join("below")).is_err());
    }
}
