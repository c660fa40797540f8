//! Summaries of many copies on one connection, and of the requests between them.

use coax_explain::report::{Capture, Connection, Copy, Direction};
use coax_wire::time::{Span, Time};
use serde_json::{Value, json};

use super::words::{many, percent, rate, seconds, size, time};

/// Minimum number of copies on a connection for a tree, if none took half of the time.
const MIN_COPIES: usize = 20;
/// Maximum number of commands to name.
const MAX_COMMANDS: usize = 4;

/// Many files copied on one connection.
pub(super) struct Tree<'a> {
    connection: &'a Connection,
    place: usize,
    files: usize,
    /// Bytes to the client, and to the server.
    bytes: [u64; 2],
    median: u64,
    /// From the start of the first copy to the end of the last.
    time: Span,
    /// Part of that time without a copy or another request.
    idle: Span,
    /// Number of copies that are not listed, and the duration of the connection.
    left_out: u64,
    whole: Span,
}

/// The tree that contains most of the capture's copies, if there is one.
pub(super) fn of(capture: &Capture) -> Option<Tree<'_>> {
    let mut copies = vec![0_usize; capture.connections.len()];
    for copy in &capture.copies {
        *copies.get_mut(copy.connection)? += 1;
    }
    let (place, files) = copies.into_iter().enumerate().max_by_key(|it| it.1)?;
    let connection = capture.connections.get(place)?;
    let own = || capture.copies.iter().filter(|it| it.connection == place);
    let begin = own().map(|copy| copy.start).min()?;
    let end = own().map(|copy| copy.start + copy.wall).max()?;
    let longest = own().map(|copy| copy.wall).max()?;
    if files < MIN_COPIES || files * 2 < capture.copies.len() || longest.0 >= (end - begin).0 / 2 {
        return None;
    }
    let mut sizes: Vec<u64> = own().map(|copy| copy.bytes).collect();
    sizes.sort_unstable();
    let bytes = [Direction::ToClient, Direction::ToServer].map(|direction| {
        let same = own().filter(|copy| copy.direction == direction);
        same.map(|copy| copy.bytes).sum()
    });
    Some(Tree {
        connection,
        place,
        files,
        bytes,
        median: sizes.get(files / 2).copied().unwrap_or(0),
        time: end - begin,
        idle: idle(connection, own()),
        left_out: capture.copies_left_out,
        whole: connection.span.1 - connection.span.0,
    })
}

/// The time between copies without requests.
fn idle<'a>(connection: &Connection, copies: impl Iterator<Item = &'a Copy>) -> Span {
    let between = between(copies.map(|copy| (copy.start, copy.start + copy.wall)));
    Span(between.0.saturating_sub(connection.around.asked.1.0))
}

/// The time between copies with these start and end times.
fn between(copies: impl Iterator<Item = (Time, Time)>) -> Span {
    let mut copies: Vec<(Time, Time)> = copies.collect();
    copies.sort_unstable();
    let mut until = copies.first().map_or(Time(0), |first| first.0);
    let mut gaps = 0_u64;
    for (begin, end) in copies {
        gaps = gaps.saturating_add((begin - until).0);
        until = until.max(end);
    }
    Span(gaps)
}

impl Tree<'_> {
    fn all_bytes(&self) -> u64 {
        self.bytes.iter().sum()
    }

    /// The amount and the direction.
    fn moved(&self) -> String {
        let [to_client, to_server] = self.bytes;
        match (to_client, to_server) {
            (to_client, 0) => format!("{} to the client", size(to_client)),
            (0, to_server) => format!("{} to the server", size(to_server)),
            both => {
                let (to_client, to_server) = (size(both.0), size(both.1));
                format!("{to_client} to the client and {to_server} to the server")
            }
        }
    }

    fn each(&self) -> Span {
        Span(self.time.0 / self.files.max(1) as u64)
    }

    /// Percentage of the time during which requests without data were outstanding.
    fn metadata(&self) -> f64 {
        // the counters include copies that are not listed
        let of = if self.left_out > 0 {
            self.whole
        } else {
            self.time
        };
        percent(self.connection.around.metadata, of).min(100.0)
    }

    /// The sentence about the tree.
    pub(super) fn verdict(&self) -> String {
        let rate = rate(self.all_bytes(), self.time).map(|rate| format!(" ({rate})"));
        let more = match self.left_out {
            0 => String::new(),
            more => format!(" (and {more} more that are not listed)"),
        };
        format!(
            "Copy of {}{more}, {}, median size {}, took {}{}: {} a file. {:.0} % of the time was metadata: \
             requests that moved no data.{}",
            many(self.files as u64, "file"),
            self.moved(),
            size(self.median),
            time(self.time),
            rate.unwrap_or_default(),
            time(self.each()),
            self.metadata(),
            self.pauses()
        )
    }

    /// The text about pauses between files, if they are long.
    fn pauses(&self) -> String {
        const MIN_PERCENT: f64 = 20.0;
        let share = percent(self.idle, self.time);
        if share < MIN_PERCENT {
            return String::new();
        }
        format!(
            " For {share:.0} % of it the client sent no request between files (client processing time)."
        )
    }

    /// The same as JSON.
    pub(super) fn as_json(&self) -> Value {
        json!({
            "connection": self.place,
            "files": self.files,
            "files_left_out": self.left_out,
            "bytes": self.all_bytes(),
            "median_bytes": self.median,
            "seconds": seconds(self.time),
            "seconds_per_file": seconds(self.each()),
            "metadata_share": self.metadata() / 100.0,
            "idle_share": percent(self.idle, self.time) / 100.0,
            "verdict": self.verdict(),
        })
    }
}

