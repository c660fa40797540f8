//! What is printed when the server is up: what it shares, and the exact line to type on each kind of client.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use coax_serve::{Bound, why_not_writable};
use coax_smbconf::settings::{Access, NtlmAuth, Security, Settings, ShareSettings};

/// The greeting. `local` are this machine's addresses, for listeners at every address.
pub fn greet(settings: &Settings, bound: &Bound, local: &[(String, IpAddr)]) -> String {
    let mut out = format!(
        "coax {} serves as \\\\{} in workgroup {}\n\n",
        env!("CARGO_PKG_VERSION"),
        settings.global.netbios_name,
        settings.global.workgroup
    );
    shares(settings, &mut out);
    let from = Reach::new(bound, local);
    let _ = writeln!(out, "\nListening at {}", listening(bound));
    if let Some(web) = bound.web {
        let _ = writeln!(out, "Web page at http://{web}/");
    }
    if from.only_here {
        out.push_str("Only this machine can connect: all addresses are loopback addresses.\n");
    }
    if let Some(share) = example_share(settings) {
        clients(
            &Example {
                settings,
                share,
                from: &from,
            },
            &mut out,
        );
    }
    names(settings, bound, &from, &mut out);
    ports(&from, &mut out);
    log_ons(settings, &mut out);
    out
}

/// The share that the lines to type name: a folder rather than a printer.
fn example_share(settings: &Settings) -> Option<&ShareSettings> {
    let shown = || {
        settings
            .shares
            .iter()
            .filter(|s| s.available && s.browseable)
    };
    let folder = shown().find(|s| !s.printable);
    folder.or(shown().next()).or(settings.shares.first())
}

/// Which address and ports a client is told.
struct Reach {
    address: IpAddr,
    nbt_port: Option<u16>,
    direct_port: Option<u16>,
    only_here: bool,
}

impl Reach {
    fn new(bound: &Bound, local: &[(String, IpAddr)]) -> Self {
        let all = || bound.nbt.iter().chain(&bound.direct).map(SocketAddr::ip);
        let lan = local
            .iter()
            .map(|(_, a)| *a)
            .find(|a| a.is_ipv4() && !a.is_loopback());
        let outside = all().find(|a| !a.is_loopback() && !a.is_unspecified());
        let everywhere = all().any(|a| a.is_unspecified()).then_some(lan).flatten();
        let here = all()
            .find(|a| a.is_loopback())
            .unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let port = |list: &[SocketAddr], usual: u16| {
            let usual = list.iter().find(|a| a.port() == usual);
            usual
                .or(list.first())
                .map(SocketAddr::port)
                .filter(|p| *p != 0)
        };
        Self {
            address: outside.or(everywhere).unwrap_or(here),
            nbt_port: port(&bound.nbt, 139),
            direct_port: port(&bound.direct, 445),
            only_here: all().all(|a| a.is_loopback()),
        }
    }
}

/// What the lines to type are made of.
struct Example<'a> {
    settings: &'a Settings,
    share: &'a ShareSettings,
    from: &'a Reach,
}

impl Example<'_> {
    /// The user to log on as, if guests may not.
    fn user(&self) -> Option<&str> {
        if self.share.guest_ok {
            return None;
        }
        let users = self.settings.users.iter().map(|u| u.name.as_str());
        Some(users.into_iter().next().unwrap_or("NAME"))
    }

    /// The command that connects a drive or a printer port.
    fn net_use(&self) -> String {
        net_use(self.settings, self.share)
    }

    /// A printer beside the folder of the other lines.
    fn printer(&self) -> Option<&ShareSettings> {
        let mut shown = self.settings.shares.iter();
        let printer = shown.find(|s| s.printable && s.available && s.browseable);
        printer.filter(|_| !self.share.printable)
    }
}

fn net_use(settings: &Settings, share: &ShareSettings) -> String {
    let device = if share.printable { "LPT1" } else { "X" };
    let server = &settings.global.netbios_name;
    format!("NET USE {device}: \\\\{server}\\{}", share.name)
}

