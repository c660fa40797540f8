//! `coax serve`: from arguments to [`Settings`].

mod check;
mod diagnostics;
#[cfg(feature = "page")]
mod page;
mod testing;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{
    Args, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};

use coax_logon::accounts::User;
use coax_wire::codepage::CodePage;

use super::{
    credentials::{self, UserArg},
    output::{WrongUsage, print, print_diagnostics},
};
use coax_report::greeting;
use coax_serve::prepare::Rejected;
use coax_serve::users::Page;
use coax_serve::{Bound, Finish, Read, Start};
use coax_smbconf::diagnostic::{Diagnostic, Severity};
use coax_smbconf::explain;
use coax_smbconf::load::{Loaded, load, local_addresses};
use coax_smbconf::settings::{
    AuditTarget, GlobalSettings, GuestAccess, IpxInterface, Listener, Listeners, MapToGuest,
    NtlmAuth, Settings, ShareSettings,
};
use coax_smbconf::share_argument::ShareArg;
use coax_smbconf::value::{NETBIOS_NAME, PAGE_ADDRESS};

/// `coax serve`'s arguments.
#[derive(Args, Clone, Debug, Default)]
#[command(
    long_about = "Shares folders with every SMB1 client: DOS, Windows for Workgroups, 9x, NT, OS/2, consoles, scanners.\n\n\
        'coax serve DIR' makes one share named after the folder. Guests may read, nobody may write, and clients on public \
        addresses are refused. It listens on ports 139 and 445 if permitted, else on 1139 and 1445, and prints what to type on \
        each kind of client.\n\n\
        coax accepts NTLMv1 log-ons, which consoles, scanners and NT 4.0 need. It refuses LM and plaintext log-ons unless \
        --allow permits them."
)]
pub struct ServeArgs {
    /// The folder to share; the share is named after it
    pub dir: Option<PathBuf>,
    /// Read this smb.conf (Samba syntax); options of the command line override it
    #[arg(long, value_name = "smb.conf")]
    pub config: Option<PathBuf>,
    /// Another share: --share GAMES=/srv/games; :ro read-only, :rw users may write (the default)
    #[arg(long = "share", value_name = "NAME=DIR[:ro|:rw]")]
    pub shares: Vec<ShareArg>,
    /// What guests may do with the shares of this command line [default: ro, or none if there is a --user]
    #[arg(long, value_name = "none|ro|rw", value_parser = guest_access())]
    pub guest: Option<GuestAccess>,
    /// A user who may log on, read and write. Without a password, coax reads COAX_PASSWORD or asks at the terminal. coax
    /// removes a password given here from the process list
    #[arg(long = "user", value_name = "NAME[:PASSWORD]", value_parser = user)]
    pub users: Vec<UserArg>,
    /// Read missing passwords from standard input, one line for each --user
    #[arg(long)]
    pub password_stdin: bool,
    /// Accept log-on methods that are off by default or in smb.conf
    #[arg(long, value_name = "METHOD,…", value_delimiter = ',')]
    pub allow: Vec<LogOn>,
    /// Listen here for SMB over NetBIOS sessions (DOS, Windows 9x); port 0 picks one. With --nbt or --direct, coax listens
    /// at the addresses given and nowhere else
    #[arg(long, value_name = "ADDR:PORT", value_parser = address)]
    pub nbt: Vec<SocketAddr>,
    /// Listen here for SMB directly over TCP (Windows 2000 and later, consoles); port 0 picks one
    #[arg(long, value_name = "ADDR:PORT", value_parser = address)]
    pub direct: Vec<SocketAddr>,
    /// Answer NetBIOS name queries here (UDP) [default: port 137 if an --nbt uses port 139]
    #[arg(long, value_name = "ADDR:PORT", value_parser = address)]
    pub names: Option<SocketAddr>,
    /// Serve NetBIOS without TCP/IP (NetBEUI) on this Ethernet interface, next to TCP; needs CAP_NET_RAW
    #[arg(long, value_name = "INTERFACE")]
    pub netbeui: Vec<String>,
    /// Serve IPX (NetBIOS and direct hosting) on this Ethernet interface, next to TCP; needs CAP_NET_RAW. Frame: 802.2,
    /// 802.3, ethernet-ii, snap or auto; network: hexadecimal [default: detected and learned]
    #[arg(long, value_name = "INTERFACE[:FRAME[:NETWORK]]")]
    pub ipx: Vec<IpxInterface>,
    /// The name clients find this server by, at most 15 characters [default: this machine's name]
    #[arg(long, value_name = "NETBIOS-NAME", value_parser = NETBIOS_NAME.read)]
    pub name: Option<String>,
    /// The workgroup it belongs to [default: WORKGROUP]
    #[arg(long, value_name = "NAME", value_parser = NETBIOS_NAME.read)]
    pub workgroup: Option<String>,
    /// Any parameter of smb.conf's global section: --option 'read raw = no'
    #[arg(long = "option", value_name = "KEY=VALUE", value_parser = option)]
    pub options: Vec<String>,
    /// Socket options for all clients, in smbd's syntax: -O 'TCP_NODELAY SO_SNDBUF=65536'
    #[arg(short = 'O', long, value_name = "OPTIONS", value_parser = option_value)]
    pub socket_options: Option<String>,
    /// Write an audit log, one JSON object for each operation on files and each refused request (docs/audit.md): a file,
    /// journal, syslog or syslog:FACILITY
    #[arg(long, value_name = "FILE|journal|syslog", value_parser = audit)]
    pub audit: Option<AuditTarget>,
    /// Show what clients do and wait for on a web page, with metrics, at this address (docs/live.md). A port alone means
    /// 127.0.0.1. At an address other than loopback, readers need a token; coax writes it to the log
    #[arg(long, value_name = "ADDR:PORT", value_parser = web_address)]
    pub web: Option<SocketAddr>,
    /// Report as JSON, one object a line (docs/events.md)
    #[arg(long)]
    pub json: bool,
    /// `--trace` and `--pcap`.
    #[command(flatten)]
    pub diagnostics: diagnostics::DiagnosticArgs,
    /// `--ci` and `--fault`.
    #[command(flatten)]
    pub testing: testing::TestArgs,
    /// Explain each line of the configuration (without one: every parameter) and exit
    #[arg(long)]
    pub explain_config: bool,
    /// Check everything as at a start, report problems and what would be served, and exit. With --json: one JSON object
    #[arg(long, conflicts_with = "explain_config")]
    pub check: bool,
    /// Replace the running server: take over its listening sockets while its clients finish their copies
    #[arg(long, conflicts_with_all = ["explain_config", "check"])]
    pub takeover: bool,
    /// Whether the command line named users; their passwords are forgotten once they are hashed.
    #[arg(skip)]
    had_users: bool,
    /// The temporary folder of `--ci`.
    #[arg(skip)]
    temporary: Option<ShareArg>,
}

