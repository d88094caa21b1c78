//! Small programs that are there to catch an explorer that is too kind, and what they depend on:
//! where a condition is evaluated, what a `seen` bit outlives, origins and not values.

use super::correlated::{ObjectId, as_token};
use super::{Config, Correlated, Exploration, Link, Order, Values, Wrong, explore};
use linchpin_ir::interpreter::{Fault, FaultKind, Machine, Memory, Move, State, Status, Successor};
use linchpin_ir::liveness::live_locals;
use linchpin_ir::program::Program;
use linchpin_spec::Value;
use std::collections::BTreeSet;

const STACK: &str = "spec stack; struct Node { val: int, next: Node } shared top: Node = null;";

const PUSH: &str = "
    op push(v: int) {
        let x = new Node { val: v };
        loop {
            let t = top;
            x.next = t;
            #[lin] if cas(top, t, x) { return; }
        }
    }";

const POP: &str = "
    op pop() -> int? {
        loop {
            let t = top;
            if t == null { return none; }
            let s = t.next;
            #[lin] if cas(top, t, s) { return t.val; }
        }
    }";

/// The link of all models here.
const NEXT: Link = Link { field: 1, component: None };

fn compiled(source: &str) -> Program {
    let config = linchpin_lang::Config::default();
    linchpin_lang::compile(source, &config).unwrap_or_else(|e| panic!("{e:?}\n{source}")).program
}

fn explored(parts: &[&str], values: Values) -> Exploration {
    let program = compiled(&format!("{} bounds {{ threads: 2 }}", parts.concat()));
    let order = Order::BreadthFirst;
    explore(&program, &Config { threads: 2, objects: 4, values, cap: 20_000, order }).unwrap()
}

fn wrong(parts: &[&str]) -> Option<Wrong> {
    explored(parts, Values::Distinct).wrong.map(|trace| trace.wrong)
}

#[test]
fn an_empty_answer_needs_no_point() {
    let found = explored(&[STACK, PUSH, POP], Values::Distinct);
    assert!(found.wrong.is_none() && found.complete);
    let seen = |state: &Correlated| (0..2).any(|thread| state.seen(thread, &Value::Null));
    let count = found.states.iter().filter(|state| seen(state)).count();
    assert!(count > 100 && count < found.states.len(), "{count}");
}

/// The node of the last try is the one that is published, and the one that is correlated, though
/// the thread still knows the one before.
#[test]
fn a_new_node_in_each_try() {
    let push = "
        op push(v: int) {
            let before: Node = null;
            loop {
                let x = new Node { val: v };
                let t = top;
                x.next = t;
                #[lin] if cas(top, t, x) {
                    if before != null { before.next = null; }
                    return;
                }
                before = x;
            }
        }";
    let found = explored(&[STACK, push, POP], Values::Distinct);
    assert!(found.wrong.is_none());
    let mut tries = 0;
    for state in &found.states {
        let listed = state.reachable(0, NEXT);
        assert!(listed.iter().all(|object| state.correlated(*object).is_some()));
        tries += usize::from((0..2).any(|thread| state.owned(thread).len() == 2));
    }
    assert!(tries > 100, "{tries}");
}

/// A thread that holds a value keeps the node that it came from, though nothing refers to it.
#[test]
fn the_origin_of_a_value_is_kept() {
    let pop = POP.replace(
        "loop {",
        "loop {
            let p = top;
            if p != null {
                let q = p.val;
                let again = top;
                if q == 0 { return none; }
            }",
    );
    let found = explored(&[STACK, PUSH, &pop], Values::Distinct);
    assert!(found.wrong.is_none());
    let (mut held, mut alone) = (0, 0);
    for state in &found.states {
        for thread in 0..2 {
            let popping = state.stands(thread).is_some_and(|(operation, _)| operation == 1);
            for value in state.locals(thread).iter().filter(|v| popping && as_token(v).is_some()) {
                let origin = state.objects().find(|(_, object)| object.fields.contains(value));
                let (origin, _) = origin.expect("the origin is kept");
                held += 1;
                alone += usize::from(!state.reachable(0, NEXT).contains(&origin));
            }
        }
    }
    assert!(held > alone && alone > 10, "{held} {alone}");
}

/// Publishing a node publishes what it refers to.
#[test]
fn ownership_ends_for_the_whole_chain() {
    let stack = "spec stack; struct Tag { n: int } struct Node { val: int, next: Node, tag: Tag }
        shared top: Node = null;";
    let push = PUSH.replace(
        "let x = new Node { val: v };",
        "let g = new Tag {}; let x = new Node { val: v, tag: g };",
    );
    let found = explored(&[stack, &push, POP], Values::Distinct);
    assert!(found.wrong.is_none());
    let mut two = 0;
    for state in &found.states {
        let owned: BTreeSet<ObjectId> = (0..2).flat_map(|thread| state.owned(thread)).collect();
        two += usize::from(owned.len() >= 2);
        for (object, of) in state.objects().filter(|(object, _)| !owned.contains(object)) {
            let referred = of.fields.iter().filter_map(Correlated::object_of);
            assert_eq!(referred.filter(|other| owned.contains(other)).count(), 0, "{object:?}");
        }
    }
    assert!(two > 100, "{two}");
}

