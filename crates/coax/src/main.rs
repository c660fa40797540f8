//! The `coax` command; see [`coax::cli`].

fn main() -> std::process::ExitCode {
    coax::cli::main()
}
