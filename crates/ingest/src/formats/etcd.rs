//! The `operations.json` of etcd's robustness tests: a JSON object for each operation that a client
//! made, with its request, its response, and when it was called and returned.
//!
//! Objects come one after the other, and those of several clients belong to one history: the order
//! of events is that of their times, in which a call comes before a return at the same time, so
//! that the operations overlap. An operation with an error may have taken effect or not. What the
//! requests mean is said by the specification `etcd`.

use super::json_lines::{JsonLines, syntax};
use crate::error::IngestError;
use crate::record::{Recorder, malformed};
use serde_json::{Deserializer, Value as Json, json};

/// The operations that were read.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    operations: Vec<Operation>,
}

#[derive(Debug)]
struct Operation {
    line: u64,
    client: i64,
    call: i64,
    f: &'static str,
    argument: Json,
    /// When it returned, and what; nothing if that is not known.
    answer: Option<(i64, Json)>,
}

impl Operations {
    /// Takes the operations in a text.
    pub fn read(&mut self, text: &[u8]) -> Result<(), IngestError> {
        let (mut line, mut at) = (1, 0);
        loop {
            let blank = text[at..].len() - text[at..].trim_ascii_start().len();
            line += lines(&text[at..at + blank]);
            at += blank;
            if at == text.len() {
                return Ok(());
            }
            let mut values = Deserializer::from_slice(&text[at..]).into_iter::<Json>();
            let json = match values.next() {
                Some(Ok(json)) => json,
                Some(Err(error)) => return Err(syntax(&error, &text[at..], line, 0)),
                None => return Ok(()),
            };
            let end = at + values.byte_offset();
            self.operations.push(Object { json: &json, line }.operation()?);
            line += lines(&text[at..end]);
            at = end;
        }
    }

