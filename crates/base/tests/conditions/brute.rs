//! Definition 1 by brute force on the states of the reference interpreter. Nothing here is shared
//! with the engine: not the exploration, not the evaluation of formulas, not the runs.

use linchpin_ir::interpreter::{Machine, Memory, Move, Object, Outcome, State, Status};
use linchpin_ir::program::{BinaryOp, Expr, Formula, LocalId, Program, Target, Type, UnaryOp};
use linchpin_spec::Value;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// The shared states of all executions with so many calls of each thread, of these values.
pub fn shared_states(program: &Program, calls: usize, values: i64) -> Vec<State> {
    let machine = Machine::new(program, Memory::default());
    let first = machine.initial().expect("init runs");
    let threads = program.threads.len();
    let mut seen = HashSet::new();
    let mut shared = HashSet::new();
    let mut all = Vec::new();
    let mut queue = VecDeque::from([(first, vec![calls; threads])]);
    while let Some((state, left)) = queue.pop_front() {
        let at_rest = at_rest(program, &state);
        if shared.insert(at_rest.clone()) {
            all.push(at_rest);
        }
        for thread in 0..threads {
            for (what, called) in moves(program, &state, thread, left[thread], values) {
                let Outcome::Next(next) = machine.attempt(&state, &what, &[], None).outcome else {
                    continue;
                };
                let mut left = left.clone();
                left[thread] -= usize::from(called);
                let next = (drop_garbage(&next), left);
                if seen.insert(next.clone()) {
                    queue.push_back(next);
                }
            }
        }
    }
    all
}

fn moves(
    program: &Program,
    state: &State,
    thread: usize,
    left: usize,
    values: i64,
) -> Vec<(Move, bool)> {
    match state.threads[thread].status {
        Status::Running { .. } => vec![(Move::Step { thread }, false)],
        Status::Interrupted { .. } | Status::Resolving { .. } | Status::Resolved { .. } => vec![],
        Status::Returning { .. } => vec![(Move::Respond { thread }, false)],
        Status::Idle if left == 0 => vec![],
        Status::Idle => {
            let calls = (0..program.operations.len())
                .flat_map(|operation| calls_of(program, operation, values));
            calls
                .map(|(operation, arguments)| (Move::Invoke { thread, operation, arguments }, true))
                .collect()
        }
    }
}

/// The calls of an operation.
pub fn calls_of(program: &Program, operation: usize, values: i64) -> Vec<(usize, Vec<Value>)> {
    match program.operations[operation].parameters.len() {
        0 => vec![(operation, vec![])],
        1 => (1..=values).map(|value| (operation, vec![Value::Int(value)])).collect(),
        _ => panic!("the oracle knows operations with one argument"),
    }
}

/// The same heap with its objects in the order in which these values reach them.
fn gather(roots: &[&Value], heap: &[Arc<Object>]) -> Vec<u32> {
    let mut order: Vec<u32> = Vec::new();
    let reach = |value: &Value, order: &mut Vec<u32>| {
        if let Value::Ref(at) = value
            && !order.contains(at)
        {
            order.push(*at);
        }
    };
    roots.iter().for_each(|value| reach(value, &mut order));
    let mut next = 0;
    while next < order.len() {
        let object = order[next] as usize;
        heap[object].fields.iter().for_each(|value| reach(value, &mut order));
        next += 1;
    }
    order
}

fn renamed(value: &Value, order: &[u32]) -> Value {
    match value {
        Value::Ref(at) => {
            let at = order.iter().position(|other| other == at).expect("it is reachable");
            Value::Ref(at as u32)
        }
        Value::List(items) => Value::list(items.iter().map(|item| renamed(item, order))),
        other => other.clone(),
    }
}

fn with_heap(state: &State, order: &[u32]) -> State {
    let object = |at: &u32| {
        let Object { of, fields, live } = &*state.heap[*at as usize];
        let fields = fields.iter().map(|value| renamed(value, order)).collect();
        Arc::new(Object { of: *of, fields, live: *live })
    };
    State {
        shared: state.shared.iter().map(|value| renamed(value, order)).collect(),
        heap: order.iter().map(object).collect(),
        ..state.clone()
    }
}

