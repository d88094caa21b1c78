//! Values for people: what is long is cut short, and says how long it is.

use crate::Value;

/// Values of at most so many characters are written as they are.
const SHORT: usize = 80;

/// Of longer ones about so many characters are shown.
const SHOWN: usize = 48;

impl Value {
    /// The value, as [`Display`](std::fmt::Display) writes it; of a long list, set or map the first
    /// values and how many there are, of a long string the beginning. For people: not to be read
    /// back.
    ///
    /// ```
    /// use linchpin_spec::Value;
    ///
    /// let members = Value::list((0..5000).map(Value::Int));
    /// assert_eq!(members.brief(), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, … (5000 values)]");
    /// assert_eq!(Value::Int(7).brief(), "7");
    /// ```
    pub fn brief(&self) -> String {
        brief(self, SHOWN)
    }
}

fn brief(value: &Value, shown: usize) -> String {
    // To write all of a large value in order to find out that it is long would take long.
    if parts(value, SHORT) <= SHORT {
        let whole = value.to_string();
        if whole.chars().count() <= SHORT {
            return whole;
        }
    }
    match value {
        Value::Str(text) => {
            let beginning: String = text.chars().take(shown).collect();
            let beginning = Value::str(&beginning).to_string();
            let beginning = beginning.strip_suffix('"').unwrap_or(&beginning);
            format!("{beginning}…\" ({} characters)", text.chars().count())
        }
        Value::List(items) => {
            cut("[", "]", items.len(), items.iter().map(|item| one(item, shown)), shown)
        }
        Value::Set(items) => {
            cut("{", "}", items.len(), items.iter().map(|item| one(item, shown)), shown)
        }
        Value::Map(pairs) => {
            let pair = |(key, value): (&Value, &Value)| {
                format!("{}: {}", one(key, shown), one(value, shown))
            };
            cut("{", "}", pairs.len(), pairs.iter().map(pair), shown)
        }
        value => value.to_string(),
    }
}

/// A value within another one.
fn one(value: &Value, shown: usize) -> String {
    brief(value, (shown / 2).max(1))
}

/// As many of so many parts as there is room for.
fn cut(
    open: &str,
    close: &str,
    count: usize,
    parts: impl Iterator<Item = String>,
    shown: usize,
) -> String {
    let (mut text, mut length) = (open.to_owned(), 0);
    for (at, part) in parts.enumerate() {
        if at > 0 {
            text += ", ";
        }
        if length > shown {
            return format!("{text}… ({count} values){close}");
        }
        length += part.chars().count() + 2;
        text += &part;
    }
    text + close
}

/// At least how many characters a value has, counted up to about so many.
fn parts(value: &Value, most: usize) -> usize {
    let add = |sum: usize, item: &Value| if sum > most { sum } else { sum + parts(item, most) };
    match value {
        Value::Str(text) => text.len().min(most + 1),
        Value::List(items) if items.len() <= most => items.iter().fold(1, add),
        Value::Set(items) if items.len() <= most => items.iter().fold(1, add),
        Value::Map(pairs) if pairs.len() <= most => {
            pairs.iter().fold(1, |sum, (key, value)| add(add(sum, key), value))
        }
        Value::List(_) | Value::Set(_) | Value::Map(_) => most + 1,
        _ => 1,
    }
}
