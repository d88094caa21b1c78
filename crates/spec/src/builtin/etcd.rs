//! etcd's store of keys, as its robustness tests see it: revisions, transactions, leases and
//! compaction.
//!
//! The sequential behaviour follows `tests/robustness/model/deterministic.go` of etcd.

use super::{Described, deterministic, silent};
use crate::{Call, Outcome, Shape, Signature, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Keys with values, each with the revision that wrote it and how often it was written since it
/// was made.
///
/// - `range [start, end, limit, revision]` answers the keys from `start` to before `end`, or the
///   key `start` if `end` is empty, at most `limit` of them if that is not 0:
///   `{"revision": r, "kvs": [[key, value, revision, version], …], "count": n}`. A `revision` that
///   is not 0 asks for an old state: of that only the present revision in the answer is checked,
///   or `{"error": "compacted"}`.
/// - `txn {"if": [[key, revision, version], …], "then": [part, …], "else": [part, …]}`, where a
///   part is `["range", start, end, limit]`, `["put", key, value, lease]` or `["delete", key]`. A
///   condition compares the version if that is not 0, else the revision, which is 0 for a key that
///   is not there. Answers `{"revision": r, "succeeded": bool, "results": [result, …]}` with
///   `{"kvs": …, "count": n}`, `null` and `{"deleted": n}` as results.
/// - `lease-grant id` and `lease-revoke id`, which deletes the keys put with the lease, answer
///   `{"revision": r}`; `compact revision` answers `null`, `{"error": "compacted"}` or
///   `{"error": "future"}`; `defragment` does nothing.
///
/// What is `null` or missing in a recorded answer is not known and not compared.
///
/// ```
/// use linchpin_spec::{Call, Etcd, Spec, Value};
///
/// let etcd = Etcd::default();
/// let put = Value::list(["put".into(), "k".into(), "v".into(), 0.into()]);
/// let argument = Value::map([("then".into(), Value::list([put]))]);
/// let txn = Call { operation: Etcd::TXN, argument };
/// let outcome = etcd.apply(&etcd.initial(), &txn, None).remove(0);
/// let answer = r#"{"results": [null], "revision": 2, "succeeded": true}"#;
/// assert_eq!(outcome.response.to_string(), answer);
/// ```
#[derive(Clone, Debug)]
pub struct Etcd {
    operations: [Signature; 6],
    initial: Value,
}

/// What is remembered.
struct State {
    revision: i64,
    /// Older revisions are gone.
    compacted: i64,
    /// For each key a [`Held`].
    keys: Arc<BTreeMap<Value, Value>>,
    leases: Arc<BTreeSet<Value>>,
}

/// What a key holds.
struct Held<'a> {
    value: &'a Value,
    revision: i64,
    version: i64,
    /// 0 if it is under no lease.
    lease: i64,
}

impl Etcd {
    /// The index of `range [start, end, limit, revision] → value`.
    pub const RANGE: usize = 0;
    /// The index of `txn value → value`.
    pub const TXN: usize = 1;
    /// The index of `lease-grant id → value`.
    pub const LEASE_GRANT: usize = 2;
    /// The index of `lease-revoke id → value`.
    pub const LEASE_REVOKE: usize = 3;
    /// The index of `compact revision → value`.
    pub const COMPACT: usize = 4;
    /// The index of `defragment`.
    pub const DEFRAGMENT: usize = 5;

    /// A store that is empty at this revision. A new one of etcd is at 1.
    pub fn new(revision: i64) -> Etcd {
        let range = Shape::Tuple(vec![Shape::Str, Shape::Str, Shape::Int, Shape::Int]);
        let state = State { revision, compacted: -1, keys: Arc::default(), leases: Arc::default() };
        Etcd {
            operations: [
                Signature::new("range", range, Shape::Any),
                Signature::new("txn", Shape::Any, Shape::Any),
                Signature::new("lease-grant", Shape::Int, Shape::Any),
                Signature::new("lease-revoke", Shape::Int, Shape::Any),
                Signature::new("compact", Shape::Int, Shape::Any),
                Signature::new("defragment", Shape::Unit, Shape::Unit),
            ],
            initial: state.into_value(),
        }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        let mut now = State::of(state)?;
        let answer = match call.operation {
            Etcd::RANGE => now.range_at(&call.argument)?,
            Etcd::TXN => now.txn(&call.argument)?,
            Etcd::LEASE_GRANT => now.grant(call.argument.as_int()?),
            Etcd::LEASE_REVOKE => now.revoke(call.argument.as_int()?)?,
            Etcd::COMPACT => now.compact(call.argument.as_int()?),
            Etcd::DEFRAGMENT => return silent(state.clone()),
            _ => return None,
        };
        let response = match known {
            Some(known) if !agrees(known, &answer) => return None,
            Some(known) => known.clone(),
            None => answer,
        };
        Some(Outcome { response, state: now.into_value() })
    }
}