/// A log-on method that gives passwords away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogOn {
    /// LM responses: DOS, Windows for Workgroups, 95 and 98 send no others; an attacker breaks them in seconds
    Lm,
    /// Plaintext passwords: the oldest clients; anybody on the network can read them
    Plaintext,
    /// NTLMv1 responses: consoles, scanners, NT 4.0; on by default, unless smb.conf turns them off
    Ntlmv1,
}

/// Why a command line cannot be followed.
#[derive(Debug)]
pub enum ServeError {
    /// It makes no sense: exit code 2.
    Usage(String),
    /// It makes sense, and cannot be done: exit code 1.
    Failed(Vec<Diagnostic>),
}

impl ServeArgs {
    /// What to serve, and what is to be said about it.
    ///
    /// # Errors
    /// Wrong usage, or a configuration that cannot be served.
    pub fn settings(&self) -> Result<(Settings, Vec<Diagnostic>), ServeError> {
        let mut loaded = load(self.config.as_deref(), &self.all_options());
        let own = self.own_shares(&loaded.template)?;
        if self.guest.is_some() && own.is_empty() {
            return Err(ServeError::Usage(
                "--guest is for shares of the command line: write 'guest ok = yes' into the share's section of smb.conf".into(),
            ));
        }
        self.overrule(&mut loaded.settings, !own.is_empty());
        loaded.settings.users = self.accounts(&loaded.settings.global)?;
        if !self.nbt.is_empty() || !self.direct.is_empty() {
            loaded.settings.listen = self.listeners();
        } else if let Some(names) = self.names {
            loaded.settings.listen.names = Some(Listener::exactly(names));
        }
        for name in &self.netbeui {
            if !loaded.settings.listen.netbeui.contains(name) {
                loaded.settings.listen.netbeui.push(name.clone());
            }
        }
        for wanted in &self.ipx {
            let listed = &mut loaded.settings.listen.ipx;
            listed.retain(|other| other.interface != wanted.interface);
            listed.push(wanted.clone());
        }
        for share in own {
            let lower = share.name.to_lowercase();
            if loaded
                .settings
                .shares
                .iter()
                .any(|s| s.name.to_lowercase() == lower)
            {
                return Err(ServeError::Usage(format!(
                    "there are two shares named {}: give one another name",
                    share.name
                )));
            }
            loaded.settings.shares.push(share);
        }
        let said = coax_serve::homes::add(&mut loaded.settings);
        loaded.diagnostics.extend(said);
        let listens = !self.nbt.is_empty() || !self.direct.is_empty();
        self.testing
            .apply(&mut loaded.settings, listens, self.temporary.is_some());
        self.judge(loaded)
    }