#[test]
fn null_is_a_fault_not_a_dropped_path() {
    let pop = POP.replace("if t == null { return none; }", "");
    let found = wrong(&[STACK, PUSH, &pop]);
    let Some(Wrong::Fault(fault)) = found else { panic!("{found:?}") };
    assert_eq!(fault.kind, FaultKind::NullDereference);
}

#[test]
fn an_update_without_its_point() {
    let pop = POP.replace("#[lin] if cas(top", "#[lin(when s == null)] if cas(top");
    let found = wrong(&[STACK, PUSH, &pop]);
    assert!(matches!(found, Some(Wrong::NoPoint { .. })), "{found:?}");
}

#[test]
fn a_second_point() {
    let push = PUSH.replace("{ return; }", "{ #[lin] let again = top; return; }");
    let found = wrong(&[STACK, &push, POP]);
    assert!(matches!(found, Some(Wrong::SecondPoint { .. })), "{found:?}");
}

#[test]
fn a_value_written_after_publication() {
    let push = PUSH.replace("{ return; }", "{ x.val = 7; return; }");
    let found = wrong(&[STACK, &push, POP]);
    assert!(matches!(found, Some(Wrong::Answer { .. })), "{found:?}");
}

/// With one value for all, only the origin tells that the answer is another node's.
#[test]
fn an_answer_of_another_node() {
    let pop = POP.replace("{ return t.val; }", "{ if s == null { return t.val; } return s.val; }");
    assert!(explored(&[STACK, PUSH, &pop], Values::UpTo(1)).wrong.is_none());
    let found = wrong(&[STACK, PUSH, &pop]);
    assert!(matches!(found, Some(Wrong::Answer { .. })), "{found:?}");
}

#[test]
fn what_was_seen_is_forgotten_at_the_next_call() {
    let pop = POP
        .replace("loop {", "if was_empty { was_empty = false; return none; } loop {")
        .replace("{ return none; }", "{ was_empty = true; return none; }");
    let found = wrong(&[STACK, "local was_empty: bool;", PUSH, &pop]);
    assert!(matches!(found, Some(Wrong::NoPoint { .. })), "{found:?}");
}

/// The condition of a point means what it means there, not at the end of the step.
#[test]
fn a_condition_in_the_middle_of_a_step() {
    let push = |before: &str, after: &str| {
        format!(
            "op push(v: int) {{
                let x = new Node {{ val: v }};
                let go = {before};
                atomic {{
                    let t = top;
                    x.next = t;
                    #[lin(when go)] top = x;
                    go = {after};
                }}
                if go == {after} {{ return; }}
            }}"
        )
    };
    assert_eq!(wrong(&[STACK, &push("true", "false"), POP]), None);
    let found = wrong(&[STACK, &push("false", "true"), POP]);
    assert!(matches!(found, Some(Wrong::NoPoint { .. })), "{found:?}");
}

/// Correlated nodes hold the same value; an owned node is not correlated and cannot be reached.
#[test]
fn the_correlation_is_between_nodes_of_the_same_call() {
    let found = explored(&[STACK, PUSH, POP], Values::Distinct);
    let (mut uniform, mut apart) = (0, 0);
    for state in &found.states {
        for (object, node) in &state.correlation {
            let value = &state.candidate.heap[object.0 as usize].fields[0];
            assert_eq!(*value, state.reference.node(*node).unwrap().value);
            match state.is_uniform(*object, NEXT) {
                Some(true) => uniform += 1,
                _ => apart += 1,
            }
        }
        for thread in 0..2 {
            for object in state.owned(thread) {
                assert!(state.correlated(object).is_none());
                assert!(!state.reachable(0, NEXT).contains(&object));
            }
        }
    }
    // Treiber's list and the reference's never differ.
    assert!(uniform > 1000 && apart == 0, "{uniform} {apart}");
}

/// Some threads own a node, not all do.
#[test]
fn owned_nodes_are_published_by_a_store() {
    let found = explored(&[STACK, PUSH, POP], Values::Distinct);
    let owners = found.states.iter().filter(|s| (0..2).any(|t| !s.owned(t).is_empty())).count();
    assert!(owners > 100 && owners < found.states.len(), "{owners}");
}

fn every_model() -> impl Iterator<Item = (&'static str, Program)> {
    let all = super::models::LISTS.into_iter().chain(super::models::SETS);
    all.map(|name| (name, super::models::model(name)))
}

