//! Global settings.

use crate::log_level::LogLevels;
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use super::{
    AuditEvents, AuditTarget, MapToGuest, NetbiosSettings, NtlmAuth, Pacing, Protocol, Security,
    Signing, SocketOption,
};
use crate::hosts::{HostAccess, HostList};

/// Global settings. The documentation of each field names its smb.conf parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalSettings {
    /// `workgroup`: upper case, at most 15 characters.
    pub workgroup: String,
    /// `netbios name`: upper case, at most 15 characters.
    pub netbios_name: String,
    /// `netbios aliases`: further names of the server.
    pub netbios_aliases: Vec<String>,
    /// `server string`: the comment in browse lists. May contain macros.
    pub server_string: String,
    /// `hosts allow` and `hosts deny` of `[global]`: checked when a client connects, before each share's own.
    pub hosts: HostAccess,
    /// `interfaces`: addresses, networks or names of network interfaces; empty means all.
    pub interfaces: Vec<String>,
    /// `bind interfaces only`: listen at these interfaces only (see [`super::Settings::listen`]).
    pub bind_interfaces_only: bool,
    /// `smb ports`: ports to listen at; numbers that end in 39 use the NetBIOS session service.
    pub smb_ports: Vec<u16>,
    /// `disable netbios`: turns off name service and session service.
    pub disable_netbios: bool,
    /// Names of other machines, WINS and browsing.
    pub netbios: NetbiosSettings,

    /// `coax:sandbox`: confine the serving process to its folders and to the system calls of a file server.
    pub sandbox: bool,
    /// `coax:user`: the user to switch to after binding the ports.
    pub run_as: Option<String>,

    /// `security`.
    pub security: Security,
    /// `map to guest`.
    pub map_to_guest: MapToGuest,
    /// `guest account`: the user name of guests.
    pub guest_account: String,
    /// `encrypt passwords = no`: ask clients for plaintext passwords.
    pub plaintext_auth: bool,
    /// `--allow plaintext`: accept plaintext passwords in addition to challenge responses.
    pub plaintext_accepted: bool,
    /// `lanman auth`, or `--allow lm`: accept LM responses.
    pub lanman_auth: bool,
    /// `ntlm auth`.
    pub ntlm_auth: NtlmAuth,
    /// `null passwords`: users whose password is empty may log on.
    pub null_passwords: bool,
    /// `smb passwd file`: users and their hashes.
    pub smb_passwd_file: Option<PathBuf>,
    /// `passdb backend = smbpasswd:FILE`: users and their hashes; wins over `smb passwd file`, as with Samba.
    pub passdb_backend: Option<PathBuf>,
    /// `username map`: maps names sent by clients to user names.
    pub username_map: Option<PathBuf>,
    /// `server signing`.
    pub signing: Signing,

    /// `server min protocol`.
    pub min_protocol: Protocol,
    /// `server max protocol`.
    pub max_protocol: Protocol,
    /// `max xmit`, bytes: the maximum SMB message size that the server announces, 1,024–65,535.
    pub max_xmit_bytes: u32,
    /// `max mux`: maximum number of outstanding requests of a client.
    pub max_mux: u16,
    /// `read raw`.
    pub read_raw: bool,
    /// `write raw`.
    pub write_raw: bool,
    /// `large readwrite`: reads and writes of 64 KB and more for NT clients.
    pub large_readwrite: bool,
    /// `nt status support`: offer NT status codes.
    pub nt_status_support: bool,
    /// `nt pipe support`: named pipes on IPC$ (share lists for NT clients).
    pub nt_pipe_support: bool,
    /// `unicode`: offer Unicode.
    pub unicode: bool,
    /// `time server`: announce support for `NET TIME`.
    pub time_server: bool,
    /// `time offset`, minutes added to the time zone that clients get.
    pub time_offset_minutes: i32,
    /// `dos charset`: the code page of clients without Unicode.
    pub dos_charset: u16,

    /// `socket options`.
    pub socket_options: Vec<SocketOption>,
    /// `coax:pacing`.
    pub pacing: Pacing,
    /// `coax:pacing off for`: clients that are not paced, whatever `coax:pacing` says,
    pub pacing_off_for: HostList,
    /// `coax:pacing always for`: and clients that are.
    pub pacing_always_for: HostList,
    /// `deadtime`, minutes without a request after which a client without open files is disconnected; 0 means never.
    pub deadtime_minutes: u32,
    /// `coax:drain time`, seconds that clients with open files have to finish when the server stops.
    pub drain_seconds: u32,
    /// `coax:takeover socket`: where a new process can ask for the listening sockets.
    pub takeover_socket: Option<PathBuf>,
    /// `coax:status socket`: where `coax status` asks.
    pub status_socket: Option<PathBuf>,
    /// `coax:web`, or `--web`: where the web page is.
    pub web: Option<SocketAddr>,
    /// `coax:web token file`: a file with the token that readers of the web page need.
    pub web_token_file: Option<PathBuf>,
    /// `coax:state directory`: where the server keeps what it has learned of clients.
    pub state_directory: Option<PathBuf>,
    /// `coax:takeover time`, seconds that clients with open files have to finish after a takeover.
    pub takeover_seconds: u32,
    /// `keepalive`, seconds between NetBIOS keep-alives to an idle client; 0 means none.
    pub keepalive_seconds: u32,
    /// `max smbd processes`: maximum number of clients; 0 means the server's own limit.
    pub max_clients: u32,
    /// `reset on zero vc`: a client that logs on as its first virtual circuit closes the other connections from its address.
    pub reset_on_zero_vc: bool,
    /// `max open files`: maximum number of open files of one client.
    pub max_open_files: u32,
    /// `defer sharing violations`: an open that share modes forbid waits for the file to be closed,
    pub defer_sharing_violations: bool,
    /// `smbd:sharedelay`, microseconds.
    pub sharing_delay_us: u32,
    /// `smbd:writetimeupdatedelay`, microseconds.
    pub write_time_delay_us: u32,

    /// `log level`: 0 errors, 1 clients, 2 refusals with reasons, 3 every request, 10 every byte.
    pub log_level: LogLevels,
    /// `log file`: log file in addition to standard error. May contain macros.
    pub log_file: Option<String>,
    /// `max log size`, KiB, at which the log is renamed to `.old`; 0 means never.
    pub max_log_kib: u32,
    /// `coax:audit`: where the audit log goes.
    pub audit: Option<AuditTarget>,
    /// `coax:audit events`: what it records.
    pub audit_events: AuditEvents,
    /// `coax:audit queue`, KiB of entries that wait in memory at most.
    pub audit_queue_kib: u32,
}

