//! Random runs of an etcd, written as its robustness tests write them and judged from the file on,
//! against every order tried on a model that shares nothing with the specification.

use crate::common::seed_and_cases;
use linchpin_certify::{CoreError, Operation, confirm_core};
use linchpin_history::{CheckOptions, History, Judgement, NEVER, Object, OpId, Violation, check};
use linchpin_ingest::{ReadOptions, read_bytes};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
enum Part {
    Range(Range),
    Put(String, String, i64),
    Delete(String),
}

#[derive(Clone, Debug)]
struct Range {
    start: String,
    end: String,
    limit: i64,
}

#[derive(Clone, Debug)]
enum Request {
    Range(Range, i64),
    Txn { conditions: Vec<(String, i64, i64)>, then: Vec<Part>, or_else: Vec<Part> },
    Grant(i64),
    Revoke(i64),
    Compact(i64),
    Defragment,
}

/// What a store answers: all of it, only its revision, or that the outcome is not known.
#[derive(Clone, Debug, PartialEq)]
enum Answer {
    Whole(Json),
    Stale(i64),
    Unknown,
}

#[derive(Clone, Debug)]
struct Kv {
    value: String,
    revision: i64,
    version: i64,
}

/// An etcd.
#[derive(Clone, Debug)]
struct Store {
    revision: i64,
    compacted: i64,
    keys: BTreeMap<String, Kv>,
    leases: BTreeMap<i64, BTreeSet<String>>,
    /// Whether versions of keys are recorded.
    versions: bool,
}

const COMPACTED: &str = "mvcc: required revision has been compacted";
const FUTURE: &str = "mvcc: required revision is a future revision";

impl Store {
    fn new(versions: bool) -> Store {
        let (keys, leases) = (BTreeMap::new(), BTreeMap::new());
        Store { revision: 1, compacted: -1, keys, leases, versions }
    }

    fn range(&self, range: &Range) -> (Vec<Json>, usize) {
        let is_in = |key: &str| match range.end.as_str() {
            "" => key == range.start,
            end => key >= range.start.as_str() && key < end,
        };
        let all: Vec<Json> = self
            .keys
            .iter()
            .filter(|(key, _)| is_in(key))
            .map(|(key, kv)| {
                let mut json = json!({
                    "Key": key, "Value": { "Value": kv.value }, "ModRevision": kv.revision,
                });
                if self.versions {
                    json["Version"] = json!(kv.version);
                }
                json
            })
            .collect();
        let count = all.len();
        let limit =
            if range.limit == 0 || range.end.is_empty() { count } else { range.limit as usize };
        (all.into_iter().take(limit).collect(), count)
    }

    fn unlease(&mut self, key: &str) {
        for keys in self.leases.values_mut() {
            keys.remove(key);
        }
    }

    fn part(&mut self, part: &Part) -> (Json, bool) {
        match part {
            Part::Range(range) => {
                let (kvs, count) = self.range(range);
                (json!({ "KVs": kvs, "Count": count, "Deleted": 0 }), false)
            }
            Part::Put(key, value, lease) => {
                let nothing = json!({ "KVs": null, "Count": 0, "Deleted": 0 });
                if *lease != 0 && !self.leases.contains_key(lease) {
                    return (nothing, false);
                }
                self.unlease(key);
                if let Some(keys) = self.leases.get_mut(lease) {
                    keys.insert(key.clone());
                }
                let version = self.keys.get(key).map_or(1, |kv| kv.version + 1);
                let revision = self.revision + 1;
                self.keys.insert(key.clone(), Kv { value: value.clone(), revision, version });
                (nothing, true)
            }
            Part::Delete(key) => {
                self.unlease(key);
                let is_there = self.keys.remove(key).is_some();
                (json!({ "KVs": null, "Count": 0, "Deleted": u8::from(is_there) }), is_there)
            }
        }
    }

