//! The tables and their columns. Every column says its unit and where its value comes from.

use serde_json::Value;

/// The type of a column's values. Every value may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text, UTF-8.
    Text,
    /// A whole number, 64 bits.
    Whole,
    /// A number, IEEE 754 double.
    Number,
    /// True or false.
    Flag,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// The unit; empty for text, counts and indexes.
    pub unit: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Where it is in the objects of docs/explain-json.md: keys from the row's object on; `..` at the beginning leads to the capture,
    /// and `@` to the row's connection.
    from: &'static str,
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name, and that of its file.
    pub name: &'static str,
    /// What a row is.
    pub about: &'static str,
    /// The columns.
    pub columns: &'static [Column],
    rows: fn(&Value) -> Vec<Row<'_>>,
}

/// The objects that a row's values are in.
#[derive(Clone, Copy, Debug)]
struct Row<'a> {
    object: &'a Value,
    copy: Option<&'a Value>,
    capture: &'a Value,
    connection: Option<&'a Value>,
    /// The number of the row's object, of its copy if it belongs to one.
    index: usize,
    /// The number among the objects of one copy.
    rank: usize,
}

const fn column(
    (name, kind, unit): (&'static str, Kind, &'static str),
    from: &'static str,
    about: &'static str,
) -> Column {
    Column {
        name,
        kind,
        unit,
        about,
        from,
    }
}

use Kind::{Flag, Number, Text, Whole};

const CAPTURE: Column = column(("capture", Text, ""), "../file", "the capture file");
const COPY: Column = column(
    ("copy", Whole, ""),
    "#",
    "the number of the copy in its capture, from 0",
);

/// The tables.
pub const TABLES: [Table; 4] = [
    Table {
        name: "copies",
        about: "one row for each copy of a file",
        columns: &[
            CAPTURE,
            COPY,
            column(
                ("connection", Whole, ""),
                "connection",
                "the number of its connection in the capture",
            ),
            column(("name", Text, ""), "name", "the file's name on the share"),
            column(("share", Text, ""), "share", "the share"),
            column(
                ("direction", Text, ""),
                "direction",
                "to-server or to-client",
            ),
            column(
                ("bytes", Whole, "byte"),
                "bytes",
                "bytes of the file that were copied",
            ),
            column(("seconds", Number, "s"), "wall_s", "time of the copy"),
            column(
                ("start", Number, "s"),
                "start_s",
                "begin, seconds since 1970",
            ),
            column(
                ("cause", Text, ""),
                "causes/0/cause",
                "the cause of the largest part of the time",
            ),
            column(
                ("cause_seconds", Number, "s"),
                "causes/0/seconds",
                "that part",
            ),
            column(("advice", Text, ""), "advice/0/id", "the first advice"),
            column(
                ("predicted_low", Number, "s"),
                "advice/0/predicted_s/0",
                "predicted time with the first advice, lower end",
            ),
            column(
                ("predicted_high", Number, "s"),
                "advice/0/predicted_s/1",
                "upper end",
            ),
            column(
                ("client", Text, ""),
                "@/client",
                "the client's address and port",
            ),
            column(
                ("server", Text, ""),
                "@/server",
                "the server's address and port",
            ),
            column(
                ("client_profile", Text, ""),
                "@/client_is/profile",
                "the recognised redirector",
            ),
            column(
                ("server_profile", Text, ""),
                "@/server_is/profile",
                "the recognised server",
            ),
            column(
                ("dialect", Text, ""),
                "@/smb/dialect",
                "the negotiated dialect",
            ),
            column(
                ("grade", Text, ""),
                "../grade",
                "how far the capture can be trusted",
            ),
            column(
                ("verdict", Text, ""),
                "verdict",
                "the copy in one paragraph",
            ),
        ],
        rows: copies,
    },
    Table {
        name: "causes",
        about: "one row for each cause of a copy's time; the seconds of a copy add up to its time",
        columns: &[
            CAPTURE,
            COPY,
            column(("cause", Text, ""), "cause", "the cause (docs/explain.md)"),
            column(
                ("seconds", Number, "s"),
                "seconds",
                "time of the copy that it caused",
            ),
            column(("count", Whole, ""), "count", "how often it occurred"),
            column(
                ("median", Number, "s"),
                "median_s",
                "median of one occurrence",
            ),
            column(
                ("p95", Number, "s"),
                "p95_s",
                "95 % of the occurrences are shorter",
            ),
            column(
                ("frame", Whole, ""),
                "frames/0/frame",
                "a frame in which the longest occurrence ends",
            ),
        ],
        rows: causes,
    },
    Table {
        name: "advice",
        about: "one row for each piece of advice about a copy",
        columns: &[
            CAPTURE,
            COPY,
            column(("rank", Whole, ""), "##", "its place, from 0 for the best"),
            column(("id", Text, ""), "id", "the rule"),
            column(("title", Text, ""), "title", "what to change"),
            column(("cause", Text, ""), "cause", "the cause that it removes"),
            column(
                ("share", Number, "1"),
                "share",
                "part of the copy's time that the cause took",
            ),
            column(
                ("effect", Text, ""),
                "effect",
                "whether an effect is expected",
            ),
            column(
                ("predicted_low", Number, "s"),
                "predicted_s/0",
                "predicted time of the copy, lower end",
            ),
            column(
                ("predicted_high", Number, "s"),
                "predicted_s/1",
                "upper end",
            ),
            column(
                ("on", Text, ""),
                "changes/0/on",
                "client, server or network",
            ),
            column(
                ("where", Text, ""),
                "changes/0/where",
                "the place of the setting",
            ),
            column(("to", Text, ""), "changes/0/to", "its new value"),
        ],
        rows: advice,
    },
    Table {
        name: "connections",
        about: "one row for each TCP connection or NetBEUI session",
        columns: &[
            CAPTURE,
            column(
                ("connection", Whole, ""),
                "#",
                "the number of the connection in its capture, from 0",
            ),
            column(
                ("client", Text, ""),
                "client",
                "the client's address and port",
            ),
            column(
                ("server", Text, ""),
                "server",
                "the server's address and port",
            ),
            column(("protocol", Text, ""), "protocol", "SMB1, SMB2 and others"),
            column(
                ("start", Number, "s"),
                "start_s",
                "first packet, seconds since 1970",
            ),
            column(
                ("seconds", Number, "s"),
                "seconds",
                "from the first packet to the last",
            ),
            column(
                ("start_seen", Flag, ""),
                "start_seen",
                "whether the capture has the connection's beginning",
            ),
            column(
                ("client_profile", Text, ""),
                "client_is/profile",
                "the recognised redirector",
            ),
            column(
                ("server_profile", Text, ""),
                "server_is/profile",
                "the recognised server",
            ),
            column(
                ("dialect", Text, ""),
                "smb/dialect",
                "the negotiated dialect",
            ),
            column(
                ("signed", Flag, ""),
                "smb/signed",
                "whether messages are signed",
            ),
            column(
                ("client_bytes", Whole, "byte"),
                "from_client/bytes",
                "bytes from the client",
            ),
            column(
                ("server_bytes", Whole, "byte"),
                "from_server/bytes",
                "bytes from the server",
            ),
            column(
                ("client_retransmissions", Whole, ""),
                "from_client/retransmissions",
                "segments that the client retransmitted",
            ),
            column(
                ("server_retransmissions", Whole, ""),
                "from_server/retransmissions",
                "segments that the server retransmitted",
            ),
            column(
                ("client_max_window", Whole, "byte"),
                "from_client/max_window_bytes",
                "the largest receive window of the client",
            ),
            column(
                ("server_max_window", Whole, "byte"),
                "from_server/max_window_bytes",
                "the largest receive window of the server",
            ),
            column(
                ("client_rtt", Number, "s"),
                "client_rtt_s",
                "round-trip time between the capture point and the client",
            ),
            column(
                ("server_rtt", Number, "s"),
                "server_rtt_s",
                "round-trip time between the capture point and the server",
            ),
        ],
        rows: connections,
    },
];

