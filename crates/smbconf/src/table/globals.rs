//! Global parameters that are honoured.

use super::parameter::{Parameter, slot};
use crate::log_level::LOG_LEVEL;
use crate::sockopt::SOCKET_OPTIONS;
use crate::value::{
    AUDIT, AUDIT_EVENTS, BOOL, CODE_PAGE, COUNT, COUNT16, FILE, HOSTS, INVERSE, MACRO_FILE,
    MAP_TO_GUEST, MAX_PROTOCOL, MESSAGE_SIZE, MIN_PROTOCOL, MINUTES, NETBIOS_NAME, NETBIOS_NAMES,
    NTLM_AUTH, PACING, PAGE_ADDRESS, PASSDB_BACKEND, PORTS, SECURITY, SIGNING, TEXT, USER, WORDS,
};

pub(super) const NAMES: &[Parameter] = &[
    slot!(Global, "netbios name", netbios_name, NETBIOS_NAME,
        "The server's NetBIOS name; by default this machine's host name.").at_start(),
    slot!(Global, "netbios aliases", netbios_aliases, NETBIOS_NAMES, "Further names the server answers to.").at_start(),
    slot!(Global, "workgroup", workgroup, NETBIOS_NAME, "The workgroup the server belongs to.").at_start(),
    slot!(Global, "server string", server_string, TEXT, "The server's comment in browse lists.").at_start(),
    slot!(Global, "interfaces", interfaces, WORDS,
        "The addresses, networks (10.0.0.0/8) or network interfaces (eth0) to serve; empty means all.").at_start(),
    slot!(Global, "bind interfaces only", bind_interfaces_only, BOOL, "Listen only on 'interfaces'.").at_start(),
    slot!(Global, "smb ports", smb_ports, PORTS,
        "TCP ports to listen at; 139 and other numbers that end in 39 speak the NetBIOS session service, the rest SMB directly.").at_start(),
    slot!(Global, "disable netbios", disable_netbios, BOOL,
        "Neither NetBIOS names (UDP 137) nor NetBIOS sessions (TCP 139); no DOS or Windows 9x client can connect then.").at_start(),
    slot!(Global, "coax:sandbox", sandbox, BOOL,
        "Limit the server to its shares, log and password file, and to the system calls of a file server (Linux).").at_start(),
    slot!(Global, "coax:user", run_as, USER, "If root starts coax, the user that it changes to after binding the ports.").at_start(),
    slot!(Global, "time server", time_server, BOOL, "Announce the server as a time server for NET TIME.").at_start(),
    slot!(Global, "time offset", time_offset_minutes, MINUTES,
        "Minutes to add to the time zone reported to clients, for clients without daylight saving time.").gone_in("4.0"),
    slot!(Global, "dos charset", dos_charset, CODE_PAGE,
        "The code page of clients without Unicode: 437 in the USA, 850 in western Europe, 852, 866, 932 …").at_start()
        .also(&["client code page"]),
];

