//! Requests and their answers, by their places in the two directions.

use std::collections::VecDeque;

use coax_wire::command::{
    LOCK_AND_READ, READ, READ_ANDX, READ_MPX, READ_RAW, WRITE, WRITE_AND_CLOSE, WRITE_AND_UNLOCK,
    WRITE_ANDX, WRITE_COMPLETE, WRITE_MPX, WRITE_PRINT_FILE, WRITE_RAW,
};

use super::{direction::Direction, log::Mark};

/// Requests that wait for an answer at a time; of more, the oldest are forgotten.
const MAX_WAITING: usize = 1024;
/// A request waits for an event, not for the server, if this number of later requests is answered first.
const OVERTAKEN: u32 = 3;

/// Commands that move bytes of files.
const DATA: [u8; 13] = [
    READ,
    WRITE,
    LOCK_AND_READ,
    WRITE_AND_UNLOCK,
    READ_RAW,
    READ_MPX,
    WRITE_RAW,
    WRITE_MPX,
    WRITE_COMPLETE,
    WRITE_AND_CLOSE,
    READ_ANDX,
    WRITE_ANDX,
    WRITE_PRINT_FILE,
];

/// A request and its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub(super) request: (u64, u64),
    pub(super) answer: (u64, u64),
    /// It moves bytes of a file.
    pub(super) is_data: bool,
}

struct Waiting {
    mark: Mark,
    request: (u64, u64),
    overtaken: u32,
}

/// All exchanges that were answered, in the order of the answers.
pub(super) fn exchanges(to_server: &Direction, to_client: &Direction) -> Vec<Exchange> {
    let mut waiting: VecDeque<Waiting> = VecDeque::new();
    let mut requests = to_server.marks.iter().peekable();
    let mut found = Vec::new();
    for (mark, start, end) in &to_client.marks {
        let Some(left) = to_client.sent_at(*start) else {
            continue;
        };
        let has_come = |request: &&(Mark, u64, u64)| {
            to_server
                .delivered_at(request.2)
                .is_some_and(|at| at <= left)
        };
        while let Some((mark, from, to)) = requests.next_if(has_come) {
            waiting.push_back(Waiting {
                mark: *mark,
                request: (*from, *to),
                overtaken: 0,
            });
            if waiting.len() > MAX_WAITING {
                waiting.pop_front();
            }
        }
        // an oplock break answers nothing; smbd's interim response to WRITE_RAW has no reply bit
        let is_response = mark.is_reply || mark.command == Some(WRITE_RAW);
        if mark.mid.is_some() && !is_response {
            continue;
        }
        let Some(place) = asked_by(&waiting, mark) else {
            continue;
        };
        waiting
            .iter_mut()
            .take(place)
            .for_each(|it| it.overtaken += 1);
        let Some(asked) = waiting.remove(place) else {
            continue;
        };
        if asked.overtaken < OVERTAKEN {
            found.push(Exchange {
                request: asked.request,
                answer: (*start, *end),
                is_data: asked
                    .mark
                    .command
                    .is_none_or(|command| DATA.contains(&command)),
            });
        }
    }
    found
}

/// The place of the request that a message answers. Data of raw mode has no header, so it matches any message, but only if none
/// matches exactly: data of a write-behind raw write is never answered, and the next response must not count as its answer.
fn asked_by(waiting: &VecDeque<Waiting>, answer: &Mark) -> Option<usize> {
    let exactly = |it: &Waiting| match (answer.mid, answer.command) {
        (None, _) => it.mark.command == Some(READ_RAW),
        (_, Some(WRITE_COMPLETE)) => it.mark.mid.is_none(),
        _ => it.mark.mid == answer.mid,
    };
    let perhaps = |it: &Waiting| answer.mid.is_none() || it.mark.mid.is_none();
    let place = waiting.iter().position(exactly);
    place.or_else(|| waiting.iter().position(perhaps))
}

/// Messages of a connection that is not SMB1: what one side says until the other says something.
pub(super) fn turns(to_server: &mut Direction, to_client: &mut Direction) {
    let both = [&*to_server, &*to_client];
    let mut sends: Vec<(i64, usize, u64)> = Vec::new();
    for (side, direction) in both.iter().enumerate() {
        let fresh = direction.sends.iter().filter(|send| !send.again);
        sends.extend(fresh.map(|send| (send.at, side, send.end)));
    }
    sends.sort_unstable();
    let mut marks = [Vec::new(), Vec::new()];
    let mut begin = both.map(|direction| direction.sends.first().map_or(0, |send| send.start));
    for (place, (_, side, end)) in sends.iter().enumerate() {
        let is_last = sends.get(place + 1).is_none_or(|next| next.1 != *side);
        if let (true, Some(marks), Some(begin)) =
            (is_last, marks.get_mut(*side), begin.get_mut(*side))
        {
            let mark = Mark {
                end: *end,
                len: end.saturating_sub(*begin),
                mid: None,
                command: None,
                is_reply: *side == 1,
            };
            marks.push((mark, *begin, *end));
            *begin = *end;
        }
    }
    [to_server.marks, to_client.marks] = marks;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(mid: Option<u16>, command: Option<u8>) -> Mark {
        Mark {
            end: 0,
            len: 0,
            mid,
            command,
            is_reply: command.is_some_and(|command| command != WRITE_RAW),
        }
    }

    fn waiting(marks: &[Mark]) -> VecDeque<Waiting> {
        let waiting = |mark: &Mark| Waiting {
            mark: *mark,
            request: (0, 0),
            overtaken: 0,
        };
        marks.iter().map(waiting).collect()
    }

    #[test]
    fn raw_data_that_is_written_behind_takes_no_answer_from_the_next_request() {
        let data = message(None, None);
        let next = message(Some(7), Some(WRITE_RAW));
        let asked = waiting(&[data, next]);
        assert_eq!(
            asked_by(&asked, &message(Some(7), Some(WRITE_RAW))),
            Some(1)
        );
        assert_eq!(
            asked_by(&asked, &message(Some(7), Some(WRITE_COMPLETE))),
            Some(0)
        );
    }

    #[test]
    fn data_without_a_header_answers_the_raw_read_before_anything_else() {
        let behind = message(None, None);
        let read = message(Some(3), Some(READ_RAW));
        let answer = message(None, None);
        assert_eq!(asked_by(&waiting(&[behind, read]), &answer), Some(1));
        assert_eq!(
            asked_by(&waiting(&[message(Some(3), None)]), &answer),
            Some(0)
        );
        let other = message(Some(4), Some(READ_ANDX));
        assert_eq!(asked_by(&waiting(&[read]), &other), None);
    }
}