    /// Whether `--ci` has no folder to share.
    fn needs_temporary(&self) -> bool {
        self.testing.ci && self.dir.is_none() && self.shares.is_empty()
    }

    /// What is said of `[global]` by `--option` and by options of their own, which win.
    fn all_options(&self) -> Vec<String> {
        let mut options = self.options.clone();
        let sockets = self.socket_options.as_ref();
        options.extend(sockets.map(|words| format!("socket options = {words}")));
        options
    }

    fn judge(&self, loaded: Loaded) -> Result<(Settings, Vec<Diagnostic>), ServeError> {
        if loaded.has_errors() {
            return Err(ServeError::Failed(loaded.diagnostics));
        }
        if !cfg!(feature = "page") && loaded.settings.global.web.is_some() {
            let why = "this coax was built without its web page: remove --web or 'coax:web'";
            return Err(ServeError::Failed(vec![Diagnostic::error(why)]));
        }
        if loaded.settings.shares.is_empty() && self.config.is_none() {
            return Err(ServeError::Usage(
                "nothing to share: name a folder, as 'coax serve DIR'".into(),
            ));
        }
        if loaded.settings.shares.is_empty() {
            let mut said = loaded.diagnostics;
            said.push(Diagnostic::error(
                "nothing to share: the configuration has no section but [global]",
            ));
            return Err(ServeError::Failed(said));
        }
        Ok((loaded.settings, loaded.diagnostics))
    }

    /// What the command line says beside shares and addresses wins over the file.
    fn overrule(&self, settings: &mut Settings, own_shares: bool) {
        let global = &mut settings.global;
        if let Some(name) = &self.name {
            global.netbios_name.clone_from(name);
        }
        if let Some(workgroup) = &self.workgroup {
            global.workgroup.clone_from(workgroup);
        }
        for method in &self.allow {
            match method {
                LogOn::Lm => global.lanman_auth = true,
                LogOn::Plaintext => global.plaintext_accepted = true,
                LogOn::Ntlmv1 => global.ntlm_auth = NtlmAuth::V1Permitted,
            }
        }
        // Clients log on as whoever sits there; without a file to say otherwise, a stranger is a guest.
        if own_shares
            && self.config.is_none()
            && self.guest_access() != GuestAccess::None
            && global.map_to_guest == MapToGuest::Never
        {
            global.map_to_guest = MapToGuest::BadUser;
        }
        if self.audit.is_some() {
            global.audit.clone_from(&self.audit);
        }
        if self.web.is_some() {
            global.web = self.web;
        }
        settings.json = self.json;
        self.diagnostics.apply(settings);
    }

