//! Commands that wait for their turn: one queue for each kind, so that a flood of one kind does not keep the others out.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use coax_netbios::{WinsChange, WinsEvent};

use super::commands::Order;

/// Commands of one kind that wait; further ones are refused.
pub(super) const WAITING: usize = 1024;
/// The number of kinds.
const KINDS: usize = 3;

/// Why a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A print job.
    Print,
    /// A user's message.
    Message,
    /// A change of a WINS record.
    Hook,
}

/// A command.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) kind: Kind,
    pub(super) order: Order,
    /// Its name in the log.
    pub(super) what: String,
}

#[derive(Debug)]
struct Entry {
    /// Commands are numbered in the order in which they came.
    number: u64,
    command: Waiting,
    /// The change that a hook is for.
    event: Option<WinsEvent>,
}

/// The queues. One thread takes commands out, one kind after the other.
#[derive(Debug, Default)]
pub(super) struct CommandQueues {
    inner: Mutex<Inner>,
    more: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    queues: [VecDeque<Entry>; KINDS],
    /// The kind whose turn it is.
    turn: usize,
    running: Option<String>,
    numbers: u64,
    has_ended: bool,
}

impl CommandQueues {
    /// Queues a command; `false` if too many of its kind wait.
    pub(super) fn push(&self, command: Waiting) -> bool {
        self.put(command, None)
    }

    /// Queues the hook for a change. A hook that waits for an earlier change of the same name makes way for it.
    pub(super) fn push_hook(
        &self,
        mut event: WinsEvent,
        order: impl Fn(&WinsEvent) -> Option<Order>,
    ) -> bool {
        let mut inner = self.inner();
        let hooks = inner.queues.iter_mut().flatten();
        let mut hooks = hooks.filter_map(|entry| Some((entry.event.as_mut()?, &mut entry.command)));
        if let Some((known, command)) = hooks.find(|(known, _)| known.name == event.name) {
            if (known.change, event.change) == (WinsChange::Add, WinsChange::Refresh) {
                // The hook has not heard of the name yet.
                event.change = WinsChange::Add;
            }
            if let Some(order) = order(&event) {
                (*known, command.order) = (event, order);
            }
            return true;
        }
        drop(inner);
        let Some(order) = order(&event) else {
            return true;
        };
        let command = Waiting {
            kind: Kind::Hook,
            order,
            what: "the WINS hook".into(),
        };
        self.put(command, Some(event))
    }

    /// Waits for a command; `None` at the end.
    pub(super) fn take(&self) -> Option<Waiting> {
        let mut inner = self.inner();
        inner.running = None;
        loop {
            for _ in 0..KINDS {
                let turn = inner.turn;
                inner.turn = turn.saturating_add(1) % KINDS;
                if let Some(entry) = inner.queues.get_mut(turn)?.pop_front() {
                    inner.running = Some(entry.command.what.clone());
                    return Some(entry.command);
                }
            }
            if inner.has_ended {
                return None;
            }
            inner = self
                .more
                .wait(inner)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// No commands follow. Those that wait still run.
    pub(super) fn end(&self) {
        self.inner().has_ended = true;
        self.more.notify_all();
    }

    /// Names of the commands that run or wait, oldest first.
    pub(super) fn names(&self) -> Vec<String> {
        let inner = self.inner();
        let mut entries: Vec<&Entry> = inner.queues.iter().flatten().collect();
        entries.sort_by_key(|entry| entry.number);
        let waiting = entries.iter().map(|entry| entry.command.what.clone());
        inner.running.iter().cloned().chain(waiting).collect()
    }

    fn put(&self, command: Waiting, event: Option<WinsEvent>) -> bool {
        let mut inner = self.inner();
        inner.numbers = inner.numbers.saturating_add(1);
        let number = inner.numbers;
        let queue = inner.queues.get_mut(command.kind as usize);
        let Some(queue) = queue.filter(|queue| queue.len() < WAITING) else {
            return false;
        };
        queue.push_back(Entry {
            number,
            command,
            event,
        });
        self.more.notify_all();
        true
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn order(line: String) -> Order {
        Order {
            line,
            folder: "/".into(),
            file: None,
        }
    }

    fn change(queues: &CommandQueues, change: WinsChange, name: &str, ttl_s: u32) -> bool {
        let event = WinsEvent {
            change,
            name: name.parse().unwrap(),
            ttl_s,
            addresses: Vec::new(),
        };
        queues.push_hook(event, |event| {
            let line = format!("{:?} {} {}", event.change, event.name, event.ttl_s);
            Some(order(line))
        })
    }

    fn command(kind: Kind, what: &str) -> Waiting {
        Waiting {
            kind,
            order: order(what.into()),
            what: what.into(),
        }
    }

    #[test]
    fn a_flood_of_hooks_neither_refuses_print_jobs_and_messages_nor_delays_them_by_more_than_one() {
        let queues = CommandQueues::default();
        let taken = (0..WAITING + 10)
            .filter(|n| change(&queues, WinsChange::Add, &format!("S{n}<20>"), 1))
            .count();
        assert_eq!(taken, WAITING);
        assert!(queues.push(command(Kind::Print, "job 1")));
        assert!(queues.push(command(Kind::Message, "message")));
        assert!(queues.push(command(Kind::Print, "job 2")));
        let run: Vec<String> = (0..5).map(|_| queues.take().unwrap().what).collect();
        assert_eq!(
            run,
            [
                "job 1",
                "message",
                "the WINS hook",
                "job 2",
                "the WINS hook"
            ]
        );
    }

    #[test]
    fn hooks_of_one_name_become_one_with_the_last_change() {
        use WinsChange::{Add, Delete, Refresh};
        let queues = CommandQueues::default();
        change(&queues, Add, "A<20>", 1);
        change(&queues, Add, "B<20>", 1);
        change(&queues, Refresh, "A<20>", 2);
        change(&queues, Delete, "B<20>", 0);
        change(&queues, Refresh, "C<20>", 3);
        queues.end();
        let lines: Vec<String> = std::iter::from_fn(|| queues.take())
            .map(|command| command.order.line)
            .collect();
        assert_eq!(lines, ["Add A<20> 2", "Delete B<20> 0", "Refresh C<20> 3"]);
    }

    #[test]
    fn commands_are_listed_in_the_order_in_which_they_came() {
        let queues = CommandQueues::default();
        for (kind, what) in [(Kind::Print, "1"), (Kind::Message, "2"), (Kind::Print, "3")] {
            queues.push(command(kind, what));
        }
        assert_eq!(queues.names(), ["1", "2", "3"]);
        let first = queues.take().unwrap();
        assert_eq!((first.what.as_str(), queues.names().len()), ("1", 3));
    }
}
