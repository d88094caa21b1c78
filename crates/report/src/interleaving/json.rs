//! The JSON of a run: `docs/reference/json.md` says what is in it.

use super::{CallView, InterleavingView, ObjectView, StateView, StepView, ThreadView, ValueView};
use crate::escaped;
use serde_json::{Map, Value as Json, json};

impl InterleavingView {
    /// The data as JSON.
    pub fn to_json(&self) -> Json {
        let steps = self.steps.iter().enumerate();
        json!({
            "threads": self.threads.iter().map(|role| json!({ "role": escaped(role) })).collect::<Vec<_>>(),
            "calls": self.calls.iter().map(CallView::json).collect::<Vec<_>>(),
            "steps": steps.map(|(at, step)| step.json(self.is_switch(at))).collect::<Vec<_>>(),
            "preload": self.preload,
            "cycle": self.cycle.as_ref().map(|cycle| {
                json!({ "from": cycle.from, "words": escaped(&cycle.words) })
            }),
            "states": self.states.iter().map(StateView::json).collect::<Vec<_>>(),
        })
    }
}

impl CallView {
    fn json(&self) -> Json {
        json!({
            "thread": self.thread, "process": self.process, "call": escaped(&self.call),
            "answer": self.answer.as_deref().map(escaped),
            "from": self.from, "to": self.to, "core": self.core,
        })
    }
}

impl StepView {
    fn json(&self, switch: bool) -> Json {
        let mut object = json!({
            "kind": self.kind.id(), "thread": self.thread, "operation": escaped(&self.operation),
            "lines": self.lines, "text": escaped(&self.text), "changed": all(&self.changed),
            "switch": switch,
        });
        if self.wrong {
            object["wrong"] = json!(true);
        }
        if !self.rows.is_empty() {
            object["rows"] = json!(all(&self.rows));
        }
        object
    }
}

impl StateView {
    fn json(&self) -> Json {
        json!({
            "shared": named(&self.shared),
            "objects": self.objects.iter().map(ObjectView::json).collect::<Vec<_>>(),
            "threads": self.threads.iter().map(ThreadView::json).collect::<Vec<_>>(),
        })
    }
}

impl ObjectView {
    fn json(&self) -> Json {
        json!({ "of": escaped(&self.of), "live": self.live, "fields": named(&self.fields) })
    }
}

impl ThreadView {
    fn json(&self) -> Json {
        let variables = self
            .variables
            .iter()
            .map(|variable| json!([escaped(&variable.name), variable.value.json(), variable.live]));
        json!({
            "operation": self.operation.as_deref().map(escaped),
            "line": self.line,
            "answer": self.answer.as_deref().map(escaped),
            "variables": variables.collect::<Vec<_>>(),
        })
    }
}

impl ValueView {
    /// A text; an object where there are references or elements.
    fn json(&self) -> Json {
        if self.to.is_empty() && self.items.is_empty() && self.label == self.text {
            return json!(escaped(&self.text));
        }
        let mut object = Map::new();
        let mut insert = |key: &str, value: Json| object.insert(key.to_owned(), value);
        insert("text", json!(escaped(&self.text)));
        insert("label", json!(escaped(&self.label)));
        insert("to", json!(self.to));
        if !self.items.is_empty() {
            insert("items", self.items.iter().map(ValueView::json).collect());
        }
        Json::Object(object)
    }
}

fn named(values: &[(String, ValueView)]) -> Vec<Json> {
    values.iter().map(|(name, value)| json!([escaped(name), value.json()])).collect()
}

fn all(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| escaped(text).into_owned()).collect()
}