/// Two ways to compute what is live, on all models.
#[test]
fn liveness_agrees() {
    for (name, program) in every_model() {
        for operation in &program.operations {
            let (body, split) = super::split::split(&operation.body);
            let ours = super::live::live(&body, &split);
            for (node, live) in live_locals(&operation.body).iter().enumerate() {
                let theirs: Vec<usize> = (0..live.len()).filter(|local| live[*local]).collect();
                let ours: Vec<usize> = ours[node].iter().copied().collect();
                assert_eq!(ours, theirs, "{name}, {}, node {node}", operation.name);
            }
        }
    }
}

/// The steps of the body that is cut at its points are the steps of the model: from every state of
/// a random run, both lead to the same states.
#[test]
fn cutting_at_points_changes_no_step() {
    let mut random = fastrand::Rng::with_seed(13);
    for (name, program) in every_model() {
        let mut cut = program.clone();
        let mut splits = Vec::new();
        for operation in &mut cut.operations {
            let (body, split) = super::split::split(&operation.body);
            operation.body = body;
            splits.push(split);
        }
        let whole = Machine::new(&program, Memory::Collected);
        let parts = Machine::new(&cut, Memory::Collected);
        let (mut state, mut cuts) = (whole.initial().unwrap(), 0);
        for number in 0..5000 {
            if number % 100 == 0 {
                state = whole.initial().unwrap();
            }
            let (operation, what) = random_move(&program, &state, &mut random);
            let (thread, mut next) = (what.thread().unwrap(), parts.successors(&state, &what));
            while let [Successor { result: Ok(middle), .. }] = next.as_slice()
                && let Status::Running { node, .. } = middle.threads[thread].status
                && splits[operation].is_cut(node)
            {
                next = parts.successors(middle, &Move::Step { thread });
                cuts += 1;
            }
            let results = |all: Vec<Successor>| -> Vec<Result<State, Fault>> {
                all.into_iter().map(|one| one.result).collect()
            };
            let next = results(next);
            assert_eq!(next, results(whole.successors(&state, &what)), "{name}");
            if let [Ok(next)] = next.as_slice() {
                state = next.clone();
            }
        }
        assert!(cuts > 50, "{name}: {cuts}");
    }
}

/// A move of one of two threads, and the operation that it belongs to.
fn random_move(program: &Program, state: &State, random: &mut fastrand::Rng) -> (usize, Move) {
    let thread = random.usize(..2);
    match &state.threads[thread].status {
        Status::Idle => {
            let operation = random.usize(..program.operations.len());
            let count = program.operations[operation].parameters.len();
            let argument = Value::Int(random.i64(1..=2));
            (operation, Move::Invoke { thread, operation, arguments: vec![argument; count] })
        }
        Status::Running { operation, .. } => (*operation, Move::Step { thread }),
        Status::Returning { operation, .. } => (*operation, Move::Respond { thread }),
        other => unreachable!("no thread crashes: {other:?}"),
    }
}

/// The canonical form of a canonical state is the state itself, and dead locals are as at the
/// start.
#[test]
fn canonical_states() {
    let program = super::models::model("ms_queue");
    let found = explore(&program, &super::models::config("ms_queue", 3_000)).unwrap();
    for state in &found.states {
        assert_eq!(super::canonical::canonical(state), **state);
        for thread in 0..2 {
            let Some((operation, Some(node))) = state.stands(thread) else { continue };
            let body = &program.operations[operation].body;
            assert!(body.nodes[node.0 as usize].yields);
            for (local, value) in state.locals(thread).iter().enumerate() {
                if !found.is_live(operation, node.0 as usize, local) {
                    assert_eq!(*value, body.locals[local].initial);
                }
            }
        }
    }
}

/// The lazy list through one key: the bit is set exactly where an unmarked node with the key can be
/// reached, and locks are held by calls.
#[test]
fn the_bit_of_a_key() {
    use super::KeyClass;
    let program = super::models::model("lazy_set");
    let found = explore(&program, &super::models::config("lazy_set", 10_000)).unwrap();
    let mut set = 0;
    for state in &found.states {
        for key in [1, 2] {
            let in_list = state.reachable(0, NEXT).into_iter().any(|object| {
                let fields = &state.candidate.heap[object.0 as usize].fields;
                let class = KeyClass::of(fields[0].as_int().unwrap(), key);
                class == KeyClass::Key && fields[2] == Value::Bool(false)
            });
            assert_eq!(state.bit(key), in_list);
            set += usize::from(state.bit(key));
        }
        for (_, object) in state.objects() {
            if let Some(holder) = Correlated::holder(&object.fields[3]) {
                assert!(state.stands(holder).is_some());
            }
        }
    }
    assert!(set > 100, "{set}");
}