    fn step(&mut self, request: &Request) -> Answer {
        let error = |error: &str| Answer::Whole(json!({ "ClientError": error, "Error": "" }));
        match request {
            Request::Range(range, at) if *at == 0 || *at == self.revision => {
                let (kvs, count) = self.range(range);
                let range = json!({ "KVs": kvs, "Count": count });
                Answer::Whole(json!({ "Range": range, "Revision": self.revision, "Error": "" }))
            }
            Request::Range(_, at) if *at > self.revision => Answer::Unknown,
            Request::Range(_, at) if *at < self.compacted => error(COMPACTED),
            Request::Range(..) => Answer::Stale(self.revision),
            Request::Txn { conditions, then, or_else } => {
                let holds = |(key, revision, version): &(String, i64, i64)| {
                    let kv = self.keys.get(key);
                    match version {
                        0 => kv.map_or(0, |kv| kv.revision) == *revision,
                        version => kv.map_or(0, |kv| kv.version) == *version,
                    }
                };
                let succeeded = conditions.iter().all(holds);
                let (mut results, mut changed) = (Vec::new(), false);
                for part in if succeeded { then } else { or_else } {
                    let (result, change) = self.part(part);
                    results.push(result);
                    changed |= change;
                }
                self.revision += i64::from(changed);
                let txn = json!({ "Failure": !succeeded, "Results": results });
                Answer::Whole(json!({ "Txn": txn, "Revision": self.revision, "Error": "" }))
            }
            Request::Grant(id) => {
                self.leases.entry(*id).or_default();
                Answer::Whole(json!({ "LeaseGrant": {}, "Revision": self.revision, "Error": "" }))
            }
            Request::Revoke(id) => {
                let keys = self.leases.remove(id).unwrap_or_default();
                keys.iter().for_each(|key| drop(self.keys.remove(key)));
                self.revision += i64::from(!keys.is_empty());
                Answer::Whole(json!({ "LeaseRevoke": {}, "Revision": self.revision, "Error": "" }))
            }
            Request::Compact(at) if *at <= self.compacted => error(COMPACTED),
            Request::Compact(at) if *at > self.revision => error(FUTURE),
            Request::Compact(at) => {
                self.compacted = *at;
                Answer::Whole(json!({ "Compact": {}, "Revision": -1, "Error": "" }))
            }
            Request::Defragment => {
                Answer::Whole(json!({ "Defragment": {}, "Revision": -1, "Error": "" }))
            }
        }
    }
}

#[derive(Clone, Debug)]
struct Done {
    client: i64,
    call: i64,
    returned: i64,
    request: Request,
    output: Json,
}

impl Done {
    fn is_unknown(&self) -> bool {
        self.output["Error"] != ""
    }
}

/// Whether some order explains what was recorded.
fn explained(store: &Store, rest: &[&Done]) -> bool {
    if rest.iter().all(|done| done.is_unknown()) {
        return true;
    }
    rest.iter().enumerate().any(|(at, next)| {
        if rest.iter().any(|other| !other.is_unknown() && other.returned < next.call) {
            return false;
        }
        let mut after = store.clone();
        let agrees = match after.step(&next.request) {
            _ if next.is_unknown() => true,
            Answer::Unknown => false,
            Answer::Whole(output) => output == next.output,
            Answer::Stale(revision) => {
                next.output["Revision"] == revision && next.output.get("ClientError").is_none()
            }
        };
        let without: Vec<&Done> = rest
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .map(|(_, done)| *done)
            .collect();
        agrees && explained(&after, &without)
    })
}

fn range(rng: &mut fastrand::Rng) -> Range {
    let start = *rng.choice(&["a", "b"]).unwrap();
    let end = *rng.choice(&["", "c", "b"]).unwrap();
    Range { start: start.to_owned(), end: end.to_owned(), limit: rng.i64(0..2) }
}

fn part(rng: &mut fastrand::Rng) -> Part {
    let key = rng.choice(["a", "b"]).unwrap().to_owned();
    match rng.u8(..6) {
        0 => Part::Range(range(rng)),
        1 => Part::Delete(key),
        _ => Part::Put(key, rng.i64(0..3).to_string(), rng.i64(0..3) / 2),
    }
}

fn request(rng: &mut fastrand::Rng) -> Request {
    let parts = |rng: &mut fastrand::Rng| (0..rng.usize(..3)).map(|_| part(rng)).collect();
    match rng.u8(..12) {
        0..3 => Request::Range(range(rng), if rng.u8(..3) == 0 { rng.i64(0..4) } else { 0 }),
        3 => Request::Grant(1),
        4 => Request::Revoke(1),
        5 => Request::Compact(rng.i64(0..4)),
        6 => Request::Defragment,
        7 | 8 => {
            let key = rng.choice(["a", "b"]).unwrap().to_owned();
            let condition = match rng.bool() {
                true => (key, rng.i64(0..4), 0),
                false => (key, 0, rng.i64(1..3)),
            };
            Request::Txn { conditions: vec![condition], then: parts(rng), or_else: parts(rng) }
        }
        _ => Request::Txn { conditions: vec![], then: vec![part(rng)], or_else: vec![] },
    }
}

/// A run, in which one answer may be wrong.
fn run(rng: &mut fastrand::Rng) -> (Vec<Done>, bool) {
    let versions = rng.bool();
    let mut store = Store::new(versions);
    let mut run = Vec::new();
    for moment in 0..rng.i64(1..7) {
        let (call, returned) = (4 * moment - rng.i64(0..12), 4 * moment + rng.i64(0..12));
        let request = request(rng);
        let is_lost = rng.u8(..8) == 0;
        let mut without = store.clone();
        let is_done = !is_lost || rng.bool();
        let answer = if is_done { store.step(&request) } else { without.step(&request) };
        let output = match answer {
            _ if is_lost => json!({ "Error": "timeout" }),
            Answer::Unknown => json!({ "Error": "future rev" }),
            Answer::Whole(output) => output,
            Answer::Stale(revision) => {
                let range = json!({ "KVs": [], "Count": 0 });
                json!({ "Range": range, "Revision": revision, "Error": "" })
            }
        };
        run.push(Done { client: rng.i64(0..3), call, returned, request, output });
    }
    if rng.u8(..3) > 0 {
        let at = rng.usize(..run.len());
        let other = rng.choice(&run).unwrap().clone();
        let wrong = &mut run[at];
        let is_range = |done: &Done| matches!(done.request, Request::Range(..));
        if is_range(wrong) && is_range(&other) && other.output.get("Range").is_some() {
            wrong.output = other.output;
        } else if let Some(revision) = wrong.output["Revision"].as_i64().filter(|at| *at > 0) {
            wrong.output["Revision"] = json!(revision + if rng.bool() { 1 } else { -1 });
        }
    }
    (run, versions)
}

