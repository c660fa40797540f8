//! `coax speed`: from arguments to a measurement, and what is said of it.

mod words;

use std::io::IsTerminal as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use coax_speed::{DEFAULT_BYTES, MEGABYTE, Role};
use serde_json::{Value, json};

use super::output::print;
use coax_report::speed::{advice, json as as_json, text};
use coax_transfer::speed::{
    DISCARD_PORT, Event, Limits, Measured, Order, SOURCE_PORT, Stop, Way, measure,
    serve::{Service, Visit, serve},
};
pub use words::dos_spelling;

/// `coax speed`'s arguments.
#[derive(Args, Clone, Debug)]
#[command(
    arg_required_else_help = true,
    long_about = "Measures raw TCP throughput in one direction. The other end may be coax, mTCP's SPDTEST or netcat.\n\n\
        The result is what network cards, drivers and TCP stacks of two machines can do without SMB.",
    after_help = "mTCP's syntax works too: coax speed -receive -target 10.0.0.9 2000"
)]
pub struct SpeedArgs {
    /// What to do.
    #[command(subcommand)]
    pub what: What,
}

/// The ways to measure.
#[derive(Clone, Debug, Subcommand)]
pub enum What {
    /// Send and report the throughput
    Send(TransferArgs),
    /// Receive and report the throughput
    Receive(TransferArgs),
    /// Serve a port to receive from and a port to send to; report each transfer
    Serve(ServeArgs),
}

/// One transfer's arguments.
#[derive(Args, Clone, Debug)]
#[command(group(clap::ArgGroup::new("way").required(true).args(["target", "listen"])))]
pub struct TransferArgs {
    /// Connect to this machine
    #[arg(long, value_name = "HOST:PORT", value_parser = target)]
    pub target: Option<String>,
    /// Listen here for the other machine; port 0 picks one
    #[arg(long, value_name = "PORT|ADDR:PORT", value_parser = address)]
    pub listen: Option<SocketAddr>,
    /// Megabytes (of 1,048,576 bytes) to send [default: 4, as SPDTEST], or to receive [default: all that comes]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=16_777_216))]
    pub mb: Option<u64>,
    /// Local port to connect from
    #[arg(long, value_name = "PORT", conflicts_with = "listen", value_parser = clap::value_parser!(u16).range(1..))]
    pub srcport: Option<u16>,
    /// Give up after so many seconds without a byte
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub idle: u64,
    /// Receiver: copy the bytes to memory instead of discarding them in the kernel
    #[arg(long)]
    pub copy: bool,
    /// Report as one JSON object (docs/speed.md)
    #[arg(long)]
    pub json: bool,
}

/// The two ports' arguments.
#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// Clients receive from this port; 0 picks one
    #[arg(long, value_name = "PORT|ADDR:PORT", value_parser = address, default_value_t = everywhere(SOURCE_PORT))]
    pub source: SocketAddr,
    /// Clients send to this port; 0 picks one
    #[arg(long, value_name = "PORT|ADDR:PORT", value_parser = address, default_value_t = everywhere(DISCARD_PORT))]
    pub discard: SocketAddr,
    /// Send each client this many megabytes (of 1,048,576 bytes) instead of --seconds
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = clap::value_parser!(u64).range(1..=16_777_216))]
    pub mb: Option<u64>,
    /// Send to each client for this many seconds
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub seconds: u64,
    /// Maximum concurrent transfers
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1_024))]
    pub visitors: u16,
    /// Disconnect a client after this many seconds without a byte
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub idle: u64,
    /// Accept connections from public addresses
    #[arg(long)]
    pub allow_public: bool,
    /// Report as JSON, one object a line (docs/speed.md)
    #[arg(long)]
    pub json: bool,
}

impl TransferArgs {
    fn order(&self, role: Role) -> Order {
        let default = (role == Role::Send).then_some(DEFAULT_BYTES);
        Order {
            role,
            way: match (&self.target, self.listen) {
                (Some(target), _) => Way::Target(target.clone(), self.srcport),
                (None, listen) => Way::Listen(listen.unwrap_or_else(|| everywhere(SOURCE_PORT))),
            },
            limits: Limits {
                bytes: self.mb.map(|mb| mb.saturating_mul(MEGABYTE)).or(default),
                time: None,
                idle: Duration::from_secs(self.idle),
                copy: self.copy,
            },
        }
    }
}