    /// The users, with the hashes of their passwords.
    fn accounts(&self, global: &GlobalSettings) -> Result<Vec<User>, ServeError> {
        // A code page that nobody has is refused when the server is made.
        let page = Page(CodePage::from_number(global.dos_charset).unwrap_or_default());
        let account = |user: &UserArg| {
            let password = user.password.as_ref().ok_or_else(|| {
                ServeError::Usage(format!(
                    "the password of {} is missing: set COAX_PASSWORD",
                    user.name
                ))
            })?;
            if password.is_empty() && !global.null_passwords {
                return Err(ServeError::Usage(format!(
                    "the password of {} is empty, which only 'null passwords = yes' in smb.conf allows",
                    user.name
                )));
            }
            Ok(User::with_password(&user.name, password, &page))
        };
        self.users.iter().map(account).collect()
    }

    /// `DIR` and every `--share`.
    fn own_shares(&self, template: &ShareSettings) -> Result<Vec<ShareSettings>, ServeError> {
        let named_after_folder = self.dir.as_deref().map(ShareArg::of_folder);
        let all = named_after_folder
            .into_iter()
            .chain(self.shares.iter().cloned().map(Ok))
            .chain(self.temporary.iter().cloned().map(Ok));
        all.map(|share| share?.settings(self.guest_access(), template))
            .collect::<Result<_, _>>()
            .map_err(|diagnostic| ServeError::Failed(vec![diagnostic]))
    }

    fn guest_access(&self) -> GuestAccess {
        self.guest.unwrap_or(if self.temporary.is_some() {
            GuestAccess::Rw
        } else if self.users.is_empty() && !self.had_users {
            GuestAccess::Ro
        } else {
            GuestAccess::None
        })
    }

    fn listeners(&self) -> Listeners {
        let exactly = |list: &[SocketAddr]| list.iter().copied().map(Listener::exactly).collect();
        let reachable = self.nbt.iter().any(|a| a.port() == 139);
        let everywhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 137);
        let names = self
            .names
            .or(reachable.then_some(everywhere))
            .map(Listener::exactly);
        Listeners {
            nbt: exactly(&self.nbt),
            direct: exactly(&self.direct),
            names,
            netbeui: Vec::new(),
            ipx: Vec::new(),
        }
    }
}

/// Serves, checks or explains the configuration.
///
/// # Errors
/// The command line makes no sense.
pub fn main(mut args: ServeArgs) -> Result<ExitCode, WrongUsage> {
    let wrong_usage = |message: &str| Err(WrongUsage::new("serve", message));
    if args.explain_config {
        return Ok(explain_config(&args));
    }
    if args.users.iter().any(|user| user.name.is_empty()) {
        return wrong_usage("--user needs a name: write NAME or NAME:PASSWORD");
    }
    if let Err(message) = credentials::complete(&mut args.users, args.password_stdin) {
        return wrong_usage(&message);
    }
    let temporary = match args.needs_temporary() {
        true => Some(testing::Temporary::new()),
        false => None,
    };
    let temporary = match temporary.transpose() {
        Ok(temporary) => temporary,
        Err(why) => return Ok(failed(&why)),
    };
    args.temporary = temporary.as_ref().map(testing::Temporary::share);
    let settings = args.settings();
    args.had_users = !args.users.is_empty();
    // The hashes are all that is needed from here on.
    args.users.clear();
    let (settings, said) = match settings {
        Ok(settings) => settings,
        Err(ServeError::Usage(message)) => return wrong_usage(&message),
        Err(ServeError::Failed(said)) if args.check => return Ok(check::failed(said, args.json)),
        Err(ServeError::Failed(said)) => {
            print_diagnostics(&said);
            return Ok(ExitCode::FAILURE);
        }
    };
    if args.check {
        return Ok(check::check(&settings, said));
    }
    print_diagnostics(&said);
    let code = serve(args, settings);
    // It is removed after the server's end.
    drop(temporary);
    Ok(code)
}

