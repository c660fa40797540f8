//! Share parameters that are honoured.

use super::parameter::{Parameter, slot};
use crate::value::{
    BOOL, CASE_MODE, COMMAND, COUNT, HOSTS, LETTER_CASE, MANGLED_NAMES, MAP_READONLY, MEBIBYTES,
    MODE, NAMES as USERS, PASSWORD, PATH, PATTERNS, STRICT_LOCKING, TEXT, WORDS,
};

pub(super) const SHARE: &[Parameter] = &[
    slot!(
        Share,
        "path",
        path,
        PATH,
        "The folder to share; for a printer, the spool folder."
    )
    .also(&["directory"]),
    slot!(
        Share,
        "comment",
        comment,
        TEXT,
        "The comment of the share in browse lists."
    ),
    slot!(
        Share,
        "available",
        available,
        BOOL,
        "With 'no', nobody can connect to the share."
    ),
    slot!(
        Share,
        "browseable",
        browseable,
        BOOL,
        "Whether browse lists show the share."
    )
    .also(&["browsable"]),
    slot!(
        Share,
        "volume",
        volume,
        TEXT,
        "The volume label; empty means the share's name."
    ),
    slot!(
        Share,
        "fstype",
        fstype,
        TEXT,
        "The file system name reported to clients."
    ),
    slot!(
        Share,
        "printable",
        printable,
        BOOL,
        "The share is a printer."
    )
    .also(&["print ok"]),
    slot!(
        Share,
        "print command",
        print_command,
        COMMAND,
        "The command for a finished print job; %s is its file. Without it, jobs stay in the folder."
    ),
    slot!(
        Share,
        "max connections",
        max_connections,
        COUNT,
        "Maximum number of connections to the share; 0 means no limit."
    ),
];

pub(super) const ACCESS: &[Parameter] = &[
    slot!(Share, "read only", read_only, BOOL, "Only users of 'write list' may write.")
        .opposite(&["writeable", "writable", "write ok"]),
    slot!(Share, "guest ok", guest_ok, BOOL, "No password is needed.").also(&["public"]),
    slot!(Share, "guest only", guest_only, BOOL, "All users are guests here; implies 'guest ok'.").also(&["only guest"]),
    slot!(Share, "coax:guest read only", guest_read_only, BOOL, "Guests may not write here, even if users may."),
    slot!(Share, "coax:password", password, PASSWORD,
        "The password for this share under 'security = share'; an empty one allows everyone."),
    slot!(Share, "coax:read only password", read_only_password, PASSWORD,
        "A second password under 'security = share', for read access only."),
    slot!(Share, "valid users", valid_users, USERS, "If set, only these users may connect."),
    slot!(Share, "invalid users", invalid_users, USERS, "Users who may not connect."),
    slot!(Share, "read list", read_list, USERS, "Users who may not write, regardless of 'read only'."),
    slot!(Share, "write list", write_list, USERS, "Users who may write, regardless of 'read only'."),
    slot!(Share, "hosts allow", hosts.allow, HOSTS,
        "Clients that may connect, as 10.1. 10.0.0.0/8 ALL EXCEPT 10.1.2.3; in [global] for the whole server, where public addresses need it.")
        .also(&["allow hosts"]),
    slot!(Share, "hosts deny", hosts.deny, HOSTS, "Clients that may not connect, unless 'hosts allow' names them.")
        .also(&["deny hosts"]),
];

pub(super) const NAMES: &[Parameter] = &[
    slot!(
        Share,
        "case sensitive",
        case_sensitive,
        CASE_MODE,
        "Whether README and readme are two files; 'auto' leaves it to Linux (mount option nocase) and Samba's clients, and means no for all others."
    )
    .also(&["casesignames"]),
    slot!(
        Share,
        "default case",
        default_case,
        LETTER_CASE,
        "The case of new names if the client's case is not kept."
    ),
    slot!(
        Share,
        "preserve case",
        preserve_case,
        BOOL,
        "New names keep the client's case."
    ),
    slot!(
        Share,
        "short preserve case",
        short_preserve_case,
        BOOL,
        "New 8.3 names keep the client's case."
    ),
    slot!(
        Share,
        "mangled names",
        mangled_names,
        MANGLED_NAMES,
        "Give long names an 8.3 name too; 'no' hides them from DOS, 'illegal' also renames names that are invalid in Windows."
    ),
    slot!(
        Share,
        "hide dot files",
        hide_dot_files,
        BOOL,
        "Files whose names begin with a dot have the hidden attribute."
    ),
    slot!(
        Share,
        "hide files",
        hide_files,
        PATTERNS,
        "Files that have the hidden attribute."
    ),
    slot!(
        Share,
        "veto files",
        veto_files,
        PATTERNS,
        "Files that clients can neither see nor create."
    ),
];