impl ServeArgs {
    fn service(&self) -> Service {
        let bytes = self.mb.map(|mb| mb.saturating_mul(MEGABYTE));
        Service {
            source: self.source,
            discard: self.discard,
            limits: Limits {
                bytes,
                time: bytes.is_none().then(|| Duration::from_secs(self.seconds)),
                idle: Duration::from_secs(self.idle),
                copy: false,
            },
            visitors: self.visitors.into(),
            allow_public: self.allow_public,
        }
    }
}

/// Does what `coax speed` was told.
pub fn main(args: &SpeedArgs) -> ExitCode {
    match &args.what {
        What::Send(args) => transfer(args, Role::Send),
        What::Receive(args) => transfer(args, Role::Receive),
        What::Serve(args) => serve_visitors(args),
    }
}

fn transfer(args: &TransferArgs, role: Role) -> ExitCode {
    let order = args.order(role);
    let progress = std::io::stderr().is_terminal();
    let measured = measure(&order, &mut |event| match event {
        Event::Listening(at) => eprintln!("{}", advice::waiting(role, at)),
        Event::Connected(peer) => eprintln!("connected with {peer}"),
        Event::Second(sample, bytes, tcp) if progress => {
            eprint!(
                "\r{}\x1b[K",
                text::second(&sample, bytes, order.limits.bytes, tcp)
            );
        }
        Event::Second(..) => {}
    });
    match measured {
        Ok(measured) => {
            if progress {
                eprint!("\r\x1b[K");
            }
            report(&measured, args.json)
        }
        Err(error) => {
            eprintln!(
                "error: {error}\n  = help: {}",
                advice::no_connection(role, &order.way, &error)
            );
            ExitCode::FAILURE
        }
    }
}

fn report(measured: &Measured, json: bool) -> ExitCode {
    let printed = if json {
        print(&format!("{}\n", Value::Object(as_json::report(measured))))
    } else {
        print(&text::report(measured))
    };
    if measured.is_complete() {
        return printed;
    }
    eprintln!("error: {}", advice::unfinished(measured));
    ExitCode::FAILURE
}

fn serve_visitors(args: &ServeArgs) -> ExitCode {
    let stop = Stop::on_signals();
    let json = args.json;
    let told = |visit| {
        let line = if json {
            visit_json(visit)
        } else {
            visit_text(visit)
        };
        // whoever reads has gone: so do we
        if print(&line) == ExitCode::FAILURE {
            stop.set();
        }
    };
    match serve(&args.service(), &stop, &told) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}\n  = help: {}", advice::no_service(&error));
            ExitCode::FAILURE
        }
    }
}

fn visit_text(visit: Visit) -> String {
    match visit {
        Visit::Listening(source, discard) => advice::serving(source, discard),
        Visit::Visitor(_, measured) => text::visitor(&measured),
        Visit::Refused(peer, why) => format!("{peer} was refused: {why}\n"),
        Visit::Trouble(error) => format!("cannot accept a client: {error}\n"),
    }
}

fn visit_json(visit: Visit) -> String {
    let object = match visit {
        Visit::Listening(source, discard) => {
            json!({"event": "listening", "source": source.to_string(), "discard": discard.to_string()})
        }
        Visit::Visitor(role, measured) => {
            let mut object = as_json::report(&measured);
            let port = if role == Role::Send {
                "source"
            } else {
                "discard"
            };
            object.insert("event".into(), "visitor".into());
            object.insert("port".into(), port.into());
            Value::Object(object)
        }
        Visit::Refused(peer, why) => {
            json!({"event": "refused", "peer": peer.to_string(), "reason": why})
        }
        Visit::Trouble(error) => json!({"event": "trouble", "error": error.to_string()}),
    };
    format!("{object}\n")
}

fn everywhere(port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port)
}

/// `ADDR:PORT`, or a port alone for every address.
fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.trim_start_matches(':').parse() {
        return Ok(everywhere(port));
    }
    text.parse()
        .map_err(|_| "write a port, as 2000, or ADDR:PORT, as 192.168.1.5:2000".into())
}

fn target(text: &str) -> Result<String, String> {
    let port = |port: &str| port.parse::<u16>().is_ok_and(|port| port != 0);
    match text.rsplit_once(':') {
        Some((host, number)) if !host.is_empty() && port(number) => Ok(text.into()),
        _ => Err("write HOST:PORT, as 10.0.0.9:2000".into()),
    }
}

#[cfg(test)]
mod tests;
