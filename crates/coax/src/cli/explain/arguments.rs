//! The arguments of `coax explain`.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::Args;
use coax_batch::Shard;
use coax_explain::recognise::{named_client, profiles};

use crate::cli::nearest::unknown;

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
    #[arg(required_unless_present = "schema", value_name = "CAPTURE")]
    pub captures: Vec<PathBuf>,
    /// The files belong together: captures taken at the client and at the server, or pieces of one capture (dumpcap -b,
    /// tcpdump -C), in any order
    #[arg(long)]
    pub join: bool,
    /// The client's redirector profile, instead of the one recognised (coax profiles)
    #[arg(long, value_name = "PROFILE", value_parser = client)]
    pub client: Option<String>,
    /// Print the advice as a diff of this configuration file, too: PROTOCOL.INI, SYSTEM.INI, NETWORK.INI, TCPUTILS.INI or a .reg
    /// export of the client, smb.conf or sysctl.conf of the server. The file is not changed
    #[arg(long, value_name = "FILE", help_heading = "Configuration files")]
    pub config: Vec<PathBuf>,
    /// The same for a file of the server, such as the .reg export of an NT server
    #[arg(long, value_name = "FILE", help_heading = "Configuration files")]
    pub server_config: Vec<PathBuf>,
    /// Report as one JSON object (docs/explain-json.md)
    #[arg(long)]
    pub json: bool,
    /// Print the JSON schema of --json and do nothing else
    #[arg(long, exclusive = true)]
    pub schema: bool,
    /// Also write a self-contained HTML page with graphs
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Explain N captures at once [default for many captures: number of CPUs]
    #[arg(long, value_name = "N", help_heading = "Many captures")]
    pub jobs: Option<NonZeroUsize>,
    /// Write a JSON file for each capture; a repeated run skips captures that have one
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