    /// Records all of them, in the order of their times.
    pub fn record(mut self, recorder: &mut Recorder) -> Result<(), IngestError> {
        recorder.without_pairs();
        recorder.keeps_events = false;
        self.operations.sort_by_key(|operation| operation.call);
        let processes = processes(&self.operations);
        let mut events: Vec<(i64, bool, usize)> = Vec::new();
        for (at, operation) in self.operations.iter().enumerate() {
            events.push((operation.call, false, at));
            if let Some((returned, _)) = operation.answer {
                events.push((returned, true, at));
            }
        }
        events.sort_unstable();
        let mut objects = JsonLines::default();
        for (time, is_return, at) in events {
            let Operation { line, f, argument, answer, .. } = &self.operations[at];
            let event = |kind: &str, value: &Json| {
                json!({
                    "process": processes[at], "type": kind, "f": f, "value": value, "time": time,
                })
            };
            match (is_return, answer) {
                (true, Some((_, answer))) => {
                    objects.object(*line, &event("ok", answer), recorder)?;
                }
                (_, answer) => {
                    objects.object(*line, &event("invoke", argument), recorder)?;
                    if answer.is_none() {
                        objects.object(*line, &event("info", &Json::Null), recorder)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn lines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// The process of each operation, in the order of their calls: the client, or a further process of
/// it (`3.1`) where an earlier operation is still open.
fn processes(operations: &[Operation]) -> Vec<Json> {
    // When each process of each client is free again: never, if that is not known.
    let mut free: rustc_hash::FxHashMap<i64, Vec<Option<i64>>> = rustc_hash::FxHashMap::default();
    let process = |operation: &Operation| {
        let lanes = free.entry(operation.client).or_default();
        let until = operation.answer.as_ref().map(|(returned, _)| *returned);
        let is_free = |lane: &Option<i64>| lane.is_some_and(|until| until < operation.call);
        let lane = match lanes.iter().position(is_free) {
            Some(lane) => {
                lanes[lane] = until;
                lane
            }
            None => {
                lanes.push(until);
                lanes.len() - 1
            }
        };
        match lane {
            0 => json!(operation.client),
            lane => json!(format!("{}.{lane}", operation.client)),
        }
    };
    operations.iter().map(process).collect()
}

/// What `mvcc` says of a revision that is gone, and of one that is not there yet.
const CLIENT_ERRORS: [(&str, &str); 2] = [
    ("mvcc: required revision has been compacted", "compacted"),
    ("mvcc: required revision is a future revision", "future"),
];

/// Longer values are recorded as their hash, of which some versions forget to make one.
const HASH_FROM: usize = 20;

/// An object of the text, for messages.
#[derive(Clone, Copy)]
struct Object<'a> {
    json: &'a Json,
    line: u64,
}

impl<'a> Object<'a> {
    fn wrong<T>(self, expected: &str) -> Result<T, IngestError> {
        let found = self.json.to_string();
        let shown = crate::excerpt(found.as_bytes());
        Err(malformed(self.line, expected, &shown))
    }

    fn at(self, name: &str) -> Object<'a> {
        const NULL: &Json = &Json::Null;
        Object { json: self.json.get(name).unwrap_or(NULL), line: self.line }
    }

    fn int(self, name: &str) -> Result<i64, IngestError> {
        match self.at(name).json {
            Json::Null => Ok(0),
            json => match json.as_i64() {
                Some(int) => Ok(int),
                None => self.wrong(&format!("an integer `{name}`")),
            },
        }
    }

    fn text(self, name: &str) -> Result<&'a str, IngestError> {
        match self.at(name).json {
            Json::Null => Ok(""),
            json => match json.as_str() {
                Some(text) => Ok(text),
                None => self.wrong(&format!("a text `{name}`")),
            },
        }
    }

    fn is_set(self, name: &str) -> bool {
        self.at(name).json.as_bool() == Some(true)
    }

    fn list(self, name: &str) -> Result<Vec<Object<'a>>, IngestError> {
        match self.at(name).json {
            Json::Null => Ok(Vec::new()),
            Json::Array(items) => {
                Ok(items.iter().map(|json| Object { json, line: self.line }).collect())
            }
            _ => self.wrong(&format!("a list `{name}`")),
        }
    }

    fn operation(self) -> Result<Operation, IngestError> {
        if !self.json.is_object() || self.at("Input").json.is_null() {
            return self.wrong("an operation with an `Input`");
        }
        let (client, call) = (self.int("ClientId")?, self.int("Call")?);
        let (f, argument) = self.at("Input").request()?;
        let output = self.at("Output");
        let answer = match output.text("Error")? {
            "" => {
                let returned = self.int("Return")?;
                if returned < call {
                    return self.wrong("an operation that returns after it is called");
                }
                Some((returned, output.response(self.at("Input"))?))
            }
            _ => None,
        };
        Ok(Operation { line: self.line, client, call, f, argument, answer })
    }

    fn request(self) -> Result<(&'static str, Json), IngestError> {
        Ok(match self.text("Type")? {
            "range" => {
                let range = self.at("Range");
                let mut argument = range.range()?;
                argument.push(json!(range.int("Revision")?));
                ("range", Json::Array(argument))
            }
            "txn" => ("txn", self.at("Txn").txn()?),
            "leaseGrant" => ("lease-grant", json!(self.at("LeaseGrant").int("LeaseID")?)),
            "leaseRevoke" => ("lease-revoke", json!(self.at("LeaseRevoke").int("LeaseID")?)),
            "compact" => ("compact", json!(self.at("Compact").int("Revision")?)),
            "defragment" => ("defragment", Json::Null),
            _ => {
                return self.wrong(
                    "a request of type range, txn, leaseGrant, leaseRevoke, compact or defragment",
                );
            }
        })
    }

    fn range(self) -> Result<Vec<Json>, IngestError> {
        Ok(vec![json!(self.text("Start")?), json!(self.text("End")?), json!(self.int("Limit")?)])
    }

    fn txn(self) -> Result<Json, IngestError> {
        let condition = |condition: &Object<'_>| {
            let (revision, version) =
                (condition.int("ExpectedRevision")?, condition.int("ExpectedVersion")?);
            Ok(json!([condition.text("Key")?, revision, version]))
        };
        let conditions = self.list("Conditions")?;
        let conditions = conditions.iter().map(condition).collect::<Result<Vec<_>, IngestError>>();
        let operations = |name: &str| {
            let operations = self.list(name)?;
            let operations = operations.iter().map(|operation| operation.part());
            operations.collect::<Result<Vec<_>, IngestError>>()
        };
        Ok(json!({
            "if": conditions?,
            "then": operations("OperationsOnSuccess")?,
            "else": operations("OperationsOnFailure")?,
        }))
    }

    /// An operation of a transaction.
    fn part(self) -> Result<Json, IngestError> {
        Ok(match self.text("Type")? {
            "range-operation" => {
                let mut part = vec![json!("range")];
                part.extend(self.at("Range").range()?);
                Json::Array(part)
            }
            "put-operation" => {
                let put = self.at("Put");
                json!(["put", put.text("Key")?, put.at("Value").value()?, put.int("LeaseID")?])
            }
            "delete-operation" => json!(["delete", self.at("Delete").text("Key")?]),
            _ => {
                return self
                    .wrong("a part of type range-operation, put-operation or delete-operation");
            }
        })
    }

    /// A value, or the hash of a long one.
    fn value(self) -> Result<Json, IngestError> {
        let (text, hash) = (self.text("Value")?, self.int("Hash")?);
        Ok(match text {
            "" if hash != 0 => json!({ "hash": hash }),
            text if text.len() >= HASH_FROM => json!({ "hash": fnv(text.as_bytes()) }),
            text => json!(text),
        })
    }

    fn response(self, request: Object<'_>) -> Result<Json, IngestError> {
        let revision = match self.int("Revision")? {
            // It is known to have been written, and perhaps at which revision.
            _ if self.is_set("Persisted") => match self.int("PersistedRevision")? {
                0 => return Ok(Json::Null),
                revision => return Ok(json!({ "revision": revision })),
            },
            revision if self.is_set("PartialResponse") => {
                return Ok(json!({ "revision": revision }));
            }
            // Recorders write -1 where the revision means nothing.
            -1 => Json::Null,
            revision => json!(revision),
        };
        let error = self.text("ClientError")?;
        if !error.is_empty() {
            let known = CLIENT_ERRORS.iter().find(|(text, _)| *text == error);
            return match known {
                Some((_, name)) => Ok(json!({ "error": name })),
                None => self.wrong("a `ClientError` that says compacted or future revision"),
            };
        }
        match request.text("Type")? {
            "range" => {
                let mut answer = self.at("Range").kvs()?;
                answer["revision"] = revision;
                Ok(answer)
            }
            "txn" => self.at("Txn").results(revision, request.at("Txn")),
            _ => Ok(json!({ "revision": revision })),
        }
    }

    fn kvs(self) -> Result<Json, IngestError> {
        let kv = |kv: &Object<'_>| {
            // Older versions do not record the version of a key.
            let version = Some(kv.int("Version")?).filter(|version| *version != 0);
            let (key, value) = (kv.text("Key")?, kv.at("Value").value()?);
            Ok(json!([key, value, kv.int("ModRevision")?, version]))
        };
        let kvs = self.list("KVs")?;
        let kvs = kvs.iter().map(kv).collect::<Result<Vec<_>, IngestError>>()?;
        Ok(json!({ "kvs": kvs, "count": self.int("Count")? }))
    }