/// A state without the objects that nothing reaches.
fn drop_garbage(state: &State) -> State {
    let mut roots: Vec<&Value> = state.shared.iter().collect();
    for thread in &state.threads {
        if let Status::Running { locals, .. } = &thread.status {
            for local in locals {
                match local {
                    Value::List(items) => roots.extend(items.iter()),
                    other => roots.push(other),
                }
            }
        }
    }
    let order = gather(&roots, &state.heap);
    let mut next = with_heap(state, &order);
    for thread in &mut next.threads {
        if let Status::Running { operation, node, locals } = &thread.status {
            let locals = locals.iter().map(|value| renamed(value, &order)).collect();
            let status = Status::Running { operation: *operation, node: *node, locals };
            let mut other = (**thread).clone();
            other.status = status;
            *thread = Arc::new(other);
        }
    }
    next
}

/// What is shared, with all locks free.
fn at_rest(program: &Program, state: &State) -> State {
    let order = gather(&state.shared.iter().collect::<Vec<_>>(), &state.heap);
    let mut next = with_heap(state, &order);
    next.threads = vec![State::idle_thread(program); state.threads.len()];
    for object in &mut next.heap {
        let mut free = (**object).clone();
        let types = program.structs[free.of].fields.iter().map(|field| &field.ty);
        for (value, ty) in free.fields.iter_mut().zip(types) {
            if *ty == Type::Lock {
                *value = Value::Null;
            }
        }
        *object = Arc::new(free);
    }
    next
}

/// Where a condition stands: on this edge of this node.
pub type Places = HashSet<(u32, usize)>;

/// The values of locals each time a call that runs alone goes along one of these edges.
pub fn reached(
    program: &Program,
    from: &State,
    operation: usize,
    arguments: &[Value],
    places: &Places,
) -> Vec<Vec<Value>> {
    let machine = Machine::new(program, Memory::default());
    let body = &program.operations[operation].body;
    let mut state = from.clone();
    let mut what = Move::Invoke { thread: 0, operation, arguments: arguments.to_vec() };
    let mut reached = Vec::new();
    for _ in 0..500 {
        let before = locals(&state);
        let attempt = machine.attempt(&state, &what, &[], None);
        let Outcome::Next(next) = attempt.outcome else { break };
        for (node, edge) in &attempt.path {
            if !places.contains(&(node.0, *edge)) {
                continue;
            }
            // The conditions stand at the ends of edges; the locals that they mention are not
            // assigned on the way to a return.
            let returns =
                matches!(body.nodes[node.0 as usize].edges[*edge].target, Target::Return(_));
            let values = if returns { before.clone() } else { locals(&next) };
            reached.push(values.expect("it runs"));
        }
        state = next;
        if !matches!(state.threads[0].status, Status::Running { .. }) {
            break;
        }
        what = Move::Step { thread: 0 };
    }
    reached
}

fn locals(state: &State) -> Option<Vec<Value>> {
    match &state.threads[0].status {
        Status::Running { locals, .. } => Some(locals.clone()),
        _ => None,
    }
}

/// The locals that a formula mentions.
pub fn mentioned(formula: &Formula, out: &mut Vec<LocalId>) {
    match formula {
        Formula::Local(Expr::Local(local)) => {
            if !out.contains(local) {
                out.push(*local);
            }
        }
        Formula::Local(_) | Formula::Bound(_) | Formula::Shared(_) => {}
        Formula::SharedElement(_, inner)
        | Formula::Field(inner, ..)
        | Formula::Component(inner, _)
        | Formula::Unary(_, inner)
        | Formula::Forall(_, inner)
        | Formula::Exists(_, inner) => mentioned(inner, out),
        Formula::Binary(_, left, right) | Formula::Reach { from: left, to: right, .. } => {
            mentioned(left, out);
            mentioned(right, out);
        }
    }
}

