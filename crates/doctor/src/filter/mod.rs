//! What the packet filter does with the first packet of a client and the reply, from the rules that `nft` and `iptables-save` print.
//!
//! A test that coax does not understand may or may not match, and the answer says so: [`Fate::Perhaps`].

mod flags;
mod holds;
mod iptables;
mod net;
mod nft;
mod tracking;
mod walk;

pub use iptables::{ip6tables, iptables};
pub use net::{Net, Range};
pub use nft::{dormant, has_flags, nft};
pub use walk::fate;

/// The rules of all tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ruleset {
    /// The chains.
    pub chains: Vec<Chain>,
}

impl Ruleset {
    /// Adds the chains of another source, which knows more of the chains that both contain.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        let same = |a: &Chain, b: &Chain| a.table == b.table && a.name == b.name;
        let again = |chain: &Chain| other.chains.iter().any(|c| same(c, chain));
        self.chains.retain(|chain| !again(chain));
        self.chains.extend(other.chains);
        self
    }

    /// Leaves out the chains of these tables.
    #[must_use]
    pub fn without(mut self, tables: &[String]) -> Self {
        self.chains.retain(|chain| !tables.contains(&chain.table));
        self
    }
}

/// A chain of rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// Its table, such as `inet filter`.
    pub table: String,
    /// Its name.
    pub name: String,
    /// Packets from or to this machine enter here.
    pub base: Option<Base>,
    /// It sees packets of these interfaces only; empty: of all.
    pub devices: Vec<String>,
    /// The rules, in order.
    pub rules: Vec<Rule>,
}

/// Where packets enter the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// The policy is to drop.
    pub drops: bool,
    /// It sees packets that leave this machine, not those that arrive.
    pub leaves: bool,
    /// It translates addresses, if connection tracking is on. Without a rule that needs it, the kernel tracks nothing and skips the
    /// chain.
    pub nat: bool,
    /// When it sees packets.
    pub turn: Turn,
}

/// When a chain sees packets: before or after the kernel looks up their connection. That happens in the hooks `prerouting` and
/// `output` at priority -200 (NF_IP_PRI_CONNTRACK).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// Before, in the order of priorities.
    BeforeTracking(i64),
    /// At the same priority: the order is not known.
    WithTracking,
    /// After.
    AfterTracking,
}

/// A rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// As a person knows it.
    pub text: String,
    /// All must hold.
    pub tests: Vec<Test>,
    /// What happens then.
    pub verdict: Verdict,
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// What is looked at.
    pub on: On,
    /// It must not hold.
    pub negated: bool,
}

/// What a condition looks at, and what it wants to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum On {
    /// `tcp`, `udp`, or a number.
    Protocol(Vec<String>),
    /// The destination port.
    Port(Vec<(u16, u16)>),
    /// The source port.
    SourcePort(Vec<(u16, u16)>),
    /// The destination port or the source port.
    EitherPort(Vec<(u16, u16)>),
    /// TCP flags: those in `mask` are one of `values`.
    Flags {
        /// The flags in question.
        mask: u8,
        /// What they may be.
        values: Vec<u8>,
    },
    /// At least one of these TCP flags is set.
    AnyFlag(u8),
    /// The state of connection tracking.
    State(Vec<String>),
    /// `original`, or `reply`.
    Direction(Vec<String>),
    /// Where a packet that arrives was sent to: `unicast`, `broadcast`, `multicast`.
    PacketType(Vec<String>),
    /// The interface that a packet arrives on; `+` or `*` at the end stands for the rest.
    Interface(Vec<String>),
    /// The interface that a packet leaves by, likewise.
    OutInterface(Vec<String>),
    /// The sender, as ranges.
    Source(Vec<Range>),
    /// The receiver, as ranges.
    Destination(Vec<Range>),
    /// The receiver is an address of this machine.
    ToLocal,
    /// The family of addresses: `ip` or `ip6`, `ipv4` or `ipv6`.
    Family(Vec<String>),
    /// All tests of at least one of these lists hold.
    AnyOf(Vec<Vec<Test>>),
    /// What is true of every packet in question.
    Always,
    /// What is true of none, such as multicast.
    Never,
    /// Something that coax does not understand.
    Unknown,
}

/// What a rule does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// The next rule decides.
    #[default]
    Continue,
    /// The kernel does not look up the connection, if it has not yet. The next rule decides.
    Untrack,
    /// The packet passes this base chain.
    Accept,
    /// It is dropped or rejected.
    Drop,
    /// It goes to another port or address.
    Redirect,
    /// Another chain decides, then this one.
    Jump(String),
    /// Another chain decides, then the one before.
    Goto(String),
    /// The calling chain decides.
    Return,
    /// Not known, such as a queue.
    Unknown,
}

/// The first packet of a client, or the reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// `tcp` or `udp`.
    pub protocol: &'a str,
    /// The server's port.
    pub port: u16,
    /// The interface that it passes.
    pub interface: &'a str,
    /// The clients.
    pub client: Net,
    /// The server's address in its network, of the same family.
    pub server: Net,
    /// The server sends it.
    pub reply: bool,
}

impl Packet<'_> {
    /// Whether it is of IPv6.
    pub fn is_ipv6(&self) -> bool {
        self.server.address.is_ipv6()
    }
}

/// What becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives.
    Arrives,
    /// This rule or policy of a table drops it.
    Dropped(Place),
    /// This rule may drop it.
    Perhaps {
        /// The rule.
        place: Place,
        /// The first rule that coax does not understand, if the doubt may come from it.
        not_understood: Option<String>,
    },
    /// This rule sends it to another port or address.
    Redirected(Place),
}

/// A rule that drops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its table.
    pub table: String,
    /// Its chain.
    pub chain: String,
    /// The chain where packets enter that table.
    pub base: String,
    /// The rule, or the policy.
    pub rule: String,
}

#[cfg(test)]
mod tests;
