//! Logical link control: IEEE 802.2 protocol data units of types 1 and 2, modulo 128 (ISO 8802-2 §3 and §5).

use alloc::vec::Vec;

use crate::error::{Error, Result};
use crate::io::Reader;

/// The service access point of NetBIOS.
pub const SAP_NETBIOS: u8 = 0xf0;
/// The service access point of the station itself.
pub const SAP_NULL: u8 = 0x00;
/// The service access point of Novell IPX.
pub const SAP_IPX: u8 = 0xe0;
/// The service access point of the sub-network access protocol (SNAP).
pub const SAP_SNAP: u8 = 0xaa;

/// Sequence numbers are counted modulo 128.
pub const MODULUS: u8 = 128;

/// Bytes of the header in front of the information of an I frame: both access points, two bytes of control.
pub const I_HEADER_LEN: usize = 4;
/// Bytes of the header in front of the information of a UI frame.
pub const UI_HEADER_LEN: usize = 3;

/// What a supervisory frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Supervisory {
    /// Receive ready.
    Rr,
    /// Receive not ready.
    Rnr,
    /// Reject: send again from N(R).
    Rej,
}

/// What an unnumbered frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unnumbered {
    /// Unnumbered information: a datagram.
    Ui,
    /// Exchange identification.
    Xid,
    /// Test: the information comes back.
    Test,
    /// Set asynchronous balanced mode extended: open a link.
    Sabme,
    /// Disconnect.
    Disc,
    /// Unnumbered acknowledgment, of SABME or DISC.
    Ua,
    /// Disconnected mode: there is no link.
    Dm,
    /// Frame reject.
    Frmr,
}

impl Unnumbered {
    /// Each with its control byte, poll/final bit clear.
    const CODES: [(Self, u8); 8] = [
        (Self::Ui, 0x03),
        (Self::Xid, 0xaf),
        (Self::Test, 0xe3),
        (Self::Sabme, 0x6f),
        (Self::Disc, 0x43),
        (Self::Ua, 0x63),
        (Self::Dm, 0x0f),
        (Self::Frmr, 0x87),
    ];

    const fn code(self) -> u8 {
        match self {
            Self::Ui => 0x03,
            Self::Xid => 0xaf,
            Self::Test => 0xe3,
            Self::Sabme => 0x6f,
            Self::Disc => 0x43,
            Self::Ua => 0x63,
            Self::Dm => 0x0f,
            Self::Frmr => 0x87,
        }
    }
}

/// The control field. `pf` is the poll bit of a command, the final bit of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Control {
    /// An I frame.
    Information {
        /// N(S), its number.
        ns: u8,
        /// N(R), the number that its sender expects next.
        nr: u8,
        /// Poll or final.
        pf: bool,
    },
    /// An S frame.
    Supervisory {
        /// What it says.
        kind: Supervisory,
        /// N(R), the number that its sender expects next.
        nr: u8,
        /// Poll or final.
        pf: bool,
    },
    /// A U frame.
    Unnumbered {
        /// What it says.
        kind: Unnumbered,
        /// Poll or final.
        pf: bool,
    },
}

impl Control {
    fn parse(reader: &mut Reader<'_>) -> Result<Self> {
        let first = reader.u8("LLC control")?;
        if first & 3 == 3 {
            let code = first & !0x10;
            let mut known = Unnumbered::CODES.iter();
            let kind = known
                .find(|(_, known)| *known == code)
                .map(|(kind, _)| *kind);
            return Ok(Self::Unnumbered {
                kind: kind.ok_or(Error::Value {
                    what: "LLC control",
                })?,
                pf: first & 0x10 != 0,
            });
        }
        let second = reader.u8("LLC control")?;
        let (nr, pf) = (second >> 1, second & 1 == 1);
        if first & 1 == 0 {
            return Ok(Self::Information {
                ns: first >> 1,
                nr,
                pf,
            });
        }
        let kind = match first {
            0x01 => Supervisory::Rr,
            0x05 => Supervisory::Rnr,
            0x09 => Supervisory::Rej,
            _ => {
                return Err(Error::Value {
                    what: "LLC control",
                });
            }
        };
        Ok(Self::Supervisory { kind, nr, pf })
    }

    /// Its bytes, and how many of them count.
    pub const fn emit(self) -> ([u8; 2], usize) {
        match self {
            Self::Information { ns, nr, pf } => ([ns << 1, nr << 1 | pf as u8], 2),
            Self::Supervisory { kind, nr, pf } => {
                let code = match kind {
                    Supervisory::Rr => 0x01,
                    Supervisory::Rnr => 0x05,
                    Supervisory::Rej => 0x09,
                };
                ([code, nr << 1 | pf as u8], 2)
            }
            Self::Unnumbered { kind, pf } => ([kind.code() | (pf as u8) << 4, 0], 1),
        }
    }
}

/// A protocol data unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pdu<'a> {
    /// The receiver's access point.
    pub dsap: u8,
    /// The sender's access point, without its command/response bit.
    pub ssap: u8,
    /// Whether this is a response rather than a command.
    pub response: bool,
    /// The control field.
    pub control: Control,
    /// What follows.
    pub info: &'a [u8],
}