/// The value of a formula; none where it reads a field of null.
pub fn evaluate(
    formula: &Formula,
    state: &State,
    locals: &HashMap<LocalId, Value>,
    bound: &[Value],
) -> Option<Value> {
    let go = |formula: &Formula| evaluate(formula, state, locals, bound);
    let holds = |formula: &Formula| go(formula) == Some(Value::Bool(true));
    Some(match formula {
        Formula::Local(Expr::Local(local)) => locals[local].clone(),
        Formula::Local(Expr::Const(value)) => value.clone(),
        Formula::Local(_) | Formula::SharedElement(..) | Formula::Component(..) => {
            panic!("the oracle does not know this")
        }
        Formula::Bound(out) => bound[bound.len() - 1 - out].clone(),
        Formula::Shared(at) => state.shared[*at].clone(),
        Formula::Field(object, _, field) => match go(object)? {
            Value::Ref(at) => state.heap.get(at as usize)?.fields[*field].clone(),
            _ => return None,
        },
        Formula::Unary(UnaryOp::Not, inner) => match go(inner)? {
            Value::Bool(value) => Value::Bool(!value),
            _ => return None,
        },
        Formula::Unary(UnaryOp::Negate | UnaryOp::ThreadNumber, _) => {
            panic!("the oracle does not know this")
        }
        Formula::Binary(BinaryOp::And, left, right) => Value::Bool(holds(left) && holds(right)),
        Formula::Binary(BinaryOp::Or, left, right) => Value::Bool(holds(left) || holds(right)),
        Formula::Binary(operator, left, right) => {
            let (Some(left), Some(right)) = (go(left), go(right)) else {
                return Some(Value::Bool(false));
            };
            Value::Bool(match operator {
                BinaryOp::Equal => left == right,
                BinaryOp::NotEqual => left != right,
                BinaryOp::Less => left < right,
                BinaryOp::LessEqual => left <= right,
                BinaryOp::Greater => left > right,
                BinaryOp::GreaterEqual => left >= right,
                _ => panic!("the oracle does not know this"),
            })
        }
        Formula::Reach { from, field: (_, field), to, .. } => {
            let (Some(mut here), Some(to)) = (go(from), go(to)) else {
                return Some(Value::Bool(false));
            };
            let mut seen = Vec::new();
            loop {
                if here == to {
                    return Some(Value::Bool(true));
                }
                let Value::Ref(at) = here else { return Some(Value::Bool(false)) };
                if seen.contains(&at) {
                    return Some(Value::Bool(false));
                }
                seen.push(at);
                here = state.heap[at as usize].fields[*field].clone();
            }
        }
        Formula::Forall(_, body) | Formula::Exists(_, body) => {
            let of = |at: usize| {
                let bound: Vec<Value> =
                    bound.iter().cloned().chain([Value::Ref(at as u32)]).collect();
                evaluate(body, state, locals, &bound) == Some(Value::Bool(true))
            };
            let mut nodes = 0..state.heap.len();
            Value::Bool(match formula {
                Formula::Forall(..) => nodes.all(of),
                _ => nodes.any(of),
            })
        }
    })
}

/// Whether a condition is a base condition in these states, and whether it is exact.
pub fn judge(
    program: &Program,
    states: &[State],
    operation: usize,
    formula: &Formula,
    places: &Places,
    values: i64,
) -> (bool, bool) {
    let code = &program.operations[operation];
    let parameters = code.parameters.len();
    let mut ids = Vec::new();
    mentioned(formula, &mut ids);
    let (mut is_base, mut is_exact) = (true, true);
    for state in states {
        for (_, arguments) in calls_of(program, operation, values) {
            let reached = reached(program, state, operation, &arguments, places);
            let at = |locals: &[Value]| -> HashMap<LocalId, Value> {
                ids.iter().map(|id| (*id, locals[id.0 as usize].clone())).collect()
            };
            let reached: Vec<_> = reached.iter().map(|locals| at(locals)).collect();
            let holds = |locals: &HashMap<LocalId, Value>| {
                evaluate(formula, state, locals, &[]) == Some(Value::Bool(true))
            };
            is_exact &= reached.iter().all(holds);
            let mut choices = vec![HashMap::new()];
            for id in &ids {
                let index = id.0 as usize;
                let values: Vec<Value> = match &code.body.locals[index].ty {
                    _ if index < parameters => vec![arguments[index].clone()],
                    Type::Struct(_) => {
                        let nodes = (0..state.heap.len()).map(|at| Value::Ref(at as u32));
                        nodes.chain([Value::Null]).collect()
                    }
                    _ => panic!("the oracle knows references"),
                };
                let with = |known: &HashMap<LocalId, Value>| {
                    let known = known.clone();
                    values.iter().map(move |value| {
                        let mut known = known.clone();
                        known.insert(*id, value.clone());
                        known
                    })
                };
                choices = choices.iter().flat_map(with).collect();
            }
            is_base &= choices.iter().all(|locals| !holds(locals) || reached.contains(locals));
        }
    }
    (is_base, is_exact)
}