fn written(run: &[Done]) -> String {
    let of_range =
        |Range { start, end, limit }: &Range| json!({ "Start": start, "End": end, "Limit": limit });
    let of_part = |part: &Part| match part {
        Part::Range(range) => json!({ "Type": "range-operation", "Range": of_range(range) }),
        Part::Put(key, value, lease) => json!({
            "Type": "put-operation",
            "Put": { "Key": key, "Value": { "Value": value }, "LeaseID": lease },
        }),
        Part::Delete(key) => json!({ "Type": "delete-operation", "Delete": { "Key": key } }),
    };
    let parts = |parts: &[Part]| parts.iter().map(of_part).collect::<Vec<_>>();
    let input = |request: &Request| match request {
        Request::Range(range, revision) => {
            let mut range = of_range(range);
            range["Revision"] = json!(revision);
            json!({ "Type": "range", "Range": range })
        }
        Request::Txn { conditions, then, or_else } => {
            let condition = |(key, revision, version): &(String, i64, i64)| json!({ "Key": key, "ExpectedRevision": revision, "ExpectedVersion": version });
            json!({ "Type": "txn", "Txn": {
                "Conditions": conditions.iter().map(condition).collect::<Vec<_>>(),
                "OperationsOnSuccess": parts(then), "OperationsOnFailure": parts(or_else),
            }})
        }
        Request::Grant(id) => json!({ "Type": "leaseGrant", "LeaseGrant": { "LeaseID": id } }),
        Request::Revoke(id) => json!({ "Type": "leaseRevoke", "LeaseRevoke": { "LeaseID": id } }),
        Request::Compact(at) => json!({ "Type": "compact", "Compact": { "Revision": at } }),
        Request::Defragment => json!({ "Type": "defragment", "Defragment": {} }),
    };
    let line = |done: &Done| {
        let returned = if done.is_unknown() { 0 } else { done.returned };
        let line = json!({
            "ClientId": done.client, "Input": input(&done.request), "Call": done.call,
            "Output": done.output, "Return": returned,
        });
        format!("{line}\n")
    };
    run.iter().map(line).collect()
}

/// Whether no order explains the core, for the checker that shares nothing with the engine.
fn confirmed(etcd: &Object, history: &History, violation: &Violation) -> Result<(), CoreError> {
    let operation = |id: OpId| Operation {
        call: history.call(id),
        response: history.response(id),
        invoked: history[id].invoked.into(),
        returned: match history[id].returned {
            NEVER => u64::MAX,
            returned => returned.into(),
        },
    };
    let operations: Vec<Operation> = history.ids().map(operation).collect();
    let core: Vec<usize> = violation.core.iter().map(|id| id.index()).collect();
    confirm_core(&*etcd.spec, "etcd", &operations, &core, violation.at.map(u64::from))
}

#[test]
fn the_verdict_is_that_of_every_order_tried() {
    let (seed, cases) = seed_and_cases(4_000);
    let mut rng = fastrand::Rng::with_seed(seed);
    let etcd = Object::builtin("etcd", None).unwrap();
    let options = ReadOptions::new("etcd", etcd.spec.operations());
    let (mut held, mut violated) = (0, 0);
    for case in 0..cases {
        let (mut run, versions) = run(&mut rng);
        rng.shuffle(&mut run);
        let expected = explained(&Store::new(versions), &run.iter().collect::<Vec<_>>());
        let text = written(&run);
        let mut recording = read_bytes(text.as_bytes(), &options).unwrap();
        let checked = check(&etcd, &mut recording.history, &CheckOptions::default()).unwrap();
        let found = match checked.judgement {
            Judgement::Holds(_) => true,
            Judgement::Violated(violation) => {
                let confirmed = confirmed(&etcd, &recording.history, &violation);
                assert_eq!(confirmed, Ok(()), "case {case}\n{text}");
                false
            }
            Judgement::Inconclusive(why) => panic!("case {case}: {why}\n{text}"),
        };
        assert_eq!(found, expected, "case {case}\n{text}");
        *(if expected { &mut held } else { &mut violated }) += 1;
    }
    println!("{held} hold, {violated} are violated");
    assert!(held * 5 > cases && violated * 10 > cases, "{held} hold, {violated} are violated");
}
