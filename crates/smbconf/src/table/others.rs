//! Parameters that change how the file is read, and those without effect.

use super::parameter::{Effect, Parameter, Scope};

/// They change how the file is read.
pub(super) const READING: &[Parameter] = &[
    reading(
        "include",
        Scope::Share,
        "Reads another file here; without macros, as no client is known yet.",
    ),
    reading(
        "copy",
        Scope::Share,
        "Copies the settings of an earlier share.",
    ),
    reading(
        "config file",
        Scope::Global,
        "Reads that file in place of this one, if it exists.",
    ),
];

/// Accepted; their purpose is met in another way.
pub(super) const MET: &[Parameter] = &[
    met_global("read size", "Bytes from which disk and network work at once.", "the kernel sends file data from its cache as it arrives from the disk; nothing waits for a whole block, whatever its size").gone_in("3.0.37"),
    met_global("read prediction", "Read on in a file before the client asks.", "the kernel reads ahead in every file that is read in order").gone_in("2.2.0"),
    met_global("use mmap", "Read through memory maps.", "file data is read and sent from the kernel's cache, which is what a map would show"),
    met_global("getwd cache", "Remember the current folder, which 'wide links = no' has to look up.", "coax has no current folder: the kernel itself keeps every lookup beneath the share's root, at no extra cost"),
    met_global("password level", "How many letters of a plaintext password may be upper case.", "a plaintext password in upper case is compared without regard to case, once and not in every spelling").gone_in("4.1.0"),
    met_global("username level", "How many letters of a user name may be upper case.", "user names are compared without regard to case"),
    met_global("stat cache", "Remember which spelling of a name was found.", "every folder in use has an index of its names without case, which stays true when names change"),
    met_global("stat cache size", "Entries of the stat cache.", "the index of a folder is as large as the folder").gone_in("3.0.0"),
    met_share("directory name cache size", "Entries of the folder cache.", "the index of a folder is as large as the folder").gone_in("4.19.0"),
    met_global("min receivefile size", "Bytes from which a write goes from the socket to the file in the kernel.", "large writes are received into the buffer they are written from"),
    met_share("aio read size", "Bytes from which reads are asynchronous.", "each client waits separately, and a slow disk delays only the clients of its share"),
    met_share("aio write size", "Bytes from which writes are asynchronous.", "each client waits separately, and a slow disk delays only the clients of its share"),
    met_global("aio max threads", "Threads for asynchronous file work.", "the number of threads follows the work"),
    met_share("write cache size", "Bytes gathered before they are written.", "the kernel gathers writes; coax acknowledges no data before the kernel has it").gone_in("4.12.0"),
    met_global("mangling method", "How 8.3 names are made.", "8.3 names look as Windows makes them (AVERYL~1.TEX), stay the same, and never collide"),
    met_global("mangle prefix", "Letters of the long name kept in an 8.3 name.", "8.3 names keep up to six letters, as Windows does"),
    met_global("mangled stack", "How many 8.3 names are remembered.", "8.3 names are found again without remembering them").gone_in("3.0.37"),
    met_global("unix charset", "The character set of names on disk.", "names on disk are UTF-8; other bytes are kept as they are"),
    met_global("display charset", "The character set of output.", "output is UTF-8").gone_in("4.0.0"),
    met_global("character set", "The character set of names on disk.", "names on disk are UTF-8; other bytes are kept as they are").gone_in("3.0.0"),
    met_share("oplock contention limit", "Clients contending for an oplock before none is granted.", "a file whose oplock was broken is not offered one again while others have it open").gone_in("4.8.0"),
    met_global("lock spin count", "How often a refused lock is tried again.", "the open table wakes a waiting lock as soon as it can be had").gone_in("3.0.37"),
    met_global("use spnego", "Offer extended security.", "SPNEGO is offered to clients that ask for it, and to no other").gone_in("4.8.0"),
    met_global("paranoid server security", "Mistrust the password server.", "coax checks passwords itself").gone_in("4.0.0"),
    met_share("dfree cache time", "Seconds to remember a disk's free space.", "asking the kernel costs less than remembering"),
    met_share("hide special files", "Leave devices, pipes and sockets out of listings.", "they are never listed"),
    met_share("change notify", "Tell clients of changes in a folder.", "coax always reports changes made by its clients"),
    met_global("change notify timeout", "Seconds between looks at a folder.", "changes are reported at once").gone_in("3.0.37"),
    met_global("shared mem size", "Bytes of shared memory.", "one process serves all clients").gone_in("2.2.0"),
    met_share("nt acl support", "Show permissions as access control lists.", "access control lists are always offered: those that clients set are kept in the extended attribute user.coax.sd and enforced; a file without one shows everybody with what the share allows"),
    met_share("inherit acls", "New files take their folder's access control list.", "what is created in a folder that has an access control list inherits from it as the list says"),
    met_global("server role", "Whether the server is a domain controller.", "coax is a standalone server"),
    met_global("ole locking compatibility", "Keep OLE's lock offsets within 31 bits.", "byte-range locks are kept in 64 bits and never passed to the kernel").gone_in("2.2.0"),
    met_global("timestamp logs", "Dates in the log.", "every line of the log has its time"),
    met_global("status", "Keep a table of connections for smbstatus.", "every client is reported as it comes and goes").gone_in("3.0.0"),
    met_global("nt smb support", "Offer NT commands.", "'server max protocol = LANMAN2' is the way to hold NT commands back").gone_in("3.0.0"),
    met_share("dos filetimes", "Whoever may write a file may set its times.", "files belong to the user who runs coax, so every user who may write a file may set its times"),
    met_global("lock spin time", "Milliseconds between tries of a lock that waits.", "the open table wakes a waiting lock as soon as it can be had"),
    met_share("revalidate", "Ask for a password at every connection to a share.", "access is decided at every connection to a share").gone_in("2.2.0"),
];

