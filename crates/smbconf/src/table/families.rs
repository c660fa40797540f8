//! Groups of Samba's parameters for functions that coax does not have, identified by prefixes of their names.

/// A group: the prefixes (without blanks, lower case), and why its parameters have no effect.
pub struct Family {
    /// The prefixes.
    pub begin: &'static [&'static str],
    /// Why its parameters have no effect.
    pub why: &'static str,
}

/// The groups.
pub const FAMILIES: &[Family] = &[
    Family {
        begin: &[
            "winbind",
            "idmap",
            "template",
            "ldap",
            "kdc",
            "krb5",
            "kerberos",
            "clientldap",
            "machinepassword",
        ],
        why: "coax is a standalone server and asks no domain",
    },
    Family {
        begin: &[
            "dns",
            "nsupdate",
            "binddns",
            "spnupdate",
            "sambakcc",
            "dsdb",
            "cldap",
            "gpo",
            "ntvfs",
            "dcerpc",
            "rpc",
        ],
        why: "coax is no Active Directory domain controller",
    },
    Family {
        begin: &[
            "smb2",
            "smb3",
            "serversmb3",
            "servermultichannel",
            "durablehandles",
        ],
        why: "coax speaks SMB1 alone",
    },
    Family {
        begin: &["client"],
        why: "'coax serve' is not a client",
    },
    Family {
        begin: &["ctdb", "cluster"],
        why: "coax runs on one machine",
    },
    Family {
        begin: &[
            "cups",
            "iprint",
            "printcap",
            "deleteprinter",
            "addprinter",
            "addport",
            "enumports",
            "showaddprinter",
        ],
        why: "define each printer as a share with 'printable = yes'",
    },
    Family {
        begin: &["usershare"],
        why: "shares are those of the configuration file and the command line",
    },
    Family {
        begin: &["acl", "mapacl", "afs", "forceunknownacl"],
        why: "access control lists are kept as clients set them, in the extended attribute user.coax.sd, and enforced",
    },
    Family {
        begin: &["tls"],
        why: "no client of SMB1's time knows TLS",
    },
    Family {
        begin: &["passwordhash", "checkpassword", "oldpassword", "passwd"],
        why: "clients cannot change passwords here",
    },
    Family {
        begin: &[
            "adduser",
            "addgroup",
            "addmachine",
            "deleteuser",
            "deletegroup",
            "renameuser",
            "setprimarygroup",
        ],
        why: "no user of this machine is needed",
    },
    Family {
        begin: &["debug", "logging", "lognt", "logwriteable"],
        why: "the log goes to standard error and 'log file'",
    },
];

/// The group of a key without blanks, lower case.
pub fn family(key: &str) -> Option<&'static Family> {
    FAMILIES
        .iter()
        .find(|f| f.begin.iter().any(|b| key.starts_with(b)))
}