impl<'a> Pdu<'a> {
    /// Reads the payload of an 802.3 frame.
    ///
    /// # Errors
    /// When it ends in the header, or when the control field has no meaning.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        let dsap = reader.u8("destination access point")?;
        let ssap = reader.u8("source access point")?;
        let control = Control::parse(&mut reader)?;
        Ok(Self {
            dsap,
            ssap: ssap & !1,
            response: ssap & 1 == 1,
            control,
            info: reader.rest(),
        })
    }

    /// The header's bytes, and how many of them count.
    pub const fn header(&self) -> ([u8; I_HEADER_LEN], usize) {
        let ([first, second], len) = self.control.emit();
        let ssap = self.ssap | self.response as u8;
        ([self.dsap, ssap, first, second], len.saturating_add(2))
    }

    /// All bytes.
    pub fn emit(&self) -> Vec<u8> {
        let (header, len) = self.header();
        let mut bytes = Vec::with_capacity(len.saturating_add(self.info.len()));
        bytes.extend_from_slice(header.get(..len).unwrap_or_default());
        bytes.extend_from_slice(self.info);
        bytes
    }
}

/// What is wrong with a rejected frame: the information of FRMR (ISO 8802-2 §5.4.2.3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameReject {
    /// Control field of the rejected frame; a U frame's second byte is zero.
    pub rejected: [u8; 2],
    /// V(S) of the station that rejects.
    pub vs: u8,
    /// V(R) of the station that rejects.
    pub vr: u8,
    /// Whether the rejected frame was a response.
    pub response: bool,
    /// Why, see the constants.
    pub reasons: u8,
}

impl FrameReject {
    /// The control field has no meaning here (W).
    pub const BAD_CONTROL: u8 = 0x01;
    /// The frame must not have information (X).
    pub const INFORMATION: u8 = 0x02;
    /// The information is too long (Y).
    pub const TOO_LONG: u8 = 0x04;
    /// N(R) acknowledges what was never sent (Z).
    pub const BAD_NR: u8 = 0x08;
    /// N(S) is outside the window (V).
    pub const BAD_NS: u8 = 0x10;

    /// Reads the information of FRMR.
    ///
    /// # Errors
    /// When it ends before its five bytes.
    pub fn parse(info: &[u8]) -> Result<Self> {
        let [first, second, vs, vr, reasons] = Reader::new(info).array("frame reject")?;
        Ok(Self {
            rejected: [first, second],
            vs: vs >> 1,
            vr: vr >> 1,
            response: vr & 1 == 1,
            reasons,
        })
    }

    /// Its five bytes.
    pub const fn emit(self) -> [u8; 5] {
        let [first, second] = self.rejected;
        let vr = (self.vr << 1) | self.response as u8;
        [first, second, self.vs << 1, vr, self.reasons]
    }
}

/// The information of an XID response: types 1 and 2 (class II), and the receive window (ISO 8802-2 §5.4.1.1.2).
pub const fn xid_info(receive_window: u8) -> [u8; 3] {
    [0x81, 0x03, receive_window << 1]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn command(control: Control) -> Vec<u8> {
        let pdu = Pdu {
            dsap: SAP_NETBIOS,
            ssap: SAP_NETBIOS,
            response: false,
            control,
            info: &[],
        };
        pdu.emit()
    }

    /// Frames 68 to 76 of tests/captures/dos-win98-netbeui.pcap.
    #[test]
    fn frames_of_a_dos_client_and_windows_98_have_their_bytes() {
        let unnumbered = |kind, pf| Control::Unnumbered { kind, pf };
        assert_eq!(
            command(unnumbered(Unnumbered::Sabme, true)),
            [0xf0, 0xf0, 0x7f]
        );
        let bytes = [0xf0, 0xf1, 0x73];
        let ua = Pdu::parse(&bytes).unwrap();
        assert!(ua.response);
        assert_eq!(
            (ua.control, ua.ssap),
            (unnumbered(Unnumbered::Ua, true), 0xf0)
        );
        assert_eq!(ua.emit(), bytes);
        let rr = Control::Supervisory {
            kind: Supervisory::Rr,
            nr: 1,
            pf: true,
        };
        assert_eq!(command(rr), [0xf0, 0xf0, 0x01, 0x03]);
        let i = Control::Information {
            ns: 1,
            nr: 2,
            pf: false,
        };
        assert_eq!(command(i), [0xf0, 0xf0, 0x02, 0x04]);
    }

    #[test]
    fn every_control_field_is_read_as_it_is_written() {
        let mut all: Vec<Control> = Vec::new();
        for pf in [false, true] {
            all.extend(
                Unnumbered::CODES
                    .iter()
                    .map(|(kind, _)| Control::Unnumbered { kind: *kind, pf }),
            );
            for nr in [0, 1, 64, 127] {
                for kind in [Supervisory::Rr, Supervisory::Rnr, Supervisory::Rej] {
                    all.push(Control::Supervisory { kind, nr, pf });
                }
                all.push(Control::Information {
                    ns: 127 - nr,
                    nr,
                    pf,
                });
            }
        }
        for control in all {
            let bytes = command(control);
            assert_eq!(Pdu::parse(&bytes).unwrap().control, control);
        }
    }

    #[test]
    fn what_has_no_meaning_is_refused() {
        for bytes in [
            &[0xf0u8, 0xf0][..],
            &[0xf0, 0xf0, 0x01],
            &[0xf0, 0xf0, 0x0d, 0],
            &[0xf0, 0xf0, 0x2f],
        ] {
            assert!(Pdu::parse(bytes).is_err(), "{bytes:02x?}");
        }
    }

    #[test]
    fn a_frame_reject_names_the_frame_and_the_reason() {
        let reject = FrameReject {
            rejected: [0x01, 0x31],
            vs: 5,
            vr: 9,
            response: true,
            reasons: FrameReject::BAD_NR,
        };
        assert_eq!(reject.emit(), [0x01, 0x31, 0x0a, 0x13, 0x08]);
        assert_eq!(FrameReject::parse(&reject.emit()).unwrap(), reject);
        assert!(FrameReject::parse(&[0; 4]).is_err());
        assert_eq!(xid_info(127), [0x81, 0x03, 0xfe]);
    }
}