/// Without effect.
pub(super) const NOT_HONOURED: &[Parameter] = &[
    not_global("oplock break wait time", "Milliseconds to wait before asking a client to give up an oplock.", "a client is asked at once"),
    not_share("delete veto files", "Removing a folder removes vetoed files in it.", "a folder that holds vetoed files is not empty: a client cannot remove files that it cannot see"),
    not_share("dont descend", "Folders that are shown empty.", "'veto files' takes names away altogether").also(&["dont decend"]),
    not_share("map archive", "The owner's execute bit stands for the archive attribute.", "attributes are kept in user.DOSATTRIB; a file without it has the archive attribute"),
    not_share("map hidden", "The world's execute bit stands for the hidden attribute.", "attributes are kept in user.DOSATTRIB"),
    not_share("map system", "The group's execute bit stands for the system attribute.", "attributes are kept in user.DOSATTRIB"),
    not_share("kernel oplocks", "Break oplocks when programs on this machine open a file.", "programs on this machine that write a file a client caches are not noticed: set 'oplocks = no' on shares that both use"),
    not_share("posix locking", "Pass locks on to the kernel.", "clients' locks hold among clients; programs on this machine do not see them"),
    not_global("unix extensions", "Offer Linux clients POSIX modes, owners and links.", "they would let clients make links out of the share, and no vintage client knows them").also(&["smb1 unix extensions"]),
    not_share("csc policy", "Whether clients may keep files for work off line.", "coax reports the default, 'manual'"),
    not_share("block size", "Bytes of an allocation unit, as told to clients.", "coax reports the disk's real figures, scaled to the limits of each dialect"),
    not_share("dfree command", "A command that says how much space is free.", "the kernel is asked"),
    not_share("dos filemode", "Whoever may write a file may change its permissions.", "permissions are not offered for change; see 'map readonly' for the read-only attribute"),
    not_share("inherit permissions", "New files take their folder's permissions.", "'create mask' and 'force create mode' decide"),
    not_share("inherit owner", "New files take their folder's owner.", "files belong to the user who runs coax"),
    not_share("force user", "All files belong to one user.", "all files belong to the user who runs coax"),
    not_share("force group", "All files belong to one group.", "files belong to the group of the user who runs coax").also(&["group"]),
    not_share("hide unreadable", "Leave out of listings what a user may not read.", "the user who runs coax can read them, so it would be the same for all clients"),
    not_share("hide unwriteable files", "Leave out of listings what a user may not write.", "the user who runs coax can write them, so it would be the same for all clients"),
    not_share("hide new files timeout", "Seconds for which a new file is hidden.", "files are shown at once"),
    not_share("magic script", "A file that is run when it is closed.", "no client may run programs here"),
    not_share("magic output", "Where a magic script writes.", "no client may run programs here"),
    not_share("preexec", "A command at every connection to a share.", "clients can start no command except printing").also(&["exec"]),
    not_share("root preexec", "A command as root at every connection to a share.", "clients can start no command except printing"),
    not_share("postexec", "A command at every disconnection from a share.", "clients can start no command except printing"),
    not_share("root postexec", "A command as root at every disconnection from a share.", "clients can start no command except printing"),
    not_global("add user script", "A command that creates a user.", "no user of this machine is needed"),
    not_global("host msdfs", "Be a DFS server.", "no client before Windows 98 knows DFS"),
    not_share("msdfs root", "Be the root of a DFS tree.", "no client before Windows 98 knows DFS"),
    not_share("msdfs proxy", "Send DFS clients elsewhere.", "no client before Windows 98 knows DFS"),
    not_global("dns proxy", "Answer WINS queries from the DNS.", "the WINS server answers from its own records only"),
    not_global("max ttl", "Seconds that learned names are kept.", "coax keeps no names that it looked up"),
    not_global("name resolve order", "How to find other machines' names.", "the server looks up no other machine; for the client commands use --resolve"),
    not_global("enhanced browsing", "Exchange lists of servers with other master browsers.", "coax exchanges them within its own workgroup only"),
    not_global("remote announce", "Announce the server to other networks.", "coax does not announce itself"),
    not_global("remote browse sync", "Exchange lists of servers with other networks.", "coax finds the domain master browser through WINS"),
    not_global("announce as", "What kind of server to announce.", "coax reports NT 4.0, or what the dialect expects").gone_in("4.0.0"),
    not_global("announce version", "Which version to announce.", "coax reports NT 4.0, or what the dialect expects").gone_in("4.0.0"),
    not_global("logon path", "Where roaming profiles of Windows NT are.", "Windows 9x keeps its profile in the home folder ('logon home')"),
    not_global("logon drive", "The drive letter of Windows NT's home folder.", "Windows 9x takes it from the script: NET USE X: /HOME"),
    not_global("allow trusted domains", "Admit users of trusted domains.", "coax is a standalone server"),
    not_global("passwd program", "The program that changes a password.", "clients cannot change passwords here"),
    not_global("passwd chat", "What that program asks.", "clients cannot change passwords here"),
    not_global("unix password sync", "Change the Unix password too.", "clients cannot change passwords here"),
    not_global("pam password change", "Change passwords through PAM.", "clients cannot change passwords here"),
    not_global("min passwd length", "Letters a new password needs.", "clients cannot change passwords here").also(&["min password length"]).gone_in("3.0.37"),
    not_global("restrict anonymous", "What clients may ask without logging on.", "every client that may connect can list the shares; 'browseable = no' hides a share"),
    not_share("username", "User names to try with a share's password.", "'coax:password' gives a share its own password").also(&["user", "users"]).gone_in("4.5.0"),
    not_share("only user", "Admit those user names only.", "see 'valid users'").gone_in("4.5.0"),
    not_share("set directory", "DIGITAL Pathworks' setdir.", "no client here is known to need it").gone_in("4.1.0"),
    not_global("root directory", "The folder the server may see at most.", "the kernel keeps every share's clients beneath its folder").also(&["root", "root dir"]),
    not_share("alternate permissions", "Another mapping of permissions.", "it has done nothing since Samba 2.0").gone_in("3.0.0"),
    not_global("default service", "The share for those who ask for one that does not exist.", "a share that does not exist is an error the user sees").also(&["default"]),
    not_global("load printers", "Share all printers of this machine.", "define each printer as a share with 'printable = yes'").also(&["auto services", "preload"]),
    not_share("printing", "The kind of print system.", "'print command' says what to do with a job"),
    not_global("printcap name", "The list of printers.", "define each printer as a share with 'printable = yes'").also(&["printcap"]),
    not_share("printer name", "The printer behind the share.", "name it in 'print command'").also(&["printer"]),
    not_share("lpq command", "The command that lists jobs.", "the list of jobs is the spool folder"),
    not_share("lprm command", "The command that removes a job.", "clients cannot remove jobs"),
    not_share("lppause command", "The command that holds a job.", "clients cannot hold jobs"),
    not_share("lpresume command", "The command that releases a job.", "clients cannot hold jobs"),
    not_share("queuepause command", "The command that stops a printer.", "clients cannot stop printers"),
    not_share("queueresume command", "The command that starts a printer.", "clients cannot stop printers"),
    not_global("lpq cache time", "Seconds to remember the list of jobs.", "the list of jobs is the spool folder"),
    not_share("min print space", "KiB that must be free to print.", "a full disk is reported at the write"),
    not_share("postscript", "Begin jobs with %!.", "jobs are passed on as they come").gone_in("3.0.0"),
    not_share("mangled map", "Turn one name into another, as (*.html *.htm).", "8.3 names are found from either name").gone_in("3.2.0"),
    not_share("mangling char", "The character before the number in an 8.3 name.", "it is ~, as Windows has it"),
    not_global("strip dot", "Take off a name's last dot.", "names end as clients write them").gone_in("3.0.0"),
    not_share("profile acls", "Make Windows accept roaming profiles.", "access control lists are shown as clients set them").gone_in("4.8.0"),
    not_global("utmp", "Note clients in utmp.", "every client is reported on standard output; see --json"),
    not_global("syslog", "How much to send to syslog.", "the log goes to standard error, where systemd and others pick it up"),
    not_global("syslog only", "Log to syslog alone.", "the log goes to standard error"),
    not_global("max packet", "Bytes of a message.", "'max xmit' is its successor").also(&["packet size"]).gone_in("3.0.0"),
    not_global("socket address", "The one address to listen at.", "'interfaces' with 'bind interfaces only = yes' does the same, and --nbt and --direct do it for each port").also(&["nbt client socket address"]),
    not_global("usershare path", "Where users define shares of their own.", "shares are those of this file and the command line"),
    not_global("usershare allow guests", "Whether users' shares admit guests.", "shares are those of this file and the command line"),
    not_global("usershare max shares", "How many shares users may define.", "shares are those of this file and the command line"),
    not_global("registry shares", "Read shares from the registry.", "shares are those of this file and the command line"),
    not_global("obey pam restrictions", "Ask PAM whether a user may log on.", "users are those of 'smb passwd file' and --user"),
    not_global("panic action", "A command after a crash.", "an error ends one connection, and the log says why"),
    not_global("idmap config", "How user numbers are made.", "files belong to the user who runs coax").also(&["idmap config * : backend", "idmap config * : range"]),
    not_global("realm", "The Kerberos realm.", "no client of SMB1's time needs Kerberos"),
    not_global("password server", "The server that checks passwords.", "coax checks passwords itself"),
    not_global("client min protocol", "The oldest protocol level as a client.", "'coax serve' is not a client"),
    not_global("client max protocol", "The newest protocol level as a client.", "'coax serve' is not a client"),
    not_global("client ntlmv2 auth", "Use NTLMv2 as a client.", "'coax serve' is not a client"),
    not_global("client lanman auth", "Use LM responses as a client.", "'coax serve' is not a client"),
    not_global("client plaintext auth", "Use plaintext passwords as a client.", "'coax serve' is not a client"),
    not_global("smb encrypt", "Encrypt SMB3.", "coax speaks SMB1, which has no encryption").also(&["server smb encrypt"]),
    not_global("lock directory", "Where Samba keeps its databases.", "see 'coax:state directory'").also(&["lock dir"]),
    not_global("state directory", "Where Samba keeps its databases.", "see 'coax:state directory'"),
    not_global("cache directory", "Where Samba keeps its databases.", "see 'coax:state directory'"),
    not_global("private dir", "Where Samba keeps secrets.", "coax keeps no secrets").also(&["private directory"]),
    not_global("pid directory", "Where the process number is kept.", "whoever starts coax knows it").also(&["pid dir"]),
    not_global("ncalrpc dir", "Where Samba's inner sockets are.", "there are none"),
];

const fn reading(name: &'static str, scope: Scope, doc: &'static str) -> Parameter {
    Parameter::new(name, scope, Effect::Reading, doc)
}

const fn met_global(name: &'static str, doc: &'static str, how: &'static str) -> Parameter {
    Parameter::new(name, Scope::Global, Effect::MetOtherwise(how), doc)
}

const fn met_share(name: &'static str, doc: &'static str, how: &'static str) -> Parameter {
    Parameter::new(name, Scope::Share, Effect::MetOtherwise(how), doc)
}

const fn not_global(name: &'static str, doc: &'static str, why: &'static str) -> Parameter {
    Parameter::new(name, Scope::Global, Effect::NotHonoured(why), doc)
}

const fn not_share(name: &'static str, doc: &'static str, why: &'static str) -> Parameter {
    Parameter::new(name, Scope::Share, Effect::NotHonoured(why), doc)
}