/// The text about the requests between the copies of a connection.
pub(super) fn around(connection: &Connection) -> Option<String> {
    let around = &connection.around;
    let (count, waited) = around.asked;
    if count == 0 {
        return None;
    }
    let rows = around.requests.iter();
    let mut rows: Vec<_> = rows.filter(|row| row.bytes == 0 && !row.waits).collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.response_total, row.count)));
    let named = rows.iter().take(MAX_COMMANDS).map(|row| {
        let refused = match row.refused {
            0 => String::new(),
            refused => format!(", {refused} refused"),
        };
        format!(
            "{} {} ({}{refused})",
            row.count,
            row.command,
            time(row.response_total)
        )
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let of_which = if named.is_empty() { "" } else { ", of which " };
    Some(format!(
        "{}, {} without a copy under way; {} until they were answered{of_which}{named}",
        many(count, "request"),
        time(around.time),
        time(waited)
    ))
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
#[path = "../../../explain/tests/all/common/many.rs"]
mod small;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn tree(files: u32) -> Capture {
        let tree = small::Tree {
            files,
            size: 500,
            answer_ns: 300_000,
            request_ns: 100_000,
        };
        coax_explain::explain(small::pcap(&tree).as_slice()).unwrap()
    }

    #[test]
    fn many_small_files_are_summarised() {
        let capture = tree(100);
        let output = of(&capture).unwrap();
        // of 1.6 ms per file, attributes, open, close and the pause take about 0.3 ms each
        assert_eq!(
            output.verdict(),
            "Copy of 100 files, 50.0 KB to the client, median size 500 bytes, took 159.5 ms \
             (0.31 MB/s, 2.5 Mbit/s): 1.6 ms a file. 56 % of the time was metadata: requests that moved no data."
        );
        assert_eq!(output.as_json()["files"], 100);
    }

    #[test]
    fn of_more_files_than_are_listed_the_share_is_that_of_all() {
        let capture = tree(20_500);
        let output = of(&capture).unwrap();
        let verdict = output.verdict();
        assert!(
            verdict.starts_with("Copy of 20000 files (and 500 more that are not listed), 10.0 MB")
        );
        assert!(verdict.contains(" 56 % "), "{verdict}");
    }

    #[test]
    fn a_few_files_are_no_tree() {
        assert!(of(&tree(MIN_COPIES as u32 - 1)).is_none());
    }

    #[test]
    fn requests_around_copies_are_summarised_in_one_line() {
        assert_eq!(
            around(&tree(100).connections[0]).unwrap(),
            "100 requests, 50.0 ms without a copy under way; 30.0 ms until they were answered, of which 100 \
             QUERY_INFORMATION (30.0 ms)"
        );
    }

    /// A copy in the lab, captured at the client. Returns also its duration and the time of its round trips without
    /// data.
    fn from_the_lab(client: &str, direction: &str, files: u32) -> (Capture, Span, Span) {
        let mut scenario = coax_lab::scenario::Scenario::new(client);
        for change in [
            format!("client.profile={client}"),
            format!("direction={direction}"),
            format!("files={files}"),
            "size=3000".to_owned(),
        ] {
            scenario.set_text(&change).unwrap();
        }
        let mut setup = coax_lab::smb::CopySetup::of(&scenario).unwrap();
        setup.taps = vec![coax_lab::Tap::Client];
        let mut result = coax_lab::smb::copy(&setup);
        assert_eq!(result.copied, Ok(u64::from(files) * 3000), "{client}");
        let capture = result.world.captures().remove(0);
        let metadata = result.account.get(coax_explain::Cause::Metadata);
        let capture = coax_explain::explain(capture.as_slice()).unwrap();
        (capture, result.took, metadata)
    }

    #[test]
    fn a_simulated_tree_is_recognised_with_its_time() {
        for client in ["windows-98", "nt-4-copy", "ms-net-3.11-full", "modern"] {
            for direction in ["to-client", "to-server"] {
                let (capture, took, metadata) = from_the_lab(client, direction, 30);
                let output = of(&capture).unwrap().as_json();
                let figures = [&output["files"], &output["bytes"], &output["median_bytes"]];
                assert_eq!(figures, [30, 90_000, 3000], "{client} {direction}");
                // the simulation starts with the first request, which may precede the first open
                let (seconds, took) = (output["seconds"].as_f64().unwrap(), took.0 as f64 / 1e9);
                assert!(
                    seconds <= took && seconds > took * 0.9,
                    "{client} {direction}: {seconds} of {took}"
                );
                let share = output["metadata_share"].as_f64().unwrap();
                let least = metadata.0 as f64 / 1e9 / took - 0.01;
                assert!(
                    share > least.max(0.0) && share < 1.0,
                    "{client} {direction}: {share} of {least}"
                );
                let to = direction.replace('-', " ").replace("to ", "to the ");
                let begin = format!("Copy of 30 files, 90.0 KB {to}, median size 3000 bytes");
                assert!(
                    output["verdict"].as_str().unwrap().starts_with(&begin),
                    "{output}"
                );
            }
        }
        let (capture, ..) = from_the_lab("windows-98", "to-client", 19);
        assert!(of(&capture).is_none());
        assert_eq!(capture.copies.len(), 19);
    }

    #[test]
    fn long_pauses_between_files_are_reported() {
        let at = |from, to| (Time(from), Time(to));
        assert_eq!(
            between([at(0, 10), at(5, 7), at(20, 30)].into_iter()),
            Span(10)
        );
        assert_eq!(between([].into_iter()), Span(0));
    }
}
