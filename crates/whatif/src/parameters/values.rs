//! Fitted values as those of a scenario.

use coax_explain::report::Direction;
use toml::Value;

use crate::{
    parameters::{Congestion, Loss, ModelParameters, Ring},
    used::Set,
    windows::scale,
};

impl ModelParameters {
    /// The values of the scenario.
    pub(crate) fn sets(&self) -> Vec<Set> {
        let mut sets = Vec::new();
        let mut set = |path: String, value: Value| sets.push((path, value));
        let machines = self.think.into_iter().zip(self.fixed);
        for (name, (think, fixed)) in ["client", "server"].into_iter().zip(machines) {
            let per_byte = think * (1.0 - fixed) / self.block.max(1.0) * 1000.0;
            set(
                format!("{name}.machine.request.fixed"),
                quantity(think * fixed, "ns"),
            );
            set(
                format!("{name}.machine.request.per_byte"),
                quantity(per_byte, "ps"),
            );
            self.stack(name, &mut set);
        }
        for (name, each) in ["client", "server"].into_iter().zip(self.segment) {
            let is_sender = (name == "client") == (self.direction == Direction::ToServer);
            let what = if is_sender { "tx_data" } else { "rx_data" };
            if each > 0.0 {
                set(format!("{name}.machine.{what}.fixed"), quantity(each, "ns"));
            }
        }
        let rate = (8e12 / self.path_ps).clamp(1000.0, 1e11);
        set("link.rate".into(), quantity(rate, "bit/s"));
        set("link.delay".into(), quantity(self.round_trip / 2.0, "ns"));
        self.buffers(&mut set);
        self.losing(&mut set);
        sets
    }

    fn stack(&self, name: &str, set: &mut impl FnMut(String, Value)) {
        let key = |key: &str| format!("{name}.stack.{key}");
        let [client, server] = [0, 1].map(|side| (self.nagle.get(side), self.young.get(side)));
        let nagle = match if name == "client" { client } else { server } {
            (Some(true), Some(true)) => "minshall",
            (Some(true), _) => "standard",
            _ => "off",
        };
        let (control, first) = match self.congestion {
            Congestion::None => ("none", 2),
            Congestion::From(first) if self.is_modern => ("new-reno", first),
            Congestion::From(first) => ("reno", first),
        };
        set(key("nagle"), Value::String(nagle.into()));
        set(key("delayed_ack"), quantity(self.hold, "ns"));
        set(key("delayed_ack_tick"), quantity(self.tick, "ns"));
        set(key("rto_min"), quantity(self.timer, "ns"));
        set(key("rto_initial"), quantity(self.timer.max(1e9), "ns"));
        set(key("rto_max"), quantity(self.timer.max(64e9), "ns"));
        set(key("max_retries"), Value::Integer(30));
        set(key("congestion"), Value::String(control.into()));
        set(
            key("initial_window"),
            Value::Integer(i64::try_from(first).unwrap_or(10)),
        );
        let duplicates = if self.fast_retransmit { 3 } else { 0 };
        set(key("fast_retransmit"), Value::Integer(duplicates));
        self.window(name, set);
        let buffer = i64::try_from(self.send_buffer).unwrap_or(0);
        set(key("send_buffer"), Value::Integer(buffer));
    }

    fn window(&self, name: &str, set: &mut impl FnMut(String, Value)) {
        let [client, server] = self.wide;
        let own = if name == "client" { client } else { server };
        let key = |key: &str| format!("{name}.stack.{key}");
        let receives = (name == "client") == (self.direction == Direction::ToClient);
        let narrower = (receives && self.window_part < 1.0)
            .then(|| (self.window as f64 * self.window_part).max(1.0) as u64);
        if let Some(bytes) = own.or(narrower) {
            let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
            set(key("receive_window"), Value::Integer(bytes));
        }
        let widest = client.max(server).map_or(0, scale);
        // one side's is scaled only if the other's may be
        if widest > 0 {
            let shift = own.map_or(if self.is_modern { 7 } else { 0 }, scale);
            set(key("window_scale"), Value::Integer(i64::from(shift)));
        }
    }

    fn losing(&self, set: &mut impl FnMut(String, Value)) {
        let (way, sender) = match self.direction {
            Direction::ToServer => ("link.loss_to_server", "client"),
            Direction::ToClient => ("link.loss_to_client", "server"),
        };
        let mut rule = toml::Table::new();
        match self.loss {
            Loss::None => return,
            Loss::Random(part) => {
                rule.insert("kind".into(), Value::String("random".into()));
                rule.insert("probability".into(), Value::Float(part));
            }
            Loss::Periodic(every) => {
                rule.insert("kind".into(), Value::String("periodic".into()));
                rule.insert("every".into(), Value::Integer(every.round() as i64));
            }
            Loss::Ring(ring) => return self.ring(ring, sender, set),
            Loss::Queue(bytes) => {
                set("link.access_rate".into(), quantity(1e11, "bit/s"));
                set("link.queue_bytes".into(), Value::Integer(bytes as i64));
                return;
            }
        }
        let mut whole = toml::Table::new();
        whole.insert("rule".into(), Value::Table(rule));
        whole.insert("data_only".into(), Value::Boolean(true));
        set(way.into(), Value::Table(whole));
    }

    fn ring(&self, ring: Ring, sender: &str, set: &mut impl FnMut(String, Value)) {
        let key = |key: &str| format!("{sender}.{key}");
        let frames = i64::try_from(ring.frames).unwrap_or(i64::MAX);
        set(key("card.tx_ring"), Value::Integer(frames));
        set(key("card.tx_full"), Value::String("drop".into()));
        if !self.is_by_machine() {
            let each = ring.placing * self.longest * self.path_ps / 1000.0;
            set(key("machine.tx_data.fixed"), quantity(each, "ns"));
        }
    }
}

fn quantity(value: f64, unit: &str) -> Value {
    Value::String(format!("{:.3} {unit}", value.clamp(0.0, 9e14)))
}
