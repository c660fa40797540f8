//! Whose TCP an end of a connection runs, as far as its SYN tells, and what else was seen of it.

use coax_catalog::recognition::{StackFeatures, stacks};

use crate::report::{Connection, Evidence, Habits, Side, Stack, Sureness};
use coax_capture::{SynFingerprint, Transport};

/// Options of a SYN that many stacks send are these at most: an MSS, or nothing.
const COMMON: usize = 1;

/// The TCP of the client and of the server.
pub(crate) fn recognise(connection: &Connection) -> [Stack; 2] {
    if connection.transport() != Transport::Tcp {
        return <[Stack; 2]>::default();
    }
    let one = |end: usize| -> Option<Stack> {
        let (side, habits) = (connection.sides.get(end)?, connection.habits.get(end)?);
        Some(of(side, habits, end == 1))
    };
    [0, 1].map(|end| one(end).unwrap_or_default())
}

fn of(side: &Side, habits: &Habits, answers: bool) -> Stack {
    let greeting = habits.greeting.as_ref();
    let who: Vec<String> = greeting
        .filter(|greeting| greeting.layout.is_whole())
        .map(|greeting| {
            let found = stacks(&StackFeatures {
                answers,
                options: &greeting.layout.to_string(),
                first_ttl: greeting.initial_ttl(),
                window: greeting.window,
                mss: side.mss,
            });
            found.into_iter().map(str::to_owned).collect()
        })
        .unwrap_or_default();
    let is_telling = habits.greeting.is_some_and(|it| it.layout.len() > COMMON);
    let sure = match who.len() {
        0 => Sureness::Unknown,
        1 if is_telling => Sureness::Likely,
        _ => Sureness::Like,
    };
    Stack {
        who,
        sure,
        evidence: seen(side, habits),
    }
}

fn seen(side: &Side, habits: &Habits) -> Vec<Evidence> {
    let mut all = Vec::new();
    let mut add = |what: String, frame: u64| {
        let frame = Some(frame).filter(|frame| *frame > 0);
        all.push(Evidence { what, frame });
    };
    if let Some(greeting) = &habits.greeting {
        add(greeted(greeting, side), habits.syn.unwrap_or_default());
    }
    if let (Some(every), true) = (habits.ack_every, side.segments > side.data_segments) {
        let every = match every {
            1 => "every segment".to_owned(),
            more => format!("every {more} segments"),
        };
        add(format!("acknowledges {every}, mostly"), 0);
    }
    if let Some(hold) = habits.hold {
        let times = match habits.held_acks.count {
            1 => "once".to_owned(),
            count => format!("{count} times"),
        };
        let ms = hold.0 / 1_000_000;
        let what = format!("held acknowledgments back for about {ms} ms, {times}");
        add(what, habits.held_acks.frame);
    }
    if let Some((wait, frame)) = habits.shortest_timer {
        let ms = wait.0 / 1_000_000;
        add(
            format!("its timer sent again after {ms} ms at the shortest"),
            frame,
        );
    }
    all
}

/// What its SYN says.
fn greeted(greeting: &SynFingerprint, side: &Side) -> String {
    let first = greeting.initial_ttl();
    let hops = match first.saturating_sub(greeting.ttl) {
        0 => String::new(),
        1 => " (1 hop away)".to_owned(),
        hops => format!(" ({hops} hops away)"),
    };
    let segments = side.mss.filter(|mss| *mss > 0).and_then(|mss| {
        let is_whole = greeting.window > 0 && greeting.window.is_multiple_of(mss);
        is_whole.then(|| format!(" ({} segments)", greeting.window / mss))
    });
    let options = match greeting.layout.to_string() {
        none if none.is_empty() => "none".to_owned(),
        some => some,
    };
    let scale = side.window_scale.map(|scale| format!(", scale {scale}"));
    format!(
        "TTL {first}{hops}, window {}{} in its SYN, options {options}{}{}",
        greeting.window,
        segments.unwrap_or_default(),
        side.mss.map_or(String::new(), |mss| format!(", MSS {mss}")),
        scale.unwrap_or_default()
    )
}