/// Whether a recorded answer is this one. What is `null` is not known, on either side.
fn agrees(known: &Value, answer: &Value) -> bool {
    match (known, answer) {
        (Value::Null, _) | (_, Value::Null) => true,
        (Value::Map(known), Value::Map(answer)) => known
            .iter()
            .all(|(name, value)| answer.get(name).is_some_and(|answered| agrees(value, answered))),
        (Value::List(known), Value::List(answer)) => {
            known.len() == answer.len()
                && known.iter().zip(answer.iter()).all(|(known, answer)| agrees(known, answer))
        }
        (known, answer) => known == answer,
    }
}

impl State {
    fn of(state: &Value) -> Option<State> {
        match state.as_list()? {
            [Value::Int(revision), Value::Int(compacted), Value::Map(keys), Value::Set(leases)] => {
                Some(State {
                    revision: *revision,
                    compacted: *compacted,
                    keys: keys.clone(),
                    leases: leases.clone(),
                })
            }
            _ => None,
        }
    }

    fn into_value(self) -> Value {
        Value::list([
            self.revision.into(),
            self.compacted.into(),
            Value::Map(self.keys),
            Value::Set(self.leases),
        ])
    }

    fn answer(&self) -> Value {
        Value::map([("revision".into(), self.revision.into())])
    }