fn shares(settings: &Settings, out: &mut String) {
    let width = settings
        .shares
        .iter()
        .map(|s| s.name.chars().count())
        .max()
        .unwrap_or_default();
    for share in &settings.shares {
        let path = share.path.replace("%%", "%");
        let _ = writeln!(
            out,
            "  {:width$}  {path}  ({}{})",
            share.name,
            who(settings, share),
            cannot_write(share)
        );
    }
}

/// Why nobody can write, if the settings allow writing.
fn cannot_write(share: &ShareSettings) -> String {
    let act = if share.printable { "print" } else { "write" };
    why_not_writable(share).map_or_else(String::new, |why| format!(", but nobody can {act}: {why}"))
}

/// Who may do what, in words.
fn who(settings: &Settings, share: &ShareSettings) -> String {
    if !share.available {
        return "closed: nobody can connect".into();
    }
    let guests = match share.access(None) {
        None => "no guests",
        Some(_) if share.printable => "guests print",
        Some(Access::ReadOnly) => "guests read",
        Some(Access::ReadWrite) => "guests read and write",
    };
    if settings.global.security == Security::Share {
        let password = if share.password.is_some() || share.read_only_password.is_some() {
            "a password opens it"
        } else {
            "no password"
        };
        return format!("{guests}; {password}");
    }
    let has_users = !settings.users.is_empty() || settings.global.password_file().is_some();
    match (
        has_users && !share.guest_only,
        share.read_only && share.write_list.is_empty(),
    ) {
        (false, _) => guests.into(),
        (true, _) if share.printable => format!("{guests}; users print"),
        (true, true) => format!("{guests}; users read"),
        (true, false) => format!("{guests}; users read and write"),
    }
}

fn listening(bound: &Bound) -> String {
    let nbt = bound.nbt.iter().map(|a| format!("{a} (NetBIOS sessions)"));
    let direct = bound.direct.iter().map(|a| format!("{a} (direct)"));
    let names = bound.names.then(|| "UDP 137 (names)".to_string());
    let netbeui = bound.netbeui.iter().map(|name| format!("{name} (NetBEUI)"));
    let ipx = bound.ipx.iter().map(|name| format!("{name} (IPX)"));
    nbt.chain(direct)
        .chain(names)
        .chain(netbeui)
        .chain(ipx)
        .collect::<Vec<_>>()
        .join(", ")
}

/// What to type on each kind of client.
fn clients(example: &Example<'_>, out: &mut String) {
    out.push_str("\nOn the client, type\n");
    for (client, line) in lines(example) {
        let _ = writeln!(out, "  {client:<34}  {line}");
    }
}

fn lines(example: &Example<'_>) -> Vec<(&'static str, String)> {
    let Example {
        settings,
        share,
        from,
    } = example;
    let net_use = example.net_use();
    let user = example.user();
    let mut lines = Vec::new();
    if from.nbt_port.is_some() {
        let log_on = user
            .map(|u| format!("NET LOGON {u}, then "))
            .unwrap_or_default();
        lines.push(("DOS (MS Client, LAN Manager)", format!("{log_on}{net_use}")));
        lines.push(("Windows for Workgroups, 95, 98, Me", net_use.clone()));
        lines.push(("OS/2", format!("{log_on}{net_use}")));
    }
    let as_user = user.map(|u| format!(" /USER:{u}")).unwrap_or_default();
    lines.push(("Windows NT, 2000, XP", format!("{net_use}{as_user}")));
    if let Some(printer) = example.printer() {
        lines.push((
            "Printer, DOS, Windows, OS/2",
            self::net_use(settings, printer),
        ));
    }
    if let Some(port) = from.direct_port.filter(|_| !share.printable) {
        let (name, password) = user.map_or(("GUEST", "none"), |u| (u, "that user's"));
        let text = format!(
            "IP {}, port {port}, share {}, user {name}, password {password}",
            from.address, share.name
        );
        lines.push(("PlayStation 2 (Open PS2 Loader)", text));
    }
    lines.extend(unix_lines(example, user));
    lines
}