impl Table {
    /// The rows of a capture (an element of `captures` in the object of `coax explain --json`): a value for each column, `Null` where it
    /// is missing.
    pub fn rows(&self, capture: &Value) -> Vec<Vec<Value>> {
        let rows = (self.rows)(capture);
        let values = |row: Row<'_>| {
            self.columns
                .iter()
                .map(|column| column.value(row))
                .collect()
        };
        rows.into_iter().map(values).collect()
    }
}

impl Column {
    fn value(&self, row: Row<'_>) -> Value {
        match self.from {
            "#" => return row.index.into(),
            "##" => return row.rank.into(),
            _ => {}
        }
        let (object, path) = match self.from.split_once('/') {
            Some(("..", rest)) => (Some(row.capture), rest),
            Some(("@", rest)) => (row.connection, rest),
            _ => (Some(row.object), self.from),
        };
        let found = object.and_then(|object| object.pointer(&format!("/{path}")));
        let found = found.or_else(|| self.single(object, path));
        found
            .filter(|value| self.fits(value))
            .cloned()
            .unwrap_or(Value::Null)
    }

    /// A predicted time without a range has one element, which is both ends.
    fn single<'a>(&self, object: Option<&'a Value>, path: &str) -> Option<&'a Value> {
        let list = object?.pointer(&format!(
            "/{}",
            path.strip_suffix("predicted_s/1")?.to_owned() + "predicted_s"
        ))?;
        list.as_array()?.first()
    }

    fn fits(&self, value: &Value) -> bool {
        match self.kind {
            Text => value.is_string(),
            Whole => value.is_i64() || value.is_u64(),
            Number => value.is_number(),
            Flag => value.is_boolean(),
        }
    }
}

fn list<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    let found = object.get(key).and_then(Value::as_array);
    found.map(Vec::as_slice).unwrap_or_default()
}

fn copies(capture: &Value) -> Vec<Row<'_>> {
    let connections = list(capture, "connections");
    let copies = list(capture, "copies").iter().enumerate();
    copies
        .map(|(index, object)| {
            let number = object.get("connection").and_then(Value::as_u64);
            let number = number.and_then(|number| usize::try_from(number).ok());
            Row {
                object,
                copy: Some(object),
                capture,
                connection: number.and_then(|number| connections.get(number)),
                index,
                rank: 0,
            }
        })
        .collect()
}

fn of_copies<'a>(capture: &'a Value, key: &str) -> Vec<Row<'a>> {
    let copies = copies(capture).into_iter();
    copies
        .flat_map(|row| {
            let objects = row.copy.map_or(&[][..], |copy| list(copy, key));
            let objects = objects.iter().enumerate();
            objects.map(move |(rank, object)| Row {
                object,
                rank,
                ..row
            })
        })
        .collect()
}

fn causes(capture: &Value) -> Vec<Row<'_>> {
    of_copies(capture, "causes")
}

fn advice(capture: &Value) -> Vec<Row<'_>> {
    of_copies(capture, "advice")
}

fn connections(capture: &Value) -> Vec<Row<'_>> {
    let connections = list(capture, "connections").iter().enumerate();
    connections
        .map(|(index, object)| Row {
            object,
            copy: None,
            capture,
            connection: Some(object),
            index,
            rank: 0,
        })
        .collect()
}