    fn results(self, revision: Json, request: Object<'_>) -> Result<Json, IngestError> {
        if self.json.is_null() {
            return self.wrong("the response of a transaction");
        }
        let failed = self.is_set("Failure");
        let branch = if failed { "OperationsOnFailure" } else { "OperationsOnSuccess" };
        let (parts, results) = (request.list(branch)?, self.list("Results")?);
        if parts.len() != results.len() {
            let expected = format!("{} results, as many as there are operations", parts.len());
            return self.wrong(&expected);
        }
        let result = |(part, result): (&Object<'_>, &Object<'_>)| {
            let kvs = result.kvs()?;
            let deleted = result.int("Deleted")?;
            let is_empty = kvs["count"] == json!(0) && kvs["kvs"] == json!([]);
            Ok(match part.text("Type")? {
                "range-operation" if deleted == 0 => kvs,
                "put-operation" if is_empty && deleted == 0 => Json::Null,
                "delete-operation" if is_empty => json!({ "deleted": deleted }),
                _ => return result.wrong("the result of such an operation"),
            })
        };
        let results = parts.iter().zip(&results).map(result);
        let results = results.collect::<Result<Vec<_>, IngestError>>()?;
        Ok(json!({ "revision": revision, "succeeded": !failed, "results": results }))
    }
}

/// The hash of 32 bits of Fowler, Noll and Vo, the variant 1a.
fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_its_authors() {
        // Their published values.
        assert_eq!(fnv(b""), 0x811c_9dc5);
        assert_eq!(fnv(b"a"), 0xe40c_292c);
        assert_eq!(fnv(b"foobar"), 0xbf9c_f968);
    }
}
