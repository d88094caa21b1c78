//! The lines of S2's verification: `{"event":{"Start":{"Append":{…}}},"client_id":1,"op_id":7}` and
//! `{"event":{"Finish":{"AppendSuccess":{"tail":3}}},"client_id":1,"op_id":7}`, in the order in
//! which they happened. The specification is `s2-stream`.
//!
//! An append of which it is not known whether it took place has ended all the same: the recorder
//! waits until it cannot take place any more.

use super::json_lines::{JsonLines, foreign};
use crate::error::IngestError;
use crate::record::{Recorder, malformed};
use rustc_hash::FxHashMap;
use serde_json::{Value as Json, json};

/// Takes such lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct S2 {
    objects: JsonLines,
    /// Operations in progress, by their number.
    open: FxHashMap<u64, Open>,
    /// Which processes of a client have an operation in progress.
    busy: FxHashMap<u64, Vec<bool>>,
}

#[derive(Clone, Debug)]
struct Open {
    client: u64,
    lane: usize,
    f: &'static str,
}

impl Open {
    /// The process: the client, or a further one of it where it does several things at once.
    fn process(&self) -> Json {
        match self.lane {
            0 => json!(self.client),
            lane => json!(format!("{}.{lane}", self.client)),
        }
    }
}

impl S2 {
    pub fn line(
        &mut self,
        number: u64,
        line: &[u8],
        recorder: &mut Recorder,
    ) -> Result<(), IngestError> {
        let Some(json) = foreign(number, line, recorder)? else { return Ok(()) };
        let wrong = |expected: &str| malformed(number, expected, &crate::excerpt(line));
        let (Some(client), Some(id)) = (json["client_id"].as_u64(), json["op_id"].as_u64()) else {
            return Err(wrong("a `client_id` and an `op_id`"));
        };
        let event = match (json["event"].get("Start"), json["event"].get("Finish")) {
            (Some(start), None) => {
                let (f, argument) = start_of(start)
                    .ok_or_else(|| wrong("a start of `Append`, `Read` or `CheckTail`"))?;
                if self.open.contains_key(&id) {
                    return Err(wrong("an `op_id` that is not in progress"));
                }
                let open = Open { client, lane: self.free_lane(client), f };
                let event = json!({
                    "process": open.process(), "type": "invoke", "f": f, "value": argument,
                });
                self.open.insert(id, open);
                event
            }
            (None, Some(finish)) => {
                let open = self.open.remove(&id).filter(|open| open.client == client);
                let open = open.ok_or_else(|| wrong("the `op_id` of what this client started"))?;
                let (kind, answer) = finish_of(finish, open.f).ok_or_else(|| {
                    wrong(&format!("a finish that a started `{}` can have", open.f))
                })?;
                if let Some(lane) =
                    self.busy.get_mut(&client).and_then(|all| all.get_mut(open.lane))
                {
                    *lane = false;
                }
                json!({ "process": open.process(), "type": kind, "f": open.f, "value": answer })
            }
            _ => return Err(wrong("an `event` that is a `Start` or a `Finish`")),
        };
        self.objects.object(number, &event, recorder)
    }

    /// A process of a client that is free.
    fn free_lane(&mut self, client: u64) -> usize {
        let busy = self.busy.entry(client).or_default();
        let lane = busy.iter().position(|busy| !busy).unwrap_or(busy.len());
        match busy.get_mut(lane) {
            Some(slot) => *slot = true,
            None => busy.push(true),
        }
        lane
    }
}

fn start_of(start: &Json) -> Option<(&'static str, Json)> {
    match start.as_str() {
        Some("Read") => return Some(("read", Json::Null)),
        Some("CheckTail") => return Some(("check-tail", Json::Null)),
        Some(_) => return None,
        None => {}
    }
    let append = start.get("Append")?;
    let records = append["num_records"].as_i64()?;
    let (new, token) = (&append["set_fencing_token"], &append["fencing_token"]);
    Some(("append", json!([records, new, token, append["match_seq_num"]])))
}

/// The type and the value of what ended an operation. Older recorders do not repeat which it was.
fn finish_of(finish: &Json, f: &str) -> Option<(&'static str, Json)> {
    let name = match f {
        "append" => "Append",
        "read" => "Read",
        _ => "CheckTail",
    };
    if let Some(word) = finish.as_str() {
        let word = word.strip_prefix(name).unwrap_or(word);
        return match (f, word) {
            ("append", "IndefiniteFailure") => Some(("ok", Json::Null)),
            (_, "DefiniteFailure" | "Failure") => Some(("fail", Json::Null)),
            _ => None,
        };
    }
    let success = finish.get("Success").or_else(|| finish.get(format!("{name}Success")))?;
    success["tail"].as_i64().map(|tail| ("ok", json!(tail)))
}
