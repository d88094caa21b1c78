//! A proof as JSON: all that a checker needs to confirm it, with code of its own, without searching
//! for anything.

use serde_json::{Value, json};

use crate::closure::{Closure, Member};
use crate::context::Context;
use crate::facts::{Facts, Statement};
use crate::pending::Pending;
use crate::relate::{Alias, Block, Known};
use crate::{Analysis, words};

/// What a checker needs to confirm a proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// The sub-operations as text.
    pub model: String,
    /// Facts, pair relations and closures; conditions are in the language of the text.
    pub proof: Value,
}

/// The facts, pair relations and closures of a proof.
pub fn proof(context: &Context, analysis: &Analysis, replaced: &[String]) -> Value {
    let invariants: Vec<String> = context
        .facts
        .invariants
        .iter()
        .filter(|invariant| invariant.dropped.is_none())
        .map(|invariant| words::invariant(context, invariant))
        .collect();
    let prefixes = analysis.pending.iter();
    let prefixes: Vec<Value> =
        prefixes.map(|(prefix, pending)| facts(context, *prefix, pending)).collect();
    let closures: Vec<Value> =
        analysis.closures.iter().map(|closure| self::closure(context, closure)).collect();
    json!({
        "replaced": replaced, "invariants": invariants, "prefixes": prefixes, "closures": closures,
    })
}

fn steps(context: &Context, prefix: usize) -> Vec<String> {
    let data = &context.prefixes.all[prefix];
    let operation = &context.model.operations[data.operation.0];
    data.steps.iter().map(|step| operation.sub_operations[*step].name.clone()).collect()
}

fn facts(context: &Context, prefix: usize, pending: &Pending) -> Value {
    let all: &Facts = &context.facts;
    let conditions: Vec<String> =
        all.conditions(prefix).map(|known| words::condition(context, prefix, known)).collect();
    let operation = &context.model.operations[context.prefixes.all[prefix].operation.0];
    let names = linchpin_subop::Names::of(context.model, operation);
    let mut reaches = Vec::new();
    for candidate in all.at[prefix].iter().filter(|candidate| candidate.dropped.is_none()) {
        if let Statement::Reach(reach) = &candidate.statement {
            let places: Vec<String> =
                reach.places.iter().map(|place| names.place(*place)).collect();
            reaches
                .push(json!({ "local": operation.locals[reach.local.0].name, "places": places }));
        }
    }
    let live: Vec<String> =
        all.live(prefix).map(|known| words::condition(context, prefix, known)).collect();
    json!({
        "steps": steps(context, prefix),
        "facts": conditions,
        "reaches": reaches,
        "live": live,
        "pending": if *pending == Pending::Enabled { "enabled" } else { "droppable" },
    })
}

fn closure(context: &Context, closure: &Closure) -> Value {
    let lasting: Vec<String> = closure
        .lasting
        .iter()
        .map(|known| words::condition(context, closure.prefix, known))
        .collect();
    json!({
        "steps": steps(context, closure.prefix),
        "lasting": lasting,
        "members": closure.members.iter().map(|found| member(context, closure, found)).collect::<Vec<_>>(),
    })
}

fn member(context: &Context, closure: &Closure, member: &Member) -> Value {
    let operation =
        |prefix: usize| &context.model.operations[context.prefixes.all[prefix].operation.0];
    let (mine, theirs) = (operation(closure.prefix), operation(member.block.prefix));
    let cases = member.cases.as_ref().map(|cases| {
        let case = |case: &Alias| {
            let pairs = case.pairs.iter();
            pairs
                .map(|(one, two, equal)| {
                    json!([mine.locals[*one].name, theirs.locals[*two].name, equal])
                })
                .collect::<Vec<_>>()
        };
        cases.iter().map(case).collect::<Vec<_>>()
    });
    let Block { prefix, complete } = member.block;
    json!({
        "steps": steps(context, prefix),
        "complete": complete,
        "cases": cases,
        "before": numbers(member.before),
        "then": numbers(member.then),
    })
}

fn numbers(known: Known) -> Vec<usize> {
    (0..Known::BITS as usize).filter(|at| known & (1 << at) != 0).collect()
}
