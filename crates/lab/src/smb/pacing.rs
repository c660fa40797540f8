//! The server's pacing of old clients, as `coax serve` does it over Linux.

use coax_pace::{FIRST_RECEIVE_SEGMENTS, Handshake, Learned, Mode, Pacer, Received, Sent};
use coax_wire::time::Span;

use crate::{
    app::Context,
    payload::{Buffer, Payload},
};

/// The pacing of a connection, or none.
#[derive(Debug, Default)]
pub(super) struct Pacing {
    enabled: bool,
    /// From the handshake on, if enabled.
    pacer: Option<Pacer>,
    /// The window of the host's own, bytes.
    usual: u32,
    /// Bytes that TCP has not been given.
    unsent: Buffer,
}

impl Pacing {
    pub(super) fn new(enabled: bool) -> Self {
        Self {
            enabled,
            ..Self::default()
        }
    }

    /// Before the client's SYN: the SYN-ACK must show a small window, because no window is taken back.
    pub(super) fn listening(&mut self, context: &mut Context<'_>) {
        if self.enabled {
            let stack = context.tcp().params();
            self.usual = stack.receive_window;
            let small = u32::from(stack.mss).saturating_mul(FIRST_RECEIVE_SEGMENTS);
            context.set_receive_window(small.min(self.usual));
        }
    }

    pub(super) fn connected(&mut self, context: &mut Context<'_>) {
        if self.enabled {
            let tcp = context.tcp();
            let (window_scale, timestamps) = tcp.has_scale_and_timestamps();
            let handshake = Handshake {
                mss: u32::try_from(tcp.mss()).unwrap_or(u32::MAX),
                window_scale,
                timestamps,
                rtt: rtt(context),
            };
            self.pacer = Some(Pacer::new(Mode::Auto, handshake, Learned::default()));
            self.apply(context);
        }
    }

    /// Bytes were read; `rest` are missing of their message.
    pub(super) fn received(&mut self, context: &mut Context<'_>, bytes: u64, rest: u64) {
        let got = Received {
            bytes,
            rest,
            rtt: rtt(context),
            out_of_order: context.tcp().stats().out_of_order,
        };
        if let Some(pacer) = &mut self.pacer {
            let now = context.now();
            let before = pacer.receive_window();
            pacer.received(now, got);
            if pacer.receive_window() != before {
                self.apply(context);
            }
        }
    }

    /// The server was busy and reads again.
    pub(super) fn resumed(&mut self, context: &Context<'_>) {
        if let Some(pacer) = &mut self.pacer {
            pacer.resumed(context.now());
        }
    }

    /// Sends, or keeps what the limit does not permit.
    pub(super) fn send(&mut self, context: &mut Context<'_>, payload: Payload) {
        self.unsent.push(payload);
        self.release(context);
    }

    /// The client has acknowledged enough to send more.
    pub(super) fn drained(&mut self, context: &mut Context<'_>) {
        self.observe(context);
        self.release(context);
    }

    fn release(&mut self, context: &mut Context<'_>) {
        while !self.unsent.is_empty() {
            let allowance = self
                .pacer
                .as_ref()
                .map_or(u64::MAX, |pacer| pacer.allowance(context.unacknowledged()));
            if allowance == 0 {
                let below = self.pacer.as_ref().map_or(u64::MAX, Pacer::room_below);
                return context.notify_below(below);
            }
            context.send(self.unsent.take(allowance));
        }
        self.observe(context);
    }

    /// Tells the policy of TCP's counters. While bytes are unsent, the limit holds them.
    fn observe(&mut self, context: &Context<'_>) {
        let tcp = context.tcp();
        let stats = tcp.stats();
        let sent = Sent {
            acknowledged: tcp.acknowledged(),
            retransmitted: stats
                .timeout_retransmissions
                .saturating_add(stats.fast_retransmissions),
            rtt: rtt(context),
        };
        let limited = !self.unsent.is_empty();
        if let Some(pacer) = &mut self.pacer {
            pacer.observed(context.now(), sent, limited);
        }
    }

    fn apply(&self, context: &mut Context<'_>) {
        let window = self.pacer.as_ref().and_then(Pacer::receive_window);
        context.set_receive_window(window.unwrap_or(self.usual).min(self.usual));
    }
}

fn rtt(context: &Context<'_>) -> Span {
    context.tcp().min_rtt().unwrap_or(Span(0))
}
