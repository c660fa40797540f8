//! Measurements in the JSON of `coax bench`, `coax explain` and `coax speed`.

use anyhow::{Result, bail};
use coax_catalog::clients;
use serde_json::Value;

use super::contents::{Input, put};
use crate::measured::{Kind, Measured, Setting};

/// Adds the file.
pub(super) fn read(input: &mut Input, text: &str) -> Result<()> {
    let file = &serde_json::from_str(text)?;
    if let Some(rows) = at(file, "/rows").as_array() {
        bench(input, file, rows)
    } else if let Some(captures) = at(file, "/captures").as_array() {
        for capture in captures {
            explain(input, capture)?;
        }
        Ok(())
    } else if at(file, "/role").is_string() {
        speed(input, file)
    } else {
        bail!(
            "this is not the JSON of coax bench (rows), coax explain (captures) or coax speed (role)"
        )
    }
}

const WAYS: [(&str, &str); 2] = [("to-client", "to_client"), ("to-server", "to_server")];

/// The value at a path (RFC 6901), or null.
fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    value.pointer(path).unwrap_or(&Value::Null)
}

/// One copy for each profile and direction, and raw TCP if it was measured.
fn bench(input: &mut Input, file: &Value, rows: &[Value]) -> Result<()> {
    let Some(size) = at(file, "/size").as_u64().filter(|size| *size > 0) else {
        bail!("the JSON of coax bench has no size");
    };
    let runs = at(file, "/runs").as_f64().unwrap_or(1.0).max(1.0);
    for row in rows {
        let profile = at(row, "/profile").as_str().unwrap_or_default();
        for (direction, key) in WAYS {
            let Some(seconds) = at(row, &format!("/{key}/median_s")).as_f64() else {
                continue;
            };
            let mut setting = copy(format!("bench {profile} {direction}"), direction, size);
            put(&mut setting.changes, "client.profile", profile.into());
            // the range of n values is about 1.7 to 3 deviations for 3 to 10 of them
            let range = at(row, &format!("/{key}/max_s"))
                .as_f64()
                .zip(at(row, &format!("/{key}/min_s")).as_f64());
            let spread =
                range.map(|(most, least)| ((most - least) / seconds / 2.0 / runs.sqrt()).min(0.9));
            input
                .measured
                .push(Measured::new(setting, &[seconds], spread)?);
        }
    }
    for (direction, key) in WAYS {
        if let Some(rate) = at(file, &format!("/ceiling/{key}_bytes_per_s"))
            .as_f64()
            .filter(|rate| *rate > 0.0)
        {
            let bytes = at(file, &format!("/ceiling/{key}/bytes"))
                .as_u64()
                .unwrap_or(4 << 20)
                .max(1);
            let mut setting = copy(format!("raw TCP {direction}"), direction, bytes);
            setting.kind = Kind::Stream;
            input
                .measured
                .push(Measured::new(setting, &[bytes as f64 / rate], None)?);
        }
    }
    Ok(())
}

fn speed(input: &mut Input, file: &Value) -> Result<()> {
    let direction = match at(file, "/role").as_str() {
        Some("send") => "to-server",
        Some("receive") => "to-client",
        _ => bail!("role is neither send nor receive"),
    };
    let (Some(bytes), Some(seconds)) = (
        at(file, "/bytes").as_u64().filter(|bytes| *bytes > 0),
        at(file, "/seconds").as_f64(),
    ) else {
        bail!("the JSON of coax speed has no bytes or no seconds");
    };
    let mut setting = copy(format!("raw TCP {direction}"), direction, bytes);
    setting.kind = Kind::Stream;
    input
        .measured
        .push(Measured::new(setting, &[seconds], None)?);
    Ok(())
}

/// The whole copies of a capture.
fn explain(input: &mut Input, capture: &Value) -> Result<()> {
    let connections = at(capture, "/connections").as_array();
    for found in at(capture, "/copies").as_array().into_iter().flatten() {
        let name = at(found, "/name").as_str().unwrap_or("?");
        let (Some(bytes), Some(seconds), Some(direction)) = (
            at(found, "/bytes").as_u64(),
            at(found, "/wall_s").as_f64(),
            at(found, "/direction").as_str(),
        ) else {
            input
                .left_out
                .push(format!("{name}: no size, time or direction"));
            continue;
        };
        let is_whole = at(found, "/open_seen") != &Value::Bool(false)
            && at(found, "/file_bytes")
                .as_u64()
                .is_none_or(|whole| whole <= bytes);
        if bytes < 4096 || seconds <= 0.0 || !is_whole {
            input
                .left_out
                .push(format!("{name}: not a whole copy of 4,096 bytes or more"));
            continue;
        }
        let mut setting = copy(format!("{name} {direction}"), direction, bytes);
        let connection = at(found, "/connection")
            .as_u64()
            .and_then(|index| connections?.get(usize::try_from(index).ok()?));
        if let Some(connection) = connection {
            known(&mut setting, connection);
        }
        input
            .measured
            .push(Measured::new(setting, &[seconds], None)?);
    }
    Ok(())
}

/// What a capture shows of the connection: the client, segments and windows.
fn known(setting: &mut Setting, connection: &Value) {
    if let Some(profile) = at(connection, "/client_is/profile")
        .as_str()
        .filter(|name| clients::by_name(name).is_some())
    {
        setting.client = Some(profile.to_owned());
    }
    let is_seen = at(connection, "/start_seen") == &Value::Bool(true);
    for (side, from) in [("client", "from_client"), ("server", "from_server")]
        .into_iter()
        .filter(|_| is_seen)
    {
        let mss = at(connection, &format!("/{from}/mss"))
            .as_i64()
            .filter(|mss| (64..=9000).contains(mss));
        let window = at(connection, &format!("/{from}/max_window_bytes"))
            .as_i64()
            .filter(|window| (512..=1 << 24).contains(window));
        for (key, value) in [("mss", mss), ("receive_window", window)] {
            if let Some(value) = value {
                put(
                    &mut setting.changes,
                    &format!("{side}.stack.{key}"),
                    value.into(),
                );
            }
        }
    }
}

fn copy(name: String, direction: &str, bytes: u64) -> Setting {
    let mut changes = toml::Table::new();
    changes.insert("direction".to_owned(), direction.into());
    changes.insert(
        "size".to_owned(),
        i64::try_from(bytes).unwrap_or(i64::MAX).into(),
    );
    Setting {
        name,
        kind: Kind::Copy,
        client: None,
        changes,
    }
}
