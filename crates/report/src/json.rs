//! The JSON that scripts rely on.

use linchpin_spec::Value;
use serde_json::{Map, Value as Json, json};

/// The name and version of the format.
pub const SCHEMA: &str = "linchpin/1";

/// The beginning of every object: which command, about what.
pub fn envelope(command: &str, subject: &str) -> Map<String, Json> {
    let mut object = Map::new();
    object.insert("schema".to_owned(), json!(SCHEMA));
    object.insert("command".to_owned(), json!(command));
    object.insert("subject".to_owned(), json!(subject));
    object
}

/// A value of a history.
pub fn value(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(b) => json!(b),
        Value::Int(i) => json!(i),
        // What is no number of JSON does not get here: `Number` writes them as JSON does.
        Value::Number(number) => {
            number.as_str().parse().map_or_else(|_| json!(number.as_str()), Json::Number)
        }
        Value::Str(text) => json!(&**text),
        Value::List(items) => items.iter().map(self::value).collect(),
        Value::Set(items) => items.iter().map(self::value).collect(),
        Value::Map(pairs) => pairs
            .iter()
            .map(|(key, item)| match key {
                Value::Str(key) => (key.to_string(), self::value(item)),
                key => (key.to_string(), self::value(item)),
            })
            .collect(),
        // References never leave the interpreter; if one does, show it rather than lose it.
        Value::Ref(_) => json!(value.to_string()),
    }
}

/// A value from JSON; `None` if a number is not an integer.
pub fn parse_value(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => Value::Null,
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(number) => Value::number(&number.to_string())?,
        Json::String(text) => Value::str(text),
        Json::Array(items) => {
            Value::list(items.iter().map(parse_value).collect::<Option<Vec<_>>>()?)
        }
        Json::Object(pairs) => {
            let pair = |(key, item): (&String, &Json)| Some((Value::str(key), parse_value(item)?));
            Value::map(pairs.iter().map(pair).collect::<Option<Vec<_>>>()?)
        }
    })
}
