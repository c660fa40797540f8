//! `coax explain`: from captures to what is said of them.

use std::{io::Write as _, path::PathBuf, process::ExitCode};

use clap::Args;
use coax_explain::{recognise::profiles, report::Party};

use crate::explain::{Explained, html, json, read, text};

/// `coax explain`'s arguments.
#[derive(Args, Clone, Debug)]
#[command(
    arg_required_else_help = true,
    long_about = "Reads captures of slow copies and says what they waited for.\n\n\
        A capture is what Wireshark, tcpdump or VirtualBox wrote while the copy ran: pcap or pcapng, gzipped or not. It is \
        best taken at one of the two ends, from before the connection is made to after the copy is done. A snap length of \
        192 bytes is enough (tcpdump -s 192)."
)]
pub struct ExplainArgs {
    /// Capture files
    #[arg(required = true, value_name = "CAPTURE")]
    pub captures: Vec<PathBuf>,
    /// The redirector that the client is, where that is known better than the capture tells it (coax profiles)
    #[arg(long, value_name = "PROFILE", value_parser = client)]
    pub client: Option<String>,
    /// Report as one JSON object (docs/explain.md)
    #[arg(long)]
    pub json: bool,
    /// Also write one page with graphs, which needs nothing else
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

fn client(name: &str) -> Result<String, String> {
    let known = Party::told(name).map(|_| name.to_owned());
    known.ok_or_else(|| {
        let names: Vec<&str> = profiles().iter().map(|profile| profile.name).collect();
        format!("known are {}", names.join(", "))
    })
}

/// Does what the arguments say.
pub fn main(args: &ExplainArgs) -> ExitCode {
    let told = args.client.as_deref().and_then(Party::told);
    let mut all: Vec<Explained> = Vec::new();
    let mut failed = false;
    for path in &args.captures {
        match read(path, told.as_ref()) {
            Ok(explained) => all.push(explained),
            Err(error) => {
                failed = true;
                eprintln!("coax explain: {}: {error}", path.display());
            }
        }
    }
    if let Some(path) = &args.html
        && let Err(error) = html::write(path, &all)
    {
        failed = true;
        eprintln!("coax explain: {error:#}");
    }
    let report = if args.json {
        format!("{:#}\n", json::report(&all))
    } else {
        as_text(&all, args.captures.len() > 1)
    };
    // a reader that has seen enough and goes is no failure
    let _ = std::io::stdout().write_all(report.as_bytes());
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn as_text(all: &[Explained], named: bool) -> String {
    let parts = all.iter().map(|explained| {
        let head = if named {
            format!("{}:\n", explained.path.display())
        } else {
            String::new()
        };
        format!("{head}{}", text::report(explained))
    });
    parts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_one_of_the_profiles() {
        assert_eq!(client("wfw-3.11"), Ok("wfw-3.11".to_owned()));
        let error = client("dos").err().unwrap_or_default();
        assert!(
            error.contains("known are") && error.contains("ms-net-3.11-full"),
            "{error}"
        );
    }
}