pub(super) const LOG_ON: &[Parameter] = &[
    slot!(
        Global,
        "security",
        security,
        SECURITY,
        "'user' authenticates users, 'share' uses a password for each share (see coax:password)."
    ),
    slot!(
        Global,
        "map to guest",
        map_to_guest,
        MAP_TO_GUEST,
        "Which failed log-ons become guest log-ons."
    ),
    slot!(
        Global,
        "guest account",
        guest_account,
        TEXT,
        "The user name shown for guests; files belong to the user who runs coax."
    ),
    slot!(
        Global,
        "encrypt passwords",
        plaintext_auth,
        INVERSE,
        "With 'no', clients send plaintext passwords, which can be read on the network."
    ),
    slot!(
        Global,
        "lanman auth",
        lanman_auth,
        BOOL,
        "Accept LM responses, which DOS and Windows 9x send; a captured one can be broken in seconds."
    ),
    slot!(
        Global,
        "ntlm auth",
        ntlm_auth,
        NTLM_AUTH,
        "Which NTLM responses to accept; NTLMv1 is on, unlike in Samba, as consoles, scanners and NT 4.0 send no other."
    ),
    slot!(
        Global,
        "null passwords",
        null_passwords,
        BOOL,
        "Users whose password is empty may log on."
    ),
    slot!(
        Global,
        "smb passwd file",
        smb_passwd_file,
        FILE,
        "The file of users and password hashes, in smbpasswd's format."
    ),
    slot!(
        Global,
        "passdb backend",
        passdb_backend,
        PASSDB_BACKEND,
        "Where users are kept: 'smbpasswd:FILE' names such a file, and 'smbpasswd' alone means the one of 'smb passwd file'; 'pdbedit -e smbpasswd:FILE' writes one from any other backend."
    ),
    slot!(
        Global,
        "username map",
        username_map,
        FILE,
        "A file of lines 'name = what clients send, …'."
    ),
    slot!(
        Global,
        "server signing",
        signing,
        SIGNING,
        "Offer signatures on every message, or demand them; a signed connection has no raw mode."
    ),
];

pub(super) const PROTOCOL: &[Parameter] = &[
    slot!(
        Global,
        "server min protocol",
        min_protocol,
        MIN_PROTOCOL,
        "The oldest protocol level to speak."
    )
    .also(&["min protocol"]),
    slot!(
        Global,
        "server max protocol",
        max_protocol,
        MAX_PROTOCOL,
        "The newest protocol level to speak; SMB2 and SMB3 mean NT1, as coax speaks SMB1 alone."
    )
    .also(&["max protocol", "protocol"]),
    slot!(
        Global,
        "max xmit",
        max_xmit_bytes,
        MESSAGE_SIZE,
        "The largest SMB message to accept, bytes; slow machines may do better with 2048 to 8192."
    ),
    slot!(
        Global,
        "max mux",
        max_mux,
        COUNT16,
        "Maximum number of concurrent requests of a client."
    ),
    slot!(
        Global,
        "read raw",
        read_raw,
        BOOL,
        "Offer READ_RAW: up to 65,535 bytes a request, without headers. A connection that signs its messages has no raw mode."
    ),
    slot!(
        Global,
        "write raw",
        write_raw,
        BOOL,
        "Offer WRITE_RAW: up to 65,535 bytes a request, without headers. A connection that signs its messages has no raw mode."
    ),
    slot!(
        Global,
        "large readwrite",
        large_readwrite,
        BOOL,
        "Offer NT clients reads and writes larger than 'max xmit'."
    ),
    slot!(
        Global,
        "nt status support",
        nt_status_support,
        BOOL,
        "Offer 32-bit NT status codes instead of DOS error codes."
    ),
    slot!(
        Global,
        "nt pipe support",
        nt_pipe_support,
        BOOL,
        "Offer named pipes, through which NT clients list shares."
    ),
    slot!(Global, "unicode", unicode, BOOL, "Offer Unicode strings."),
];

