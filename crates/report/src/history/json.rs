//! The JSON of a history view: columns, and every different text once, so that a history of a
//! hundred thousand operations stays small enough to be looked at.

use super::{BandView, CrashView, HistoryView, KeyView, Moment, OrderView, ViolationView};
use crate::escaped;
use serde_json::{Map, Value as Json, json};
use std::collections::HashMap;

/// The version of the columns.
const VERSION: u32 = 1;

impl HistoryView {
    /// The data as JSON; `docs/reference/json.md` says what is in it.
    pub fn to_json(&self) -> Json {
        let mut texts = Texts::default();
        let origin = self.origin();
        let operations = self.columns(&mut texts, origin);
        let orders: Vec<Json> = self.orders.iter().map(|order| order.json(&mut texts)).collect();
        json!({
            "version": VERSION,
            "title": escaped(&self.title),
            "about": escaped(&self.about),
            "verdict": self.verdict.id(),
            "headline": escaped(&self.headline),
            "sentences": all_escaped(&self.sentences),
            "facts": self.facts.iter().map(|(name, value)| json!([escaped(name), escaped(value)]))
                .collect::<Vec<_>>(),
            "assumptions": all_escaped(&self.assumptions),
            "notes": all_escaped(&self.notes),
            "left_out": all_escaped(&self.left_out),
            "processes": all_escaped(&self.processes),
            "functions": all_escaped(&self.functions),
            "keys": self.keys.iter().map(KeyView::json).collect::<Vec<_>>(),
            "events": self.events,
            "origin": origin.map(|Origin(time)| time),
            "operations": operations,
            "orders": orders,
            "violations": self.violations.iter().map(|wrong| wrong.json(origin)).collect::<Vec<_>>(),
            "crashes": self.crashes.iter().map(|crash| crash.json(origin)).collect::<Vec<_>>(),
            "bands": self.bands.iter().map(|band| band.json(origin)).collect::<Vec<_>>(),
            "texts": texts.all,
        })
    }

    /// The earliest time of a call, if times are known.
    fn origin(&self) -> Option<Origin> {
        self.operations.iter().filter_map(|operation| operation.from.time).min().map(Origin)
    }

    /// The operations, one array a field.
    fn columns(&self, texts: &mut Texts, origin: Option<Origin>) -> Json {
        let all = &self.operations;
        let mut columns = Map::new();
        let mut column = |name: &str, values: Vec<Json>| {
            columns.insert(name.to_owned(), Json::Array(values));
        };
        column("id", all.iter().map(|operation| json!(operation.id)).collect());
        column("process", all.iter().map(|operation| json!(operation.process)).collect());
        column("function", all.iter().map(|operation| json!(operation.function)).collect());
        if !self.keys.is_empty() {
            column("key", all.iter().map(|operation| json!(operation.key)).collect());
        }
        let arguments = all.iter().map(|operation| json!(texts.index(&operation.argument)));
        column("argument", arguments.collect());
        let answers = all.iter().map(|operation| match &operation.answer {
            Some(answer) => json!(texts.index(answer)),
            None => Json::Null,
        });
        column("answer", answers.collect());
        column("from", all.iter().map(|operation| json!(operation.from.rank)).collect());
        let to = |field: &dyn Fn(Moment) -> Json| -> Vec<Json> {
            all.iter().map(|operation| operation.to.map_or(Json::Null, field)).collect()
        };
        column("to", to(&|to| json!(to.rank)));
        if all.iter().any(|operation| operation.from.line.is_some()) {
            column("from_line", all.iter().map(|operation| json!(operation.from.line)).collect());
            column("to_line", to(&|to| json!(to.line)));
        }
        if origin.is_some() {
            let times = all.iter().map(|operation| json!(operation.from.since(origin)));
            column("from_time", times.collect());
            column("to_time", to(&|to| json!(to.since(origin))));
        }
        Json::Object(columns)
    }
}

/// Texts with a number each.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    known: HashMap<String, usize>,
}

impl Texts {
    fn index(&mut self, text: &str) -> usize {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        self.known.insert(text.to_owned(), self.all.len());
        self.all.push(escaped(text).into_owned());
        self.all.len() - 1
    }
}

fn all_escaped(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| escaped(text).into_owned()).collect()
}

/// The time that all others are counted from: readers whose numbers are floating point would lose
/// nanoseconds otherwise.
#[derive(Clone, Copy)]
struct Origin(i64);

impl Moment {
    /// Nanoseconds since the origin.
    fn since(self, origin: Option<Origin>) -> Option<i64> {
        let Origin(origin) = origin?;
        self.time.map(|time| time.saturating_sub(origin))
    }

    fn json(self, origin: Option<Origin>) -> Json {
        json!({ "rank": self.rank, "line": self.line, "time": self.since(origin) })
    }
}

impl KeyView {
    fn json(&self) -> Json {
        json!({
            "name": escaped(&self.name),
            "verdict": self.verdict.map(|verdict| verdict.id()),
            "operations": self.operations,
            "line": self.line,
        })
    }
}

impl OrderView {
    fn json(&self, texts: &mut Texts) -> Json {
        let initial = self.initial.as_ref().map(|state| texts.index(state));
        let states: Vec<Option<usize>> = self
            .states
            .iter()
            .map(|state| state.as_ref().map(|state| texts.index(state)))
            .collect();
        json!({
            "key": self.key,
            "complete": self.complete,
            "operations": self.operations,
            "initial": initial,
            "states": states,
        })
    }
}

impl ViolationView {
    fn json(&self, origin: Option<Origin>) -> Json {
        let event = self.event.map(|event| {
            let mut object = event.at.json(origin);
            object["operation"] = json!(event.operation);
            object
        });
        json!({
            "key": self.key,
            "explanation": escaped(&self.explanation),
            "core": self.core,
            "event": event,
            "possible": all_escaped(&self.possible),
        })
    }
}

impl CrashView {
    fn json(&self, origin: Option<Origin>) -> Json {
        json!({ "at": self.at.json(origin), "process": self.process })
    }
}

impl BandView {
    fn json(&self, origin: Option<Origin>) -> Json {
        json!({
            "text": escaped(&self.text),
            "from": self.from.json(origin),
            "to": self.to.map(|to| to.json(origin)),
            "instant": self.instant,
        })
    }
}
