//! What a connection that has ended leaves for the report.

use crate::evidence::Extent;
use crate::report;
use crate::report::{Copy, Direction, Protocol, Quality, Vantage};
use crate::session::Scratch;
use crate::smb::{Observed, Smb};
use crate::tcp::connection::Connection;
use crate::tcp::stream_state::StreamState;
use crate::timeline::{Side, of};
use coax_capture::Transport;
use coax_cause::Cause;
use coax_wire::time::Span;

/// What is left of a connection that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) connection: report::Connection,
    pub(crate) copies: Vec<Copy>,
    /// Copies that are not listed.
    pub(crate) left_out: u64,
    /// Slow operations, and what others may have waited for.
    pub(crate) observed: Observed,
}

impl Connection {
    /// Goes over what was acknowledged just before the capture's end: nothing fills it any more.
    pub(crate) fn give_up_holes(&mut self, scratch: &mut Scratch, quality: &mut Quality) {
        let is_acked =
            |stream: &StreamState| stream.acked > stream.delivered && stream.hole_end().is_some();
        for side in Side::BOTH {
            while is_acked(of(&self.streams, side)) {
                self.skip_hole(side, self.last, scratch, quality);
            }
        }
    }

    /// Who heard SMB, if that is what it carries, and the copies on it; how many of them are not listed.
    fn take_copies(&mut self, quality: &mut Quality) -> (Option<Box<Smb>>, Vec<Copy>, u64) {
        if self.conversation.is_plain() {
            return (None, self.as_copy().into_iter().collect(), 0);
        }
        let Some(mut smb) = self.conversation.take_smb() else {
            return (None, Vec::new(), 0);
        };
        let mut spent = *self.charger.account();
        let lasted = self.last.at - self.first.at;
        let uncharged = lasted.0.saturating_sub(spent.total().0);
        spent.add(Cause::Unattributed, Span(uncharged));
        smb.finish(self.last, spent);
        let (copies, left_out) = smb.take_ended();
        quality.skipped_bytes += self.conversation.skipped();
        (Some(smb), copies, left_out)
    }

    /// What there is to report, now that no more comes.
    pub(crate) fn finish(mut self, quality: &mut Quality) -> Ended {
        let is_smb = !self.conversation.is_plain();
        let (mut smb, copies, left_out) = self.take_copies(quality);
        let observed = smb.as_mut().map(|smb| smb.take_observed());
        quality.without_start += u64::from(!self.has_start);
        let signs = self.conversation.signs();
        let headers_cut = !is_smb && self.conversation.is_service() && signs.is_cut();
        quality.smb_headers_cut += u64::from(headers_cut);
        let time = self.last.at - self.first.at;
        let told = smb.map(|smb| smb.report(time)).unwrap_or_default();
        let connection = report::Connection {
            client: self.ends[0],
            server: self.ends[1],
            protocol: self.protocol(),
            headers_cut,
            span: (self.first.at, self.last.at),
            frames: (self.first.frame, self.last.frame),
            sides: self.sides(),
            server_rtt: self.path.round_trip(Side::Server),
            client_rtt: self.path.round_trip(Side::Client),
            late: Side::BOTH.map(|side| self.path.late(side)),
            vantage: self.vantage(),
            has_start: self.has_start,
            smb: told.facts,
            requests: told.requests,
            asked: told.asked,
            around: told.around,
            joined: None,
            habits: self.habits(),
            parties: <[report::Party; 2]>::default(),
            stacks: <[report::Stack; 2]>::default(),
            netbios: None,
        };
        Ended {
            connection,
            copies,
            left_out,
            observed: observed.unwrap_or_default(),
        }
    }

    fn protocol(&self) -> Protocol {
        if !self.conversation.is_plain() {
            return Protocol::Smb1;
        }
        let smb2 = self.conversation.signs().smb2();
        smb2.map_or(Protocol::Other, |dialect| Protocol::Smb2 { dialect })
    }

    fn habits(&self) -> [report::Habits; 2] {
        Side::BOTH.map(|side| report::Habits {
            no_delay: self.charger.has_no_delay(side),
            ..of(&self.stats, side).report()
        })
    }

    fn sides(&self) -> [report::Side; 2] {
        // a side's windows are heard by the other
        let [of_server, of_client] = self.streams.each_ref().map(|stream| stream.scale.least());
        let mut sides = self.streams.each_ref().map(|stream| report::Side {
            again: stream.retransmissions.report(),
            spurious: stream.retransmissions.report().needless,
            ..stream.figures
        });
        for (side, scale) in sides.iter_mut().zip([of_client, of_server]) {
            side.least_scale = scale;
        }
        for (figures, side) in sides.iter_mut().zip(Side::BOTH) {
            figures.path_ps_per_byte = self.path.reported_pace(side);
            if self.ends[0].transport() != Transport::Tcp {
                // windows of frames are counted in frames
                (figures.window_scale, figures.min_window) = (None, None);
                (figures.max_window, figures.settled_window) = (0, 0);
                (figures.window_full, figures.zero_windows) = (0, 0);
            }
        }
        sides
    }

    /// Where the capture was taken: next to the side that answers at once.
    fn vantage(&self) -> Option<Vantage> {
        let (client, server) = (
            self.path.round_trip(Side::Client)?.0,
            self.path.round_trip(Side::Server)?.0,
        );
        const NEARER: u64 = 3;
        Some(match () {
            () if client.saturating_mul(NEARER) <= server => Vantage::Client,
            () if server.saturating_mul(NEARER) <= client => Vantage::Server,
            () => Vantage::Between,
        })
    }

    /// A connection that carries no SMB is one copy, from its first packet to its last data.
    fn as_copy(&mut self) -> Option<Copy> {
        let [client, server] = self.streams.each_ref().map(|stream| stream.figures);
        let (direction, side) = if server.bytes >= client.bytes {
            (Direction::ToClient, server)
        } else {
            (Direction::ToServer, client)
        };
        let (end, account) = self.end;
        let extent = Extent {
            begin: self.first.at,
            end,
            account,
            direction,
        };
        let is_copy = side.bytes > 0;
        let told = self.conversation.end_plain(is_copy.then_some(&extent));
        is_copy.then(|| Copy {
            connection: 0,
            name: None,
            share: None,
            direction,
            bytes: side.bytes,
            moved: side.bytes.saturating_add(side.retransmitted_bytes),
            start: self.first.at,
            wall: end.at - self.first.at,
            frames: (self.first.frame, end.frame),
            seen: (self.has_start, self.closing),
            file_size: None,
            holes: (0, 0),
            requests: Vec::new(),
            account,
            breakdown: told.unwrap_or_default(),
        })
    }
}
