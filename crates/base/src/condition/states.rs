//! Well-formed states: all shared states up to a size in which the facts of the explored states
//! hold, whether or not an execution reaches them.

use super::facts::{Facts, Leaf, NoWellFormed, Pointer, Values, facts};
use crate::analyse::Analysis;
use crate::code::{Code, NotApplicable};
use crate::explore::calls_of;
use crate::{BaseError, Call};
use linchpin_ir::interpreter::{Object, State};
use linchpin_ir::program::{Program, Type};
use linchpin_space::{Bounds, Flat, Space, Values as Passed};
use linchpin_spec::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A list of more nodes than this is not made.
const MOST_NODES: usize = 5;

/// No more states than this are made.
const MOST_STATES: usize = 8_000;

/// Well-formed states, and the calls that are made from them.
pub struct WellFormed {
    /// The state space, with as many values as the states have.
    pub space: Space,
    /// The calls.
    pub calls: Vec<Call>,
    /// The states, small ones first.
    pub states: Vec<Flat>,
    /// What holds in them, as sentences.
    pub facts: Vec<String>,
    /// The most nodes that one has.
    pub nodes: usize,
    /// Clients pass the integers from 1 to this one.
    pub values: i64,
}

/// The shared states that were explored, small ones first.
pub fn explored(analysis: &Analysis) -> Vec<Flat> {
    let count = analysis.shared.len() as u32;
    let mut states: Vec<Flat> =
        (0..count).map(|id| analysis.shared.state(&analysis.space, id)).collect();
    states.sort_by_key(|flat| analysis.space.objects(flat));
    states
}

/// The well-formed states with `further` values more than were explored.
pub fn well_formed(
    analysis: &Analysis,
    explored: &[Flat],
    further: i64,
) -> Result<WellFormed, NoWellFormed> {
    let program = analysis.space.program();
    let mut facts = facts(&analysis.space, explored)?;
    let values = analysis.space.last_value();
    let values = match widen(program, &mut facts, values, values + further) {
        true => values + further,
        false => values,
    };
    let bounds = Bounds { values: Passed::UpTo(values), ..*analysis.space.bounds() };
    let (space, calls) = wider(analysis, bounds).map_err(|_| NoWellFormed::NotOneList)?;
    let mut nodes = MOST_NODES.max(facts.shortest);
    let states = loop {
        match enumerate(program, &facts, nodes) {
            Some(states) => break states,
            None if nodes > facts.shortest.max(1) => nodes -= 1,
            None => return Err(NoWellFormed::Stopped),
        }
    };
    let mut states = states;
    states.sort_by_key(|state| state.heap.len());
    let nodes = states.last().map_or(0, |state| state.heap.len());
    let states = states.iter().filter_map(|state| space.at_rest(state).ok()).collect();
    let facts = sentences(program, &facts, values);
    Ok(WellFormed { space, calls, states, facts, nodes, values })
}

/// The space of the same program with other bounds, and its calls.
pub fn wider(analysis: &Analysis, bounds: Bounds) -> Result<(Space, Vec<Call>), BaseError> {
    let program = analysis.space.program();
    let space = Space::new(program, bounds, *analysis.space.reductions())?.telling_edges();
    let calls = Code::new(program, bounds.memory).and_then(|code| calls_of(&space, &code));
    let calls = calls.map_err(|why: NotApplicable| BaseError::from(why))?;
    Ok((space, calls))
}

/// Lets integers that are values of clients be further ones too; whether there are such.
fn widen(program: &Program, facts: &mut Facts, values: i64, to: i64) -> bool {
    let mut parameters = program.operations.iter().flat_map(|operation| &operation.parameters);
    if !parameters.any(|parameter| parameter.ty == Type::Int && parameter.range.is_none()) {
        return false;
    }
    let mut widened = false;
    for (leaf, of) in facts.list.leaves.iter().zip(&mut facts.values) {
        let is_value = |value: &i64| (1..=values).contains(value);
        if leaf.is_integer && !of.others.is_empty() && of.others.iter().all(is_value) {
            of.others.extend(1..=to);
            widened = true;
        }
    }
    widened
}

