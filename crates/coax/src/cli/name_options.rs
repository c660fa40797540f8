//! The options of every verb that finds machines by their NetBIOS names.

use std::{net::Ipv4Addr, path::PathBuf};

use clap::Args;

use super::nearest::unknown;

use coax_transfer::names::{Method, Resolver};
use coax_wire::nbt::name::Scope;

/// The heading of these options. It is given to each: `next_help_heading` would also hold for the verb's own options behind them.
const HEADING: &str = "Names";

/// How a name is found.
#[derive(Args, Clone, Debug, Default)]
pub struct NameOptions {
    /// How to find a server by its name, in this order: lmhosts, wins, bcast, host (hosts file and DNS)
    /// [default: lmhosts,wins,bcast,host]
    #[arg(long, help_heading = HEADING, value_name = "METHOD,…", value_delimiter = ',', value_parser = method)]
    pub resolve: Vec<Method>,
    /// A WINS server to ask; several in the order to try
    #[arg(long, help_heading = HEADING, value_name = "ADDRESS", value_delimiter = ',')]
    pub wins: Vec<Ipv4Addr>,
    /// The LMHOSTS file [default: /etc/coax/lmhosts, else /etc/samba/lmhosts]
    #[arg(long, help_heading = HEADING, value_name = "FILE")]
    pub lmhosts: Option<PathBuf>,
    /// The NetBIOS scope of this machine
    #[arg(long, help_heading = HEADING, value_name = "SCOPE", value_parser = scope)]
    pub scope: Option<Scope>,
    /// Broadcast to this address instead of to all networks of this machine
    #[arg(long, help_heading = HEADING, value_name = "ADDRESS")]
    pub broadcast: Vec<Ipv4Addr>,
}

impl NameOptions {
    /// The resolver that they describe.
    pub fn resolver(&self) -> Resolver {
        let order = match self.resolve.as_slice() {
            [] => Method::ORDER.to_vec(),
            order => order.to_vec(),
        };
        Resolver {
            order,
            wins: self.wins.clone(),
            lmhosts: self.lmhosts.clone(),
            scope: self.scope.clone().unwrap_or_default(),
            broadcasts: self.broadcast.clone(),
        }
    }
}

fn method(text: &str) -> Result<Method, String> {
    let known = ["lmhosts", "wins", "bcast", "host"];
    text.parse()
        .map_err(|_: String| unknown("method", text, &known))
}

fn scope(text: &str) -> Result<Scope, String> {
    Scope::new(text).map_err(|error| error.to_string())
}
