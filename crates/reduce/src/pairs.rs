//! The tables of the paper for any model: Figure 5 (pair-wise ordering and reversibility) and
//! Figure 13 (how operations interact).

use linchpin_subop::Names;
use linchpin_subop::model::{Condition, SubOperationId, Type};

use crate::candidates::same_condition;
use crate::claims;
use crate::context::Context;
use crate::relate::{self, Alias};
use crate::search::explore;
use crate::symbolic::Mode;
use crate::words;

/// An ordered pair of sub-operations of different instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The sub-operation that is executed first.
    pub first: String,
    /// The one after it.
    pub second: String,
    /// Some state that satisfies the facts lets the second follow the first (Definition 3).
    pub orderable: bool,
    /// What is true whenever it does, but not otherwise.
    pub condition: Vec<String>,
    /// The first ends its operation and the second starts one.
    pub boundary: bool,
    /// Every state that lets the second follow the first also lets them be executed the other way
    /// round, to the same end (Definition 4).
    pub reversible: bool,
}

/// How the variables of two operations may be related.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AliasCases {
    /// An operation.
    pub first: String,
    /// Another, or the same.
    pub second: String,
    /// The cases, as Figure 13 writes them.
    pub cases: Vec<String>,
}

/// Both tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Figure 5.
    pub pairs: Vec<Pair>,
    /// Figure 13.
    pub aliases: Vec<AliasCases>,
}

/// The tables of a model.
pub fn tables(context: &Context) -> Tables {
    let reachable = |id: &SubOperationId| {
        context
            .prefixes
            .all
            .iter()
            .any(|prefix| prefix.operation == id.operation && prefix.steps.contains(&id.index))
    };
    let all: Vec<SubOperationId> = context.model.sub_operations().filter(reachable).collect();
    let mut tables = Tables::default();
    for first in &all {
        for second in &all {
            tables.pairs.push(pair(context, *first, *second));
        }
    }
    for first in 0..context.model.operations.len() {
        for second in first..context.model.operations.len() {
            tables.aliases.push(aliases(context, first, second));
        }
    }
    tables
}

fn pair(context: &Context, first: SubOperationId, second: SubOperationId) -> Pair {
    let found = claims::pair(context, first, second, None);
    let boundary = claims::is_boundary(context, first, second);
    let anyway = found.anyway.unwrap_or_default();
    let operation = &context.model.operations[first.operation.0];
    let names = Names::of(context.model, operation);
    let condition: Vec<Condition> = found
        .whenever
        .unwrap_or_default()
        .into_iter()
        .filter(|known| !anyway.iter().any(|other| same_condition(known, other)))
        .collect();
    Pair {
        first: context.model.sub_operation(first).name.clone(),
        second: context.model.sub_operation(second).name.clone(),
        orderable: found.orderable || found.unknown,
        condition: condition.iter().map(|condition| names.condition(condition)).collect(),
        boundary,
        reversible: !boundary && found.orderable && !found.order_matters && !found.unknown,
    }
}

/// The alias cases in which complete executions of the two operations follow each other.
fn aliases(context: &Context, first: usize, second: usize) -> AliasCases {
    let complete = |operation: usize| {
        let ends = move |prefix: &usize| {
            let data = &context.prefixes.all[*prefix];
            data.operation.0 == operation && data.complete
        };
        context.prefixes.nonempty().filter(ends).collect::<Vec<_>>()
    };
    let starts = [context.prefixes.empty[first], context.prefixes.empty[second]];
    let mut cases: Vec<String> = Vec::new();
    for one in complete(first) {
        for two in complete(second) {
            let outcome = explore(context, &starts, &mut |symbolic, start| {
                let mut there = start.clone();
                symbolic.execute_all(&mut there, 0, one, Mode::Assume)?;
                symbolic.execute_all(&mut there, 1, two, Mode::Assume)?;
                let all = relate::alias(symbolic, &there);
                let references = all.pairs.into_iter().filter(|(left, _, equal)| {
                    *equal && context.model.operations[first].locals[*left].ty != Type::Int
                });
                let case = words::alias(context, one, two, &Alias { pairs: references.collect() });
                if !cases.contains(&case) {
                    cases.push(case);
                }
                Ok(true)
            });
            if outcome.is_err() {
                cases.push("…".to_owned());
            }
        }
    }
    cases.sort();
    let name = |operation: usize| context.model.operations[operation].name.clone();
    AliasCases { first: name(first), second: name(second), cases }
}

impl Tables {
    /// Both tables as text, for `--table`.
    pub fn text(&self) -> String {
        let mut text = "Pair-wise ordering (Figure 5)\n".to_owned();
        for pair in &self.pairs {
            let sign = if pair.orderable { " " } else { "¬" };
            let mut notes = Vec::new();
            if pair.orderable && !pair.condition.is_empty() {
                notes.push(format!("if {}", pair.condition.join(", ")));
            }
            if pair.orderable && pair.boundary {
                notes.push("boundary case".to_owned());
            }
            let notes =
                if notes.is_empty() { String::new() } else { format!("   [{}]", notes.join("; ")) };
            text += &format!("  {sign} {} ≀ {}{notes}\n", pair.first, pair.second);
        }
        text += "\nPair-wise reversibility of those that are not boundary cases (Figure 5)\n";
        for pair in self.pairs.iter().filter(|pair| pair.orderable && !pair.boundary) {
            let sign = if pair.reversible { " " } else { "¬" };
            text += &format!("  {sign} {} ⊖ {}\n", pair.first, pair.second);
        }
        text += "\nInteractions (Figure 13)\n";
        for pair in &self.aliases {
            text += &format!("  {}₁ – {}₂\n", pair.first, pair.second);
            for (number, case) in pair.cases.iter().enumerate() {
                text += &format!("    {}. {case}\n", number + 1);
            }
        }
        text
    }
}