pub(super) const CONNECTIONS: &[Parameter] = &[
    slot!(Global, "socket options", socket_options, SOCKET_OPTIONS,
        "Socket options for every client; TCP_NODELAY is on unless TCP_NODELAY=0 is given.").at_start(),
    slot!(Global, "coax:pacing", pacing, PACING,
        "Whose bursts to limit, so that an old network card loses none: 'auto' means clients of the local network with an old TCP, 'always' all clients, 'no' none.").at_start(),
    slot!(Global, "coax:pacing off for", pacing_off_for, HOSTS, "Clients whose bursts are not limited, whatever 'coax:pacing' says."),
    slot!(Global, "coax:pacing always for", pacing_always_for, HOSTS, "Clients whose bursts are limited, whatever 'coax:pacing' says."),
    slot!(Global, "deadtime", deadtime_minutes, COUNT,
        "Minutes without a request after which a client without open files is disconnected; 0 means never."),
    slot!(Global, "coax:drain time", drain_seconds, COUNT,
        "Seconds that clients with open files have to finish when the server stops; others are disconnected after 2 seconds without a request, and no new ones are accepted."),
    slot!(Global, "coax:takeover socket", takeover_socket, FILE,
        "A Unix socket at which 'coax serve --takeover' of a new program version asks for the listening sockets; without it there is no takeover.").at_start(),
    slot!(Global, "coax:status socket", status_socket, FILE,
        "A Unix socket at which 'coax status' asks the server what it does; without it, 'status' in systemd's RuntimeDirectory, or none.").at_start(),
    slot!(Global, "coax:web", web, PAGE_ADDRESS,
        "Where the web page of the running server is, such as 127.0.0.1:8139; without it there is no page. Other addresses than loopback need a token.").at_start(),
    slot!(Global, "coax:web token file", web_token_file, FILE,
        "A file with the token that readers of the web page need; without it, a page at an address other than loopback makes one and writes it to the log.").at_start(),
    slot!(Global, "coax:state directory", state_directory, FILE,
        "The folder of coax.redb, the database of what pacing has learned of clients and of the figures of the last day (coax status --history); without it, and without systemd's StateDirectory, there is none.").at_start(),
    slot!(Global, "coax:takeover time", takeover_seconds, COUNT,
        "Seconds that clients with open files have to finish in the old process after a takeover."),
    slot!(Global, "keepalive", keepalive_seconds, COUNT, "Seconds between NetBIOS keep-alives to an idle client; 0 means none.")
        ,
    slot!(Global, "max smbd processes", max_clients, COUNT, "Maximum number of connected clients; 0 means coax's own limit.").at_start(),
    slot!(Global, "reset on zero vc", reset_on_zero_vc, BOOL,
        "A client that logs on with virtual circuit 0 closes the other connections from its address, as in Windows; not for clients behind one NAT address."),
    slot!(Global, "max open files", max_open_files, COUNT, "Maximum number of open files per client.").at_start(),
    slot!(Global, "defer sharing violations", defer_sharing_violations, BOOL,
        "After a sharing violation, wait a second for the file to be closed, as Windows does."),
    slot!(Global, "smbd:sharedelay", sharing_delay_us, COUNT,
        "Microseconds that 'defer sharing violations' waits."),
    slot!(Global, "smbd:writetimeupdatedelay", write_time_delay_us, COUNT,
        "Microseconds until a write to an open file changes the visible time of last write.").at_start(),
    slot!(Global, "log level", log_level, LOG_LEVEL,
        "0 errors, 1 clients and refused requests, 2 log-ons and shares, 3 every request with its fields, result and duration, 10 all bytes except passwords; levels above 2 slow the server. CLASS:LEVEL sets the level of a part: smb, auth, locking, vfs, rpc_srv, lanman, printdrivers, notify.")
        .also(&["debug level"]),
    slot!(Global, "log file", log_file, MACRO_FILE, "The file to log to, besides standard error.").at_start(),
    slot!(Global, "max log size", max_log_kib, COUNT, "KiB at which the log file is renamed to '.old'; 0 means never.").at_start(),
    slot!(Global, "coax:audit", audit, AUDIT,
        "Where a line of JSON goes for each open, close, rename, deletion, new folder and refused request (docs/audit.md).").at_start(),
    slot!(Global, "coax:audit events", audit_events, AUDIT_EVENTS,
        "What the audit log records: connect, open, close, rename, link, copy, delete, mkdir, rmdir, refused, all or none; '!open' takes one away.").at_start(),
    slot!(Global, "coax:audit queue", audit_queue_kib, COUNT,
        "KiB of audit entries that wait in memory for a slow or full disk; further entries are counted and dropped.").at_start(),
];
