//! TCP flags, of which the first packet of a connection has SYN, and its reply SYN and ACK (RFC 9293, section 3.5).

/// SYN.
pub(super) const SYN: u8 = 0x02;
/// ACK.
pub(super) const ACK: u8 = 0x10;

/// The bit of a flag's name in nft(8) and iptables-extensions(8).
pub(super) fn bit(name: &str) -> Option<u8> {
    Some(match name.to_ascii_lowercase().as_str() {
        "fin" => 0x01,
        "syn" => SYN,
        "rst" => 0x04,
        "psh" => 0x08,
        "ack" => ACK,
        "urg" => 0x20,
        "ecn" | "ece" => 0x40,
        "cwr" => 0x80,
        "all" => 0x3f,
        "none" => 0,
        _ => return None,
    })
}
