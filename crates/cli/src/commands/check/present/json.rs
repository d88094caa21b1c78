//! The object that scripts read.

use super::Presentation;
use crate::commands::check::certificate;
use crate::commands::check::confirm::Confirmation;
use crate::commands::check::not_decided;
use crate::commands::check::partial;
use crate::memory;
use linchpin_engine::Wrong;
use linchpin_history::{Judgement, KeyVerdict, Rank, Violation};
use linchpin_report::json;
use serde_json::{Value as Json, json};

impl Presentation<'_> {
    /// The object that scripts read.
    pub fn json(&self) -> String {
        let mut object = json::envelope("check", &self.args.history.display().to_string());
        let verdict = self.verdict().id();
        object.insert("verdict".to_owned(), json!(verdict));
        object.insert("reason".to_owned(), json!(self.headline()));
        let history = &self.recording.history;
        let remarks = self.remarks().into_iter();
        let notes: Vec<String> = remarks.chain(self.checked.notes.iter().cloned()).collect();
        let engine = json!({
            "engine": "history",
            "verdict": verdict,
            "reason": self.headline(),
            "method": self.checked.method,
            "notes": notes,
            "bounds": {},
            "assumptions": self.assumptions(),
            "vacuous": self.recording.is_vacuous(),
            "stats": {
                "operations": history.operations.len(),
                "processes": history.processes.len(),
                "format": self.recording.format.name(),
                "parse_seconds": self.parse_seconds,
                "seconds": self.seconds,
                "peak_bytes": memory::peak(),
            },
        });
        object.insert("engines".to_owned(), json!([engine]));
        if let Judgement::Violated(violation) = &self.checked.judgement {
            let counterexample = json!({
                "kind": Wrong::NotLinearizable.id(), "explanation": violation.explanation,
                "history": self.events(violation), "schedule": [],
                "core": certificate::numbers(&violation.core),
                "confirmed": self.confirmed.core == Some(Confirmation::Confirmed),
                "key": self.checked.key.map(|key| json::value(&self.key(key))),
                "at": violation.at.map(Rank::number), "line": self.line(violation.at),
                "possible": self.checked.possible,
            });
            object.insert("counterexample".to_owned(), counterexample);
        }
        if !self.checked.keys.is_empty() {
            object.insert("keys".to_owned(), json!(self.key_objects()));
        }
        if self.args.with_history {
            object.insert("view".to_owned(), self.view().to_json());
        }
        format!("{}\n", Json::Object(object))
    }

    fn line(&self, at: Option<Rank>) -> Option<u64> {
        at.and_then(|at| self.recording.places.line(at))
    }

    /// What is known of each key.
    fn key_objects(&self) -> Vec<Json> {
        let confirmed = self.confirmed.keys.iter().chain(std::iter::repeat(&None));
        let keys = self.checked.keys.iter().zip(confirmed);
        keys.map(|(key, confirmed)| {
            let mut object = json!({
                "key": json::value(&self.key(key.key)), "operations": key.operations,
                "method": key.method,
            });
            match &key.verdict {
                KeyVerdict::Holds => object["verdict"] = json!("holds"),
                KeyVerdict::Open(reason) => {
                    object["verdict"] = json!("inconclusive");
                    object["reason"] = json!(not_decided(reason, &self.recording.places));
                }
                KeyVerdict::Violated { violation, possible } => {
                    object["verdict"] = json!("violated");
                    object["explanation"] = json!(violation.explanation);
                    object["core"] = json!(certificate::numbers(&violation.core));
                    object["confirmed"] = json!(*confirmed == Some(Confirmation::Confirmed));
                    object["at"] = json!(violation.at.map(Rank::number));
                    object["line"] = json!(self.line(violation.at));
                    object["possible"] = json!(possible);
                }
            }
            object
        })
        .collect()
    }

    /// The events of a core, as a history of their own; `id` is the operation's.
    fn events(&self, violation: &Violation) -> Vec<Json> {
        let history = &self.recording.history;
        let mut events: Vec<(Rank, Json)> = Vec::new();
        for id in &violation.core {
            let operation = &history[*id];
            let operations = self.subject.object.spec.operations();
            let signature = &operations[usize::from(operation.operation)];
            let name = self.process(*id);
            let process = name.parse::<u64>().map_or_else(|_| json!(name), |number| json!(number));
            let event = |kind: &str, value: Json, at: Rank| {
                let mut event = json!({
                    "process": process, "type": kind, "f": signature.name, "value": value,
                    "id": id.number(), "line": self.line(Some(at)),
                });
                match &self.recording.precedence {
                    Some(order) if kind == "invoke" => {
                        let before = partial::before(order, *id);
                        let before = before.filter(|first| violation.core.contains(first));
                        event["op"] = json!(id.number());
                        event["after"] = json!(certificate::numbers(&before.collect::<Vec<_>>()));
                    }
                    Some(_) => {}
                    None => event["time"] = json!(at.number()),
                }
                (at, event)
            };
            let argument = json::value(&history.value(operation.argument));
            events.push(event("invoke", argument, operation.invoked));
            if let Some(answer) = history.response(*id).filter(|_| operation.completed) {
                events.push(event("ok", json::value(&answer), operation.returned));
            }
        }
        events.sort_by_key(|(at, _)| *at);
        events.into_iter().map(|(_, event)| event).collect()
    }
}