/// All states with at most so many nodes; none if there are too many.
fn enumerate(program: &Program, facts: &Facts, nodes: usize) -> Option<Vec<State>> {
    let mut states = Vec::new();
    for length in facts.shortest..=nodes {
        let mut lists = vec![Vec::new()];
        for position in 0..length {
            let mut longer = Vec::new();
            for list in &lists {
                extend(facts, list, position, length, &mut longer);
                if longer.len() > MOST_STATES {
                    return None;
                }
            }
            lists = longer;
        }
        for list in lists {
            shared(program, facts, &list, &mut states);
            if states.len() > MOST_STATES {
                return None;
            }
        }
    }
    Some(states)
}

type Row = Vec<i64>;

/// A list with every node that may come next.
fn extend(facts: &Facts, list: &[Row], position: usize, length: usize, out: &mut Vec<Vec<Row>>) {
    let mut rows: Vec<Row> = vec![Vec::new()];
    for (number, Values { first, last, others, grows, differs }) in facts.values.iter().enumerate()
    {
        let is_last = position + 1 == length;
        let choices: Vec<i64> = match (first, last) {
            (Some(first), _) if position == 0 => vec![*first],
            (_, Some(last)) if is_last => vec![*last],
            _ => others.iter().copied().collect(),
        };
        let fits = |value: &i64| {
            let follows = list.last().is_none_or(|before| before[number] < *value);
            let is_new = list.iter().all(|before| before[number] != *value);
            (follows || !grows) && (is_new || !differs)
        };
        let choices: Vec<i64> = choices.into_iter().filter(fits).collect();
        let with = |row: &Row| {
            let row = row.clone();
            choices.iter().map(move |value| row.iter().copied().chain([*value]).collect())
        };
        rows = rows.iter().flat_map(with).collect();
    }
    out.extend(rows.into_iter().map(|row| list.iter().cloned().chain([row]).collect()));
}

/// The states that have this list.
fn shared(program: &Program, facts: &Facts, list: &[Row], out: &mut Vec<State>) {
    let mut state = State::blank(program);
    for (at, row) in list.iter().enumerate() {
        let next = if at + 1 < list.len() { Value::Ref(at as u32 + 1) } else { Value::Null };
        state.heap.push(Arc::new(node(program, facts, row, next)));
    }
    let reference = |at: Option<usize>| at.map_or(Value::Null, |at| Value::Ref(at as u32));
    state.shared[facts.list.root] = reference((!list.is_empty()).then_some(0));
    let mut states = vec![state];
    for (at, pointer) in facts.list.pointers.iter().zip(&facts.pointers) {
        let choices: Vec<Option<usize>> = match pointer {
            Pointer::Last => vec![list.len().checked_sub(1)],
            Pointer::Any { or_null } => {
                let nodes = (0..list.len()).map(Some);
                (*or_null || list.is_empty()).then_some(None).into_iter().chain(nodes).collect()
            }
        };
        states = with(&states, &choices, |state, choice| state.shared[*at] = reference(*choice));
    }
    for (leaf, values) in facts.list.words.iter().zip(&facts.words) {
        let values: Vec<i64> = values.iter().copied().collect();
        states = with(&states, &values, |state, value| put(&mut state.shared, leaf, *value));
    }
    let apart = detached(program, facts, list.len());
    out.extend(with(&states, &apart, |state, object| state.heap.extend(object.clone())));
}

/// No further object, or one that nothing shared leads to: it may have any values and lead anywhere
/// on the list. No run sees it, but a local variable may hold it.
fn detached(program: &Program, facts: &Facts, length: usize) -> Vec<Option<Arc<Object>>> {
    let mut rows: Vec<Row> = vec![Vec::new()];
    for Values { first, last, others, .. } in &facts.values {
        let choices: BTreeSet<i64> = others.iter().chain(first).chain(last).copied().collect();
        let with = |row: &Row| {
            let row = row.clone();
            choices.iter().map(move |value| row.iter().copied().chain([*value]).collect())
        };
        rows = rows.iter().flat_map(with).collect();
    }
    let nexts = || std::iter::once(Value::Null).chain((0..length).map(|at| Value::Ref(at as u32)));
    let of = |row: &Row| {
        nexts().map(|next| Some(Arc::new(node(program, facts, row, next)))).collect::<Vec<_>>()
    };
    std::iter::once(None).chain(rows.iter().flat_map(of)).collect()
}