impl GlobalSettings {
    /// The file of users and their hashes.
    pub fn password_file(&self) -> Option<&Path> {
        let file = self
            .passdb_backend
            .as_ref()
            .or(self.smb_passwd_file.as_ref());
        file.map(PathBuf::as_path)
    }
}

impl Default for GlobalSettings {
    fn default() -> Self {
        Self {
            workgroup: "WORKGROUP".into(),
            netbios_name: "COAX".into(),
            netbios_aliases: Vec::new(),
            server_string: "coax %v".into(),
            hosts: HostAccess::default(),
            interfaces: Vec::new(),
            bind_interfaces_only: false,
            smb_ports: vec![445, 139],
            disable_netbios: false,
            netbios: NetbiosSettings::default(),
            sandbox: true,
            run_as: None,
            security: Security::User,
            map_to_guest: MapToGuest::Never,
            guest_account: "nobody".into(),
            plaintext_auth: false,
            plaintext_accepted: false,
            lanman_auth: false,
            ntlm_auth: NtlmAuth::V1Permitted,
            null_passwords: false,
            smb_passwd_file: None,
            passdb_backend: None,
            username_map: None,
            signing: Signing::Auto,
            pacing: Pacing::Auto,
            pacing_off_for: HostList::default(),
            pacing_always_for: HostList::default(),
            min_protocol: Protocol::Core,
            max_protocol: Protocol::Nt1,
            max_xmit_bytes: 16_644,
            max_mux: 50,
            read_raw: true,
            write_raw: true,
            large_readwrite: true,
            nt_status_support: true,
            nt_pipe_support: true,
            unicode: true,
            time_server: false,
            time_offset_minutes: 0,
            dos_charset: 850,
            socket_options: vec![SocketOption::NoDelay(true)],
            deadtime_minutes: 10_080,
            drain_seconds: 10,
            takeover_socket: None,
            status_socket: None,
            web: None,
            web_token_file: None,
            state_directory: None,
            takeover_seconds: 3600,
            keepalive_seconds: 300,
            max_clients: 0,
            reset_on_zero_vc: false,
            max_open_files: 16_384,
            defer_sharing_violations: true,
            sharing_delay_us: 1_000_000,
            write_time_delay_us: 2_000_000,
            log_level: LogLevels::all(1),
            log_file: None,
            max_log_kib: 5_000,
            audit: None,
            audit_events: AuditEvents::ALL,
            audit_queue_kib: 4_096,
        }
    }
}