fn failed(why: &str) -> ExitCode {
    eprintln!("error: {why}");
    ExitCode::FAILURE
}

/// Reads the settings again, with the same command line and the users that it named.
fn reading(args: ServeArgs, users: Vec<User>) -> Read {
    Box::new(move || match args.settings() {
        Ok((settings, said)) => {
            let users = users.clone();
            Ok((Settings { users, ..settings }, said))
        }
        Err(ServeError::Usage(message)) => Err(vec![Diagnostic::error(message)]),
        Err(ServeError::Failed(said)) => Err(said),
    })
}

/// The web page, if it is part of this program.
fn page() -> Option<coax_serve::web::Page> {
    #[cfg(feature = "page")]
    let page = Some(coax_page::page(page::explain));
    #[cfg(not(feature = "page"))]
    let page = None;
    page
}

/// Serves until told to stop.
fn serve(args: ServeArgs, settings: Settings) -> ExitCode {
    let ci = match args.testing.start(&settings) {
        Ok(ci) => ci,
        Err(why) => return failed(&why),
    };
    let (takeover, faults) = (args.takeover, args.testing.faults.clone());
    let start = Start {
        faults,
        ci,
        read: reading(args, settings.users.clone()),
        takeover,
        page: page(),
    };
    let greeting = (!settings.json).then(|| settings.clone());
    let greet = |bound: &Bound| {
        if let Some(settings) = greeting {
            print(&greeting::greet(&settings, bound, &local_addresses()));
        }
    };
    let error = match coax_serve::run(settings, start, greet) {
        Ok(Finish::Done) => return ExitCode::SUCCESS,
        Ok(Finish::Problems) => return ExitCode::FAILURE,
        Err(error) => error,
    };
    match error.downcast_ref::<Rejected>() {
        Some(Rejected(reasons)) => print_diagnostics(reasons),
        None => eprintln!("error: {error:#}"),
    }
    ExitCode::FAILURE
}

fn explain_config(args: &ServeArgs) -> ExitCode {
    let options = args.all_options();
    if args.config.is_none() && options.is_empty() {
        return print(&explain::reference());
    }
    let loaded = load(args.config.as_deref(), &options);
    print_diagnostics(
        &loaded
            .diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .cloned()
            .collect::<Vec<_>>(),
    );
    let printed = print(&explain::lines(&loaded));
    if loaded.has_errors() {
        ExitCode::FAILURE
    } else {
        printed
    }
}

fn user(text: &str) -> Result<UserArg, std::convert::Infallible> {
    Ok(UserArg::new(text))
}

fn guest_access() -> impl TypedValueParser<Value = GuestAccess> {
    PossibleValuesParser::new([
        PossibleValue::new("none").help("No guests"),
        PossibleValue::new("ro").help("Guests read"),
        PossibleValue::new("rw").help("Guests read and write"),
    ])
    .try_map(|text| text.parse::<GuestAccess>())
}

/// `ADDR:PORT`, or a port alone for every address.
fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.trim_start_matches(':').parse() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port));
    }
    text.parse().map_err(|_| {
        "write ADDR:PORT, as 192.168.1.5:139, or a port alone for every address".into()
    })
}

fn web_address(text: &str) -> Result<SocketAddr, String> {
    let address = (PAGE_ADDRESS.read)(text)?;
    address.ok_or_else(|| "write ADDR:PORT, as 127.0.0.1:8139".into())
}

fn option(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((key, _)) if !key.trim().is_empty() && !text.contains('\n') => Ok(text.into()),
        _ => Err("write KEY=VALUE, as 'read raw = no'".into()),
    }
}

fn audit(text: &str) -> Result<AuditTarget, String> {
    AuditTarget::parse(text)?.ok_or_else(|| "write a path, journal or syslog".into())
}

/// A value of one line.
fn option_value(text: &str) -> Result<String, String> {
    match text.contains('\n') {
        false => Ok(text.into()),
        true => Err("write it in one line".into()),
    }
}

#[cfg(test)]
mod tests;
