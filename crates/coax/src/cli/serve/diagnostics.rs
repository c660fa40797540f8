//! What `coax serve` shows of its clients' requests.

use std::path::PathBuf;

use clap::Args;

use crate::cli::bench::size;
use coax_smbconf::settings::{ClientChoice, PcapSettings, Settings};

/// `--trace` and `--pcap`.
#[derive(Args, Clone, Debug, Default)]
pub struct DiagnosticArgs {
    /// Log every request of one client with all its bytes, as 'log level = 10' does for all; CLIENT is its address, its
    /// NetBIOS name or its number in the log. --pcap then captures this client alone. Passwords are never logged
    #[arg(long, value_name = "CLIENT")]
    pub trace: Option<ClientChoice>,
    /// Write what clients send and get to a capture file (pcapng) that tshark and 'coax explain' read. Its TCP headers
    /// are synthetic. The file contains file data and log-ons as on the wire: only its owner may read it
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
    /// Maximum size of the capture file
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size, requires = "pcap")]
    pub pcap_limit: Option<u64>,
}

impl DiagnosticArgs {
    /// Enters them into the settings.
    pub fn apply(&self, settings: &mut Settings) {
        settings.trace.clone_from(&self.trace);
        let limit = self.pcap_limit.unwrap_or(PcapSettings::LIMIT);
        settings.pcap = self.pcap.clone().map(|path| PcapSettings { path, limit });
    }
}
