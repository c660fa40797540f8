//! Parameters of names, WINS and browsing.

use super::parameter::{Parameter, slot};
use crate::value::{
    ADDRESSES, AUTO, BOOL, COMMAND, COUNT, FILE, IPX, NETBIOS_NAMES, NODE_TYPE, REQUIRED_FILE,
    SCOPE, TEXT,
};

pub(super) const NETBIOS: &[Parameter] = &[
    slot!(
        Global,
        "wins server",
        netbios.wins_servers,
        ADDRESSES,
        "The WINS servers to register at, the primary one first: IPv4 addresses."
    ).at_start(),
    slot!(
        Global,
        "wins support",
        netbios.wins_support,
        BOOL,
        "Be a WINS server: register and answer names for machines of all networks. Not together with 'wins server'."
    ).at_start(),
    slot!(
        Global,
        "coax:wins database",
        netbios.wins_database,
        REQUIRED_FILE,
        "The file of the WINS server's records, in the format of Samba's wins.dat. The time 0 makes a static record."
    ).at_start(),
    slot!(
        Global,
        "min wins ttl",
        netbios.min_wins_ttl_s,
        COUNT,
        "The shortest time that the WINS server keeps a name without a refresh, seconds."
    ).at_start(),
    slot!(
        Global,
        "max wins ttl",
        netbios.max_wins_ttl_s,
        COUNT,
        "The longest time that the WINS server keeps a name without a refresh, seconds."
    ).at_start(),
    slot!(
        Global,
        "wins hook",
        netbios.wins_hook,
        COMMAND,
        "A command at every change of a WINS record; arguments: add, refresh or delete, name, suffix, seconds to live, addresses."
    ).at_start(),
    slot!(
        Global,
        "wins proxy",
        netbios.wins_proxy,
        BOOL,
        "Answer broadcast queries for names on other networks that the WINS server knows."
    ).at_start(),
    slot!(
        Global,
        "coax:node type",
        netbios.node,
        NODE_TYPE,
        "How names are registered: b (broadcasts), p (WINS), m (broadcasts, then WINS), h (WINS, broadcasts if WINS is silent). Default: m with a WINS server, else b."
    ).at_start(),
    slot!(
        Global,
        "netbios scope",
        netbios.scope,
        SCOPE,
        "Only machines with the same scope see each other; nearly always empty."
    ).at_start(),
    slot!(
        Global,
        "coax:lmhosts",
        netbios.lmhosts,
        FILE,
        "An LMHOSTS file whose entries the WINS server answers as static records."
    ).at_start(),
    slot!(
        Global,
        "coax:ipx",
        netbios.ipx,
        IPX,
        "Ethernet interfaces for IPX, as with --ipx: eth0 or eth0:802.2:0017A2C0. Frame types: 802.2, 802.3, ethernet-ii, snap, auto (docs/ipx.md)."
    ).at_start(),
    slot!(
        Global,
        "os level",
        netbios.os_level,
        COUNT,
        "The weight in elections of the master browser, 0 to 255: above 1 beats Windows 9x, above 16 NT workstations, above 32 NT servers."
    ).at_start(),
    slot!(
        Global,
        "local master",
        netbios.local_master,
        BOOL,
        "Take part in elections of the network's master browser."
    ).at_start(),
    slot!(
        Global,
        "preferred master",
        netbios.preferred_master,
        AUTO,
        "Call an election at the start and win it against equals; 'auto' is yes for a domain master."
    ).at_start()
    .also(&["prefered master"]),
    slot!(
        Global,
        "browse list",
        netbios.browse_list,
        BOOL,
        "Give clients the list of other servers (NET VIEW, Network Neighborhood)."
    ).at_start(),
    slot!(
        Global,
        "lm announce",
        netbios.lm_announce,
        AUTO,
        "Announce the server to LAN Manager and OS/2 clients; 'auto' begins when such an announcement is heard."
    ).at_start(),
    slot!(
        Global,
        "lm interval",
        netbios.lm_interval_s,
        COUNT,
        "Seconds between announcements to LAN Manager; 0 means none."
    ).at_start(),
    slot!(
        Global,
        "domain logons",
        netbios.domain_logons,
        BOOL,
        "Be the domain controller of Windows 9x and Windows for Workgroups in the workgroup. Windows NT and later are not served."
    ).at_start(),
    slot!(
        Global,
        "domain master",
        netbios.domain_master,
        AUTO,
        "Be the domain master browser, which joins the lists of all networks, and the primary domain controller; 'auto' is yes with 'domain logons'."
    ).at_start(),
    slot!(
        Global,
        "coax:browse sync interval",
        netbios.browse_sync_interval_s,
        COUNT,
        "Seconds between two exchanges of lists with the master browsers of other networks; at least 5."
    ).at_start(),
    slot!(
        Global,
        "logon script",
        netbios.logon_script,
        TEXT,
        "The script that Windows 9x runs after a domain log-on, relative to the share [netlogon]. %U is the user, %m the machine."
    ),
    slot!(
        Global,
        "logon home",
        netbios.logon_home,
        TEXT,
        "The home folder that NET USE X: /HOME connects. %U is the user, %N this server, %m the user's machine."
    ),
    slot!(
        Global,
        "coax:messages",
        netbios.messages,
        BOOL,
        "Receive messages between users (WinPopup, NET SEND) and log them; the server registers its name with the suffix 03."
    ).at_start(),
    slot!(
        Global,
        "coax:message names",
        netbios.message_names,
        NETBIOS_NAMES,
        "Further names whose messages the server receives, such as those of this machine's users."
    ).at_start(),
    slot!(
        Global,
        "message command",
        netbios.message_command,
        COMMAND,
        "A command for each message: %s is the file with its text, %f the sender, %t the recipient. End it with & if it waits for a person."
    ).at_start(),
];