    fn held(&self, key: &Value) -> Option<Held<'_>> {
        match self.keys.get(key)?.as_list()? {
            [value, Value::Int(revision), Value::Int(version), Value::Int(lease)] => {
                Some(Held { value, revision: *revision, version: *version, lease: *lease })
            }
            _ => None,
        }
    }

    /// A read of the present state, or of an older one.
    fn range_at(&self, argument: &Value) -> Option<Value> {
        let [start, end, limit, Value::Int(revision)] = argument.as_list()? else {
            return None;
        };
        match *revision {
            revision if revision != 0 && revision > self.revision => Some(error("future")),
            revision if revision != 0 && revision < self.compacted => Some(error("compacted")),
            // What the keys held then is not remembered.
            revision if revision != 0 && revision < self.revision => {
                let unknown = ["kvs", "count"].map(|name| (name.into(), Value::Null));
                let revision = ("revision".into(), self.revision.into());
                Some(Value::map(unknown.into_iter().chain([revision])))
            }
            _ => {
                let pairs = self.range(start, end, limit.as_int()?)?;
                let revision = ("revision".into(), self.revision.into());
                Some(Value::map(pairs.into_iter().chain([revision])))
            }
        }
    }

    fn range(&self, start: &Value, end: &Value, limit: i64) -> Option<[(Value, Value); 2]> {
        let (Value::Str(_), Value::Str(last)) = (start, end) else {
            return None;
        };
        let range = match last.is_empty() {
            true => self.keys.range(start.clone()..=start.clone()),
            // Nothing is from a key to before an earlier one.
            false if end < start => self.keys.range(start.clone()..start.clone()),
            false => self.keys.range(start.clone()..end.clone()),
        };
        let keys: Vec<&Value> = range.map(|(key, _)| key).collect();
        let count = i64::try_from(keys.len()).ok()?;
        let shown = match usize::try_from(limit) {
            Ok(limit) if limit > 0 && !last.is_empty() => limit,
            _ => usize::MAX,
        };
        let kv = |key: &&Value| {
            let Held { value, revision, version, .. } = self.held(key)?;
            let items = [(*key).clone(), value.clone(), revision.into(), version.into()];
            Some(Value::list(items))
        };
        let kvs = keys.iter().take(shown).map(kv).collect::<Option<Vec<Value>>>()?;
        Some([("kvs".into(), Value::list(kvs)), ("count".into(), count.into())])
    }

    fn txn(&mut self, argument: &Value) -> Option<Value> {
        let Value::Map(parts) = argument else { return None };
        let list = |name: &str| match parts.get(&name.into()) {
            Some(list) => list.as_list(),
            None => Some(&[][..]),
        };
        let mut succeeded = true;
        for condition in list("if")? {
            succeeded &= self.is_so(condition)?;
        }
        let (mut results, mut is_changed) = (Vec::new(), false);
        for part in list(if succeeded { "then" } else { "else" })? {
            let (result, changed) = self.part(part)?;
            results.push(result);
            is_changed |= changed;
        }
        self.revision = self.revision.checked_add(i64::from(is_changed))?;
        Some(Value::map([
            ("revision".into(), self.revision.into()),
            ("succeeded".into(), succeeded.into()),
            ("results".into(), Value::list(results)),
        ]))
    }

    fn is_so(&self, condition: &Value) -> Option<bool> {
        let [key, Value::Int(revision), Value::Int(version)] = condition.as_list()? else {
            return None;
        };
        let held = self.held(key).map_or((0, 0), |held| (held.revision, held.version));
        Some(if *version > 0 { held.1 == *version } else { held.0 == *revision })
    }

    /// Executes a part of a transaction: its result, and whether it changed anything.
    fn part(&mut self, part: &Value) -> Option<(Value, bool)> {
        match part.as_list()? {
            [Value::Str(kind), start, end, Value::Int(limit)] if &**kind == "range" => {
                Some((Value::map(self.range(start, end, *limit)?), false))
            }
            [Value::Str(kind), key, value, Value::Int(lease)] if &**kind == "put" => {
                if *lease != 0 && !self.leases.contains(&Value::Int(*lease)) {
                    return Some((Value::Null, false));
                }
                let version = self.held(key).map_or(0, |held| held.version).checked_add(1)?;
                let revision = self.revision.checked_add(1)?;
                let held = [value.clone(), revision.into(), version.into(), (*lease).into()];
                Arc::make_mut(&mut self.keys).insert(key.clone(), Value::list(held));
                Some((Value::Null, true))
            }
            [Value::Str(kind), key] if &**kind == "delete" => {
                let is_there = self.keys.contains_key(key);
                if is_there {
                    Arc::make_mut(&mut self.keys).remove(key);
                }
                let deleted = i64::from(is_there).into();
                Some((Value::map([("deleted".into(), deleted)]), is_there))
            }
            _ => None,
        }
    }

    fn grant(&mut self, lease: i64) -> Value {
        // Without an id the client does not know it, and cannot use it.
        if lease != 0 {
            Arc::make_mut(&mut self.leases).insert(lease.into());
        }
        self.answer()
    }

    fn revoke(&mut self, lease: i64) -> Option<Value> {
        let under = |key: &&Value| self.held(key).is_some_and(|held| held.lease == lease);
        let gone: Vec<Value> = match self.leases.contains(&lease.into()) {
            true => self.keys.keys().filter(under).cloned().collect(),
            false => Vec::new(),
        };
        if !gone.is_empty() {
            self.revision = self.revision.checked_add(1)?;
            let keys = Arc::make_mut(&mut self.keys);
            gone.iter().for_each(|key| drop(keys.remove(key)));
        }
        Arc::make_mut(&mut self.leases).remove(&lease.into());
        Some(self.answer())
    }

    fn compact(&mut self, revision: i64) -> Value {
        if revision <= self.compacted {
            return error("compacted");
        }
        if revision > self.revision {
            return error("future");
        }
        self.compacted = revision;
        // The revision in the answer of etcd is that of one member, and may be old.
        Value::map([("revision".into(), Value::Null)])
    }
}

fn error(name: &str) -> Value {
    Value::map([("error".into(), name.into())])
}

deterministic!(Etcd);

impl Default for Etcd {
    fn default() -> Etcd {
        Etcd::new(1)
    }
}

impl Described for Etcd {
    const NAME: &'static str = "etcd";
    const SUMMARY: &'static str = "etcd's keys with revisions, transactions, leases, compaction";
    const INITIAL: &'static str = "the revision at which it is empty (default: 1)";

    fn starting_from(init: &Value) -> Option<Etcd> {
        init.as_int().filter(|revision| *revision >= 0).map(Etcd::new)
    }
}
