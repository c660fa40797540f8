//! `coax explain`: from captures to what is said of them.

mod arguments;
mod batch;
mod files;

use std::process::ExitCode;

pub use arguments::ExplainArgs;
use coax_explain::recognise::named_client;

use super::output::WrongUsage;
use coax_report::explain::{
    Explained, goes_on, html, json, read, read_joined, text, words::harmless,
};
use coax_report::files::is_stdout;
use coax_settings::Import;

/// Does what the arguments say.
///
/// # Errors
/// The page cannot be written where it is to go.
pub fn main(args: &ExplainArgs) -> Result<ExitCode, WrongUsage> {
    if args.schema {
        return Ok(super::output::print(json::SCHEMA));
    }
    if batch::is_meant(args) {
        return batch::main(args);
    }
    super::output::check_outputs("explain", args.json, &[("--html", args.html.as_deref())])?;
    let import = files::read(args)?;
    Ok(explain(args, import.as_ref()))
}

fn explain(args: &ExplainArgs, import: Option<&Import>) -> ExitCode {
    let (mut all, mut failed) = read_all(args);
    for explained in &mut all {
        explained.file_changes = import.map(|import| files::changes(import, explained));
    }
    // a page that is there already is not replaced by one that says nothing
    if let Some(path) = args.html.as_ref().filter(|_| !all.is_empty())
        && let Err(error) = html::write(path, &all)
    {
        failed = true;
        eprintln!("error: {error:#}");
    }
    let printed = super::output::print(&if args.html.as_deref().is_some_and(is_stdout) {
        String::new()
    } else if args.json {
        json::text(&all)
    } else {
        as_text(&all, args.captures.len() > 1)
    });
    if failed { ExitCode::FAILURE } else { printed }
}

/// All that can be read, and whether something could not.
fn read_all(args: &ExplainArgs) -> (Vec<Explained>, bool) {
    let told = args.client.as_deref().and_then(named_client);
    let mut outcomes = Vec::new();
    if args.join {
        let joined = read_joined(&args.captures, told.as_ref());
        outcomes.push(joined.map_err(|(place, error)| (args.captures.get(place), error)));
    } else {
        for path in &args.captures {
            outcomes.push(read(path, told.as_ref()).map_err(|error| (Some(path), error)));
        }
    }
    let (mut all, mut failed) = (Vec::<Explained>::new(), false);
    for outcome in outcomes {
        match outcome {
            Ok(explained) => {
                hint_at_join(all.last(), &explained);
                all.push(explained);
            }
            Err((path, error)) => {
                failed = true;
                let name = path.map(|path| harmless(&path.display().to_string()));
                eprintln!("error: {}: {error}", name.unwrap_or_default());
            }
        }
    }
    (all, failed)
}

fn hint_at_join(before: Option<&Explained>, after: &Explained) {
    if let Some(before) = before.filter(|before| goes_on(&before.capture, &after.capture)) {
        let (before, after) = (harmless(&before.name), harmless(&after.name));
        eprintln!("note: {after} goes on where {before} ends: --join reads them as one capture");
    }
}

fn as_text(all: &[Explained], named: bool) -> String {
    let columns = columns();
    let parts = all.iter().map(|explained| {
        let head = if named {
            format!("{}:\n", harmless(&explained.name))
        } else {
            String::new()
        };
        format!("{head}{}", text::report(explained, columns))
    });
    parts.collect::<Vec<_>>().join("\n")
}

/// How wide the terminal is that the report goes to, if it goes to one.
fn columns() -> Option<usize> {
    let out = std::io::stdout();
    let size = rustix::termios::tcgetwinsize(&out).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
