//! Just enough JSON: values are written as JSON lines, and what we wrote is read back.

use linchpin_spec::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A value as JSON. A map with keys that are no strings is a list of pairs.
pub fn write(value: &Value) -> String {
    match value {
        Value::List(items) => listed(items.iter().map(write)),
        Value::Set(items) => listed(items.iter().map(write)),
        Value::Map(pairs) if pairs.keys().all(|key| matches!(key, Value::Str(_))) => {
            let pairs = pairs.iter().map(|(key, value)| format!("{key}:{}", write(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
        }
        Value::Map(pairs) => {
            listed(pairs.iter().map(|(key, value)| listed([write(key), write(value)])))
        }
        other => other.to_string(),
    }
}

fn listed(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

/// The value that a text of JSON says; nothing if it is none.
pub fn read(text: &str) -> Option<Value> {
    let mut reader = Reader { rest: text, depth: 0 };
    let value = reader.value()?;
    reader.space();
    reader.rest.is_empty().then_some(value)
}

/// Lists in lists are read so deep.
const DEEPEST: usize = 64;

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl Reader<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn takes(&mut self, token: &str) -> bool {
        self.space();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self) -> Option<Value> {
        self.space();
        match self.rest.chars().next()? {
            '"' => self.string().map(|text| Value::str(&text)),
            '[' => self.nested(Reader::list),
            '{' => self.nested(Reader::map),
            _ if self.takes("null") => Some(Value::Null),
            _ if self.takes("true") => Some(Value::Bool(true)),
            _ if self.takes("false") => Some(Value::Bool(false)),
            _ => self.number(),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Option<Value>) -> Option<Value> {
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn list(&mut self) -> Option<Value> {
        let mut items = Vec::new();
        if !self.takes("[") || self.takes("]") {
            return Some(Value::list(items));
        }
        loop {
            items.push(self.value()?);
            if !self.takes(",") {
                return self.takes("]").then(|| Value::list(items));
            }
        }
    }

    fn map(&mut self) -> Option<Value> {
        let mut pairs = BTreeMap::new();
        if !self.takes("{") || self.takes("}") {
            return Some(Value::Map(Arc::new(pairs)));
        }
        loop {
            self.space();
            let key = Value::str(&self.string()?);
            let value = if self.takes(":") { self.value()? } else { return None };
            pairs.insert(key, value);
            if !self.takes(",") {
                return self.takes("}").then(|| Value::Map(Arc::new(pairs)));
            }
        }
    }

    fn number(&mut self) -> Option<Value> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        Value::number(number)
    }

    fn string(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut chars = self.rest.strip_prefix('"')?.chars();
        loop {
            match chars.next()? {
                '"' => break,
                '\\' => match chars.next()? {
                    'n' => text.push('\n'),
                    'r' => text.push('\r'),
                    't' => text.push('\t'),
                    'u' => {
                        let code: String = chars.by_ref().take(4).collect();
                        text.push(char::from_u32(u32::from_str_radix(&code, 16).ok()?)?);
                    }
                    other => text.push(other),
                },
                other => text.push(other),
            }
        }
        self.rest = chars.as_str();
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let text = r#"{"a":[1,-2,null,true,"x\n\"\u0001"],"b":{},"c":[],"d":18446744073709551615}"#;
        assert_eq!(read(text).map(|value| write(&value)).as_deref(), Some(text));
    }

    #[test]
    fn what_is_no_json_is_nothing() {
        for text in ["", "[1", "[1,]", "{\"a\"}", "{\"a\":1", "\"x", "1 2", "\"\\u12\"", "nul"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read(&"[".repeat(10_000)), None);
    }

    #[test]
    fn maps_with_other_keys_are_pairs() {
        let map = Value::map([(Value::Int(1), Value::Bool(false))]);
        assert_eq!(write(&map), "[[1,false]]");
    }
}