fn unix_lines(example: &Example<'_>, user: Option<&str>) -> Vec<(&'static str, String)> {
    let Example { share, from, .. } = example;
    let Some(port) = from.direct_port.or(from.nbt_port) else {
        return Vec::new();
    };
    let place = format!("//{}/{}", from.address, share.name);
    let who = user.map_or("-N".into(), |u| format!("-U {u}"));
    let smbclient =
        format!("smbclient '{place}' -p {port} {who} -m NT1 --option='client min protocol=CORE'");
    if share.printable {
        return vec![("smbclient", smbclient)];
    }
    let who = user.map_or("guest".into(), |u| format!("username={u}"));
    let mount = format!("mount -t cifs '{place}' /mnt -o vers=1.0,port={port},{who}");
    vec![("smbclient", smbclient), ("Linux, as root", mount)]
}

/// What to do where the server's name is not found.
fn names(settings: &Settings, bound: &Bound, from: &Reach, out: &mut String) {
    if from.only_here || from.nbt_port.is_none() {
        return;
    }
    let line = format!("{}  {}  #PRE", from.address, settings.global.netbios_name);
    let when = if bound.names {
        "If the name is not found, add"
    } else {
        "The server does not answer name queries on UDP 137. Add"
    };
    let _ = writeln!(
        out,
        "\n{when} this line to LMHOSTS (in C:\\WINDOWS, C:\\NET or SYSTEM32\\DRIVERS\\ETC):\n  {line}"
    );
}

/// What to do where the ports are not the ones that old clients know.
fn ports(from: &Reach, out: &mut String) {
    let moved = |port: Option<u16>, usual: u16| port.filter(|p| *p != usual).map(|p| (p, usual));
    let moved: Vec<(u16, u16)> = [moved(from.nbt_port, 139), moved(from.direct_port, 445)]
        .into_iter()
        .flatten()
        .collect();
    if moved.is_empty() || from.only_here {
        return;
    }
    let ports = moved
        .iter()
        .map(|(_, usual)| format!("port {usual}"))
        .collect::<Vec<_>>()
        .join(" and ");
    let program = std::env::current_exe().map_or("coax".into(), |p| p.display().to_string());
    let _ = writeln!(
        out,
        "\nDOS, Windows and OS/2 only connect to {ports}, which this server could not open. To allow it, run one of\n  \
         sudo setcap cap_net_bind_service=+ep '{program}'\n  \
         sudo sysctl net.ipv4.ip_unprivileged_port_start=137\n\
         and restart coax. Or redirect the ports to this server:"
    );
    for (port, usual) in moved {
        let _ = writeln!(
            out,
            "  sudo iptables -t nat -A PREROUTING -p tcp --dport {usual} -j REDIRECT --to-ports {port}"
        );
    }
}

