//! `coax explain`: from captures to what is said of them.

mod batch;

use std::{num::NonZeroUsize, path::PathBuf, process::ExitCode};

use clap::Args;
use coax_batch::Shard;
use coax_explain::recognise::{named_client, profiles};

use super::{nearest::unknown, output::WrongUsage};
use coax_report::explain::{
    Explained, goes_on, html, json, read, read_joined, text, words::harmless,
};
use coax_report::files::is_stdout;

/// `coax explain`'s arguments.
#[derive(Args, Clone, Debug)]
#[command(
    arg_required_else_help = true,
    long_about = "Reads packet captures of slow copies and explains where the time went.\n\n\
        Formats: pcap or pcapng, optionally gzipped, from Wireshark, tcpdump or VirtualBox. Capture at the client or the \
        server, from before the connection opens until the copy ends. A snap length of 192 bytes is enough \
        (tcpdump -s 192).\n\n\
        With folders, or one of --jobs, --out, --ndjson, --parquet and --shard, each capture is a line of the output, and \
        captures that cannot be read are listed at the end."
)]
pub struct ExplainArgs {
    /// Capture files, or folders to search for them; - is standard input
    #[arg(required = true, value_name = "CAPTURE")]
    pub captures: Vec<PathBuf>,
    /// The files belong together: captures taken at the client and at the server, or pieces of one capture (dumpcap -b,
    /// tcpdump -C), in any order
    #[arg(long)]
    pub join: bool,
    /// The client's redirector profile, instead of the one recognised (coax profiles)
    #[arg(long, value_name = "PROFILE", value_parser = client)]
    pub client: Option<String>,
    /// Report as one JSON object (docs/explain-json.md)
    #[arg(long)]
    pub json: bool,
    /// Also write a self-contained HTML page with graphs
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Many captures: explain N at once; as many as there are processors if nothing is said
    #[arg(long, value_name = "N", help_heading = "Many captures")]
    pub jobs: Option<NonZeroUsize>,
    /// Write a JSON file for each capture; a further run leaves out what is there
    #[arg(long, value_name = "FOLDER", help_heading = "Many captures")]
    pub out: Option<PathBuf>,
    /// Write one line of JSON for each capture; - is standard output
    #[arg(long, value_name = "FILE", help_heading = "Many captures")]
    pub ndjson: Option<PathBuf>,
    /// Write tables as Parquet files (docs/batch.md)
    #[arg(long, value_name = "FOLDER", help_heading = "Many captures")]
    pub parquet: Option<PathBuf>,
    /// Explain only the I-th of N parts
    #[arg(long, value_name = "I/N", help_heading = "Many captures")]
    pub shard: Option<Shard>,
}

fn client(name: &str) -> Result<String, String> {
    let known = named_client(name).map(|_| name.to_owned());
    known.ok_or_else(|| {
        let names: Vec<&str> = profiles().iter().map(|profile| profile.name).collect();
        unknown("client", name, &names)
    })
}

/// Does what the arguments say.
///
/// # Errors
/// The page cannot be written where it is to go.
pub fn main(args: &ExplainArgs) -> Result<ExitCode, WrongUsage> {
    if batch::is_meant(args) {
        return batch::main(args);
    }
    super::output::check_outputs("explain", args.json, &[("--html", args.html.as_deref())])?;
    Ok(explain(args))
}

fn explain(args: &ExplainArgs) -> ExitCode {
    let (all, mut failed) = read_all(args);
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
        format!("{:#}\n", json::report(&all))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_one_of_the_profiles() {
        assert_eq!(client("wfw-3.11"), Ok("wfw-3.11".to_owned()));
        let error = client("dos").err().unwrap_or_default();
        assert!(
            error.starts_with("there is no client 'dos'; there are ")
                && error.contains("ms-net-3.11-full"),
            "{error}"
        );
    }
}
