//! A roadmap made by hand: the lazy list, its `contains` with a condition that does not fit.

use linchpin_engine::{
    Claim, Effect, OperationKind, Origin, Reach, Roadmap, RoadmapOperation, Rule, SharedNode,
    SharedPicture, SharedValue, Status, StepCondition, UpdateStep, WithoutUpdates, Witness,
};
use linchpin_verdict::{Bound, Calls, Values};

fn node(val: &str, next: Option<usize>, marked: bool) -> SharedNode {
    let next = next.map_or(SharedValue::Null, SharedValue::Node);
    let fields = [
        ("val", SharedValue::Word(val.to_owned())),
        ("next", next),
        ("marked", SharedValue::Bool(marked)),
    ];
    let fields = fields.map(|(name, value)| (name.to_owned(), value)).into();
    SharedNode { of: "Node".to_owned(), fields }
}

/// A list with one key, marked or not.
fn state(caption: &str, marked: bool) -> SharedPicture {
    let variables = [
        ("head", SharedValue::Node(0)),
        ("c", SharedValue::Node(1)),
        ("e", SharedValue::Word("1".to_owned())),
    ];
    SharedPicture {
        caption: caption.to_owned(),
        variables: variables.map(|(name, value)| (name.to_owned(), value)).into(),
        nodes: vec![
            node("MIN", Some(1), false),
            node("1", Some(2), marked),
            node("MAX", None, false),
        ],
    }
}

fn witness() -> Witness {
    Witness {
        text: "In this state the condition holds, and `contains(1)` alone answers false."
            .to_owned(),
        states: vec![state("before line 90", false), state("after line 90", true)],
        run: None,
    }
}

fn contains() -> RoadmapOperation {
    let condition = |line, step: &str, condition: &str, status, exact| StepCondition {
        line,
        step: step.to_owned(),
        condition: condition.to_owned(),
        origin: if line == 38 { Origin::Stated } else { Origin::Suggested },
        status,
        exact,
    };
    RoadmapOperation {
        name: "contains".to_owned(),
        kind: OperationKind::ReadOnly,
        without_updates: WithoutUpdates::LastRead,
        critical: Vec::new(),
        updates: Vec::new(),
        conditions: vec![
            condition(
                38,
                "return true",
                "reach(head, next, c) && c.val == e && !exists n: Node { reach(head, next, n) && e <= n.val && n.val < c.val }",
                Status::Refuted(Box::new(witness())),
                None,
            ),
            condition(
                41,
                "return false",
                "c.marked || c.val != e",
                Status::Explored { cases: 1234 },
                Some(true),
            ),
        ],
    }
}

fn remove() -> RoadmapOperation {
    let effect = |operation: &str, read_only, changed, witness| Effect {
        operation: operation.to_owned(),
        read_only,
        preserved: 20,
        changed,
        witness,
    };
    let step = |line, source: &str, changed: usize| UpdateStep {
        line,
        source: source.to_owned(),
        effects: vec![
            effect("contains", true, changed, (changed > 0).then(|| Box::new(witness()))),
            effect("remove", false, 0, None),
        ],
    };
    RoadmapOperation {
        name: "remove".to_owned(),
        kind: OperationKind::Update,
        without_updates: WithoutUpdates::LastRead,
        critical: vec![vec![90, 93]],
        updates: vec![step(90, "n2.marked = true", 4), step(93, "n1.next = n2.next", 0)],
        conditions: Vec::new(),
    }
}

/// The roadmap.
pub fn roadmap() -> Roadmap {
    let claim = |rule, operation: &str, text: &str, status| Claim {
        rule,
        operation: Some(operation.to_owned()),
        text: text.to_owned(),
        status,
    };
    Roadmap {
        bounds: vec![
            Bound::Threads(2),
            Bound::Calls(Calls::Each(3)),
            Bound::Values(Values::UpTo(2)),
        ],
        states: 12_345,
        shared_states: 67,
        complete: true,
        operations: vec![contains(), remove()],
        claims: vec![
            claim(
                Rule::CriticalBasePoint,
                "remove",
                "`remove` begins its critical sequence in a base point for all its steps.",
                Status::Explored { cases: 50 },
            ),
            claim(
                Rule::Commute,
                "remove",
                "Steps of the critical sequence of `remove` commute with those that interleave.",
                Status::NeverMet,
            ),
            claim(
                Rule::OneStep,
                "remove",
                "A call of `remove` has at most one step that does not preserve.",
                Status::Shown { how: "in every abstract state".to_owned() },
            ),
            claim(
                Rule::ReadBasePoint,
                "contains",
                "When `contains` answers, some state since its call is a base point for that answer.",
                Status::Refuted(Box::new(witness())),
            ),
        ],
        well_formed: vec!["the list from `head` is sorted by `val`".to_owned()],
        reach: Some(Reach::NotNecessary),
    }
}
