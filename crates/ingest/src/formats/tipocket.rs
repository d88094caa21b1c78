//! TiPocket's `history.log`: `{"action":"call","proc":1,"time":"…","data":{…}}`, one event a line.
//!
//! What `data` holds is up to each of its test cases. Those of `rawkv-linearizability` are read: a
//! request `{"Op":0,"Key":3,"Val":0}` gets, puts (1) or deletes (2) a key, and a response
//! `{"Val":7,"Unknown":false}` answers it. Each key is a register, in which 0 is `null`.

use super::json_lines::{JsonLines, foreign};
use crate::error::IngestError;
use crate::record::{Recorder, malformed};
use serde_json::{Value as Json, json};

/// Takes such lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tipocket {
    objects: JsonLines,
    /// What each process has called.
    open: rustc_hash::FxHashMap<i64, (&'static str, Json)>,
}

impl Tipocket {
    pub fn line(
        &mut self,
        number: u64,
        line: &[u8],
        recorder: &mut Recorder,
    ) -> Result<(), IngestError> {
        let Some(json) = foreign(number, line, recorder)? else { return Ok(()) };
        let wrong = |expected: &str| malformed(number, expected, &crate::excerpt(line));
        let other_case = || IngestError::TipocketCase { line: number, found: crate::excerpt(line) };
        let (action, data) = (json["action"].as_str().unwrap_or_default(), &json["data"]);
        let process = json["proc"].as_i64().ok_or_else(|| wrong("a number `proc`"))?;
        match action {
            // Faults are injected by no process.
            _ if process < 0 => {
                let event = json!({
                    "process": "nemesis", "type": "info", "f": action, "value": data,
                });
                self.objects.object(number, &event, recorder)
            }
            "call" => {
                let (f, key, value) = request(data).ok_or_else(other_case)?;
                self.open.insert(process, (f, key.clone()));
                let event = json!({
                    "process": process, "type": "invoke", "f": f, "key": key, "value": value,
                });
                self.objects.object(number, &event, recorder)
            }
            "return" => {
                let open = self.open.remove(&process);
                let (f, key) = open.ok_or_else(|| wrong("a `call` of this `proc` before"))?;
                let event = if data.is_null() || data["Unknown"] == json!(true) {
                    json!({ "process": process, "type": "info", "f": f })
                } else {
                    let value = data["Val"].as_i64().ok_or_else(other_case)?;
                    json!({
                        "process": process, "type": "ok", "f": f, "key": key,
                        "value": value_of(value),
                    })
                };
                self.objects.object(number, &event, recorder)
            }
            "dump" => self.state(number, data, recorder).unwrap_or_else(|| Err(other_case())),
            _ => Err(wrong("an `action` that is `call`, `return` or `dump`")),
        }
    }

    /// The state at the start: it is as if each key were written before.
    fn state(
        &mut self,
        number: u64,
        data: &Json,
        recorder: &mut Recorder,
    ) -> Option<Result<(), IngestError>> {
        if data.is_null() {
            return Some(Ok(()));
        }
        for pair in data.as_array()? {
            let (key, value) = (pair["K"].as_i64()?, value_of(pair["V"].as_i64()?));
            for kind in ["invoke", "ok"] {
                let event = json!({
                    "process": "dump", "type": kind, "f": "write", "key": key, "value": value,
                });
                if let Err(error) = self.objects.object(number, &event, recorder) {
                    return Some(Err(error));
                }
            }
        }
        Some(Ok(()))
    }
}

fn request(data: &Json) -> Option<(&'static str, Json, Json)> {
    let (key, value) = (data["Key"].as_i64()?, data["Val"].as_i64()?);
    Some(match data["Op"].as_i64()? {
        0 => ("read", json!(key), Json::Null),
        1 => ("write", json!(key), value_of(value)),
        2 => ("write", json!(key), Json::Null),
        _ => return None,
    })
}

/// A key that holds nothing reads as 0.
fn value_of(value: i64) -> Json {
    match value {
        0 => Json::Null,
        value => json!(value),
    }
}
