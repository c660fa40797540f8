//! `coax web`: the web page, for browsers on this machine.

use std::{
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
};

use clap::Args;
use coax_hosting::{Hosting, Limits, Page, Refusal, candidates, find};

use super::output::{WrongUsage, print};

/// Opens an address in the user's browser (xdg-utils).
const OPENER: &str = "xdg-open";

/// `coax web`'s arguments.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Serves the web page (docs/web.md) to browsers on this machine: it explains captures, simulates copies and decodes \
        messages in the browser. Nothing that is opened there leaves the machine.\n\n\
        The page is one file, index.html, which also works when it is opened from disk.",
    after_help = "Example: coax web --open"
)]
pub struct WebArgs {
    /// The TCP port, on loopback only [default: a free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// The folder with the page [default: the installed one]
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// Open it in your browser (xdg-open)
    #[arg(long)]
    pub open: bool,
}

/// Serves until the process ends.
///
/// # Errors
/// None: a page that is missing is a failure.
pub fn main(args: &WebArgs) -> Result<ExitCode, WrongUsage> {
    Ok(match page(args).and_then(|page| serve(args, page)) {
        Ok(()) => ExitCode::SUCCESS,
        Err((why, help)) => {
            eprintln!("error: {why}\n  = help: {help}");
            ExitCode::FAILURE
        }
    })
}

/// Why it failed, and what to try.
type Failure = (String, String);

fn serve(args: &WebArgs, page: Page) -> Result<(), Failure> {
    let hosting = Hosting::on(args.port).map_err(|error| {
        let why = format!("cannot listen at 127.0.0.1:{}: {error}", args.port);
        (why, "leave --port out for a free port".to_owned())
    })?;
    let url = hosting.url();
    print(&format!(
        "{url}\n  page: {}\n  only browsers on this machine can open it; Ctrl-C ends it\n",
        page.path.display()
    ));
    if args.open {
        open(&url);
    }
    hosting
        .serve(page, Limits::default())
        .map_err(|error| (format!("cannot serve: {error}"), "try it again".to_owned()))
}

/// A browser that does not start is no reason to end: the address is printed.
fn open(url: &str) {
    let mut command = Command::new(OPENER);
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
    match quiet.stderr(Stdio::null()).arg(url).spawn() {
        // it may run as long as the browser
        Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
        Err(error) => eprintln!("warning: cannot run {OPENER}: {error}; open {url} yourself"),
    }
}

#[cfg(feature = "embedded-web")]
fn embedded() -> Option<Page> {
    let bytes = include_bytes!(env!(
        "COAX_WEB_PAGE",
        "the feature embedded-web needs the path of index.html (scripts/package web) in COAX_WEB_PAGE"
    ));
    Some(Page {
        path: "in the program".into(),
        bytes: bytes.to_vec(),
    })
}

#[cfg(not(feature = "embedded-web"))]
fn embedded() -> Option<Page> {
    None
}

fn page(args: &WebArgs) -> Result<Page, Failure> {
    let folder = args.folder.as_deref();
    if let (None, Some(page)) = (folder, embedded()) {
        return Ok(page);
    }
    let program = std::env::current_exe().ok();
    let places = candidates(program.as_deref());
    let found = find(folder, &places);
    found.map_err(|refusal| refused(&refusal, args.folder.is_some()))
}

fn refused(refusal: &Refusal, given: bool) -> Failure {
    let build = "scripts/package web builds the page; then: coax web --folder target/packages/web";
    let name = |path: &PathBuf| path.display().to_string();
    match refusal {
        Refusal::Missing(places) if given => {
            let all: Vec<String> = places.iter().map(name).collect();
            (format!("there is no {}", all.join(", ")), build.into())
        }
        Refusal::Missing(places) => {
            let all: Vec<String> = places.iter().map(name).collect();
            let why = format!(
                "the web page is not installed: there is no {}",
                all.join(", no ")
            );
            let help = format!("the packages and tarballs of releases contain it. {build}");
            (why, help)
        }
        Refusal::Unreadable(path, error) => {
            let why = format!("cannot read {}: {error}", path.display());
            (
                why,
                "name the folder that contains index.html with --folder".into(),
            )
        }
        Refusal::Other(path) => {
            let why = format!("{} is not the web page of coax", path.display());
            (why, build.into())
        }
    }
}