pub(super) const ATTRIBUTES: &[Parameter] = &[
    slot!(
        Share,
        "store dos attributes",
        store_dos_attributes,
        BOOL,
        "Store DOS attributes in the extended attribute user.DOSATTRIB, as Samba does."
    ),
    slot!(
        Share,
        "map readonly",
        map_readonly,
        MAP_READONLY,
        "Whether a missing write permission means the read-only attribute."
    ),
    slot!(
        Share,
        "delete readonly",
        delete_readonly,
        BOOL,
        "Files with the read-only attribute may be deleted."
    ),
    slot!(
        Share,
        "ea support",
        ea_support,
        BOOL,
        "Clients may store extended attributes, as OS/2 does."
    ),
    slot!(
        Share,
        "vfs objects",
        vfs_objects,
        WORDS,
        "With 'streams_xattr', files have named streams, kept as Samba's module of that name keeps them and as long as an extended attribute may be; without it they are refused. There are no other modules, and each that is named is said at start."
    )
    .also(&["vfs object"]),
    slot!(
        Share,
        "dos filetime resolution",
        dos_filetime_resolution,
        BOOL,
        "Times are rounded down to DOS's 2 seconds."
    ),
    slot!(
        Share,
        "fake directory create times",
        fake_directory_create_times,
        BOOL,
        "Report 1 January 1980 as the creation time of folders, for NMAKE."
    ),
    slot!(
        Share,
        "create mask",
        create_mask,
        MODE,
        "The permission bits a new file may have."
    )
    .also(&["create mode"]),
    slot!(
        Share,
        "force create mode",
        force_create_mode,
        MODE,
        "The permission bits a new file always has."
    ),
    slot!(
        Share,
        "directory mask",
        directory_mask,
        MODE,
        "The permission bits a new folder may have."
    )
    .also(&["directory mode"]),
    slot!(
        Share,
        "force directory mode",
        force_directory_mode,
        MODE,
        "The permission bits a new folder always has."
    ),
];

pub(super) const LOCKS: &[Parameter] = &[
    slot!(
        Share,
        "oplocks",
        oplocks,
        BOOL,
        "Let the only client of a file cache it."
    ),
    slot!(
        Share,
        "level2 oplocks",
        level2_oplocks,
        BOOL,
        "Let several clients that only read a file cache it."
    ),
    slot!(
        Share,
        "fake oplocks",
        fake_oplocks,
        BOOL,
        "Grant every oplock and never break one: fast, but loses data if two clients write."
    ),
    slot!(
        Share,
        "veto oplock files",
        veto_oplock_files,
        PATTERNS,
        "Files that no client may cache."
    ),
    slot!(
        Share,
        "share modes",
        share_modes,
        BOOL,
        "Enforce the share mode of open files."
    )
    .gone_in("4.0"),
    slot!(
        Share,
        "locking",
        locking,
        BOOL,
        "Enforce byte-range locks; 'no' grants all locks without effect."
    ),
    slot!(
        Share,
        "strict locking",
        strict_locking,
        STRICT_LOCKING,
        "Check each read and write against other clients' locks; 'auto' skips the check if no other client has the file open."
    ),
    slot!(
        Share,
        "blocking locks",
        blocking_locks,
        BOOL,
        "A client may wait for a lock; 'no' refuses immediately."
    ),
];

pub(super) const DATA: &[Parameter] = &[
    slot!(
        Share,
        "strict sync",
        strict_sync,
        BOOL,
        "Flushes and write-through writes wait for the disk; 'no' is much faster, but a power cut loses the last data."
    ),
    slot!(
        Share,
        "sync always",
        sync_always,
        BOOL,
        "Every write and every change of a name or attribute waits for the disk. Needs 'strict sync'."
    ),
    slot!(
        Share,
        "strict allocate",
        strict_allocate,
        BOOL,
        "Reserve disk space when a file becomes longer, so that a full disk is reported at once. 'no' leaves holes."
    ),
    slot!(
        Share,
        "max disk size",
        max_disk_size_bytes,
        MEBIBYTES,
        "MiB: the largest size and free space of the disk to admit to, for programs that cannot count further; clients can store more than that, as with Samba; 0 means no limit."
    ),
    slot!(
        Share,
        "use sendfile",
        use_sendfile,
        BOOL,
        "The kernel sends file data from its cache without copying it."
    ),
    slot!(
        Share,
        "follow symlinks",
        follow_symlinks,
        BOOL,
        "Follow symbolic links that stay in the share."
    ),
    slot!(
        Share,
        "kernel change notify",
        kernel_change_notify,
        BOOL,
        "Notify clients of folder changes by programs on this machine too; not of changes in subfolders."
    ),
    slot!(
        Share,
        "wide links",
        wide_links,
        BOOL,
        "Follow symbolic links out of the share too. Anyone who can create links can then read every file that the server can."
    ),
];