fn with<T>(states: &[State], choices: &[T], set: impl Fn(&mut State, &T)) -> Vec<State> {
    let mut all = Vec::with_capacity(states.len() * choices.len());
    for state in states {
        for choice in choices {
            let mut state = state.clone();
            set(&mut state, choice);
            all.push(state);
        }
    }
    all
}

fn node(program: &Program, facts: &Facts, row: &Row, next: Value) -> Object {
    let variables = &program.structs[facts.list.of].fields;
    let mut fields: Vec<Value> = variables.iter().map(|field| field.initial.clone()).collect();
    for (leaf, value) in facts.list.leaves.iter().zip(row) {
        put(&mut fields, leaf, *value);
    }
    set(&mut fields, &facts.list.link, next);
    Object { of: facts.list.of, fields, live: true }
}

fn put(values: &mut [Value], leaf: &Leaf, value: i64) {
    let value = if leaf.is_integer { Value::Int(value) } else { Value::Bool(value != 0) };
    set(values, leaf, value);
}

fn set(values: &mut [Value], leaf: &Leaf, value: Value) {
    match leaf.component {
        None => values[leaf.at] = value,
        Some(component) => {
            let items = values[leaf.at].as_list().unwrap_or_default().iter().enumerate();
            let items = items.map(|(at, old)| if at == component { &value } else { old }.clone());
            values[leaf.at] = Value::list(items.collect::<Vec<_>>());
        }
    }
}

/// The facts for people.
fn sentences(program: &Program, facts: &Facts, values: i64) -> Vec<String> {
    let list = &facts.list;
    let (root, link) = (&program.shared[list.root].name, &list.link.name);
    let mut all = vec![format!(
        "Following `{link}` from `{root}` comes to every shared object once and then to null."
    )];
    if facts.shortest > 0 {
        all.push(format!("`{root}` is not null."));
    }
    let shown = |leaf: &Leaf, value: i64| match (leaf.is_integer, value) {
        (false, value) => (value != 0).to_string(),
        (true, i64::MIN) => "MIN".to_owned(),
        (true, i64::MAX) => "MAX".to_owned(),
        (true, value) => value.to_string(),
    };
    for (leaf, of) in list.leaves.iter().zip(&facts.values) {
        let name = &leaf.name;
        let is_fixed = |value: &i64| of.others.iter().all(|other| other == value);
        if let Some(value) = of.first.filter(|value| of.last == Some(*value) && is_fixed(value)) {
            all.push(format!("`{name}` is {} in every node.", shown(leaf, value)));
            continue;
        }
        for (which, value) in [("first", of.first), ("last", of.last)] {
            if let Some(value) = value {
                all.push(format!("The {which} node has `{name}` {}.", shown(leaf, value)));
            }
        }
        if of.grows {
            all.push(format!("`{name}` grows from node to node."));
        } else if of.differs && leaf.is_integer {
            all.push(format!("No two nodes have the same `{name}`."));
        }
        let others: Vec<String> = of.others.iter().map(|value| shown(leaf, *value)).collect();
        // All integers that clients pass: no fact about the object.
        if leaf.is_integer && of.others.iter().copied().eq(1..=values) {
            continue;
        }
        if leaf.is_integer || others.len() < 2 {
            all.push(format!("Other nodes have `{name}` {}.", others.join(" or ")));
        }
    }
    for (at, pointer) in list.pointers.iter().zip(&facts.pointers) {
        let name = &program.shared[*at].name;
        all.push(match pointer {
            Pointer::Last => format!("`{name}` is the last node."),
            Pointer::Any { or_null: false } => format!("`{name}` is a node of that list."),
            Pointer::Any { or_null: true } => format!("`{name}` is null or a node of that list."),
        });
    }
    for (leaf, values) in list.words.iter().zip(&facts.words) {
        let values: Vec<String> = values.iter().map(|value| shown(leaf, *value)).collect();
        all.push(format!("`{}` is {}.", leaf.name, values.join(" or ")));
    }
    all
}
