//! What arguments of several commands are read from: threads, calls, times, sizes.

use linchpin_lang::Threads;
use linchpin_space::{Calls, Values};
use linchpin_spec::Value;
use std::time::Duration;

pub fn threads(text: &str) -> Result<Threads, String> {
    let number = |text: &str| match text.parse::<usize>() {
        Ok(n) if n <= 256 => Ok(n),
        Ok(_) => Err("at most 256 threads".to_owned()),
        Err(_) => Err(format!("`{text}` is not a number of threads")),
    };
    if !text.contains('=') {
        return number(text).map(Threads::Count);
    }
    let role = |part: &str| match part.split_once('=') {
        Some((role, count)) => Ok((role.trim().to_owned(), number(count.trim())?)),
        None => Err(format!("`{part}` is not `role=number`")),
    };
    text.split(',').map(role).collect::<Result<_, _>>().map(Threads::PerRole)
}

pub fn calls(text: &str) -> Result<Calls, String> {
    match text {
        "unlimited" => Ok(Calls::Unlimited),
        number => match number.parse() {
            Ok(calls @ 1..=1000) => Ok(Calls::Each(calls)),
            _ => Err(format!("`{number}` is neither a number from 1 to 1000 nor `unlimited`")),
        },
    }
}

pub fn any_or_values(text: &str) -> Result<Values, String> {
    match text {
        "any" => Ok(Values::Any),
        number => match number.parse() {
            Ok(last @ 1..=255) => Ok(Values::UpTo(last)),
            _ => Err(format!("`{number}` is neither a number from 1 to 255 nor `any`")),
        },
    }
}

pub fn setting(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, such as K=4")?;
    let value = match value {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        number => match number.parse() {
            Ok(number) => Value::Int(number),
            Err(_) => return Err(format!("`{number}` is neither a number nor `true` or `false`")),
        },
    };
    Ok((name.to_owned(), value))
}

pub fn duration(text: &str) -> Result<Duration, String> {
    let (digits, unit) = split_unit(text);
    let number: f64 = digits.parse().map_err(|_| format!("`{text}` is not a time"))?;
    let seconds = match unit {
        "" | "s" => number,
        "ms" => number / 1000.0,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(format!("`{unit}` is not a unit of time: use ms, s, m or h")),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("`{text}` is not a time"))
}

pub fn size(text: &str) -> Result<u64, String> {
    let (digits, unit) = split_unit(text);
    let number: f64 = digits.parse().map_err(|_| format!("`{text}` is not a size"))?;
    let shift = match unit.trim_end_matches('B').trim_end_matches('i') {
        "" => 0,
        "K" | "k" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(format!("`{unit}` is not a unit of memory: use K, M or G")),
    };
    let bytes = number * (1u64 << shift) as f64;
    match bytes.is_finite() && bytes >= 1.0 {
        true => Ok(bytes as u64),
        false => Err(format!("`{text}` is not a size")),
    }
}

fn split_unit(text: &str) -> (&str, &str) {
    let at = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    text.split_at(at)
}
