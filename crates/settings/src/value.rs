//! A line's value as a value of a scenario.

use crate::table::Setting;

/// The scenario's value, or why the line's is not possible.
pub(crate) fn of(setting: &Setting, text: &str) -> Result<Option<toml::Value>, String> {
    if !setting.map.is_empty() {
        let word = text.trim().to_lowercase();
        let known = || setting.map.keys().cloned().collect::<Vec<_>>().join(", ");
        return match setting.map.get(&word) {
            Some(value) => Ok(Some(value.clone())),
            None => Err(format!("'{text}' is none of {}", known())),
        };
    }
    let Some(unit) = &setting.number else {
        return Ok(None);
    };
    let number =
        number(setting, text).ok_or_else(|| format!("'{text}' is not a number of {unit}"))?;
    let (least, most) = (
        setting.least.unwrap_or(0),
        setting.most.unwrap_or(i64::from(u32::MAX)),
    );
    if !(least..=most).contains(&number) {
        return Err(format!("{number} is not between {least} and {most} {unit}"));
    }
    let scaled = number.saturating_mul(setting.factor) / setting.divisor.max(1);
    let scaled = scaled.saturating_add(setting.offset);
    Ok(Some(match &setting.text {
        Some(text) => toml::Value::String(text.replace("{}", &scaled.to_string())),
        None => toml::Value::Integer(scaled),
    }))
}

fn number(setting: &Setting, text: &str) -> Option<i64> {
    let word = match setting.field {
        0 => text.trim(),
        field => text.split_whitespace().nth(field.saturating_sub(1))?,
    };
    match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => word.parse().ok(),
    }
}
