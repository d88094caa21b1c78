//! `after`: which operations happen before which, where a recording says so itself.
//!
//! ```json
//! {"process":"a","type":"invoke","f":"enqueue","value":1,"op":"x"}
//! {"process":"b","type":"invoke","f":"dequeue","after":["x"]}
//! ```
//!
//! Once one call has `after`, precedence is the order of each process and what all `after`s say,
//! and what follows from these. The order of lines says nothing about different processes.

use crate::error::IngestError;
use crate::record::{Recorder, malformed};
use linchpin_history::{History, PartialError, Precedence};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json};

/// What is written in a text that may have an `after`.
pub(crate) const WRITTEN: &[u8] = br#""after""#;

/// What the calls so far say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Happens {
    /// Whether times are to order events, too.
    by_time: bool,
    /// The calls, as many as there are operations.
    calls: Vec<Call>,
    /// The first line with an `after`.
    first: Option<u64>,
}

#[derive(Clone, Debug)]
struct Call {
    line: u64,
    name: Option<String>,
    after: Vec<String>,
}

/// The value of `after`, unless the event has none.
pub(crate) fn after(object: &Map<String, Json>) -> Option<&Json> {
    object.get("after").filter(|after| !after.is_null())
}

impl Happens {
    pub fn new(by_time: bool) -> Happens {
        Happens { by_time, ..Happens::default() }
    }

    /// Notes what an event says that has just been recorded.
    pub fn note(
        &mut self,
        line: u64,
        event: &Map<String, Json>,
        recorder: &Recorder,
    ) -> Result<(), IngestError> {
        let after = after(event);
        if after.is_some() && self.by_time {
            return Err(IngestError::AfterAndTime { line });
        }
        let is_call = recorder.builder.history().operations.len() > self.calls.len();
        let after = match after {
            None => Vec::new(),
            Some(Json::Array(names)) if is_call => {
                self.first.get_or_insert(line);
                let named = |json| name(json).ok_or_else(|| not_a_name(line, json));
                names.iter().map(named).collect::<Result<_, _>>()?
            }
            Some(other) if is_call => {
                let expected = "an `after` that is a list of operations";
                return Err(malformed(line, expected, &shown(other)));
            }
            Some(_) => return Err(malformed(line, "`after` at a call", "it elsewhere")),
        };
        if is_call {
            let name = match event.get("op").filter(|name| !name.is_null()) {
                Some(json) => Some(name(json).ok_or_else(|| not_a_name(line, json))?),
                None => None,
            };
            self.calls.push(Call { line, name, after });
        }
        Ok(())
    }

    /// The order, if there was an `after`. Operations that did not happen still order others.
    pub fn precedence(&self, history: &History) -> Result<Option<Precedence>, IngestError> {
        let Some(first) = self.first else { return Ok(None) };
        if !history.crashes.is_empty() {
            return Err(IngestError::AfterAndCrash { line: first });
        }
        let before = self.before(history)?;
        let operations = &history.operations;
        let kept = operations.iter().filter(|operation| !operation.has_failed()).count();
        if kept > Precedence::MOST {
            return Err(PartialError::TooMany(kept).into());
        }
        let mut bits: Vec<Option<u32>> = Vec::with_capacity(operations.len());
        let mut next = 0..;
        bits.extend(operations.iter().map(|it| if it.has_failed() { None } else { next.next() }));
        let masks = self.masks(&before, &bits)?;
        Ok(Some(Precedence::new(&masks)?))
    }

    /// What each operation comes right after.
    fn before(&self, history: &History) -> Result<Vec<Vec<usize>>, IngestError> {
        let mut names: FxHashMap<&str, usize> = FxHashMap::default();
        for (at, call) in self.calls.iter().enumerate() {
            if let Some(name) = &call.name
                && let Some(other) = names.insert(name, at)
            {
                let (op, line, since) = (name.clone(), call.line, self.calls[other].line);
                return Err(IngestError::SameOp { line, op, since });
            }
        }
        let mut last: FxHashMap<u32, usize> = FxHashMap::default();
        let calls = self.calls.iter().zip(&history.operations).enumerate();
        calls
            .map(|(at, (call, operation))| {
                let mut before: Vec<usize> =
                    last.insert(operation.process, at).into_iter().collect();
                for name in &call.after {
                    let first = names.get(name.as_str()).ok_or_else(|| IngestError::UnknownOp {
                        line: call.line,
                        op: name.clone(),
                    })?;
                    before.push(*first);
                }
                Ok(before)
            })
            .collect()
    }

    /// Everything that precedes each operation that happened, a bit for each.
    fn masks(&self, before: &[Vec<usize>], bits: &[Option<u32>]) -> Result<Vec<u64>, IngestError> {
        let mut waits: Vec<usize> = before.iter().map(Vec::len).collect();
        let mut after: Vec<Vec<usize>> = vec![Vec::new(); before.len()];
        for (second, firsts) in before.iter().enumerate() {
            firsts.iter().for_each(|first| after[*first].push(second));
        }
        let mut ready: Vec<usize> = (0..before.len()).filter(|at| waits[*at] == 0).collect();
        let mut masks = vec![0_u64; before.len()];
        let mut done = 0;
        while let Some(first) = ready.pop() {
            done += 1;
            let mask = masks[first] | bits[first].map_or(0, |bit| 1 << bit);
            for second in &after[first] {
                masks[*second] |= mask;
                waits[*second] -= 1;
                if waits[*second] == 0 {
                    ready.push(*second);
                }
            }
        }
        if done < before.len() {
            let stuck = waits.iter().zip(&self.calls).find(|(waits, _)| **waits > 0);
            let line = stuck.map_or(0, |(_, call)| call.line);
            return Err(IngestError::Circle { line });
        }
        let kept = masks.into_iter().zip(bits).filter(|(_, bit)| bit.is_some());
        Ok(kept.map(|(mask, _)| mask).collect())
    }
}

/// The name of an operation: a string or an integer. The number 3 and the name `3` are the same.
fn name(json: &Json) -> Option<String> {
    match json {
        Json::String(name) => Some(name.clone()),
        Json::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    }
}

fn not_a_name(line: u64, found: &Json) -> IngestError {
    malformed(line, "an operation that is named by a number or a string", &shown(found))
}

/// As much of a value as fits a message.
fn shown(json: &Json) -> String {
    const MOST: usize = 80;
    let text = json.to_string();
    match text.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}
