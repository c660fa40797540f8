//! The dialects of SMB1 and what each implies, as one table.
//!
//! Strings: [MS-CIFS] 1.7 and the dialect strings of the original specifications (SMB CORE 1.0, "extensions" 2.0 and 3.0,
//! LAN Manager 2.1). Buffer and raw rules: see the field docs.

/// Shape of the negotiate reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NegotiateShape {
    /// One word: the index.
    Core,
    /// Thirteen words, 16-bit security mode ([MS-CIFS] 2.2.4.52.2, LAN Manager dialects).
    Lanman,
    /// Seventeen words ([MS-CIFS] 2.2.4.52.2, NT LAN Manager).
    Nt,
}

/// Generations of the protocol, in order. A later one includes the features of the earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Generation {
    /// PC NETWORK PROGRAM 1.0.
    Core,
    /// MICROSOFT NETWORKS 1.03: core plus LOCK_AND_READ, WRITE_AND_UNLOCK, and its own format of raw mode.
    CorePlus,
    /// LAN Manager 1.0, MICROSOFT NETWORKS 3.0.
    Lanman1,
    /// LAN Manager 1.2 (OS/2 1.2): TRANS2, long names, extended attributes.
    Lanman2,
    /// LAN Manager 2.1: domain in the negotiate reply and the set-up.
    Lanman21,
    /// NT LAN Manager.
    Nt,
}

/// A dialect that this code speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The string on the wire.
    pub name: &'static str,
    /// Generation.
    pub generation: Generation,
    /// Shape of the negotiate reply.
    pub shape: NegotiateShape,
    /// A DOS client: errors of LANMAN dialects are mapped to DOS errors; names are 8.3 unless the client requests long
    /// ones.
    pub dos: bool,
    /// Whether READ_RAW and WRITE_RAW in LAN Manager's format exist. MICROSOFT NETWORKS 1.03 has its own format and
    /// gets 0 ([MS-CIFS] 1.7, RawMode of [MS-CIFS] 2.2.4.52.2).
    pub raw: bool,
    /// Whether the negotiate reply ends with the server's domain (LAN Manager 2.1 specification, section 2).
    pub domain: bool,
}

const fn lanman(name: &'static str, generation: Generation, dos: bool, domain: bool) -> Dialect {
    Dialect {
        name,
        generation,
        shape: NegotiateShape::Lanman,
        dos,
        raw: true,
        domain,
    }
}

const fn core(name: &'static str, generation: Generation) -> Dialect {
    Dialect {
        name,
        generation,
        shape: NegotiateShape::Core,
        dos: true,
        raw: false,
        domain: false,
    }
}

const fn nt(name: &'static str) -> Dialect {
    Dialect {
        name,
        generation: Generation::Nt,
        shape: NegotiateShape::Nt,
        dos: false,
        raw: true,
        domain: true,
    }
}

/// Every dialect, oldest first: the later in this table wins where a client offers several.
pub const DIALECTS: &[Dialect] = &[
    core("PC NETWORK PROGRAM 1.0", Generation::Core),
    core("PCLAN1.0", Generation::Core),
    core("MICROSOFT NETWORKS 1.03", Generation::CorePlus),
    lanman("MICROSOFT NETWORKS 3.0", Generation::Lanman1, true, false),
    lanman("LANMAN1.0", Generation::Lanman1, false, false),
    lanman("DOS LM1.2X002", Generation::Lanman2, true, false),
    lanman("LM1.2X002", Generation::Lanman2, false, false),
    lanman("DOS LANMAN2.1", Generation::Lanman21, true, true),
    lanman("LANMAN2.1", Generation::Lanman21, false, true),
    lanman(
        "Windows for Workgroups 3.1a",
        Generation::Lanman21,
        true,
        true,
    ),
    nt("NT LANMAN 1.0"),
    nt("NT LM 0.12"),
];

impl Dialect {
    /// The dialect of this string, compared to the byte.
    pub fn by_name(name: &[u8]) -> Option<&'static Self> {
        DIALECTS
            .iter()
            .find(|dialect| dialect.name.as_bytes() == name)
    }

    /// Place in the table: higher is preferred.
    pub fn rank(&self) -> usize {
        DIALECTS
            .iter()
            .position(|dialect| dialect.name == self.name)
            .unwrap_or(0)
    }

    /// Whether this is NT LM 0.12 or its forerunner.
    pub fn is_nt(&self) -> bool {
        self.generation == Generation::Nt
    }
}

/// Chooses among the strings a client offers: the index it gave the best dialect that `allowed` takes. Unknown strings
/// are skipped.
pub fn choose<'a>(
    offered: impl Iterator<Item = &'a [u8]>,
    allowed: impl Fn(&Dialect) -> bool,
) -> Option<(u16, &'static Dialect)> {
    offered
        .enumerate()
        .filter_map(|(index, name)| Some((u16::try_from(index).ok()?, Dialect::by_name(name)?)))
        .filter(|(_, dialect)| allowed(dialect))
        .max_by_key(|(_, dialect)| dialect.rank())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_best_known_dialect_wins_and_unknown_ones_are_skipped() {
        let offered = [
            "PC NETWORK PROGRAM 1.0",
            "MICROSOFT NETWORKS DEC",
            "DOS LM1.2X002",
            "DOS LANMAN2.1",
        ];
        let (index, dialect) = choose(offered.iter().map(|s| s.as_bytes()), |_| true).unwrap();
        assert_eq!((index, dialect.name), (3, "DOS LANMAN2.1"));
        assert!(choose([b"SMB 2.002".as_slice()].into_iter(), |_| true).is_none());
    }

    #[test]
    fn a_ceiling_leaves_the_best_below_it() {
        let offered = ["PC NETWORK PROGRAM 1.0", "LANMAN1.0", "NT LM 0.12"];
        let allowed = |dialect: &Dialect| dialect.generation < Generation::Nt;
        assert_eq!(
            choose(offered.iter().map(|s| s.as_bytes()), allowed)
                .unwrap()
                .0,
            1
        );
    }
}