/// Log-ons that will be refused, where that is likely to surprise.
fn log_ons(settings: &Settings, out: &mut String) {
    let global = &settings.global;
    let users = !settings.users.is_empty() || global.password_file().is_some();
    if !users || global.security == Security::Share {
        return;
    }
    if !global.lanman_auth {
        out.push_str(
            "\nUsers cannot log on from DOS, Windows for Workgroups, 95 and 98: these send LM responses, which reveal the \
             password.\n--allow lm ('lanman auth = yes') accepts them.\n",
        );
    }
    if global.ntlm_auth != NtlmAuth::V1Permitted {
        out.push_str(
            "\nUsers cannot log on from consoles, most scanners and NT 4.0: these send NTLMv1.\n\
             --allow ntlmv1 ('ntlm auth = ntlmv1-permitted') accepts it.\n",
        );
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::expect_used,
        clippy::panic
    )]
    use super::*;
    use coax_logon::{accounts::User, text::Ascii};
    use coax_smbconf::load::load_text;

    fn settings(conf: &str) -> Settings {
        load_text("t", conf).settings
    }

    fn bound(nbt: &str, direct: &str, names: bool) -> Bound {
        let one = |text: &str| vec![text.parse().unwrap()];
        Bound {
            nbt: one(nbt),
            direct: one(direct),
            names,
            web: None,
            netbeui: Vec::new(),
            ipx: Vec::new(),
        }
    }

    const GUEST: &str = "[global]\nnetbios name = attic\n[DATA]\npath = /\nguest ok = yes\n";

    fn lan() -> Vec<(String, IpAddr)> {
        vec![
            ("lo".into(), "127.0.0.1".parse().unwrap()),
            ("eth0".into(), "192.168.1.5".parse().unwrap()),
        ]
    }

    #[test]
    fn on_the_usual_ports_every_client_is_told_its_line_and_nothing_needs_to_be_redirected() {
        let text = greet(
            &settings(GUEST),
            &bound("0.0.0.0:139", "0.0.0.0:445", true),
            &lan(),
        );
        for part in [
            r"NET USE X: \\ATTIC\DATA",
            "IP 192.168.1.5, port 445, share DATA, user GUEST",
            "smbclient '//192.168.1.5/DATA' -p 445 -N -m NT1",
            "mount -t cifs '//192.168.1.5/DATA' /mnt -o vers=1.0,port=445,guest",
            "If the name is not found, add this line to LMHOSTS (in ",
            "192.168.1.5  ATTIC  #PRE",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        assert!(
            !text.contains("iptables") && !text.contains("NET LOGON") && !text.contains("--allow")
        );
    }

    #[test]
    fn a_printer_gets_a_printer_port_and_no_drive() {
        let printer = "[LASER]\npath = /\nprintable = yes\nguest ok = yes\n";
        let greet = |conf: &str| {
            greet(
                &settings(conf),
                &bound("0.0.0.0:139", "0.0.0.0:445", true),
                &lan(),
            )
        };
        let alone = greet(&format!("[global]\nnetbios name = attic\n{printer}"));
        let each = r"NET USE LPT1: \\ATTIC\LASER";
        assert_eq!(alone.matches(each).count(), 4, "{alone}");
        assert!(alone.contains("(guests print") && alone.contains("smbclient '//"));
        for part in ["NET USE X:", "guests read", "PlayStation", "mount -t"] {
            assert!(!alone.contains(part), "{part} in\n{alone}");
        }
        for conf in [
            format!("{GUEST}{printer}"),
            GUEST.replace("[DATA]", &format!("{printer}[DATA]")),
        ] {
            let both = greet(&conf);
            assert_eq!(both.matches(each).count(), 1, "{both}");
            assert_eq!(
                both.matches(r"NET USE X: \\ATTIC\DATA").count(),
                4,
                "{both}"
            );
        }
    }

    #[test]
    fn on_other_ports_the_very_commands_that_help_are_printed() {
        let text = greet(
            &settings(GUEST),
            &bound("0.0.0.0:1139", "0.0.0.0:1445", false),
            &lan(),
        );
        for part in [
            "setcap cap_net_bind_service=+ep '/",
            "sysctl net.ipv4.ip_unprivileged_port_start=137",
            "--dport 139 -j REDIRECT --to-ports 1139",
            "--dport 445 -j REDIRECT --to-ports 1445",
            "does not answer name queries on UDP 137. Add this line to LMHOSTS (in ",
            "-p 1445",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    #[test]
    fn users_are_told_how_to_log_on_and_which_log_ons_are_refused() {
        let mut settings = settings("[DATA]\npath = /\nread only = no\n");
        settings
            .users
            .push(User::with_password("anna", "hush", &Ascii));
        let text = greet(
            &settings,
            &bound("0.0.0.0:139", "0.0.0.0:445", true),
            &lan(),
        );
        for part in [
            "NET LOGON anna",
            "/USER:anna",
            "-U anna",
            "username=anna",
            "--allow lm",
            "no guests; users read and write",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        assert!(!text.contains("hush"));
    }

    #[test]
    fn a_server_on_loopback_says_that_nobody_else_can_connect() {
        let text = greet(
            &settings(GUEST),
            &bound("127.0.0.1:2139", "127.0.0.1:2445", false),
            &lan(),
        );
        assert!(
            text.contains("Only this machine")
                && text.contains("//127.0.0.1/DATA")
                && !text.contains("#PRE")
        );
    }
}
