//! A roadmap as scripts read it.

use super::RoadmapView;
use super::words::{kind, origin};
use crate::findings::bounds_json;
use crate::run::RunView;
use crate::schedule;
use linchpin_engine::{
    Claim, Effect, RoadmapOperation, SharedNode, SharedPicture, SharedValue, Stage, Status,
    StepCondition, UpdateStep, WithoutUpdates, Witness,
};
use serde_json::{Map, Value as Json, json};

impl RoadmapView<'_> {
    /// The roadmap as an object.
    pub(super) fn object(&self) -> Json {
        let roadmap = self.roadmap;
        let operations: Vec<Json> =
            roadmap.operations.iter().map(|operation| self.operation(operation)).collect();
        let claims: Vec<Json> = roadmap.claims.iter().map(|claim| self.claim(claim)).collect();
        json!({
            "bounds": bounds_json(&roadmap.bounds, &[]),
            "states": roadmap.states,
            "shared_states": roadmap.shared_states,
            "complete": roadmap.complete,
            "operations": operations,
            "claims": claims,
            "well_formed": roadmap.well_formed,
            "reach": roadmap.reach.as_ref().map(ToString::to_string),
        })
    }

    fn operation(&self, operation: &RoadmapOperation) -> Json {
        let updates: Vec<Json> = operation.updates.iter().map(|step| self.update(step)).collect();
        let conditions: Vec<Json> =
            operation.conditions.iter().map(|condition| self.condition(condition)).collect();
        json!({
            "operation": operation.name,
            "kind": kind(operation.kind),
            "without_updates": match operation.without_updates {
                WithoutUpdates::LastRead => "last-read",
                WithoutUpdates::ReadOnly => "read-only",
            },
            "critical": operation.critical,
            "updates": updates,
            "conditions": conditions,
        })
    }

    fn update(&self, step: &UpdateStep) -> Json {
        let effect = |effect: &Effect| {
            let witness = effect.witness.as_ref().map(|witness| self.witness(witness));
            json!({
                "operation": effect.operation, "read_only": effect.read_only,
                "preserved": effect.preserved, "changed": effect.changed, "witness": witness,
            })
        };
        let effects: Vec<Json> = step.effects.iter().map(effect).collect();
        json!({ "line": step.line, "source": step.source, "effects": effects })
    }

    fn condition(&self, condition: &StepCondition) -> Json {
        let mut object = Map::new();
        object.insert("line".to_owned(), json!(condition.line));
        object.insert("step".to_owned(), json!(condition.step));
        object.insert("condition".to_owned(), json!(condition.condition));
        object.insert("origin".to_owned(), json!(origin(condition.origin)));
        object.insert("exact".to_owned(), json!(condition.exact));
        self.status(&condition.status, &mut object);
        Json::Object(object)
    }

    fn claim(&self, claim: &Claim) -> Json {
        let stage = match claim.rule.stage() {
            Stage::Conditions => "conditions",
            Stage::Updates => "updates",
            Stage::Reads => "reads",
            Stage::Confirmation => "confirmation",
        };
        let mut object = Map::new();
        object.insert("rule".to_owned(), json!(claim.rule.id()));
        object.insert("stage".to_owned(), json!(stage));
        object.insert("source".to_owned(), json!(claim.rule.source()));
        object.insert("operation".to_owned(), json!(claim.operation));
        object.insert("text".to_owned(), json!(claim.text));
        self.status(&claim.status, &mut object);
        Json::Object(object)
    }

    /// The status and what belongs to it.
    fn status(&self, status: &Status, object: &mut Map<String, Json>) {
        object.insert("status".to_owned(), json!(status.id()));
        let more = match status {
            Status::Explored { cases } => ("cases", json!(cases)),
            Status::Shown { how } => ("how", json!(how)),
            Status::Refuted(witness) => ("witness", self.witness(witness)),
            Status::NotNeeded { why } | Status::NotChecked { why } => ("why", json!(why)),
            Status::NeverMet => return,
        };
        object.insert(more.0.to_owned(), more.1);
    }

    fn witness(&self, witness: &Witness) -> Json {
        let states: Vec<Json> = witness.states.iter().map(state).collect();
        let mut object = Map::new();
        object.insert("text".to_owned(), json!(witness.text));
        object.insert("states".to_owned(), json!(states));
        if let (Some(program), Some(run)) = (self.findings.program, &witness.run) {
            let view = RunView { program, run };
            let history: Vec<Json> = run.events.iter().map(|event| view.event(event)).collect();
            object.insert("history".to_owned(), json!(history));
            object.insert("schedule".to_owned(), schedule::to_json(program, &run.schedule));
        }
        Json::Object(object)
    }
}

fn state(state: &SharedPicture) -> Json {
    let named = |fields: &[(String, SharedValue)]| -> Vec<Json> {
        let field =
            |(name, of): &(String, SharedValue)| json!({ "name": name, "value": value(of) });
        fields.iter().map(field).collect()
    };
    let node = |node: &SharedNode| json!({ "of": node.of, "fields": named(&node.fields) });
    let nodes: Vec<Json> = state.nodes.iter().map(node).collect();
    json!({
        "caption": state.caption, "variables": named(&state.variables), "nodes": nodes,
        "drawn": state.lines(),
    })
}

fn value(value: &SharedValue) -> Json {
    match value {
        SharedValue::Node(node) => json!({ "node": node }),
        SharedValue::Null => Json::Null,
        SharedValue::Bool(truth) => json!(truth),
        SharedValue::Word(word) => json!(word),
    }
}
